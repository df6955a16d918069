"""onnx.QuantizeLinear: y = saturate(round_half_to_even(x / y_scale) + y_zero_point), and its float 8 and float 4 forms.

Working precision: x and y_scale are converted to the division's type and the quotient is rounded to it. Sources: ONNX
QuantizeLinear-10 to -25; for float 8 and float 4 outputs the tables of Cast and of technical/float4.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import FloatType, Real, decode, encode, encode_saturated
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_integer
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, ZERO, Elementwise


def quantize_linear(s: Steps, p: Elementwise, x: Real, scale: Real, zero_point: Real) -> Result:
    if isinstance(p.result, FloatType):
        if zero_point != 0:
            raise UndefinedResult
        return to_small_float(quotient(s, p, x, scale), p.result, saturate=p.constants["saturate"])
    (dividend,) = finite(x)
    q = quotient(s, p, dividend, scale)
    if isinstance(q, float):  # beyond the division's type
        return (p.result.highest if q > 0 else p.result.lowest), OUT_OF_RANGE
    return to_integer(s.round(q) + int(*finite(zero_point)), p.result)


def quotient(s: Steps, p: Elementwise, x: Real, scale: Real) -> Real:
    """x / scale; of a NaN or infinite x what IEEE 754 says, of such a scale and of 0 nothing."""
    if s.kind is not None and not p.constants["division"]:
        raise UndefinedResult
    divisor, dividend = converted(s, *finite(scale)), converted(s, x)
    if not divisor or (isinstance(divisor, float) and isinstance(dividend, float)):
        raise UndefinedResult
    if isinstance(divisor, float):
        return Fraction(0)
    if isinstance(dividend, float):
        return dividend if divisor > 0 else -dividend
    return converted(s, dividend / divisor)


def converted(s: Steps, value: Real) -> Real:
    """A value in the working type, infinite beyond its range; itself in real arithmetic."""
    if s.kind is None or isinstance(value, float):
        return value
    return decode(encode(value, s.kind), s.kind)


def to_small_float(value: Real, kind: FloatType, *, saturate: bool) -> Result:
    """By Cast's tables: ends at the largest value, or beyond it becomes NaN (infinite, if the type can be)."""
    if isinstance(value, Fraction):
        bits = encode_saturated(value, kind) if saturate else encode(value, kind)
        return (bits, IN_RANGE) if value else (0, ZERO)
    sign = 0 if math.isnan(value) or value > 0 else 1 << (kind.bits - 1)
    if kind.specials == "none" or (saturate and math.isinf(value)):
        if math.isnan(value):
            raise UndefinedResult
        return kind.largest_bits | sign, IN_RANGE
    if kind.specials == "ieee" and math.isinf(value):
        return kind.infinity_bits | sign, IN_RANGE
    assert kind.nan_bits is not None
    return kind.nan_bits, IN_RANGE
