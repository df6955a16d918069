"""The facets of MIN_FIRST as black boxes compute it.

min_range + (input - lowest value of T) * range_scale
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.conformance.semantics.precisions import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.range_steps import OUTPUTS_FLUSHED, STEPS_KEPT, SUBNORMAL_STEPS, CodesInRange
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array

DOUBLE_AFTER_SCALE = Precision("double-after-scale", "range_scale is made of float32 steps, the rest is of doubles", "")
SINGLE_STEPS = Precision("float32", "every step is rounded to float32", "min-first-in-float32")
PRECISIONS_OF_FIRST = (DOUBLE_AFTER_SCALE, SINGLE_STEPS, FLOAT64, BFLOAT16, FLOAT16)

# range_scale


def adjusted(o: CodesInRange) -> Array:
    count = 2.0**o.kind.bits
    return o.step(o.step(o.width * o.number(count / (count - 1))) / o.number(count))


SCALES_OF_FIRST = (
    ADJUSTED := StepRule("adjusted", "the width * range_adjust / 2^bits, each step rounded", adjusted),
    StepRule("one-division", "the width / range(T)", lambda o: o.step(o.width / o.number(o.steps)), "one-division"),
    StepRule(
        "without-adjust", "the width / 2^bits", lambda o: o.step(o.width / o.number(2.0**o.kind.bits)),
        "no-range-adjust",
    ),
)  # fmt: skip

# min_range, of the range's end and range_scale


def moved(whole: Callable[[Array], Array]) -> Callable[[Array, Array], tuple[Array, bool]]:
    """The multiple of range_scale, and that it is one."""
    return lambda low, scale: (whole(low / scale), True)


def half_away(values: Array) -> Array:
    wide = values.astype(np.float64)
    whole = np.trunc(wide)
    return (whole + np.copysign(np.abs(wide - whole) >= 0.5, wide)).astype(values.dtype)


MINIMA = (
    AS_GIVEN := StepRule("as-given", "min_range is added as it is", lambda low, scale: (low, False)),
    NEAREST_AWAY := StepRule("nearest-away",
             "min_range moves to the nearest multiple of range_scale, of two to the one away from zero",
             moved(half_away), "moves-minimum:to the nearest multiple, away from zero"),
    StepRule("nearest-even", "min_range moves to the nearest multiple of range_scale, of two to the even one",
             moved(np.rint), "moves-minimum"),
    StepRule("down", "min_range moves down to a multiple of range_scale", moved(np.floor), "moves-minimum-down"),
    NOT_ADDED := StepRule("none", "min_range is not added", lambda low, scale: (low * 0, False), "no-minimum"),
)  # fmt: skip

# The sum


class FirstOperands(NamedTuple):
    """The working precision after range_scale, range_scale in it, and what is added first."""

    o: CodesInRange
    scale: Array
    start: Array

    def product(self, whole: Array) -> Array:
        return self.o.step(self.o.number(whole) * self.scale)


def sum_from_lowest(f: FirstOperands) -> Array:
    return f.o.step(f.start + f.product(f.o.x - f.o.kind.lowest))


def sum_from_zero(f: FirstOperands) -> Array:
    return f.o.step(f.start + f.product(f.o.x))


def offset_apart(f: FirstOperands) -> Array:
    return f.o.step(f.product(f.o.x) + f.o.step(f.start - f.product(np.asarray(f.o.kind.lowest))))


SUMS = (
    FROM_LOWEST := StepRule("difference-first", "(input - lowest) * range_scale is added", sum_from_lowest),
    APART := StepRule(
        "distributed", "input * range_scale, and min_range - lowest * range_scale, are added", offset_apart,
        "distributes-scale",
    ),
    StepRule("without-lowest", "input * range_scale is added", sum_from_zero, "no-lowest"),
)  # fmt: skip


class FirstCombination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    scaling: StepRule
    minimum: StepRule
    position: StepRule
    subnormals: StepRule


DOCUMENTED_FIRST = FirstCombination(DOUBLE_AFTER_SCALE, ADJUSTED, AS_GIVEN, FROM_LOWEST, STEPS_KEPT)


def first(o: CodesInRange, one: FirstCombination) -> Array:
    """The results of MIN_FIRST, in the working precision or in double; `o` has the precision of range_scale."""
    scale, (low, high) = one.scaling.of(o), o.ends
    start, is_multiple = one.minimum.of(low, scale)
    later = o if one.precision is not DOUBLE_AFTER_SCALE else replace(o, dtype=np.dtype(np.float64))
    whole, wide = start.astype(later.dtype), scale.astype(later.dtype)
    begun = np.where(low == high, low.astype(later.dtype), later.step(whole * wide)) if is_multiple else whole
    result: Array = one.position.of(FirstOperands(later, wide, begun))
    return result


@lru_cache(maxsize=8)
def first_candidates(kind: IntegerType, narrow: bool) -> Candidates:
    """The combinations for a type, whatever narrow_range says. Of 32 bits range_adjust is 1 in float32."""
    facets = (
        Facet("precision", PRECISIONS_OF_FIRST if kind.bits == 8 else PRECISIONS_OF_FIRST[:-1]),
        Facet("scaling", SCALES_OF_FIRST[:1] if kind.bits == 32 else SCALES_OF_FIRST),
        Facet("minimum", MINIMA),
        Facet("position", SUMS if kind.signed else (FROM_LOWEST,)),
        Facet("subnormals", SUBNORMAL_STEPS),
    )
    return valid_candidates(facets, partial(is_first_valid, kind))


def is_first_valid(kind: IntegerType, semantics: Semantics) -> bool:
    """Steps apart in double round nothing that a float32 shows; other precisions than two do the document's steps."""
    one = FirstCombination._make(semantics)
    if one.precision not in (DOUBLE_AFTER_SCALE, SINGLE_STEPS):
        return one[1:] == DOCUMENTED_FIRST[1:]
    if one.position is APART and one.precision is DOUBLE_AFTER_SCALE:
        return False
    if one.minimum is NOT_ADDED and one.position is not APART and one.precision is SINGLE_STEPS:
        return False  # nothing is rounded but the product
    return not (one.position is APART and kind.bits == 32) or shows_in_words(one)


def shows_in_words(one: FirstCombination) -> bool:
    """2^31 steps are added to min_range: no result is subnormal, and which multiple it moves to is rounded away."""
    return one.subnormals is not OUTPUTS_FLUSHED and one.minimum in (AS_GIVEN, NEAREST_AWAY, NOT_ADDED)


def precision_of_scale(one: FirstCombination) -> Any:
    """The type of the steps to range_scale."""
    return FLOAT32.dtype if one.precision in (DOUBLE_AFTER_SCALE, SINGLE_STEPS) else one.precision.dtype
