"""onnx.DequantizeLinear: y = (x - x_zero_point) * x_scale.

Working precision: the difference and the scale are rounded to the output's type, and so is the product. Source: ONNX
DequantizeLinear-10 to -25.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import INTEGER_TYPES, FloatType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, times, to_real
from tiebreak.golden.problem import IN_RANGE, Elementwise


def dequantize_linear(s: Steps, p: Elementwise, x: Real, scale: Real, zero_point: Real) -> Result:
    factor, zero = finite(scale, zero_point)
    if zero and p.kinds[0] == INTEGER_TYPES["int32"]:
        raise UndefinedResult
    assert isinstance(p.result, FloatType)
    if isinstance(x, float):
        return special(x, s.ieee(factor), p.result)
    return to_real(times(s.ieee(Fraction(x) - zero), s.ieee(factor)), p.result)


def special(x: float, factor: Real, kind: FloatType) -> Result:
    """NaN and the infinities of a float 8 input."""
    assert kind.nan_bits is not None
    if math.isnan(x):
        return kind.nan_bits, IN_RANGE
    if not factor:
        raise UndefinedResult
    return kind.infinity_bits | (((x < 0) != (factor < 0)) << (kind.bits - 1)), IN_RANGE
