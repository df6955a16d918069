"""onnx.QLinearConv: a sum of products of integers, which a ratio of scales makes another integer.

    sum = B + (x - x_zero_point) * (w - w_zero_point) + …
    y   = saturate(round_half_to_even(sum * (x_scale * w_scale) / y_scale) + y_zero_point)

Working precision rounds the sum, the product of scales, its product with the sum and the quotient to float32.
Sources: ONNX QLinearConv-10; for the quotient QLinearMatMul-10 and QuantizeLinear-10.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import INTEGER_TYPES, IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite, stays_within, to_integer
from tiebreak.golden.problem import Elementwise

ACCUMULATOR = INTEGER_TYPES["int32"]


def qlinear_conv(s: Steps, p: Elementwise, *operands: Real) -> Result:
    terms = p.constants["terms"]
    bias, x_zero_point, w_zero_point, *scales, y_zero_point = operands[2 * terms :]
    x_scale, w_scale, y_scale = finite(*scales)  # OQC-U1
    pairs = zip(operands[:terms], operands[terms : 2 * terms], strict=True)
    products = [Fraction(x - x_zero_point) * Fraction(w - w_zero_point) for x, w in pairs]  # OQC-F1
    terms_and_bias = [*products, Fraction(bias)]
    if not stays_within(ACCUMULATOR, terms_and_bias):
        raise UndefinedResult  # OQC-U3
    number = s(s(sum(terms_and_bias)) * s(x_scale * w_scale))  # OQC-F2, OQC-F3, OQC-F4
    quotient = s(divide(number, y_scale))  # OQC-F5, OQC-U2
    assert isinstance(p.result, IntegerType)
    return to_integer(s.round(quotient) + y_zero_point, p.result)  # OQC-R1, OQC-F5, OQC-C1


FORMULAS = {"onnx.QLinearConv": qlinear_conv}
