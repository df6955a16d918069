"""A zero point that follows from a range and the scale given it: the facets, what each combination gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import ANYTHING, Candidates, Facet, Probe, Semantics, valid_candidates
from tiebreak.conformance.semantics.places import as_array
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.round_modes import MODES, NEVER_NEGATIVE, RoundMode
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN


def of_scale(low: Array, high: Array, scale: Array) -> Array:
    return as_array(-(low / scale))


def of_reciprocal(low: Array, high: Array, scale: Array) -> Array:
    return as_array(-(low * (scale.dtype.type(1) / scale)))


def of_range(low: Array, high: Array, scale: Array) -> Array:
    return as_array(-(low * low.dtype.type(255)) / (high - low))


def from_above(low: Array, high: Array, scale: Array) -> Array:
    return as_array(low.dtype.type(255) - high / scale)


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
