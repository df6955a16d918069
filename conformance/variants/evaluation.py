"""What a backend gives that computes a term as it is written, wherever the document is silent, too.

arithmetic/working.py does the steps. Here IEEE 754 holds throughout: zeros have signs, and a quotient of zeros is NaN.
NaN goes on to the end. An integer has none: it is 0 there, or the end of the range that is nearer to 0. What float64
lacks to an exact number is lost, but for a part in real arithmetic: there a number has all digits of two float64, as a
product of integers needs them. Where steps overflow so that NaN is left, a term may say what follows instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache, reduce

import numpy as np

from tiebreak.golden.arithmetic import working
from tiebreak.golden.arithmetic.doubles import DOUBLE, known, round_array, rounded, to_odd, two_product, two_sum
from tiebreak.golden.arithmetic.term import UPWARD, FloatEnd, Term
from tiebreak.golden.arithmetic.working import (
    NOTHING,
    ArrayEvaluation,
    Column,
    Rule,
    in_type,
    one_by_one,
    signed_quotient,
    subtract,
)
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, IntegerType, decode, encode, numpy_dtype
from tiebreak.golden.problem import IN_RANGE, Array

FAR = 2.0**62  # farther away no integer type reaches
HALVES = 2.0**52  # farther away no float64 lies between two integers


PLAIN = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
SINGLE = FLOAT_TYPES["float32"]
KEEPING = ("round", "clamp", "least", "greatest", "magnitude", "where")  # operations that give numbers of the same type


class BackendEvaluation(ArrayEvaluation):
    """Evaluates terms that say nothing of silence (changes.spoken)."""

    def answer(self, term: Term) -> Array:
        """int64 codes of a term that ends in a result."""
        with np.errstate(all="ignore"):
            found = self.part(term, self.kind).values.astype(np.int64, copy=False)
        return found if found.shape == (self.size,) else np.broadcast_to(found, self.size)

    def part(self, term: Term, kind: FloatType | None) -> Column:
        """The same term is known by its place in memory, faster than an equal one."""
        key = id(term), id(kind)
        found = self.same.get(key)
        if found is None:
            found = self.same[key] = term, super().part(term, kind)
        return found[1]

    @cached_property
    def same(self) -> dict[tuple[int, int], tuple[Term, Column]]:
        return {}

    @property
    def rules(self) -> Mapping[str, Rule]:
        return RULES


def plain(values: Array, rest: Array | float = 0.0) -> Column:
    """A backend's numbers: it gives all of them."""
    return Column(values, NOTHING, NOTHING, rest)


def holds(run: ArrayEvaluation, goal: FloatType, term: Term, kind: FloatType | None) -> bool:
    """Whether a type is known to hold a number."""
    if term.name in ("step", "held"):
        return (term.constant or kind) is goal
    if term.name == "operand":
        return run.kinds[term.constant[0]] is goal
    if term.name == "number":
        return bool(decode(encode(term.constant, goal), goal) == term.constant)
    return term.name in KEEPING and all(holds(run, goal, arg, kind) for arg in term.args[term.name == "where" :])


def of_step(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    """A number rounded to a type, with the sign of a zero."""
    own, inner = term.constant or kind, term.args[0]
    if own is not None and own.bits > 8 and inner.name in PLAIN:
        one, other = inner.args
        if own is DOUBLE or (holds(run, own, one, kind) and holds(run, own, other, kind)):
            exact = PLAIN[inner.name](run.part(one, kind).values, run.part(other, kind).values)
            return plain(rounded_once_more(exact, own))
    part = run.part(inner, kind)
    if own is None or holds(run, own, inner, kind):
        return part
    if own.name in ("float32", "float16"):  # as NumPy rounds
        return plain(odd(part).astype(own.name).astype(np.float64))
    if own.bits <= 8:
        part = replace(part, values=in_precision(part, own), rest=0.0)
    return in_type(part, own)


def rounded_once_more(values: Array, kind: FloatType) -> Array:
    """Sums, products or quotients of a type's numbers, rounded to float64, in the type.

    Each type has twice the digits of a narrower one, and more: to round to several in turn is to round once.
    """
    if kind is DOUBLE:
        return values
    single = values.astype(np.float32)
    return (single if kind.name == "float32" else single.astype(numpy_dtype(kind.name))).astype(np.float64)


def odd(part: Column) -> Array:
    """float64 numbers that are rounded further as the exact ones are."""
    return part.values if type(part.rest) is float else to_odd(part.values, np.asarray(part.rest))


def in_precision(part: Column, kind: FloatType) -> Array:
    """Numbers as a small type has them; beyond its range there is one of each sign."""
    values = odd(part)
    near = rounded(values, kind)
    beyond = (np.abs(near) > magnitudes_of(kind)[-3]) & np.isfinite(values)
    return np.where(beyond, np.copysign(2.0 ** (kind.emax + 1), values), near)


@lru_cache(maxsize=1 << 6)
def magnitudes_of(kind: FloatType) -> Array:
    """A small type's numbers that are not negative, one beyond its range, and infinity."""
    every = (float(decode(code, kind)) for code in range(kind.largest_bits + 1))
    return np.array([*every, 2.0 ** (kind.emax + 1), np.inf])


@lru_cache(maxsize=1 << 6)
def codes_in_order(end: FloatEnd) -> tuple[Array, Array]:
    """What in_precision gives, ascending, with the codes."""
    positive = magnitudes_of(end.kind)
    every = np.array([*-positive[:0:-1], *positive, np.nan])
    return every, one_by_one(plain(every), every, end).values


def of_pair(operation: Callable[[Array, Array], tuple[Array, Array]]) -> Rule:
    def rule(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
        one, other = run.parts(term, kind)
        if kind is not None:
            return plain(*operation(one.values, other.values))
        whole = type(one.rest) is float and type(other.rest) is float and term.name != "divide"
        values, rest = operation(one.values, other.values) if whole else of_pairs(term.name, one, other)
        return plain(values, rest if rest.any() else 0.0)

    return rule


def of_pairs(name: str, one: Column, other: Column) -> tuple[Array, Array]:
    """A sum, product or quotient with what float64 lacks to either number, and all that it lacks to the result."""
    a, b, a_rest, b_rest = one.values, other.values, one.rest, other.rest
    if name == "multiply":
        found, rest = two_product(a, b)
        rest = rest + a * b_rest + b * a_rest
    elif name == "divide":
        found = a / b
        product, low = two_product(found, b)
        rest = ((a - product - low) + (a_rest - found * b_rest)) / b
    else:
        sign = -1.0 if name == "subtract" else 1.0
        found, rest = two_sum(a, sign * b)
        rest = rest + (a_rest + sign * b_rest)
    return two_sum(found, known(rest))


def of_values(function: Callable[..., Array]) -> Rule:
    return lambda run, term, kind: plain(function(*(part.values for part in run.parts(term, kind))))


def of_where(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    condition, yes, no = run.parts(term, kind)
    whole = type(yes.rest) is float and type(no.rest) is float
    rest = 0.0 if whole else np.where(condition.values, yes.rest, no.rest)
    return plain(np.where(condition.values, yes.values, no.values), rest)


def of_round(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    part = run.part(term.args[0], kind)
    values = part.values if type(part.rest) is float else np.where(np.abs(part.values) < HALVES, odd(part), part.values)
    found = round_array(values, term.constant)
    return plain(found + 0.0 if term.constant == UPWARD else found)  # the floor of a half more is never a negative zero


def of_or_else(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    part = run.part(term.args[0], kind)
    instead = np.isnan(part.values)
    if not instead.any():
        return part
    other = run.part(term.args[1], kind)
    rest = np.where(instead, other.rest, part.rest)
    return replace(part, values=np.where(instead, other.values, part.values), rest=rest)


def of_changed(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    """`changed`: a conversion that no document has, of a number as float64."""
    (part,) = run.parts(term, kind)
    values = np.asarray(part.values, np.float64)
    return replace(part, values=np.asarray(term.constant.function(values), np.float64), rest=0.0)


def of_wrap(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.parts(term, kind)
    own: IntegerType = term.constant
    count = 2.0**own.bits
    low_bits = np.mod(np.clip(np.nan_to_num(part.values, nan=0.0), -FAR, FAR), count)
    low_bits = low_bits if kind else low_bits + part.rest
    return replace(part, values=np.mod(low_bits - own.lowest, count) + own.lowest, rest=0.0)


def of_ends(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.parts(term, kind)
    values = np.clip(np.where(np.isnan(part.values), 0.0, part.values), *term.constant)
    return replace(part, values=values, states=np.full((), IN_RANGE))


def of_float(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    """A float's code, with the sign of a zero."""
    (part,), end = run.parts(term, kind), term.constant
    own = end.kind
    if own.bits > 8 and (own.name != "bfloat16" or any(holds(run, goal, term.args[0], kind) for goal in (own, SINGLE))):
        values = part.values if own is DOUBLE else odd(part)
        values = np.where(np.isnan(values), np.nan, values).astype(numpy_dtype(own.name))
        return plain(values.view(f"uint{own.bits}").astype(np.int64))
    if own.bits <= 8:
        every, codes = codes_in_order(end)
        found = replace(part, values=codes[np.searchsorted(every, in_precision(part, own))])
    else:
        found = working.of_float(run, term, kind)
    is_zero = (found.values == 0) & np.signbit(part.values)
    minus = 1 << (own.bits - 1)
    return replace(found, values=np.where(is_zero, np.array(minus, np.uint64).view(np.int64), found.values))


RULES: dict[str, Rule] = {
    **working.RULES,
    "step": of_step,
    "held": of_step,
    "to-float": of_float,
    "add": of_pair(two_sum),
    "subtract": of_pair(subtract),
    "multiply": of_pair(two_product),
    "divide": of_pair(signed_quotient),
    "less": of_values(np.less),
    "at-most": of_values(np.less_equal),
    "equal": of_values(np.equal),
    "least": of_values(lambda *values: reduce(np.minimum, values)),
    "greatest": of_values(lambda *values: reduce(np.maximum, values)),
    "magnitude": of_values(np.abs),
    "clamp": of_values(lambda value, low, high: np.minimum(np.maximum(value, low), high)),
    "where": of_where,
    "round": of_round,
    "or-else": of_or_else,
    "changed": of_changed,
    "wrap": of_wrap,
    "to-ends": of_ends,
}
