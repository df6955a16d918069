"""The evaluation of terms on arrays gives what that of one element gives, in working precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tiebreak.golden import oracle
from tiebreak.golden.arithmetic import real, working
from tiebreak.golden.arithmetic.term import Term, operand, to_real
from tiebreak.golden.arithmetic.working import ArrayEvaluation
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, IntegerType, encode
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import Array, Elementwise, Problem
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import vector_paths

FILES, CASES = 4, 40  # about as many of an operator
DRAWN = 60  # elements of any bits


def solved(problem: Problem) -> tuple[Array, Array]:
    read = oracle.signed_value_of if oracle.has_signed_zeros(problem) else oracle.value_of
    evaluation = ArrayEvaluation(problem.operands, problem.kinds, problem.working, read)
    return evaluation.solve(oracle.term_of(problem, oracle.formula_of(problem)))


def some_problems(operator: str) -> Iterator[Problem]:
    """Problems spread over the operator's golden vectors, but for its largest."""
    paths = [path for path in vector_paths() if path.name.startswith(f"{operator}-")]
    cases = [case for path in paths[:: max(1, len(paths) // FILES)] for case in indexed_cases(path)]
    for case in cases[:: max(1, len(cases) // CASES)]:
        if sum(array.size for array in case.inputs) < 2000:
            yield from problems_of(case)


def drawn(kind: FloatType | IntegerType, random: np.random.Generator) -> Array:
    """Codes of any bits, half of them small where they are integers."""
    if isinstance(kind, FloatType):
        return random.integers(0, 1 << kind.bits, DRAWN, np.uint64, endpoint=False).astype(f"uint{max(8, kind.bits)}")
    codes = random.integers(kind.lowest, kind.highest, DRAWN, np.int64, endpoint=True)
    return np.where(random.random(DRAWN) < 0.5, codes, np.clip(codes, max(kind.lowest, -3), 64))


def assert_equal(problem: Problem) -> None:
    found, wanted = solved(problem), oracle.solve(problem, working=True)
    wrong = np.flatnonzero((found[0] != wanted[0]) | (found[1] != wanted[1]))
    assert not wrong.size, [int(operand[wrong[0]]) for operand in problem.operands]


@pytest.mark.few(12)
@pytest.mark.parametrize("operator", OPERATORS)
def test_arrays_give_what_elements_give(operator: str) -> None:
    random = np.random.default_rng(len(operator))
    number = 0
    for number, problem in enumerate(some_problems(operator), 1):
        assert_equal(problem)
        if isinstance(problem, Elementwise) and number % 5 == 0:
            operands = tuple(drawn(kind, random) for kind in problem.kinds)
            assert_equal(replace(problem, shape=(DRAWN,), operands=operands))
    assert number >= 15


def test_both_evaluations_know_the_same_operations() -> None:
    assert set(working.RULES) == set(real.RULES)


def test_what_float64_cannot_hold_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cube of a float32 has up to 72 digits: a fourth factor needs them."""
    asked: list[int] = []
    again = ArrayEvaluation.ask_again

    def noted(run: ArrayEvaluation, term: Term, places: Array, *found: Array) -> None:
        asked.append(places.size)
        again(run, term, places, *found)

    monkeypatch.setattr(ArrayEvaluation, "ask_again", noted)
    x, single = operand(0, "x"), FLOAT_TYPES["float32"]
    numbers = np.float32([1.0000001, 1.5, 3.3333333, 1e-30])
    for power, lost in ((x * x * x, 0), (x * x * x * x, 3)):
        evaluation = ArrayEvaluation([numbers.view(np.uint32)], [single], single, oracle.value_of)
        codes, _ = evaluation.solve(to_real(power, single))
        wanted = [Fraction(float(one)) ** (3 if lost == 0 else 4) for one in numbers]
        assert codes.tolist() == [encode(one, single) for one in wanted] and asked.pop() == lost
