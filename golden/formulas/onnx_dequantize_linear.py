"""onnx.DequantizeLinear, the way back from integers and small floats.

    y = (x - x_zero_point) * x_scale

Two steps: a difference, which does not wrap to x's own type, and a product. Working precision rounds the difference,
x_scale and the product to the output's type. Source: ONNX DequantizeLinear-10 to -28.
"""

from __future__ import annotations

import math

from tiebreak.golden.elements import INTEGER_TYPES, FloatType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_real
from tiebreak.golden.problem import Elementwise


def dequantize_linear(s: Steps, p: Elementwise, x: Real, x_scale: Real, x_zero_point: Real) -> Result:
    scale, zero_point = finite(x_scale, x_zero_point)  # OND-U1, OND-U5
    if zero_point and p.kinds[0] == INTEGER_TYPES["int32"]:
        raise UndefinedResult  # OND-U4
    if isinstance(x, float) and math.isinf(x) and not scale:
        raise UndefinedResult  # OND-U5
    assert isinstance(p.result, FloatType)
    difference = s(x - zero_point)  # OND-F1, OND-E1
    return to_real(difference * s(scale), p.result)  # OND-F2, OND-E2, OND-O1


FORMULAS = {"onnx.DequantizeLinear": dequantize_linear}
