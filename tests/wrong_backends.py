"""Backends that are wrong on purpose, each in one way, and right ones; `Wrong` says which flag must name the defect."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from arithmetic_of_mistakes import (
    ALL_MODES,
    DIRECTED,
    EVEN,
    NEAREST,
    Arithmetic,
    absolute_scale,
    approximate_division,
    away_half,
    cast_first,
    clamp_as_signed,
    clamp_first,
    clamp_first_wrap,
    epsilon,
    first_scale,
    first_zero_point,
    floor_half,
    flush_inputs,
    flush_quotient,
    flush_scale,
    fraction_by_floor,
    fused_zero_point,
    in_places,
    last_dimension_of_one,
    magic_number,
    minus_zero_point,
    multiply,
    narrow_high,
    narrow_low,
    no_clamp,
    no_zero_point,
    of_rank,
    other_axes,
    quotient_in,
    reciprocal_in,
    reversed_scales,
    right_double,
    right_long_double,
    right_own_type,
    saturate_high_only,
    saturate_low_only,
    signed_zero_point,
    small_scale_raised,
    sum_in,
    swapped_axes,
    tail,
    trunc_half,
    truncate,
    two_decimals,
    with_mode,
    zero_point_first,
)

F32_8 = (("float32", "uint8"), ("float32", "int8"))
EVERY_REAL = tuple((real, "int8") for real in ("float16", "bfloat16", "float32", "float64"))
F32_ALL = tuple(("float32", quantized) for quantized in ("int4", "uint4", "int8", "uint8", "int16", "uint16"))
F32_32 = (("float32", "int32"), ("float32", "uint32"))


@dataclass(frozen=True)
class Wrong:
    """`arithmetic` claiming `operator`: for each of `types`, each of `modes` must be caught by a vector with `flag`."""

    name: str
    arithmetic: Arithmetic
    flag: str
    modes: tuple[str, ...] = ALL_MODES
    types: tuple[tuple[str, str], ...] = F32_8
    operator: str = "ngraph.Quantize"


def onnx(name: str, arithmetic: Arithmetic, flag: str, types: tuple[tuple[str, str], ...] = F32_8) -> Wrong:
    return Wrong(name, arithmetic, flag, EVEN, types, "onnx.QuantizeLinear")


WRONG = (
    Wrong("reciprocal", reciprocal_in(None), "Reciprocal", types=EVERY_REAL),
    Wrong("reciprocal in float32", reciprocal_in(np.float32), "Reciprocal", DIRECTED, (("bfloat16", "uint8"),)),
    Wrong("reciprocal in float64", reciprocal_in(np.float64), "Reciprocal", DIRECTED),
    Wrong("approximate division", approximate_division, "ScaleNotPowerOfTwo"),
    Wrong("float32 for float64", quotient_in(np.float32), "PrecisionSensitive", types=(("float64", "uint8"),)),
    Wrong("bfloat16 for float32", quotient_in(ml_dtypes.bfloat16), "NearTie"),
    Wrong("float16 for float32", quotient_in(np.float16), "NearTie"),
    Wrong("float64 quotient for 32-bit outputs", quotient_in(np.float64), "PrecisionSensitive", types=(F32_32[0],)),
    Wrong("multiplies by scale", multiply, "ScaleNotPowerOfTwo"),
    Wrong("floor(q + 0.5) in float32", floor_half, "AddHalf", ("ROUND_NEAREST_UPWARD",)),
    Wrong("floor(q + 0.5) in float32, wide", floor_half, "LargeOdd", ("ROUND_NEAREST_UPWARD",), (F32_32[0],)),
    Wrong("half added to the magnitude", away_half, "AddHalf", ("ROUND_NEAREST_TOWARD_INFINITY",), EVERY_REAL),
    Wrong("int(q + 0.5)", trunc_half, "NearTie", NEAREST),
    Wrong("magic number", magic_number, "LargeOdd", EVEN, (F32_32[0],)),
    Wrong("slightly less than a half", epsilon, "NearTie", NEAREST),
    Wrong("rounds twice", two_decimals, "NearTie"),
    Wrong("zero point before rounding", zero_point_first, "ZeroPointParity"),
    Wrong("zero point before rounding, float64", fused_zero_point, "ZeroPointParity",
          ("ROUND_NEAREST_TOWARD_EVEN", "ROUND_NEAREST_TOWARD_ZERO", "ROUND_NEAREST_TOWARD_INFINITY",
           "ROUND_TOWARD_ZERO", "ROUND_TOWARD_INFINITY")),
    Wrong("zero point ignored", no_zero_point, "ZeroPointParity"),
    Wrong("zero point subtracted", minus_zero_point, "ZeroPointParity"),
    Wrong("zero point read as signed", signed_zero_point, "ZeroPointParity", types=(("float32", "uint8"),)),
    Wrong("sum through float32", sum_in(np.float32), "WideSum", types=F32_32),
    Wrong("sum in float16", sum_in(None), "WideSum", types=(("float16", "int16"), ("bfloat16", "uint16"))),
    Wrong("clamp before zero point", clamp_first, "ClampOrder"),
    Wrong("clamp before zero point, wraps", clamp_first_wrap, "ClampOrder"),
    Wrong("narrow range", narrow_low, "RangeEdge"),
    Wrong("highest never used", narrow_high, "RangeEdge"),
    Wrong("clamped as if signed", clamp_as_signed, "RangeEdge", types=(("float32", "uint8"), ("float64", "uint16"))),
    Wrong("flushed inputs", flush_inputs, "Subnormal", types=EVERY_REAL),
    Wrong("flushed scales", flush_scale, "Subnormal", types=EVERY_REAL),
    Wrong("flushed quotients", flush_quotient, "Subnormal", ("ROUND_UP", "ROUND_DOWN", "ROUND_TOWARD_INFINITY")),
    Wrong("absolute scale", absolute_scale, "NegativeScale"),
    Wrong("smallest scale", small_scale_raised, "Subnormal"),
    Wrong("next axis", other_axes(lambda axes, rank: tuple((a + 1) % rank for a in axes)), "MultiAxis"),
    Wrong("axes from the back", other_axes(lambda axes, rank: tuple(rank - 1 - a for a in axes)), "PerAxis", EVEN),
    Wrong("zero point on another axis",
          other_axes(lambda axes, rank: tuple((a + 1) % rank for a in axes), zero_point_only=True), "MultiAxis"),
    Wrong("axes swapped", swapped_axes, "MultiAxis"),
    Wrong("first scale for all", first_scale, "PerAxis"),
    Wrong("first zero point for all", first_zero_point, "PerAxis"),
    Wrong("scales reversed", reversed_scales, "PerAxis"),
    Wrong("tail of 4 truncated", in_places(tail(4), truncate), "Lane", NEAREST),
    Wrong("tail of 16 truncated", in_places(tail(16), truncate), "Lane", NEAREST),
    Wrong("tail of 64 away from zero", in_places(tail(64), with_mode("ROUND_NEAREST_TOWARD_INFINITY")), "Lane", EVEN),
    Wrong("body of 32 away from zero",
          in_places(lambda i, n: i < n - n % 32, with_mode("ROUND_NEAREST_TOWARD_INFINITY")), "Lane", EVEN),
    Wrong("lane 13 of 16 truncated", in_places(lambda i, n: i % 16 == 13, truncate), "Lane", NEAREST),
    Wrong("beyond 256 elements truncated", in_places(lambda i, n: i >= 256, truncate), "Lane", NEAREST),
    Wrong("last element truncated", in_places(lambda i, n: i == n - 1, truncate), "Lane", NEAREST),
    Wrong("rank 4 truncated", of_rank(lambda rank: rank >= 4, truncate), "Tie", NEAREST),
    Wrong("rank 0 truncated", of_rank(lambda rank: rank == 0, truncate), "Scalar", NEAREST),
    Wrong("last dimension of one", last_dimension_of_one, "MultiAxis"),
    Wrong("fraction by floor", fraction_by_floor, "NearTie",
          ("ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_DOWNWARD"), (("float64", "int8"),)),
    onnx("onnx axis 1 in rank 4", of_rank(lambda rank: rank >= 4, other_axes(lambda axes, rank: (1,))), "PerAxis"),
    onnx("onnx last dimension of one", last_dimension_of_one, "PerAxis"),
    onnx("no clamp", no_clamp, "Saturates", F32_ALL),
    onnx("no lower clamp", saturate_high_only, "Saturates", F32_ALL),
    onnx("no upper clamp", saturate_low_only, "Saturates", F32_ALL),
    onnx("casts to int32 first", cast_first(32), "Overflow", F32_ALL),
    onnx("casts to int16 first", cast_first(16), "Overflow"),
    onnx("casts to int64 first", cast_first(64), "Overflow", F32_ALL),
    onnx("onnx half away", with_mode("ROUND_NEAREST_TOWARD_INFINITY"), "Tie", F32_ALL),
    onnx("onnx truncates", truncate, "NearTie", F32_ALL),
    onnx("onnx reciprocal", reciprocal_in(None), "Reciprocal", F32_ALL),
    onnx("onnx zero point first", zero_point_first, "ZeroPointParity", F32_ALL),
    onnx("onnx clamp first", clamp_first, "ClampOrder", F32_ALL),
    onnx("onnx axis from the back", other_axes(lambda axes, rank: tuple(rank - 1 - a for a in axes)), "PerAxis"),
    onnx("onnx always axis 1", other_axes(lambda axes, rank: (1,)), "PerAxis"),
    onnx("onnx always axis 0", other_axes(lambda axes, rank: (0,)), "PerAxis"),
    onnx("onnx always the last axis", other_axes(lambda axes, rank: (rank - 1,)), "PerAxis"),
)  # fmt: skip

F16_TO_F64 = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32")
RIGHT = (
    Wrong("own type", right_own_type, "", types=tuple((r, q) for r in F16_TO_F64 for q in INTEGERS)),
    Wrong("double", right_double, "", types=F32_ALL),
    Wrong("long double", right_long_double, "", types=F32_32),
    onnx("onnx own type", right_own_type, "", tuple((r, q) for r in F16_TO_F64[:3] for q in INTEGERS[:6])),
    onnx("onnx double", right_double, "", F32_ALL),
)
