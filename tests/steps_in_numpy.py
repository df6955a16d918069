"""The steps of _steps.pyx written again with NumPy, for the tests that compare the two."""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.semantics.places import Place, takes_integer_above
from tiebreak.conformance.semantics.precisions import Precision
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES

INT32, INT64 = 2.0**31, 2.0**63  # one more than the highest value
CAST = "float32-then-cast"
OF_SUM = ("sum-int32-then-wrap", "sum-int64-then-wrap")


def locate(value: Array) -> Place:
    below = np.floor(value)
    part = value - below
    rest = np.where(part == 0.0, 0, np.where(part < 0.5, 1, np.where(part == 0.5, 2, 3)))
    # Just below 0 the difference is not exact: it may round to 0.5 or to 1, but the rest is more than a half.
    rest = np.where((value < 0) & (value > -0.5), 3, rest)
    return Place(below, rest, value)


def round_place(place: Place, mode: RoundMode, precision: Precision) -> Array:
    """Whole numbers as float64; NaN and infinities stay."""
    below, rest, value = place
    if mode.id not in ROUND_MODES:
        return round_by_adding_half(value, mode.id, precision.dtype)
    return np.asarray(np.where(np.isfinite(value), below + takes_integer_above(below, rest, mode.id), value))


def round_by_adding_half(value: Array, mode: str, dtype: np.dtype[np.floating]) -> Array:
    half = np.copysign(0.5, value) if mode == "half-added-to-magnitude" else np.full(value.shape, 0.5)
    total = (value.astype(dtype) + half.astype(dtype)).astype(dtype).astype(np.float64)
    return np.asarray(np.floor(total) if mode == "floor-of-half-more" else np.trunc(total))


def saturated_codes(quantized: IntegerType, whole: Array, zero_point: Array, saturation: str) -> Array:
    """The codes of rounded quotients; where the quotient is NaN or infinite, the code has no meaning."""
    lowest, highest = quantized.lowest, quantized.highest
    total = whole + zero_point
    if saturation.startswith("int32"):
        whole = np.where((whole >= -INT32) & (whole < INT32), whole, -INT32)
        total = whole + zero_point
    if saturation in ("int32", "int32-then-wrap"):
        total = np.mod(total + INT32, 2 * INT32) - INT32
    if saturation.startswith("int64"):
        whole = np.where((whole >= -INT64) & (whole < INT64), whole, -INT64)
        total = whole + zero_point
    if saturation == "int64":
        total = np.where((whole == -INT64) & (zero_point < 0), INT64, total)
        total = np.where((whole - INT64) + zero_point >= 0, -INT64, total)
    if saturation.startswith("clamp"):
        whole = np.clip(whole, lowest, highest)
        total = whole + zero_point
    if saturation.endswith("wrap") and saturation not in OF_SUM:
        size = float(highest - lowest + 1)
        total = np.mod(np.mod(whole, size) + zero_point - lowest, size) + lowest
    if saturation in ("float32", CAST):
        single = whole.astype(np.float32) + zero_point.astype(np.float32)
        total = single.astype(np.float64)
    if saturation in OF_SUM:
        room = INT32 if saturation == "sum-int32-then-wrap" else INT64
        held, size = np.where((total >= -room) & (total < room), total, -room), float(highest - lowest + 1)
        total = np.mod(np.mod(held, size) - lowest, size) + lowest
    if saturation == CAST:
        total = np.where(total > highest, lowest, total)
    least = lowest + 1 if saturation == "narrow-range" else lowest
    return np.asarray(np.clip(np.where(np.isnan(total), 0.0, total), least, highest), np.int64)  # NaN has no code


def saturation_stage(quantized: IntegerType, whole: Array, codes: Array, zero_point: Array, saturation: str) -> Array:
    """The stage of model.Arithmetic.staged: a sum of terms, each of which never falls as the rounded quotient grows.

    One term is the quotient, clipped to where the code changes. The others count the bounds that it has reached, among
    them both infinities, since infinite quotients have codes of their own (QuantizeArithmetic.with_specials).
    """
    if saturation in ("wrap", "sum-int64-then-wrap"):  # each quotient has its own low bits
        return whole
    lowest, highest, steps = quantized.lowest, quantized.highest, [whole > -np.inf, whole == np.inf]
    inner = whole
    if saturation in ("saturate", "narrow-range"):
        inner = codes
    elif saturation.startswith("clamp"):
        inner = np.clip(whole, lowest, highest)
    elif saturation == "int32-then-wrap" or (saturation == "int32" and quantized.bits == 32):  # the sum wraps
        inner = np.clip(whole, -INT32 - 1, INT32)
    elif saturation in ("float32", CAST, "sum-int32-then-wrap"):
        inner = np.clip(whole, -(2.0**34), 2.0**34)
    elif saturation.startswith("int"):
        inner = np.clip(whole, lowest - zero_point - 1.0, highest - zero_point + 1.0)
        if saturation.startswith("int64"):
            steps += [whole >= -INT64, whole > -INT64, whole >= INT64, (whole - INT64) + zero_point >= 0]
        else:
            bounds = (-INT32, INT32, -INT32 - zero_point, INT32 - zero_point)
            steps += [whole >= bound for bound in bounds]
    return np.asarray(np.where(np.isnan(whole), np.nan, inner + sum(step.astype(np.int64) for step in steps)))


def fused_multiply_add(a: Array, b: Array, added: Array | float, dtype: np.dtype[np.floating]) -> Array:
    """a * b + added, rounded once to a type of at most 24 significand bits.

    The product is exact in float64. The sum is rounded to odd in float64, so that rounding it again does no harm.
    """
    product = a.astype(np.float64) * b.astype(np.float64)
    total = product + added
    back = total - product
    error = (product - (total - back)) + (added - back)
    odd = total.view(np.int64) & 1 == 1
    other = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    exact = (error == 0) | ~np.isfinite(total)
    return np.asarray(np.where(exact | odd, total, other).astype(dtype))
