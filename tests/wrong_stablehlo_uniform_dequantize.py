"""StableHLO's uniform_dequantize that is wrong on purpose, each in one way, and right ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from wrong_stablehlo_uniform_quantize import Limits, limits, spread
from wrong_tensorflow_uniform_dequantize import bfloat16, in_float32, toward_zero

from wrong_model import Array, WrongBackend

OPERATOR = "stablehlo.uniform_dequantize"
EVERY = (("int8", "float32"), ("uint8", "float32"), ("int16", "float32"), ("int32", "float32"))


def wrapped(value: int, kind: Limits) -> int:
    return (value - kind.min) % (1 << kind.bits) + kind.min


@dataclass(frozen=True)
class Dequantizer:
    """By its parts, each right by default, to float32. `place` is the index of a slice's parameters, of so many."""

    read: Callable[[int, Limits], int] = lambda x, kind: x
    difference: Callable[[int, int, Limits], int] = lambda x, zero, kind: x - zero
    product: Callable[[int, Fraction], Any] = lambda d, scale: in_float32(d * scale)
    place: Callable[[int, int], int] = lambda index, count: index
    axis: Callable[[int, int], int] = lambda axis, rank: axis

    def __call__(self, node: Any, x: Array, scales: Array, points: Array) -> tuple[Array, ...]:
        axis, kind, out = node.value("quantization_dimension"), limits(x.dtype), np.zeros(x.shape, np.float32)
        for at in np.ndindex(x.shape):
            own = self.place(at[self.axis(axis, x.ndim)] % scales.size, scales.size) % scales.size if axis >= 0 else 0
            scale, point = Fraction(float(scales.reshape(-1)[own])), int(points.reshape(-1)[own])
            out[at] = self.product(self.difference(self.read(int(x[at]), kind), point, kind), scale)
        return (out,)


RIGHT_PARTS = Dequantizer()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = EVERY, **parts: Any) -> WrongBackend:
    return WrongBackend(f"stablehlo-dequantize: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


WRONG = [
    wrong("no zero point", "ScaleNotPowerOfTwo", difference=lambda x, zero, kind: x),
    wrong("adds the zero point", "ScaleNotPowerOfTwo", difference=lambda x, zero, kind: x + zero),
    wrong("difference reversed", "ScaleNotPowerOfTwo", difference=lambda x, zero, kind: zero - x),
    wrong("difference wraps in the storage type", "WideSum", difference=lambda x, zero, kind: wrapped(x - zero, kind)),
    wrong("difference saturates in the storage type", "WideSum",
          difference=lambda x, zero, kind: min(max(x - zero, kind.min), kind.max)),
    wrong("operand read as unsigned", "RangeEdge", EVERY[:1], read=lambda x, kind: x % 256),
    wrong("operand read as signed", "RangeEdge", EVERY[1:2], read=lambda x, kind: x - 256 * (x > 127)),
    wrong("divides by the scale", "ScaleNotPowerOfTwo", product=lambda d, scale: in_float32(d / scale)),
    wrong("no scale", "ScaleNotPowerOfTwo", product=lambda d, scale: in_float32(Fraction(d))),
    wrong("scale in bfloat16", "ScaleNotPowerOfTwo", product=lambda d, scale: in_float32(d * bfloat16(scale))),
    wrong("product in bfloat16", "ScaleNotPowerOfTwo", product=lambda d, scale: in_float32(bfloat16(d * scale))),
    wrong("negative results to zero", "ScaleNotPowerOfTwo",
          product=lambda d, scale: max(in_float32(d * scale), np.float32(0))),
    wrong("flushes scales", "Subnormal",
          product=lambda d, scale: in_float32(d * scale if scale >= Fraction(1, 1 << 126) else Fraction(0))),
    wrong("product cut off", "ScaleNotPowerOfTwo", product=lambda d, scale: toward_zero(d * scale)),
    wrong("first scale for all", "PerAxis", place=lambda index, count: 0),
    wrong("next scale", "PerAxis", place=lambda index, count: index + 1),
    wrong("scales reversed", "PerAxis", place=lambda index, count: count - 1 - index),
    wrong("always the last axis", "PerAxis", axis=lambda axis, rank: rank - 1),
    wrong("always the first axis", "PerAxis", axis=lambda axis, rank: 0),
]  # fmt: skip


def in_steps(node: Any, x: Array, scales: Array, points: Array) -> tuple[Array, ...]:
    """The document's steps in NumPy's types."""
    scale, zero = spread(node.value("quantization_dimension"), x, scales, points)
    with np.errstate(all="ignore"):
        difference = (x.astype(np.int64) - zero.astype(np.int64)).astype(node.outputs[0].dtype)
        return (np.asarray(difference * scale).astype(node.outputs[0].dtype).reshape(x.shape),)


RIGHT = [
    WrongBackend("stablehlo-dequantize, right: in fractions", OPERATOR, RIGHT_PARTS, "", EVERY),
    WrongBackend("stablehlo-dequantize, right: in steps", OPERATOR, in_steps, "",
                 (*EVERY, ("int8", "float16"))),
]  # fmt: skip
