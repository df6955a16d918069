"""Each product operator is asked once at the size of a layer, at every level; kernel and oracle agree there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.cases.plan import Planning, Selection
from tiebreak.conformance.cases.recipes import layer_cases, recipes_of
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.layers import CHANNELS, COLUMNS, TERMS, WINDOW
from tiebreak.conformance.operators.model import no_layers
from tiebreak.golden import kernel, oracle
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator, microsoft_matmul_nbits
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

NBITS = microsoft_matmul_nbits.ID
PRODUCTS = sorted(name for name, one in TESTED.items() if one.layers is not no_layers)


def test_every_operator_that_sums_products_has_layers() -> None:
    assert sorted(name for name in TESTED if any(part in name for part in ("MatMul", "Conv", "Gemm"))) == PRODUCTS
    assert min(TERMS, CHANNELS * WINDOW[0] * WINDOW[1]) >= 1024 and COLUMNS >= 96
    assert all(size % 2 for size in (TERMS, COLUMNS // 4))  # no multiple of a vector or a tile


@pytest.mark.parametrize(  # the oracle adds up each product of an image by itself
    "operator", [pytest.param(name, marks=[pytest.mark.slow] if "Conv" in name else []) for name in PRODUCTS]
)
def test_every_level_has_them_and_their_results_are_exact(operator: str) -> None:
    assert [one.kind for one in recipes_of([operator], [operator], "brief", 30, 0)].count("layer") == 1
    for case in layer_cases(operator):
        (problem,) = problems_of(case)
        for found, exact in zip(
            kernel.solve(problem, working=False), oracle.solve(problem, working=False), strict=True
        ):
            np.testing.assert_array_equal(found, exact)
        (truth,) = truths_of(case).by_mode.values()
        assert truth.specified.all() and len(np.unique(truth.exact)) > 100
        assert set(case.clauses) <= {clause.id for clause in get_operator(operator).clauses}


def nbits(case: Case) -> Any:
    """The product in float64, by weights that NumPy unpacks."""
    a, b, scales, points = case.inputs
    rows = [np.stack([part & 15, part >> 4], -1).reshape(len(part), -1) for part in (b.reshape(len(b), -1), points)]
    blocks = scales.shape[1]
    weights = rows[0].reshape(len(b), blocks, -1) - rows[1][:, :blocks, np.newaxis].astype(np.float64)
    weights = (weights * scales.astype(np.float64)[..., np.newaxis]).reshape(len(b), -1)[:, : a.shape[1]]
    return a.astype(np.float64) @ weights.T


@pytest.mark.parametrize("number", range(3))
def test_what_long_products_leave_undone_is_found(number: int) -> None:
    case = layer_cases(NBITS)[number]
    right = nbits(case).astype(case.inputs[0].dtype)
    assert judge_outputs((right,), truths_of(case)).verdict == "exact"
    unfinished = right.copy()
    unfinished[:, COLUMNS // 64 * 64 :] = 0
    assert judge_outputs((unfinished,), truths_of(case)).verdict == "deviates"


@pytest.mark.parametrize("real", ["float32", "float16", "bfloat16"])
def test_sums_in_float64_are_those_in_fractions(real: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [case for case in indexed_cases(VECTORS / f"{NBITS}-{real}-{real}.json") if "SeveralProducts" in case.flags]
    quick = [[operand.tolist() for operand in problem.operands] for case in cases for problem in problems_of(case)]
    monkeypatch.setattr(microsoft_matmul_nbits, "sums_in_float64", lambda *_: None)
    again = [problem for case in cases for problem in microsoft_matmul_nbits.problems(case.node, case.inputs)]
    assert quick == [[operand.tolist() for operand in problem.operands] for problem in again]
    assert len(cases) > 5


def test_a_plan_has_them() -> None:
    with Planning(Selection(operators=(NBITS,), level="brief"), alone=True) as planning:
        ids = {case.id for case in planning.rest()}
    assert {case.id for case in layer_cases(NBITS)} <= ids
