"""A backend that computes an operator's term with something wrong in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial, reduce
from typing import Any

import numpy as np

from tiebreak.conformance.variants.changes import (
    Change,
    Numbers,
    Walked,
    everywhere,
    numbers_changed,
    numbers_in,
    of_operation,
    spoken,
)
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.term import Numeric, Term, steps_of
from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Elementwise, array_of, codes_of

Output = tuple[Elementwise, Term]  # what is asked of its elements, and how it is computed
WrongOutput = Callable[["NodeCall", Elementwise, Term], Output]
RESULTS = ("to-float", "to-ends")


@dataclass(frozen=True)
class NodeCall:
    """A call of a node, equal to another one with the same bits: what is asked of each element of its outputs."""

    node: Node = field(compare=False)
    inputs: tuple[Array, ...] = field(compare=False)
    key: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        bits = tuple((one.dtype, one.shape, one.tobytes()) for one in self.inputs)
        object.__setattr__(self, "key", (self.node.key, bits))

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return tuple((problem, term_of(ProblemForm(problem))) for problem in self.problems_with(self.inputs))

    @cached_property
    def evaluations(self) -> dict[tuple[int, ...], BackendEvaluation]:
        return {}

    @cached_property
    def arrays(self) -> dict[tuple[tuple[int, ...], Term], Array]:
        return {}

    def problems_with(self, inputs: tuple[Array, ...]) -> list[Elementwise]:
        found = get_operator(self.node.operator).problems(self.node, inputs)
        return [one for one in found if isinstance(one, Elementwise)]

    def computed(self, problem: Elementwise, term: Term) -> Array:
        """What a backend gives. Terms of the same operands share an evaluation, so that equal parts are made once."""
        key = tuple(map(id, problem.operands))
        if key not in self.evaluations:
            own = problem.operands, problem.kinds, problem.working
            self.evaluations[key] = BackendEvaluation(*own, oracle.signed_value_of)
        if (key, term) not in self.arrays:
            codes = self.evaluations[key].answer(term)
            codes = codes.view(np.uint64) if isinstance(problem.result, FloatType) else codes
            self.arrays[key, term] = array_of(problem.result.name, problem.shape, codes)
        return self.arrays[key, term]

    def indices(self, number: int) -> Array:
        """Which element of an input each element of the first output takes, by the operands that the document gives it.

        The input's elements are numbered, digit by digit, with codes that some have, or that is next to all of them.
        """
        own, kind = self.inputs[number], self.outputs[0][0].kinds[number]
        codes, weight = np.unique(codes_of(own)), 1
        codes = codes if codes.size > 1 else np.unique([codes, codes ^ 1])
        found = np.zeros(self.outputs[0][0].operands[number].size, np.int64)
        while weight < own.size:
            digits = array_of(kind.name, own.shape, codes[np.arange(own.size) // weight % codes.size])
            inputs = (*self.inputs[:number], digits, *self.inputs[number + 1 :])
            found += np.searchsorted(codes, self.problems_with(inputs)[0].operands[number]) * weight
            weight *= codes.size
        return found


@lru_cache(maxsize=2)
def kept(call: NodeCall) -> NodeCall:
    """The same call as before, with what was computed for it."""
    return call


@dataclass(frozen=True)
class ProblemForm:
    """What a problem says but for its operands."""

    problem: Elementwise = field(compare=False)
    key: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        own = self.problem
        constants = tuple(own.constants.items())
        object.__setattr__(self, "key", (own.formula, own.mode, own.kinds, own.result, own.working, constants))


@lru_cache(maxsize=1 << 8)
def term_of(form: ProblemForm) -> Term:
    return spoken(oracle.term_of(form.problem, oracle.formula_of(form.problem)))


@lru_cache(maxsize=1 << 12)
def changed_term(make: Callable[[Elementwise], Change], form: ProblemForm, term: Term) -> Term:
    return everywhere(term, *change_for(make, form))


@lru_cache(maxsize=1 << 9)
def change_for(make: Callable[[Elementwise], Change], form: ProblemForm) -> tuple[Change, Walked]:
    """A change, and what it made so far."""
    return make(form.problem), {}


@dataclass(frozen=True)
class Mutant:
    """One or several changes of what a backend computes; first come those of what it is asked.

    It raises ValueError where one of them has nothing to change, so that it is no candidate there. `reading` is none of
    them: which of a document's readings the backend follows otherwise.
    """

    changes: tuple[WrongOutput, ...]
    asked: tuple[WrongOutput, ...] = ()
    reading: WrongOutput | None = None

    def __add__(self, other: Mutant) -> Mutant:
        """Both at once, this one first."""
        return Mutant((*self.changes, *other.changes), (*self.asked, *other.asked), self.reading or other.reading)

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        call = kept(NodeCall(node, inputs))
        outputs = call.outputs
        for change in self.asked:
            outputs = mistaken(change, call, outputs)
        if self.reading is not None:
            outputs = tuple(self.reading(call, *output) for output in outputs)
        for change in self.changes:
            outputs = mistaken(change, call, outputs)
        return tuple(call.computed(*output) for output in outputs)


def mistaken(change: WrongOutput, call: NodeCall, outputs: tuple[Output, ...]) -> tuple[Output, ...]:
    wrong = tuple(change(call, *output) for output in outputs)
    if all(new is old and term == own for (new, term), (old, own) in zip(wrong, outputs, strict=True)):
        raise ValueError("there is nothing to mistake")
    return wrong


def posed(change: Callable[[NodeCall, Elementwise], Elementwise]) -> Mutant:
    """Something else is asked: of other operands, or by other attributes, which the term may depend on."""

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        new = change(call, problem)
        own = ProblemForm(new)
        return new, term if own == ProblemForm(problem) else term_of(own)

    return Mutant((), (apply,))


def with_constants(make: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Mutant:
    """By other attributes."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        new = make(problem.constants)
        return problem if new == problem.constants else replace(problem, constants=new)

    return posed(pose)


def at_once(*mutants: Mutant) -> Mutant:
    """All as one change, of which any has something to change."""
    whole = reduce(Mutant.__add__, mutants)

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        for change in (*whole.asked, *whole.changes):
            problem, term = change(call, problem, term)
        return problem, term

    return Mutant((apply,))


def written(make: Callable[[Elementwise], Change], *, only: Collection[str] = ()) -> Mutant:
    """Parts of the term are changed, in those of all outputs or of some `only`."""

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        return problem, term if only and problem.output not in only else changed_term(make, ProblemForm(problem), term)

    return Mutant((apply,))


def numbers_otherwise(make: Callable[[Numbers], Mapping[str, Numeric]], problem: Elementwise) -> Change:
    """The change of with_numbers for one problem."""
    results = [one for one in steps_of(term_of(ProblemForm(problem))) if one.name in RESULTS]
    new = make({name: number for one in results for name, number in numbers_in(one.args[0]).items()})

    def change(one: Term) -> Term | None:
        return replace(one, args=(numbers_changed(one.args[0], new),)) if one.name in RESULTS else None

    return change


def with_numbers(make: Callable[[Numbers], Mapping[str, Numeric]]) -> Mutant:
    """Other numbers in the results, made of those that the right term has. Outer ones come first (numbers_changed)."""
    return written(partial(numbers_otherwise, make))


def with_number(name: str, make: Callable[[Numbers], Numeric]) -> Mutant:
    return with_numbers(lambda numbers: {name: make(numbers)})


def changed(*changes: Change, only: Collection[str] = ()) -> Mutant:
    """Parts of the term are changed, each by the first of these changes that has something for it."""

    def change(one: Term) -> Term | None:
        return next((found for found in (each(one) for each in changes) if found is not None), None)

    return written(lambda problem: change, only=only)


def operation(name: str, change: Callable[..., Numeric]) -> Mutant:
    """What stands for each part with this operation, from what it is made of."""
    return changed(of_operation(name, change))
