"""Two mistakes at once take the elements of a rarer cause, if they give each of them."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanations import Explanation
from tiebreak.conformance.causes.weighing import causes_within_pairs
from tiebreak.conformance.judging.deviating import DeviatingElements
from tiebreak.conformance.operators.model import Cause
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

PAIR = Cause("own-reciprocal + zero-point-as-signed", "quotient", rank=1000)
PART, OTHER = Cause("own-reciprocal", "quotient"), Cause("wraps-above", "saturation")
SIZE, CASES = 8, 3


def evidence_where(given: dict[int, list[int]]) -> Evidence:
    """Three cases whose elements all deviate, and the elements that the pair gives in each; none where a case lacks."""
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")
    operands = np.ones(SIZE, np.float32), np.ones((), np.float32), np.zeros((), np.uint8)
    columns = {column.name: np.zeros(SIZE * CASES, np.int64) for column in fields(DeviatingElements)}
    columns["case"], columns["index"] = np.repeat(np.arange(CASES), SIZE), np.tile(np.arange(SIZE), CASES)

    def given_by(case: int, cause: Cause) -> Array | None:
        assert cause == PAIR
        return np.isin(np.arange(SIZE), given[case]) if case in given else None

    return Evidence(
        cases=[Case(f"c{number}", node, operands) for number in range(CASES)],
        sizes=[SIZE] * CASES,
        deviating=DeviatingElements(**columns),
        candidates=np.zeros(SIZE * CASES, np.int64),
        distinct=[Explanation()],
        against={},
        third={},
        places={},
        against_modes={},
        given_by=given_by,
    )


def named(pair: int, part: int, other: int) -> Array:
    """A cause for each element: the first have the pair, the next one of its mistakes, the last another cause."""
    return np.array([PAIR] * pair + [PART] * part + [OTHER] * other, object)


EVERY = list(range(SIZE))


@pytest.mark.parametrize(
    ("causes", "given", "taken"),
    [
        (named(12, 6, 6), {0: EVERY, 1: EVERY, 2: EVERY}, range(12, 24)),
        # One element of the other cause is not the pair's, so all of them stay.
        (named(12, 6, 6), {0: EVERY, 1: EVERY, 2: EVERY[:-1]}, range(12, 18)),
        # The pair contradicts a conforming element of the last case.
        (named(12, 4, 8), {0: EVERY, 1: EVERY}, range(12, 16)),
        # It is not the rarer one.
        (named(6, 12, 6), {0: EVERY, 1: EVERY, 2: EVERY}, ()),
        # Too few elements to be known.
        (named(5, 4, 15), {0: EVERY, 1: EVERY, 2: EVERY}, ()),
    ],
)
def test_a_pair_takes_a_rarer_cause_whole_or_not_at_all(
    causes: Array, given: dict[int, list[int]], taken: range | tuple[()]
) -> None:
    found = list(causes_within_pairs(evidence_where(given), causes, np.arange(SIZE * CASES)))
    assert {cause for _, cause in found} <= {PAIR}
    assert sorted(place for some, _ in found for place in some.tolist()) == list(taken)
