"""com.microsoft.QLinearAdd: two numbers added, divided by the output's scale, and rounded once.

    C = (A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point)) / C_scale + C_zero_point

Working precision rounds each step to float32, in this order. Source: onnxruntime, docs/ContribOperators.md.
"""

from __future__ import annotations

from tiebreak.golden.elements import IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, divide, finite, to_integer
from tiebreak.golden.problem import Elementwise


def add(
    s: Steps, p: Elementwise, a: Real, a_scale: Real, a_zero: Real, b: Real, b_scale: Real, b_zero: Real,
    c_scale: Real, c_zero: Real,
) -> Result:  # fmt: skip
    assert isinstance(p.result, IntegerType)
    first, second, divisor = finite(a_scale, b_scale, c_scale)  # MQA-U2
    total = s(s(first * (a - a_zero)) + s(second * (b - b_zero)))  # MQA-F1, MQA-F2
    quotient = s(divide(total, divisor))  # MQA-F3, MQA-U2
    return to_integer(s.round(s(quotient + c_zero)), p.result)  # MQA-F4, MQA-R1, MQA-C1, MQA-U1, MQA-U3


FORMULAS = {"com.microsoft.QLinearAdd": add}
