"""Where real numbers lie between integers, and steps of floating-point arithmetic that NumPy does not have."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN


class Place(NamedTuple):
    """Where each number lies, of numbers that float64 does not hold (float64 arrays; `rest` is int64).

    `below` is the greatest integer not above the number. `rest` is 0 where the number is that integer, 1 where it is
    less than a half above it, 2 where exactly a half, 3 where more. `value` is the number itself, or NaN or infinite.
    """

    below: Array
    rest: Array
    value: Array


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


@singledispatch
def fused_multiply_add(a: Array, b: Array, added: Array | float, dtype: np.dtype[np.floating]) -> Array:
    """a * b + added, rounded once to a type of at most 24 significand bits. Emulators have it of steps, too.

    The product is exact in float64. The sum is rounded to odd in float64, so that rounding it again does no harm.
    """
    product = np.asarray(a.astype(np.float64) * b.astype(np.float64))
    flat, added = np.ascontiguousarray(product).reshape(-1), np.asarray(added, np.float64).reshape(-1)
    return _steps.odd_sums(flat, added).reshape(product.shape).astype(dtype)


@singledispatch
def as_array(values: Any) -> Array:
    """The values as an array: a number of NumPy's has no place for a shape. Emulators have it of steps, too."""
    return np.asarray(values)


def as_type(values: Array, dtype: np.dtype[Any]) -> Array:
    """The values rounded to a type; themselves if they have it."""
    return values.astype(dtype, copy=False)


@singledispatch
def flush_subnormals(values: Array, emin: int) -> Array:
    """The values with zeros for subnormal numbers; `emin` is the smallest exponent of a normal number.

    Emulators have it of steps, too.
    """
    tiny = values.dtype.type(2.0**emin)
    return as_type(np.where(np.abs(values) < tiny, np.copysign(values.dtype.type(0), values), values), values.dtype)
