"""onnx.QLinearMatMul: an exact sum of products, which the scales make a real number, requantized.

    x = sum * (a_scale * b_scale)
    y = saturate(round_half_to_even(x / y_scale) + y_zero_point)

The sum of (a - a_zero_point) * (b - b_zero_point) is an integer of 32 bits: golden/products.py has it. In working
precision that becomes a float32, which holds it whatever the scales' type, and three steps round to the scales' type:
the product of the scales, x and the quotient. Source: ONNX QLinearMatMul-10 and -21.
"""

from __future__ import annotations

from tiebreak.golden.elements import FLOAT_TYPES, IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite, to_integer
from tiebreak.golden.problem import Elementwise

SINGLE = FLOAT_TYPES["float32"]


def requantized_sum(
    s: Steps, p: Elementwise, total: Real, a_scale: Real, b_scale: Real, y_scale: Real, point: Real, overflows: Real
) -> Result:
    assert isinstance(p.result, IntegerType)
    if overflows:
        raise UndefinedResult  # OQM-U1
    number, of_a, of_b, of_y = finite(total, a_scale, b_scale, y_scale)  # OQM-U3
    if not of_y:
        raise UndefinedResult  # OQM-U2
    x = s(s.in_type(number, SINGLE) * s(of_a * of_b))  # OQM-F1
    quotient = s(divide(x, of_y))  # OQM-F2
    return to_integer(s.round(quotient) + point, p.result)  # OQM-R1, OQM-F3, OQM-C1


FORMULAS = {"onnx.QLinearMatMul": requantized_sum}
