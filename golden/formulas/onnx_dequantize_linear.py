"""onnx.DequantizeLinear: y = (x - x_zero_point) * x_scale.

Working precision: the difference and the scale are rounded to the output's type, and so is the product. Source: ONNX
DequantizeLinear-10 to -25.
"""

from __future__ import annotations

import math

from tiebreak.golden.elements import INTEGER_TYPES, FloatType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_real
from tiebreak.golden.problem import Elementwise


def dequantize_linear(s: Steps, p: Elementwise, x: Real, scale: Real, zero_point: Real) -> Result:
    factor, zero = finite(scale, zero_point)
    if zero and p.kinds[0] == INTEGER_TYPES["int32"]:
        raise UndefinedResult
    if isinstance(x, float) and math.isinf(x) and not factor:
        raise UndefinedResult
    assert isinstance(p.result, FloatType)
    return to_real(s(x - zero) * s(factor), p.result)
