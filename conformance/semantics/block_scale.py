"""The power of two that a block of numbers shares, as black boxes compute it from the greatest magnitude."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, cast

import numpy as np

from tiebreak.conformance.semantics import block_specials
from tiebreak.conformance.semantics.block_specials import BIAS, ScaleOfSpecial
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics, Value, valid_candidates
from tiebreak.conformance.semantics.special_calls import SpecialCalls
from tiebreak.conformance.semantics.type_grids import largest_of
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

LEAST, MOST = -100, 100  # exponents of the blocks that are asked: far from the ends of the scale's type


class ElementRange(NamedTuple):
    """The exponent of an element type's largest power of two, its significant bits, and its largest value."""

    emax: int
    precision: int
    largest: float


INTEGERS = ElementRange(0, 7, 127 / 64)  # MXINT8: integers times 2^-6


def element_range(kind: FloatType | IntegerType) -> ElementRange:
    return ElementRange(kind.emax, kind.precision, largest_of(kind)) if isinstance(kind, FloatType) else INTEGERS


@dataclass(frozen=True, eq=False)
class ExponentRule:
    """`of` gives the exponent of the scale, from greatest magnitudes (float64) and the element type."""

    id: str
    sentence: str
    of: Callable[[Array, ElementRange], Array]
    cause: str = ""


def exponents(values: Array) -> Array:
    return np.asarray(np.frexp(values)[1].astype(np.int64) - 1)


def upward(values: Array) -> Array:
    return np.asarray(exponents(values) + (np.frexp(values)[0] != 0.5))


def floor(amax: Array, kind: ElementRange) -> Array:
    return exponents(amax) - kind.emax


def ceil(amax: Array, kind: ElementRange) -> Array:
    return upward(amax) - kind.emax


def even(amax: Array, kind: ElementRange) -> Array:
    """A tie below 2 goes to 2, whichever the tie rule."""
    unit = 2.0 ** (1 - kind.precision)
    return np.asarray(exponents(amax) + (np.frexp(amax)[0] * 2 >= 2 - unit / 2) - kind.emax)


def logarithm(values: Array) -> Array:
    """The logarithm of two as float32 has it, in which numbers near a power of two are powers."""
    return np.asarray(np.log2(values.astype(np.float64)).astype(np.float32).astype(np.float64))


def floor_of_logarithm(amax: Array, kind: ElementRange) -> Array:
    return np.asarray(np.floor(logarithm(amax)).astype(np.int64) - kind.emax)


def ceil_of_logarithm(amax: Array, kind: ElementRange) -> Array:
    return np.asarray(np.ceil(logarithm(amax)).astype(np.int64) - kind.emax)


def rceil_of_logarithm(amax: Array, kind: ElementRange) -> Array:
    return np.asarray(np.ceil(logarithm(amax.astype(np.float32) / np.float32(kind.largest))).astype(np.int64))


def rceil(amax: Array, kind: ElementRange) -> Array:
    """A product with the reciprocal gives the same for every float32 and every float of 4 to 8 bits."""
    return upward((amax.astype(np.float32) / np.float32(kind.largest)).astype(np.float64))


def nearest(amax: Array, kind: ElementRange) -> Array:
    return exponents(amax) + (np.frexp(amax)[0] >= 0.75) - kind.emax


def floor_of_ratio(amax: Array, kind: ElementRange) -> Array:
    return exponents(amax / kind.largest)


def nearest_logarithm(amax: Array, kind: ElementRange) -> Array:
    return exponents(amax) + (np.frexp(amax)[0] ** 2 >= 0.5) - kind.emax


RULES = (
    ExponentRule("floor", "the power of two not above the magnitude, over the type's largest one", floor),
    ExponentRule("ceil", "the power of two not below the magnitude, over the type's largest one", ceil),
    ExponentRule("even", "as floor, of the magnitude rounded to the type's precision, ties to even", even),
    ExponentRule("rceil", "the power of two not below magnitude / largest element, a float32", rceil),
    ExponentRule(
        "floor-logarithm",
        "as floor, of a logarithm in float32",
        floor_of_logarithm,
        "floor of a logarithm in float32",
    ),
    ExponentRule(
        "ceil-logarithm",
        "as ceil, of a logarithm in float32",
        ceil_of_logarithm,
        "ceil of a logarithm in float32",
    ),
    ExponentRule(
        "rceil-logarithm",
        "as rceil, of a logarithm in float32",
        rceil_of_logarithm,
        "rceil of a logarithm in float32",
    ),
    ExponentRule("nearest", "the nearest power of two, over the type's largest one", nearest, "to the nearest power"),
    ExponentRule(
        "nearest-logarithm",
        "the power of two with the nearest logarithm, over the type's largest one",
        nearest_logarithm,
        "to the nearest logarithm",
    ),
    ExponentRule(
        "floor-of-ratio",
        "the power of two not above magnitude / largest element",
        floor_of_ratio,
        "down from magnitude / largest element",
    ),
)


@dataclass(frozen=True, eq=False)
class AskedRule:
    """A rule with the cause that it is where the node asks for another one."""

    id: str
    sentence: str
    rule: ExponentRule
    cause: str


@cache
def rule_facets() -> tuple[Facet, ...]:
    return (
        Facet(
            "exponent",
            tuple(AskedRule(one.id, one.sentence, one, f"block-exponent:{one.cause or one.id}") for one in RULES),
        ),
    )


@cache
def rule_candidates() -> Candidates:
    return valid_candidates(rule_facets(), lambda semantics: True)


@dataclass
class BlockScale(SpecialCalls):
    """The scale of blocks, of which `x` is the greatest magnitude. `mode` names the rule that the node asks for.

    `shift` is the exponent of the scale that the backend gives a block of ones; None if it gives none.
    """

    node: Node
    kind: ElementRange
    mode: str
    shift: int | None = None

    @property
    def facets(self) -> tuple[Facet, ...]:
        return rule_facets()

    @property
    def documented(self) -> Semantics:
        return (self.facets[0].by_id[self.mode],)

    @property
    def candidates(self) -> Candidates:
        return rule_candidates()

    @property
    def specials(self) -> tuple[Facet, ...]:
        return block_specials.special_facets(self.shift, self.node.inputs[0].dtype)

    def special_probes(self) -> Iterator[Probe]:
        return block_specials.special_probes(self.shift, self.node.inputs[0].dtype)

    def special_of(self, probe: Probe) -> str:
        return block_specials.special_of(probe)

    def special_code(self, value: Value, probe: Probe) -> int:
        """A value predicts from the code that the magnitude would have, if it is a number and not 0."""
        amax = np.abs(probe.x.astype(np.float64))
        own = int(exponents(amax)[0]) + BIAS + (self.shift or 0) if np.isfinite(amax).all() else 0
        return cast(ScaleOfSpecial, value).code(own)

    def first_probes(self) -> Iterator[Probe]:
        """Magnitudes on both sides of each number at which a rule changes its mind."""
        random = np.random.default_rng(7)
        unit = 2.0 ** (1 - self.kind.precision)
        edges = [1.0, 1.5, 2**0.5, 2 - unit / 2, 2 - unit, self.kind.largest / 2.0**self.kind.emax, 1.25]
        for exponent in (0, 1, -1, 7, -9, 40, -40):
            yield self.probe(np.array(edges), exponent)
        yield self.probe(1 + random.random(200), int(random.integers(LEAST, MOST)))

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.probe(1 + random.random(200), int(random.integers(LEAST, MOST)))

    def probe(self, significand: Array, exponent: int) -> Probe:
        dtype = self.node.inputs[0].dtype
        x = (significand * 2.0**exponent).astype(dtype)
        bits = x.view(f"uint{8 * dtype.itemsize}")
        near = [(bits.astype(np.int64) + step).astype(bits.dtype).view(dtype) for step in (-2, -1, 0, 1, 2)]
        return Probe(np.unique(np.concatenate(near)), ())

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        amax = probe.x.astype(np.float64)
        for (one,) in semantics:
            found = cast(AskedRule, one).rule.of(amax, self.kind) + BIAS
            yield found, found.astype(np.float64)
