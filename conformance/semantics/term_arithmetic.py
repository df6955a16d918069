"""The arithmetics that a node may have, as changes of its operator's term: a value of a facet is a change.

A semantics is a term with one change for each facet, those of the formula first and that of the working precision
last. So no arithmetic stands here: what a document says is in its operator's term, and what else a black box may do is
a rewrite of a step of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial, reduce, singledispatchmethod
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
from tiebreak.conformance.semantics.round_modes import AWAY, FLOOR, TRUNCATE, RoundMode
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import everywhere
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.monotone import never_turns, staged_number
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, changed
from tiebreak.golden import kernel, oracle
from tiebreak.golden.arithmetic.term import Term, step
from tiebreak.golden.elements import FloatType, decode, encode
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import UNDEFINED, Array, Elementwise, array_of, codes_of

LAST = ("precision", "subnormals")  # facets whose changes are of all steps, whatever the others made of them
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
    Steps that are not rounded are the reference kernel's. `base` is what a backend does where its document is silent.
    """

    node: Node
    facets: tuple[Facet, ...]
    base: Mutant = AS_WRITTEN
    terms: dict[Semantics, Term] = field(default_factory=dict)

    @cached_property
    def call(self) -> NodeCall:
        """A call with one element: what is asked of it is asked of each."""
        shapes = ((1,), *[()] * len(self.node.inputs))
        ones = (np.ones(shape, tensor.dtype) for shape, tensor in zip(shapes, self.node.inputs, strict=False))
        return NodeCall(self.node, tuple(ones))

    @property
    def problem(self) -> Elementwise:
        return self.call.outputs[0][0]

    @cached_property
    def documented(self) -> Semantics:
        return tuple(map(self.documented_value, self.facets))

    def documented_value(self, facet: Facet) -> Value:
        wanted = {"precision": self.problem.working.name, "round_mode": self.problem.mode}.get(facet.name)
        return facet.by_id[wanted] if wanted else facet.values[0]

    @property
    def candidates(self) -> Candidates:
        return self.valid

    @cached_property
    def valid(self) -> Candidates:
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
            pairs = sorted(zip(self.facets, semantics, strict=True), key=lambda pair: pair[0].name in LAST)
            documented = self.documented
            others = (self.mutant_of(value) for _, value in pairs if value not in documented)
            whole = reduce(Mutant.__add__, others, self.base)
            problem, found = self.call.outputs[0]
            for change in whole.asked:
                problem, found = change(self.call, problem, found)
            found = computed(found, problem.working)
            for change in whole.changes:
                problem, found = change(self.call, problem, found)
            self.terms[semantics] = found
        return self.terms[semantics]

    @singledispatchmethod
    def mutant_of(self, value: Any) -> Mutant:
        found: Mutant = value.mutant
        return found

    @mutant_of.register
    def of_mode(self, value: RoundMode) -> Mutant:
        return rounding_by(value)

    @mutant_of.register
    def of_precision(self, value: Precision) -> Mutant:
        return by.all_numbers_in(value.type)

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


@cache  # a change that is the same one is made once of the same term
def rounding_by(mode: RoundMode) -> Mutant:
    return changed(by.rounding(SUMS[mode] if mode.sum else by.in_mode(mode.id)))


@lru_cache(maxsize=1 << 6)
def computed(term: Term, kind: FloatType) -> Term:
    return everywhere(term, partial(as_computed, kind))


def is_exact(semantics: Sequence[Value]) -> bool:
    return any(isinstance(one, Precision) and one.is_exact for one in semantics)


def as_computed(kind: FloatType, one: Term) -> Term | None:
    """Constants in the type of the steps, and a number without what stands for it where a step overflows."""
    if one.name == "or-else":
        return one.args[0]
    if one.name not in by.ARITHMETIC:
        return None
    args = tuple(step(arg) if arg.name == "number" and not is_of(kind, arg.constant) else arg for arg in one.args)
    return replace(one, args=args)


def is_of(kind: FloatType, number: Fraction) -> bool:
    return decode(encode(number, kind), kind) == number
