"""Every wrong backend of every operator is caught by the golden vectors alone, and no right one is accused."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import wrong_backends
from tiebreak.conformance.judging.chained import CHAINED, chain_rows
from tiebreak.conformance.judging.judge import codes_of_outputs, judge_outputs, output_problem
from tiebreak.conformance.judging.truths import Truth, Truths
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import UNDEFINED, ZERO
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES, OTHER_ORDER
from wrong_model import WrongBackend

MODULES = [
    importlib.import_module(path.stem)
    for path in sorted(Path(__file__).parent.glob("wrong_*.py"))
    if path.stem not in ("wrong_backends", "wrong_model")
]
WRONG: list[WrongBackend] = [wrong for module in MODULES for wrong in module.WRONG]
OTHER_ORDERS: list[WrongBackend] = [order for module in MODULES for order in getattr(module, "OTHER_ORDERS", ())]
ONE_BY_ONE = ("fractions", "Python's integers", "number by number", "element by element", "exact")
RIGHT: list[WrongBackend] = sorted(  # last those that take a minute together, where the others take seconds
    (right for module in MODULES for right in module.RIGHT),
    key=lambda right: any(words in right.name for words in ONE_BY_ONE),
)


@cache
def vectors(operator: str, input_type: str, output_type: str) -> list[tuple[Case, Truths]]:
    """Each vector with the truth that is stored with it: no kernel, no other mode."""
    cases = indexed_cases(VECTORS / file_name(operator, input_type, output_type))
    return [(case, stored(case)) for case in cases]


def stored(case: Case) -> Truths:
    found = case.expected
    assert found is not None
    known = (found.exact_state != UNDEFINED, found.working_state != UNDEFINED)
    zero = (found.exact_state == ZERO) | (found.working_state == ZERO)
    truth = Truth(found.exact, found.working, *known, zero)
    return Truths({"": truth}, ("",), problems_of(case))


def deviations(backend: WrongBackend, case: Case, truths: Truths, grade: int = DEVIATES) -> int:
    with np.errstate(all="ignore"):
        outputs = backend.run(case.node, *(array.copy() for array in case.inputs))
    assert not output_problem(case, outputs), output_problem(case, outputs)
    return judge_outputs(outputs, truths).count(grade)


def deviating(wrong: WrongBackend, types: tuple[str, str], flag: str = "") -> Iterator[Case]:
    """The cases, of those with the flag, in which an element deviates."""
    for case, truths in vectors(wrong.operator, *types):
        if (not flag or flag in case.flags) and deviations(wrong, case, truths):
            yield case


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_wrong_backend_is_caught_by_a_vector_that_names_the_defect(wrong: WrongBackend) -> None:
    assert wrong.types
    for types in wrong.types:
        if next(deviating(wrong, types, wrong.flag), None) is None:
            flags = {flag for case in deviating(wrong, types) for flag in case.flags}
            pytest.fail(f"{types}: caught only by {sorted(flags)}, not by {wrong.flag}")


@pytest.mark.parametrize("order", OTHER_ORDERS, ids=lambda order: order.name)
def test_another_order_of_steps_shows_and_is_no_deviation(order: WrongBackend) -> None:
    for types in order.types:
        cases = vectors(order.operator, *types)
        assert not any(deviations(order, *each) for each in cases)
        assert any(deviations(order, *each, OTHER_ORDER) for each in cases if order.flag in each[0].flags)


@pytest.mark.few(1, of="right.operator")
@pytest.mark.parametrize("right", RIGHT, ids=lambda right: right.name)
def test_right_backend_never_deviates(right: WrongBackend) -> None:
    elements = 0
    for types in right.types:
        for case, truths in vectors(right.operator, *types):
            assert not deviations(right, case, truths), case.id
            elements += truths.judged_by.exact.size
    assert elements > 300


@pytest.mark.parametrize("right", [one for one in RIGHT if one.operator in CHAINED], ids=lambda right: right.name)
def test_what_right_backends_give_follows_from_their_other_outputs(right: WrongBackend) -> None:
    found = {}
    judged = [pair for types in right.types for pair in vectors(right.operator, *types)]
    for case, truths in judged:
        with np.errstate(all="ignore"):
            outputs = right.run(case.node, *(array.copy() for array in case.inputs))
        found[case.id] = codes_of_outputs(truths.problems, outputs, truths.judged_by)
    (row,) = chain_rows(right.name, [case for case, _ in judged], found)
    assert row["cases"] > 20 and row["elements"] > 300
    assert row["differ"] == 0


def test_there_are_enough_for_every_operator() -> None:
    names = [wrong.name for wrong in (*WRONG, *wrong_backends.WRONG)]
    assert len(set(names)) == len(names) >= 120
    operators = {wrong.operator for wrong in (*WRONG, *wrong_backends.WRONG)}
    assert operators == set(OPERATORS)
