"""Other ways to compute a product, a quotient or a sum: in other orders, with a factor made first, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import permutations

from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import inner, matched
from tiebreak.conformance.variants.number_changes import (
    REAL_CONVERSIONS,
    Named,
    conversions_of,
    id_of,
    is_integer,
    name_of,
)
from tiebreak.golden.arithmetic.term import (
    Term,
    lifted,
    rounded,
    step,
)
from tiebreak.golden.arithmetic.text import text_of
from tiebreak.golden.problem import Problem

MOST_ORDERS = 5  # factors of a product whose orders are tried


def of_rounded_sum(site: Term) -> Iterator[Term]:
    """The parts of a sum rounded one by one."""
    parts = parts_of(site.args[0])
    if len(parts) > 1:
        yield reduce(Term.__add__, (rounded(one, site.constant) for one in parts))


def parts_of(number: Term) -> list[Term]:
    """The numbers whose sum a number is, divided one by one if it is a quotient."""
    own = inner(number)
    if own.name == "add":
        return [part for arg in own.args for part in parts_of(arg)]
    if own.name == "sum" and own.args[-1].name == "operand":  # a bias
        return [replace(own, args=own.args[:-1]), own.args[-1]]
    if own.name in ("divide", "multiply"):
        parts = parts_of(own.args[0])
        if len(parts) > 1:
            return [step(replace(own, args=(step(inner(part)), own.args[1]))) for part in parts]
    return [number]


def of_sum(operation: Term) -> Iterator[Term]:
    """A long sum without its first or last part."""
    if len(operation.args) > 2:
        yield replace(operation, args=operation.args[1:])
        yield replace(operation, args=operation.args[:-1])


def of_distributed(site: Term, problem: Problem) -> Iterator[Named]:
    """A quotient of a sum as a sum of integers times ratios, each a number beforehand that something happens to."""
    parts = [factors_of(inner(part)) for part in parts_of(site)]
    if len(parts) < 2:
        return
    split: list[tuple[Term, Term]] = []
    for factors in parts:
        places = [n for n, (one, divides) in enumerate(factors) if not divides and is_integer(one, problem)]
        if len(places) != 1 or len(factors) < 2:
            return
        others = [*factors[: places[0]], *factors[places[0] + 1 :]]
        split.append((factors[places[0]][0], exact_product_of(others)))
    name = " and ".join(text_of(ratio) for _, ratio in split)
    for key, conversion in REAL_CONVERSIONS.items():
        yield id_of(key, name), reduce(Term.__add__, (one * conversion(ratio) for one, ratio in split))


def of_product(operation: Term) -> Iterator[Term]:
    """The factors of a product in other orders, with reciprocals, and without one of them."""
    factors = factors_of(operation)
    if len(factors) > MOST_ORDERS:
        return
    for reciprocal in (False, True):
        for order in permutations(factors):
            yield in_turn(order, reciprocal=reciprocal)
            if len(order) > 2:
                yield product_of(order[0], (in_turn(order[1:], reciprocal=reciprocal), False), reciprocal=reciprocal)
    for place, (one, divides) in enumerate(factors if len(factors) > 1 else ()):
        others = [*factors[:place], *factors[place + 1 :]]
        yield in_turn(others, reciprocal=False)
        yield in_turn([*others, (one, not divides)], reciprocal=False)
        if inner(one).name == "number":
            for more in (1, -1):
                other = lifted(inner(one).constant + more).named(f"({text_of(one)}{more:+d})")
                yield in_turn([*others, (other, divides)], reciprocal=False)
        if divides:
            estimate = (step(to.ESTIMATE(one)), False)
            yield in_turn([*others, estimate], reciprocal=False)
        sums = matched(one, "subtract") or matched(one, "add")
        if sums and not divides:
            parts = [in_turn([(part, False), *others], reciprocal=False) for part in sums]
            yield step(replace(inner(one), args=tuple(parts)))
            yield step(replace(inner(one), args=(inner(parts[0]), parts[1])))


def of_folded_factor(operation: Term, problem: Problem) -> Iterator[Named]:
    """One factor times all others, which are one number beforehand that something happens to."""
    factors = factors_of(operation)
    if not 1 < len(factors) <= MOST_ORDERS:
        return
    integers = [one for one in factors if not one[1] and is_integer(one[0], problem)]
    splits = [(integers, [one for one in factors if one not in integers])] if integers else []
    splits += [([one], [*factors[:n], *factors[n + 1 :]]) for n, one in enumerate(factors) if not one[1]]
    for first, others in splits:
        if len(others) > 1 or (others and others[0][1]):
            folded = exact_product_of(others)
            for id_, new in conversions_of(folded, name_of(folded), problem):
                yield id_, step(exact_product_of(first) * new)


Factor = tuple[Term, bool]  # a factor, and whether it divides


def factors_of(operation: Term) -> list[Factor]:
    """The factors of products in products."""
    found: list[Factor] = []

    def add(one: Term, divides: bool) -> None:
        own = inner(one)
        if own.name in ("multiply", "divide"):
            add(own.args[0], divides)
            add(own.args[1], divides != (own.name == "divide"))
        elif one.name != "number" or one.constant != 1:
            found.append((one, divides))

    add(operation, False)
    return found


def exact_product_of(factors: Sequence[Factor]) -> Term:
    (first, divides), *others = factors
    return reduce(exact_product, others, 1 / first if divides else first)


def exact_product(so_far: Term, factor: Factor) -> Term:
    one, divides = factor
    return so_far / one if divides else so_far * one


def in_turn(factors: Sequence[Factor], *, reciprocal: bool) -> Term:
    """A product, rounded after each factor; a divisor divides, or its rounded reciprocal multiplies."""
    (first, divides), *others = factors
    so_far: Term = step(1 / first) if divides else first
    for one in others:
        so_far = product_of((so_far, False), one, reciprocal=reciprocal)
    return so_far


def product_of(first: Factor, second: Factor, *, reciprocal: bool) -> Term:
    (one, divides), (other, other_divides) = first, second
    if divides:
        one = step(1 / one)
    if not other_divides:
        return step(one * other)
    return step(one * step(1 / other)) if reciprocal else step(one / other)
