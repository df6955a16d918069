"""Black boxes whose semantics are known, written as people write them: one line of NumPy after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
f32, f64 = np.float32, np.float64
SPECIALS = ("nan", "positive_infinity", "negative_infinity")


def away(q: Array) -> Array:
    return np.copysign(np.floor(np.abs(q.astype(f64)) + 0.5), q)


def ends(zero_point: Array) -> tuple[int, int]:
    info = np.iinfo(zero_point.dtype)
    return int(info.min), int(info.max)


def clamp(total: Array, zero_point: Array) -> Array:
    """NaN to the lowest, infinities to the ends."""
    lowest, highest = ends(zero_point)
    return np.clip(np.nan_to_num(total.astype(f64), nan=lowest), lowest, highest).astype(zero_point.dtype)


def flush(v: Array) -> Array:
    return np.where(np.abs(v) < np.finfo(f32).tiny, f32(0), v).astype(f32)


def plain(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.rint(x / s).astype(f64) + f64(z), z)


def ties_away(x: Array, s: Array, z: Array) -> Array:
    return clamp(away(x / s) + f64(z), z)


def ties_up(x: Array, s: Array, z: Array) -> Array:
    q = (x / s).astype(f64)
    return clamp(np.floor(q + 0.5) + f64(z), z)  # the sum is exact in float64


def floor_half(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.floor(x / s + f32(0.5)).astype(f64) + f64(z), z)


def truncates(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.trunc(x / s).astype(f64) + f64(z), z)


def int_cast_of_half(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.trunc(x / s + f32(0.5)).astype(f64) + f64(z), z)


def floors(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.floor(x / s).astype(f64) + f64(z), z)


def ceils(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.ceil(x / s).astype(f64) + f64(z), z)


def ceils_flushing(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.ceil(flush(x / s)).astype(f64) + f64(z), z)


def reciprocal(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.rint(x * (f32(1) / s)).astype(f64) + f64(z), z)


def reciprocal_zero_point_first(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.rint(x * (f32(1) / s) + f32(z)), z)


def zero_point_first(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.rint(x / s + f32(z)), z)


def zero_point_first_away(x: Array, s: Array, z: Array) -> Array:
    return clamp(away(x / s + f32(z)), z)


def in_double(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.rint(x.astype(f64) / s.astype(f64)) + f64(z), z)


def in_half(x: Array, s: Array, z: Array) -> Array:
    q = x.astype(np.float16) / s.astype(np.float16)
    return clamp(np.rint(q).astype(f64) + f64(z), z)


def in_bfloat16(x: Array, s: Array, z: Array) -> Array:
    q = x.astype(ml_dtypes.bfloat16) / s.astype(ml_dtypes.bfloat16)
    return clamp(np.rint(q.astype(f32)).astype(f64) + f64(z), z)


def fused(x: Array, s: Array, z: Array) -> Array:
    inverse = (f32(1) / s).astype(np.longdouble)
    return clamp(np.rint((x.astype(np.longdouble) * inverse + np.longdouble(z)).astype(f32)), z)


def wraps(x: Array, s: Array, z: Array) -> Array:
    q = np.clip(np.nan_to_num(np.rint(x / s).astype(f64), nan=0.0, posinf=0.0, neginf=0.0), -(2.0**62), 2.0**62)
    return (q.astype(np.int64) + np.int64(z)).astype(z.dtype)


def narrow(x: Array, s: Array, z: Array) -> Array:
    lowest, highest = ends(z)
    total = np.nan_to_num(np.rint(x / s).astype(f64) + f64(z), nan=-1e9)
    return np.clip(total, lowest + 1, highest).astype(z.dtype)


def clamps_first(x: Array, s: Array, z: Array) -> Array:
    lowest, highest = ends(z)
    q = np.clip(np.nan_to_num(np.rint(x / s).astype(f64), nan=0.0), lowest, highest)
    return np.clip(q + f64(z), lowest, highest).astype(z.dtype)


def clamps_first_and_wraps(x: Array, s: Array, z: Array) -> Array:
    lowest, highest = ends(z)
    q = np.clip(np.nan_to_num(np.rint(x / s).astype(f64), nan=0.0), lowest, highest)
    return (q.astype(np.int64) + np.int64(z)).astype(z.dtype)


def through_int32(x: Array, s: Array, z: Array) -> Array:
    q = np.rint(x / s).astype(f64)
    fits = (q >= -(2.0**31)) & (q < 2.0**31)
    r = np.where(fits, q, -(2.0**31)).astype(np.int64)
    total = (r + np.int64(z) + 2**31) % 2**32 - 2**31
    return np.clip(total, *ends(z)).astype(z.dtype)


def of_numpy(x: Array, s: Array, z: Array) -> Array:
    """As one writes it: an int64 sum, which wraps, then a clip."""
    return np.clip(np.rint(x / s).astype(np.int64) + z, *ends(z)).astype(z.dtype)


def guards_its_input(x: Array, s: Array, z: Array) -> Array:
    """What is no finite number counts as 0; a finite one over a tiny scale goes to the end of the range."""
    total = np.clip(np.rint(np.nan_to_num(x / s)) + z, *ends(z))
    return np.where(np.isfinite(x), total, z).astype(z.dtype)


def through_int64(x: Array, s: Array, z: Array) -> Array:
    """As a cast on x86 does it."""
    q = np.rint(x / s).astype(f64)
    fits = (q >= -(2.0**63)) & (q < 2.0**63)
    return np.clip(np.where(fits, q, -(2.0**63)) + f64(z), *ends(z)).astype(z.dtype)


def wider_sum(x: Array, s: Array, z: Array) -> Array:
    q = np.rint(x / s).astype(f64)
    fits = (q >= -(2.0**31)) & (q < 2.0**31)
    return np.clip(np.where(fits, q, -(2.0**31)).astype(np.int64) + np.int64(z), *ends(z)).astype(z.dtype)


def sum_through(room: float, total: Array, z: Array) -> Array:
    """A cast to an integer as on x86, of which the low bits stay."""
    return np.where((total >= -room) & (total < room), total, -room).astype(np.int64).astype(z.dtype)


def sum_casts_to_int64(x: Array, s: Array, z: Array) -> Array:
    return sum_through(2.0**63, np.rint(x / s).astype(f64) + f64(z), z)


def sum_casts_to_int32(x: Array, s: Array, z: Array) -> Array:
    """As one writes it, and as NumPy casts a float64 to 8 bits."""
    return sum_through(2.0**31, np.rint(x / s).astype(f64) + f64(z), z)


def zero_point_first_in_double(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.rint((x / s).astype(f64) + f64(z)), z)


def flushes_inputs(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.rint(flush(x) / s).astype(f64) + f64(z), z)


def flushes_both(x: Array, s: Array, z: Array) -> Array:
    return clamp(np.rint(flush(x) / flush(s)).astype(f64) + f64(z), z)


def flushes_but_factors(x: Array, s: Array, z: Array) -> Array:
    """As a compiler divides by a scale that it knows: 2^-127 becomes a product with 2^127."""
    factor = np.where(np.abs(s) == f32(2.0**-127), s, flush(s))
    return clamp(np.rint(flush(x) / factor).astype(f64) + f64(z), z)


def nan_to_highest(x: Array, s: Array, z: Array) -> Array:
    lowest, highest = ends(z)
    q = np.nan_to_num(np.rint(x / s).astype(f64), nan=2.0**40, posinf=2.0**40, neginf=-(2.0**40))
    return np.clip(q + f64(z), lowest, highest).astype(z.dtype)


def of_two_minds(x: Array, s: Array, z: Array) -> Array:
    """No combination: ties to even for positive quotients, away for negative ones."""
    q = (x / s).astype(f64)
    return clamp(np.where(q < 0, away(q), np.rint(q)) + f64(z), z)


def afraid_of_7(x: Array, s: Array, z: Array) -> Array:
    """No combination: a table with a wrong entry."""
    code = plain(x, s, z)
    return np.where(code == 7, np.array(8, code.dtype), code)


def tail_truncates(x: Array, s: Array, z: Array) -> Array:
    """Depends on the place: the last elements beyond whole vectors of 8 are truncated."""
    code, tail = plain(x, s, z), x.size - x.size % 8
    code.reshape(-1)[tail:] = truncates(x.reshape(-1)[tail:], s, z)
    return code


def tail_divides(x: Array, s: Array, z: Array) -> Array:
    """Depends on the place: whole vectors of 16 are multiplied by the reciprocal."""
    code, tail = reciprocal(x, s, z), x.size - x.size % 16
    code.reshape(-1)[tail:] = plain(x.reshape(-1)[tail:], s, z)
    return code


Expected = dict[str, str | list[str]]
BASE: Expected = {
    "precision": "float32",
    "scaling": "divide",
    "subnormals": "kept",
    "zero_point": "after-rounding",
    "round_mode": "ROUND_NEAREST_TOWARD_EVEN",
    "saturation": "saturate",
    "nan": "lowest",
    "positive_infinity": "highest",
    "negative_infinity": "lowest",
}
AWAY = {"round_mode": "ROUND_NEAREST_TOWARD_INFINITY"}
FIRST = {"zero_point": "before-rounding"}
# For int8; what differs from BASE.
KNOWN: dict[str, tuple[Callable[[Array, Array, Array], Array], Expected]] = {
    "plain": (plain, {}),
    "ties_away": (ties_away, AWAY),
    "ties_up": (ties_up, {"round_mode": "ROUND_NEAREST_UPWARD"}),
    "floor_half": (floor_half, {"round_mode": "floor-of-half-more"}),
    "truncates": (truncates, {"round_mode": "ROUND_TOWARD_ZERO"}),
    "int_cast_of_half": (int_cast_of_half, {"round_mode": "adds-half-and-truncates"}),
    "floors": (floors, {"round_mode": "ROUND_DOWN"}),
    "ceils": (ceils, {"round_mode": "ROUND_UP"}),
    "ceils_flushing": (ceils_flushing, {"round_mode": "ROUND_UP", "subnormals": "quotients-flushed"}),
    "reciprocal": (reciprocal, {"scaling": "reciprocal"}),
    "reciprocal_zero_point_first": (reciprocal_zero_point_first, {"scaling": "reciprocal", **FIRST}),
    "zero_point_first": (zero_point_first, {**FIRST}),
    "zero_point_first_away": (zero_point_first_away, {**FIRST, **AWAY}),
    "in_double": (in_double, {"precision": ["exact", "float64"]}),
    "in_half": (in_half, {"precision": "float16"}),
    "in_bfloat16": (in_bfloat16, {"precision": "bfloat16"}),
    "fused": (fused, {"scaling": "fused", **FIRST}),
    "wraps": (
        wraps,
        {
            "saturation": "wrap",
            "nan": "zero-point",
            "positive_infinity": "zero-point",
            "negative_infinity": "zero-point",
        },
    ),
    "clamps_first": (
        clamps_first,
        {
            "saturation": "clamp-first",
            "nan": "zero-point",
            "positive_infinity": "highest-before-zero-point",
            "negative_infinity": "lowest-before-zero-point",
        },
    ),
    "through_int32": (
        through_int32,
        {"saturation": "int32", "nan": "int32", "positive_infinity": "int32", "negative_infinity": "int32"},
    ),
    "narrow": (
        narrow,
        {"saturation": "narrow-range", "nan": "lowest-but-one", "negative_infinity": "lowest-but-one"},
    ),
    "through_int64": (through_int64, {"saturation": "int64-then-wider-sum", "positive_infinity": "lowest"}),
    "of_numpy": (of_numpy, {"saturation": "int64", **dict.fromkeys(SPECIALS, "int32")}),
    "guards_its_input": (guards_its_input, dict.fromkeys(SPECIALS, "zero-point")),
    "wider_sum": (wider_sum, {"saturation": "int32-then-wider-sum", "positive_infinity": "lowest"}),
    "sum_casts_to_int64": (
        sum_casts_to_int64,
        {"saturation": "sum-int64-then-wrap", **dict.fromkeys(SPECIALS, "zero")},
    ),
    "sum_casts_to_int32": (
        sum_casts_to_int32,
        {"saturation": "sum-int32-then-wrap", **dict.fromkeys(SPECIALS, "zero")},
    ),
    "zero_point_first_in_double": (zero_point_first_in_double, {"zero_point": "before-rounding-in-float64"}),
    "flushes_inputs": (flushes_inputs, {"subnormals": "inputs-flushed"}),
    "flushes_both": (flushes_both, {"subnormals": "inputs-and-scales-flushed"}),
    "flushes_but_factors": (flushes_but_factors, {"subnormals": "operands-but-factors-flushed"}),
    "nan_to_highest": (nan_to_highest, {"nan": "highest"}),
}


def fake_by_factor(x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """FakeQuantize of 256 levels: clamped, times a factor computed first, ties away, levels times a step."""
    clamped, n = np.minimum(np.maximum(x, low), high), f32(255)
    level = np.floor(((clamped - low) * (n / (high - low))).astype(f64) + 0.5).astype(f32)
    return (level * ((last - first) / n) + first).astype(f32)


def fake_nudged(x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """FakeQuantize of 256 levels in float32 as the document says, but of limits that have 0 as a level."""
    n = f32(255)
    step = (high - low) / n
    zero = np.clip(np.rint(-low / step), f32(0), n)
    low, high = -zero * step, (n - zero) * step
    level = np.rint((np.minimum(np.maximum(x, low), high) - low) / (high - low) * n)
    inside = level / n * (last - first) + first
    return np.where(x <= low, first, np.where(x > high, last, inside)).astype(f32)


def fake_nudged_up(x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """As TensorFlow nudges: with a tie up; clamped."""
    n = f32(15)
    step = (high - low) / n
    zero = np.clip(np.floor(-low / step + f32(0.5)), f32(0), n)
    low, high = -zero * step, (n - zero) * step
    level = np.rint((np.minimum(np.maximum(x, low), high) - low) / step)
    return (level * ((last - first) / n) + first).astype(f32)


def fake_of_five(x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Products before quotients: 4 is a power of two, so that only an overflow tells that."""
    inside = (np.minimum(np.maximum(x, low), high) - low) * f32(4) / (high - low)
    return np.where(x > high, last, np.rint(inside) * (last - first) / f32(4) + first).astype(f32)


def quantize_v2_by_reciprocal_step(x: Array, low: Array, high: Array) -> Array:
    """SCALED to int8 by one step for both sides, in float32, ties to even."""
    step = np.maximum(np.abs(low), np.abs(high)) / f32(127)
    return np.clip(np.nan_to_num(np.rint(x * (f32(1) / step)), nan=0.0), -128, 127).astype(np.int8)


def quantize_v2_first(x: Array, low: Array, high: Array) -> Array:
    """MIN_FIRST to uint8 in float32, ties to even, min subtracted before rounding."""
    scale = f32(256) / ((high - low) * f32(256 / 255))
    clamped = np.minimum(np.maximum(x, low), high)
    return np.clip(np.nan_to_num(np.rint((clamped - low) * scale)), 0, 255).astype(np.uint8)


def quantize_v2_combined(x: Array, low: Array, high: Array) -> Array:
    """MIN_COMBINED to int8, ties away, 128 taken after rounding, with a step."""
    q = (np.minimum(np.maximum(x, low), high) - low) / ((high - low) / f32(255))
    return np.clip(np.nan_to_num(away(q) - 128.0, nan=-128.0), -128, 127).astype(np.int8)


def double_product(x: Array, s: Array, z: Array) -> Array:
    """The reciprocal is a float32, its product with x a float64."""
    return clamp(np.rint(x.astype(f64) * f64(f32(1) / s)) + f64(z), z)


def cast_of_float32(x: Array, s: Array, z: Array) -> Array:
    """To int32: the sum is clamped as a float32, which has no 2^31 - 1, and cast as x86 does it."""
    total = np.nan_to_num(np.rint(x / s) + z.astype(f32), nan=-(2.0**31), posinf=3e38, neginf=-3e38)
    total = np.clip(total, f32(-(2.0**31)), f32(2.0**31)).astype(f64)
    return np.where(total >= 2.0**31, -(2.0**31), total).astype(np.int32)


def fake_flushing(x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """FakeQuantize of 256 levels as the document says, without subnormal numbers."""
    x, low, high, first, last = (flush(v) for v in (x, low, high, first, last))
    level = np.rint((x - low) / (high - low) * f32(255))
    inside = level / f32(255) * (last - first) + first
    return flush(np.where(x <= low, first, np.where(x > high, last, inside)))


def fake_flushing_steps(x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """FakeQuantize of 256 levels as the document says, in an arithmetic without subnormal numbers."""
    x, low, high, first, last = (flush(v) for v in (x, low, high, first, last))
    position = flush(flush(flush(x - low) / flush(high - low)) * f32(255))
    inside = flush(flush(flush(np.rint(position) / f32(255)) * flush(last - first)) + first)
    return np.where(x <= low, first, np.where(x > high, last, inside))


def fake_of_a_compiler(x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """FakeQuantize of 256 levels after one pass turned it into a quantize and a dequantize, and another undid that."""
    width = last - first
    scale, zero_point = width / f32(255), f32(-255) * first / width
    first, last = -zero_point * scale, (f32(255) - zero_point) * scale
    factor = f32(255) / (high - low)
    level = np.rint(np.minimum(np.maximum(x, low), high) * factor - low * factor)
    return (level.astype(f64) * ((last - first) / f32(255)).astype(f64) + first).astype(f32)


def quantize_v2_by_magnitude(x: Array, low: Array, high: Array) -> Array:
    """SCALED to int8, symmetric about 0: 127 over the greater magnitude of the range."""
    q = away(x * (f32(127) / np.maximum(np.abs(low), np.abs(high))))
    return np.clip(np.nan_to_num(q, nan=-128.0), -128, 127).astype(np.int8)
