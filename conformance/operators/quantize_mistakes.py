"""Usual mistakes of quantization as arithmetic: each predicts all results of a case from its operands.

They only explain deviations; no verdict depends on them.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands, round_array
from tiebreak.conformance.operators.model import Cause
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.problem import Array

Predict = Callable[[QuantizationOperands], Array]


def reciprocal(dtype: object) -> Predict:
    def predict(o: QuantizationOperands) -> Array:
        kind = np.dtype(dtype or o.x.dtype)  # type: ignore[call-overload]
        inverse = (np.ones((), kind) / o.scale.astype(kind)).astype(kind)
        return o.finish(np.asarray(o.x.astype(kind) * inverse, np.float64))

    return predict


def add_half_floor(o: QuantizationOperands) -> Array:
    half = o.x.dtype.type(0.5)
    return o.clamp(np.floor(((o.x / o.scale) + half).astype(np.float64)) + o.zero_point)


def add_half_away(o: QuantizationOperands) -> Array:
    q = o.x / o.scale
    magnitude = np.floor((np.abs(q) + o.x.dtype.type(0.5)).astype(np.float64))
    return o.clamp(np.copysign(magnitude, q.astype(np.float64)) + o.zero_point)


def subtract_half_ceil(o: QuantizationOperands) -> Array:
    half = o.x.dtype.type(0.5)
    return o.clamp(np.ceil(((o.x / o.scale) - half).astype(np.float64)) + o.zero_point)


def zero_point_first(o: QuantizationOperands) -> Array:
    total = (o.x / o.scale).astype(o.x.dtype) + o.zero_point.astype(o.x.dtype)
    return o.clamp(round_array(total.astype(np.float64), o.mode))


def zero_point_first_double(o: QuantizationOperands) -> Array:
    return o.clamp(round_array(o.quotient(np.float64) + o.zero_point, o.mode))


def clamp_first(o: QuantizationOperands) -> Array:
    inner = o.clamp(round_array(o.quotient(), o.mode))
    return o.clamp((inner + o.zero_point).astype(np.float64))


def clamp_first_wrapping(o: QuantizationOperands) -> Array:
    return o.wrap((o.clamp(round_array(o.quotient(), o.mode)) + o.zero_point).astype(np.float64))


def no_clamp(o: QuantizationOperands) -> Array:
    return o.wrap(round_array(o.quotient(), o.mode) + o.zero_point)


def int32_cast(dtype: object, *, wraps: bool = True) -> Predict:
    """A cast to int32 that turns everything out of range into the lowest int32, as on x86.

    The sum with the zero point wraps in int32, or has room.
    """

    def predict(o: QuantizationOperands) -> Array:
        rounded = round_array(o.quotient(dtype), o.mode)
        fits = (rounded >= -(2.0**31)) & (rounded < 2.0**31)
        total = np.where(fits, rounded, -(2.0**31)) + o.zero_point
        return o.clamp(np.mod(total + 2.0**31, 2.0**32) - 2.0**31 if wraps else total)

    return predict


def sum_in(dtype: object) -> Predict:
    def predict(o: QuantizationOperands) -> Array:
        kind = np.dtype(dtype or o.x.dtype)  # type: ignore[call-overload]
        total = round_array(o.quotient(), o.mode).astype(kind) + o.zero_point.astype(kind)
        return o.clamp(total.astype(kind).astype(np.float64))

    return predict


def reciprocal_and_zero_point(fused: bool) -> Predict:
    """x times the rounded reciprocal, plus the zero point, then rounded to an integer.

    The product and the sum are rounded once together if `fused`, else each.
    """

    def predict(o: QuantizationOperands) -> Array:
        kind = o.x.dtype.type
        product = o.x.astype(np.float64) * (kind(1) / o.scale).astype(np.float64)  # exact up to float32
        if not fused:
            product = product.astype(kind).astype(np.float64)
        total = (product + o.zero_point).astype(kind)
        return o.clamp(round_array(total.astype(np.float64), o.mode))

    return predict


def sum_and_clamp_in_own_type(o: QuantizationOperands) -> Array:
    """The highest value, rounded to the input's type, may be too high; the cast to int32 then overflows as on x86."""
    kind = o.x.dtype.type
    total = round_array(o.quotient(), o.mode).astype(kind) + o.zero_point.astype(kind)
    clamped = np.clip(np.nan_to_num(total), kind(o.lowest), kind(o.highest)).astype(np.float64)
    return np.where(clamped > o.highest, o.lowest, o.clamp(clamped))


def result_in_float32(o: QuantizationOperands) -> Array:
    total = round_array(o.quotient(), o.mode) + o.zero_point
    return o.clamp(total.astype(np.float32).astype(np.float64))


def narrow_range(o: QuantizationOperands) -> Array:
    return np.maximum(o.finish(o.quotient()), o.lowest + 1)


def without_highest(o: QuantizationOperands) -> Array:
    return np.minimum(o.finish(o.quotient()), o.highest - 1)


def flush(which: str) -> Predict:
    def predict(o: QuantizationOperands) -> Array:
        tiny = 2.0 ** FLOAT_TYPES[o.x.dtype.name].emin
        x, scale = o.x.astype(np.float64), o.scale.astype(np.float64)
        x = flush_below(x, tiny) if which in ("inputs", "operands", "all") else x
        scale = flush_below(scale, tiny) if which in ("scales", "operands", "all") else scale
        q = (x / scale).astype(o.x.dtype).astype(np.float64)
        return o.finish(flush_below(q, tiny) if which in ("quotient", "all") else q)

    return predict


def flush_below(values: Array, tiny: float) -> Array:
    return np.where(np.abs(values) < tiny, np.copysign(0.0, values), values)


def without_zero_point(o: QuantizationOperands) -> Array:
    return o.clamp(round_array(o.quotient(), o.mode))


def subtracted_zero_point(o: QuantizationOperands) -> Array:
    return o.clamp(round_array(o.quotient(), o.mode) - o.zero_point)


def symmetric_range(steps: Callable[[QuantizationOperands], float]) -> Predict:
    """Scales so that |lowest| * scale maps to `steps` instead of |lowest| on either side of zero.

    For types of more than 8 bits the factor is so near 1 that it would explain any noise; those are not predicted.
    """

    def predict(o: QuantizationOperands) -> Array:
        if o.highest > 255:
            return np.full(o.x.shape, o.lowest - 1, np.int64)
        factor = (steps(o) / max(-o.lowest, o.highest + 1)) / o.scale.astype(np.float64)
        return o.finish(np.asarray(o.x * factor.astype(o.x.dtype), np.float64))

    return predict


def multiplied_by_scale(o: QuantizationOperands) -> Array:
    return o.finish(np.asarray(o.x * o.scale, np.float64))


def divided_in(dtype: object) -> Predict:
    return lambda o: o.finish(o.quotient(dtype))


# Of two that explain equally much the earlier one is named. So each stands before those that it is a special case of.
HYPOTHESES: tuple[tuple[Cause, Predict], ...] = (
    (Cause("flushes-inputs", "quotient"), flush("inputs")),
    (Cause("flushes-scales", "quotient"), flush("scales")),
    (Cause("flushes-inputs-and-scales", "quotient"), flush("operands")),
    (Cause("flushes-quotients", "quotient"), flush("quotient")),
    (Cause("flushes-all", "quotient"), flush("all")),
    (Cause("divides-in:float32", "quotient"), divided_in(np.float32)),
    (Cause("divides-in:bfloat16", "quotient"), divided_in(ml_dtypes.bfloat16)),
    (Cause("divides-in:float16", "quotient"), divided_in(np.float16)),
    (Cause("divides-in-float64", "quotient"), divided_in(np.float64)),
    (Cause("own-reciprocal", "quotient"), reciprocal(None)),
    (Cause("reciprocal:float32", "quotient"), reciprocal(np.float32)),
    (Cause("reciprocal:float64", "quotient"), reciprocal(np.float64)),
    (Cause("zero-point-first-in-own-type", "round-first"), zero_point_first),
    (Cause("zero-point-first-in:float64", "round-first"), zero_point_first_double),
    (
        Cause("reciprocal-plus-zero-point-fused", "round-first"),
        reciprocal_and_zero_point(fused=True),
    ),
    (
        Cause("reciprocal-plus-zero-point", "round-first"),
        reciprocal_and_zero_point(fused=False),
    ),
    (Cause("floor-of-half-more", "mode"), add_half_floor),
    (Cause("half-added-to-magnitude", "mode"), add_half_away),
    (Cause("ceil-of-half-less", "mode"), subtract_half_ceil),
    (Cause("clamps-before-zero-point", "add"), clamp_first),
    (Cause("clamps-before-zero-point-and-wraps", "add"), clamp_first_wrapping),
    (Cause("casts-to-int32", "range"), int32_cast(None)),
    (Cause("casts-to-int32-then-wider-sum", "range"), int32_cast(None, wraps=False)),
    (Cause("divides-in:float32 + casts-to-int32", "range"), int32_cast(np.float32)),
    (Cause("wraps", "range"), no_clamp),
    (Cause("narrow-range", "range"), narrow_range),
    (Cause("highest-never", "range"), without_highest),
    (Cause("sum-in:float32", "add"), sum_in(np.float32)),
    (Cause("sum-in-own-type", "add"), sum_in(None)),
    (Cause("sum-and-clamp-in-own-type", "add"), sum_and_clamp_in_own_type),
    (Cause("result-in:float32", "add"), result_in_float32),
    (Cause("ignores-zero-point", "add"), without_zero_point),
    (Cause("subtracts-zero-point", "add"), subtracted_zero_point),
    (Cause("multiplies-by-scale", "quotient"), multiplied_by_scale),
    # For int8 127/128 of the right factor, and 127.5/128.
    (
        Cause("symmetric-range", "quotient"),
        symmetric_range(lambda o: o.highest),
    ),
    (
        Cause("symmetric-steps", "quotient"),
        symmetric_range(lambda o: (o.highest - o.lowest) / 2),
    ),
)
