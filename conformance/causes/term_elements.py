"""The elements of one term of a kind of node, and what a backend gives for them that changes a step or the inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from tiebreak.conformance.judging.judge import negative_zero
from tiebreak.conformance.judging.truths import canonical
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.facet_causes import mode_cause
from tiebreak.conformance.variants.changes import everywhere, spoken
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.input_changes import absent_inputs, input_changes
from tiebreak.conformance.variants.single_changes import changes_of_absent, single_changes
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Term, steps_of
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Problem

ChangeTerm = Callable[[Term], Term]

COLUMNS = ("given", "right", "zero", "conforms", "numbers", "case", "place")
MOST_ASKED, MOST_CONFORMING = 64, 1024  # elements of a term with which changes are tried before all are
MOST_CASES = 6  # that deviate, and as many that do not, with which changes of inputs are tried before all are
MOST_STEPS = 400  # of a term whose changes are tried
IN_FLOAT64 = ", the rest in float64"


@dataclass(frozen=True)
class Candidate:
    """A change: of the inputs, or of a step by its id, in working precision or float64; and another rounding mode."""

    id: str
    of_inputs: bool = False
    suffix: str = ""
    mode: str = ""

    def name(self, wanted: str) -> str:
        """The id of the cause, where the document asks for a mode."""
        return f"{self.id}{self.suffix}" + (f"{JOINT}{mode_cause(wanted, self.mode).id}" if self.mode else "")


@dataclass
class TermElements:
    """The elements of one term: operands, what the backend gave, what is right, and which of them are which.

    `cases` are the cases with the number of the output. `numbers` are the places of deviating elements among the
    kind's, -1 of all others. `case` and `place` say where each element is.
    """

    problem: Problem  # without its operands
    cases: Sequence[tuple[Case, int]]
    operands: tuple[Array, ...]
    given: Array
    right: Array  # a row each: the exact result, and that of working precision
    zero: Array  # where either zero is right
    conforms: Array
    numbers: Array
    case: Array
    place: Array

    @cached_property
    def term(self) -> Term:
        return spoken(oracle.term_of(self.problem, oracle.formula_of(self.problem)))

    @cached_property
    def absent(self) -> list[int]:
        """The places of operands whose inputs the node does not have."""
        node = self.cases[0][0].node
        names = self.problem.names([one.name for one in node.inputs], get_operator(node.operator).forms[0])
        missing = {name.rstrip("s") for name in absent_inputs(node)}
        return [place for place, name in enumerate(names) if name.rstrip("s") in missing]

    @cached_property
    def changes(self) -> Mapping[str, ChangeTerm]:
        """The changes of its steps by their ids."""
        return self.changes_with("")

    def changes_with(self, id_: str) -> Mapping[str, ChangeTerm]:
        """The changes with an id, or all if it is empty; none for a long term."""
        found: dict[str, ChangeTerm] = {}
        if self.is_short:
            every = changes_of_absent(self.term, self.absent), single_changes(self.term, self.problem, only=id_)
            for name, change in chain(*every):
                found.setdefault(name, change)
        return found

    @cached_property
    def is_short(self) -> bool:
        return sum(1 for _ in steps_of(self.term)) <= MOST_STEPS

    def codes(self, candidate: Candidate) -> Array | None:
        """What a backend gives that makes the change, as comparable codes; None where it changes nothing."""
        if candidate.of_inputs:
            operands, term = self.operands_with(candidate.id), self.term
            if operands is None:
                return None
        else:
            change = self.changes_with(candidate.id).get(candidate.id)
            if change is None:
                return None
            operands, term = self.operands, change(self.term)
        if candidate.mode:
            term = everywhere(term, lambda one: replace(one, constant=candidate.mode) if one.name == "round" else None)
        return self.answer(self.evaluation(operands, candidate.suffix), term)

    def evaluation(self, operands: tuple[Array, ...], suffix: str) -> BackendEvaluation:
        kind = DOUBLE if suffix else self.problem.working
        return BackendEvaluation(operands, self.problem.kinds, kind, oracle.signed_value_of)

    def answer(self, evaluation: BackendEvaluation, term: Term) -> Array:
        codes = canonical(evaluation.answer(term), self.problem)
        return np.where(self.zero & (codes == negative_zero(self.problem)), 0, codes)

    def operands_with(self, id_: str) -> tuple[Array, ...] | None:
        """The operands after a change of the inputs; None if no case has it."""
        changed = tuple(one.copy() for one in self.operands)
        applies = False
        for number in np.unique(self.case).tolist():
            case, output = self.cases[number]
            inputs = dict(input_changes(case.node, case.inputs)).get(id_)
            if inputs is not None:
                problem = get_operator(case.node.operator).problems(case.node, inputs)[output]
                own = np.flatnonzero(self.case == number)
                for column, operand in zip(changed, problem.operands, strict=True):
                    column[own] = operand[self.place[own]]
                applies = True
        return changed if applies else None

    def some(self, at: Array) -> TermElements:
        operands = tuple(one[at] for one in self.operands)
        return TermElements(self.problem, self.cases, operands, *(getattr(self, name)[..., at] for name in COLUMNS))

    def asked(self, left: Array) -> TermElements:
        """Some of the elements that are left (a mask by number)."""
        return self.some(spread(np.flatnonzero(self.is_left(left)), MOST_ASKED))

    def is_left(self, left: Array) -> Array:
        return np.asarray((self.numbers >= 0) & left[self.numbers])

    def conforming(self) -> TermElements:
        """Some of the elements that conform."""
        return self.some(spread(np.flatnonzero(self.conforms), MOST_CONFORMING))

    def of_few_cases(self, wanted: Array) -> TermElements:
        """The wanted elements (a mask) of a few cases that have some."""
        chosen = spread(np.unique(self.case[wanted]), MOST_CASES)
        return self.some(np.flatnonzero(wanted & np.isin(self.case, chosen)))


def spread(places: Array, most: int) -> Array:
    return places[:: max(1, -(-places.size // most))]


def key_of(problem: Problem) -> tuple[object, ...]:
    """What problems with one term have in common."""
    constants = tuple(getattr(problem, "constants", {}).items())
    formula = getattr(problem, "formula", "")
    return formula, problem.output, problem.mode, problem.kinds, problem.result, problem.working, constants


def joined(parts: Sequence[TermElements]) -> TermElements:
    """The elements of several cases with one term."""
    numbered = [replace(one, case=one.case + number) for number, one in enumerate(parts)]
    operands = tuple(np.concatenate(each) for each in zip(*(one.operands for one in parts), strict=True))
    columns = (np.concatenate([getattr(one, name) for one in numbered], axis=-1) for name in COLUMNS)
    return TermElements(parts[0].problem, [one.cases[0] for one in parts], operands, *columns)
