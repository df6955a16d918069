"""A cast of a float to an integer: the facets, and what each combination of them gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.cast_inputs import (
    INPUTS_KEPT,
    SMALL_BITS,
    CastReading,
    InputSubnormals,
    Passage,
    input_subnormals,
    passages_of,
    readings_of,
)
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.conformance.semantics.precisions import Precision
from tiebreak.conformance.semantics.round_modes import AWAY, EVERY, FLOOR, MODES, NEVER_NEGATIVE, RoundMode
from tiebreak.conformance.semantics.type_grids import largest_of
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

GOAL = "in an integer"
TWO31, TWO63 = 2.0**31, 2.0**63


@dataclass(frozen=True, eq=False)
class IntegerEnds:
    """What becomes of a whole number beyond the range. `room`: the bits of an integer on the way; 0 for none."""

    id: str
    sentence: str
    of: Callable[[Array, Array, IntegerType], Array]  # of the number and the whole one
    cause: str = ""
    wraps: bool = False
    room: int = 0
    clamps: bool = False  # to the ends of that integer, whose lowest bits are not 0
    compares_number: bool = False  # with the ends of that integer, before it is rounded


def clamped(x: Array, whole: Array, kind: IntegerType) -> Array:
    return np.clip(whole, kind.lowest, kind.highest)


def low_bits(x: Array, whole: Array, kind: IntegerType) -> Array:
    size = 2.0**kind.bits
    return np.asarray(np.mod(np.mod(whole, size) - kind.lowest, size) + kind.lowest)


def low_bits_if_held(room: float, x: Array, whole: Array, kind: IntegerType) -> Array:
    """As a cast on x86: what the integer on the way can't hold becomes its lowest value."""
    return low_bits(x, np.where((whole >= -room) & (whole < room), whole, -room), kind)


def low_bits_if_number_is_held(x: Array, whole: Array, kind: IntegerType) -> Array:
    """As ml_dtypes does it: the number is compared with the ends of int32 before it is cut off."""
    held = (x >= -TWO31) & (x <= TWO31 - 1)
    return low_bits(x, np.where(held, whole, 0.0), kind)


def low_bits_of_clamped(bits: int, x: Array, whole: Array, kind: IntegerType) -> Array:
    return low_bits(x, np.clip(whole, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1), kind)


def zero_beyond(x: Array, whole: Array, kind: IntegerType) -> Array:
    return np.where((whole < kind.lowest) | (whole > kind.highest), 0.0, whole)


ENDS = (
    SATURATE := IntegerEnds("saturate", "what is beyond the range becomes its end", clamped),
    IntegerEnds("wrap", "the low bits of a number are kept", low_bits, "wraps", wraps=True),
    IntegerEnds(
        "int32-then-wrap",
        "the low bits of an int32, whose lowest value stands for all that it can't hold",
        partial(low_bits_if_held, TWO31),
        "casts-to-int32-and-wraps",
        wraps=True,
        room=32,
    ),
    IntegerEnds(
        "int32-or-zero-then-wrap",
        "the low bits are kept, but a number that is beyond the ends of int32 before it is rounded becomes 0",
        low_bits_if_number_is_held,
        "zero-beyond-int32-and-wraps",
        wraps=True,
        room=32,
        compares_number=True,
    ),
    IntegerEnds(
        "int64-then-wrap",
        "the low bits of an int64, in the same way as of an int32",
        partial(low_bits_if_held, TWO63),
        "casts-to-int64-and-wraps",
        wraps=True,
        room=64,
    ),
    IntegerEnds(
        "int32-clamped-then-wrap",
        "the low bits of the number clamped to int32",
        partial(low_bits_of_clamped, 32),
        "saturates-to-int32-and-wraps",
        wraps=True,
        room=32,
        clamps=True,
    ),
    IntegerEnds(
        "int8-clamped-then-wrap",
        "the low bits of the number clamped to int8",
        partial(low_bits_of_clamped, 8),
        "saturates-to-8-bits",
        wraps=True,
        room=8,
    ),
    IntegerEnds("zero", "what is beyond the range becomes 0", zero_beyond, "beyond-to-zero:of a float"),
)
NOTHING_BEYOND = IntegerEnds("none", "no input is beyond the range", clamped)


class IntegerCombination(NamedTuple):
    """One value of each facet."""

    reading: CastReading
    precision: Passage
    input_subnormals: InputSubnormals
    round_mode: RoundMode
    saturation: IntegerEnds


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def integer_facets(source: FloatType, target: IntegerType) -> tuple[Facet, ...]:
    ends = (
        tuple(one for one in ENDS if tells(one, source, target)) if goes_beyond(source, target) else (NOTHING_BEYOND,)
    )
    return (
        Facet("reading", readings_of(source)),
        Facet("precision", tuple(passages_of(source, "x-in-before-integer", GOAL))),
        Facet("input_subnormals", (INPUTS_KEPT,) if source.bits <= SMALL_BITS else input_subnormals(GOAL)),
        Facet("round_mode", EVERY),
        Facet("saturation", ends),
    )


def goes_beyond(source: FloatType, target: IntegerType) -> bool:
    below = source.specials != "e8m0" and -largest_of(source) < target.lowest
    return below or largest_of(source) > target.highest


def tells(ends: IntegerEnds, source: FloatType, target: IntegerType) -> bool:
    """Whether a number of the source can show it, and not as another one."""
    largest = largest_of(source)
    if ends.id == "zero":
        return largest > target.highest  # a negative number becomes the lowest value, 0, of an unsigned type
    if ends.clamps and target.name == "int32":
        return False
    if ends.room == 8:
        return largest >= 2.0**7 and target.bits < 8
    return not ends.room or largest >= 2.0 ** (ends.room - 1)


def documented_integer(source: FloatType, target: IntegerType) -> IntegerCombination:
    reading, precision, subnormals, _, ends = (facet.values[0] for facet in integer_facets(source, target))
    return IntegerCombination(reading, precision, subnormals, MODES[EVEN], ends)  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def integer_candidates(source: FloatType, target: IntegerType) -> Candidates:
    return valid_candidates(integer_facets(source, target), partial(is_valid, source, target))


def is_valid(source: FloatType, target: IntegerType, semantics: Semantics) -> bool:
    """Whether a combination makes sense and no simpler one coincides with it."""
    one = IntegerCombination._make(semantics)
    mode, ends = one.round_mode, one.saturation
    if one.reading.id == "integers" and mode.id != EVEN:
        return False
    if flushes(source, one) and (one.precision.cause or mode.id not in SEES_TINY):
        return False
    if one.precision.keeps and mode.id in SEES_FIRST_BITS and target.bits < 8 and not ends.wraps:
        return False
    if not (target.signed or ends.wraps) and mode not in NEVER_NEGATIVE:
        return False  # negative numbers become 0
    if ends.compares_number and mode.id in ("ROUND_UP", "ROUND_TOWARD_INFINITY"):
        return False  # what is between two whole numbers at the end rounds beyond it
    if ends.room > 8 and not shows_room(source, target, one):
        return False
    return source.bits > SMALL_BITS or mode not in (FLOOR, AWAY)  # sums are exact


SEES_FIRST_BITS = ("ROUND_TOWARD_ZERO", "ROUND_NEAREST_TOWARD_INFINITY")  # to which bits after the first don't matter
SEES_TINY = ("ROUND_TOWARD_INFINITY", "ROUND_UP", "ROUND_DOWN")


def flushes(source: FloatType, one: IntegerCombination) -> bool:
    """Whether subnormal inputs are flushed, and are too small to be rounded to another integer than 0."""
    return one.input_subnormals.flushes or (one.reading.id == "subnormals-flushed" and source.emin < 0)


def shows_room(source: FloatType, target: IntegerType, one: IntegerCombination) -> bool:
    """Whether a number that the integer on the way can't hold has other low bits than what it becomes there.

    Beyond 2^31 a type of 24 significant bits has multiples of 2^8 only.
    """
    if one.reading.cause:
        return False
    digits, most = source.precision, source.emax
    if one.precision.cause:
        final = one.precision.precision_from(source).type
        digits, most = min(digits, final.precision), min(most, final.emax)
    held = one.saturation.clamps or one.saturation.room - digits < target.bits
    return most >= one.saturation.room - 1 and held


class IntegerSteps:
    """The codes of numbers (float64, none NaN or infinite), and their stages. Combinations share steps."""

    def __init__(self, x: Array, source: FloatType, target: IntegerType, precision: Precision) -> None:
        self.x, self.target, self.precision = x, target, precision
        # From here on all numbers are multiples of 2^bits, but a cast through an integer has an end of its own.
        self.most = max(2.0 ** (source.precision + target.bits), TWO63 * 2)
        self.rounded: dict[RoundMode, Array] = {}

    def whole(self, mode: RoundMode) -> Array:
        if mode not in self.rounded:
            self.rounded[mode] = mode.round(self.x, self.precision)
        return self.rounded[mode]

    def codes(self, semantics: Semantics) -> tuple[Array, Array]:
        one = IntegerCombination._make(semantics)
        whole, ends = self.whole(one.round_mode), one.saturation
        codes = ends.of(self.x, whole, self.target).astype(np.int64)
        most = self.most if ends.wraps else self.target.highest + 1.0
        stage = np.clip(whole, -most if ends.wraps else self.target.lowest - 1.0, most)
        return codes, stage + (self.x > TWO31 - 1) / 2 - (self.x < -TWO31) / 2 if ends.compares_number else stage
