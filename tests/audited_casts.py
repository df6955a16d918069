"""Black boxes of casts whose semantics are known: bits moved about, look-ups in a table, lines of NumPy.

Each is a function of the input. KNOWN has its node and what an audit should find; of what is left off, BASE.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Box = Callable[[Array], Array]
Expected = dict[str, str | list[str]]
f16, f32, f64 = np.float16, np.float32, np.float64
E4M3, E5M2, E4M3Z = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz
E8M0, FLOAT4, INT4, UINT4 = ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn, ml_dtypes.int4, ml_dtypes.uint4


# To float 8 and float 4.


def as_ml_dtypes(to: Any, x: Array) -> Array:
    return x.astype(to)


def through(first: Any, to: Any, x: Array) -> Array:
    return x.astype(first).astype(to)


def carried_twice(x: Array) -> Array:
    """As OpenVINO: float16 by its bits, rounded as a normal number first; then float8_e5m2."""
    bits = x.view(np.uint32).astype(np.int64)
    exponent, fraction = ((bits >> 23) & 255) - 112, bits & 0x7FFFFF
    carry = fraction >= 0x7FF000  # 11 bits round it up to the next power of two
    shift = np.clip(1 - (exponent + carry), 0, 60)
    whole = np.ldexp((fraction | 0x800000).astype(f64), -(13 + shift).astype(np.int32))
    tiny = np.copysign(np.rint(whole) * 2.0**-24, x)
    return np.where((exponent + carry <= 0) & np.isfinite(x), tiny, x).astype(f16).astype(E5M2)


def clipped(to: Any, x: Array) -> Array:
    largest = f32(ml_dtypes.finfo(to).max)
    return np.clip(x, -largest, largest).astype(to)


def only_finite_clipped(x: Array) -> Array:
    return np.where(np.isinf(x), f32(np.nan), np.clip(x, f32(-448), f32(448))).astype(E4M3)


def clipped_at_240(x: Array) -> Array:
    return np.clip(x, f32(-240), f32(240)).astype(E4M3)


def first_bits(x: Array) -> Array:
    """bfloat16 by its first 16 bits, then float 8; NaN keeps one of them."""
    return (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(f32).astype(E5M2)


def looked_up(pick: Callable[[Array, Array, Array, Array], Array], x: Array) -> Array:
    """A float8_e4m3fn in a table of all magnitudes; beyond its end the largest one.

    `pick` says whether the upper one of two neighbours is taken, from the magnitude, the neighbours and the sign.
    """
    table = np.arange(127, dtype=np.uint8).view(E4M3).astype(f64)
    size = np.minimum(np.nan_to_num(np.abs(x.astype(f64)), nan=0.0), 448.0)
    low = np.clip(np.searchsorted(table, size, side="right") - 1, 0, 125)
    upper = pick(size, table[low], table[low + 1], np.signbit(x))
    code = np.where(np.isnan(x), 0x7F, low + upper)
    return (code + 128 * np.signbit(x)).astype(np.uint8).view(E4M3)


def cuts(size: Array, low: Array, high: Array, negative: Array) -> Array:
    return size >= high


def away(size: Array, low: Array, high: Array, negative: Array) -> Array:
    return size * 2 >= low + high


def ties_up(size: Array, low: Array, high: Array, negative: Array) -> Array:
    return np.where(negative, size * 2 > low + high, size * 2 >= low + high)


def down(size: Array, low: Array, high: Array, negative: Array) -> Array:
    return np.where(negative, size > low, size >= high)


def bit_by_bit(x: Array) -> Array:
    """float8_e4m3fn without saturation as onnxruntime moves the bits: a whole step beyond 448 is still 448."""
    found = []
    for word in x.view(np.uint32).tolist():
        exponent, rest, code = word >> 23 & 255, word & 0x7FFFFF, 0
        if exponent >= 136:
            code = 0x7F
        elif exponent >= 121:
            code = (exponent - 120) << 3 | rest >> 20
            code = 0x7E if code == 0x7F else code
            if rest & 0x80000 and (rest & 0x100000 or rest & 0x7FFFF):
                code += 1
        elif exponent >= 116:
            whole = (1 << 23 | rest) / 2.0 ** (141 - exponent)
            code = round(whole)
        found.append(word >> 24 & 0x80 | code)
    return np.array(found, np.uint8).view(E4M3)


def flushes_results(x: Array) -> Array:
    found = x.astype(E5M2)
    return np.where(np.abs(found.astype(f32)) < 2.0**-14, np.copysign(f32(0), x), found.astype(f32)).astype(E5M2)


def loses_minus_zero(x: Array) -> Array:
    found = x.astype(E5M2)
    return np.where(found.astype(f32) == 0, f32(0), found.astype(f32)).astype(E5M2)


def zero_for_nan(x: Array) -> Array:
    return np.nan_to_num(np.clip(x, f32(-6), f32(6)), nan=0.0).astype(FLOAT4)


# To integers.


def rounds_and_clips(x: Array) -> Array:
    return np.clip(np.rint(np.nan_to_num(x)), -8, 7).astype(np.int8).astype(INT4)


def low_bits(whole: Array) -> Array:
    nibble = np.mod(np.nan_to_num(whole.astype(f64), posinf=0.0, neginf=0.0), 16.0)
    return np.where(nibble > 7, nibble - 16, nibble).astype(np.int8).astype(INT4)


def rounds_away_and_wraps(x: Array) -> Array:
    return low_bits(np.copysign(np.floor(np.abs(x.astype(f64)) + 0.5), x))


def adds_half_and_wraps(x: Array) -> Array:
    return low_bits(np.trunc(x + np.copysign(f32(0.5), x)))


def casts_to_int32(x: Array) -> Array:
    """As x86 does it."""
    fits = (np.trunc(x) >= -(2.0**31)) & (np.trunc(x) < 2.0**31)
    return low_bits(np.where(fits, np.trunc(x), -(2.0**31)))


def saturates_to_bytes(x: Array) -> Array:
    return low_bits(np.clip(np.nan_to_num(np.rint(x)), -128, 127))


# To powers of two.


def ceil_of_logarithm(x: Array) -> Array:
    """Nothing is said of negative numbers and NaN: they are NaN."""
    fraction, exponent = np.frexp(x.astype(f64))
    code = np.clip(exponent - 1 + (fraction > 0.5) + 127, 0, 254)
    code = np.where(x == 0, 0, np.where(x == np.inf, 254, code))
    return np.where((x < 0) | np.isnan(x), 255, code).astype(np.uint8).view(E8M0)


def field_rounded_up(x: Array) -> Array:
    """As the ONNX reference evaluator: the exponent's field, one more if there is anything behind it."""
    word = x.view(np.uint32)
    field = (word >> 23 & 255).astype(np.int64)
    more = ((word & 0x7FFFFF) != 0) & (field < 254)
    return (field + more).astype(np.uint8).view(E8M0)


# From small types.


def shifted(x: Array) -> Array:
    return (x.view(np.uint8).astype(np.uint16) << 8).view(f16)


def read_as_other_e4m3(x: Array) -> Array:
    return x.view(np.uint8).view(E4M3).astype(f32)


# From integers.


def cuts_whole(x: Array) -> Array:
    """float8_e4m3fn of an integer without the bits behind the first four."""
    size = np.abs(x.astype(np.int64))
    unit = 1 << np.maximum(np.frexp(size.astype(f64))[1] - 4, 0)
    return (np.sign(x.astype(np.int64)) * (size // unit * unit)).astype(f32).astype(E4M3)


def clipped_after(cast: Box, x: Array) -> Array:
    return cast(np.clip(x, -448, 448))


# What no combination describes.


def of_two_minds(x: Array) -> Array:
    return np.where(np.signbit(x), looked_up(away, x).astype(f32), clipped(E4M3, x).astype(f32)).astype(E4M3)


def afraid_of_five(x: Array) -> Array:
    found = clipped(E4M3, x).astype(f32)
    return np.where(found == 5, f32(5.5), found).astype(E4M3)


BASE: Expected = {
    "reading": "own-type",
    "precision": "direct",
    "input_subnormals": "kept",
    "round_mode": "ROUND_NEAREST_TOWARD_EVEN",
    "output_subnormals": "kept",
    "saturation": "saturate",
    "zero": "sign-kept",
    "nan": "nan",
    "positive_infinity": "largest",
    "negative_infinity": "largest",
}
OVER: Expected = {"saturation": "overflow", "positive_infinity": "infinity", "negative_infinity": "infinity"}
OVER_NAN: Expected = {"saturation": "overflow", "positive_infinity": "nan", "negative_infinity": "nan"}
ZEROS: Expected = dict.fromkeys(("nan", "positive_infinity", "negative_infinity"), "zero")
WRAPS: Expected = {"saturation": "wrap", **ZEROS}
AWAY: Expected = {"round_mode": "ROUND_NEAREST_TOWARD_INFINITY"}
WHOLE: Expected = {"saturation": "none", "zero": "not-compared"}
POWER: Expected = {"exponent": "of-number", "round_mode": "up", "zero": "least", "negative": "nan"}
# By name: types of input and output, the box, what differs from BASE.
KNOWN: dict[str, tuple[str, str, Box, Expected]] = {
    "clipped": ("float32", "float8_e4m3fn", partial(clipped, E4M3), {}),
    "clipped e5m2 of float16": ("float16", "float8_e5m2", partial(clipped, E5M2), {}),
    "one zero": ("float32", "float8_e4m3fnuz", partial(clipped, E4M3Z), {"zero": "not-compared"}),
    "ml_dtypes": ("float32", "float8_e5m2", partial(as_ml_dtypes, E5M2), OVER),
    "ml_dtypes of float64": ("float64", "float8_e5m2", partial(as_ml_dtypes, E5M2), {**OVER, "precision": "float32"}),
    "carries twice": ("float32", "float8_e5m2", carried_twice, {**OVER, "precision": "float16-carried-twice"}),
    "through float16": ("float32", "float8_e4m3fn", partial(through, f16, E4M3), {**OVER_NAN, "precision": "float16"}),
    "through bfloat16": (
        "float32",
        "float8_e5m2",
        partial(through, ml_dtypes.bfloat16, E5M2),
        {**OVER, "precision": "bfloat16"},
    ),
    "first bits": ("float32", "float8_e5m2", first_bits, {**OVER, "precision": "cut-to-bfloat16"}),
    "infinity is NaN": (
        "float32",
        "float8_e4m3fn",
        only_finite_clipped,
        {"positive_infinity": "nan", "negative_infinity": "nan"},
    ),
    "clipped at 240": (
        "float32",
        "float8_e4m3fn",
        clipped_at_240,
        {
            "saturation": "saturate-at-240",
            "positive_infinity": "as-large-numbers",
            "negative_infinity": "as-large-numbers",
        },
    ),
    "cuts": ("float32", "float8_e4m3fn", partial(looked_up, cuts), {"round_mode": "ROUND_TOWARD_ZERO"}),
    "away": ("float32", "float8_e4m3fn", partial(looked_up, away), AWAY),
    "ties up": ("float32", "float8_e4m3fn", partial(looked_up, ties_up), {"round_mode": "ROUND_NEAREST_UPWARD"}),
    "down": ("float32", "float8_e4m3fn", partial(looked_up, down), {"round_mode": "ROUND_DOWN"}),
    "bit by bit": ("float32", "float8_e4m3fn", bit_by_bit, {**OVER_NAN, "saturation": "overflow-after-step"}),
    "flushes results": ("float32", "float8_e5m2", flushes_results, {**OVER, "output_subnormals": "flushed"}),
    "loses minus zero": ("float32", "float8_e5m2", loses_minus_zero, {**OVER, "zero": "positive"}),
    "float6": (
        "float32",
        "float6_e2m3fn",
        partial(as_ml_dtypes, ml_dtypes.float6_e2m3fn),
        {"nan": "zero-of-other-sign"},
    ),
    "float4": (
        "float32",
        "float4_e2m1fn",
        partial(as_ml_dtypes, FLOAT4),
        {"nan": "zero-of-other-sign"},
    ),
    "float4 with zero for NaN": (
        "bfloat16",
        "float4_e2m1fn",
        zero_for_nan,
        {"nan": "zero", "precision": ["direct", "float16"]},
    ),
    "int4": ("float32", "int4", rounds_and_clips, {"nan": "zero"}),
    "int4 wraps": ("float32", "int4", rounds_away_and_wraps, {**AWAY, **WRAPS}),
    "int4 adds a half": (
        "float32",
        "int4",
        adds_half_and_wraps,
        {**WRAPS, "round_mode": "half-added-to-magnitude"},
    ),
    "int4 through int32": (
        "float64",
        "int4",
        casts_to_int32,
        {**ZEROS, "round_mode": "ROUND_TOWARD_ZERO", "saturation": "int32-then-wrap"},
    ),
    "int4 by ml_dtypes": (
        "float64",
        "int4",
        partial(as_ml_dtypes, INT4),
        {**ZEROS, "round_mode": "ROUND_TOWARD_ZERO", "saturation": "int32-or-zero-then-wrap"},
    ),
    "int4 of bytes": (
        "float32",
        "int4",
        saturates_to_bytes,
        {
            "saturation": "int8-clamped-then-wrap",
            "nan": "zero",
            "positive_infinity": "minus-one",
            "negative_infinity": "zero",
        },
    ),
    "ceil of logarithm": (
        "float32",
        "float8_e8m0fnu",
        ceil_of_logarithm,
        {**POWER, "negative_infinity": "nan"},
    ),
    "field": (
        "float32",
        "float8_e8m0fnu",
        field_rounded_up,
        {
            **POWER,
            "exponent": "of-field",
            "negative": "magnitude",
            "positive_infinity": "nan",
            "negative_infinity": "nan",
        },
    ),
    "power by ml_dtypes": (
        "float64",
        "float8_e8m0fnu",
        partial(as_ml_dtypes, E8M0),
        {
            "precision": "float32",
            "exponent": "of-field",
            "round_mode": "nearest",
            "saturation": "nan-of-rounded",
            "zero": "nan",
            "negative": "nan",
            "positive_infinity": "nan",
            "negative_infinity": "nan",
        },
    ),
    "shifted": (
        "float8_e5m2",
        "float16",
        shifted,
        {
            "round_mode": "none",
            "saturation": "none",
            "zero": "not-compared",
            "positive_infinity": "infinity",
            "negative_infinity": "infinity",
        },
    ),
    "sibling": (
        "float8_e4m3fnuz",
        "float32",
        read_as_other_e4m3,
        {"nan": "zero", "reading": "sibling-type", "round_mode": "none", "saturation": "none", "zero": "not-compared"},
    ),
    "float8 of int8": ("int8", "float8_e4m3fn", partial(through, f32, E4M3), WHOLE),
    "float8 of uint8": ("uint8", "float8_e5m2", partial(through, f16, E5M2), WHOLE),
    "float8 of int8 cut": ("int8", "float8_e4m3fn", cuts_whole, {**WHOLE, "round_mode": "ROUND_TOWARD_ZERO"}),
    "float16 of int4": ("int4", "float16", partial(as_ml_dtypes, f16), {**WHOLE, "round_mode": "none"}),
    "float8 of int16 through bfloat16": (
        "int16",
        "float8_e5m2",
        partial(through, ml_dtypes.bfloat16, E5M2),
        {**WHOLE, "precision": "bfloat16"},
    ),
    "float8 of int16 cut": (
        "int16",
        "float8_e4m3fn",
        partial(clipped_after, cuts_whole),
        {"zero": "not-compared", "round_mode": "ROUND_TOWARD_ZERO"},
    ),
    "float8 of uint16": (
        "uint16",
        "float8_e5m2",
        partial(through, f32, E5M2),
        {**WHOLE, "saturation": "overflow"},
    ),
    "float8 of uint32 through float16": (
        "uint32",
        "float8_e5m2",
        partial(through, f16, E5M2),
        {**WHOLE, "saturation": "overflow", "precision": ["float16", "float32-then-float16"]},
    ),
    "power of int32 through float32": (
        "int32",
        "float8_e8m0fnu",
        lambda x: field_rounded_up(x.astype(f32)),
        {**POWER, "precision": "float32", "negative": "magnitude"},
    ),
    "power of uint16": (
        "uint16",
        "float8_e8m0fnu",
        lambda x: ceil_of_logarithm(x.astype(f32)),
        {**POWER, "negative": "none"},
    ),
    "float4 of int8": (  # 5 alone is rounded
        "int8",
        "float4_e2m1fn",
        partial(through, f32, FLOAT4),
        {
            "zero": "not-compared",
            "round_mode": ["ROUND_NEAREST_TOWARD_EVEN", "ROUND_NEAREST_TOWARD_ZERO", "ROUND_TOWARD_ZERO"],
        },
    ),
}
