"""Every deliberately wrong backend is caught by the golden vectors alone, and no right one is accused."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import pytest

import arithmetic_of_mistakes as am
import wrong_backends as wb
from tiebreak.conformance.judging.judge import Judgement, judge
from tiebreak.conformance.judging.truths import Truth
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import IN_RANGE
from tiebreak.golden.problems import quantization_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES, EXACT, UNSPECIFIED


@cache
def vectors(operator: str, real: str, quantized: str) -> list[tuple[Case, am.Operands, Truth]]:
    """Each vector with its operands spread out and the truth that is stored with it."""
    cases = indexed_cases(VECTORS / file_name(operator, real, quantized))
    return [(case, operands(case), stored_truth(case)) for case in cases]


def operands(case: Case) -> am.Operands:
    problem, x = quantization_of(case), case.inputs[0]
    scale, zero_point = (am.spread(p, problem.axes, x.shape) for p in (case.inputs[1], problem.zero_point))
    kind = case.node.quantized
    raw = (case.inputs[1], problem.zero_point)
    return am.Operands(x, scale, zero_point, problem.mode, kind.lowest, kind.highest, problem.axes, *raw)


def stored_truth(case: Case) -> Truth:
    stored = case.expected
    assert stored is not None
    return Truth(stored.exact, stored.working, stored.exact_state == IN_RANGE, stored.working_state == IN_RANGE)


def judged(arithmetic: am.Arithmetic, own: am.Operands, truth: Truth) -> Judgement:
    with np.errstate(all="ignore"):
        return judge(np.asarray(arithmetic(own), np.int64), truth)


def caught(wrong: wb.Wrong, real: str, quantized: str) -> dict[str, set[str]]:
    """For each mode, the flags of the vectors that the backend fails."""
    found: dict[str, set[str]] = {}
    for case, own, truth in vectors(wrong.operator, real, quantized):
        if own.mode in wrong.modes and judged(wrong.arithmetic, own, truth).count(DEVIATES):
            found.setdefault(own.mode, set()).update(case.flags)
    return found


@pytest.mark.parametrize("wrong", wb.WRONG, ids=lambda wrong: wrong.name)
def test_wrong_backend_is_caught_by_a_vector_that_names_the_defect(wrong: wb.Wrong) -> None:
    for real, quantized in wrong.types:
        found = caught(wrong, real, quantized)
        missed = {mode for mode in wrong.modes if wrong.flag not in found.get(mode, set())}
        assert not missed, f"{real} to {quantized}: not caught by a vector flagged {wrong.flag}: {sorted(missed)}"


@pytest.mark.parametrize("quantized", ["int8", "uint16", "int32"])
def test_each_mode_in_place_of_each_other_is_caught(quantized: str) -> None:
    pairs = set(permutations(am.ALL_MODES, 2))
    assert len(pairs) == 72
    for case, own, truth in vectors("ngraph.Quantize", "float32", quantized):
        if {"Tie", "NearTie"} & set(case.flags):
            left = {(asked, used) for asked, used in pairs if asked == own.mode}
            pairs -= {pair for pair in left if judged(am.with_mode(pair[1]), own, truth).count(DEVIATES)}
    assert not pairs


def test_there_are_at_least_forty_besides_the_modes() -> None:
    assert len({wrong.name for wrong in wb.WRONG}) == len(wb.WRONG) >= 40


@pytest.mark.parametrize("right", wb.RIGHT, ids=lambda right: right.name)
def test_right_backend_never_deviates(right: wb.Wrong) -> None:
    ran = 0
    for real, quantized in right.types:
        for case, own, truth in vectors(right.operator, real, quantized):
            judgement = judged(right.arithmetic, own, truth)
            assert not judgement.count(DEVIATES), f"{case.id}: {judgement.verdict}"
            ran += judgement.grades.size
    assert ran > 10_000


def test_the_stored_truths_themselves_conform_and_any_flip_does_not() -> None:
    case, _, truth = next(v for v in vectors("onnx.QuantizeLinear", "float32", "uint8") if "Tie" in v[0].flags)
    assert judge(truth.exact, truth).verdict == "exact"
    flipped = truth.exact.copy()
    flipped[-1] += 1 if flipped[-1] < case.node.quantized.highest else -1
    assert judge(flipped, truth).count(DEVIATES) == 1


def test_exact_counts_where_working_precision_leaves_the_range() -> None:
    """float16, 60000 / 0.5: 120000 in truth, infinite in float16, of which nGraph's document does not speak."""
    exact, working = np.array([120000] * 2), np.array([2**31 - 1] * 2)
    truth = Truth(exact, working, np.array([True, True]), np.array([False, False]))
    assert judge(np.array([120000, 5]), truth).grades.tolist() == [EXACT, UNSPECIFIED]
