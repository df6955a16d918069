"""Which combinations of the facets of integers times a factor make sense."""

from __future__ import annotations

from tiebreak.conformance.semantics.integer_scaling_ends import SMALL_BITS
from tiebreak.conformance.semantics.integer_scaling_facets import (
    AWAY,
    OWN_SIGNS,
    UPWARD,
    ScalingCombination,
)
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.precisions import FLOAT32
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.rounding import EVEN

USUAL = (UPWARD, AWAY, EVEN)
ONCE_IS_ENOUGH = ("ROUND_DOWN", "ROUND_TOWARD_ZERO")
FIRST_OF_TWO = (*USUAL, *ONCE_IS_ENOUGH)
MOVES_WITH_INTEGERS = ("ROUND_NEAREST_UPWARD", "ROUND_NEAREST_DOWNWARD", "ROUND_UP", "ROUND_DOWN")


def is_valid(target: IntegerType, semantics: Semantics) -> bool:
    """Whether a combination makes sense and no simpler one coincides with it."""
    one = ScalingCombination._make(semantics)
    return rounds_soundly(one) and reads_soundly(one) and adds_soundly(target, one)


def rounds_soundly(one: ScalingCombination) -> bool:
    """Two roundings have two modes, and need a shift; what is known of them is few modes."""
    mode, position = one.round_mode.id, one.position
    if position.high != (one.second_rounding.mode is not None):
        return False
    if not position.high:
        return position.precision is None or one.factor.is_real
    twice_the_same = mode == one.second_rounding.id and mode in ONCE_IS_ENOUGH
    return one.factor.has_shift and mode in FIRST_OF_TWO and not twice_the_same


def reads_soundly(one: ScalingCombination) -> bool:
    """What is read with another sign is rounded as documents round, or twice as usual."""
    if one.reading is OWN_SIGNS and one.factor.plain:
        return True
    second = one.second_rounding.mode
    usual = one.round_mode.id in USUAL and (second is None or second.id in (AWAY, UPWARD))
    return usual and one.position.precision is None


def adds_soundly(target: IntegerType, one: ScalingCombination) -> bool:
    """A zero point that is added before one rounding differs only in modes that look at the sign or at even numbers.

    Sums below zero have no sign in an unsigned type: they become its lowest value.
    """
    if hides_int32(target, one):
        return False
    if not one.zero_point.first:
        return not (one.zero_point.other_sign and one.saturation.keeps_low_bits)
    same = one.round_mode.id in MOVES_WITH_INTEGERS if target.signed else one.round_mode.id != EVEN
    return not (one.position.high or same) and not one.saturation.of_point


def hides_int32(target: IntegerType, one: ScalingCombination) -> bool:
    """Whether a passage through int32 does not show: a float32 beyond it is a multiple of 256, as its lowest is."""
    is_cut = one.saturation.in_int32 and one.saturation.keeps_low_bits
    return is_cut and target.bits <= SMALL_BITS and one.position.precision is FLOAT32
