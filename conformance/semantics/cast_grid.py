"""A cast to a floating-point type with a sign: which combinations of facets there are, and what each of them gives."""

from __future__ import annotations

from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.cast_grid_facets import (
    ENDS,
    NOTHING_BEYOND,
    NOTHING_ROUNDED,
    ONE_ZERO,
    OUTPUTS_KEPT,
    OVERFLOW,
    SATURATE,
    WIDE_ENDS,
    WIDE_OVERFLOW,
    GridEnds,
    GridMode,
    OutputSubnormals,
    ZeroSign,
    grid_modes,
    output_subnormals,
    zero_signs,
)
from tiebreak.conformance.semantics.cast_inputs import (
    CARRIED_TWICE,
    DIRECT,
    FLOAT8_GOAL,
    GOALS,
    INPUTS_KEPT,
    LEAST_NORMAL,
    SMALL_BITS,
    CastReading,
    InputSubnormals,
    Passage,
    holds,
    input_subnormals,
    passages_of,
    readings_of,
)
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.conformance.semantics.type_grids import largest_of, magnitudes_on_grid, sign_bit
from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.problem import Array


class GridCombination(NamedTuple):
    """One value of each facet."""

    reading: CastReading
    precision: Passage
    input_subnormals: InputSubnormals
    round_mode: GridMode
    output_subnormals: OutputSubnormals
    saturation: GridEnds
    zero: ZeroSign


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def grid_facets(source: FloatType, target: FloatType) -> tuple[Facet, ...]:
    """The facets of a cast between two types; a facet that can't matter there has one value."""
    goal, key = GOALS.get(target.name, FLOAT8_GOAL)
    exact = holds(target, source)
    ends = tuple(one for one in ENDS if one.fits(target)) if target.bits <= SMALL_BITS else WIDE_ENDS
    return (
        Facet("reading", readings_of(source)),
        Facet("precision", (DIRECT,) if exact else (*passages_of(source, key, goal), *carried_twice(source, target))),
        Facet("input_subnormals", (INPUTS_KEPT,) if source.bits <= SMALL_BITS else input_subnormals(goal)),
        Facet("round_mode", (NOTHING_ROUNDED,) if exact else grid_modes(goal)),
        Facet("output_subnormals", subnormals_between(source, target, goal)),
        Facet("saturation", (NOTHING_BEYOND,) if largest_of(source) <= largest_of(target) else ends),
        Facet("zero", zero_signs(goal) if has_two_zeros(source, target) else (ONE_ZERO,)),
    )


def carried_twice(source: FloatType, target: FloatType) -> tuple[Passage, ...]:
    """The passage that doubles numbers below 2^-14, where the type has such numbers and the source's are finer."""
    seen = (
        source.name == "float32"
        and target.bits <= SMALL_BITS
        and 2.0 ** (target.emin - target.precision) < LEAST_NORMAL
    )
    return (CARRIED_TWICE,) if seen else ()


def subnormals_between(source: FloatType, target: FloatType, goal: str) -> tuple[OutputSubnormals, ...]:
    """Without cutting off where the output's type holds the input; of a wide output none counts but float16's."""
    if target.bits > SMALL_BITS:
        goal = "of 16 bits and more"
    if 1 - source.precision + source.emin >= target.emin:
        return (OUTPUTS_KEPT,)
    found = output_subnormals(goal)
    return found[:2] if holds(target, source) or target.bits > SMALL_BITS else found


def has_two_zeros(source: FloatType, target: FloatType) -> bool:
    return target.bits <= SMALL_BITS and target.specials != "fnuz" and source.specials != "e8m0"


def documented_grid(source: FloatType, target: FloatType, saturates: bool) -> GridCombination:
    """What the document says; in a wide type a number beyond becomes infinite."""
    facets = {facet.name: facet.values for facet in grid_facets(source, target)}
    small = SATURATE if saturates or target.specials == "none" else OVERFLOW
    wanted = small if target.bits <= SMALL_BITS else WIDE_OVERFLOW
    ends = wanted if wanted in facets["saturation"] else NOTHING_BEYOND
    chosen = {name: values[0] for name, values in facets.items()} | {"saturation": ends}
    return GridCombination(**chosen)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def grid_candidates(source: FloatType, target: FloatType) -> Candidates:
    return valid_candidates(grid_facets(source, target), partial(is_valid, source, target))


def is_valid(source: FloatType, target: FloatType, semantics: Semantics) -> bool:
    """Whether a combination makes sense and no simpler one coincides with it."""
    one = GridCombination._make(semantics)
    mode, subnormals, ends = one.round_mode.id, one.output_subnormals, one.saturation.id
    if one.reading.cause and subnormals.cause:
        return False  # nothing is known to do both
    if one.precision.keeps and mode in SEES_FIRST_BITS and not one.saturation.largest_too:
        return False
    if mode == TO_ZERO and (subnormals.cuts or ends == "nan-before-infinity"):
        return False
    if mode == AWAY and ends == "overflow-of-number":
        return False
    if mode == LOST and subnormals.flushes and target.precision == 2:
        return False  # the only subnormal result is lost anyway
    if ends in BEYOND_INFINITY and target.specials == "ieee" and not beyond_infinity(source, target, one.precision):
        return False
    if one.zero.id == ROUNDED_ZERO and mode in NO_NEGATIVE_ZERO and not subnormals.cause:
        return False
    return not flushes_inputs(one) or flushing_matters(source, target, one)


AWAY, DOWN, TO_ZERO, LOST = "ROUND_TOWARD_INFINITY", "ROUND_DOWN", "ROUND_TOWARD_ZERO", "last-bit-lost"
NO_NEGATIVE_ZERO = (AWAY, DOWN)  # modes in which no negative number rounds to zero
SEES_FIRST_BITS = (TO_ZERO, "ROUND_NEAREST_TOWARD_INFINITY", LOST)  # to which bits after the first don't matter
BEYOND_INFINITY = ("wrap", "nan-before-infinity")  # ends that only larger numbers than infinity's place show
ROUNDED_ZERO = "positive-if-rounded"


def beyond_infinity(source: FloatType, target: FloatType, passage: Passage) -> bool:
    """Whether a number has a larger exponent than the output's infinity would have."""
    return min([source.emax, *(FLOAT_TYPES[name].emax for name in passage.through)]) > target.emax + 1


def flushes_inputs(one: GridCombination) -> bool:
    return one.input_subnormals.flushes or one.reading.id == "subnormals-flushed"


def flushing_matters(source: FloatType, target: FloatType, one: GridCombination) -> bool:
    """What is far below the output's least number shows in modes that round away from zero, or by its sign."""
    if one.precision.cause:
        return False
    least = target.emin - (target.precision - 1)
    if source.emin >= target.emin and one.output_subnormals.cause:
        return False  # no result is subnormal
    if source.emin >= least and one.zero.id == ROUNDED_ZERO:
        return False  # no number rounds to zero
    if source.emin >= least or one.zero.id == ROUNDED_ZERO:
        return True
    return not (one.round_mode.nearest or one.round_mode.id == TO_ZERO or one.output_subnormals.cause)


class GridSteps:
    """The codes of numbers (float64, none NaN or infinite) in a type, and their stages. Combinations share steps."""

    def __init__(self, x: Array, target: FloatType) -> None:
        self.x, self.target = x, target
        self.negative = np.signbit(x)
        self.rounded: dict[tuple[GridMode, bool], Array] = {}

    def magnitudes(self, mode: GridMode, cuts: bool) -> Array:
        if (mode, cuts) not in self.rounded:
            found = magnitudes_on_grid(self.x, self.target, mode.whole)
            if cuts:
                below = np.abs(self.x) < 2.0**self.target.emin
                found = np.where(below, magnitudes_on_grid(self.x, self.target, np.trunc), found)
            self.rounded[mode, cuts] = found
        return self.rounded[mode, cuts]

    def codes(self, semantics: Semantics) -> tuple[Array, Array]:
        one = GridCombination._make(semantics)
        bits = self.magnitudes(one.round_mode, one.output_subnormals.cuts)
        ended = one.saturation.of(self.x, bits, self.target)
        if one.output_subnormals.flushes:
            ended = np.where(bits < 1 << (self.target.precision - 1), 0, ended)
        return self.with_sign(ended, one.zero), self.stage(bits, one.saturation)

    def with_sign(self, bits: Array, zero: ZeroSign) -> Array:
        """In a type with one zero and one NaN neither has a sign; nor has NaN as codes are compared."""
        negative = np.where(bits == 0, zero.negative(self.negative, self.x), self.negative)
        nan = self.target.nan_bits
        return np.where(negative & (bits != nan), bits | sign_bit(self.target), bits)

    def stage(self, bits: Array, ends: GridEnds) -> Array:
        """Never falls as x grows: the signed magnitude, and how many thresholds x has passed."""
        magnitude, passed = np.abs(self.x), bits + 0.5
        thresholds = (0.0, *ends.thresholds, *((largest_of(self.target),) if ends.largest_too else ()))
        for threshold in thresholds:
            passed = passed + (magnitude > threshold) + (magnitude >= threshold)
        return np.where(self.negative, -passed, passed)
