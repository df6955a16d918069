"""An element of a block with a float16 scale as black boxes compute it, given that scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.gguf_steps import (
    CLAMPED,
    CUT_OFF,
    HALF_MORE,
    INPUT_KEPT,
    OVER_GREATEST,
    PRODUCT_KEPT,
    SINGLE,
    ZERO_ELEMENT,
    Divisor,
    StepOperands,
    WayOverStep,
    element_facets,
    is_nibble,
)
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics, valid_candidates
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


class ElementCombination(NamedTuple):
    """One value of each facet."""

    input: StepRule
    divisor: Divisor
    scaling: WayOverStep
    precision: Precision
    round_mode: RoundMode
    saturation: StepRule


@dataclass
class GgufElement(FiniteOnly):
    """The integer of x, given the number that decides in its block, and the block's scale."""

    node: Node
    kept: list[Candidates] = field(default_factory=list)

    @property
    def kind(self) -> str:
        return self.node.output_type

    @property
    def facets(self) -> tuple[Facet, ...]:
        return element_facets(self.kind)

    @property
    def documented(self) -> Semantics:
        return tuple(facet.values[0] for facet in self.facets)

    @property
    def candidates(self) -> Candidates:
        if not self.kept:
            self.kept.append(valid_candidates(self.facets, self.is_sensible))
        return self.kept[0]

    def is_sensible(self, semantics: Semantics) -> bool:
        """Whether no simpler combination coincides with it, and somebody might make it."""
        one = ElementCombination._make(semantics)
        plain_divisor = one.divisor is self.documented[1]
        if one.input is not INPUT_KEPT and not (plain_divisor and one.precision is FLOAT32):
            return False
        return self.is_way(one, plain_divisor=plain_divisor) and rounds_apart(one) and self.is_beyond(one)

    def is_way(self, one: ElementCombination, *, plain_divisor: bool) -> bool:
        """A power of two divides exactly: then 1 / d is divisor / amax. The stored scale needs no divisor.

        Over it no quotient lies so near to a tie, which has few bits, that float32 hides it.
        """
        exact = one.divisor.id not in ("127", "-7")
        if one.scaling is OVER_GREATEST and exact:
            return False
        if not plain_divisor and (one.scaling.of_stored or one.precision is not FLOAT32):
            return False
        if one.precision is PRODUCT_KEPT or one.scaling.of_stored:
            return not one.scaling.divides or one.precision is FLOAT32
        return one.precision is FLOAT32 or one.scaling is not OVER_GREATEST

    def is_beyond(self, one: ElementCombination) -> bool:
        """Whether it saturates, or something is beyond the largest element: 16, or 128."""
        return one.saturation is CLAMPED or one.divisor.id in ("-8", "8", "128")

    def first_probes(self) -> Iterator[Probe]:
        """None: AtSettings has them."""
        return iter(())

    def further_probe(self, random: np.random.Generator) -> Probe:
        raise NotImplementedError("AtSettings makes the probes")

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """Neighbours that share the product share it."""
        for way, own in groupby(map(ElementCombination._make, semantics), key=lambda one: one[:4]):
            with np.errstate(all="ignore"):
                products = products_of(probe, *way)
            for one in own:
                found = self.ended(rounded(products, one.round_mode), one.saturation)
                yield found, np.full(found.shape, np.nan)

    def ended(self, whole: Array, ends: StepRule) -> Array:
        known = INTEGER_TYPES[self.kind]
        found = whole.astype(np.int64) + (ZERO_ELEMENT if is_nibble(self.kind) else 0)
        if ends is CLAMPED:
            return np.clip(found, known.lowest, known.highest)
        return (found - known.lowest) % (1 << known.bits) + known.lowest


def rounds_apart(one: ElementCombination) -> bool:
    """In float64 a sum with a half is exact, and so a mode of the nine."""
    if one.precision is FLOAT32:
        return True
    return one.round_mode.sum is None or (one.round_mode is CUT_OFF and one.precision is PRODUCT_KEPT)


def products_of(probe: Probe, input: StepRule, divisor: Divisor, way: WayOverStep, precision: Precision) -> Array:
    """x over d as float64, which holds the product of two float32."""
    top, stored = (np.asarray(other).astype(SINGLE).reshape(-1) for other in probe.others)
    wide = np.float64 if precision is FLOAT64 else SINGLE
    over, by = divisor.of(input.of(top))
    factor = way.factor(StepOperands(over.astype(wide), np.asarray(by).astype(wide), stored.astype(wide)))
    x = input.of(probe.x).astype(SINGLE if precision is FLOAT32 else np.float64)
    product = x / factor if way.divides else x * factor
    return np.asarray(product.astype(np.float64))


def rounded(products: Array, mode: RoundMode) -> Array:
    """A product that was not rounded is rounded together with 8.5, as a fused multiply-add does it."""
    if mode is CUT_OFF:
        return np.trunc((products + HALF_MORE).astype(SINGLE)).astype(np.float64) - ZERO_ELEMENT
    return mode.round(products, FLOAT32)
