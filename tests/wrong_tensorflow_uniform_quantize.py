"""UniformQuantize that is wrong on purpose, each in one way, and right ones, in Python's fractions or NumPy's steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "tensorflow.UniformQuantize"
BYTES = (("float32", "int8"), ("float32", "uint8"))
EVERY = (*BYTES, ("float32", "int32"))
HALF, WORD = Fraction(1, 2), 1 << 31


def upward(value: Fraction) -> int:
    return math.floor(value + HALF)


def away(value: Fraction) -> int:
    return math.floor(abs(value) + HALF) * (1 if value > 0 else -1)


def toward_zero(value: Fraction) -> int:
    return math.ceil(abs(value) - HALF) * (1 if value > 0 else -1)


def held(value: int) -> int:
    """What a cast to int32 makes of a whole number."""
    return value if -WORD <= value < WORD else -WORD


def in_int32(value: int) -> int:
    return (value + WORD) % (1 << 32) - WORD


@dataclass(frozen=True)
class Quantizer:
    """By its parts, each right by default. `place` is the index of a slice's parameters, of so many."""

    divide: Callable[[Fraction, Fraction], Fraction] = lambda x, scale: x / scale
    whole: Callable[[Fraction], int] = upward
    add: Callable[[int, int], int] = lambda whole, zero: whole + zero
    first: Callable[[Fraction, int], int] | None = None  # rounds the quotient with the zero point, in place of both
    clip: Callable[[int, int, int, Any], int] = lambda total, least, greatest, kind: min(max(total, least), greatest)
    place: Callable[[int, int], int] = lambda index, count: index
    axis: Callable[[int, int], int] = lambda axis, rank: axis

    def __call__(self, node: Any, x: Array, scales: Array, points: Array) -> tuple[Array, ...]:
        dtype = node.outputs[0].dtype
        kind, ends = np.iinfo(dtype), [node.value(f"quantization_{end}_val") for end in ("min", "max")]
        axis = node.value("quantization_axis")
        out = np.zeros(x.shape, dtype)
        for at in np.ndindex(x.shape):
            own = self.own(at, x, axis, scales.size)
            scale, point = float(scales.reshape(-1)[own]), int(points.reshape(-1)[own])
            if not (math.isfinite(scale) and scale and math.isfinite(x[at])):
                continue
            total = self.total(Fraction(float(x[at])), Fraction(scale), point)
            found = self.clip(total, *ends, kind)
            out[at] = (found - int(kind.min)) % (1 << kind.bits) + int(kind.min)
        return (out,)

    def own(self, at: tuple[int, ...], x: Array, axis: int, count: int) -> int:
        return self.place(at[self.axis(axis, x.ndim)] % count, count) % count if axis >= 0 else 0

    def total(self, x: Fraction, scale: Fraction, point: int) -> int:
        quotient = self.divide(x, scale)
        return self.first(quotient, point) if self.first else self.add(self.whole(quotient), point)


RIGHT_PARTS = Quantizer()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = BYTES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"uniform-quantize: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


def to_bfloat16(value: Fraction) -> Fraction:
    part, exponent = math.frexp(float(value))
    return Fraction(round(Fraction(part) * 256)) / 256 * Fraction(2) ** exponent


WRONG = [
    wrong("ties to even", "Tie", EVERY, whole=round),
    wrong("ties away", "Tie", EVERY, whole=away),
    wrong("ties toward zero", "Tie", EVERY, whole=toward_zero),
    wrong("ties down", "Tie", EVERY, whole=lambda q: math.ceil(q - HALF)),
    wrong("truncates", "Tie", EVERY, whole=math.trunc),
    wrong("floors", "Tie", EVERY, whole=math.floor),
    wrong("ceils", "NearTie", BYTES, whole=math.ceil),
    wrong("adds half and truncates", "Tie", whole=lambda q: math.trunc(q + HALF)),
    wrong("adds the zero point first, ties to even", "ZeroPointParity", first=lambda q, zero: round(q + zero)),
    wrong("adds the zero point first, ties away", "ZeroPointParity", BYTES[:1],
          first=lambda q, zero: away(q + zero)),
    wrong("no zero point", "ZeroPointParity", EVERY, add=lambda whole, zero: whole),
    wrong("subtracts the zero point", "ZeroPointParity", EVERY, add=lambda whole, zero: whole - zero),
    wrong("zero point of 8 bits", "ZeroPointParity", add=lambda whole, zero: whole + (zero + 128) % 256 - 128),
    wrong("clamps before the zero point", "ClampOrder",
          add=lambda whole, zero: min(max(whole, -128), 255) + zero),
    wrong("always narrow", "RangeEdge",
          clip=lambda total, least, greatest, kind: min(max(total, least, int(kind.min) + 1), greatest)),
    wrong("multiplies by the scale", "ScaleNotPowerOfTwo", divide=lambda x, scale: x * scale),
    wrong("magnitude of the scale", "NegativeScale", EVERY, divide=lambda x, scale: x / abs(scale)),
    wrong("scale in bfloat16", "ScaleNotPowerOfTwo", EVERY, divide=lambda x, scale: x / to_bfloat16(scale)),
    wrong("input in bfloat16", "NearTie", EVERY, divide=lambda x, scale: to_bfloat16(x) / scale),
    wrong("flushes scales", "Subnormal",
          divide=lambda x, scale: x / scale if abs(scale) >= Fraction(1, 1 << 126) else Fraction(0)),
    wrong("first scale for all", "PerAxis", EVERY, place=lambda index, count: 0),
    wrong("next scale", "PerAxis", EVERY, place=lambda index, count: index + 1),
    wrong("scales reversed", "PerAxis", EVERY, place=lambda index, count: count - 1 - index),
    wrong("always the last axis", "PerAxis", EVERY, axis=lambda axis, rank: rank - 1),
    wrong("always the first axis", "PerAxis", EVERY, axis=lambda axis, rank: 0),
]  # fmt: skip


def in_float32_steps(node: Any, x: Array, scales: Array, points: Array) -> tuple[Array, ...]:
    """The document's steps in NumPy's float32."""
    axis = node.value("quantization_axis")
    sizes = [-1 if at == axis else 1 for at in range(x.ndim)]
    scale, point = (array.reshape(sizes) if axis >= 0 else array for array in (scales, points))
    half_more = x * (np.float32(1) / scale) + np.float32(0.5)
    whole = np.clip(np.nan_to_num(np.floor(half_more).astype(np.float64)), -(2.0**40), 2.0**40)
    ends = (node.value(f"quantization_{end}_val") for end in ("min", "max"))
    found = np.clip(whole + point.astype(np.float64), *ends)
    return (found.astype(np.int64).astype(node.outputs[0].dtype).reshape(x.shape),)


RIGHT = [
    WrongBackend("uniform-quantize, right: in fractions", OPERATOR, RIGHT_PARTS, "", EVERY),
    WrongBackend("uniform-quantize, right: in float32 steps", OPERATOR, in_float32_steps, "", EVERY),
    # The document says nothing of what is beyond the range.
    wrong("casts to int32", "Overflow", EVERY, add=lambda whole, zero: held(whole) + zero),
    wrong("sum wraps in int32", "WideSum", EVERY,
          add=lambda whole, zero: in_int32(min(max(whole, -WORD), WORD - 1) + zero)),
    wrong("wraps", "Saturates", EVERY, clip=lambda total, least, greatest, kind: total),
    wrong("ignores the range", "NarrowRange", EVERY,
          clip=lambda total, least, greatest, kind: min(max(total, int(kind.min)), int(kind.max))),
    wrong("ignores quantization_min_val", "NarrowRange",
          clip=lambda total, least, greatest, kind: min(max(total, int(kind.min)), greatest)),
    wrong("ignores quantization_max_val", "NarrowRange",
          clip=lambda total, least, greatest, kind: min(max(total, least), int(kind.max))),
]  # fmt: skip
