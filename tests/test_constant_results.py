"""One result for many elements shows no arithmetic: a cause that gives it to some of them only is none."""

from __future__ import annotations

import numpy as np
from causes_of_records import causes_of

from tiebreak.golden import kernel
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, array_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR = "com.microsoft.MatMulNBits"
LANES = [
    case
    for case in indexed_cases(VECTORS / file_name(OPERATOR, "float32", "float32"))
    if case.id.endswith(("lane-rows", "lane-columns"))
]


def zeros(node: Node, *inputs: Array) -> tuple[Array, ...]:
    (problem,) = get_operator(OPERATOR).problems(node, inputs)
    return (np.zeros(problem.shape, np.float32),)


def without_negative(node: Node, *inputs: Array) -> tuple[Array, ...]:
    (problem,) = get_operator(OPERATOR).problems(node, inputs)
    codes, _ = kernel.solve(problem, working=False)
    return (np.maximum(array_of("float32", problem.shape, codes.astype(np.uint64)), np.float32(0)),)


def test_zeros_are_not_negative_results_that_become_zero() -> None:
    """About half of the results are negative."""
    assert len(LANES) == 2
    assert set(causes_of(zeros, LANES)) == {"unexplained"}


def test_negative_results_that_become_zero_are() -> None:
    assert set(causes_of(without_negative, LANES)) == {"a negative result becomes zero"}
