"""What a backend gives that computes a term as it is written, wherever the document is silent, too.

arithmetic/working.py does the steps. Here IEEE 754 holds throughout: zeros have signs, and a quotient of zeros is NaN.
NaN goes on to the end. An integer has none: it is 0 there, or the end of the range that is nearer to 0. What float64
lacks to an exact number is lost. Where steps overflow so that NaN is left, a term may say what follows instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce

import numpy as np

from tiebreak.golden.arithmetic import working
from tiebreak.golden.arithmetic.doubles import round_array, to_odd, two_product, two_sum
from tiebreak.golden.arithmetic.term import UPWARD, Term
from tiebreak.golden.arithmetic.working import (
    NOTHING,
    ArrayEvaluation,
    Column,
    Rule,
    in_type,
    signed_quotient,
    subtract,
)
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.problem import IN_RANGE, Array

FAR = 2.0**62  # farther away no integer type reaches


class BackendEvaluation(ArrayEvaluation):
    """Evaluates terms that say nothing of silence (changes.spoken)."""

    def answer(self, term: Term) -> Array:
        """int64 codes of a term that ends in a result."""
        with np.errstate(all="ignore"):
            return np.broadcast_to(self.part(term, self.kind).values, self.size).astype(np.int64)

    @property
    def rules(self) -> Mapping[str, Rule]:
        return RULES


def plain(values: Array, rest: Array | float = 0.0) -> Column:
    """A backend's numbers: it gives all of them."""
    return Column(values, NOTHING, NOTHING, rest)


def of_step(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    """A number rounded to a type, with the sign of a zero."""
    (part,) = run.parts(term, kind)
    own = term.constant or kind
    if own is not None and own.name in ("float32", "float16"):  # as NumPy rounds
        values = part.values if type(part.rest) is float else to_odd(part.values, np.asarray(part.rest))
        return plain(values.astype(own.name).astype(np.float64))
    return part if own is None else in_type(part, own)


def of_pair(operation: Callable[[Array, Array], tuple[Array, Array]]) -> Rule:
    def rule(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
        one, other = run.parts(term, kind)
        return plain(*operation(one.values, other.values))

    return rule


def of_values(function: Callable[..., Array]) -> Rule:
    return lambda run, term, kind: plain(function(*(part.values for part in run.parts(term, kind))))


def of_where(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    condition, yes, no = run.parts(term, kind)
    whole = type(yes.rest) is float and type(no.rest) is float
    rest = 0.0 if whole else np.where(condition.values, yes.rest, no.rest)
    return plain(np.where(condition.values, yes.values, no.values), rest)


def of_round(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    found = round_array(run.part(term.args[0], kind).values, term.constant)
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
    return replace(part, values=np.mod(low_bits - own.lowest, count) + own.lowest, rest=0.0)


def of_ends(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.parts(term, kind)
    values = np.clip(np.where(np.isnan(part.values), 0.0, part.values), *term.constant)
    return replace(part, values=values, states=np.full((), IN_RANGE))


def of_float(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    """A float's code, with the sign of a zero."""
    found, (part,) = working.of_float(run, term, kind), run.parts(term, kind)
    is_zero = (found.values == 0) & np.signbit(part.values)
    minus = 1 << (term.constant.kind.bits - 1)
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
