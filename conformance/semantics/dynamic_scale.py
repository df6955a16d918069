"""A scale that follows from a range, as black boxes compute it: the facets, what each combination gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from tiebreak.conformance.semantics.finite_only import FixedCode
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
from tiebreak.conformance.semantics.places import as_array
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.special_calls import NON_FINITE, SpecialCalls, non_finite
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

SINGLE = np.float32


@dataclass(frozen=True, eq=False)
class StepRule:
    """A way to compute something. `of` is the rule itself, of what its facet says."""

    id: str
    sentence: str
    of: Callable[..., Any]
    cause: str = ""


def with_zero(low: Array, high: Array) -> tuple[Array, Array]:
    return np.minimum(low, low.dtype.type(0)), np.maximum(high, high.dtype.type(0))


def as_given(low: Array, high: Array) -> tuple[Array, Array]:
    return low, high


def symmetric(low: Array, high: Array) -> tuple[Array, Array]:
    most = np.maximum(np.abs(low), np.abs(high))
    return -most, most


def width_divided(low: Array, high: Array, steps: Array) -> Array:
    return as_array((high - low) / steps)


def width_times_reciprocal(low: Array, high: Array, steps: Array) -> Array:
    return as_array((high - low) * (steps.dtype.type(1) / steps))


def ends_divided(low: Array, high: Array, steps: Array) -> Array:
    return as_array(high / steps - low / steps)


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


def scale_of_zeros(id: str, sentence: str, scale: float) -> FixedCode:
    """The scale of a range of width 0."""
    return FixedCode(id, sentence, int(codes(np.array([scale], SINGLE))[0]))


OF_ZEROS = Facet(
    "zero_range",
    (
        scale_of_zeros("zero", "y_scale is 0", 0.0),
        scale_of_zeros("one", "y_scale is 1", 1.0),
        scale_of_zeros("step", "y_scale is 1 / 255, as of a range of width 1", float(SINGLE(1) / SINGLE(255))),
        scale_of_zeros("epsilon", "y_scale is 2^-23", 2.0**-23),
        scale_of_zeros("nan", "y_scale is NaN", np.nan),
    ),
)
NANS = ("nan_first", "nan_last")  # a maximum may drop NaN at one place and not at another
INFINITIES = NON_FINITE[1:]
AS_WITHOUT = FixedCode("as-without", "y_scale is that of the other numbers", ANYTHING)
OF_NON_FINITE = (
    scale_of_zeros("nan", "y_scale is NaN", np.nan),
    scale_of_zeros("infinity", "y_scale is infinite", np.inf),
    scale_of_zeros("zero", "y_scale is 0", 0.0),
    scale_of_zeros("one", "y_scale is 1", 1.0),
    AS_WITHOUT,
)
SPECIALS = (OF_ZEROS, *(Facet(name, OF_NON_FINITE) for name in (*NANS, *INFINITIES)))
EXTREMES = (1e-45, 3e-43, 1.5e-38, 1.2e-38, 3e-38, 1e38, 1.7e38)
OTHERS = (0.0, -1.0, 1.0, -0.3, 0.7, -128.0, 3.3, -100.5, 1e-3, 1e-44, -3e-38, 2.5e5)  # the other end of a range
DRAWN = 60


@dataclass
class ScaleArithmetic(SpecialCalls):
    """The scale of numbers of which `x` is the one end and the other operand the other."""

    node: Node
    of_one: int = ANYTHING  # the code of the scale of ones

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
        return SPECIALS

    def special_probes(self) -> Iterator[Probe]:
        """Two numbers each, the other end first: zeros, ones, and NaN or an infinity with 1."""
        for x, other in ((0, 0), (1, 1), (1, np.nan), (np.nan, 1), (np.inf, 1), (-np.inf, 1)):
            yield Probe(np.array([x], SINGLE), (np.array(other, SINGLE),))

    def special_of(self, probe: Probe) -> str:
        if not probe.x.any() and not probe.others[0].any():
            return OF_ZEROS.name
        return NANS[0] if non_finite(probe.others[0]) else {"nan": NANS[1]}.get(found := non_finite(probe.x), found)

    def special_code(self, value: Value, probe: Probe) -> int:
        return self.of_one if value is AS_WITHOUT else cast(FixedCode, value).code

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        self.of_one = next((code for probe, code in seen if not self.special_of(probe)), ANYTHING)
        return super().learn_specials(seen)

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
        return as_array(one.subnormals.of(scale.astype(SINGLE)))
