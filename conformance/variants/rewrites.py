"""Other ways to write a step: equal to it in real arithmetic, or a usual slip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import Change, everywhere, matched, of_operation, operands_of
from tiebreak.conformance.variants.mutant import Mutant, changed, written
from tiebreak.conformance.variants.number_changes import is_integer
from tiebreak.golden.arithmetic.term import (
    DOWN,
    TOWARD_ZERO,
    UPWARD,
    Term,
    held,
    in_type,
    is_negative,
    rounded,
    step,
    where,
)
from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

HALF = Fraction(1, 2)
ARITHMETIC = ("add", "subtract", "multiply", "divide")


# Roundings: what stands for a number that is to be rounded.

Rounding = Callable[[Term], Term]


def in_mode(mode: str) -> Rounding:
    return lambda number: rounded(number, mode)


def floor_of_half_more(number: Term) -> Term:
    return rounded(step(number + HALF), DOWN)


def trunc_of_half_more(number: Term) -> Term:
    return rounded(step(number + HALF), TOWARD_ZERO)


def trunc_of_signed_half_more(number: Term) -> Term:
    return rounded(step(number + where(is_negative(number), -HALF, HALF)), TOWARD_ZERO)


def rounding(by: Rounding) -> Change:
    return of_operation("round", by)


def ties_upward(one: Term) -> Term | None:
    return rounded(one.args[0], UPWARD) if one.name == "round" and one.constant == EVEN else None


TIES_UPWARD = changed(ties_upward)


# Products and quotients.


def of_fraction(change: Callable[[Term, Term, Term], Term]) -> Change:
    """A change of x * n / d, where each is rounded, from x, n and d."""

    def found(one: Term) -> Term | None:
        quotient = matched(one, "divide")
        product = matched(quotient[0], "multiply") if quotient else ()
        return change(product[0], product[1], quotient[1]) if product else None

    return found


def factor_first(x: Term, n: Term, d: Term) -> Term:
    return step(x * step(n / d))


def quotient_first(x: Term, n: Term, d: Term) -> Term:
    return step(step(x / d) * n)


def by_inverse_factor(x: Term, n: Term, d: Term) -> Term:
    return step(x / step(d / n))


def by_reciprocal(x: Term, n: Term, d: Term) -> Term:
    return step(step(x * n) * step(1 / d))


def of_factor(change: Callable[[Term], Term]) -> Change:
    """A change of the factor in a product, which is a quotient."""
    return of_scaled(lambda x, factor: step(x * change(factor)))


def of_product(change: Callable[[Term, Term], Term]) -> Change:
    """A change of a product, from its factors."""

    def found(one: Term) -> Term | None:
        product = matched(one, "multiply")
        return change(*product) if product else None

    return found


def divided_by_inverse(x: Term, factor: Term) -> Term:
    return step(x / step(1 / factor))


def inverse(number: Term) -> Term:
    """1 / a number, made as the number is: of a quotient the divisor over the dividend."""
    if parts := matched(number, "divide"):
        return step(parts[1] / parts[0])
    if number.name in ("least", "greatest"):
        other = "greatest" if number.name == "least" else "least"
        return replace(number, name=other, args=tuple(map(inverse, number.args)))
    if number.name == "where":
        return replace(number, args=(number.args[0], *map(inverse, number.args[1:])))
    return step(1 / number)


def divided_in(name: str) -> Callable[[Term, Term], Term]:
    """Dividend, divisor and quotient are of this type."""
    kind = FLOAT_TYPES[name]
    return lambda x, d: step(step(x, kind) / step(d, kind), kind)


def of_scaled(change: Callable[[Term, Term], Term]) -> Change:
    """A change of a product whose factor is a quotient, from both."""

    def found(one: Term) -> Term | None:
        product = matched(one, "multiply")
        return change(*product) if product and matched(product[1], "divide") else None

    return found


# Formulas.

EXACT = "exact"


def exact(number: Term) -> Term:
    """A number that is no step of its formula."""
    return number.named(EXACT)


def stepped(formula: Term) -> Term:
    """A formula of operands in which each sum, product and quotient is a step but for exact ones."""

    def change(one: Term) -> Term | None:
        return (one.named("") if one.label == EXACT else step(one)) if one.name in ARITHMETIC else None

    return everywhere(formula, change)


# Operands, and the result.


def of_operand(name: str, change: Callable[[Term], Term]) -> Change:
    return lambda one: change(one) if one.name == "operand" and one.constant[1] == name else None


def of_result(change: Callable[[Term], Term]) -> Change:
    """A change of a real result after it is rounded."""
    return lambda one: replace(one, args=(change(step(one.args[0])),)) if one.name == "to-float" else None


# The whole.


def result_of(make: Callable[..., Term]) -> Mutant:
    """A real result that is made of a problem and its operands in another way."""

    def change(p: Elementwise) -> Change:
        own = make(p, *operands_of(p).values())
        return lambda one: replace(one, args=(own,)) if one.name == "to-float" else None

    return written(change)


def operands(change: Callable[[Term], Term], *names: str) -> Mutant:
    """Operands are changed wherever they are taken."""
    return changed(*(of_operand(name, change) for name in names))


def result(conversion: Callable[[Term], Term]) -> Mutant:
    """A real result is converted before it is put out."""
    return changed(of_result(conversion))


def as_written(number: Term) -> Term:
    """A number without what stands for it where a step overflows."""
    return number.args[0] if number.name == "or-else" else number


def flushes(*parts: str) -> Mutant:
    """Subnormal numbers of the type are 0: operands, what steps give, or real results ("to-float")."""

    def make(p: Elementwise) -> Change:
        flush = to.flushed_in(p.working)
        at_end = of_result(flush)
        return lambda one: (at_end if one.name == "to-float" else flush)(one) if one.name in parts else None

    return written(make)


def all_numbers_in(kind: FloatType) -> Mutant:
    """All steps in another type, which rounds what they take, too, but for integers that make an integer."""

    def make(p: Elementwise) -> Change:
        def inner(one: Term) -> Term | None:
            if one.name != "step":
                return None
            (own,) = one.args
            if own.name in ARITHMETIC and not is_integer(own, p):
                own = replace(own, args=tuple(arg if arg.name == "step" else step(arg) for arg in own.args))
            return replace(one, constant=None, args=(own,))

        return computed_in(kind, inner)

    return written(make)


def all_steps_in(kind: FloatType, *, operands: bool = False) -> Mutant:
    """All steps in another type, a real result, too, and if said so the real operands."""
    return written(partial(steps_in, kind, operands=operands))


def steps_in(kind: FloatType, p: Elementwise, *, operands: bool = False) -> Change:
    """The change of all_steps_in for one problem."""

    def inner(one: Term) -> Term | None:
        if one.name == "step" and one.constant:
            return replace(one, constant=None)
        is_real = one.name == "operand" and isinstance(p.kinds[one.constant[0]], FloatType)
        return held(one, kind) if operands and is_real else None

    return computed_in(kind, inner)


def computed_in(kind: FloatType, inner: Change) -> Change:
    """A change of results whose numbers are changed by `inner` and rounded to a type, a real result, too."""

    def change(one: Term) -> Term | None:
        if one.name not in ("to-ends", "to-float"):
            return None
        own = as_written(one.args[0])
        put_out = own if one.name == "to-ends" or own.name == "operand" else step(own)
        return replace(one, args=(in_type(everywhere(put_out, inner), kind),))

    return change
