"""The nine rounding modes of nGraph's Quantize, as functions on exact rational numbers.

Source: nGraph documentation, ops/quantize.rst, section Attributes, `round_mode`. Each function takes the exact real
argument of round and returns an integer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

HALF = Fraction(1, 2)


def toward_infinity(q: Fraction) -> int:
    """Away from zero."""
    return math.ceil(q) if q > 0 else math.floor(q)


def toward_zero(q: Fraction) -> int:
    return math.floor(q) if q > 0 else math.ceil(q)


def nearest_toward_infinity(q: Fraction) -> int:
    """Nearest; the one further from zero where two are equally near."""
    return math.floor(q + HALF) if q > 0 else math.ceil(q - HALF)


def nearest_toward_zero(q: Fraction) -> int:
    return math.ceil(q - HALF) if q > 0 else math.floor(q + HALF)


def nearest_upward(q: Fraction) -> int:
    return math.floor(q + HALF)


def nearest_downward(q: Fraction) -> int:
    return math.ceil(q - HALF)


def nearest_toward_even(q: Fraction) -> int:
    below, above = math.ceil(q - HALF), math.floor(q + HALF)
    return below if below % 2 == 0 else above


ROUND_MODES: dict[str, Callable[[Fraction], int]] = {
    "ROUND_NEAREST_TOWARD_INFINITY": nearest_toward_infinity,
    "ROUND_NEAREST_TOWARD_ZERO": nearest_toward_zero,
    "ROUND_NEAREST_UPWARD": nearest_upward,
    "ROUND_NEAREST_DOWNWARD": nearest_downward,
    "ROUND_NEAREST_TOWARD_EVEN": nearest_toward_even,
    "ROUND_TOWARD_INFINITY": toward_infinity,
    "ROUND_TOWARD_ZERO": toward_zero,
    "ROUND_UP": math.ceil,
    "ROUND_DOWN": math.floor,
}

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
    """`ROUND_NEAREST_TOWARD_EVEN` as `NEAREST_TOWARD_EVEN`: what fits a column."""
    return mode.removeprefix("ROUND_")


def is_nearest(mode: str) -> bool:
    return mode.startswith("ROUND_NEAREST_")
