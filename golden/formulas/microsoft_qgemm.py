"""com.microsoft.QGemm: an exact sum of products and C, which the scales make a number, quantized or not.

    x = (sum + C) * alpha * a_scale * b_scale
    Y = saturate(round_half_to_even(x / y_scale) + y_zero_point), or x

In working precision each product of scales, x and the quotient round to float32. Source: onnxruntime,
docs/ContribOperators.md.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import FloatType, IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite, to_integer, to_real
from tiebreak.golden.problem import Elementwise


def gemm(s: Steps, p: Elementwise, total: Real, a_scale: Real, b_scale: Real, *rest: Real) -> Result:
    """`total` has C already; `rest` are y_scale and y_zero_point of a quantized output, and whether it overflows."""
    *of_y, overflows = rest
    if overflows:
        raise UndefinedResult  # MQG-U1
    number, of_a, of_b, *scales = finite(total, a_scale, b_scale, *of_y[:1])  # MQG-F1, MQG-F2, MQG-U3
    if scales == [0]:
        raise UndefinedResult  # MQG-U2
    scale = s(s(Fraction(p.constants["alpha"]) * of_a) * of_b)  # MQG-F3
    x = s(number * scale)  # MQG-F3
    if isinstance(p.result, FloatType):
        return to_real(x, p.result)  # MQG-F6
    assert isinstance(p.result, IntegerType)
    quotient = s(divide(x, scales[0]))  # MQG-F4
    return to_integer(s.round(quotient) + of_y[1], p.result)  # MQG-R1, MQG-F5, MQG-C1


FORMULAS = {"com.microsoft.QGemm": gemm}
