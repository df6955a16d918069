"""The facets of a cast to a floating-point type with a sign, each value with its own step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tiebreak.conformance.semantics.cast_inputs import (
    SMALL_BITS,
)
from tiebreak.conformance.semantics.precisions import FLOAT64
from tiebreak.conformance.semantics.round_modes import MODES, WORDS
from tiebreak.conformance.semantics.type_grids import Whole, largest_of
from tiebreak.golden.elements import FloatType
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN, is_nearest


@dataclass(frozen=True, eq=False)
class GridMode:
    """How a number becomes a whole number of units of the type's last digit."""

    id: str
    sentence: str
    whole: Whole
    cause: str = ""
    nearest: bool = True


def in_mode(name: str, units: Array) -> Array:
    return MODES[name].round(units, FLOAT64)


def ties_to_odd(units: Array) -> Array:
    even, is_tie = np.rint(units), np.abs(units - np.trunc(units)) == 0.5
    return np.where(is_tie, 2 * units - even, even)


def last_bit_lost(units: Array) -> Array:
    return np.trunc(np.rint(units) / 2) * 2


CAUSES = {  # without the output's type
    "ROUND_NEAREST_TOWARD_INFINITY": "ties-away-to-type",
    "ROUND_NEAREST_TOWARD_ZERO": "ties-toward-zero-to-type",
    "ROUND_NEAREST_UPWARD": "ties-up-to-type",
    "ROUND_NEAREST_DOWNWARD": "ties-down-to-type",
    "ROUND_TOWARD_INFINITY": "away-to-type",
    "ROUND_TOWARD_ZERO": "cuts-off",
    "ROUND_UP": "up-to-type",
    "ROUND_DOWN": "down-to-type",
}


def grid_modes(goal: str) -> tuple[GridMode, ...]:
    found = [GridMode(EVEN, WORDS[EVEN], np.rint)]
    for name, cause in CAUSES.items():
        found.append(GridMode(name, WORDS[name], partial(in_mode, name), to_goal(cause, goal), is_nearest(name)))
    odd = GridMode("ties-to-odd", "to nearest, ties to odd", ties_to_odd, to_goal("ties-odd-to-type", goal))
    cause = to_goal("lowest-bit-lost", goal)
    lost = GridMode("last-bit-lost", "to nearest, ties to even, then without the last bit", last_bit_lost, cause)
    return (*found, odd, lost)


def to_goal(cause: str, goal: str) -> str:
    """A cause's id in casts to some types."""
    return f"{cause}, {goal}" if goal and ":" in cause else f"{cause}:{goal}" if goal else cause


NOTHING_ROUNDED = GridMode("none", "nothing is rounded: the output's type holds every input", np.rint)


@dataclass(frozen=True, eq=False)
class GridEnds:
    """What becomes of a number beyond the largest value.

    `of` gives the magnitude's bits, from the number, the rounded magnitude's bits and the type. `thresholds` are the
    magnitudes at which more than the rounded number counts.
    """

    id: str
    sentence: str
    of: Callable[[Array, Array, FloatType], Array]
    fits: Callable[[FloatType], bool]
    cause: str = ""
    thresholds: tuple[float, ...] = ()
    largest_too: bool = False  # the largest value is such a magnitude


def nothing_bits(kind: FloatType) -> int:
    """The magnitude's bits of what is beyond: infinity, or NaN, which has no sign in some types."""
    return kind.infinity_bits if kind.specials == "ieee" else nan_bits(kind)


def nan_bits(kind: FloatType) -> int:
    assert kind.nan_bits is not None
    return kind.nan_bits


def saturated(x: Array, bits: Array, kind: FloatType) -> Array:
    return np.minimum(bits, kind.largest_bits)


def overflowing(x: Array, bits: Array, kind: FloatType) -> Array:
    return np.where(bits > kind.largest_bits, nothing_bits(kind), bits)


def all_nan(x: Array, bits: Array, kind: FloatType) -> Array:
    return np.where(bits > kind.largest_bits, nan_bits(kind), bits)


def number_compared(x: Array, bits: Array, kind: FloatType) -> Array:
    return np.where(np.abs(x) > largest_of(kind), nothing_bits(kind), bits)


def a_step_more(x: Array, bits: Array, kind: FloatType) -> Array:
    stays = (np.abs(x) >= 480) & (np.abs(x) < 496)
    return np.where(stays, kind.largest_bits, overflowing(x, bits, kind))


def nan_before_infinity(x: Array, bits: Array, kind: FloatType) -> Array:
    between = (bits > kind.largest_bits) & (np.abs(x) < 65536)
    return np.where(between, nan_bits(kind), overflowing(x, bits, kind))


def ending_at_240(x: Array, bits: Array, kind: FloatType) -> Array:
    return np.minimum(bits, kind.largest_bits - 7)


def low_bits(x: Array, bits: Array, kind: FloatType) -> Array:
    kept = bits & ((1 << (kind.bits - 1)) - 1)
    return np.where(kept > kind.infinity_bits, nan_bits(kind), kept)  # codes have one NaN


def has_nothing(kind: FloatType) -> bool:
    return kind.specials != "none"


def is_e4m3fn(kind: FloatType) -> bool:
    return kind.name == "float8_e4m3fn"


def has_signed_nan(kind: FloatType) -> bool:
    return kind.bits == SMALL_BITS and kind.specials in ("fn", "ieee")


def is_e5m2(kind: FloatType) -> bool:
    return kind.name == "float8_e5m2"


TO_LARGEST = "what is beyond the largest value becomes it"
ENDS = (
    SATURATE := GridEnds("saturate", TO_LARGEST, saturated, lambda kind: True, "always-saturates"),
    OVERFLOW := GridEnds(
        "overflow",
        "what is beyond the largest value becomes infinite, or NaN in a type without infinity",
        overflowing,
        has_nothing,
        "never-saturates",
    ),
    GridEnds(
        "nan",
        "what is beyond the largest value becomes NaN, though the type has an infinity",
        all_nan,
        is_e5m2,
        "beyond-to-nan",
    ),
    GridEnds(
        "overflow-of-number",
        "a number beyond the largest value becomes infinite or NaN even if it rounds to it",
        number_compared,
        has_nothing,
        "largest-is-the-end",
        largest_too=True,
    ),
    GridEnds(
        "overflow-after-step",
        "what rounds beyond 448 becomes NaN, but from 480 to below 496 it becomes 448",
        a_step_more,
        is_e4m3fn,
        "step-beyond-largest",
        thresholds=(480, 496),
    ),
    GridEnds(
        "nan-before-infinity",
        "what rounds beyond 57344 becomes NaN, but infinite from 65536 on",
        nan_before_infinity,
        is_e5m2,
        "nan-below-infinity",
        thresholds=(65536,),
    ),
    GridEnds(
        "saturate-at-240",
        "what is beyond 240 becomes 240",
        ending_at_240,
        is_e4m3fn,
        "ends-at:240, whatever saturate says",
    ),
    GridEnds("wrap", "the low bits of an exponent that is too large are kept", low_bits, has_signed_nan, "wraps"),
)
WIDE_ENDS = (
    WIDE_OVERFLOW := GridEnds(
        "overflow", "what is beyond the largest value becomes infinite", overflowing, has_nothing
    ),
    GridEnds("saturate", TO_LARGEST, saturated, lambda kind: True, "beyond-to-largest"),
)
NOTHING_BEYOND = GridEnds("none", "no input is beyond the largest value", saturated, lambda kind: True)


@dataclass(frozen=True, eq=False)
class OutputSubnormals:
    """What becomes of results below the type's least normal value."""

    id: str
    sentence: str
    cause: str = ""
    flushes: bool = False
    cuts: bool = False


OUTPUTS_KEPT = OutputSubnormals("kept", "subnormal results are numbers")


def output_subnormals(goal: str) -> tuple[OutputSubnormals, ...]:
    flush, cut = to_goal("flushes-outputs", goal), to_goal("below-normal-cut-off", goal)
    return (
        OUTPUTS_KEPT,
        OutputSubnormals("flushed", "a subnormal result becomes 0", flush, flushes=True),
        OutputSubnormals("cut-off", "subnormal results are cut off, others rounded", cut, cuts=True),
    )


@dataclass(frozen=True, eq=False)
class ZeroSign:
    """Which zeros are negative."""

    id: str
    sentence: str
    negative: Callable[[Array, Array], Array]  # of the sign (whether negative) and the number
    cause: str = ""


SIGN_KEPT = ZeroSign("sign-kept", "a zero has the number's sign", lambda negative, x: negative)
ONE_ZERO = ZeroSign(
    "not-compared", "the type has one zero, or the document leaves its sign open", lambda negative, x: x < -np.inf
)


def zero_signs(goal: str) -> tuple[ZeroSign, ...]:
    lost = to_goal("minus-zero-lost", goal)
    rounded = to_goal("minus-zero-lost:where a number rounds to it", goal)
    return (
        SIGN_KEPT,
        ZeroSign("positive", "every zero is positive", lambda negative, x: x < -np.inf, lost),
        ZeroSign(
            "positive-if-rounded",
            "-0 stays, but a negative number that rounds to zero gives the positive one",
            lambda negative, x: negative & (x == 0),
            rounded,
        ),
    )
