"""A cast of a number that a block's scale scales, or the tensor's factor: facets of the way there, then of the cast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import cast

import numpy as np

from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics, Value
from tiebreak.conformance.semantics.places import as_array
from tiebreak.conformance.semantics.small_block_scaling import (
    ENCODING_FIRST,
    NO_FACTORS,
    BlockOperands,
    FactorOfTensor,
    ScalingOfBlock,
    makes_sense,
)
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


@dataclass
class ScaledCast(FiniteOnly):
    """`node` has the operands, `cast` the last step from float32; `ways` are the facets before those of the cast.

    The operands after x are a scale, if `has_scale`, and global_amax, if the first facet is the tensor's factor.
    `names` are the cast's facets that may differ from the document's.
    """

    node: Node
    cast: CastArithmetic
    ways: tuple[Facet, ...]
    names: tuple[str, ...]
    has_scale: bool
    kept: list[Candidates] = field(default_factory=list)

    def ignore_specials(self) -> None:
        self.cast.ignore_specials()

    @property
    def facets(self) -> tuple[Facet, ...]:
        return (*self.ways, *self.cast.facets)

    @property
    def documented(self) -> Semantics:
        return (*(facet.values[0] for facet in self.ways), *self.cast.documented)

    @property
    def candidates(self) -> Candidates:
        if not self.kept:
            open_facets = [facet.name in self.names for facet in self.cast.facets]
            casts = [one for one in self.cast.candidates.all if self.is_asked(one, open_facets)]
            every = (way + one for way, one in product(self.sensible_ways(), casts))
            self.kept.append(Candidates(self.facets, tuple(every)))
        return self.kept[0]

    def is_asked(self, one: Semantics, open_facets: Sequence[bool]) -> bool:
        documented = zip(one, self.cast.documented, open_facets, strict=True)
        return all(is_open or value is plain for value, plain, is_open in documented)

    def sensible_ways(self) -> list[Semantics]:
        every: Iterator[Semantics] = product(*(facet.values for facet in self.ways))
        return [way for way in every if makes_sense(*factor_and_scaling(way))]

    def first_probes(self) -> Iterator[Probe]:
        """None: AtSettings has them."""
        return iter(())

    def further_probe(self, random: np.random.Generator) -> Probe:
        raise NotImplementedError("AtSettings makes the probes")

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """Neighbours that scale in the same way share the scaled numbers."""
        count = len(self.ways)
        for way, own in groupby(semantics, key=lambda one: one[:count]):
            numbers = Probe(self.scaled(probe, way), ())
            yield from self.cast.staged(numbers, [one[count:] for one in own])

    def scaled(self, probe: Probe, way: Sequence[Value]) -> Array:
        others = [np.asarray(other).reshape(-1) for other in probe.others]
        with np.errstate(all="ignore"):
            return self.number(probe.x, others, way)

    def number(self, x: Array, others: Sequence[Array], way: Sequence[Value]) -> Array:
        """What is cast (float32; float64 if it is not rounded)."""
        factor, scaling = factor_and_scaling(way)
        singles = [other.astype(np.float32) for other in others]
        scale = singles[0] if self.has_scale else np.ones(1, np.float32)
        factors = factor.of(singles[-1]) if len(self.ways) > 1 else NO_FACTORS
        return as_array(scaling.of(BlockOperands(x.astype(np.float32), scale, factors, x.dtype)))


def factor_and_scaling(way: Sequence[Value]) -> tuple[FactorOfTensor, ScalingOfBlock]:
    """The factor of a tensor without global_amax stands for none."""
    factor, scaling = (ENCODING_FIRST, *way)[-2:]
    return cast(FactorOfTensor, factor), cast(ScalingOfBlock, scaling)
