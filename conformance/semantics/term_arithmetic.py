"""The arithmetics that a node may have, as changes of its operator's term: a value of a facet is a change.

A semantics is a term with one change for each facet, those of the formula first and that of the working precision
last. So no arithmetic stands here: what a document says is in its operator's term, and what else a black box may do is
a rewrite of a step of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial, singledispatchmethod
from typing import Any, ClassVar

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
    valid_candidates,
)
from tiebreak.conformance.semantics.precisions import Precision
from tiebreak.conformance.semantics.round_modes import AWAY, FLOOR, TRUNCATE, RoundMode
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import OnlyOnce, everywhere
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.monotone import stage_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, ProblemForm, changed
from tiebreak.golden import kernel, oracle
from tiebreak.golden.arithmetic.term import Term, step
from tiebreak.golden.elements import FloatType, decode, encode
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import UNDEFINED, Array, Elementwise, array_of, codes_of

AS_WRITTEN = Mutant(())
MOST_KEPT = 1 << 20  # numbers that semantics may share
SUMS = {FLOOR: by.floor_of_half_more, TRUNCATE: by.trunc_of_half_more, AWAY: by.trunc_of_signed_half_more}


@dataclass(frozen=True, eq=False)
class TermChange:
    """A value of a facet: a way to do a part of the term, given as a change of the document's."""

    id: str
    sentence: str
    mutant: Mutant = AS_WRITTEN
    cause: str = ""


@dataclass(frozen=True)
class MadeTerms:
    """Terms by the changes that made them, and the change that each value is."""

    by_values: dict[Semantics, Output] = field(default_factory=dict)
    mutants: dict[Value, Mutant] = field(default_factory=dict)
    only_once: OnlyOnce = field(default_factory=OnlyOnce)


@lru_cache(maxsize=4)
def made_terms(arithmetic: str, facets: tuple[Facet, ...], base: Mutant, form: ProblemForm) -> MadeTerms:
    """Several arithmetics of a node share them."""
    return MadeTerms()


@dataclass
class TermArithmetic(FiniteOnly):
    """All arithmetics that a node may have whose first input is x, with scalars for the others.

    The document's are the first value of each facet, but for the precision and the rounding mode, which the node has.
    Steps that are not rounded are the reference kernel's. `base` is what a backend does where its document is silent.
    """

    node: Node
    facets: tuple[Facet, ...]
    base: Mutant = AS_WRITTEN

    order: ClassVar[Sequence[str]] = ("precision", "subnormals")  # facets whose changes, of all steps, come last

    @cached_property
    def call(self) -> NodeCall:
        """A call with one element: what is asked of it is asked of each."""
        return NodeCall(self.node, tuple(np.ones((), tensor.dtype) for tensor in self.node.inputs))

    @property
    def problem(self) -> Elementwise:
        return self.call.outputs[0][0]

    @property
    def documented(self) -> Semantics:
        return self.written

    @cached_property
    def written(self) -> Semantics:
        """The values that change nothing."""
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
        values = [semantics[place] for place in self.places if semantics[place] is not self.written[place]]
        return self.after(tuple(sorted(values, key=lambda one: not self.change_of(one).asked)))[1]

    @cached_property
    def places(self) -> Sequence[int]:
        """The numbers of the facets in the order of their changes."""
        turns = [self.order.index(one.name) if one.name in self.order else -1 for one in self.facets]
        return sorted(range(len(turns)), key=turns.__getitem__)

    @cached_property
    def made(self) -> MadeTerms:
        return made_terms(type(self).__name__, self.facets, self.base, ProblemForm(self.problem))

    def after(self, values: Semantics) -> Output:
        """What is asked, and the term, after these changes; what several combinations begin with is made once."""
        if values not in self.made.by_values:
            problem, found = self.after(values[:-1]) if values else self.call.outputs[0]
            mutant = self.change_of(values[-1]) if values else self.base
            for change in mutant.asked:
                problem, found = change(self.call, problem, found)
            if mutant.asked or not values:
                found = computed(found, problem.working)
            for change in mutant.changes:
                problem, found = change(self.call, problem, found)
            self.made.by_values[values] = problem, self.made.only_once(found)
        return self.made.by_values[values]

    def change_of(self, value: Value) -> Mutant:
        if value not in self.made.mutants:
            self.made.mutants[value] = self.mutant_of(value)
        return self.made.mutants[value]

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
        for one, asked, run in self.runs(probe, semantics):
            yield self.exactly(asked, one)[0] if is_exact(one) else self.as_codes(run.answer(self.term(one)))

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is a number on the way to the result, where its steps say that it never turns as x grows."""
        for one, asked, run in self.runs(probe, semantics):
            if is_exact(one):
                yield self.exactly(asked, one)
                continue
            term, stage = self.term(one), np.array(np.nan)
            if number := stage_of(term, 0):
                with np.errstate(all="ignore"):
                    stage = run.part(number, self.problem.working).values
            yield self.as_codes(run.answer(term)), np.broadcast_to(stage, probe.x.size).astype(np.float64)

    def runs(
        self, probe: Probe, semantics: Sequence[Semantics]
    ) -> Iterator[tuple[Semantics, Elementwise, BackendEvaluation]]:
        """Each semantics with what is asked, and an evaluation that neighbours share."""
        operands = tuple(np.broadcast_to(codes_of(one).reshape(-1), probe.x.size) for one in (probe.x, *probe.others))
        asked = replace(self.problem, shape=probe.x.shape, operands=operands)
        run = None
        for one in semantics:
            if run is None or len(run.same) * run.size > MOST_KEPT:
                run = BackendEvaluation(operands, asked.kinds, asked.working, oracle.signed_value_of)
            yield one, asked, run

    def stage_key(self, semantics: Semantics) -> Hashable:
        return semantics if is_exact(semantics) else stage_of(self.term(semantics), 0) or semantics

    def exactly(self, asked: Elementwise, semantics: Semantics) -> tuple[Array, Array]:
        """Codes from the reference kernel; ANYTHING where the document leaves the result open."""
        mode = next((one.id for one in semantics if isinstance(one, RoundMode)), asked.mode)
        found, states = kernel.solve(asked, working=False, mode=mode)
        numbers = np.where(states == UNDEFINED, np.nan, self.results(found).astype(np.float64))
        return np.where(states == UNDEFINED, ANYTHING, self.as_codes(found)), numbers

    def as_codes(self, found: Array) -> Array:
        """What an output says of these codes: mostly one zero."""
        result = self.problem.result
        if not isinstance(result, FloatType) or result.bits <= 8:
            return found
        return np.where(found == np.array(1 << (result.bits - 1), np.uint64).astype(np.int64), 0, found)

    def results(self, found: Array) -> Array:
        """The numbers of codes."""
        own = self.problem.result
        return array_of(own.name, found.shape, found.view(np.uint64)) if isinstance(own, FloatType) else found

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
