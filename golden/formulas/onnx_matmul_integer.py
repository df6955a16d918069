"""onnx.MatMulInteger: the sum of products itself, an integer of 32 bits: golden/products.py has it.

Nothing is rounded, so working precision has no step of its own. Source: ONNX MatMulInteger-10.
"""

from __future__ import annotations

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult
from tiebreak.golden.problem import IN_RANGE, Elementwise


def sum_of_products(s: Steps, p: Elementwise, total: Real, overflows: Real) -> Result:
    if overflows:
        raise UndefinedResult  # OMI-U1
    return int(total), IN_RANGE  # OMI-F1


FORMULAS = {"onnx.MatMulInteger": sum_of_products}
