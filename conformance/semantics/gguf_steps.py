"""Facets of blocks with a float16 scale, as GGUF has them: the number that decides, the step d, and x over d.

The first number of greatest magnitude decides, with its sign in Q4_0. Unless a facet says something else, each step is
rounded to float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.round_modes import EVERY, MODES, RoundMode, SumWithHalf
from tiebreak.golden.operators.gguf_quantize import DIVISORS
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

NIBBLE = "uint4"  # the elements of Q4_0
SINGLE = np.float32
ONE, HALF_MORE, ZERO_ELEMENT = SINGLE(1), SINGLE(8.5), 8

# The number that decides: of the first number and a later one


def first_of_equals(one: Array, later: Array) -> Array:
    return np.where(np.abs(later) > np.abs(one), later, one)


def last_of_equals(one: Array, later: Array) -> Array:
    return np.where(np.abs(later) >= np.abs(one), later, one)


def positive_of_equals(one: Array, later: Array) -> Array:
    return np.where(np.abs(later) == np.abs(one), np.maximum(one, later), first_of_equals(one, later))


def negative_of_equals(one: Array, later: Array) -> Array:
    return np.where(np.abs(later) == np.abs(one), np.minimum(one, later), first_of_equals(one, later))


def without_magnitude(one: Array, later: Array) -> Array:
    """The rest of a block is 0."""
    return np.maximum(np.maximum(one, later), SINGLE(0))


FIRST = StepRule("first", "the first number of greatest magnitude decides", first_of_equals)
WITHOUT_MAGNITUDE = StepRule(
    "largest", "the largest number decides, whatever magnitude others have", without_magnitude,
    "amax-of:the values without their magnitudes",
)  # fmt: skip
EQUALS = (
    StepRule("last", "the last number of greatest magnitude decides", last_of_equals, "last-of-equals"),
    StepRule("positive", "of numbers of greatest magnitude a positive one decides", positive_of_equals,
             "positive-of-equals"),
    StepRule("negative", "of numbers of greatest magnitude a negative one decides", negative_of_equals,
             "negative-of-equals"),
)  # fmt: skip


# What the number that decides is divided by


@dataclass(frozen=True, eq=False)
class Divisor:
    """`of` gives, from the number that decides, dividend and divisor of d (both float32)."""

    id: str
    sentence: str
    of: Callable[[Array], tuple[Array, Any]]
    cause: str = ""


def magnitude_over(number: int) -> Callable[[Array], tuple[Array, Any]]:
    return lambda top: (np.abs(top), SINGLE(number))


def signed_over(number: int) -> Callable[[Array], tuple[Array, Any]]:
    return lambda top: (top, SINGLE(number))


OTHER_DIVISOR = "step-divisor:128, of Q4_0 by -7"
BYTE_DIVISORS = (
    Divisor("127", "d is the greatest magnitude / 127", magnitude_over(DIVISORS["int8"])),
    Divisor("128", "d is the greatest magnitude / 128", magnitude_over(128), OTHER_DIVISOR),
)
NIBBLE_DIVISORS = (
    Divisor("-8", "d is the number that decides / -8", signed_over(DIVISORS[NIBBLE])),
    WITHOUT_SIGN := Divisor("8", "d is the greatest magnitude / 8", magnitude_over(8), "step-without-sign"),
    Divisor("-7", "d is the number that decides / -7", signed_over(-7), OTHER_DIVISOR),
)

# The step d, which becomes float16. An exact x / 127 is no other way: none lies so near to a tie that float32 hides it

QUOTIENT = StepRule("divide", "the quotient is rounded to float32", lambda top, by: top / by)
WAYS_TO_STEP = (
    QUOTIENT,
    StepRule("reciprocal", "the rounded 1 / 127 multiplies", lambda top, by: top * (ONE / by), "step-times-reciprocal"),
)  # fmt: skip

# The numbers of a block


def as_it_is(x: Array) -> Array:
    return x


def through(kind: Any) -> Callable[[Array], Array]:
    return lambda x: np.asarray(x.astype(kind).astype(SINGLE))


INPUT_KEPT = StepRule("kept", "numbers are taken as they are", as_it_is)
INPUTS = (
    INPUT_KEPT,
    StepRule("bfloat16", "every number is rounded to bfloat16 first", through(ml_dtypes.bfloat16), "x-in:bfloat16"),
    StepRule("float16", "every number is rounded to float16 first", through(np.float16), "x-in:float16"),
)

# x over d


class StepOperands(NamedTuple):
    """Dividend and divisor of d and the scale that was put out, all in the working precision."""

    top: Array
    by: Array
    stored: Array

    @property
    def step(self) -> Array:
        return np.asarray(self.top / self.by)


@dataclass(frozen=True, eq=False)
class WayOverStep:
    """`factor` multiplies x, or divides it, if it `divides`; `of_stored`: it is made of the scale that was put out."""

    id: str
    sentence: str
    factor: Callable[[StepOperands], Array]
    cause: str = ""
    divides: bool = False
    of_stored: bool = False


TIMES_RECIPROCAL = WayOverStep("reciprocal", "x * (1 / d)", lambda o: o.step.dtype.type(1) / o.step)
OVER_GREATEST = WayOverStep(
    "over-amax", "x * (divisor / the number that decides)", lambda o: o.by / o.top, "factor-over-amax"
)
OVER_STEP = WayOverStep("divide", "x / d", lambda o: o.step, "divides-by-scale", divides=True)
STORED = (
    WayOverStep("stored-reciprocal", "x * (1 / the float16 scale)", lambda o: o.stored.dtype.type(1) / o.stored,
                "reciprocal-of-stored-scale", of_stored=True),
    WayOverStep("divide-by-stored", "x / the float16 scale", lambda o: o.stored, "divides-by-stored-scale",
                divides=True, of_stored=True),
)  # fmt: skip
WAYS_OVER_STEP = (TIMES_RECIPROCAL, OVER_GREATEST, OVER_STEP, *STORED)
PRODUCT_KEPT = Precision("product-not-rounded", "d and 1 / d are float32, x * (1 / d) is not rounded", "product-kept")
PRECISIONS = (FLOAT32, PRODUCT_KEPT, FLOAT64)

# The integer

CUT_OFF = RoundMode(
    "adds-8.5-and-truncates",
    "8.5 is added in float32, and the sum cut off",
    sum=SumWithHalf(lambda values: np.full(values.shape, HALF_MORE), lambda total: np.trunc(total) - ZERO_ELEMENT),
)
AWAY = MODES["ROUND_NEAREST_TOWARD_INFINITY"]
BYTE_MODES = (AWAY, *(mode for mode in EVERY if mode is not AWAY))
NIBBLE_MODES = (CUT_OFF, MODES[EVEN], *(mode for mode in EVERY if mode is not MODES[EVEN]))
CLAMPED = StepRule("saturate", "what is beyond the largest element becomes it", as_it_is)
ENDS = (CLAMPED, StepRule("wrap", "what is beyond the largest element wraps around", as_it_is, "elements-wrap"))


def is_nibble(kind: str) -> bool:
    return kind == NIBBLE


@cache
def scale_facets(kind: str) -> tuple[Facet, ...]:
    """The ways to d, of blocks whose elements have a type."""
    return (
        Facet("input", (INPUT_KEPT, INPUTS[2]) if is_nibble(kind) else INPUTS),  # x / -8 has x's bits
        Facet("amax", (FIRST, *(EQUALS if is_nibble(kind) else ()), WITHOUT_MAGNITUDE)),
        Facet("divisor", NIBBLE_DIVISORS if is_nibble(kind) else BYTE_DIVISORS),
        Facet("scaling", WAYS_TO_STEP[:1] if is_nibble(kind) else WAYS_TO_STEP),
    )


@cache
def element_facets(kind: str) -> tuple[Facet, ...]:
    """The ways from x to an element of a type."""
    return (
        Facet("input", INPUTS),
        Facet("divisor", NIBBLE_DIVISORS if is_nibble(kind) else BYTE_DIVISORS),
        Facet("scaling", WAYS_OVER_STEP),
        Facet("precision", PRECISIONS),
        Facet("round_mode", NIBBLE_MODES if is_nibble(kind) else BYTE_MODES),
        Facet("saturation", ENDS),
    )
