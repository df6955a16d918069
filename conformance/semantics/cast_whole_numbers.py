"""A cast from an integer, of which float64 holds each, to a floating-point type with a sign: facets and combinations.

No integer is subnormal, and they have one zero. So only the types on the way, which hold integers of 8 bits, the round
mode and what is beyond the range are left to find.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache, partial

import numpy as np

from tiebreak.conformance.semantics.cast_grid import AWAY, BEYOND_INFINITY, SEES_FIRST_BITS, TO_ZERO, GridCombination
from tiebreak.conformance.semantics.cast_grid_facets import (
    ENDS,
    NOTHING_BEYOND,
    NOTHING_ROUNDED,
    ONE_ZERO,
    OUTPUTS_KEPT,
    OVERFLOW,
    SATURATE,
    GridEnds,
    grid_modes,
)
from tiebreak.conformance.semantics.cast_inputs import (
    DIRECT,
    FLOAT8_GOAL,
    GOALS,
    INPUTS_KEPT,
    OWN_READING,
    Passage,
    passages_of,
)
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.conformance.semantics.round_modes import NEVER_NEGATIVE
from tiebreak.conformance.semantics.type_grids import largest_of
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import FLOAT8
from tiebreak.golden.rounding import ROUND_MODES

SEEN_UNSIGNED = {mode.id for mode in NEVER_NEGATIVE}  # every other mode of the nine equals one of these


def silence_of_integers(node: Node) -> str:
    """What the document leaves open of a cast from integers; empty if nothing. See clause ONC-U3."""
    source, target = ELEMENT_TYPES[node.input_type], ELEMENT_TYPES[node.output_type]
    if isinstance(target, IntegerType) or not isinstance(source, IntegerType) or target.name not in FLOAT8:
        return ""
    if is_held(source, target):
        return ""
    return f"ONNX does not say how an integer is rounded that {target.name} does not hold: its tables are about floats"


def largest_magnitude(source: IntegerType) -> int:
    return max(source.highest, -source.lowest)


def is_held(source: IntegerType, target: FloatType) -> bool:
    """Whether a floating-point type holds every integer of a type."""
    most = largest_magnitude(source)
    return most <= largest_of(target) and most <= 1 << target.precision


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def whole_facets(source: IntegerType, target: FloatType) -> tuple[Facet, ...]:
    """The facets of a cast between two types; a facet that can't matter there has one value."""
    goal, key = GOALS.get(target.name, FLOAT8_GOAL)
    ends = tuple(one for one in ENDS if one.fits(target))
    return (
        Facet("reading", (OWN_READING,)),
        Facet("precision", tuple(passages_of(source, key, goal))),
        Facet("input_subnormals", (INPUTS_KEPT,)),
        Facet("round_mode", (NOTHING_ROUNDED,) if is_held(source, target) else grid_modes(goal)),
        Facet("output_subnormals", (OUTPUTS_KEPT,)),
        Facet("saturation", (NOTHING_BEYOND,) if largest_magnitude(source) <= largest_of(target) else ends),
        Facet("zero", (ONE_ZERO,)),
    )


def documented_whole(source: IntegerType, target: FloatType, saturates: bool) -> GridCombination:
    """What the document says of floats. Of some integers it says nothing: see silence_of_integers."""
    facets = {facet.name: facet.values for facet in whole_facets(source, target)}
    wanted = SATURATE if saturates or target.specials == "none" else OVERFLOW
    ends = wanted if wanted in facets["saturation"] else NOTHING_BEYOND
    chosen = {name: values[0] for name, values in facets.items()} | {"saturation": ends}
    return GridCombination(**chosen)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def whole_candidates(source: IntegerType, target: FloatType) -> Candidates:
    return valid_candidates(whole_facets(source, target), partial(is_valid, source, target))


def is_valid(source: IntegerType, target: FloatType, semantics: Semantics) -> bool:
    """Whether no simpler combination coincides with it."""
    one = GridCombination._make(semantics)
    mode, ends, signed = one.round_mode.id, one.saturation, source.lowest < 0
    if not signed and mode in ROUND_MODES and mode not in SEEN_UNSIGNED:
        return False
    to_zero, away = (TO_ZERO, AWAY) if signed else ("ROUND_DOWN", "ROUND_UP")
    if one.precision is not DIRECT and coincides_beyond(ends, target, first_changed(one.precision)):
        return False
    if one.precision.keeps and mode in (*SEES_FIRST_BITS, to_zero) and not ends.largest_too:
        return False
    if ends is NOTHING_BEYOND or ends is SATURATE:
        return True
    if ends.largest_too:
        return mode != away  # what is beyond the largest value rounds beyond it
    most = largest_passed(source, one.precision)
    if ends.id in BEYOND_INFINITY and target.specials == "ieee" and most <= first_beyond(target):
        return ends.id != "wrap" and most == first_beyond(target) and mode != to_zero
    return mode != to_zero or most >= first_beyond(target)


def first_beyond(target: FloatType) -> float:
    """The number that would follow the largest value."""
    return largest_of(target) + 2.0 ** (math.frexp(largest_of(target))[1] - target.precision)


def coincides_beyond(ends: GridEnds, target: FloatType, first: float) -> bool:
    """Whether all numbers give the same from the first one on that changes on the way, which is 256 or more."""
    return ends.id == "saturate-at-240" or (ends.id != "wrap" and first_beyond(target) <= first)


def first_changed(passage: Passage) -> float:
    """Smaller integers stay what they are in the types on the way."""
    return 2.0 ** min([FLOAT_TYPES[name].precision for name in passage.through] or [passage.keeps])


def largest_passed(source: IntegerType, passage: Passage) -> float:
    """The largest magnitude after the types on the way; of what one of them can't hold nothing is predicted."""
    (most,) = passage.passed(np.array([largest_magnitude(source)], np.float64))
    return min([float(most), *(largest_of(FLOAT_TYPES[name]) for name in passage.through)])
