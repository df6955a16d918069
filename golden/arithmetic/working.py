"""What a term gives for whole arrays at once, in working precision: as real.py says, on float64.

Each number is a pair (doubles.py). A step rounds the exact number that the pair stands for. Any other operation needs
that number itself, which is lost to it where a float64 is not exact. Elements with such a loss, and those beyond
float64, are left to real.py. So both evaluations agree by the way they are made, and this one only is the faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

import numpy as np

from tiebreak.golden.arithmetic import real
from tiebreak.golden.arithmetic.doubles import (
    DOUBLE,
    round_array,
    rounded,
    to_odd,
    two_product,
    two_quotient,
    two_sum,
)
from tiebreak.golden.arithmetic.real import RealEvaluation
from tiebreak.golden.arithmetic.results import UndefinedResult, float_code
from tiebreak.golden.arithmetic.term import FloatEnd, Term
from tiebreak.golden.elements import FloatType, IntegerType, Real, numpy_dtype
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, ZERO, Array

LARGEST_WHOLE = 2.0**53  # below it each whole number is a float64
SMALL, LARGE = 2.0**-900, 2.0**900  # between them a product of two float64 has an exact rest


@dataclass(slots=True)
class Column:
    """A part of a term for all elements: numbers, truths or codes, with what a float64 lacks to the exact number.

    `undefined`: where the document gives nothing. `lost`: where the exact number is not known.
    """

    values: Array
    undefined: Array
    lost: Array
    rest: Array | float = 0.0  # a float is 0: nothing is missing
    states: Array | None = None

    @property
    def known(self) -> Column:
        """For what needs the exact number: lost, too, where a rest is missing."""
        if type(self.rest) is float:
            return self
        return replace(self, lost=self.lost | (np.asarray(self.rest) != 0), rest=0.0)


NOTHING = np.zeros((), bool)


class ArrayEvaluation:
    """Evaluates terms for the codes of operands, one array for each; `kind` is the type of working precision."""

    def __init__(
        self,
        operands: Sequence[Array],
        kinds: Sequence[FloatType | IntegerType],
        kind: FloatType,
        read: Callable[[int, object], Real],
    ) -> None:
        self.codes, self.kinds, self.kind, self.read = operands, kinds, kind, read
        self.size = operands[0].size
        self.made: dict[tuple[Term, str | None], Column] = {}

    def solve(self, term: Term) -> tuple[Array, Array]:
        """(codes int64, states uint8) of a term that ends in a result."""
        with np.errstate(all="ignore"):
            found = self.part(term, self.kind)
        assert found.states is not None
        undefined = np.broadcast_to(found.undefined, self.size)
        codes = np.where(undefined, 0, np.broadcast_to(found.values, self.size)).astype(np.int64)
        states = np.where(undefined, UNDEFINED, np.broadcast_to(found.states, self.size)).astype(np.uint8)
        self.ask_again(term, np.flatnonzero(np.broadcast_to(found.lost, self.size)), codes, states)
        return codes, states

    def ask_again(self, term: Term, places: Array, codes: Array, states: Array) -> None:
        """Write the results of elements whose numbers are lost, by fractions."""
        evaluate = RealEvaluation(term, self.kind)
        for place in places.tolist():
            operands = [self.read(int(each[place]), kind) for each, kind in zip(self.codes, self.kinds, strict=True)]
            try:
                code, states[place] = evaluate(operands)
            except UndefinedResult:
                code, states[place] = 0, UNDEFINED
            codes[place] = code if code < 1 << 63 else code - (1 << 64)

    def part(self, term: Term, kind: FloatType | None) -> Column:
        key = (term, kind.name if kind else None)
        if key not in self.made:
            self.made[key] = self.rules[term.name](self, term, kind)
        return self.made[key]

    @property
    def rules(self) -> Mapping[str, Rule]:
        """What each operation gives, by its name."""
        return RULES

    def parts(self, term: Term, kind: FloatType | None) -> list[Column]:
        return [self.part(arg, kind) for arg in term.args]

    def exact_parts(self, term: Term, kind: FloatType | None) -> list[Column]:
        return [one.known for one in self.parts(term, kind)]


Rule = Callable[[ArrayEvaluation, Term, FloatType | None], Column]


def joined(columns: Sequence[Column], values: Array, rest: Array | float = 0.0) -> Column:
    """What is made of all these columns: undefined and lost where one of them is."""
    undefined, lost = (reduce(np.logical_or, [getattr(one, name) for one in columns]) for name in ("undefined", "lost"))
    return Column(values, undefined, lost, rest)


def values_of(codes: Array, kind: FloatType | IntegerType, read: Callable[[int, object], Real]) -> Array:
    """The values of codes as float64; -0.0 only if `read` tells it from zero."""
    if isinstance(kind, IntegerType):
        return codes.astype(np.float64)
    if kind.bits <= 8:
        every = np.array([float(read(code, kind)) for code in range(1 << kind.bits)])
        return every[codes.astype(np.int64)]
    values = codes.astype(f"uint{kind.bits}").view(numpy_dtype(kind.name)).astype(np.float64)
    keeps_sign = np.signbit(float(read(1 << (kind.bits - 1), kind)))
    return np.asarray(values if keeps_sign else values + 0.0)


def of_operand(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    place = term.constant[0]
    return Column(values_of(run.codes[place], run.kinds[place], run.read), NOTHING, NOTHING)


def of_number(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    value = float(term.constant)
    error = term.constant - Fraction(value)
    return Column(np.array(value), NOTHING, NOTHING, np.array(float(error)))


def of_step(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.parts(term, kind)
    return part if kind is None else without_sign_of_zero(in_type(part, term.constant or kind))


def of_held(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.parts(term, kind)
    return without_sign_of_zero(in_type(part, term.constant))


def without_sign_of_zero(part: Column) -> Column:
    """The number as fractions have it."""
    return replace(part, values=part.values + 0.0)


def in_type(part: Column, kind: FloatType) -> Column:
    """A number rounded once to a type. The pair's first number is that of float64."""
    if kind == DOUBLE:
        return replace(part, rest=0.0)
    values = to_odd(part.values, np.asarray(part.rest))
    if kind.bits > 8:
        return replace(part, values=rounded(values, kind), rest=0.0)
    every, places = np.unique(values, return_inverse=True)  # few, for what becomes a small type
    held = [float(real.in_type(Fraction(one) if np.isfinite(one) else one, kind)) for one in every.tolist()]
    return replace(part, values=np.array(held)[places].reshape(np.shape(values)), rest=0.0)


def of_pair(operation: Callable[[Array, Array], tuple[Array, Array]], *, scales: bool = False) -> Rule:
    """A sum, product or quotient of two numbers; if it `scales`, too small and too large ones have no exact rest."""

    def rule(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
        one, other = run.exact_parts(term, kind)
        found = joined([one, other], *operation(one.values, other.values))
        if term.name == "divide":
            found = replace(found, undefined=found.undefined | (other.values == 0))
        return found if not scales else replace(found, lost=found.lost | is_extreme(one, other, found))

    return rule


def is_extreme(one: Column, other: Column, found: Column) -> Array:
    """Whether a number is so small or large that the rest of a product need not be exact."""
    sizes = [np.abs(part.values) for part in (one, other, found)]
    inside = [(size == 0) | ((size > SMALL) & (size < LARGE)) | ~np.isfinite(size) for size in sizes]
    vanished = (sizes[2] == 0) & (sizes[0] != 0) & np.isfinite(sizes[1]) & (sizes[1] != 0)
    overflowed = np.isinf(sizes[2]) & np.isfinite(sizes[0]) & np.isfinite(sizes[1])
    return np.asarray(~reduce(np.logical_and, inside) | vanished | overflowed)


def subtract(one: Array, other: Array) -> tuple[Array, Array]:
    return two_sum(one, -other)


def signed_quotient(one: Array, other: Array) -> tuple[Array, Array]:
    """two_quotient for a divisor of either sign."""
    negative = np.signbit(other)
    quotient, rest = two_quotient(np.where(negative, -one, one), np.abs(other))
    return quotient, rest


def of_values(function: Callable[..., Array]) -> Rule:
    """An operation that is exact on float64."""

    def rule(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
        parts = run.exact_parts(term, kind)
        return joined(parts, function(*(part.values for part in parts)))

    return rule


def of_sum(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    """A sum of several: exact for whole numbers, lost where a partial sum is not."""
    first, *others = run.exact_parts(term, kind)
    for other in others:
        first = joined([first, other], *two_sum(first.values, other.values)).known
    return first


def of_round(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.exact_parts(term, kind)
    return replace(part, values=round_array(part.values, term.constant) + 0.0)


def of_clamp(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    value, low, high = run.exact_parts(term, kind)
    above = np.where(low.values > value.values, low.values, value.values)  # max(value, low), as Python has it
    found = joined([value, low, high], np.where(high.values < above, high.values, above))
    return replace(found, undefined=found.undefined | np.isnan(value.values))


def of_where(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    condition, yes, no = run.parts(term, kind)
    return chosen(condition.known, condition.values, yes, no)


def chosen(condition: Column, first: Array, yes: Column, no: Column) -> Column:
    """One of two columns in each element, with what is undefined or lost in the condition."""
    values, undefined, lost, rest = (
        np.where(first, getattr(yes, name), getattr(no, name)) for name in ("values", "undefined", "lost", "rest")
    )
    states = None if yes.states is None or no.states is None else np.where(first, yes.states, no.states)
    undefined = condition.undefined | undefined
    return Column(values, undefined, condition.lost | (lost & ~condition.undefined), rest, states)


def of_require(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    condition, part = run.parts(term, kind)
    condition = condition.known
    refused = condition.undefined | ~condition.values
    return replace(part, undefined=refused | part.undefined, lost=condition.lost | (part.lost & ~refused))


def of_undefined(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    return Column(np.zeros(()), ~NOTHING, NOTHING, states=np.zeros((), np.uint8))


def of_finite(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.parts(term, kind)
    return replace(part, values=part.values + 0.0, undefined=part.undefined | ~np.isfinite(part.values))


def of_agree(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    parts = run.parts(term, kind) if run.part(term.args[0], kind).states is not None else run.exact_parts(term, kind)
    found = joined(parts, parts[0].values)
    differs = reduce(np.logical_or, [one.values != parts[0].values for one in parts[1:]])
    return replace(found, states=parts[0].states, undefined=found.undefined | differs)


def of_or_else(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    part, other = run.parts(term, kind)
    settled = Column(NOTHING, NOTHING, part.lost)
    return chosen(settled, ~np.broadcast_to(part.undefined, run.size), part, other)


def of_both(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    """`and`, `or`: the second truth counts only where the first one does not decide."""
    one, other = run.exact_parts(term, kind)
    open_ = one.values if term.name == "and" else ~one.values
    values = (one.values & other.values) if term.name == "and" else (one.values | other.values)
    undefined, lost = one.undefined | (other.undefined & open_), one.lost | (other.lost & open_)
    return Column(values, undefined, lost & ~one.undefined | one.lost)


def of_form(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    return run.part(term.args[kind is not None], kind)


def of_precision(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    return run.part(term.args[0], term.constant)


def of_wrap(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.exact_parts(term, kind)
    own: IntegerType = term.constant
    values = np.mod(part.values - own.lowest, 2.0**own.bits) + own.lowest
    return replace(part, values=values, lost=part.lost | ~(np.abs(part.values) < LARGEST_WHOLE))


def of_power(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.exact_parts(term, kind)
    far = ~(np.abs(part.values) < 900)
    return replace(part, values=np.ldexp(1.0, np.where(far, 0, part.values).astype(np.int32)), lost=part.lost | far)


def of_ends(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.exact_parts(term, kind)
    low, high = term.constant
    values = np.clip(part.values, low, high)
    states = np.where(values == part.values, IN_RANGE, OUT_OF_RANGE)
    return replace(part, values=values, states=states, undefined=part.undefined | np.isnan(part.values))


def of_whole(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    """`whole`, `end`: a whole number as it is, which is the result or stands for one beyond it."""
    (part,) = run.exact_parts(term, kind)
    state = IN_RANGE if term.name == "whole" else OUT_OF_RANGE
    return replace(part, states=np.full((), state), lost=part.lost | ~(np.abs(part.values) < LARGEST_WHOLE))


def of_bits(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    return Column(np.array(term.constant), NOTHING, NOTHING, states=np.full((), IN_RANGE))


def of_float(run: ArrayEvaluation, term: Term, kind: FloatType | None) -> Column:
    (part,) = run.parts(term, kind)
    end: FloatEnd = term.constant
    # Cut to odd, no number is rounded twice on its way to a narrower type.
    values = to_odd(part.values, np.asarray(part.rest)) if end.kind != DOUBLE else part.values
    if end.kind.bits <= 8:
        return one_by_one(part, values, end)
    if end.kind.name == "bfloat16":
        codes = rounded(values, end.kind).astype(np.float32).view(np.uint32).astype(np.int64) >> 16
    else:
        codes = values.astype(end.kind.name).view(f"uint{end.kind.bits}").astype(np.uint64).view(np.int64)
    assert end.kind.nan_bits is not None
    codes = np.where(np.isnan(values), end.kind.nan_bits, codes)
    either = codes << (65 - end.kind.bits) == 0 if end.zero == "any" else (values == 0) & (end.zero == "exact")
    states = np.where(either, ZERO, IN_RANGE)
    return Column(np.where(either, 0, codes), part.undefined, part.lost, states=states)


def one_by_one(part: Column, values: Array, end: FloatEnd) -> Column:
    """Codes of a small type: few of its results are different."""
    known = np.where(part.undefined | part.lost, 0.0, values)
    every, places = np.unique(known.view(np.int64), return_inverse=True)  # by their bits: -0.0 is not 0.0
    undefined, codes, states = np.zeros(every.shape, bool), *(np.zeros(every.shape, np.int64) for _ in range(2))
    for place, value in enumerate(every.view(np.float64).tolist()):
        try:
            number = Fraction(value) if np.isfinite(value) and value != 0 else value
            codes[place], states[place] = float_code(number, end)
        except UndefinedResult:
            undefined[place] = True
    codes, states, undefined = (found[places].reshape(known.shape) for found in (codes, states, undefined))
    return Column(codes, part.undefined | undefined, part.lost, states=states)


def exponents(values: Array) -> Array:
    return np.frexp(values)[1].astype(np.float64) - 1


RULES: dict[str, Rule] = {
    "operand": of_operand,
    "number": of_number,
    "step": of_step,
    "held": of_held,
    "round": of_round,
    "add": of_pair(two_sum),
    "subtract": of_pair(subtract),
    "multiply": of_pair(two_product, scales=True),
    "divide": of_pair(signed_quotient, scales=True),
    "sum": of_sum,
    "where": of_where,
    "require": of_require,
    "undefined": of_undefined,
    "finite": of_finite,
    "agree": of_agree,
    "or-else": of_or_else,
    "and": of_both,
    "or": of_both,
    "by-form": of_form,
    "in-precision": of_precision,
    "less": of_values(np.less),
    "at-most": of_values(np.less_equal),
    "equal": of_values(np.equal),
    "not": of_values(np.logical_not),
    "least": of_values(lambda *values: reduce(np.minimum, values)),
    "greatest": of_values(lambda *values: reduce(np.maximum, values)),
    "clamp": of_clamp,
    "magnitude": of_values(np.abs),
    "is-nan": of_values(np.isnan),
    "is-finite": of_values(np.isfinite),
    "is-negative": of_values(np.signbit),
    "exponent": of_values(exponents),
    "power-of-two": of_power,
    "wrap": of_wrap,
    "to-ends": of_ends,
    "to-float": of_float,
    "whole": of_whole,
    "end": of_whole,
    "bits": of_bits,
}
