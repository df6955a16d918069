"""What can go wrong in one step of a term, by the step's own operation and nothing else; all other steps are held."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from tiebreak.golden.arithmetic.term import (
    DOWN,
    UP,
    Term,
    equal,
    exponent,
    greatest,
    is_finite,
    least,
    lifted,
    magnitude,
    power_of_two,
    rounded,
    step,
    to_ends,
    where,
    whole,
    wrapped,
)
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, IntegerType, scaled
from tiebreak.golden.operators.model import Kind
from tiebreak.golden.problem import Problem

DOUBLE = FLOAT_TYPES["float64"]
TRUTHS = ("less", "at-most", "equal", "is-nan", "is-finite", "is-negative", "and", "or")


@dataclass(frozen=True)
class Change:
    """A step otherwise, and the kind of the clause that it breaks.

    If `free`, `term` only stands for all that may be there in the step's place: a pattern that a document names.
    """

    kind: Kind
    term: Term
    free: bool = False


def changes_of(one: Term, problem: Problem) -> Iterator[Change]:
    """The changes of a step, likely ones first."""
    if one.name in TRUTHS:
        yield Change("formula", ~one)
    elif one.name in CHANGES:
        yield from CHANGES[one.name](one, problem)


def of_round(one: Term, problem: Problem) -> Iterator[Change]:
    """Every mode gives one of the two neighbours."""
    yield from (Change("rounding", replace(one, constant=mode)) for mode in (UP, DOWN))


def of_ends(one: Term, problem: Problem) -> Iterator[Change]:
    """Wraps, gives the other end or one that the type's range has or lacks; anything for an infinity."""
    kind, (value,) = problem.result, one.args
    assert isinstance(kind, IntegerType)
    yield Change("saturation", whole(wrapped(value, kind)))
    lows = (low for low in (kind.lowest, kind.lowest + 1) if low != one.constant[0])
    yield from (Change("saturation", to_ends(value, low, kind.highest)) for low in lows)
    yield Change("saturation", where(value > kind.highest, whole(kind.lowest), one))
    yield Change("saturation", where(value < kind.lowest, whole(kind.highest), one))
    yield Change("saturation", where(is_finite(value), one, whole(kind.lowest + 1)), free=True)


def of_float(one: Term, problem: Problem) -> Iterator[Change]:
    """Rounds to the other neighbour, saturates or not, has the other zero, or gives anything for what is no number."""
    end, (value,) = one.constant, one.args
    beyond = (replace(end, beyond=other) for other in ("ieee", "largest") if other != end.beyond)
    zeros = (replace(end, zero=other) for other in ("signed", "no") if other != end.zero)
    yield from (Change("rounding", replace(one, args=(toward(value, end.kind, mode),))) for mode in (UP, DOWN))
    yield from (Change("saturation", replace(one, constant=other)) for other in beyond)
    yield from (Change("formula", replace(one, constant=other)) for other in zeros)
    yield Change("saturation", replace(one, args=(flushed(value, end.kind),)))
    yield Change("formula", where(is_finite(value), one, Term("bits", constant=1)), free=True)


def of_step(one: Term, problem: Problem) -> Iterator[Change]:
    """Is not rounded, or to the other neighbour; a subnormal number is zero."""
    (value,), kind = one.args, one.constant or problem.working
    yield Change("formula", value)
    yield from (Change("formula", toward(value, kind, mode)) for mode in (UP, DOWN))
    yield Change("formula", flushed(one, kind))


def of_operand(one: Term, problem: Problem) -> Iterator[Change]:
    kind = problem.kinds[one.constant[0]]
    if isinstance(kind, FloatType):
        yield Change("formula", flushed(one, kind))


def of_parts(kind: Kind) -> Callable[[Term, Problem], Iterator[Change]]:
    """Each argument alone in the operation's place."""

    def changes(one: Term, problem: Problem) -> Iterator[Change]:
        yield from (Change(kind, arg) for arg in one.args)

    return changes


def of_clamp(one: Term, problem: Problem) -> Iterator[Change]:
    value, low, high = one.args
    if isinstance(problem.result, IntegerType) and low.name == high.name == "number":
        yield Change("saturation", wrapped(value, problem.result))
    yield from (Change("saturation", other) for other in (value, greatest(value, low), least(value, high)))


def of_subtract(one: Term, problem: Problem) -> Iterator[Change]:
    first, second = one.args
    yield from (Change("formula", other) for other in (first, 0 - second, first + second))


def of_add(one: Term, problem: Problem) -> Iterator[Change]:
    first, second = one.args
    yield from (Change("formula", other) for other in (first, second, first - second))


def of_divide(one: Term, problem: Problem) -> Iterator[Change]:
    first, second = one.args
    yield from (
        Change("formula", other) for other in (first * step(1 / second, problem.working), first, first * second)
    )


def of_number(one: Term, problem: Problem) -> Iterator[Change]:
    if one.clauses:
        yield from (Change("formula", lifted(one.constant + other)) for other in (1, -1))


def of_wrap(one: Term, problem: Problem) -> Iterator[Change]:
    kind, (value,) = one.constant, one.args
    yield Change("formula", greatest(least(value, kind.highest), kind.lowest))


def of_exponent(one: Term, problem: Problem) -> Iterator[Change]:
    yield from (Change("formula", one + other) for other in (1, -1))


def of_bits(one: Term, problem: Problem) -> Iterator[Change]:
    yield Change("formula", replace(one, constant=one.constant ^ 1), free=True)


CHANGES: dict[str, Callable[[Term, Problem], Iterator[Change]]] = {
    "round": of_round,
    "to-ends": of_ends,
    "to-float": of_float,
    "step": of_step,
    "held": of_step,
    "operand": of_operand,
    "clamp": of_clamp,
    "subtract": of_subtract,
    "add": of_add,
    "divide": of_divide,
    "multiply": of_parts("formula"),
    "least": of_parts("formula"),
    "greatest": of_parts("formula"),
    "magnitude": of_parts("formula"),
    "number": of_number,
    "wrap": of_wrap,
    "exponent": of_exponent,
    "bits": of_bits,
}


def toward(value: Term, kind: FloatType, mode: str) -> Term:
    """A number rounded to a type's precision in a mode of integers."""
    known = step(value, DOUBLE)
    unit = power_of_two(greatest(exponent(magnitude(known)), kind.emin) - (kind.precision - 1))
    return where(is_finite(known) & ~equal(known, 0), rounded(known / unit, mode) * unit, known)


def flushed(value: Term, kind: FloatType) -> Term:
    return where(magnitude(value) < scaled(1, kind.emin), 0, value)


def changed(term: Term, sites: Collection[Term], change: Callable[[Term], Term]) -> Term:
    """A term with other steps in the place of all those that are equal to one of `sites`."""
    made: dict[int, Term] = {}

    def walk(one: Term) -> Term:
        if id(one) not in made:
            made[id(one)] = change(one) if one in sites else with_args(one, [walk(arg) for arg in one.args])
        return made[id(one)]

    return walk(term)


def with_args(one: Term, args: list[Term]) -> Term:
    same = all(map(operator.is_, args, one.args))
    return one if same else replace(one, args=tuple(args))
