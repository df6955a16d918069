"""Where real numbers lie between integers, and the ways in which implementations round them, right or wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

FLOOR, TRUNCATE, AWAY = "floor(q + 0.5)", "trunc(q + 0.5)", "trunc(q + 0.5 sign(q))"
WORDS = {
    "ROUND_NEAREST_TOWARD_INFINITY": "to nearest, ties away from zero",
    "ROUND_NEAREST_TOWARD_ZERO": "to nearest, ties toward zero",
    "ROUND_NEAREST_UPWARD": "to nearest, ties up",
    "ROUND_NEAREST_DOWNWARD": "to nearest, ties down",
    EVEN: "to nearest, ties to even",
    "ROUND_TOWARD_INFINITY": "away from zero",
    "ROUND_TOWARD_ZERO": "toward zero: truncation, a cast to an integer",
    "ROUND_UP": "up: ceil",
    "ROUND_DOWN": "down: floor",
    FLOOR: "floor(q + 0.5), the sum rounded in the working precision",
    TRUNCATE: "a cast of q + 0.5 to an integer, the sum rounded in the working precision",
    AWAY: "0.5 added to the magnitude in the working precision, then truncation",
}
NEVER_NEGATIVE = (  # on numbers that are never negative, every other mode equals one of these
    EVEN,
    "ROUND_NEAREST_TOWARD_INFINITY",
    "ROUND_NEAREST_TOWARD_ZERO",
    "ROUND_UP",
    "ROUND_DOWN",
    FLOOR,
)


class Place(NamedTuple):
    """Where each number lies, of numbers that float64 does not hold (float64 arrays; `rest` is int64).

    `below` is the greatest integer not above the number. `rest` is 0 where the number is that integer, 1 where it is
    less than a half above it, 2 where exactly a half, 3 where more. `value` is the number itself, or NaN or infinite.
    """

    below: Array
    rest: Array
    value: Array


def rounded(values: Array, mode: str, precision: str) -> Array:
    """Whole numbers as float64; NaN and infinities stay. `mode`: one of ROUND_MODES, FLOOR, TRUNCATE or AWAY."""
    number = _steps.MODES.get(mode, _steps.SUMS.get((mode, precision)))
    if number is None:
        return round_by_adding_half(values, mode, precision)
    flat = np.ascontiguousarray(values, np.float64).reshape(-1)
    return _steps.rounded(flat, number).reshape(values.shape)


def round_place(place: Place, mode: str) -> Array:
    """Whole numbers as float64; NaN and infinities stay. `mode` is one of ROUND_MODES."""
    below, rest, value = place
    return np.asarray(np.where(np.isfinite(value), below + takes_integer_above(below, rest, mode), value))


def takes_integer_above(below: Array, rest: Array, mode: str) -> Array:
    """Whether one of the nine modes takes the integer above."""
    negative = below < 0
    tie: dict[str, Array | bool] = {
        "ROUND_NEAREST_TOWARD_INFINITY": ~negative,
        "ROUND_NEAREST_TOWARD_ZERO": negative,
        "ROUND_NEAREST_UPWARD": True,
        "ROUND_NEAREST_DOWNWARD": False,
        EVEN: np.mod(below, 2) == 1,
    }
    if mode in tie:
        return np.asarray((rest == 3) | np.logical_and(rest == 2, tie[mode]))
    directed: dict[str, Array | bool] = {
        "ROUND_TOWARD_INFINITY": ~negative,
        "ROUND_TOWARD_ZERO": negative,
        "ROUND_UP": True,
        "ROUND_DOWN": False,
    }
    return np.asarray(np.logical_and(rest > 0, directed[mode]))


def round_by_adding_half(value: Array, mode: str, precision: str) -> Array:
    dtype = numpy_dtype(precision)
    half = np.copysign(0.5, value) if mode == AWAY else np.full(value.shape, 0.5)
    total = (value.astype(dtype) + half.astype(dtype)).astype(dtype).astype(np.float64)
    return np.asarray(np.floor(total) if mode == FLOOR else np.trunc(total))


def fused_multiply_add(a: Array, b: Array, added: Array | float, dtype: np.dtype[np.floating]) -> Array:
    """a * b + added, rounded once to a type of at most 24 significand bits.

    The product is exact in float64. The sum is rounded to odd in float64, so that rounding it again does no harm.
    """
    product = np.asarray(a.astype(np.float64) * b.astype(np.float64))
    flat, added = np.ascontiguousarray(product).reshape(-1), np.asarray(added, np.float64).reshape(-1)
    return _steps.odd_sums(flat, added).reshape(product.shape).astype(dtype)


def as_type(values: Array, dtype: np.dtype[Any]) -> Array:
    """The values rounded to a type; themselves if they have it."""
    return values.astype(dtype, copy=False)


def flush_subnormals(values: Array, emin: int) -> Array:
    """The values with zeros for subnormal numbers; `emin` is the smallest exponent of a normal number."""
    tiny = values.dtype.type(2.0**emin)
    return as_type(np.where(np.abs(values) < tiny, np.copysign(values.dtype.type(0), values), values), values.dtype)
