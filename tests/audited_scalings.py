"""Black boxes of integers times a factor whose semantics are known, written as runtimes write them.

RESCALES are functions of RESCALE's inputs, REQUANTIZATIONS of Requantize's; each with its node and what an audit should
find. OUTSIDE are in no table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Box = Callable[..., Array]
Expected = dict[str, str]
i64, f32 = np.int64, np.float32


def whole(*arrays: Array) -> list[Array]:
    return [array.astype(i64) for array in arrays]


def clip(values: Array, kind: str) -> Array:
    ends = np.iinfo(kind)
    return np.clip(values, ends.min, ends.max).astype(kind)


# gemmlowp's fixed point


def doubling_high_mul(a: Array, b: Array) -> Array:
    """SaturatingRoundingDoublingHighMul, without the one case that saturates."""
    product = a * b
    nudge = np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    return np.where(product + nudge >= 0, product + nudge, product + nudge + (1 << 31) - 1) >> 31


def divide_by_power(x: Array, exponent: Array) -> Array:
    """RoundingDivideByPOT."""
    mask = (i64(1) << exponent) - 1
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + ((x & mask) > threshold)


def shift_upward(x: Array, shift: Array) -> Array:
    return np.where(shift > 0, (x + (i64(1) << np.maximum(shift - 1, 0))) >> shift, x)


def gemmlowp(second: Callable[[Array, Array], Array], kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    left, right = np.maximum(31 - shift, 0), np.maximum(shift - 31, 0)
    return clip(second(doubling_high_mul((x - first) << left, multiplier), right) + last, kind)


# One shift


def one_shift(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    return clip(shift_upward((x - first) * multiplier, shift) + last, kind)


def away(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    product = (x - first) * multiplier
    return clip(np.sign(product) * shift_upward(np.abs(product), shift) + last, kind)


def truncating(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    product = (x - first) * multiplier
    return clip(np.sign(product) * (np.abs(product) >> shift) + last, kind)


def wrapping(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    return (shift_upward((x - first) * multiplier, shift) + last).astype(kind)


def clamping_first(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    rounded = clip(shift_upward((x - first) * multiplier, shift), kind).astype(i64)
    return clip(rounded + last, kind)


def signed_zero_point(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs[:3], inputs[3].view(np.int8), inputs[4])
    return clip(shift_upward((x - first) * multiplier, shift) + last, kind)


def short_multiplier(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    short = (multiplier + (1 << 15)) >> 16
    return clip(shift_upward((x - first) * short, shift - 16) + last, kind)


def cut_multiplier(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    return clip(shift_upward((x - first) * (multiplier >> 16), shift - 16) + last, kind)


def in_float32(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    factor = np.ldexp(multiplier.astype(np.float64), -shift.astype(np.int32)).astype(f32)
    return clip(np.rint((x - first).astype(f32) * factor).astype(i64) + last, kind)


def in_float32_with_zero_point(kind: str, *inputs: Array) -> Array:
    x, multiplier, shift, first, last = whole(*inputs)
    factor = np.ldexp(multiplier.astype(np.float64), -shift.astype(np.int32)).astype(f32)
    return clip(np.rint((x - first).astype(f32) * factor + last.astype(f32)).astype(i64), kind)


PLAIN = {"reading": "own-types", "factor": "as-given", "zero_point": "after-rounding", "saturation": "saturate"}
UP, AWAY, EVEN = "ROUND_NEAREST_UPWARD", "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_NEAREST_TOWARD_EVEN"
ONCE = {"position": "once", "second_rounding": "none", "round_mode": UP}
RESCALES: list[tuple[str, str, dict[str, Any], Box, Expected]] = [  # types of input and output, attributes
    ("int32", "int8", {}, one_shift, PLAIN | ONCE),
    ("int32", "int32", {}, one_shift, ONCE),
    ("int8", "int8", {}, away, PLAIN | ONCE | {"round_mode": AWAY}),
    ("int16", "int16", {"scale32": False}, truncating, ONCE | {"round_mode": "ROUND_TOWARD_ZERO"}),
    (
        *("int32", "int8", {"rounding_mode": "DOUBLE_ROUND"}, partial(gemmlowp, divide_by_power)),
        PLAIN | {"position": "at-31", "round_mode": UP, "second_rounding": AWAY},
    ),
    (
        *("int8", "int8", {}, partial(gemmlowp, shift_upward)),
        PLAIN | {"position": "at-31", "round_mode": UP, "second_rounding": UP},
    ),
    ("int32", "int8", {}, wrapping, PLAIN | ONCE | {"saturation": "wrap"}),
    ("int16", "int8", {}, clamping_first, PLAIN | ONCE | {"saturation": "clamp-first"}),
    ("uint8", "int8", {}, signed_zero_point, PLAIN | ONCE | {"reading": "zero-point-as-other-sign"}),
    ("int8", "int16", {}, short_multiplier, ONCE | {"factor": "of-16-bits"}),
    ("int8", "uint8", {}, cut_multiplier, PLAIN | ONCE | {"factor": "cut-to-16-bits"}),
    ("int32", "int16", {}, in_float32, {"position": "float32", "round_mode": EVEN, "second_rounding": "none"}),
    (
        *("int8", "int8", {}, in_float32_with_zero_point),
        {"position": "float32", "round_mode": EVEN, "zero_point": "before-rounding", "saturation": "saturate"},
    ),
]


# Requantizations


def quantized_multiplier(scale: Array, other: Array) -> tuple[int, int]:
    part, shift = np.frexp(np.float64(scale) / np.float64(other))
    found = int(np.floor(part * 2.0**31 + 0.5))
    return (found // 2, int(shift) + 1) if found == 1 << 31 else (found, int(shift))


def by_multiplier(box: Box, kind: str, *inputs: Array) -> Array:
    """A box of RESCALE with the multiplier and the shift of two scales."""
    x, scale, first, other, last = inputs
    multiplier, shift = quantized_multiplier(scale, other)
    return box(kind, x, np.array([multiplier]), np.array([31 - shift]), first, last)


def through_numbers(kind: str, x: Array, scale: Array, first: Array, other: Array, last: Array) -> Array:
    number = (x.astype(np.int32) - first.astype(np.int32)).astype(f32) * scale
    return clip(np.rint(number / other).astype(i64) + last.astype(i64), kind)


def through_reciprocal(kind: str, x: Array, scale: Array, first: Array, other: Array, last: Array) -> Array:
    number = (x.astype(np.int32) - first.astype(np.int32)).astype(f32) * scale
    return clip(np.rint(number * (f32(1) / other)).astype(i64) + last.astype(i64), kind)


def of_eight_bits(kind: str, x: Array, scale: Array, first: Array, other: Array, last: Array) -> Array:
    """As XNNPACK converts: units of 1/256, and one shift."""
    factor = np.rint(scale / other * f32(256)).astype(i64)
    return clip(((x.astype(i64) - first) * factor + 128 >> 8) + last, kind)


def by_float32_ratio(kind: str, x: Array, scale: Array, first: Array, other: Array, last: Array) -> Array:
    return clip(np.rint((x.astype(i64) - first).astype(f32) * (scale / other)).astype(i64) + last, kind)


OF_31 = {"reading": "own-types", "factor": "31-bits", "zero_point": "after-rounding", "saturation": "saturate"}
REQUANTIZATIONS: list[tuple[str, str, dict[str, Any], Box, Expected]] = [
    ("int8", "int8", {"rounding": "single"}, partial(by_multiplier, one_shift), OF_31 | ONCE),
    (
        *("int16", "int8", {"rounding": "double"}, partial(by_multiplier, partial(gemmlowp, divide_by_power))),
        OF_31 | {"position": "at-31", "round_mode": UP, "second_rounding": AWAY},
    ),
    (
        *("uint8", "int8", {}, partial(by_multiplier, partial(gemmlowp, shift_upward))),
        OF_31 | {"position": "at-31", "round_mode": UP, "second_rounding": UP},
    ),
    ("int8", "uint8", {}, through_numbers, {"position": "dequantized", "round_mode": EVEN, "factor": "real"}),
    ("int16", "int16", {}, through_reciprocal, {"position": "dequantized-reciprocal", "round_mode": EVEN}),
    ("int8", "int8", {}, of_eight_bits, ONCE | {"factor": "8-fraction-bits"}),
    ("int16", "int16", {}, by_float32_ratio, {"position": "float32", "round_mode": EVEN, "factor": "real"}),
]


# In no table


def afraid_of_five(kind: str, *inputs: Array) -> Array:
    found = one_shift(kind, *inputs)
    return np.where(found == 5, 6, found).astype(kind)


def constant_lost(kind: str, *inputs: Array) -> Array:
    """What rounds is made in 32 bits, where it is gone for the larger shifts."""
    x, multiplier, shift, first, last = whole(*inputs)
    half = np.where(shift > 31, 0, i64(1) << np.maximum(shift - 1, 0))
    return clip(((x - first) * multiplier + half >> shift) + last, kind)


OUTSIDE: list[Box] = [afraid_of_five, constant_lost]
