"""IEEE 754 arithmetic by fractions: each step computed exactly and rounded once, to infinity where it overflows.

A number is a Fraction, or an infinity as Python's float. Zeros have no sign here.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.conformance.proof_checker.float_terms import FORMATS
from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened

Number = Fraction | float  # a float is an infinity
LONGEST = 64  # characters of a number


class NoNumber(Exception):  # noqa: N818 - a value
    """NaN."""


def number_of(text: object) -> Number:
    """A number of a certificate, or an infinity. ProofRefused for anything else."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ProofRefused(f"{shortened(text)} is no number")
    try:
        value = float(text)
        return value if math.isinf(value) and "inf" in text.lower() else Fraction(value)
    except (ValueError, OverflowError):
        raise ProofRefused(f"{shortened(text)} is no number") from None


def rounded(value: Number, real: str) -> Number:
    """To nearest even in a float type; as it is in real arithmetic, where `real` is empty."""
    if not real or value == 0 or not isinstance(value, Fraction):
        return value
    digits, emin, emax = FORMATS[real]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < power(exponent)
    unit = power(max(exponent, emin) - digits + 1)
    found = round(value / unit) * unit
    if abs(found) >= power(emax + 1):
        return math.copysign(math.inf, value)
    return found


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def sum_of(a: Number, b: Number, real: str) -> Number:
    if isinstance(a, float) and isinstance(b, float) and a != b:
        raise NoNumber
    if isinstance(a, float) or isinstance(b, float):
        return a if isinstance(a, float) else b
    return rounded(a + b, real)


def product_of(a: Number, b: Number, real: str) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        if a == 0 or b == 0:
            raise NoNumber
        return math.inf if (a > 0) == (b > 0) else -math.inf
    return rounded(a * b, real)


def quotient_of(a: Number, b: Number, real: str) -> Number:
    """a / b, where b is no infinity; a quotient by zero is an infinity."""
    if not isinstance(b, Fraction):
        raise ProofRefused("a scale is infinite")
    if b == 0:
        raise NoNumber if a == 0 else ProofRefused("a scale is zero")
    if isinstance(a, float):
        return a if b > 0 else -a
    return rounded(a / b, real)


def code_of(value: Number, zero_point: int, lowest: int, highest: int) -> int:
    """round to nearest even, plus the zero point, clamped."""
    if not isinstance(value, Fraction):
        return highest if value > 0 else lowest
    return min(max(round(value) + zero_point, lowest), highest)
