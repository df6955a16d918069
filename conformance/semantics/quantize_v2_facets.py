"""The facets of TensorFlow's QuantizeV2 as black boxes compute it, each value with its own steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics import round_modes
from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.places import as_type
from tiebreak.conformance.semantics.precisions import EXACT, FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array

LARGEST = float(np.finfo(np.float32).max)  # the document's scale factor where no side of the range counts
SMALLEST = float(np.float32(1) / np.float32(LARGEST))  # and the step


class Unrounded(NamedTuple):
    """What is rounded, in the working precision; another number whose rounded value is taken off; what is added."""

    value: Array
    taken: Array | None = None
    added: int = 0


@dataclass(frozen=True)
class UnscaledInRange:
    """x and the range's ends in a working precision, and the type of the results with the lowest value that is used."""

    x: Array
    low: Array
    high: Array
    dtype: np.dtype[Any]
    quantized: IntegerType
    lowest: int

    def step(self, values: Array) -> Array:
        return as_type(values, self.dtype)

    def number(self, value: float) -> Array:
        return np.asarray(value).astype(self.dtype)

    @property
    def steps(self) -> Array:
        return self.number(self.quantized.highest - self.quantized.lowest)

    @property
    def width(self) -> Array:
        return self.step(self.high - self.low)

    def clamped(self, bottom: Array, top: Array) -> Array:
        return self.step(np.where(self.x < bottom, bottom, np.where(self.x > top, top, self.x)))

    @property
    def inside(self) -> Array:
        """x clamped to the range."""
        return self.clamped(self.low, self.high)


@dataclass(frozen=True, eq=False)
class RangeScaling:
    """`scaled` gives a number times a factor, or divided by a step, which is 1 / the factor but for its rounding.

    `in_order`: as the document orders the steps. `by_step`: the step is computed first.
    """

    id: str
    sentence: str
    scaled: Callable[[UnscaledInRange, Array, Array, Array], Array]
    cause: str = ""
    in_order: bool = False
    by_step: bool = False
    of_scaled: bool = True  # whether it is meant for SCALED
    of_others: bool = True  # whether it is meant for the other two


def times_factor(o: UnscaledInRange, value: Array, factor: Array, step: Array) -> Array:
    return o.step(value * factor)


def over_step(o: UnscaledInRange, value: Array, factor: Array, step: Array) -> Array:
    return o.step(value / step)


def times_reciprocal(o: UnscaledInRange, value: Array, factor: Array, step: Array) -> Array:
    return o.step(value * o.step(o.number(1) / step))


def over_inverse(o: UnscaledInRange, value: Array, factor: Array, step: Array) -> Array:
    return o.step(value / o.step(o.number(1) / factor))


SCALINGS = (
    IN_ORDER := RangeScaling("as-documented", "in the document's order", times_factor, in_order=True),
    RangeScaling(
        "factor",
        "times R / (max - min), computed first; of MIN_FIRST without its range_adjust",
        times_factor,
        "factor-first",
        of_scaled=False,
    ),
    RangeScaling(
        "step",
        "divided by (max - min) / R, of SCALED by the side's end / the type's",
        over_step,
        "step-first",
        by_step=True,
    ),
    RangeScaling(
        "reciprocal-of-step",
        "times 1 / the step, which is rounded",
        times_reciprocal,
        "scaling:reciprocal of step",
        by_step=True,
    ),
    RangeScaling(
        "one-over-factor",
        "of SCALED divided by 1 / the factor, which is rounded",
        over_inverse,
        "scaling:one over the factor",
        of_others=False,
    ),
)


@dataclass(frozen=True, eq=False)
class RangeEnds:
    """`clamps`: x is clamped before it is scaled."""

    id: str
    sentence: str
    clamps: bool
    cause: str = ""


RANGE_CLAMPED = RangeEnds("range-clamped", "x is clamped to the range first", clamps=True)
RESULT_CLAMPED = RangeEnds(
    "result-clamped", "only the result is clamped, to the type", clamps=False, cause="only-result-clamped"
)


@dataclass(frozen=True, eq=False)
class Offset:
    """`in_order`: on the side of rounding on which the document has it."""

    id: str
    sentence: str
    in_order: bool
    cause: str = ""


DOCUMENTED_OFFSET = Offset(
    "as-documented", "MIN_COMBINED takes 128 of an int8 before rounding; MIN_FIRST rounds min apart", in_order=True
)
OTHER_OFFSET = Offset(
    "on-other-side",
    "MIN_COMBINED takes it after rounding; MIN_FIRST takes min from x first",
    in_order=False,
    cause="offset-on-other-side",
)


@dataclass(frozen=True, eq=False)
class RangeFormula:
    """`argument` gives what is rounded. `scales`: it scales about 0, one way or the other."""

    id: str
    sentence: str
    argument: Callable[[UnscaledInRange, RangeScaling, RangeEnds, Offset], Unrounded]
    cause: str
    scales: bool = False
    combines: bool = False


def min_combined(o: UnscaledInRange, scaling: RangeScaling, ends: RangeEnds, offset: Offset) -> Unrounded:
    counted = steps_from_low(o, scaling, o.inside if ends.clamps else o.x)
    if not o.quantized.lowest:
        return Unrounded(counted)
    if offset.in_order:
        return Unrounded(o.step(counted - o.number(-o.quantized.lowest)))
    return Unrounded(counted, added=o.quantized.lowest)


def steps_from_low(o: UnscaledInRange, scaling: RangeScaling, x: Array) -> Array:
    """The number of steps from the lower end of the range, not rounded to an integer yet."""
    from_low = o.step(x - o.low)
    if scaling.in_order:
        return o.step(o.step(from_low * o.steps) / o.width)
    return scaling.scaled(o, from_low, o.step(o.steps / o.width), o.step(o.width / o.steps))


def min_first(o: UnscaledInRange, scaling: RangeScaling, ends: RangeEnds, offset: Offset) -> Unrounded:
    x, count = o.inside if ends.clamps else o.x, 2.0**o.quantized.bits
    factor = o.step(o.steps / o.width)
    if scaling.in_order:
        factor = o.step(o.number(count) / o.step(o.width * o.number(count / (count - 1))))
    step = o.step(o.width / o.steps)
    if offset.in_order:
        value, taken = (scaling.scaled(o, number, factor, step) for number in (x, o.low))
        return Unrounded(value, taken, o.quantized.lowest)
    return Unrounded(scaling.scaled(o, o.step(x - o.low), factor, step), added=o.quantized.lowest)


def scaled_about_zero(
    factor_and_step: Callable[[UnscaledInRange], tuple[Array, Array]],
) -> Callable[[UnscaledInRange, RangeScaling, RangeEnds, Offset], Unrounded]:
    def argument(o: UnscaledInRange, scaling: RangeScaling, ends: RangeEnds, offset: Offset) -> Unrounded:
        factor, step = factor_and_step(o)
        if ends.clamps:
            ends_of_type = [o.number(end) for end in (o.lowest, o.quantized.highest)]
            stands_for = (o.step(end * step if scaling.by_step else end / factor) for end in ends_of_type)
            return Unrounded(scaling.scaled(o, o.clamped(*stands_for), factor, step))
        return Unrounded(scaling.scaled(o, o.x, factor, step))

    return argument


def of_smaller_side(o: UnscaledInRange) -> tuple[Array, Array]:
    """The smaller of both sides' factors, and the larger of their steps. A side that does not count has the largest."""
    sides = tuple((o.number(end), side) for end, side in ((o.lowest, o.low), (o.quantized.highest, o.high)))
    factors = (np.where(end * side > 0, end / side, LARGEST) for end, side in sides)
    steps = (np.where(end * side > 0, side / end, SMALLEST) for end, side in sides)
    return np.minimum(*factors).astype(o.dtype), np.maximum(*steps).astype(o.dtype)


def of_magnitude(o: UnscaledInRange) -> tuple[Array, Array]:
    greatest, magnitude = o.number(o.quantized.highest), np.maximum(np.abs(o.low), np.abs(o.high))
    return o.step(greatest / magnitude), o.step(magnitude / greatest)


FORMULAS = (
    MIN_COMBINED := RangeFormula(
        "MIN_COMBINED",
        "(x - min) * R / (max - min), R being the highest value less the lowest",
        min_combined,
        "formula:MIN_COMBINED",
        combines=True,
    ),
    MIN_FIRST := RangeFormula("MIN_FIRST", "round(x * s) - round(min * s) + lowest", min_first, "formula:MIN_FIRST"),
    SCALED := RangeFormula(
        "SCALED",
        "round(x * s), s the smaller of the type's ends over the range's, of each side that has both",
        scaled_about_zero(of_smaller_side),
        "formula:SCALED",
        scales=True,
    ),
    MAGNITUDE := RangeFormula(
        "scaled-by-magnitude",
        "round(x * s), s the type's highest value over the greater magnitude of the range's ends",
        scaled_about_zero(of_magnitude),
        "one-scale-for-both-sides",
        scales=True,
    ),
)


class QuantizeV2Combination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    formula: RangeFormula
    scaling: RangeScaling
    ends: RangeEnds
    offset: Offset
    round_mode: RoundMode


FACETS = (
    Facet("precision", (EXACT, FLOAT64, FLOAT32)),
    Facet("formula", FORMULAS),
    Facet("scaling", SCALINGS),
    Facet("ends", (RANGE_CLAMPED, RESULT_CLAMPED)),
    Facet("offset", (DOCUMENTED_OFFSET, OTHER_OFFSET)),
    Facet("round_mode", round_modes.EVERY),
)


@dataclass(frozen=True, eq=False)
class SpecialCode:
    """What NaN or an infinity gives: a `value`, or what the largest finite number of that sign gives."""

    id: str
    sentence: str
    value: Callable[[IntegerType], int] | None = None
    cause: str = ""


ZERO = SpecialCode("zero", "0", lambda quantized: 0)
ENDS = (
    SpecialCode("lowest", "the type's lowest value", lambda quantized: quantized.lowest),
    SpecialCode("highest", "the type's highest value", lambda quantized: quantized.highest),
    ZERO,
    SpecialCode("as-large-numbers", "what the largest finite number of that sign gives"),
)


@lru_cache(maxsize=16)
def special_facets(quantized: IntegerType) -> tuple[Facet, ...]:
    """Where the type's range begins with 0, "zero" and "lowest" coincide: only "lowest" is kept."""
    values = tuple(end for end in ENDS if quantized.lowest or end is not ZERO)
    return tuple(Facet(name, values) for name in ("nan", "positive_infinity", "negative_infinity"))
