"""What the wrong and right backends of TensorFlow's operators share: ranges of slices, and rounding once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from wrong_model import Array

F = np.float32
LARGEST = np.finfo(np.float32).max

Facts = Mapping[str, Any]


def info(node: Any, dtype: Any) -> dict[str, Any]:
    """The attributes with their defaults, and the ends of the quantized type."""
    ends = np.iinfo(dtype)
    defaults = {"mode": "MIN_COMBINED", "round_mode": "HALF_AWAY_FROM_ZERO", "narrow_range": False, "axis": -1}
    facts = defaults | {"ensure_minimum_range": 0.01} | dict(node.attributes)
    count = int(ends.max) - int(ends.min)
    return facts | {"min": int(ends.min), "max": int(ends.max), "range": count, "bits": ends.bits, "dtype": dtype}


def no_narrow(f: dict[str, Any]) -> dict[str, Any]:
    return f | {"narrow_range": False}


def widen(end: Array, x: Array, axis: int) -> Array:
    return end if axis < 0 else end.reshape([-1 if place == axis else 1 for place in range(x.ndim)])


def first_range(end: Array, x: Array, axis: int) -> Array:
    return end.reshape(-1)[0] if end.size else widen(end, x, axis)


def from_the_back(end: Array, x: Array, axis: int) -> Array:
    other = x.ndim - 1 - axis
    fits = axis >= 0 and x.shape[other] == end.size
    return widen(end, x, other if fits else axis)


def nearest(values: Array, even: bool) -> Array:
    exact = np.asarray(values, np.float64)
    if even:
        return np.rint(exact)
    whole, part = np.divmod(np.abs(exact), 1.0)
    return np.where(np.isinf(exact), exact, np.copysign(whole + (part >= 0.5), exact))


def flush(values: Array) -> Array:
    return np.where(np.abs(values) < np.finfo(F).tiny, np.zeros_like(values), values)


def narrowed(value: Fraction, kind: Any) -> float:
    """Rounded once: cut off and made odd where it is inexact, then the type's own conversion.

    That takes a double; but ml_dtypes takes bfloat16 from a float32.
    """
    wide = float(value) if abs(value) < 2**1024 else math.copysign(math.inf, 1 if value > 0 else -1)
    if kind is np.float64 or math.isinf(wide) or not value:
        return wide
    bits, least = (24, -149) if kind is ml_dtypes.bfloat16 else (53, -1074)
    power = max(math.frexp(wide)[1] - bits, least) if wide else least
    whole = abs(value) / Fraction(2) ** power
    return math.copysign(math.ldexp(int(whole) | (whole.denominator != 1), power), value)


def single(value: Fraction) -> np.float32:
    """The nearest float32."""
    with np.errstate(over="ignore", under="ignore"):
        return F(narrowed(value, F))
