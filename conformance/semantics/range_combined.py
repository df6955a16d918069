"""The facets of MIN_COMBINED as black boxes compute it.

min_range + (input - lowest value of T) * (max_range - min_range) / range(T)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.conformance.semantics.precisions import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.range_steps import OUTPUTS_FLUSHED, STEPS_KEPT, SUBNORMAL_STEPS, CodesInRange
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array

# What becomes of a number from 0 up, of which `count` fill the range


def product_first(o: CodesInRange, x: Array, count: Array) -> Array:
    return o.step(o.ends[0] + o.step(o.step(x * o.width) / count))


def ratio_first(o: CodesInRange, x: Array, count: Array) -> Array:
    return o.step(o.ends[0] + o.step(x * o.step(o.width / count)))


def ratio_fused(o: CodesInRange, x: Array, count: Array) -> Array:
    return o.fused(x, o.step(o.width / count), o.ends[0])


def ratio_by_reciprocal(o: CodesInRange, count: Array) -> Array:
    return o.step(o.width * o.step(o.number(1) / count))


def reciprocal_ratio(o: CodesInRange, x: Array, count: Array) -> Array:
    return o.step(o.ends[0] + o.step(x * ratio_by_reciprocal(o, count)))


def reciprocal_ratio_fused(o: CodesInRange, x: Array, count: Array) -> Array:
    return o.fused(x, ratio_by_reciprocal(o, count), o.ends[0])


def divided_before_width(o: CodesInRange, x: Array, count: Array) -> Array:
    return o.step(o.ends[0] + o.step(o.step(x / count) * o.width))


def by_reciprocal_of_count(o: CodesInRange, x: Array, count: Array) -> Array:
    return o.step(o.ends[0] + o.step(o.step(x * o.width) * o.step(o.number(1) / count)))


def between_ends(o: CodesInRange, x: Array, count: Array) -> Array:
    (low, high), share = o.ends, o.step(x / count)
    return o.step(o.step(low * o.step(o.number(1) - share)) + o.step(high * share))


def from_max(o: CodesInRange, x: Array, count: Array) -> Array:
    return o.step(o.ends[1] - o.step(o.step(count - x) * o.step(o.width / count)))


def by_integer_zero_point(o: CodesInRange, x: Array, count: Array) -> Array:
    ratio = o.step(o.width / count)
    return o.step(o.step(x - np.rint(o.step(-o.ends[0] / ratio))) * ratio)


POSITIONS = (
    IN_ORDER := StepRule("product-first", "times the range's width, over range(T), plus min_range", product_first),
    RATIO_FIRST := StepRule(
        "ratio-first", "times the rounded width / range(T), plus min_range", ratio_first, "range-ratio-first"
    ),
    RATIO_FUSED := StepRule(
        "ratio-fused", "times the rounded width / range(T), plus min_range in the same rounding (fma)", ratio_fused,
        "result:fused",
    ),
    *(DIVISIONS := (
        StepRule("division-first", "over range(T), times the width, plus min_range", divided_before_width,
                 "divides-before-width"),
        StepRule("reciprocal-ratio", "times the rounded width * (1 / range(T)), plus min_range", reciprocal_ratio,
                 "range-ratio-by-reciprocal"),
        StepRule("reciprocal-ratio-fused",
                 "times the rounded width * (1 / range(T)), plus min_range in the same rounding (fma)",
                 reciprocal_ratio_fused, "range-ratio-by-reciprocal-fused"),
        StepRule("reciprocal", "times the width, times the rounded 1 / range(T), plus min_range",
                 by_reciprocal_of_count, "reciprocal-of-integer-range"),
    )),
    StepRule(
        "between-ends", "min_range * (1 - share) + max_range * share", between_ends, "result:between the limits"
    ),
    StepRule("from-max", "max_range less the steps that are left", from_max, "counts-from-max"),
    BY_ZERO_POINT := StepRule(
        "integer-zero-point", "the difference to an integer zero point times the rounded width / range(T)",
        by_integer_zero_point, "by-integer-zero-point",
    ),
)  # fmt: skip


# What is added to the integer, which is a number of the working precision then


def offset_by(less: float) -> StepRule:
    """The rule that adds so much less than the lowest value asks for."""
    name, words, cause = {
        0.0: ("half-range", "(range(T) + 1) / 2 is added to a signed integer, exactly", ""),
        0.5: ("half-less", "range(T) / 2 is added to a signed integer", "offset-of-half-less"),
        1.0: ("one-less", "(range(T) - 1) / 2 is added to a signed integer", "offset-of-one-less"),
    }[less]
    return StepRule(name, words, lambda o: o.number((o.x - o.kind.lowest) - less * o.kind.signed), cause)


OFFSETS = (
    HALF_RANGE := offset_by(0.0),
    offset_by(0.5),
    offset_by(1.0),
    StepRule("none", "nothing is added to a signed integer", lambda o: o.number(o.x), "no-offset"),
    CONVERTED := StepRule(
        "added-in-float32", "the integer is rounded to float32 before (range(T) + 1) / 2 is added",
        lambda o: o.step(o.number(o.x) - o.number(o.kind.lowest)), "converts-before-subtracting",
    ),
)  # fmt: skip

COUNTS = (
    ALL_STEPS := StepRule("steps", "range(T) is the highest value less the lowest", lambda o: o.steps),
    StepRule("values", "range(T) is the number of values", lambda o: o.steps + 1, "counts-values"),
    StepRule("one-less", "range(T) is one step less", lambda o: o.steps - 1, "counts-one-step-less"),
)


class CombinedCombination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    position: StepRule
    offset: StepRule
    range_of_type: StepRule
    subnormals: StepRule


DOCUMENTED_COMBINED = CombinedCombination(FLOAT32, IN_ORDER, HALF_RANGE, ALL_STEPS, STEPS_KEPT)


def combined(o: CodesInRange, one: CombinedCombination) -> Array:
    """The results of MIN_COMBINED (in the working precision) of integers whose operands are in that precision."""
    count = o.number(one.range_of_type.of(o))
    result: Array = one.position.of(o, one.offset.of(o), count)
    return result


@lru_cache(maxsize=8)
def combined_candidates(kind: IntegerType, narrow: bool) -> Candidates:
    """The combinations for a type, whatever narrow_range says. range(T) of 32 bits is a power of two in float32."""
    wide = kind.bits > 8
    words = kind.bits == 32
    facets = (
        Facet("precision", (FLOAT32, FLOAT64, BFLOAT16, *(() if wide else (FLOAT16,)))),
        Facet("position", tuple(one for one in POSITIONS if not (words and one in DIVISIONS))),
        Facet("offset", tuple(one for one in OFFSETS if is_offset_of(kind, one))),
        Facet("range_of_type", COUNTS[:1] if words else COUNTS),
        Facet("subnormals", SUBNORMAL_STEPS),
    )
    return valid_candidates(facets, is_valid)


def is_offset_of(kind: IntegerType, one: StepRule) -> bool:
    """Only signed integers have an offset, and only float32 numbers of 32 bits are rounded before the sum."""
    return one is HALF_RANGE or (kind.signed and (one is not CONVERTED or kind.bits == 32))


def is_valid(semantics: Semantics) -> bool:
    """At most one of range(T), the offset and the precision is not the document's."""
    one = CombinedCombination._make(semantics)
    others = (one.precision is not FLOAT32, one.range_of_type is not ALL_STEPS, one.offset is not HALF_RANGE)
    if sum(others) > 1:
        return False
    if one.offset is CONVERTED and one.position is BY_ZERO_POINT and one.subnormals is OUTPUTS_FLUSHED:
        return False  # no result of 32 bits is subnormal, but for 0
    if one.precision is not FLOAT32:
        return one.subnormals is STEPS_KEPT and one.position in (
            (IN_ORDER,) if one.precision is FLOAT64 else (IN_ORDER, RATIO_FIRST)
        )
    return one.range_of_type is ALL_STEPS or one.position in (IN_ORDER, RATIO_FIRST, RATIO_FUSED)
