"""A library that leaves memory as it was where sums have no products: that hides none of its other causes."""

from __future__ import annotations

from typing import Any

import numpy as np
from causes_of_records import causes_of

from tiebreak.conformance.operators.onnx_qlinear_matmul_mistakes import MISTAKES
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR, CAUSE = "onnx.QLinearMatMul", "folds-scales"
FOLDED = next(run for cause, run in MISTAKES if cause.id == CAUSE)
NODE = make_node(OPERATOR, quantized="int8", operands=("int8", "int8"))
ROWS = 40


def without_products(columns: int) -> Case:
    """Matrices of 40 x 0 and 0 x columns."""
    a, b = np.zeros((ROWS, 0), np.int8), np.zeros((0, columns), np.int8)
    zero, one = np.zeros((), np.int8), np.array(1, np.float32)
    return Case(f"none-{columns}", NODE, (a, one, zero, b, one, zero, one, zero), "typed")


def unwritten(node: Node, *inputs: Array) -> tuple[Array, ...]:
    """One factor of the scales; without products what somebody else has left."""
    if inputs[0].shape[-1]:
        return FOLDED(node, *inputs)
    left = np.random.default_rng(inputs[3].shape[1]).integers(-128, 128, (ROWS, inputs[3].shape[1]))
    return (left.astype(np.int8),)


def test_memory_that_is_not_written_hides_no_cause() -> None:
    path: Any = VECTORS / file_name(OPERATOR, "float32", "int8")
    near = [case for case in indexed_cases(path) if "near-rational" in case.id and case.id.endswith("int8-int8")]
    alone, beside = causes_of(unwritten, near), causes_of(unwritten, [*near, without_products(9), without_products(5)])
    named = sentence_of(CAUSE)
    assert set(alone) == {named} and alone[named] > 50
    assert set(beside) == {named, "unexplained"} and beside[named] == alone[named] < beside["unexplained"]
