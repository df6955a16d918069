"""What coverage counts: every situation is one that some golden vectors show and others do not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tiebreak.conformance.cases.situations import SITUATIONS, situations_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.case_with_states import CaseWithStates
from tiebreak.golden import kernel
from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Operator
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS


def vectors_shown(operator: str) -> Iterator[CaseWithStates]:
    for file in all_files():
        if file[0] == operator:
            for case in indexed_cases(VECTORS / file_name(*file)):
                states = [kernel.solve(problem, working=False)[1] for problem in problems_of(case)]
                yield CaseWithStates(case, np.concatenate(states))


@pytest.mark.parametrize("spec", OPERATORS.values(), ids=OPERATORS)
def test_every_situation_of_a_clause_is_shown_by_some_vectors_and_not_by_others(spec: Operator) -> None:
    named = {clause.situation for clause in spec.clauses} - {""}
    always, never = set(named), set(named)
    for shown in vectors_shown(spec.id):
        holds = {situation for situation in always | never if situations_of(spec.id)[situation](shown)}
        always, never = always & holds, never - holds
        if not always | never:
            break
    assert not never, f"no vector shows {sorted(never)}"
    assert not always, f"every vector shows {sorted(always)}"


def test_every_situation_is_named_by_the_clauses_that_it_is_kept_for() -> None:
    """Those of several operators in one place, those of one in its record, and none twice."""
    named = {spec.id: {clause.situation for clause in spec.clauses} - {""} for spec in OPERATORS.values()}
    for situation in SITUATIONS:
        assert sum(situation in of_one for of_one in named.values()) > 1, situation
    for operator, record in TESTED.items():
        own = set(record.situations or ())
        assert own <= named[operator]
        assert not own & set(SITUATIONS).union(*(of_one for other, of_one in named.items() if other != operator))
