"""A cast to float8_e8m0fnu, whose code is an exponent of two plus 127: the facets, and what combinations give."""

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
    ElementType,
    InputSubnormals,
    Passage,
    input_subnormals,
    passages_of,
    readings_of,
)
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, Value, valid_candidates
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.problem import Array

GOAL, NAN = "in float8_e8m0fnu", 255
LEAST, LARGEST = 2.0**-127, 2.0**127
APART = "zero and negative numbers apart"
SINGLE_EMIN = -126  # of float32 and bfloat16


@dataclass(frozen=True, eq=False)
class PowerMode:
    """When a number goes to the power of two above it: `upward`, of its significand from 1 to 2 and its exponent."""

    id: str
    sentence: str
    upward: Callable[[Array, Array], Array]
    words: str


def half_to_even(significand: Array, exponent: Array) -> Array:
    return np.asarray((significand > 1.5) | ((significand == 1.5) & (exponent % 2 == 0)))


MODES = (
    PowerMode("up", "to the power of two above, unless it is one", lambda s, exponent: s > 1, "up"),
    DOWN := PowerMode("down", "to the power of two below", lambda s, exponent: s < 0, "down"),
    PowerMode("nearest", "to the nearest one, halfway up", lambda s, exponent: s >= 1.5, "to nearest, halfway up,"),
    PowerMode(
        "nearest-down", "to the nearest one, halfway down", lambda s, exponent: s > 1.5, "to nearest, halfway down,"
    ),
    PowerMode(
        "nearest-even",
        "to the nearest one, halfway to an even code",
        half_to_even,
        "to nearest, halfway to an even code,",
    ),
    PowerMode(
        "nearest-exponent",
        "to the one whose exponent is nearest to the logarithm",
        lambda s, exponent: s**2 >= 2,
        "to the nearest exponent",
    ),
    PowerMode(
        "always-up",
        "to the next power of two, also from one",
        lambda s, exponent: s >= 1,
        "up, powers of two themselves too,",
    ),
)


@dataclass(frozen=True, eq=False)
class AskedMode:
    """A mode with the cause that it is in casts where round_mode asks for another one."""

    id: str
    sentence: str
    mode: PowerMode
    cause: str = ""


@dataclass(frozen=True, eq=False)
class Exponents:
    """`of_field`: the exponent field of a float32 is rounded, of subnormal numbers too."""

    id: str
    sentence: str
    of_field: bool
    cause: str = ""


NUMBERS = Exponents("of-number", "the number's exponent is rounded", of_field=False)


def fields(saturates: bool) -> Exponents:
    cause = f"power-of-field:{APART}" if saturates else "power-of-field:within the range"
    sentence = "the field of a float32 is rounded by the bits behind it, of subnormal numbers too"
    return Exponents("of-field", sentence, of_field=True, cause=cause)


@dataclass(frozen=True, eq=False)
class PowerEnds:
    """What becomes of a positive number beyond the range."""

    id: str
    sentence: str
    saturates: bool = False
    compares_number: bool = False  # with the range; if not, the rounded number
    cause: str = ""


SATURATE = PowerEnds(
    "saturate",
    "a positive number beyond the range becomes its end",
    saturates=True,
    cause=f"power-always-saturates:{APART}",
)
TO_NAN = PowerEnds(
    "nan", "a positive number beyond the range becomes NaN", compares_number=True, cause=f"power-beyond-to-nan:{APART}"
)
ROUNDED_TO_NAN = PowerEnds(
    "nan-of-rounded",
    "a positive number becomes NaN if it is beyond the range once it is rounded",
    cause="power-ends-of-rounded",
)


@dataclass(frozen=True, eq=False)
class CodeOrMagnitude:
    """What zero or a negative number gives: a code, or what its magnitude gives if that is None."""

    id: str
    sentence: str
    code: int | None
    cause: str = ""


ZERO_LEAST = CodeOrMagnitude("least", "2^-127", 0, "power-zero-to-least")
ZERO_NAN = CodeOrMagnitude("nan", "NaN", NAN, "power-zero-to-nan")
NEGATIVE_LEAST = CodeOrMagnitude("least", "2^-127", 0, "power-negative-to-least")
NEGATIVE_NAN = CodeOrMagnitude("nan", "NaN", NAN, "power-negative-to-nan")
MAGNITUDE = CodeOrMagnitude("magnitude", "what its magnitude gives", None, "power-of-magnitude")
NONE_NEGATIVE = CodeOrMagnitude("none", "no input is negative", None)


class PowerCombination(NamedTuple):
    """One value of each facet."""

    reading: CastReading
    precision: Passage
    input_subnormals: InputSubnormals
    exponent: Exponents
    round_mode: AskedMode
    saturation: PowerEnds
    zero: CodeOrMagnitude
    negative: CodeOrMagnitude


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def power_facets(source: ElementType, asked: str, saturates: bool) -> tuple[Facet, ...]:
    """The first value of each is the document's, or like it where the document says nothing."""
    modes = [
        AskedMode(mode.id, mode.sentence, mode, f"power-rounds:{mode.words} where round_mode is {asked}")
        for mode in sorted(MODES, key=lambda mode: mode.id != asked)
    ]
    ends, zeros, negatives = (SATURATE, TO_NAN), (ZERO_LEAST, ZERO_NAN), (NEGATIVE_LEAST, NEGATIVE_NAN)
    if not saturates:
        ends, zeros, negatives = ends[::-1], zeros[::-1], negatives[::-1]
    emin = source.emin if isinstance(source, FloatType) and source.bits > SMALL_BITS else 0
    wide = emin <= SINGLE_EMIN
    return (
        Facet("reading", readings_of(source)),
        Facet("precision", tuple(passages_of(source, "x-in-before-power", GOAL))),
        Facet("input_subnormals", input_subnormals(GOAL) if emin == SINGLE_EMIN else (INPUTS_KEPT,)),
        Facet("exponent", (NUMBERS, fields(saturates)) if wide else (NUMBERS,)),
        Facet("round_mode", tuple(modes)),
        Facet("saturation", (*ends, ROUNDED_TO_NAN) if wide else ends[:1]),
        Facet("zero", zeros),
        Facet("negative", (NONE_NEGATIVE,) if never_negative(source) else (*negatives, MAGNITUDE)),
    )


def never_negative(source: ElementType) -> bool:
    return isinstance(source, IntegerType) and source.lowest == 0


def documented_power(source: ElementType, asked: str, saturates: bool) -> PowerCombination:
    return PowerCombination(*(facet.values[0] for facet in power_facets(source, asked, saturates)))  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def power_candidates(source: ElementType, asked: str, saturates: bool) -> Candidates:
    facets = power_facets(source, asked, saturates)
    return valid_candidates(facets, partial(is_valid, source, facets[5].values[0]))


def is_valid(source: ElementType, first: Value, semantics: Semantics) -> bool:
    """Whether a combination makes sense and no simpler one coincides with it; `first` are the document's ends."""
    one = PowerCombination._make(semantics)
    if isinstance(source, IntegerType):  # none is beyond the range
        return not (one.precision.keeps and one.round_mode.id in SEES_FIRST_BITS)
    if "float16" in one.precision.through:  # whose numbers are all normal and in range
        return one.saturation is first and not one.exponent.of_field and not one.input_subnormals.flushes
    if one.exponent.of_field and (one.round_mode.mode is DOWN or not has_field(source, one)):
        return False  # a subnormal number's field is 0, and its exponent is clamped to that
    if one.exponent.of_field and one.round_mode.id == "always-up" and one.saturation.compares_number:
        return False
    if one.input_subnormals.flushes and one.round_mode.id == "up" and one.saturation is ROUNDED_TO_NAN:
        return False  # what is left rounds beyond the range if it is beyond
    if one.precision.keeps and one.round_mode.id in SEES_FIRST_BITS and not one.saturation.compares_number:
        return False
    lost = one.zero.code == 0 and one.negative.code != NAN and not one.saturation.compares_number
    return not (one.input_subnormals.flushes and one.round_mode.mode is DOWN and lost)


SEES_FIRST_BITS = ("down", "nearest", "always-up")  # modes for which later bits than the first don't matter


def has_field(source: FloatType, one: PowerCombination) -> bool:
    """Whether the number is one of a type with a float32's exponents, and none is flushed."""
    if one.input_subnormals.flushes:
        return False
    return source.emin == SINGLE_EMIN or (bool(one.precision.through) and one.precision.through[-1] != "float16")


class PowerSteps:
    """The codes of numbers (float64, none NaN or infinite), and their stages. Combinations share steps."""

    def __init__(self, x: Array) -> None:
        self.x, self.magnitude = x, np.abs(x)
        self.rounded: dict[tuple[bool, AskedMode], Array] = {}

    def exponents(self, exponent: Exponents, mode: AskedMode) -> Array:
        """The rounded exponents plus 127, without an end."""
        key = exponent.of_field, mode
        if key not in self.rounded:
            round_ = rounded_fields if exponent.of_field else rounded_exponents
            self.rounded[key] = round_(self.magnitude, mode.mode)
        return self.rounded[key]

    def codes(self, semantics: Semantics) -> tuple[Array, Array]:
        one = PowerCombination._make(semantics)
        raw = self.exponents(one.exponent, one.round_mode)
        found = np.clip(raw, 0, NAN - 1)
        if one.saturation.compares_number:
            found = np.where((self.magnitude < LEAST) | (self.magnitude > LARGEST), NAN, found)
        elif not one.saturation.saturates:
            found = np.where(found != raw, NAN, found)
        if one.negative.code is not None:
            found = np.where(self.x < 0, one.negative.code, found)
        if one.zero.code is not None:
            found = np.where(self.x == 0, one.zero.code, found)
        return found.astype(np.int64), self.stage(raw)

    def stage(self, raw: Array) -> Array:
        """Never falls as x grows: the signed exponent, far from 0, and how many thresholds x has passed."""
        passed = raw + 4096.0 + (self.magnitude >= LEAST) + (self.magnitude > LARGEST)
        return np.where(self.x == 0, 0.0, np.copysign(passed, self.x))


def rounded_exponents(magnitude: Array, mode: PowerMode) -> Array:
    fraction, exponent = np.frexp(np.where(magnitude > 0, magnitude, 1.0))
    below = exponent.astype(np.int64) - 1
    return below + mode.upward(2 * fraction, below) + 127


def rounded_fields(magnitude: Array, mode: PowerMode) -> Array:
    """Rounding to nearest, half of a normal number goes up, half of a subnormal one down."""
    word = magnitude.astype(np.float32).view(np.uint32)
    field, rest = (word >> 23).astype(np.int64), word & 0x7FFFFF
    up = mode.upward(1 + rest / 2.0**23, field - 127)
    stays = (field == 0) & (rest == 1 << 22) & (mode.id == "nearest")
    return np.asarray(field + (up & ~stays & ((field > 0) | (rest > 0))))
