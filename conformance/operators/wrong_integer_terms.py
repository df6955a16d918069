"""Wrong steps that operators of integers share, as changes of their terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, everywhere, following, operands_of
from tiebreak.conformance.variants.mutant import Mutant, changed, written
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Term, clamp, lifted, wrapped
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Elementwise

(ROUNDED_ONCE,) = by.all_steps_in(DOUBLE).changes  # a reading: the document's formula is rounded at its end alone


def as_it_is(call: object, problem: Elementwise, term: Term) -> tuple[Elementwise, Term]:
    """The reading that each step is rounded."""
    return problem, term


# Operands.


def taken_as(value: int, *names: str) -> Mutant:
    """Operands are one value."""
    return changed(*(by.of_operand(name, lambda number: lifted(value)) for name in names))


def negated(name: str) -> Mutant:
    return changed(by.of_operand(name, lambda number: 0 - number))


def taken_for(names: Mapping[str, str]) -> Mutant:
    """Operands are taken for others, by their names."""

    def change(p: Elementwise) -> Change:
        own = operands_of(p)
        return {own[name]: own[other] for name, other in names.items()}.get

    return written(change)


def exchanged(one: str, other: str) -> Mutant:
    return taken_for({one: other, other: one})


# Differences of an operand and its zero point.


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
DIFFERENCE_SATURATES = differences(lambda number, kind: clamp(number, kind.lowest, kind.highest))


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
