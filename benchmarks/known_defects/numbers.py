"""Rounding, in NumPy: to a type and to an integer. Everything else computes in float64, between roundings.

A float64 holds every number of the narrower types. Its sums, products and quotients of them, rounded once more to their
own type, are what that type's arithmetic gives, since 53 bits are more than twice 24 and two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Step = Callable[[Any], Array]

FLOAT32 = np.dtype(np.float32)
NAMED = {name: np.dtype(name) for name in ("float16", "float32", "float64")}
NAMED["bfloat16"] = np.dtype(ml_dtypes.bfloat16)
RULES = {
    "ROUND_NEAREST_TOWARD_INFINITY": "away",
    "ROUND_NEAREST_TOWARD_ZERO": "zero",
    "ROUND_NEAREST_UPWARD": "up",
    "ROUND_NEAREST_DOWNWARD": "down",
    "ROUND_NEAREST_TOWARD_EVEN": "even",
    "ROUND_TOWARD_INFINITY": "from-zero",
    "ROUND_TOWARD_ZERO": "trunc",
    "ROUND_UP": "ceil",
    "ROUND_DOWN": "floor",
}
NEAREST = {"away", "zero", "up", "down", "even"}


def converted(values: Array, kind: np.dtype[Any]) -> Array:
    """float64 values in another float type, rounded once, ties to even."""
    values = np.asarray(values, np.float64)
    if kind.name in ("float16", "float32", "float64"):
        return values.astype(kind)
    return to_odd_float32(values).astype(kind)  # ml_dtypes goes through float32


def to_odd_float32(values: Array) -> Array:
    """float32 values whose last bit is set if they are inexact, so that a second rounding does no harm."""
    near = values.astype(np.float32)
    beyond = np.isfinite(values) & (np.abs(near.astype(np.float64)) > np.abs(values))
    cut = np.where(beyond, np.nextafter(near, np.float32(0)), near)
    inexact = np.isfinite(values) & (cut.astype(np.float64) != values)
    return (cut.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)


def in_type(kind: np.dtype[Any] | str) -> Step:
    """The function that rounds float64 values to a type, as float64."""
    found = NAMED[kind] if isinstance(kind, str) else kind
    return lambda values: converted(values, found).astype(np.float64)


def cut_to(values: Array, kind: np.dtype[Any]) -> Array:
    """Values rounded toward zero to a type: what cutting off the lower bits does."""
    near = converted(values, kind)
    beyond = np.abs(near.astype(np.float64)) > np.abs(values)
    return np.where(beyond, np.nextafter(near, kind.type(0)), near).astype(np.float64)


def ties_away_to(values: Array, kind: np.dtype[Any]) -> Array:
    """Values rounded to a type, ties away from zero: what adding half a unit to the bits does."""
    low = cut_to(values, kind)
    high = np.nextafter(low.astype(kind), np.copysign(kind.type(np.inf), values).astype(kind)).astype(np.float64)
    return np.where(np.abs(values - low) >= np.abs(high - values), high, low)


def flushed(values: Array, kind: np.dtype[Any]) -> Array:
    """Subnormal values of a float type become zero."""
    if kind.kind in "iu":
        return values
    return np.where(np.abs(values) < float(ml_dtypes.finfo(kind).smallest_normal), 0.0, values)


def significant(values: Array, bits: int) -> Array:
    """Values rounded to so many significant bits."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)


def to_power_of_two(values: Array) -> Array:
    return np.copysign(np.exp2(np.rint(np.log2(np.abs(values)))), values)


def to_integers(values: Array, rule: str) -> Array:
    """Whole numbers, as float64, by one of RULES' rules or `odd`."""
    whole = np.trunc(values)
    part = np.abs(values - whole)
    goes_on = (part > GOES_ON_ABOVE[rule]) | ((part == 0.5) & AT_TIES[rule](values, whole))
    return np.where(goes_on & SIDES[rule](values), whole + np.copysign(1.0, values), whole)


def always(values: Array, whole: Array) -> Array:
    return np.ones(values.shape, bool)


def never(values: Array, whole: Array) -> Array:
    return np.zeros(values.shape, bool)


AT_TIES: dict[str, Callable[[Array, Array], Array]] = dict.fromkeys(("zero", "trunc"), never) | {
    "away": always,
    "up": lambda values, whole: values > 0,
    "down": lambda values, whole: values < 0,
    "even": lambda values, whole: whole % 2 != 0,
    "odd": lambda values, whole: whole % 2 == 0,
    "from-zero": always,
    "ceil": always,
    "floor": always,
}
GOES_ON_ABOVE = dict.fromkeys((*NEAREST, "odd"), 0.5) | {"from-zero": 0.0, "ceil": 0.0, "floor": 0.0, "trunc": 1.0}
SIDES: dict[str, Callable[[Array], Array]] = {
    rule: {"ceil": lambda values: values > 0, "floor": lambda values: values < 0}.get(
        rule, lambda values: np.ones(values.shape, bool)
    )
    for rule in GOES_ON_ABOVE
}


def wrapped(values: Array, low: int, high: int) -> Array:
    """Whole numbers modulo the size of a type's range; what is no number becomes 0."""
    size = float(high - low + 1)
    rest = np.mod(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0), size)  # exact: low stays out of it
    return np.where(rest > high, rest - size, rest)


def ends(kind: np.dtype[Any]) -> tuple[int, int]:
    found = ml_dtypes.iinfo(kind)
    return int(found.min), int(found.max)


def as_type(values: Array, kind: np.dtype[Any]) -> Array:
    """Whole numbers within a type's range, in that type."""
    return values.astype(np.int64).astype(kind)
