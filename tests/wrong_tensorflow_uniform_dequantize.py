"""UniformDequantize that is wrong on purpose, each in one way, and right ones, in Python's fractions or NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "tensorflow.UniformDequantize"
WIDE = (("int32", "float32"),)
EVERY = (("int8", "float32"), ("uint8", "float32"), *WIDE)
WORD = 1 << 31


def in_float32(value: Fraction) -> np.float32:
    """A rational number rounded once."""
    near = np.float32(float(value)) if abs(value) < 1 << 128 else np.float32(math.copysign(math.inf, value))
    if not np.isfinite(near):
        return near
    sides = (near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf)))
    finite = [side for side in sides if np.isfinite(side)]
    return min(finite, key=lambda side: (abs(Fraction(float(side)) - value), int(side.view(np.uint32)) & 1))


@dataclass(frozen=True)
class Dequantizer:
    """By its parts, each right by default. `place` is the index of a slice's parameters, of so many."""

    read: Callable[[int, Any, Any], int] = lambda x, kind, node: x
    difference: Callable[[int, int, Any], int] = lambda x, zero, kind: x - zero
    product: Callable[[int, Fraction], Any] = lambda d, scale: in_float32(d * scale)
    place: Callable[[int, int], int] = lambda index, count: index
    axis: Callable[[int, int], int] = lambda axis, rank: axis

    def __call__(self, node: Any, x: Array, scales: Array, points: Array) -> tuple[Array, ...]:
        axis, kind, out = node.value("quantization_axis"), np.iinfo(x.dtype), np.zeros(x.shape, np.float32)
        for at in np.ndindex(x.shape):
            own = self.place(at[self.axis(axis, x.ndim)] % scales.size, scales.size) % scales.size if axis >= 0 else 0
            scale, point = float(scales.reshape(-1)[own]), int(points.reshape(-1)[own])
            if math.isfinite(scale):
                found = self.difference(self.read(int(x[at]), kind, node), point, kind)
                out[at] = self.product(found, Fraction(scale))
        return (out,)


RIGHT_PARTS = Dequantizer()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = EVERY, **parts: Any) -> WrongBackend:
    return WrongBackend(f"uniform-dequantize: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


def wrapped(value: int, kind: Any) -> int:
    return (value - int(kind.min)) % (1 << kind.bits) + int(kind.min)


def bfloat16(value: Fraction) -> Fraction:
    part, exponent = math.frexp(float(value))
    return Fraction(round(Fraction(part) * 256)) / 256 * Fraction(2) ** exponent


def clipped(x: int, kind: Any, node: Any) -> int:
    return min(max(x, node.value("quantization_min_val")), node.value("quantization_max_val"))


WRONG = [
    wrong("no zero point", "ScaleNotPowerOfTwo", difference=lambda x, zero, kind: x),
    wrong("adds the zero point", "ScaleNotPowerOfTwo", difference=lambda x, zero, kind: x + zero),
    wrong("difference reversed", "ScaleNotPowerOfTwo", difference=lambda x, zero, kind: zero - x),
    wrong("difference wraps in int32", "WideSum",
          difference=lambda x, zero, kind: (x - zero + WORD) % (1 << 32) - WORD),
    wrong("difference wraps in the input's type", "WideSum",
          difference=lambda x, zero, kind: wrapped(x - zero, kind)),
    wrong("difference saturates in the input's type", "WideSum",
          difference=lambda x, zero, kind: min(max(x - zero, int(kind.min)), int(kind.max))),
    wrong("zero point of 8 bits", "WideSum", EVERY[:1], difference=lambda x, zero, kind: x - (zero + 128) % 256 + 128),
    wrong("input clipped to the range", "NarrowRange", read=clipped),
    wrong("input read as unsigned", "RangeEdge", EVERY[:1], read=lambda x, kind, node: x % (1 << kind.bits)),
    wrong("input read as signed", "RangeEdge", EVERY[1:2], read=lambda x, kind, node: x - 256 * (x > 127)),
    wrong("divides by the scale", "ScaleNotPowerOfTwo",
          product=lambda d, scale: in_float32(d / scale) if scale else np.float32(0)),
    wrong("no scale", "ScaleNotPowerOfTwo", product=lambda d, scale: in_float32(Fraction(d))),
    wrong("scale in bfloat16", "ScaleNotPowerOfTwo", product=lambda d, scale: in_float32(d * bfloat16(scale))),
    wrong("product in bfloat16", "ScaleNotPowerOfTwo", product=lambda d, scale: in_float32(bfloat16(d * scale))),
    wrong("magnitude of the scale", "NegativeScale", product=lambda d, scale: in_float32(d * abs(scale))),
    wrong("negative results to zero", "NegativeScale",
          product=lambda d, scale: max(in_float32(d * scale), np.float32(0))),
    wrong("flushes scales", "Subnormal",
          product=lambda d, scale: in_float32(d * scale if abs(scale) >= Fraction(1, 1 << 126) else Fraction(0))),
    wrong("rounded to float64 first, cut off", "ScaleNotPowerOfTwo",
          product=lambda d, scale: toward_zero(d * scale)),
    wrong("first scale for all", "PerAxis", place=lambda index, count: 0),
    wrong("next scale", "PerAxis", place=lambda index, count: index + 1),
    wrong("scales reversed", "PerAxis", place=lambda index, count: count - 1 - index),
    wrong("always the last axis", "PerAxis", axis=lambda axis, rank: rank - 1),
    wrong("always the first axis", "PerAxis", axis=lambda axis, rank: 0),
]  # fmt: skip


def toward_zero(value: Fraction) -> Any:
    near = in_float32(value)
    beyond = np.isfinite(near) and abs(Fraction(float(near))) > abs(value)
    return np.nextafter(near, np.float32(0)) if beyond else near


def in_float32_steps(node: Any, x: Array, scales: Array, points: Array) -> tuple[Array, ...]:
    """The document's steps in NumPy's types."""
    axis = node.value("quantization_axis")
    sizes = [-1 if at == axis else 1 for at in range(x.ndim)]
    scale, point = (array.reshape(sizes) if axis >= 0 else array for array in (scales, points))
    return (np.asarray((x.astype(np.int64) - point.astype(np.int64)).astype(np.float32) * scale),)


RIGHT = [
    WrongBackend("uniform-dequantize, right: in fractions", OPERATOR, RIGHT_PARTS, "", EVERY),
    WrongBackend("uniform-dequantize, right: in float32 steps", OPERATOR, in_float32_steps, "", EVERY),
]
