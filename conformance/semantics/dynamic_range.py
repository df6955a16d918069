"""A scale and a zero point that follow from a range, as black boxes compute them: the facets, what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import (
    ANYTHING,
    Candidates,
    Facet,
    Probe,
    Semantics,
    Value,
    codes,
    valid_candidates,
)
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.round_modes import MODES, NEVER_NEGATIVE, RoundMode
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

SINGLE = np.float32


@dataclass(frozen=True, eq=False)
class StepRule:
    """A way to compute something. `of` is the rule itself, of what its facet says."""

    id: str
    sentence: str
    of: Callable[..., Any]
    cause: str = ""


# The scale


def with_zero(low: Array, high: Array) -> tuple[Array, Array]:
    return np.minimum(low, low.dtype.type(0)), np.maximum(high, high.dtype.type(0))


def as_given(low: Array, high: Array) -> tuple[Array, Array]:
    return low, high


def symmetric(low: Array, high: Array) -> tuple[Array, Array]:
    most = np.maximum(np.abs(low), np.abs(high))
    return -most, most


def width_divided(low: Array, high: Array, steps: Array) -> Array:
    return np.asarray((high - low) / steps)


def width_times_reciprocal(low: Array, high: Array, steps: Array) -> Array:
    return np.asarray((high - low) * (steps.dtype.type(1) / steps))


def ends_divided(low: Array, high: Array, steps: Array) -> Array:
    return np.asarray(high / steps - low / steps)


RANGES = (
    StepRule("with-zero", "the range is extended to include 0", with_zero),
    StepRule("as-given", "the range is that of x, without 0 too", as_given, "range-without-zero"),
    StepRule("symmetric", "the range is as wide on both sides of 0", symmetric, "range-symmetric"),
)
SCALINGS = (
    StepRule("divide", "the width is divided by the number of steps", width_divided),
    StepRule("reciprocal", "the width times the rounded 1 / 255", width_times_reciprocal, "multiplies-by-255th"),
    StepRule("ends-apart", "both ends are divided, then subtracted", ends_divided, "divides-each-end"),
)
STEPS = (
    StepRule("255", "255 steps, from 0 to 255", lambda: np.asarray(255.0)),
    StepRule("256", "256 steps", lambda: np.asarray(256.0), "divides-by-steps:256"),
    StepRule("254", "254 steps, as of a symmetric type", lambda: np.asarray(254.0), "divides-by-steps:254"),
)
SUBNORMALS = (
    StepRule("kept", "a subnormal scale is a number", lambda scale: scale),
    StepRule(
        "flushed",
        "a subnormal scale becomes 0",
        lambda scale: np.where(np.abs(scale) < np.finfo(SINGLE).tiny, SINGLE(0), scale),
        "flushes-outputs:the scale",
    ),
)


class ScaleCombination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    range: StepRule
    scaling: StepRule
    steps: StepRule
    subnormals: StepRule


SCALE_FACETS = (
    Facet("precision", (FLOAT32, FLOAT64)),
    Facet("range", RANGES),
    Facet("scaling", SCALINGS),
    Facet("steps", STEPS),
    Facet("subnormals", SUBNORMALS),
)
DOCUMENTED_SCALE = ScaleCombination(FLOAT32, RANGES[0], SCALINGS[0], STEPS[0], SUBNORMALS[0])


def is_valid(semantics: Semantics) -> bool:
    """Whether no simpler combination coincides with it, in float64 but for one range of very many."""
    one = ScaleCombination._make(semantics)
    if one.steps.id == "256":  # a power of two: no division rounds
        return one.precision is FLOAT32 and one.scaling is SCALINGS[0]
    return one.precision is FLOAT32 or one.scaling is SCALINGS[0]


@cache
def scale_candidates() -> Candidates:
    return valid_candidates(SCALE_FACETS, is_valid)


@dataclass(frozen=True, eq=False)
class ScaleOfZeros:
    """The scale of a range of width 0."""

    id: str
    sentence: str
    value: float
    cause: str = ""


OF_ZEROS = Facet(
    "zero_range",
    (
        ScaleOfZeros("zero", "y_scale is 0", 0.0),
        ScaleOfZeros("one", "y_scale is 1", 1.0),
        ScaleOfZeros("step", "y_scale is 1 / 255, as of a range of width 1", float(SINGLE(1) / SINGLE(255))),
        ScaleOfZeros("epsilon", "y_scale is 2^-23", 2.0**-23),
        ScaleOfZeros("nan", "y_scale is NaN", np.nan),
    ),
)
EXTREMES = (1e-45, 3e-43, 1.5e-38, 1.2e-38, 3e-38, 1e38, 1.7e38)
OTHERS = (0.0, -1.0, 1.0, -0.3, 0.7, -128.0, 3.3, -100.5, 1e-3, 1e-44, -3e-38, 2.5e5)  # the other end of a range
DRAWN = 60


@dataclass
class ScaleArithmetic(FiniteOnly):
    """The scale of numbers of which `x` is the one end and the other operand the other."""

    node: Node
    fits: dict[str, Sequence[Value]] = field(default_factory=dict)

    @property
    def facets(self) -> tuple[Facet, ...]:
        return SCALE_FACETS

    @property
    def documented(self) -> ScaleCombination:
        return DOCUMENTED_SCALE

    @property
    def candidates(self) -> Candidates:
        return scale_candidates()

    @property
    def specials(self) -> tuple[Facet, ...]:
        return (OF_ZEROS,)

    def special_probes(self) -> Iterator[Probe]:
        yield Probe(np.zeros(1, SINGLE), (np.zeros((), SINGLE),))

    def special_of(self, probe: Probe) -> str:
        return "" if probe.x.any() or probe.others[0].any() else OF_ZEROS.name

    def special_code(self, value: Value, probe: Probe) -> int:
        return int(codes(np.array([cast(ScaleOfZeros, value).value], SINGLE))[0])

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        fits = [v for v in OF_ZEROS.values if seen and all(code == self.special_code(v, p) for p, code in seen)]
        return {OF_ZEROS.name: fits}

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        for other in OTHERS:
            yield self.probe(other, random)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.probe(float(random.normal() * 10.0 ** random.integers(-3, 4)), random)

    def probe(self, other: float, random: np.random.Generator) -> Probe:
        """The other end of ranges of all sizes: short ones, some at random, and those with a tiny or a huge scale."""
        short = np.concatenate([np.arange(-12, 13) / 4, [255.0, 127.0, -128.0, 254.0, 256.0]])
        drawn = random.normal(size=DRAWN) * 10.0 ** random.integers(-3, 4, DRAWN)
        tiny = np.array(EXTREMES)
        x = np.concatenate([short, drawn, tiny, -tiny]).astype(SINGLE)
        return Probe(x[(x != 0) | (other != 0)], (np.asarray(other, SINGLE),))

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is the scale; below the other end, where it falls as x grows, it counts as negative."""
        low, high = np.minimum(probe.x, probe.others[0]), np.maximum(probe.x, probe.others[0])
        is_low = probe.x < probe.others[0]
        for one in map(ScaleCombination._make, semantics):
            with np.errstate(all="ignore"):
                scale = self.scale(low, high, one)
            found = np.where((low == high) & (low == 0), ANYTHING, codes(scale))
            yield found, np.where(is_low, -1, 1) * scale.astype(np.float64)

    def scale(self, low: Array, high: Array, one: ScaleCombination) -> Array:
        kind = one.precision.dtype
        low, high = one.range.of(low.astype(kind), high.astype(kind))
        scale = one.scaling.of(low, high, one.steps.of().astype(kind))
        return np.asarray(one.subnormals.of(scale.astype(SINGLE)))


# The zero point


def of_scale(low: Array, high: Array, scale: Array) -> Array:
    return np.asarray(-(low / scale))


def of_reciprocal(low: Array, high: Array, scale: Array) -> Array:
    return np.asarray(-(low * (scale.dtype.type(1) / scale)))


def of_range(low: Array, high: Array, scale: Array) -> Array:
    return np.asarray(-(low * low.dtype.type(255)) / (high - low))


def from_above(low: Array, high: Array, scale: Array) -> Array:
    return np.asarray(low.dtype.type(255) - high / scale)


SOURCES = (
    StepRule("own-scale", "-min divided by the scale that is put out", of_scale),
    StepRule("reciprocal", "-min times the rounded 1 / scale", of_reciprocal, "multiplies-by-reciprocal:of y_scale"),
    StepRule("range", "-min * 255 / (max - min), without the scale", of_range, "zero-point-of-range"),
    StepRule("from-maximum", "255 - max / scale", from_above, "zero-point-of-maximum"),
)


def clamped(rounded: Array) -> Array:
    return np.clip(rounded, 0, 255)


def low_bits(rounded: Array) -> Array:
    return np.mod(rounded, 256)


ENDS = (
    StepRule("saturate", "clamped to 0 and 255", clamped),
    StepRule("wrap", "the low bits", low_bits, "zero-point-wraps"),
)


class PointCombination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    source: StepRule
    round_mode: RoundMode
    saturation: StepRule


POINT_FACETS = (
    Facet("precision", (FLOAT32, FLOAT64)),
    Facet("source", SOURCES),
    Facet("round_mode", NEVER_NEGATIVE),
    Facet("saturation", ENDS),
)
DOCUMENTED_POINT = PointCombination(FLOAT32, SOURCES[0], MODES[EVEN], ENDS[0])


@cache
def point_candidates() -> Candidates:
    return valid_candidates(POINT_FACETS, lambda semantics: True)


@dataclass
class PointArithmetic(FiniteOnly):
    """The zero point of ranges from `x` to the second operand, given the scale that a backend gave: the third.

    `measured` are the ranges with their scales: nothing else can be asked.
    """

    node: Node
    measured: Sequence[Probe]

    @property
    def facets(self) -> tuple[Facet, ...]:
        return POINT_FACETS

    @property
    def documented(self) -> PointCombination:
        return DOCUMENTED_POINT

    @property
    def candidates(self) -> Candidates:
        return point_candidates()

    def first_probes(self) -> Iterator[Probe]:
        return iter(self.measured)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.measured[int(random.integers(len(self.measured)))]

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        for one in map(PointCombination._make, semantics):
            kind = one.precision.dtype
            low, high, scale = (operand.astype(kind) for operand in (probe.x, *probe.others))
            with np.errstate(all="ignore"):
                quotient = one.source.of(np.minimum(low, kind.type(0)), np.maximum(high, kind.type(0)), scale)
                rounded = one.round_mode.round(quotient.astype(np.float64), one.precision)
                found = one.saturation.of(np.clip(rounded, -(2.0**52), 2.0**52)).astype(np.int64)
            yield np.where(np.isfinite(quotient), found, ANYTHING), found.astype(np.float64)
