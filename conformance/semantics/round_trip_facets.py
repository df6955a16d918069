"""The facets of a round trip by a factor, as black boxes compute QuantizeAndDequantizeV2, V3 and V4.

Let low and high be the range, lowest and highest the integers at its ends. One *side* (low or high) and its integer
determine the factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.places import as_type, flush_subnormals, fused_multiply_add
from tiebreak.conformance.semantics.precisions import PRECISIONS, Precision
from tiebreak.conformance.semantics.round_modes import FLOOR, MODES, RoundMode
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class RoundedStep:
    """What becomes of the result of each step: it is rounded to the working precision.

    With a `tiny`, the exponent of the precision's smallest normal number, what is subnormal then becomes 0.
    """

    dtype: np.dtype[np.floating]
    tiny: int | None = None

    def __call__(self, values: Array) -> Array:
        found = as_type(values, self.dtype)
        return found if self.tiny is None else flush_subnormals(found, self.tiny)

    def fused(self, a: Array, b: Array, added: Array) -> Array:
        """a * b + added, rounded once."""
        return self(fused_multiply_add(a, b, added.astype(np.float64), self.dtype))


@dataclass(frozen=True, eq=False)
class FakeSubnormals:
    """`flushes`: the operands and the result. `steps`: the result of each step, too."""

    id: str
    sentence: str
    flushes: bool
    steps: bool = False
    cause: str = ""

    def step_in(self, precision: Precision) -> RoundedStep:
        return RoundedStep(precision.dtype, precision.type.emin if self.steps else None)

    def flushed(self, values: Array, emin: int) -> Array:
        """Operands or results, of whose type `emin` is the exponent of the smallest normal number."""
        return flush_subnormals(values, emin) if self.flushes else values


KEPT = FakeSubnormals("kept", "subnormal numbers are numbers", flushes=False)
FLUSHED = FakeSubnormals("flushed", "subnormal inputs and results count as 0", flushes=True, cause="flushes")
STEPS_FLUSHED = FakeSubnormals(
    "steps-flushed",
    "subnormal inputs and results of every step count as 0",
    flushes=True,
    steps=True,
    cause="flushes-every-step",
)


class RangeAndIntegers(NamedTuple):
    """A range and the integers at its ends, rounded to the working precision."""

    low: Array
    high: Array
    lowest: Array
    highest: Array


class SideFactor(NamedTuple):
    """The factor, and the side and the integer that it is made of; NaN if no side of the range is left.

    `of_low`: it is the lower side.
    """

    factor: Array
    side: Array
    integer: Array
    of_low: bool


@dataclass(frozen=True, eq=False)
class SideChoice:
    """Which side of the range determines the factor. `both`: one size stands for both sides."""

    id: str
    sentence: str
    of: Callable[[RoundedStep, RangeAndIntegers], SideFactor]
    cause: str = ""
    both: bool = False


def factors(s: RoundedStep, r: RangeAndIntegers) -> tuple[SideFactor | None, SideFactor | None]:
    """What each side gives that has integers."""
    lower = SideFactor(s(r.lowest / r.low), r.low, r.lowest, of_low=True) if r.low < 0 and r.lowest < 0 else None
    upper = SideFactor(s(r.highest / r.high), r.high, r.highest, of_low=False) if r.high > 0 else None
    return lower, upper


def smaller_factor(s: RoundedStep, r: RangeAndIntegers) -> SideFactor:
    lower, upper = factors(s, r)
    if lower is None or upper is None:
        return lower or upper or SideFactor(s(np.asarray(np.nan)), r.high, r.highest, of_low=False)
    return lower if lower.factor < upper.factor else upper


def greater_factor(s: RoundedStep, r: RangeAndIntegers) -> SideFactor:
    lower, upper = factors(s, r)
    if lower is None or upper is None:
        return smaller_factor(s, r)
    return lower if lower.factor > upper.factor else upper


def of_one_size(s: RoundedStep, r: RangeAndIntegers) -> SideFactor:
    size = np.maximum(np.abs(r.low), np.abs(r.high))
    if not size:
        return smaller_factor(s, r)
    return SideFactor(s(r.highest / size), size, r.highest, of_low=False)


SMALLER = SideChoice("smaller-factor", "the side with the smaller factor", smaller_factor)
SIDES = (
    SMALLER,
    SideChoice("greater-factor", "the side with the greater factor", greater_factor, "greater-factor"),
    SideChoice(
        "one-size",
        "the greater magnitude of both sides; x is clamped to what both last integers stand for",
        of_one_size,
        "one-size-for-both-sides",
        both=True,
    ),
)


@dataclass(frozen=True, eq=False)
class FactorStep:
    """How a number becomes the argument of round, or an integer a number: `of` takes either and the factor.

    `makes_step`: it has a step or a reciprocal of its own, which may be subnormal.
    """

    id: str
    sentence: str
    of: Callable[[RoundedStep, Array, SideFactor], Array]
    cause: str = ""
    makes_step: bool = False


def times_factor(s: RoundedStep, x: Array, by: SideFactor) -> Array:
    return s(x * by.factor)


def over_step(s: RoundedStep, x: Array, by: SideFactor) -> Array:
    return s(x / s(by.side / by.integer))


def times_integer(s: RoundedStep, x: Array, by: SideFactor) -> Array:
    return s(s(x * by.integer) / by.side)


def plus_half(s: RoundedStep, x: Array, by: SideFactor) -> Array:
    """A number (float64) that ties upward take where the floor of a half more is, product and sum rounded once."""
    total: Array = s.fused(x, by.factor, np.asarray(0.5)).astype(np.float64)
    return total - 0.5


def over_factor(s: RoundedStep, whole: Array, by: SideFactor) -> Array:
    return s(whole / by.factor)


def times_step(s: RoundedStep, whole: Array, by: SideFactor) -> Array:
    return s(whole * s(by.side / by.integer))


def times_reciprocal(s: RoundedStep, whole: Array, by: SideFactor) -> Array:
    return s(whole * s(np.ones((), s.dtype) / by.factor))


def times_side(s: RoundedStep, whole: Array, by: SideFactor) -> Array:
    return s(s(whole * by.side) / by.integer)


TIMES = FactorStep("times-factor", "times the factor", times_factor)
TIMES_INTEGER = FactorStep("times-integer", "times the integer, over the side", times_integer, "integer-before-side")
HALF_FUSED = FactorStep(
    "times-factor-fused",
    "times the factor plus a half, rounded once (fma), of which the floor is taken",
    plus_half,
    "floor-of-half-more:product and half fused",
)
FORTH = (
    TIMES,
    HALF_FUSED,
    FactorStep("over-step", "over the step: the side over its integer", over_step, "divides-by-step", True),
    TIMES_INTEGER,
)
OVER = FactorStep("over-factor", "the integer over the factor", over_factor)
BACK = (
    OVER,
    FactorStep(
        "times-step", "the integer times the step: the side over its integer", times_step, "side-over-integer", True
    ),
    FactorStep(
        "times-reciprocal", "the integer times the reciprocal of the factor", times_reciprocal, "one-over-factor", True
    ),
    FactorStep("times-side", "the integer times the side, over its integer", times_side, "side-before-integer"),
)


@dataclass(frozen=True, eq=False)
class RangeClamp:
    """What is clamped to what. `ends`: x to these ends. `whole`: the rounded number to the integers."""

    id: str
    sentence: str
    ends: Callable[[RangeAndIntegers, SideFactor, Callable[[Array], Array]], tuple[Array, Array] | None]
    cause: str = ""
    whole: bool = False


def updated(r: RangeAndIntegers, by: SideFactor, back: Callable[[Array], Array]) -> tuple[Array, Array]:
    return (r.low, back(r.highest)) if by.of_low else (back(r.lowest), r.high)


def given(r: RangeAndIntegers, by: SideFactor, back: Callable[[Array], Array]) -> tuple[Array, Array]:
    return r.low, r.high


def none(r: RangeAndIntegers, by: SideFactor, back: Callable[[Array], Array]) -> None:
    return None


UPDATED = RangeClamp(
    "updated",
    "x to the range whose other end is the last integer, or rounded numbers to the integers where that is the same",
    updated,
)
OF_INTEGERS = RangeClamp("integers", "the rounded number to the integers", none, "clamps-rounded-number", whole=True)
CLAMPS = (
    UPDATED,
    RangeClamp("given", "x to the range as it is given", given, "clamps-before-update"),
    OF_INTEGERS,
    RangeClamp("none", "nothing is clamped", none, "does-not-clamp"),
)


@dataclass(frozen=True, eq=False)
class LowestInteger:
    """Which integer stands at the lower end. `other`: as if narrow_range were the other way."""

    id: str
    sentence: str
    other: bool = False
    cause: str = ""


AS_SAID = LowestInteger("as-said", "the lowest integer is what narrow_range says")
OTHER_WAY = LowestInteger("other-way", "the lowest integer is the one that narrow_range excludes, or takes", True,
                          "ignores:narrow_range")  # fmt: skip


class RoundTripCombination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    side: SideChoice
    lowest: LowestInteger
    clamp: RangeClamp
    forth: FactorStep
    back: FactorStep
    round_mode: RoundMode
    subnormals: FakeSubnormals


NEVER_NEGATIVE = (  # with unsigned integers every other mode equals one of these
    *("ROUND_NEAREST_TOWARD_EVEN", "ROUND_NEAREST_UPWARD", "ROUND_NEAREST_DOWNWARD", "ROUND_UP", "ROUND_DOWN"),
)


def facets_of(*, signed: bool) -> tuple[Facet, ...]:
    """Unsigned integers have one side, which nothing updates."""
    modes = MODES if signed else NEVER_NEGATIVE
    return (
        Facet("precision", PRECISIONS),
        Facet("side", SIDES if signed else SIDES[:1]),
        Facet("lowest", (AS_SAID, OTHER_WAY) if signed else (AS_SAID,)),
        Facet("clamp", CLAMPS if signed else (UPDATED, *CLAMPS[2:])),
        Facet("forth", FORTH),
        Facet("back", BACK),
        Facet("round_mode", (*(MODES[name] for name in modes), FLOOR)),
        Facet("subnormals", (KEPT, FLUSHED, STEPS_FLUSHED)),
    )
