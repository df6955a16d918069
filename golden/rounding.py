"""The nine rounding modes of nGraph's Quantize, as functions on exact rational numbers.

Five modes round to the nearest integer and differ only on a tie, an argument halfway between two integers. The other
four are directed: they always go the same way, however near the other integer is.

Source: nGraph documentation, ops/quantize.rst, section Attributes, `round_mode`. Each function takes the exact real
argument of round and returns an integer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

HALF = Fraction(1, 2)


def nearest_toward_infinity(q: Fraction) -> int:
    """To nearest, ties away from zero."""
    return math.floor(q + HALF) if q > 0 else math.ceil(q - HALF)  # NGQ-R1


def nearest_toward_zero(q: Fraction) -> int:
    """To nearest, ties toward zero."""
    return math.ceil(q - HALF) if q > 0 else math.floor(q + HALF)  # NGQ-R2


def nearest_upward(q: Fraction) -> int:
    """To nearest, ties to the greater integer."""
    return math.floor(q + HALF)  # NGQ-R3


def nearest_downward(q: Fraction) -> int:
    """To nearest, ties to the smaller integer."""
    return math.ceil(q - HALF)  # NGQ-R4


def nearest_toward_even(q: Fraction) -> int:
    """To nearest, ties to the even integer. The two candidates differ on a tie only."""
    below, above = math.ceil(q - HALF), math.floor(q + HALF)
    return below if below % 2 == 0 else above  # NGQ-R5


def toward_infinity(q: Fraction) -> int:
    """Away from zero."""
    return math.ceil(q) if q > 0 else math.floor(q)  # NGQ-R6


def toward_zero(q: Fraction) -> int:
    """Truncation."""
    return math.floor(q) if q > 0 else math.ceil(q)  # NGQ-R7


ROUND_MODES: dict[str, Callable[[Fraction], int]] = {
    "ROUND_NEAREST_TOWARD_INFINITY": nearest_toward_infinity,
    "ROUND_NEAREST_TOWARD_ZERO": nearest_toward_zero,
    "ROUND_NEAREST_UPWARD": nearest_upward,
    "ROUND_NEAREST_DOWNWARD": nearest_downward,
    "ROUND_NEAREST_TOWARD_EVEN": nearest_toward_even,
    "ROUND_TOWARD_INFINITY": toward_infinity,
    "ROUND_TOWARD_ZERO": toward_zero,
    "ROUND_UP": math.ceil,  # NGQ-R8
    "ROUND_DOWN": math.floor,  # NGQ-R9
}

EVEN = "ROUND_NEAREST_TOWARD_EVEN"
# The modes that round to the nearest integer, the usual one first.
NEAREST = (
    EVEN,
    "ROUND_NEAREST_TOWARD_INFINITY",
    "ROUND_NEAREST_TOWARD_ZERO",
    "ROUND_NEAREST_UPWARD",
    "ROUND_NEAREST_DOWNWARD",
)

DEFINITIONS = {
    "ROUND_NEAREST_TOWARD_INFINITY": "nearest integer; of two equally near, the one further from zero",
    "ROUND_NEAREST_TOWARD_ZERO": "nearest integer; of two equally near, the one nearer to zero",
    "ROUND_NEAREST_UPWARD": "nearest integer; of two equally near, the greater",
    "ROUND_NEAREST_DOWNWARD": "nearest integer; of two equally near, the smaller",
    "ROUND_NEAREST_TOWARD_EVEN": "nearest integer; of two equally near, the even one",
    "ROUND_TOWARD_INFINITY": "the integer away from zero",
    "ROUND_TOWARD_ZERO": "the integer toward zero (truncation)",
    "ROUND_UP": "the integer toward positive infinity (ceiling)",
    "ROUND_DOWN": "the integer toward negative infinity (floor)",
}


def short_mode(mode: str) -> str:
    """The name without `ROUND_`, short enough for a column: `NEAREST_TOWARD_EVEN`."""
    return mode.removeprefix("ROUND_")


def is_nearest(mode: str) -> bool:
    return mode.startswith("ROUND_NEAREST_")
