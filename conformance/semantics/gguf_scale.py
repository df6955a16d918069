"""The float16 scale of a block as black boxes compute it: which number decides, d, and how d becomes float16."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, product
from typing import cast

import numpy as np

from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.cast_probes import aimed_inputs
from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.gguf_steps import (
    FIRST,
    INPUT_KEPT,
    QUOTIENT,
    SINGLE,
    WITHOUT_MAGNITUDE,
    WITHOUT_SIGN,
    Divisor,
    scale_facets,
)
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.conformance.semantics.type_grids import bits_as_numbers
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.gguf_quantize import DIVISORS, SCALE_TYPE
from tiebreak.golden.problem import Array

OF_CAST = ("precision", "round_mode", "output_subnormals", "saturation")  # facets of the cast that are asked
BESIDE = (-1.0, 1.0, 0.5, -0.5, 0.0)  # a later number, over the first
NEAR = (-3, -1, 0, 1, 3)  # units in the last place
FIRST_NUMBERS, FURTHER = 1500, 300  # of a probe
HALF = FLOAT_TYPES[SCALE_TYPE]
SUBNORMAL, INFINITY = 1 << (HALF.precision - 1), HALF.infinity_bits  # from code 0 on, and to the last number


@dataclass
class GgufScale(FiniteOnly):
    """The scale of a block that holds x and a later number; the others are 0. `cast` goes from d to float16."""

    node: Node
    kind: str  # of the elements
    cast: CastArithmetic
    kept: list[Candidates] = field(default_factory=list)

    @cached_property
    def ways(self) -> tuple[Facet, ...]:
        return scale_facets(self.kind)

    @property
    def facets(self) -> tuple[Facet, ...]:
        return (*self.ways, *(self.cast.facets[place] for place in self.places))

    @cached_property
    def places(self) -> list[int]:
        return [place for place, facet in enumerate(self.cast.facets) if facet.name in OF_CAST]

    @property
    def documented(self) -> Semantics:
        return (*(facet.values[0] for facet in self.ways), *self.asked(self.cast.documented))

    def asked(self, cast: Semantics) -> Semantics:
        return tuple(cast[place] for place in self.places)

    def whole(self, asked: Semantics) -> Semantics:
        """A cast with the document's values of what is not asked."""
        found = list(self.cast.documented)
        for place, value in zip(self.places, asked, strict=True):
            found[place] = value
        return tuple(found)

    def is_asked(self, one: Semantics) -> bool:
        """Whether only what is asked differs from the document; after float16 nothing is left to be rounded."""
        passage = one[[facet.name for facet in self.cast.facets].index("precision")]
        return self.whole(self.asked(one)) == tuple(one) and SCALE_TYPE not in passage.id.split("-then-")

    @property
    def candidates(self) -> Candidates:
        if not self.kept:
            casts = [self.asked(one) for one in self.cast.candidates.all if self.is_asked(one)]
            ways = [way for way in product(*(facet.values for facet in self.ways)) if is_sensible(way)]
            direct = self.cast.documented[self.places[0]]  # rounded to a type twice is rounded once
            every = [way + one for way, one in product(ways, casts) if way[0] is INPUT_KEPT or one[0] is direct]
            self.kept.append(Candidates(self.facets, tuple(every)))
        return self.kept[0]

    def first_probes(self) -> Iterator[Probe]:
        yield self.probe(np.random.default_rng(7), FIRST_NUMBERS)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.probe(random, FURTHER)

    def probe(self, random: np.random.Generator, most: int) -> Probe:
        """Numbers whose d is near a tie between two scales, of either sign, beside others; and a block of zeros."""
        codes = random.permutation(np.concatenate([np.arange(SUBNORMAL), random.integers(SUBNORMAL, INFINITY, most)]))
        scales = bits_as_numbers(codes[:most], HALF)
        aimed = random.permutation(aimed_inputs("float32", SCALE_TYPE).astype(np.float64))[:most]
        ties = scales + np.spacing(scales.astype(np.float16)).astype(np.float64) / 2
        steps = np.concatenate([ties, -ties, aimed])
        steps = steps[(np.abs(steps) > 2.0**-40) & (np.abs(steps) < 2.0**40)]
        near = neighbours((steps * abs(DIVISORS[self.kind])).astype(SINGLE), NEAR)
        one = np.concatenate([near[random.permutation(near.size)[:most]], np.zeros(1, SINGLE)])
        later = (one * random.choice(BESIDE, one.size)).astype(SINGLE)
        swapped = (random.random(one.size) < 0.5) & (later != 0)
        return Probe(np.where(swapped, later, one), (np.where(swapped, one, later),))

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """Neighbours that come to d in the same way share it."""
        count = len(self.ways)
        for way, own in groupby(semantics, key=lambda one: one[:count]):
            steps = Probe(self.steps(probe, way), ())
            for codes, _ in self.cast.staged(steps, [self.whole(one[count:]) for one in own]):
                found = np.where(codes == MINUS_ZERO, 0, codes)
                yield found, np.full(found.shape, np.nan)

    def steps(self, probe: Probe, way: Semantics) -> Array:
        given, amax, scaling = (cast(StepRule, way[place]) for place in (0, 1, 3))
        with np.errstate(all="ignore"):
            decides = amax.of(given.of(probe.x), given.of(probe.others[0]))
            return np.asarray(scaling.of(*cast(Divisor, way[2]).of(decides)))


MINUS_ZERO = 1 << 15  # the document leaves the sign of a zero open


def is_sensible(way: Semantics) -> bool:
    """Whether no other way coincides with it, and somebody might go it.

    A power of two divides exactly, and equals differ in sign alone.
    """
    given, amax, divisor, scaling = way
    plain = divisor.id in ("127", "-8")
    if given is not INPUT_KEPT and not (plain and amax is FIRST and scaling is QUOTIENT):
        return False
    if scaling is not QUOTIENT and divisor.id != "127":
        return False
    return divisor is not WITHOUT_SIGN or amax is FIRST or amax is WITHOUT_MAGNITUDE
