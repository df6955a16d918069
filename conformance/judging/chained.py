"""Outputs that follow from others: what they should be, given the others as the backend gave them.

A wrong scale makes the integers wrong that are divided by it. Whether these follow from it tells one mistake from two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.judging.judge import negative_zero
from tiebreak.conformance.judging.truths import is_specified
from tiebreak.golden import kernel
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.operator_names import short_name
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.golden.problem import ZERO, Array, Problem, array_of
from tiebreak.golden.problems import output_slices, problems_of

CHAINED = tuple(id_ for id_, spec in OPERATORS.items() if spec.chain is not None)


@dataclass(frozen=True)
class Chained:
    """What a case's outputs should be, given a backend's own: codes (int64, flat, output by output).

    `exact` and `working` are the backend's own codes wherever nothing `follows` (bool) from other outputs.
    """

    exact: Array
    working: Array
    follows: Array


def chained(case: Case, codes: Array) -> Chained | None:
    """The chain for outputs with these codes; None where the operator has none, or the outputs pose no problem."""
    spec = get_operator(case.node.operator)
    if spec.chain is None:
        return None
    problems = problems_of(case)
    slices = output_slices(problems)
    outputs = tuple(output_of(problem, codes[own]) for problem, own in zip(problems, slices, strict=True))
    try:
        posed = spec.chain(case.node, case.inputs, outputs)
    except InvalidInput:
        return None
    found = Chained(codes.copy(), codes.copy(), np.zeros(codes.shape, bool))
    for place, problem in posed.items():
        fill(found, slices[place], problem, saturates=spec.saturates)
    return found


def fill(found: Chained, own: slice, problem: Problem, *, saturates: bool) -> None:
    """The results of one output, where its problem specifies them; a negative zero stays where either zero is right."""
    (exact, state), (working, in_steps) = (kernel.solve(problem, working=steps) for steps in (False, True))
    specified = is_specified(state, saturates) & is_specified(in_steps, saturates)
    other_zero = (state == ZERO) & (found.exact[own] == negative_zero(problem))
    found.exact[own] = np.where(specified & ~other_zero, exact, found.exact[own])
    found.working[own] = np.where(specified & ~other_zero, working, found.working[own])
    found.follows[own] = specified


def output_of(problem: Problem, codes: Array) -> Array:
    """An output from its codes."""
    kind = problem.result
    kept = codes if isinstance(kind, IntegerType) else codes & ((1 << kind.bits) - 1)
    return array_of(kind.name, problem.shape, kept, problem.output)


def chain_rows(backend: str, cases: Sequence[Case], outputs: Mapping[str, Array]) -> list[dict[str, Any]]:
    """A row for each operator with a chain: how many elements do not follow from the backend's own other outputs.

    They follow by the document's arithmetic, so what does not is no contradiction of the backend with itself.
    """
    rows = [chain_row(backend, operator, cases, outputs) for operator in CHAINED]
    return [row for row in rows if row["cases"]]


def chain_row(backend: str, operator: str, cases: Sequence[Case], outputs: Mapping[str, Array]) -> dict[str, Any]:
    ran = elements = differ = 0
    binds = get_operator(operator).chain_binds
    for case in cases:
        if case.node.operator != operator or not binds(case.inputs):
            continue
        own = outputs.get(case.id)
        found = None if own is None else chained(case, own)
        if found is not None:
            ran, elements = ran + 1, elements + int(found.follows.sum())
            differ += int(np.count_nonzero((own != found.exact) & (own != found.working)))
    counts = {"cases": ran, "elements": elements, "differ": differ, "itself": False}
    return {"relation": sentence(operator), "backend": backend, "operators": [operator], **counts}


def sentence(operator: str) -> str:
    name, outputs = short_name(operator), " and ".join(get_operator(operator).outputs[1:])
    return f"what {name} gives follows from the {outputs} that it gives"
