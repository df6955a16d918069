"""The arithmetics that a node may have, as changes of its operator's term: a value of a facet is a change.

A semantics is a term with one change for each facet, those of the formula first and that of the working precision
last. So no arithmetic stands here: what a document says is in its operator's term, and what else a black box may do is
a rewrite of a step of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, singledispatchmethod
from typing import Any

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import (
    ANYTHING,
    OTHER,
    Candidates,
    Facet,
    Probe,
    Semantics,
    Value,
    codes,
    valid_candidates,
)
from tiebreak.conformance.semantics.precisions import Precision
from tiebreak.conformance.semantics.round_modes import AWAY, FLOOR, MODES, TRUNCATE, RoundMode
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import everywhere
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.monotone import never_turns, staged_number
from tiebreak.conformance.variants.mutant import Mutant, ProblemForm, changed, term_of
from tiebreak.golden import kernel, oracle
from tiebreak.golden.arithmetic.term import Term
from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import UNDEFINED, Array, Elementwise, array_of, codes_of
from tiebreak.golden.problems import problems_of

AS_WRITTEN = Mutant(())
SUMS = {FLOOR: by.floor_of_half_more, TRUNCATE: by.trunc_of_half_more, AWAY: by.trunc_of_signed_half_more}


@dataclass(frozen=True, eq=False)
class TermChange:
    """A value of a facet: a way to do a part of the term, given as a change of the document's."""

    id: str
    sentence: str
    mutant: Mutant = AS_WRITTEN
    cause: str = ""


@dataclass
class TermArithmetic(FiniteOnly):
    """All arithmetics that a node may have whose first input is x, with scalars for the others.

    The document's are the first value of each facet, but for the precision and the rounding mode, which the node has.
    Steps that are not rounded are the reference kernel's.
    """

    node: Node
    facets: tuple[Facet, ...]
    terms: dict[Semantics, Term] = field(default_factory=dict)

    @cached_property
    def problem(self) -> Elementwise:
        """What is asked of each element, whatever its operands."""
        one = tuple(np.ones((1,) if not n else (), tensor.dtype) for n, tensor in enumerate(self.node.inputs))
        found = problems_of(Probe(one[0], one[1:]).case(self.node, 0))[0]
        assert isinstance(found, Elementwise)
        return found

    @property
    def documented(self) -> Semantics:
        return tuple(map(self.documented_value, self.facets))

    def documented_value(self, facet: Facet) -> Value:
        wanted = {"precision": self.problem.working.name, "round_mode": self.problem.mode}.get(facet.name)
        return facet.by_id[wanted] if wanted else facet.values[0]

    @cached_property
    def candidates(self) -> Candidates:
        return valid_candidates(self.facets, self.is_valid)

    def is_valid(self, semantics: Semantics) -> bool:
        """Whether a combination makes sense and gives what no simpler one does. Without rounded steps only the mode."""
        if not is_exact(semantics):
            return True
        pairs = zip(semantics, self.documented, strict=True)
        return all(not one.sum if isinstance(one, RoundMode) else is_exact([one]) or one is own for one, own in pairs)

    def term(self, semantics: Semantics) -> Term:
        """The term of a combination, in which each value has made its change."""
        if semantics not in self.terms:
            found = everywhere(term_of(ProblemForm(self.problem)), as_written)
            for mutant in map(self.mutant_of, sorted(semantics, key=lambda one: isinstance(one, Precision))):
                for change in (*mutant.asked, *mutant.changes):
                    _, found = change(None, self.problem, found)  # type: ignore[arg-type]
            self.terms[semantics] = found
        return self.terms[semantics]

    @singledispatchmethod
    def mutant_of(self, value: Any) -> Mutant:
        found: Mutant = value.mutant
        return found

    @mutant_of.register
    def of_mode(self, value: RoundMode) -> Mutant:
        if value is MODES.get(self.problem.mode):
            return AS_WRITTEN
        return changed(by.rounding(SUMS[value] if value.sum else by.in_mode(value.id)))

    @mutant_of.register
    def of_precision(self, value: Precision) -> Mutant:
        return AS_WRITTEN if value.type == self.problem.working else by.all_steps_in(value.type)

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        return (codes for codes, _ in self.staged(probe, semantics))

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is the result before it wraps, where its steps say that it never turns as x grows."""
        operands = tuple(np.broadcast_to(codes_of(one).reshape(-1), probe.x.size) for one in (probe.x, *probe.others))
        asked = replace(self.problem, shape=probe.x.shape, operands=operands)
        run = BackendEvaluation(operands, asked.kinds, asked.working, oracle.signed_value_of)
        unknown = np.full(probe.x.size, np.nan)
        for one in semantics:
            if is_exact(one):
                yield self.exactly(asked, one)
                continue
            term = self.term(one)
            found = self.as_codes(run.answer(term))
            if not never_turns(term, 0):
                yield found, unknown
            else:
                with np.errstate(all="ignore"):
                    stage = run.part(staged_number(term), self.problem.working).values
                yield found, np.broadcast_to(stage, probe.x.size).astype(np.float64)

    def exactly(self, asked: Elementwise, semantics: Semantics) -> tuple[Array, Array]:
        """Codes from the reference kernel; ANYTHING where the document leaves the result open."""
        mode = next((one.id for one in semantics if isinstance(one, RoundMode)), asked.mode)
        found, states = kernel.solve(asked, working=False, mode=mode)
        found = np.where(states == UNDEFINED, ANYTHING, found)
        return found, np.where(states == UNDEFINED, np.nan, found)

    def as_codes(self, found: Array) -> Array:
        """What an output says of these codes: one NaN, and mostly one zero."""
        result = self.problem.result
        if not isinstance(result, FloatType):
            return found
        return codes(array_of(result.name, found.shape, found.view(np.uint64)))

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        return OTHER


def is_exact(semantics: Sequence[Value]) -> bool:
    return any(isinstance(one, Precision) and one.is_exact for one in semantics)


def as_written(one: Term) -> Term | None:
    """A number without what stands for it where a step overflows."""
    return one.args[0] if one.name == "or-else" else None
