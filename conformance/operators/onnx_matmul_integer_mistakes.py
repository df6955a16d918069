"""Usual mistakes of `onnx.MatMulInteger` as small NumPy backends: how operands are read, and how products are added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.operators import product_mistakes as pm
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.product_mistakes import Operands, Sum
from tiebreak.conformance.operators.wrong_steps import frequent, pairs_of_steps, single_steps, step
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_matmul_integer import ID, POINTS
from tiebreak.golden.problem import Array
from tiebreak.golden.products import points_of_both

WORD = INTEGER_TYPES["int32"]


@dataclass(frozen=True)
class MatMulIntegerSteps:
    """Steps in order, the right ones unless given."""

    read: Callable[[Node, Operands], Operands] = pm.as_they_are
    total: Sum = pm.exact

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        a, b = inputs[:2]
        of_a, of_b = points_of_both(node, inputs, POINTS)
        total = self.total(self.read(node, pm.operands_of(ID, a, of_a, b, of_b)))
        if total.size and not WORD.lowest <= total.min() <= total.max() <= WORD.highest:
            raise ValueError("no number of 32 bits")
        shape = np.matmul(np.zeros(a.shape, np.int8), np.zeros(b.shape, np.int8)).shape
        return (total.astype(np.int32).reshape(shape),)


def pipeline(**steps: Any) -> Mistake:
    return MatMulIntegerSteps(**steps)


def negated(operands: Operands) -> Array:
    return -pm.exact(operands)


STEPS = (
    *pm.SUMS,
    step("sum-of-products-in:float32", "sum", total=pm.in_float(np.float32)),
    frequent("sign-of-sum-exchanged", "sum", total=negated),
    *pm.READS,
)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, STEPS)
