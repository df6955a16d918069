"""Integers times a factor, rounded to integers: what each combination of the facets gives.

    output = saturate(round((x - input zero point) * factor) + output zero point)

These are predictions to compare with a backend, never truths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.integer_scaling_ends import SATURATE
from tiebreak.conformance.semantics.integer_scaling_facets import (
    AFTER,
    AWAY_SECOND,
    HIGH,
    NO_SECOND,
    ONCE,
    OWN_SIGNS,
    Factor,
    OutputPoint,
    ProductPosition,
    ScalingCombination,
    SignReading,
    place_of,
    product,
    with_other_sign,
)
from tiebreak.conformance.semantics.model import ANYTHING, Candidates, Facet, Probe, Semantics
from tiebreak.conformance.semantics.places import Place
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

FAR = 1e18  # the stage of what the document leaves open


@dataclass(frozen=True)
class ScalingTable:
    """What an operator has of its own.

    `points` gives the zero points of input and output, from the inputs after the first. `open` masks the elements of a
    probe for which the document says nothing; for those of one sign it begins at some magnitude. `probes` are the first
    ones, and `further` draws one. `names` are those of the inputs after the first in an emulator; `combines` says what
    two integers become first: "product", "sum", or nothing where there is one.
    """

    facets: tuple[Facet, ...]
    documented: ScalingCombination
    candidates: Callable[[], Candidates]
    points: Callable[[tuple[Array, ...]], tuple[Array, Array]]
    open: Callable[[Probe], Array]
    probes: Callable[[], Iterator[Probe]]
    further: Callable[[np.random.Generator], Probe]
    names: tuple[str, ...]
    combines: str = ""

    def position(self, *, high: bool) -> ProductPosition:
        """The first one that rounds twice, or once."""
        (positions,) = (facet.values for facet in self.facets if facet.name == "position")
        return next(one for one in positions if isinstance(one, ProductPosition) and one.high == high)


@dataclass
class IntegerScaling(FiniteOnly):
    """The arithmetic of a node with one factor for all elements."""

    node: Node
    table: ScalingTable

    @property
    def facets(self) -> tuple[Facet, ...]:
        return self.table.facets

    @property
    def documented(self) -> ScalingCombination:
        return self.table.documented

    @property
    def candidates(self) -> Candidates:
        return self.table.candidates()

    def first_probes(self) -> Iterator[Probe]:
        return self.table.probes()

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.table.further(random)

    def completed(self, semantics: Semantics) -> Semantics:
        """Two roundings need a shift that rounds first, and that shift a second one."""
        one = ScalingCombination._make(semantics)
        if one.position.high == (one.second_rounding is not NO_SECOND):
            return semantics
        if one.position.high == self.documented.position.high:  # the other facet was changed
            return one._replace(position=self.table.position(high=not one.position.high))
        return one._replace(second_rounding=AWAY_SECOND if one.position.high else NO_SECOND)

    @cached_property
    def types(self) -> tuple[IntegerType, IntegerType]:
        return INTEGER_TYPES[self.node.input_type], INTEGER_TYPES[self.node.output_type]

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is the sum before it is saturated; nothing is predicted where the document is silent."""
        made = Rounded(self, probe)
        left_open = self.table.open(probe)
        beyond = np.where(made.difference(OWN_SIGNS) < 0, -FAR, FAR)
        target = self.types[1]
        for one in map(ScalingCombination._make, semantics):
            whole, point = made.whole(one)
            total = (whole + point).astype(np.float64)
            codes = one.saturation.of(whole, point, target)
            stage = total if one.saturation.sees_far else np.clip(total, target.lowest - 1, target.highest + 1)
            yield np.where(left_open, ANYTHING, codes), np.where(left_open, beyond, stage)


class Rounded:
    """The rounded quotients of a probe; combinations share the steps in which they agree."""

    def __init__(self, arithmetic: IntegerScaling, probe: Probe) -> None:
        self.types, self.x, self.others = arithmetic.types, probe.x.astype(np.int64), probe.others
        self.points = arithmetic.table.points(probe.others)
        self.steps: dict[tuple[object, ...], Array] = {}
        self.differences: dict[SignReading, Array] = {}
        self.places: dict[tuple[object, ...], Place] = {}

    def difference(self, reading: SignReading) -> Array:
        if reading not in self.differences:
            kind, point = self.types[0], self.points[0]
            x = with_other_sign(self.x, kind) if reading.input_too else self.x
            self.differences[reading] = x - (with_other_sign(point, kind) if reading.point_too else point)
        return self.differences[reading]

    def output_point(self, value: OutputPoint) -> Array:
        return with_other_sign(self.points[1], self.types[1]) if value.other_sign else self.points[1]

    def whole(self, one: ScalingCombination) -> tuple[Array, Array]:
        """Rounded quotients (int64), and what is still to be added to them."""
        point = self.output_point(one.zero_point)
        first = point if one.zero_point.first else np.zeros((), np.int64)
        key = (*one[:5], one.zero_point.first)
        if key not in self.steps:
            found = self.rounded(one, first)
            self.steps[key] = np.clip(found, -(2.0**62), 2.0**62).astype(np.int64)
        return self.steps[key], point - first

    def rounded(self, one: ScalingCombination, first: Array) -> Array:
        values, factor = self.difference(one.reading), one.factor.of(self.others)
        if one.position.precision is not None:
            assert one.position.number is not None
            precision = one.position.precision
            numbers = one.position.number(values, factor, self.others, precision)
            return one.round_mode.round((numbers + first.astype(precision.dtype)).astype(np.float64), precision)
        place = self.place(one, values, factor)
        if first.any():
            place = Place(place.below + first, place.rest, place.value + first)
        found = one.round_mode.round_place(place)
        if not one.position.high or factor.shift <= HIGH:
            return found
        assert one.second_rounding.mode is not None
        return one.second_rounding.mode.round_place(place_of(found.astype(np.int64), factor.under >> HIGH))

    def place(self, one: ScalingCombination, values: Array, factor: Factor) -> Place:
        """Where what the first rounding gets lies."""
        key = one[:3]
        if key not in self.places:
            numbers, under = product(values, factor), factor.under
            if one.position.high:
                under = min(under, 1 << HIGH)
            self.places[key] = place_of(numbers, under)
        return self.places[key]


def documented(facets: tuple[Facet, ...], **values: object) -> ScalingCombination:
    """The combination that has these values, and otherwise those of which a document's formula consists."""
    plain = {"reading": OWN_SIGNS, "position": ONCE, "second_rounding": NO_SECOND, "zero_point": AFTER}
    plain |= {"saturation": SATURATE}
    chosen = {facet.name: facet.values[0] for facet in facets} | plain | values
    return ScalingCombination(**chosen)  # type: ignore[arg-type]
