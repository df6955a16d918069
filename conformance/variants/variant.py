"""A backend that computes an operator's term with something wrong in it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tiebreak.conformance.variants.changes import Change, everywhere, spoken
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.term import Term
from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Elementwise, array_of

Output = tuple[Elementwise, Term]  # what is asked of its elements, and how it is computed
WrongOutput = Callable[["Question", Elementwise, Term], Output]


@dataclass(frozen=True)
class Question:
    """A call of a node, equal to another one with the same bits: what is asked of each element of its outputs."""

    node: Node = field(compare=False)
    inputs: tuple[Array, ...] = field(compare=False)
    key: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        bits = tuple((one.dtype.name, one.shape, one.tobytes()) for one in self.inputs)
        object.__setattr__(self, "key", (self.node.key, bits))

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        return tuple((problem, term_of(Form(problem))) for problem in self.problems_with(self.inputs))

    @cached_property
    def evaluations(self) -> dict[tuple[int, ...], BackendEvaluation]:
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
        codes = self.evaluations[key].answer(term)
        if isinstance(problem.result, FloatType):
            codes = codes.view(np.uint64)
        return array_of(problem.result.name, problem.shape, codes)

    def indices(self, number: int) -> Array:
        """Which element of an input each element of the first output takes, by the operands that the document gives it.

        The input's elements are numbered, digit by digit, with codes that its type has.
        """
        own, kind = self.inputs[number], self.outputs[0][0].kinds[number]
        base, weight, found = 1 << (kind.bits - 1), 1, np.zeros(self.outputs[0][0].operands[number].size, np.int64)
        while weight == 1 or weight < own.size:
            digits = array_of(kind.name, own.shape, np.arange(own.size) // weight % base)
            inputs = (*self.inputs[:number], digits, *self.inputs[number + 1 :])
            found += self.problems_with(inputs)[0].operands[number].astype(np.int64) * weight
            weight *= base
        return found


@lru_cache(maxsize=2)
def kept(question: Question) -> Question:
    """The same question as before, with what was computed for it."""
    return question


@dataclass(frozen=True)
class Form:
    """What a problem says but for its operands."""

    problem: Elementwise = field(compare=False)
    key: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        own = self.problem
        constants = tuple(own.constants.items())
        object.__setattr__(self, "key", (own.formula, own.mode, own.kinds, own.result, own.working, constants))


@lru_cache(maxsize=1 << 8)
def term_of(form: Form) -> Term:
    return spoken(oracle.term_of(form.problem, oracle.formula_of(form.problem)))


@lru_cache(maxsize=1 << 12)
def changed_term(make: Callable[[Elementwise], Change], form: Form, term: Term) -> Term:
    return everywhere(term, make(form.problem))


@dataclass(frozen=True)
class Variant:
    """One or several changes of what a backend computes.

    It raises ValueError where one of them has nothing to change, so that it is no candidate there.
    """

    changes: tuple[WrongOutput, ...]

    def __add__(self, other: Variant) -> Variant:
        """Both at once, this one first."""
        return Variant((*self.changes, *other.changes))

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        question = kept(Question(node, inputs))
        outputs = question.outputs
        for change in self.changes:
            wrong = tuple(change(question, *output) for output in outputs)
            if all(new is old and term == own for (new, term), (old, own) in zip(wrong, outputs, strict=True)):
                raise ValueError("there is nothing to mistake")
            outputs = wrong
        return tuple(question.computed(*output) for output in outputs)


def posed(change: Callable[[Question, Elementwise], Elementwise]) -> Variant:
    """Something else is asked: of other operands, or by other attributes. It comes before changes of the term."""

    def apply(question: Question, problem: Elementwise, term: Term) -> Output:
        new = change(question, problem)
        return (problem, term) if new is problem else (new, term_of(Form(new)))

    return Variant((apply,))


def written(make: Callable[[Elementwise], Change], *, only: Collection[str] = ()) -> Variant:
    """Parts of the term are changed, in those of all outputs or of some `only`."""

    def apply(question: Question, problem: Elementwise, term: Term) -> Output:
        return problem, term if only and problem.output not in only else changed_term(make, Form(problem), term)

    return Variant((apply,))


def changed(*changes: Change, only: Collection[str] = ()) -> Variant:
    """As written, of the first of these changes that has something for a part."""

    def change(one: Term) -> Term | None:
        return next((found for found in (each(one) for each in changes) if found is not None), None)

    return written(lambda problem: change, only=only)
