"""Operators that must agree do, by the oracle and by the kernel, and a backend that breaks a relation shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.cases.relations import (
    RELATIONS,
    Related,
    Relation,
    inputs_and_constants,
    related_cases,
    relation_rows,
)
from tiebreak.conformance.judging.codes import values_of_codes
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden import oracle
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED, Array
from tiebreak.golden.problems import problems_of


def by_oracle(pair: Related) -> int:
    """How many elements both documents specify; they must be equal."""
    results = []
    for case in (pair.one, pair.other):
        problem, spec = problems_of(case)[0], OPERATORS[case.node.operator]
        solved = [oracle.solve(problem, working=False, mode=mode) for mode in case.node.modes or (None,)]
        codes, states = solved[0]
        if pair.step and case is pair.other:
            codes = np.rint(values_of_codes(codes, problem.result) / pair.step)
        open_ = (states == UNDEFINED) | ((states == OUT_OF_RANGE) & (not spec.saturates))
        open_ |= np.logical_or.reduce([other != solved[0][0] for other, _ in solved])
        results.append((codes, ~open_))
    (one, specified), (other, also) = results
    both = specified & also
    assert np.array_equal(one[both], other[both]), pair.one.id
    return int(both.sum())


@pytest.mark.few(3)
@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.id)
def test_both_sides_are_equal_by_the_oracle(relation: Relation) -> None:
    compared = [by_oracle(pair) for pair in relation.pairs()]
    assert len(compared) >= 12
    assert sorted(compared)[len(compared) // 3] > 30


def truths(operators: tuple[str, ...]) -> dict[str, Array]:
    return {case.id: truths_of(case).judged_by.exact for case in related_cases(operators)}


def row_of(relation: Relation, outputs: dict[str, Array]) -> dict[str, Any]:
    (row,) = (row for row in relation_rows("it", outputs) if row["relation"] == relation.text)
    return row


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.id)
def test_a_backend_that_is_right_keeps_it_and_one_changed_element_breaks_it(relation: Relation) -> None:
    outputs = truths(relation.operators)
    right = row_of(relation, outputs)
    assert right["differ"] == 0
    assert right["elements"] > 1000
    first = next(iter(relation.pairs())).one
    outputs[first.id] = outputs[first.id] + 1
    assert row_of(relation, outputs)["differ"] > 30


@pytest.mark.parametrize("operator", ["FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"])
def test_constants_are_what_the_inputs_are(operator: str) -> None:
    pairs = list(inputs_and_constants(f"tensorflow.{operator}"))
    assert len({case.id for pair in pairs for case in pair.cases}) == 2 * len(pairs)
    for pair in pairs:
        assert not pair.one.node.baked
        assert list(pair.other.node.constants) == ["min", "max"]
        for given, built_in in zip(pair.one.inputs[1:], pair.other.node.constants.values(), strict=True):
            assert given.tobytes() == built_in.tobytes() and given.shape == built_in.shape


def test_a_relation_needs_all_of_its_operators() -> None:
    assert related_cases(("ngraph.Quantize",)) == []
    assert relation_rows("none", {}) == []
