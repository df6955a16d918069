"""onnx.ConvInteger: a sum of products of integers.

    y = (x - x_zero_point) * (w - w_zero_point) + …

Source: ONNX ConvInteger-10.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, stays_within
from tiebreak.golden.problem import IN_RANGE, Elementwise


def conv_integer(s: Steps, p: Elementwise, *operands: Real) -> Result:
    terms = p.constants["terms"]
    *_, x_zero_point, w_zero_point = operands
    pairs = zip(operands[:terms], operands[terms : 2 * terms], strict=True)
    products = [Fraction(x - x_zero_point) * Fraction(w - w_zero_point) for x, w in pairs]  # OCI-F1
    assert isinstance(p.result, IntegerType)
    if not stays_within(p.result, products):
        raise UndefinedResult  # OCI-U1
    return int(sum(products)), IN_RANGE  # OCI-F2


FORMULAS = {"onnx.ConvInteger": conv_integer}
