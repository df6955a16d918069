"""Every change of a single step of a term that a kernel may make by mistake, with its cause's id, the likelier first.

Nothing here knows an operator. A number of the formula is known by its own formula: "x - zero_point in float16".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import everywhere, inner, with_change
from tiebreak.conformance.variants.number_changes import HALF_TYPES, OF_SMALL, Named, conversions_of, id_of, name_of
from tiebreak.conformance.variants.one_step import TRUTHS
from tiebreak.conformance.variants.product_changes import (
    exact_product_of,
    factors_of,
    of_distributed,
    of_folded_factor,
    of_product,
    of_rounded_sum,
    of_sum,
)
from tiebreak.conformance.variants.result_changes import of_ends, of_float
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    UP,
    UPWARD,
    Term,
    greatest,
    least,
    lifted,
    rounded,
    step,
    steps_of,
)
from tiebreak.golden.arithmetic.text import text_of
from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.problem import Problem
from tiebreak.golden.rounding import EVEN

Change = tuple[str, Callable[[Term], Term]]  # the id of a change, and what makes the changed term of a term


ROUNDINGS: Mapping[str, by.Rounding] = {
    "toward zero": by.in_mode(TOWARD_ZERO),
    "ties away from zero": by.in_mode(AWAY),
    "ties to even": by.in_mode(EVEN),
    "ties upward": by.in_mode(UPWARD),
    "down": by.in_mode(DOWN),
    "up": by.in_mode(UP),
    "ties toward zero": by.in_mode("ROUND_NEAREST_TOWARD_ZERO"),
    "ties downward": by.in_mode("ROUND_NEAREST_DOWNWARD"),
    "by trunc(q+0.5)": by.trunc_of_half_more,
    "by floor(q+0.5)": by.floor_of_half_more,
    "by trunc(q+0.5 sign(q))": by.trunc_of_signed_half_more,
}


def single_changes(term: Term, problem: Problem, *, only: str = "") -> Iterator[Change]:
    """Each change of a backend's term (changes.spoken); with `only` the one with this id is there, not all others."""
    numbers = numbers_of(term)
    divisors = {one.args[1] for one in steps_of(term) if one.name == "divide"}
    for kinds in (of_operation, of_conversions):
        for site, name in numbers:
            if only and not may_have(only, kinds is of_conversions, site, name):
                continue
            may_be_small = site in divisors or site.name == "operand"
            for id_, new in kinds(site, name, problem):
                if new != site and (may_be_small or not id_.startswith(OF_SMALL)):
                    yield id_, partial(with_change, site=site, new=new)
    yield from of_operands(term, problem)
    yield from of_all_steps()


def may_have(id_: str, is_conversion: bool, site: Term, name: str) -> bool:
    """Whether an id may be of a change of this number; ids of folded factors and of results name no other one."""
    if is_conversion or (id_.startswith(("number-as:", "number-rounds:")) and site.name not in ("to-ends", "to-float")):
        return f":{name}" in id_
    return True


def numbers_of(term: Term) -> list[tuple[Term, str]]:
    """The distinct numbers that steps make, the first ones first, each with its name. A rounded one stands for both."""
    found: dict[Term, str] = {}
    under = {one.args[0] for one in steps_of(term) if one.name in ("step", "held")}
    for one in outside_of_sums(term):
        if one.name not in (*TRUTHS, "not", "bits") and one not in under and (one.name != "number" or one.clauses):
            found.setdefault(one, name_of(one))
    return list(found.items())


def outside_of_sums(term: Term) -> Iterator[Term]:
    """The steps of a term. Of what is in the parts of a long sum, only what the first two of them have in common."""
    long = [one for one in steps_of(term) if one.name == "sum" and len(one.args) > 2]
    within = {part for one in long for arg in one.args for part in steps_of(arg)}
    common = {part for one in long for part in {*steps_of(one.args[0])} & {*steps_of(one.args[1])}}
    return (one for one in steps_of(term) if one not in within or one in common)


def of_conversions(site: Term, name: str, problem: Problem) -> Iterator[Named]:
    if site.name in ("to-ends", "whole", "end"):
        return
    if site.name == "to-float":
        put_out = site.args[0] if site.args[0].name == "step" else step(site.args[0])
        for id_, new in conversions_of(put_out, name, problem):
            yield id_, replace(site, args=(new,))
        return
    yield from conversions_of(site, name, problem)


def of_operation(site: Term, name: str, problem: Problem) -> Iterator[Named]:
    """What may stand for a number's own operation, by that operation."""
    if site.name == "to-ends":
        yield from of_ends(site, problem)
    elif site.name == "to-float":
        yield from of_float(site, problem)
    elif site.name == "round":
        yield from ((f"number-rounds:{name},{way}", rounding(site.args[0])) for way, rounding in ROUNDINGS.items())
        yield f"number-taken-as:{name},{text_of(site.args[0])}".replace(" + ", "+"), site.args[0]
        yield from ((f"number-as:{name},{text}", new) for text, new in named(of_rounded_sum(site)))
    elif site.name == "number":
        for more in (1, -1):
            yield id_of(f"number-plus:{more}", name), lifted(site.constant + more)
    else:
        yield from ((f"number-as:{name},{text}", new) for text, new in named(of_number(site)) if text != name)
        if len(factors_of(site)) > 1:
            yield f"number-rounded-once:{name}", step(exact_product_of(factors_of(site)))
        if inner(site).name in ("multiply", "divide"):
            yield from of_folded_factor(inner(site), problem)
            yield from of_distributed(site, problem)


def named(terms: Iterator[Term]) -> Iterator[Named]:
    """Each with its formula; one that an id can't hold is left out."""
    for one in terms:
        text = text_of(one).replace(" + ", "+")
        if not set(text) & set(",:@"):
            yield text, one


def of_number(site: Term) -> Iterator[Term]:
    operation = inner(site)
    if operation.name in ("multiply", "divide"):
        yield from of_product(operation)
    elif operation.name in ("add", "subtract"):
        first, second = operation.args
        yield from (first, second)
        yield (first - second) if operation.name == "add" else (first + second)
        yield step(second - first)
        if operation.name == "add" and first.name == "round":
            yield rounded(step(inner(first.args[0]) + second), first.constant)
            yield rounded(step(first.args[0] + second), first.constant)
            yield rounded(step(first.args[0] + second), AWAY)
    elif operation.name == "sum":
        yield from of_sum(operation)
    elif operation.name in ("least", "greatest"):
        yield from operation.args
        yield (greatest if operation.name == "least" else least)(*operation.args)
    elif operation.name == "clamp":
        value, low, high = operation.args
        yield value
        yield greatest(value, low)
        yield least(value, high)
    elif operation.name == "where":
        yield from operation.args[1:]
    elif operation.name == "magnitude":
        yield operation.args[0]


# Operands, and all steps.


def of_operands(term: Term, problem: Problem) -> Iterator[Change]:
    """One operand taken for another of its type, and two exchanged."""
    every = list(dict.fromkeys(one for one in outside_of_sums(term) if one.name == "operand"))
    for first, second in combinations(every, 2):
        (place, name), (other_place, other) = first.constant, second.constant
        if problem.kinds[place] != problem.kinds[other_place]:
            continue
        yield f"number-taken-as:{name},{other}", partial(with_change, site=first, new=second)
        yield f"number-taken-as:{other},{name}", partial(with_change, site=second, new=first)
        yield f"number-taken-as:{name},-{other}", partial(with_change, site=first, new=0 - second)
        yield f"number-taken-as:{other},-{name}", partial(with_change, site=second, new=0 - first)
        exchanged = {first: second, second: first}
        yield f"operands-exchanged:{name},{other}", partial(everywhere, change=exchanged.get)


def changes_of_absent(term: Term, places: Sequence[int]) -> Iterator[Change]:
    """Another default for the operands at these places, whose inputs the node does not have."""
    for one in dict.fromkeys(each for each in steps_of(term) if each.name == "operand" and each.constant[0] in places):
        for value in (0, 1, 8, 128, -128, 127):
            yield (
                f"number-taken-as:an absent {one.constant[1]},{value}",
                partial(with_change, site=one, new=lifted(value)),
            )


def of_all_steps() -> Iterator[Change]:
    """All steps in another type, with the operands if the id says so."""
    for name in ("float16", "bfloat16", "float32", "float64"):
        kind = FLOAT_TYPES[name]

        def in_type(one: Term, kind: FloatType = kind) -> Term | None:
            return replace(one, constant=kind) if one.name == "step" and one.constant != DOUBLE else None

        def with_operands(one: Term, kind: FloatType = kind) -> Term | None:
            return step(one, kind) if one.name == "operand" else in_type(one, kind)

        yield f"computes-in:{name}", partial(everywhere, change=in_type)
        if name in HALF_TYPES:
            yield f"computes-in:{name}, inputs too", partial(everywhere, change=with_operands)
