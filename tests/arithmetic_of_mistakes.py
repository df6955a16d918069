"""Quantization done wrong, each in one way, and right in other ways than Tiebreak's own truths.

An arithmetic is a function of Operands that gives int64 values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
ALL_MODES = (
    "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_TOWARD_ZERO", "ROUND_NEAREST_UPWARD", "ROUND_NEAREST_DOWNWARD",
    "ROUND_NEAREST_TOWARD_EVEN", "ROUND_TOWARD_INFINITY", "ROUND_TOWARD_ZERO", "ROUND_UP", "ROUND_DOWN",
)  # fmt: skip
NEAREST = ALL_MODES[:5]
DIRECTED = ALL_MODES[5:]
EVEN = ("ROUND_NEAREST_TOWARD_EVEN",)


@dataclass(frozen=True)
class Operands:
    """Operands broadcast to the input's shape, in the input's type; zero points int64; the output's range."""

    x: Array
    scale: Array
    zero_point: Array
    mode: str
    lowest: int
    highest: int
    axes: tuple[int, ...]
    raw_scale: Array
    raw_zero_point: Array


Arithmetic = Callable[[Operands], Array]


def round_mode(q: Array, mode: str) -> Array:
    """The nine modes on float64 values, by sorting each fraction into below, on and above the half."""
    magnitude, negative = np.abs(q), q < 0
    whole = np.floor(magnitude)
    rest = magnitude - whole
    away = {
        "ROUND_NEAREST_TOWARD_INFINITY": rest >= 0.5,
        "ROUND_NEAREST_TOWARD_ZERO": rest > 0.5,
        "ROUND_NEAREST_UPWARD": np.where(negative, rest > 0.5, rest >= 0.5),
        "ROUND_NEAREST_DOWNWARD": np.where(negative, rest >= 0.5, rest > 0.5),
        "ROUND_NEAREST_TOWARD_EVEN": (rest > 0.5) | ((rest == 0.5) & (whole % 2 == 1)),
        "ROUND_TOWARD_INFINITY": rest > 0,
        "ROUND_TOWARD_ZERO": np.zeros_like(negative),
        "ROUND_UP": (rest > 0) & ~negative,
        "ROUND_DOWN": (rest > 0) & negative,
    }[mode]
    return np.where(negative, -(whole + away), whole + away)


def own(o: Operands) -> Array:
    """The quotient in the input's own type, as float64."""
    return np.asarray(o.x / o.scale, np.float64)


def clamp(values: Array, o: Operands) -> Array:
    return np.clip(np.nan_to_num(values), o.lowest, o.highest).astype(np.int64)


def wrap(values: Array, o: Operands) -> Array:
    bounded = np.clip(np.nan_to_num(values), -(2.0**62), 2.0**62).astype(np.int64)
    return (bounded - o.lowest) % (o.highest - o.lowest + 1) + o.lowest


def finish(q: Array, o: Operands) -> Array:
    return clamp(round_mode(q, o.mode) + o.zero_point, o)


def right_own_type(o: Operands) -> Array:
    return finish(own(o), o)


def right_double(o: Operands) -> Array:
    """Exact for outputs up to 16 bits of operands up to 24 bits; see the vectors for why not beyond."""
    return finish(o.x.astype(np.float64) / o.scale.astype(np.float64), o)


def right_long_double(o: Operands) -> Array:
    """x87's 64-bit significand holds every quotient of float32 operands near enough for 32-bit outputs."""
    q = o.x.astype(np.longdouble) / o.scale.astype(np.longdouble)
    return clamp(round_mode(q, o.mode) + o.zero_point, o)


def with_mode(mode: str) -> Arithmetic:
    return lambda o: clamp(round_mode(own(o), mode) + o.zero_point, o)


def quotient_in(dtype: Any) -> Arithmetic:
    return lambda o: finish(np.asarray(o.x.astype(dtype) / o.scale.astype(dtype), np.float64), o)


def reciprocal_in(dtype: Any) -> Arithmetic:
    def run(o: Operands) -> Array:
        kind = np.dtype(dtype or o.x.dtype)
        inverse = (np.ones((), kind) / o.scale.astype(kind)).astype(kind)
        return finish(np.asarray((o.x.astype(kind) * inverse).astype(kind), np.float64), o)

    return run


def approximate_division(o: Operands) -> Array:
    """A reciprocal estimate of 12 bits with one Newton step, as fast-math code makes it."""
    scale = o.scale.astype(np.float64)
    estimate = (1 / scale).astype(np.float32).view(np.uint32) & np.uint32(0xFFFFF000)
    r = estimate.view(np.float32)
    r = r * (np.float32(2) - o.scale * r)
    return finish(np.asarray(o.x * r, np.float64), o)


def half(o: Operands) -> Any:
    return o.x.dtype.type(0.5)


def floor_half(o: Operands) -> Array:
    return clamp(np.floor(np.asarray(o.x / o.scale + half(o), np.float64)) + o.zero_point, o)


def trunc_half(o: Operands) -> Array:
    """(int)(q + 0.5): right only for positive quotients."""
    return clamp(np.trunc(np.asarray(o.x / o.scale + half(o), np.float64)) + o.zero_point, o)


def away_half(o: Operands) -> Array:
    q = o.x / o.scale
    return clamp(np.trunc(np.asarray(q + np.copysign(half(o), q), np.float64)) + o.zero_point, o)


def magic_number(o: Operands) -> Array:
    """Adds and subtracts 1.5 * 2^23, which rounds to even only while |q| < 2^22."""
    magic = np.float32(12582912.0)
    q = (o.x / o.scale + magic) - magic
    return clamp(np.asarray(q, np.float64) + o.zero_point, o)


def epsilon(o: Operands) -> Array:
    """Rounds half up by adding slightly less than a half."""
    return clamp(np.floor(own(o) + 0.49999) + o.zero_point, o)


def two_decimals(o: Operands) -> Array:
    """Rounds to two decimals first: double rounding."""
    return finish(np.round(own(o) * 1024) / 1024, o)


def zero_point_first(o: Operands) -> Array:
    total = np.asarray(o.x / o.scale + o.zero_point.astype(o.x.dtype), np.float64)
    return clamp(round_mode(total, o.mode), o)


def fused_zero_point(o: Operands) -> Array:
    return clamp(round_mode(own(o) + o.zero_point, o.mode), o)


def no_zero_point(o: Operands) -> Array:
    return clamp(round_mode(own(o), o.mode), o)


def minus_zero_point(o: Operands) -> Array:
    return clamp(round_mode(own(o), o.mode) - o.zero_point, o)


def signed_zero_point(o: Operands) -> Array:
    """Reads an unsigned 8-bit zero point as signed."""
    return clamp(round_mode(own(o), o.mode) + (o.zero_point + 128) % 256 - 128, o)


def sum_in(dtype: Any) -> Arithmetic:
    def run(o: Operands) -> Array:
        kind = np.dtype(dtype or o.x.dtype)
        total = (round_mode(own(o), o.mode).astype(kind) + o.zero_point.astype(kind)).astype(kind)
        return clamp(total.astype(np.float64), o)

    return run


def no_clamp(o: Operands) -> Array:
    return wrap(round_mode(own(o), o.mode) + o.zero_point, o)


def clamp_first(o: Operands) -> Array:
    return clamp((clamp(round_mode(own(o), o.mode), o) + o.zero_point).astype(np.float64), o)


def clamp_first_wrap(o: Operands) -> Array:
    return wrap((clamp(round_mode(own(o), o.mode), o) + o.zero_point).astype(np.float64), o)


def narrow_low(o: Operands) -> Array:
    return np.maximum(right_own_type(o), o.lowest + 1)


def narrow_high(o: Operands) -> Array:
    return np.minimum(right_own_type(o), o.highest - 1)


def clamp_as_signed(o: Operands) -> Array:
    return np.minimum(right_own_type(o), o.highest // 2)


def cast_first(bits: int) -> Arithmetic:
    """Casts the rounded quotient to an integer of `bits` bits; out of range gives the lowest one, as on x86."""

    def run(o: Operands) -> Array:
        limit = 2.0 ** (bits - 1)
        r = round_mode(own(o), o.mode)
        r = np.where((r >= -limit) & (r < limit), r, -limit)
        return clamp(r + o.zero_point, o)

    return run


def saturate_high_only(o: Operands) -> Array:
    return wrap(np.minimum(round_mode(own(o), o.mode) + o.zero_point, o.highest), o)


def saturate_low_only(o: Operands) -> Array:
    return wrap(np.maximum(round_mode(own(o), o.mode) + o.zero_point, o.lowest), o)


def flushed(values: Array) -> Array:
    tiny = ml_dtypes.finfo(values.dtype).smallest_normal
    return np.where(np.abs(values) < tiny, np.zeros_like(values), values)


def flush_inputs(o: Operands) -> Array:
    return finish(np.asarray(flushed(o.x) / o.scale, np.float64), o)


def flush_scale(o: Operands) -> Array:
    return finish(np.asarray(o.x / flushed(o.scale), np.float64), o)


def flush_quotient(o: Operands) -> Array:
    return finish(np.asarray(flushed((o.x / o.scale).astype(o.x.dtype)), np.float64), o)


def absolute_scale(o: Operands) -> Array:
    return finish(np.asarray(o.x / np.abs(o.scale), np.float64), o)


def multiply(o: Operands) -> Array:
    return finish(np.asarray(o.x * o.scale, np.float64), o)


def small_scale_raised(o: Operands) -> Array:
    """Replaces scales under 2^-20 by it, to be safe."""
    return finish(np.asarray(o.x / np.maximum(o.scale, o.scale.dtype.type(2.0**-20)), np.float64), o)


def spread(parameter: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    return np.broadcast_to(parameter.reshape(kept), shape)


def other_axes(
    choose: Callable[[tuple[int, ...], int], tuple[int, ...]], *, zero_point_only: bool = False
) -> Arithmetic:
    """Uses other axes wherever the shapes allow, right ones elsewhere."""

    def run(o: Operands) -> Array:
        axes = tuple(sorted(choose(o.axes, o.x.ndim)))
        if not o.axes or tuple(o.x.shape[a] for a in axes) != o.raw_scale.shape:
            return right_own_type(o)
        zero_point = spread(o.raw_zero_point, axes, o.x.shape)
        scale = o.scale if zero_point_only else spread(o.raw_scale, axes, o.x.shape)
        return clamp(round_mode(np.asarray(o.x / scale, np.float64), o.mode) + zero_point, o)

    return run


def swapped_axes(o: Operands) -> Array:
    if o.raw_scale.ndim < 2 or o.raw_scale.shape != o.raw_scale.shape[::-1]:
        return right_own_type(o)
    scale, zero_point = (spread(p.T, o.axes, o.x.shape) for p in (o.raw_scale, o.raw_zero_point))
    return clamp(round_mode(np.asarray(o.x / scale, np.float64), o.mode) + zero_point, o)


def first_scale(o: Operands) -> Array:
    if not o.raw_scale.size:
        return right_own_type(o)
    return finish(np.asarray(o.x / o.raw_scale.reshape(-1)[0], np.float64), o)


def first_zero_point(o: Operands) -> Array:
    if not o.raw_zero_point.size:
        return right_own_type(o)
    return clamp(round_mode(own(o), o.mode) + o.raw_zero_point.reshape(-1)[0], o)


def reversed_scales(o: Operands) -> Array:
    if o.raw_scale.ndim != 1:
        return right_own_type(o)
    return finish(np.asarray(o.x / spread(o.raw_scale[::-1], o.axes, o.x.shape), np.float64), o)


def in_places(where: Callable[[Array, int], Array], other: Arithmetic) -> Arithmetic:
    """Another arithmetic for the elements whose flat index is chosen."""

    def run(o: Operands) -> Array:
        index = np.arange(o.x.size).reshape(o.x.shape)
        return np.where(where(index, o.x.size), other(o), right_own_type(o))

    return run


def tail(width: int) -> Callable[[Array, int], Array]:
    return lambda index, size: index >= size - size % width


def of_rank(wanted: Callable[[int], bool], other: Arithmetic) -> Arithmetic:
    """Another arithmetic for inputs of some ranks."""
    return lambda o: other(o) if wanted(o.x.ndim) else right_own_type(o)


def last_dimension_of_one(o: Operands) -> Array:
    """Takes the first scale for all where the last dimension is 1."""
    return first_scale(o) if o.x.ndim and o.x.shape[-1] == 1 else right_own_type(o)


def fraction_by_floor(o: Operands) -> Array:
    """q - floor(q), which is inexact for a float64 quotient just above -1/2."""
    q = own(o)
    up = {"ROUND_NEAREST_TOWARD_INFINITY": q > 0, "ROUND_NEAREST_DOWNWARD": np.zeros(q.shape, bool)}[o.mode]
    fraction = q - np.floor(q)
    return clamp(np.floor(q) + np.where(fraction == 0.5, up, fraction > 0.5) + o.zero_point, o)


truncate = with_mode("ROUND_TOWARD_ZERO")
