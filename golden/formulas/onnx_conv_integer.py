"""onnx.ConvInteger: a sum of products of integers.

    y = (x - x_zero_point) * (w - w_zero_point) + …

Source: ONNX ConvInteger-10.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult
from tiebreak.golden.problem import IN_RANGE, Elementwise


def conv_integer(s: Steps, p: Elementwise, *operands: Real) -> Result:
    terms = p.constants["terms"]
    *_, x_zero_point, w_zero_point = operands
    total = Fraction(0)
    for x, w in zip(operands[:terms], operands[terms : 2 * terms], strict=True):
        total += Fraction(x - x_zero_point) * Fraction(w - w_zero_point)  # OCI-F1, OCI-F2
    assert isinstance(p.result, IntegerType)
    if not p.result.lowest <= total <= p.result.highest:
        raise UndefinedResult  # OCI-U1
    return int(total), IN_RANGE


FORMULAS = {"onnx.ConvInteger": conv_integer}
