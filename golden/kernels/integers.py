"""The kernels' last resort, for elements that doubles can't decide: quotients of big integers, rounded exactly.

Independent of the oracle: no Fraction, no table of rounding modes.
"""

from __future__ import annotations

import math

NEAREST = "ROUND_NEAREST_"
UNIT = 149  # every finite float32 is a multiple of 2^-149


def ratio(value: float) -> tuple[int, int]:
    """A finite double as (numerator, denominator), the denominator a positive power of two."""
    return value.as_integer_ratio()


def units(value: float) -> int:
    """A finite float32's value in units of 2^-149."""
    numerator, denominator = ratio(float(value))
    return numerator * ((1 << UNIT) // denominator)


def round_ratio(numerator: int, denominator: int, mode: str) -> int:
    """numerator / denominator (not zero) rounded to an integer by one of the nine modes."""
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    below, rest = divmod(numerator, denominator)
    return below + upward(below, rest, denominator, mode) if rest else below


def upward(below: int, rest: int, denominator: int, mode: str) -> bool:
    """Whether below + rest / denominator, 0 < rest < denominator, rounds to below + 1."""
    if mode.startswith(NEAREST) and 2 * rest != denominator:
        return 2 * rest > denominator
    kind = mode.removeprefix(NEAREST).removeprefix("ROUND_")
    if kind == "TOWARD_EVEN":
        return below % 2 == 1
    if kind == "TOWARD_INFINITY":  # away from zero
        return below >= 0
    if kind == "TOWARD_ZERO":
        return below < 0
    return kind in ("UPWARD", "UP")


def ratio_to_real(numerator: int, denominator: int, described: tuple[int, int, float]) -> float:
    """numerator / denominator (not zero) rounded to a real type, ties to even, as a double; see tensors.format_of."""
    precision, emin, largest = described
    negative = (numerator < 0) != (denominator < 0)
    numerator, denominator = abs(numerator), abs(denominator)
    if not numerator:
        return 0.0
    exponent = numerator.bit_length() - denominator.bit_length()  # of the quotient, or one more
    if (numerator if exponent >= 0 else numerator << -exponent) < (denominator << max(exponent, 0)):
        exponent -= 1
    power = max(exponent, emin) - (precision - 1)
    top, bottom = (numerator, denominator << power) if power >= 0 else (numerator << -power, denominator)
    significand = round_ratio(top, bottom, "ROUND_NEAREST_TOWARD_EVEN")
    if significand.bit_length() + power > 1024:
        return -math.inf if negative else math.inf
    value = math.ldexp(float(significand), power)
    value = math.inf if value > largest else value
    return -value if negative else value
