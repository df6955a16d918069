"""com.microsoft.QLinearMul: a product of integers times three scales, rounded once.

    C = ((A - A_zero_point) * (B - B_zero_point)) * (A_scale * B_scale) / C_scale + C_zero_point

Working precision rounds each step to float32, from left to right. Source: onnxruntime, docs/ContribOperators.md.
"""

from __future__ import annotations

from tiebreak.golden.elements import IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, divide, finite, to_integer
from tiebreak.golden.problem import Elementwise


def multiply(
    s: Steps, p: Elementwise, a: Real, a_scale: Real, a_zero: Real, b: Real, b_scale: Real, b_zero: Real,
    c_scale: Real, c_zero: Real,
) -> Result:  # fmt: skip
    assert isinstance(p.result, IntegerType)
    first, second, divisor = finite(a_scale, b_scale, c_scale)  # MQM-U2
    product = s((a - a_zero) * (b - b_zero))  # MQM-F1
    number = s(product * s(first * second))  # MQM-F2
    quotient = s(divide(number, divisor))  # MQM-F3, MQM-U2
    return to_integer(s.round(s(quotient + c_zero)), p.result)  # MQM-F4, MQM-R1, MQM-C1, MQM-U1, MQM-U3


FORMULAS = {"com.microsoft.QLinearMul": multiply}
