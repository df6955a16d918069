"""The facets of integers times a factor, rounded to integers, as black boxes compute it.

The factor is a multiplier and a shift, or the ratio of two scales. What it is made of is the operator's own facet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.integer_scaling_ends import SMALL_BITS, Ends
from tiebreak.conformance.semantics.places import Place
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.round_modes import MODES, WORDS, RoundMode
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

HIGH = 31  # bits of a product that the first of two shifts takes off
ROOM = 1 << 62  # products below it are made in int64
UPWARD, AWAY = "ROUND_NEAREST_UPWARD", "ROUND_NEAREST_TOWARD_INFINITY"


class Factor(NamedTuple):
    """A factor as a whole number over another one. `plus` is added to every product before it is divided."""

    over: int
    under: int
    plus: int = 0

    @property
    def shift(self) -> int:
        """The shift that divides; what is under is a power of two."""
        return self.under.bit_length() - 1


def place_of(numbers: Array, under: int) -> Place:
    """Where whole numbers divided by a positive one lie."""
    if under >= ROOM:
        numbers = numbers.astype(object)
    below = numbers // under
    past = numbers - below * under
    short = under - past
    rest = np.where(past == 0, 0, np.where(past < short, 1, np.where(past == short, 2, 3)))
    value = below.astype(np.float64)
    return Place(value, rest.astype(np.int64), value)


def multiplier_of_bits(bits: int, ratio: float) -> Factor:
    """A whole number of so many bits and a shift: the ratio's significand, halves up."""
    part, shift = np.frexp(ratio)
    whole, places = int(np.floor(np.ldexp(part, bits) + 0.5)), bits - int(shift)
    return Factor(whole << max(-places, 0), 1 << max(places, 0))


def product(values: Array, factor: Factor) -> Array:
    """Whole numbers times one, and one added, exactly."""
    most, over, plus = max(int(np.abs(values).max(initial=0)), 1), factor.over, factor.plus
    if most * over + abs(plus) < ROOM:
        return values * np.int64(over) + np.int64(plus)
    return values.astype(object) * over + plus


# The sign of what is read


@dataclass(frozen=True, eq=False)
class SignReading:
    """Which of the input and its zero point are read with the other sign than their type has."""

    id: str
    sentence: str
    input_too: bool = False
    point_too: bool = False
    cause: str = ""


def with_other_sign(values: Array, kind: IntegerType) -> Array:
    """The same bits as a number of the type's other signedness."""
    size = 1 << kind.bits
    if kind.signed:
        return np.where(values < 0, values + size, values)
    return np.where(values > kind.highest // 2, values - size, values)


OWN_SIGNS = SignReading("own-types", "input and zero point are read as their type says")
READINGS = (
    OWN_SIGNS,
    SignReading(
        "input-as-other-sign", "the input is read with the other sign", input_too=True, cause="other-sign-of:the input"
    ),
    SignReading(
        "zero-point-as-other-sign",
        "the input zero point is read with the other sign",
        point_too=True,
        cause="other-sign-of:the input zero point",
    ),
    SignReading(
        "both-as-other-sign",
        "input and zero point are read with the other sign",
        input_too=True,
        point_too=True,
        cause="other-sign-of:the input and its zero point",
    ),
)


@dataclass(frozen=True, eq=False)
class OutputPoint:
    """How the output zero point is read, and when it is added. `first`: before rounding."""

    id: str
    sentence: str
    cause: str = ""
    other_sign: bool = False
    first: bool = False


AFTER = OutputPoint("after-rounding", "added to the rounded quotient", "zero-point-last")
BEFORE = OutputPoint("before-rounding", "added to the quotient, then rounded", "zero-point-first", first=True)
OUTPUT_POINTS = (
    AFTER,
    BEFORE,
    OutputPoint(
        "as-other-sign",
        "read with the other sign, and added to the rounded quotient",
        "other-sign-of:the output zero point",
        other_sign=True,
    ),
)


def readings_of(kind: IntegerType, *, has_point: bool) -> tuple[SignReading, ...]:
    """Those that can matter; `has_point`: other zero points than 0 are allowed."""
    if kind.bits > SMALL_BITS and kind.signed and not has_point:
        return READINGS[:1]  # no unsigned number stands where it could be
    return READINGS if has_point else READINGS[:2]


def output_points_of(*, has_point: bool) -> tuple[OutputPoint, ...]:
    return OUTPUT_POINTS if has_point else OUTPUT_POINTS[:1]


# Where the product is rounded


@dataclass(frozen=True, eq=False)
class SecondRounding:
    """How what the first of two shifts gives is rounded by the second one."""

    id: str
    sentence: str
    mode: RoundMode | None
    cause: str = ""


NO_SECOND = SecondRounding("none", "there is one rounding", None, "one-shift")
SECOND = tuple(
    SecondRounding(name, f"what the first gives, {WORDS[name]}", MODES[name], f"second-shift-rounds:{WORDS[name]}")
    for name in (AWAY, UPWARD, EVEN, "ROUND_NEAREST_DOWNWARD", "ROUND_NEAREST_TOWARD_ZERO", "ROUND_DOWN",
                 "ROUND_TOWARD_ZERO")
)  # fmt: skip
AWAY_SECOND = SECOND[0]


@dataclass(frozen=True, eq=False)
class ProductPosition:
    """Where the product of a difference and a factor is rounded to an integer.

    `high`: the product loses 31 bits first, and what is left of the shift is a second rounding. `precision`: it is a
    floating-point number, which `number` gives of the difference, the factor and the inputs after the first.
    """

    id: str
    sentence: str
    cause: str
    high: bool = False
    precision: Precision | None = None
    number: Callable[[Array, Factor, tuple[Array, ...], Precision], Array] | None = None


def product_with_ratio(values: Array, factor: Factor, others: tuple[Array, ...], precision: Precision) -> Array:
    ratio = precision.dtype.type(float(Fraction(factor.over, factor.under)))
    return np.asarray(values.astype(precision.dtype) * ratio)


ONCE = ProductPosition("once", "the whole product is divided once", "rounding-mode:SINGLE_ROUND")
AT_31 = (
    ProductPosition(  # with ties upward and then away from zero it is TOSA's DOUBLE_ROUND: 2^30 more before one shift
        "at-31",
        "the product loses 31 bits and is rounded; the rest of the shift rounds again",
        "rounding-mode:DOUBLE_ROUND",
        high=True,
    )
)
IN_FLOAT32, IN_FLOAT64 = (
    ProductPosition(
        one.id,
        f"difference, factor and product are rounded to {one.id}",
        f"factor-product-in:{one.id}",
        precision=one,
        number=product_with_ratio,
    )
    for one in (FLOAT32, FLOAT64)
)


@dataclass(frozen=True, eq=False)
class FactorOf:
    """How a factor comes of the inputs after the first.

    `has_shift`: over a power of two, by which may be shifted twice. `is_real`: a floating-point number may hold it.
    `plain`: a document has it.
    """

    id: str
    sentence: str
    of: Callable[[tuple[Array, ...]], Factor]
    cause: str = ""
    has_shift: bool = True
    is_real: bool = True
    plain: bool = True


class ScalingCombination(NamedTuple):
    """One value of each facet. `factor` is the operator's own."""

    reading: SignReading
    factor: FactorOf
    position: ProductPosition
    round_mode: RoundMode
    second_rounding: SecondRounding
    zero_point: OutputPoint
    saturation: Ends
