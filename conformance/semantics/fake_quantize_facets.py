"""The facets of FakeQuantize as black boxes compute it, each value with its own steps.

Let low and high be the input's limits, first and last the output's, and n the number of levels less one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.places import as_type, flush_subnormals, fused_multiply_add
from tiebreak.conformance.semantics.precisions import PRECISIONS, Precision
from tiebreak.conformance.semantics.round_modes import NEVER_NEGATIVE, RoundMode
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
class Range:
    """`limits` gives the input's limits that are used, from those that are given and n."""

    id: str
    sentence: str
    limits: Callable[[RoundedStep, Array, Array, Array], tuple[Array, Array]]
    cause: str = ""


def as_given(s: RoundedStep, low: Array, high: Array, n: Array) -> tuple[Array, Array]:
    return low, high


def nudged_by(whole: Callable[[Array], Array]) -> Callable[[RoundedStep, Array, Array, Array], tuple[Array, Array]]:
    """The limits shifted so that 0 is a level; `whole` takes its place amid levels to one of them."""

    def limits(s: RoundedStep, low: Array, high: Array, n: Array) -> tuple[Array, Array]:
        step = s(s(high - low) / n)
        zero = s(np.clip(whole((-low / step).astype(np.float64)), 0, float(n)))
        return s(-zero * step), s(s(n - zero) * step)

    return limits


def half_up(place: Array) -> Array:
    return np.floor(place + 0.5)


GIVEN = Range("as-given", "the limits are taken as they are", as_given)
NUDGED = Range(
    "nudged",
    "the input's limits are shifted so that 0 is a level, as TensorFlow's FakeQuant does",
    nudged_by(half_up),
    "nudges-range",
)
NUDGED_TO_EVEN = Range(
    "nudged-to-even",
    "the same, but 0's place amid two levels goes to the even one, not up",
    nudged_by(np.rint),
    "range:nudged, ties to even",
)


@dataclass(frozen=True, eq=False)
class LimitEnds:
    """What becomes of x beyond the limits. `selects`: first or last, without arithmetic."""

    id: str
    sentence: str
    selects: bool
    cause: str = ""


SELECTED = LimitEnds("selected", "x up to low gives first, x above high last, without arithmetic", selects=True)
CLAMPED = LimitEnds(
    "clamped",
    "x is clamped to the limits and goes through the arithmetic",
    selects=False,
    cause="clamped-goes-through",
)


@dataclass(frozen=True, eq=False)
class Position:
    """`of` gives the place of x amid the levels, from x, low, high and n. `fused`: its last two steps are one."""

    id: str
    sentence: str
    of: Callable[[RoundedStep, Array, Array, Array, Array], Array]
    cause: str = ""
    fused: bool = False
    in_advance: bool = False  # one product and one sum, with a factor and a shift computed in advance


def divide_multiply(s: RoundedStep, x: Array, low: Array, high: Array, n: Array) -> Array:
    return s(s(s(x - low) / s(high - low)) * n)


def multiply_divide(s: RoundedStep, x: Array, low: Array, high: Array, n: Array) -> Array:
    return s(s(s(x - low) * n) / s(high - low))


def by_step(s: RoundedStep, x: Array, low: Array, high: Array, n: Array) -> Array:
    return s(s(x - low) / s(s(high - low) / n))


def by_factor(s: RoundedStep, x: Array, low: Array, high: Array, n: Array) -> Array:
    return s(s(x - low) * s(n / s(high - low)))


def by_reciprocal_of_step(s: RoundedStep, x: Array, low: Array, high: Array, n: Array) -> Array:
    return s(s(x - low) * s(np.ones((), s.dtype) / s(s(high - low) / n)))


def by_factor_and_shift(s: RoundedStep, x: Array, low: Array, high: Array, n: Array) -> Array:
    factor = s(n / s(high - low))
    return s(s(x * factor) + s(-low * factor))


def fused_with_shift(s: RoundedStep, x: Array, low: Array, high: Array, n: Array) -> Array:
    factor = s(n / s(high - low))
    return s.fused(x, factor, s(-low * factor))


POSITIONS = (
    SPEC_POSITION := Position("divide-multiply", "(x - low) / (high - low) * n", divide_multiply),
    Position("multiply-divide", "(x - low) * n / (high - low)", multiply_divide, "position:multiply, divide"),
    Position("step", "(x - low) / ((high - low) / n)", by_step, "position:step"),
    Position("factor", "(x - low) * (n / (high - low))", by_factor, "position:factor"),
    Position(
        "reciprocal-of-step",
        "(x - low) * (1 / ((high - low) / n))",
        by_reciprocal_of_step,
        "position:reciprocal of step",
    ),
    FACTOR_AND_SHIFT := Position(
        "factor-and-shift",
        "x * f - low * f, with f = n / (high - low)",
        by_factor_and_shift,
        "position:factor and shift",
        in_advance=True,
    ),
    FUSED_POSITION := Position(
        "fused",
        "the same, the product and the sum rounded once (fma)",
        fused_with_shift,
        "position:fused",
        fused=True,
        in_advance=True,
    ),
)


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


@dataclass(frozen=True, eq=False)
class OutputLimits:
    """`steps`: the output's limits are computed again from a scale and a zero point of so many steps; 0: as given."""

    id: str
    sentence: str
    steps: int
    cause: str = ""

    def rebuilt(self, s: RoundedStep, first: Array, last: Array) -> tuple[Array, Array]:
        if not self.steps:
            return first, last
        width, whole = s(last - first), s(np.asarray(self.steps))
        step, zero = s(width / whole), s(s(-whole * first) / width)
        return s(-zero * step), s(s(whole - zero) * step)


GIVEN_OUTPUT = OutputLimits("as-given", "first and last are taken as they are", 0)
OF_8_BITS = OutputLimits(
    "of-8-bits",
    "first and last become -z * s and (255 - z) * s, each step rounded, with "
    "s = (last - first) / 255 and z = -255 * first / (last - first)",
    255,
    "rebuilds-limits:8 bits",
)
OF_4_BITS = OutputLimits("of-4-bits", "the same with 15 for 255", 15, "rebuilds-limits:4 bits")


@dataclass(frozen=True, eq=False)
class Result:
    """`of` gives what a level stands for, from the level, first, last and n. `fused`: its last two steps are one."""

    id: str
    sentence: str
    of: Callable[[RoundedStep, Array, Array, Array, Array], Array]
    cause: str = ""
    fused: bool = False
    in_advance: bool = False  # one product and one sum, with a step computed in advance


def level_divided(s: RoundedStep, level: Array, first: Array, last: Array, n: Array) -> Array:
    return s(s(s(level / n) * s(last - first)) + first)


def level_multiplied(s: RoundedStep, level: Array, first: Array, last: Array, n: Array) -> Array:
    return s(s(s(level * s(last - first)) / n) + first)


def level_times_step(s: RoundedStep, level: Array, first: Array, last: Array, n: Array) -> Array:
    return s(s(level * s(s(last - first) / n)) + first)


def level_times_step_fused(s: RoundedStep, level: Array, first: Array, last: Array, n: Array) -> Array:
    return s.fused(level, s(s(last - first) / n), first)


RESULTS = (
    SPEC_RESULT := Result("divide-multiply", "level / n * (last - first) + first", level_divided),
    Result("multiply-divide", "level * (last - first) / n + first", level_multiplied, "result:multiply, divide"),
    STEP_RESULT := Result(
        "step", "level * ((last - first) / n) + first", level_times_step, "result:step", in_advance=True
    ),
    FUSED_RESULT := Result(
        "fused",
        "the same, the product and the sum rounded once (fma)",
        level_times_step_fused,
        "result:fused",
        fused=True,
        in_advance=True,
    ),
)


class FakeQuantizeCombination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    range: Range
    ends: LimitEnds
    position: Position
    round_mode: RoundMode
    subnormals: FakeSubnormals
    output_limits: OutputLimits
    result: Result


FACETS = (
    Facet("precision", PRECISIONS),
    Facet("range", (GIVEN, NUDGED, NUDGED_TO_EVEN)),
    Facet("ends", (SELECTED, CLAMPED)),
    Facet("position", POSITIONS),
    Facet("round_mode", NEVER_NEGATIVE),
    Facet("subnormals", (KEPT, FLUSHED, STEPS_FLUSHED)),
    Facet("output_limits", (GIVEN_OUTPUT, OF_8_BITS, OF_4_BITS)),
    Facet("result", RESULTS),
)


@dataclass(frozen=True, eq=False)
class SpecialOutput:
    """What NaN or an infinity gives: a `value` made of first and last, or what the largest finite number gives.

    That is the number of its own sign, or of the sign `like`.
    """

    id: str
    sentence: str
    value: Callable[[Array, Array], Array | float] | None = None
    like: bytes = b""
    cause: str = ""


ENDS = (
    SpecialOutput("output-low", "output_low", lambda first, last: first),
    SpecialOutput("output-high", "output_high", lambda first, last: last),
    SpecialOutput("nan", "NaN", lambda first, last: np.nan),
    SpecialOutput("zero", "0", lambda first, last: 0.0),
    SpecialOutput("as-large-numbers", "what the largest finite number of that sign gives"),
)
AS_LOWEST = SpecialOutput("as-lowest-number", "what the most negative finite number gives", like=b"-")
SPECIALS = (
    Facet("nan", (*ENDS, AS_LOWEST)),
    Facet("positive_infinity", ENDS),
    Facet("negative_infinity", ENDS),
)
