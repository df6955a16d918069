"""A cast from an integer to an integer as black boxes compute it: the facets, what each combination gives.

The document discards the higher bits of what is out of range and reads the rest in two's complement.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.cast_inputs import (
    DIRECT,
    INPUTS_KEPT,
    OWN_READING,
    CastReading,
    InputSubnormals,
    Passage,
    own_numbers,
    passages_of,
)
from tiebreak.conformance.semantics.cast_integers import (
    GOAL,
    NOTHING_BEYOND,
    IntegerEnds,
    clamped,
    low_bits,
    low_bits_of_clamped,
    zero_beyond,
)
from tiebreak.conformance.semantics.integer_scaling_facets import with_other_sign
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array

OTHER_SIGN = {  # by whether the type has a sign
    True: CastReading("other-sign", "the bits as if they had no sign", own_numbers, "signed-as-unsigned"),
    False: CastReading("other-sign", "the first bit as a sign", own_numbers, "unsigned-as-signed"),
}


def higher_bits(x: Array, whole: Array, kind: IntegerType) -> Array:
    return low_bits(x, np.floor(whole / 2.0**kind.bits), kind)


def remainder_of_sign(x: Array, whole: Array, kind: IntegerType) -> Array:
    return clamped(x, np.fmod(whole, 2.0**kind.bits), kind)


WRAP = IntegerEnds("wrap", "the low bits are kept, in two's complement", low_bits, wraps=True)
SATURATE = IntegerEnds("saturate", "what is beyond the range becomes its end", clamped, "integers-saturate")
ZERO = IntegerEnds("zero", "what is beyond the range becomes 0", zero_beyond, "beyond-to-zero")
REMAINDER = IntegerEnds(
    "remainder-of-sign", "the low bits of the magnitude, with its sign", remainder_of_sign, "remainder-of-sign"
)
HIGHER = IntegerEnds("higher-bits", "the bits above those that are kept", higher_bits, "higher-bits-kept")
THROUGH_8_BITS = IntegerEnds(
    "int8-clamped-then-wrap",
    "the low bits of the number clamped to int8",
    partial(low_bits_of_clamped, 8),
    "saturates-to-8-bits",
    wraps=True,
)


class BetweenIntegers(NamedTuple):
    """One value of each facet."""

    reading: CastReading
    precision: Passage
    input_subnormals: InputSubnormals
    saturation: IntegerEnds


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def between_facets(source: IntegerType, target: IntegerType) -> tuple[Facet, ...]:
    return (
        Facet("reading", (OWN_READING, OTHER_SIGN[source.signed])),
        Facet("precision", tuple(passages_of(source, "x-in-before-integer", GOAL))),
        Facet("input_subnormals", (INPUTS_KEPT,)),
        Facet("saturation", ends_of(source, target)),
    )


def ends_of(source: IntegerType, target: IntegerType) -> tuple[IntegerEnds, ...]:
    """What some number of the source shows, and not as another one."""
    above, below = source.highest > target.highest, source.lowest < target.lowest
    if not (above or below):
        return (NOTHING_BEYOND,)
    if not above and not target.lowest:
        return (WRAP, SATURATE)  # of negative numbers alone: each other end makes 0 of them, too
    through = (THROUGH_8_BITS,) if target.bits < 8 < source.bits else ()
    higher = (HIGHER,) if source.bits > target.bits else ()
    return (WRAP, SATURATE, ZERO, *((REMAINDER,) if source.signed or target.signed else ()), *higher, *through)


def documented_between(source: IntegerType, target: IntegerType) -> BetweenIntegers:
    return BetweenIntegers(OWN_READING, DIRECT, INPUTS_KEPT, ends_of(source, target)[0])


@lru_cache(maxsize=64)
def between_candidates(source: IntegerType, target: IntegerType) -> Candidates:
    return valid_candidates(between_facets(source, target), partial(is_valid, source, target))


def is_valid(source: IntegerType, target: IntegerType, semantics: Semantics) -> bool:
    """Whether it makes sense: of two mistakes at once none is asked, and low bits are the same whatever their sign."""
    one = BetweenIntegers._make(semantics)
    if one.reading is OWN_READING:
        return True
    if one.precision is not DIRECT or one.saturation in (REMAINDER, HIGHER, THROUGH_8_BITS):
        return False
    return not (one.saturation is WRAP and target.bits <= source.bits)


class BetweenSteps:
    """The codes of integers (float64), and their stages: the integers themselves, or nothing with another sign."""

    def __init__(self, x: Array, source: IntegerType, target: IntegerType) -> None:
        self.x, self.source, self.target = x, source, target

    def codes(self, semantics: Semantics) -> tuple[Array, Array]:
        one = BetweenIntegers._make(semantics)
        x, stage = self.x, self.x
        if one.reading is not OWN_READING:
            x = np.asarray(with_other_sign(self.x.astype(np.int64), self.source)).astype(np.float64)
            x, stage = low_bits(x, x, self.target) if held_otherwise(one) else x, np.full(x.shape, np.nan)
        return one.saturation.of(x, x, self.target).astype(np.int64), stage


def held_otherwise(one: BetweenIntegers) -> bool:
    """Where the type holds each integer as it is: read with another sign some are beyond, and wrap."""
    return one.saturation is NOTHING_BEYOND
