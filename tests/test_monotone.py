"""A term that is said never to turn does not: neither the document's nor a change of it."""

from __future__ import annotations

import numpy as np
import pytest

from tiebreak.conformance.variants.changes import everywhere
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.monotone import stage_of, staged_number
from tiebreak.conformance.variants.mutant import ProblemForm, term_of
from tiebreak.conformance.variants.single_changes import single_changes
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.term import Term, is_negative, lifted, operand, step, to_ends, where
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators.tensorflow_ranges import RANGE_MODES
from tiebreak.golden.problem import Array, Elementwise
from tiebreak.golden.problems import problems_of

X = np.sort(np.concatenate([np.linspace(-9, 9, 700), np.geomspace(1e-44, 3e38, 400), -np.geomspace(1e-44, 3e38, 400)]))


def turns(values: Array) -> bool:
    """Whether numbers both grow and fall."""
    steps = np.diff(values[np.isfinite(values)])
    return bool((steps > 0).any() and (steps < 0).any())


@pytest.mark.parametrize("mode", RANGE_MODES)
def test_what_never_turns_grows_or_falls(mode: str) -> None:
    node = make_node("tensorflow.QuantizeV2", real="float32", quantized="int8", attributes={"T": "int8", "mode": mode})
    x = X.astype(np.float32)
    inputs = (x, np.array(-3.3, np.float32), np.array(7.1, np.float32))
    problem = problems_of(Case("", node, inputs))[0]
    assert isinstance(problem, Elementwise)
    run = BackendEvaluation(problem.operands, problem.kinds, problem.working, oracle.signed_value_of)
    right = everywhere(term_of(ProblemForm(problem)), lambda one: one.args[0] if one.name == "or-else" else None)
    said, turned = 0, 0
    for id_, change in single_changes(right, problem):
        term = change(right)
        with np.errstate(all="ignore"):
            values = np.broadcast_to(run.part(staged_number(term), problem.working).values, x.size).astype(np.float64)
        if stage_of(term, 0):
            said += 1
            assert not turns(values), id_
        else:
            turned += turns(values)
    assert said > 200 and turned > 5


A, B = operand(0, "a"), operand(1, "b")


@pytest.mark.parametrize(
    ("number", "known"),
    [
        (step(A * B), True),
        (step(B / A), False),
        (A * A, False),
        (A + where(is_negative(A), -lifted(1).constant, 1), True),
        (A + where(is_negative(A), 1, -lifted(1).constant), False),
        (where(B < 0, A, 0 - A), False),
        (where(B < 0, A, A * 2), False),
    ],
)
def test_directions_of_small_terms(number: Term, known: bool) -> None:
    assert (stage_of(to_ends(number, -128, 127), 0) is not None) is known
