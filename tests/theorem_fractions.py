"""The arithmetics that theorems are about, in exact fractions: one input at a time, and nothing of the engine."""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, IntegerType, Real, decode, encode
from tiebreak.golden.rounding import ROUND_MODES

HALF = Fraction(1, 2)


def code(arithmetic: NamedArithmetic, real: FloatType, quantized: IntegerType, x: int, scale: int, zero: int) -> int:
    """The code of an input and a scale (bit patterns): every step rounded to the working precision by `encode`."""
    held = FLOAT_TYPES.get(arithmetic.precision)
    before = zero if arithmetic.zero_point != "after-rounding" and "range" not in arithmetic.scaling else 0
    value = argument(arithmetic, held, real, decode(x, real), decode(scale, real), before, (quantized, zero))
    if isinstance(value, float):
        return quantized.highest if value > 0 else quantized.lowest
    after = quantized.lowest if "range" in arithmetic.scaling else zero - before
    return max(quantized.lowest, min(quantized.highest, rounded(arithmetic.round_mode, held, value) + after))


def argument(
    arithmetic: NamedArithmetic,
    held: FloatType | None,
    real: FloatType,
    x: Real,
    s: Real,
    before: int,
    ends: tuple[IntegerType, int],
) -> Real:
    """The argument of round; a float only if it is infinite."""
    if isinstance(x, float):
        return x
    assert isinstance(s, Fraction)
    match arithmetic.scaling:
        case "divide":
            quotient = step(x / s, held)
        case "reciprocal":
            quotient = product(x, step(1 / s, held), held)
        case "narrow-reciprocal":
            quotient = product(x, step(1 / s, real), held)
        case "fused":
            inverse = step(1 / s, held)
            if isinstance(inverse, float):
                return infinite(x) if x else Fraction(before)
            return step(x * inverse + before, held)
        case _:
            return of_range(arithmetic.scaling, held, x, s, *ends)
    wider = FLOAT_TYPES["float64"] if arithmetic.zero_point.endswith("float64") else held
    return quotient if isinstance(quotient, float) else step(quotient + before, wider)


def of_range(scaling: str, held: FloatType | None, x: Fraction, s: Fraction, quantized: IntegerType, zero: int) -> Real:
    low, high = (exact(step(s * (end - zero), held)) for end in (quantized.lowest, quantized.highest))
    width, steps = exact(step(high - low, held)), quantized.highest - quantized.lowest
    if x <= low or x > high:
        return Fraction(0 if x <= low else steps)
    if scaling == "range":
        return step(exact(step(exact(step(x - low, held)) / width, held)) * steps, held)
    factor = exact(step(Fraction(steps) / width, held))
    shift = exact(step(-low * factor, held))
    return step((x * factor if scaling == "range-fused" else exact(step(x * factor, held))) + shift, held)


def exact(value: Real) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def step(value: Fraction, held: FloatType | None) -> Real:
    """A result as the working precision holds it; itself if there is none."""
    return value if held is None else decode(encode(value, held), held)


def product(x: Fraction, inverse: Real, held: FloatType | None) -> Real:
    """x times an inverse that may be infinite; 0 times that counts as 0."""
    if isinstance(inverse, float):
        return infinite(x) if x else Fraction(0)
    return step(x * inverse, held)


def infinite(x: Fraction) -> float:
    return math.inf if x > 0 else -math.inf


def rounded(mode: str, held: FloatType | None, value: Fraction) -> int:
    if mode in ROUND_MODES:
        return ROUND_MODES[mode](value)
    half = -HALF if mode == "half-added-to-magnitude" and value < 0 else HALF
    total = exact(step(value + half, held))
    return math.floor(total) if mode == "floor-of-half-more" else math.trunc(total)
