"""What becomes of a rounded quotient and a zero point that leave the output's range: the facet `saturation`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.problem import Array

SMALL_BITS = 8  # of a type all of whose numbers are asked


def every_type(kind: IntegerType) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Ends:
    """What becomes of a rounded quotient and the zero point: `of` them and the type, in int64."""

    id: str
    sentence: str
    of: Callable[[Array, Array, IntegerType], Array]
    cause: str = ""
    sees_far: bool = False  # sums far beyond the range
    of_point: bool = False  # only a zero point shows it
    keeps_low_bits: bool = False  # of a sum, so that a zero point's sign does not matter
    in_int32: bool = False  # the quotient first, which leaves it
    alone: Callable[[Array, IntegerType], Array] | None = None  # the same where nothing is added, in fewer steps
    fits: Callable[[IntegerType], bool] = every_type


def clipped(values: Array, kind: IntegerType) -> Array:
    return np.clip(values, kind.lowest, kind.highest)


def wrapped(values: Array, kind: IntegerType) -> Array:
    size = 1 << kind.bits
    low: Array = values - (values - kind.lowest) // size * size
    return low


def saturated(whole: Array, point: Array, kind: IntegerType) -> Array:
    return clipped(whole + point, kind)


def low_bits(whole: Array, point: Array, kind: IntegerType) -> Array:
    return wrapped(whole + point, kind)


def clamped_first(whole: Array, point: Array, kind: IntegerType) -> Array:
    return clipped(clipped(whole, kind) + point, kind)


def clamped_first_and_wrapped(whole: Array, point: Array, kind: IntegerType) -> Array:
    return wrapped(clipped(whole, kind) + point, kind)


def through_int16(whole: Array, point: Array, kind: IntegerType) -> Array:
    return clipped(wrapped(whole + point, INTEGER_TYPES["int16"]), kind)


def in_int32(whole: Array) -> Array:
    """What a processor's cast to int32 gives: its lowest value stands for all that it can't hold."""
    kind = INTEGER_TYPES["int32"]
    return np.where((whole < kind.lowest) | (whole > kind.highest), kind.lowest, whole)


def through_int32(whole: Array, point: Array, kind: IntegerType) -> Array:
    return clipped(wrapped(in_int32(whole) + point, INTEGER_TYPES["int32"]), kind)


def through_int32_with_room(whole: Array, point: Array, kind: IntegerType) -> Array:
    return clipped(in_int32(whole) + point, kind)


def low_bits_of_int32(whole: Array, point: Array, kind: IntegerType) -> Array:
    return wrapped(in_int32(whole) + point, kind)


def narrowed(whole: Array, point: Array, kind: IntegerType) -> Array:
    return np.maximum(clipped(whole + point, kind), kind.lowest + 1)


def of_other_sign(whole: Array, point: Array, kind: IntegerType) -> Array:
    other = IntegerType(kind.name, kind.bits, not kind.signed)
    return wrapped(clipped(whole + point, other), kind)


SATURATE = Ends("saturate", "the sum is clamped to the type's range", saturated)
ENDS = (
    SATURATE,
    Ends("wrap", "the low bits of the sum", low_bits, "wraps", sees_far=True, keeps_low_bits=True),
    Ends(
        "clamp-first",
        "the rounded quotient is clamped, then the sum is",
        clamped_first,
        "clamps-before-zero-point",
        of_point=True,
    ),
    Ends(
        "clamp-first-then-wrap",
        "the rounded quotient is clamped; the low bits of the sum",
        clamped_first_and_wrapped,
        "clamps-before-zero-point-and-wraps",
        sees_far=True,
        of_point=True,
        keeps_low_bits=True,
    ),
    Ends(
        "int16",
        "the low 16 bits of the sum, clamped",
        through_int16,
        "sum-wraps-in:int16",
        sees_far=True,
        fits=lambda kind: kind.bits <= SMALL_BITS,
    ),
    Ends(
        "narrow-range",
        "clamped to the range without its lowest value",
        narrowed,
        "narrow-range",
        fits=lambda kind: kind.signed,
    ),
    Ends(
        "as-other-sign",
        "clamped to the range of the type's other sign, whose bits are put out",
        of_other_sign,
        "saturates-with-other-sign",
        sees_far=True,
    ),
)
FAR_ENDS = (
    Ends(
        "int32",
        "the rounded quotient passes through int32, whose lowest value stands for all that it can't hold; "
        "the sum keeps 32 bits and is clamped",
        through_int32,
        "casts-to-int32",
        sees_far=True,
        in_int32=True,
        alone=lambda whole, kind: clipped(in_int32(whole), kind),
    ),
    Ends(
        "int32-then-wider-sum",
        "as int32, but the sum has room and is clamped",
        through_int32_with_room,
        "casts-to-int32-then-wider-sum",
        sees_far=True,
        of_point=True,
        in_int32=True,
    ),
    Ends(
        "int32-then-wrap",
        "as int32, but then the low bits of the sum",
        low_bits_of_int32,
        "casts-to-int32-and-wraps",
        sees_far=True,
        keeps_low_bits=True,
        in_int32=True,
    ),
)


def ends_of(kind: IntegerType, *, has_point: bool, far: bool = False) -> tuple[Ends, ...]:
    """Those that can matter; of int32 the document leaves open what is out of range. `far`: quotients leave int32."""
    if kind.bits > 16:
        return ENDS[:1]
    possible = (*ENDS, *FAR_ENDS) if far else ENDS
    return tuple(one for one in possible if one.fits(kind) and (has_point or not one.of_point))
