"""A cast from an integer of at most 8 bits to a floating-point type with a sign: its facets and combinations.

Every type on the way holds these integers, none of them is subnormal, and they have one zero. So only the round mode
and what is beyond the range are left to find.
"""

from __future__ import annotations

from functools import cache, lru_cache

from tiebreak.conformance.semantics.cast_grid import GridCombination
from tiebreak.conformance.semantics.cast_grid_facets import (
    ENDS,
    NOTHING_BEYOND,
    NOTHING_ROUNDED,
    ONE_ZERO,
    OUTPUTS_KEPT,
    OVERFLOW,
    SATURATE,
    grid_modes,
)
from tiebreak.conformance.semantics.cast_inputs import DIRECT, INPUTS_KEPT, OWN_READING, SMALL_BITS
from tiebreak.conformance.semantics.model import Candidates, Facet, valid_candidates
from tiebreak.conformance.semantics.type_grids import largest_of
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.onnx_types import FLOAT4


def knows_cast(source: IntegerType, target: FloatType | IntegerType) -> bool:
    """Whether this table describes a cast."""
    return source.bits <= SMALL_BITS and isinstance(target, FloatType) and target.specials != "e8m0"


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def whole_facets(source: IntegerType, target: FloatType) -> tuple[Facet, ...]:
    """The facets of a cast between two types; a facet that can't matter there has one value."""
    goal = "in float4_e2m1fn" if target.name in FLOAT4 else ""
    most = max(source.highest, -source.lowest)
    exact = target.bits > SMALL_BITS or most <= 1 << target.precision
    ends = tuple(one for one in ENDS if one.fits(target))
    return (
        Facet("reading", (OWN_READING,)),
        Facet("precision", (DIRECT,)),
        Facet("input_subnormals", (INPUTS_KEPT,)),
        Facet("round_mode", (NOTHING_ROUNDED,) if exact else grid_modes(goal)),
        Facet("output_subnormals", (OUTPUTS_KEPT,)),
        Facet("saturation", (NOTHING_BEYOND,) if most <= largest_of(target) else ends),
        Facet("zero", (ONE_ZERO,)),
    )


def documented_whole(source: IntegerType, target: FloatType, saturates: bool) -> GridCombination:
    """What the document says of floats; of an integer that a float 8 does not hold it says nothing (ONC-U3)."""
    facets = {facet.name: facet.values for facet in whole_facets(source, target)}
    wanted = SATURATE if saturates or target.specials == "none" else OVERFLOW
    ends = wanted if wanted in facets["saturation"] else NOTHING_BEYOND
    chosen = {name: values[0] for name, values in facets.items()} | {"saturation": ends}
    return GridCombination(**chosen)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def whole_candidates(source: IntegerType, target: FloatType) -> Candidates:
    return valid_candidates(whole_facets(source, target), lambda semantics: True)
