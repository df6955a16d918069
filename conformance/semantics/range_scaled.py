"""The facets of SCALED as black boxes compute it.

input * max(min_range / min_expected_T, max_range / max_expected_T)
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import NamedTuple

import ml_dtypes
import numpy as np

from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.conformance.semantics.precisions import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.range_steps import STEPS_KEPT, SUBNORMAL_STEPS, CodesInRange
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array

# The factor


def side_of_max(o: CodesInRange) -> Array:
    return o.step(o.ends[1] / o.number(o.kind.highest))


def side_of_min(o: CodesInRange) -> Array:
    return o.step(o.ends[0] / o.number(o.kind.lowest + o.narrow))


def larger_side(o: CodesInRange) -> Array:
    return np.maximum(side_of_min(o), side_of_max(o))


def smaller_side(o: CodesInRange) -> Array:
    return np.minimum(side_of_min(o), side_of_max(o))


def magnitude_over_half(o: CodesInRange) -> Array:
    low, high = o.ends
    return o.step(np.maximum(np.abs(low), np.abs(high)) / o.number(o.kind.highest + 1))


def width_over_steps(o: CodesInRange) -> Array:
    return o.step(o.width / o.number(o.steps - o.narrow))


LARGER = StepRule("larger", "the larger of min_range / min_expected_T and max_range / max_expected_T", larger_side)
SMALLER = StepRule("smaller", "the smaller of the two", smaller_side, "smaller-factor")
MAX_ALONE = StepRule("max-alone", "max_range / max_expected_T", side_of_max, "max-side-alone")
MIN_ALONE = StepRule("min-alone", "min_range / min_expected_T", side_of_min, "one-end-alone:min_range")
OF_MAGNITUDE = StepRule(
    "magnitude", "the greater magnitude of the ends / half of the number of values", magnitude_over_half,
    "one-scale-of-half-the-values",
)  # fmt: skip
WIDTH = StepRule("width", "the width / the number of steps", width_over_steps, "width-over-steps")
OF_MAX = StepRule("max", "max_range / max_expected_T", side_of_max)
NARROW_MIN = StepRule(
    "narrow-min", "the larger of min_range / 1, as narrow_range has the lowest value 1, and max_range / "
    "max_expected_T", larger_side, "narrow-for-unsigned",
)  # fmt: skip

NARROWS = (
    AS_ASKED := StepRule("as-asked", "min_expected_T is what narrow_range says", lambda narrow: narrow),
    StepRule("ignored", "min_expected_T is the lowest value though the node has narrow_range", lambda narrow: False,
             "ignores:narrow_range"),
    StepRule("always", "min_expected_T is one more than the lowest value, as if the node had narrow_range",
             lambda narrow: True, "narrow-range"),
)  # fmt: skip

FACTORS = (
    FACTOR_KEPT := StepRule("as-computed", "the factor has the type of the steps", lambda factor: factor),
    StepRule("bfloat16", "the factor is rounded to bfloat16",
             lambda factor: factor.astype(ml_dtypes.bfloat16).astype(factor.dtype), "factor-in-bfloat16"),
    StepRule("float16", "the factor is rounded to float16",
             lambda factor: factor.astype(np.float16).astype(factor.dtype), "factor-in:float16"),
)  # fmt: skip

# The product


def times(o: CodesInRange, factor: Array) -> Array:
    return o.step(o.number(o.x) * factor)


def over_inverse(o: CodesInRange, factor: Array) -> Array:
    return o.step(o.number(o.x) / o.step(o.number(1) / factor))


def exact_times(o: CodesInRange, factor: Array) -> Array:
    return o.step((o.x.astype(np.float64) * factor.astype(np.float64)).astype(o.dtype))


def overflowing(o: CodesInRange, factor: Array) -> Array:
    """What a float32 rounds up to 2^31 becomes the lowest value, as x86 casts."""
    real = o.number(o.x).astype(np.float64)
    return o.step(o.number(np.where(real > o.kind.highest, float(o.kind.lowest), real)) * factor)


PRODUCTS = (
    TIMES := StepRule("times", "the integer, rounded to the type of the steps, times the factor", times),
    StepRule("over-inverse", "the integer over the rounded 1 / factor", over_inverse, "divides-by-step"),
)
WIDE_PRODUCTS = (
    StepRule("exact-integer", "the integer times the factor, rounded once", exact_times, "multiplies-exact-input"),
    StepRule("highest-overflows", "an integer that float32 rounds up to 2^31 becomes the lowest one", overflowing,
             "highest-overflows"),
)  # fmt: skip


class ScaledCombination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    scaling: StepRule
    narrow_range: StepRule
    factor: StepRule
    position: StepRule
    subnormals: StepRule


def documented_scaled(kind: IntegerType) -> ScaledCombination:
    factor = LARGER if kind.signed else OF_MAX
    return ScaledCombination(FLOAT32, factor, AS_ASKED, FACTOR_KEPT, TIMES, STEPS_KEPT)


def scaled(o: CodesInRange, one: ScaledCombination) -> Array:
    """The results of SCALED, in the working precision; `o` has the narrow_range that counts."""
    result: Array = one.position.of(o, o.step(one.factor.of(one.scaling.of(o))))
    return result


@lru_cache(maxsize=16)
def scaled_candidates(kind: IntegerType, narrow: bool) -> Candidates:
    """The combinations for a type and a narrow_range. Both ends of 32 bits have one magnitude in float32."""
    words = kind.bits == 32
    signed = (LARGER, SMALLER, MAX_ALONE, MIN_ALONE, *(() if words else (OF_MAGNITUDE,)), WIDTH)
    unsigned = (OF_MAX, *((NARROW_MIN,) if narrow else ()), WIDTH)
    other = NARROWS[1 if narrow else 2]
    facets = (
        Facet("precision", (FLOAT32, FLOAT64, BFLOAT16, *(() if kind.bits > 8 else (FLOAT16,)))),
        Facet("scaling", signed if kind.signed else unsigned),
        Facet("narrow_range", (AS_ASKED, other) if kind.signed and not words else (AS_ASKED,)),
        Facet("factor", FACTORS),
        Facet("position", (*PRODUCTS, *(WIDE_PRODUCTS if words else ()))),
        Facet("subnormals", SUBNORMAL_STEPS),
    )
    return valid_candidates(facets, partial(is_scaled_valid, kind))


def is_scaled_valid(kind: IntegerType, semantics: Semantics) -> bool:
    """A type or a form of the factor that is not the document's goes with the document's other facets."""
    one, written = ScaledCombination._make(semantics), documented_scaled(kind)
    if one.precision is not FLOAT32:
        return one[1:] == written[1:]
    if one.narrow_range is not AS_ASKED and one.scaling not in (LARGER, SMALLER, MIN_ALONE):
        return False
    return one.factor is FACTOR_KEPT or one._replace(factor=FACTOR_KEPT) == written
