"""y of DynamicQuantizeLinear as black boxes compute it: from the scale that is put out, or from the range itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import cast

import numpy as np

from tiebreak.conformance.semantics.around_settings import AroundSettings
from tiebreak.conformance.semantics.block_element_specials import ElementProbe, given_elements
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics, Value
from tiebreak.conformance.semantics.precisions import FLOAT32
from tiebreak.conformance.semantics.special_calls import NON_FINITE, non_finite_numbers
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.problem import Array

ONE, STEPS = np.float32(1), np.float32(255)
BESIDE = ("one_beside_nan", "one_beside_positive_infinity", "one_beside_negative_infinity")


@dataclass(frozen=True, eq=False)
class ScalingOfRange:
    """`of` gives the quotient from x and the width of the range (float32), each step rounded."""

    id: str
    sentence: str
    of: Callable[[Array, Array], Array]
    cause: str = ""


OF_RANGE = (
    ScalingOfRange(
        "steps-over-range", "x * (255 / width), without y_scale", lambda x, width: x * (STEPS / width),
        "steps-over-range",
    ),
    ScalingOfRange(
        "steps-before-width", "(x * 255) / width, without y_scale", lambda x, width: x * STEPS / width,
        "steps-before-width",
    ),
    ScalingOfRange(
        "steps-before-reciprocal", "(x * 255) * (1 / width), without y_scale",
        lambda x, width: x * STEPS * (ONE / width), "steps-before-reciprocal-of-width",
    ),
    ScalingOfRange(
        "steps-after-width", "(x / width) * 255, without y_scale", lambda x, width: x / width * STEPS,
        "steps-after-width",
    ),
)  # fmt: skip


@dataclass
class ResultOfRange(AroundSettings):
    """The table of results given scale and zero point, whose `scaling` may take the width, the third operand."""

    @cached_property
    def place(self) -> int:
        """That of the facet `scaling`."""
        return [facet.name for facet in self.inner.facets].index("scaling")

    @property
    def facets(self) -> tuple[Facet, ...]:
        found = [*self.inner.facets]
        found[self.place] = Facet("scaling", (*found[self.place].values, *OF_RANGE))
        return tuple(found)

    @property
    def documented(self) -> Semantics:
        return self.inner.documented

    @property
    def candidates(self) -> Candidates:
        return self.combinations

    @cached_property
    def combinations(self) -> Candidates:
        """The quotient of a range is one of float32."""
        plain, own = self.inner.candidates.all, self.documented[self.place]
        of_single = [one for one in plain if FLOAT32 in one and one[self.place] is own]
        return Candidates(self.facets, (*plain, *(self.scaled(one, way) for way in OF_RANGE for one in of_single)))

    def scaled(self, semantics: Semantics, scaling: Value) -> Semantics:
        """With another way to the quotient."""
        return (*semantics[: self.place], scaling, *semantics[self.place + 1 :])

    def divided(self, semantics: Semantics) -> Semantics:
        """What the table of scale and zero point has: a quotient of a range is divided by 1."""
        of_range = semantics[self.place] in OF_RANGE
        return self.scaled(semantics, self.documented[self.place]) if of_range else semantics

    def completed(self, semantics: Semantics) -> Semantics:
        found = self.inner.completed(self.divided(semantics))
        return self.scaled(found, semantics[self.place]) if semantics[self.place] in OF_RANGE else found

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """Neighbours have the same quotient."""
        for way, own in groupby(semantics, key=lambda one: one[self.place]):
            of_range = isinstance(way, ScalingOfRange)
            numbers = quotients(probe, cast(ScalingOfRange, way)) if of_range else probe
            yield from self.inner.staged(numbers, [self.divided(one) for one in own])

    @property
    def specials(self) -> tuple[Facet, ...]:
        kind = ELEMENT_TYPES[self.node.output_type]
        return tuple(given_elements(name, kind, [False]) for name in (*NON_FINITE, *BESIDE))

    def special_probes(self) -> Iterator[Probe]:
        for name, beside, value in zip(NON_FINITE, BESIDE, non_finite_numbers(), strict=True):
            yield special_probe(name, 1.0, value)
            yield special_probe(beside, value, 1.0)


def quotients(probe: Probe, way: ScalingOfRange) -> Probe:
    """Operands whose x / scale is the quotient of a range."""
    _, point, width = probe.others
    with np.errstate(all="ignore"):
        return Probe(np.asarray(way.of(probe.x, width), np.float32), (np.asarray(ONE), point, width))


def special_probe(facet: str, first: float, x: float) -> Probe:
    return ElementProbe(np.array([x], np.float32), (), facet, np.array([first, x], np.float32))


def width_of(ends: Array) -> Array:
    """The width (float32) of the range of numbers, which includes 0."""
    zero = np.float32(0)
    return np.asarray(np.maximum(ends.max(), zero) - np.minimum(ends.min(), zero))
