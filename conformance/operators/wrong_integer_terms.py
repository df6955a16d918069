"""Wrong steps that operators of integers share, as changes of their terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, at, everywhere, following, operands_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, changed, written
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Term, clamp, lifted, wrapped
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.problem import Elementwise

WORD = INTEGER_TYPES["int32"]
(ROUNDED_ONCE,) = by.all_steps_in(DOUBLE).changes  # a reading: the document's formula is rounded at its end alone


def as_it_is(call: object, problem: Elementwise, term: Term) -> tuple[Elementwise, Term]:
    """The reading that each step is rounded."""
    return problem, term


def only(condition: Callable[[NodeCall], bool], mutant: Mutant) -> Mutant:
    """A mistake of some nodes alone."""
    (change,) = mutant.changes

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        return change(call, problem, term) if condition(call) else (problem, term)

    return Mutant((apply,))


# Operands.


def taken_as(value: int, *names: str) -> Mutant:
    """Operands are one value."""
    return by.operands(lambda number: lifted(value), *names)


def negated(name: str) -> Mutant:
    return by.operands(lambda number: 0 - number, name)


def taken_for(names: Mapping[str, str]) -> Mutant:
    """Operands are taken for others, by their names."""

    def change(p: Elementwise) -> Change:
        own = operands_of(p)
        return {own[name]: own[other] for name, other in names.items()}.get

    return written(change)


def exchanged(one: str, other: str) -> Mutant:
    return taken_for({one: other, other: one})


def read_as(signed: bool, name: str, most: int = 32) -> Mutant:
    """An integer's bits read with or without a sign, if it has no more than so many bits."""

    def make(p: Elementwise) -> Change:
        kind = p.kinds[operands_of(p)[name].constant[0]]
        if not isinstance(kind, IntegerType) or kind.signed == signed or kind.bits > most:
            return lambda one: None
        other = INTEGER_TYPES[f"{'' if signed else 'u'}int{kind.bits}"]
        return by.of_operand(name, lambda number: wrapped(number, other))

    return written(make)


# Differences of an operand and its zero point.


def word(value: Term) -> Term:
    return wrapped(value, WORD)


def saturated(value: Term, kind: IntegerType = WORD) -> Term:
    return clamp(value, kind.lowest, kind.highest)


def held_difference(mark: str, change: Callable[[Term, IntegerType], Term]) -> Mutant:
    """The number with this mark as the first operand's type holds it."""

    def make(p: Elementwise) -> Change:
        kind = p.kinds[0]
        assert isinstance(kind, IntegerType)
        return at(mark, lambda one: change(one, kind))

    return written(make)


def differences(change: Callable[[Term, IntegerType], Term]) -> Mutant:
    """Each is made another number, from the operand's type."""

    def make(p: Elementwise) -> Change:
        def found(one: Term) -> Term | None:
            if one.name != "subtract" or one.args[0].name != "operand":
                return None
            kind = p.kinds[one.args[0].constant[0]]
            assert isinstance(kind, IntegerType)
            return following(one, change(one, kind))

        return found

    return written(make)


DIFFERENCE_WRAPS = differences(wrapped)
DIFFERENCE_SATURATES = differences(saturated)


# The rounding that the document has; others may be in what is rounded.


def rounds(rounding: by.Rounding) -> Mutant:
    def change(one: Term) -> Term | None:
        return following(one, rounding(one.args[0])) if one.name == "round" and one.clauses else None

    return changed(change)


def rounds_before(name: str, rounding: by.Rounding) -> Mutant:
    """An operand is added only after the rounding."""

    def make(p: Elementwise) -> Change:
        zero_point = operands_of(p)[name]
        without = {zero_point: lifted(0)}.get

        def change(one: Term) -> Term | None:
            if one.name != "round" or not one.clauses:
                return None
            return following(one, rounding(everywhere(one.args[0], without)) + zero_point)

        return change

    return written(make)
