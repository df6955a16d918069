"""Arithmetic on arrays of float64: what a step lacks to its exact result, and how numbers are rounded.

A sum, product or quotient is a pair: the float64 nearest to it, and what is missing. To round such a pair to fewer
digits gives what rounding the exact number does.
"""

from __future__ import annotations

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.problem import Array

DOUBLE = FLOAT_TYPES["float64"]
SPLITTER = float((1 << 27) + 1)


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """A sum rounded to float64, and the exact rest (Knuth)."""
    total = a + b
    part = total - a
    return total, known((a - (total - part)) + (b - part))


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """A product rounded to float64, and the exact rest (Dekker); of what overflows or underflows no rest."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    return product, known(((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)


def two_quotient(a: Array, b: Array) -> tuple[Array, Array]:
    """A quotient rounded to float64, and a number of the sign of the exact rest; b is not negative."""
    quotient = a / b
    product, rest = two_product(quotient, b)
    return quotient, known((a - product) - rest)


def halves(a: Array) -> tuple[Array, Array]:
    scaled = a * SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def known(rest: Array) -> Array:
    return np.where(np.isfinite(rest), rest, 0.0)


def to_odd(value: Array, rest: Array) -> Array:
    """value + rest, cut to float64 so that a second rounding, to fewer bits, gives what one rounding would.

    Of the two numbers around what is inexact it is the one with an odd significand (Boldo and Melquiond, 2008).
    """
    even = (value.view(np.int64) & 1) == 0
    toward = np.where(rest > 0, np.inf, -np.inf)
    return np.where((rest != 0) & even & np.isfinite(value), np.nextafter(value, toward), value)


def rounded(value: Array, kind: FloatType) -> Array:
    """float64 numbers rounded to the nearest of a narrower type, ties to even; beyond its largest they are infinite."""
    if kind == DOUBLE:
        return value
    exponent = np.maximum(np.frexp(np.where(np.isfinite(value), value, 1.0))[1], kind.emin + 1)
    found = np.ldexp(np.rint(np.ldexp(value, kind.precision - exponent)), exponent - kind.precision)
    limit = float(np.ldexp(1.0, kind.emax + 1))
    return np.where(np.abs(found) >= limit, np.copysign(np.inf, value), np.where(np.isfinite(value), found, value))


def round_array(q: Array, mode: str) -> Array:
    """Round float64 values to integers by one of the nine modes."""
    if mode in ("ROUND_UP", "ROUND_DOWN"):
        return np.ceil(q) if mode == "ROUND_UP" else np.floor(q)
    if mode in ("ROUND_TOWARD_ZERO", "ROUND_TOWARD_INFINITY"):
        return np.trunc(q) if mode == "ROUND_TOWARD_ZERO" else np.copysign(np.ceil(np.abs(q)), q)
    magnitude, negative = np.abs(q), q < 0
    whole = np.floor(magnitude)
    fraction = magnitude - whole  # exact, which q - floor(q) is not just above -1/2
    away = {
        "ROUND_NEAREST_TOWARD_INFINITY": np.ones_like(negative),
        "ROUND_NEAREST_TOWARD_ZERO": np.zeros_like(negative),
        "ROUND_NEAREST_UPWARD": ~negative,
        "ROUND_NEAREST_DOWNWARD": negative,
        "ROUND_NEAREST_TOWARD_EVEN": np.mod(whole, 2) == 1,
    }[mode]
    return np.asarray(np.copysign(whole + np.where(fraction == 0.5, away, fraction > 0.5), q))
