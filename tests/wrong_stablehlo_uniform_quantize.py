"""StableHLO's uniform_quantize that is wrong on purpose, each in one way, and right ones, in fractions or NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from wrong_tensorflow_uniform_quantize import away, to_bfloat16, toward_zero, upward

from wrong_model import Array, WrongBackend

OPERATOR = "stablehlo.uniform_quantize"
BYTES = (("float32", "int8"), ("float32", "uint8"))
EVERY = (*BYTES, ("float32", "int16"), ("float32", "int4"), ("float16", "int8"), ("bfloat16", "uint8"))
INTEGERS = (("int8", "int8"), ("uint8", "int8"), ("int32", "int8"))


def ends_of(node: Any, kind: Any) -> tuple[int, int]:
    least, greatest = (int(node.value(f"storage_{end}")) for end in ("min", "max"))
    return (int(kind.min), int(kind.max)) if least == greatest == 0 else (least, greatest)


def limits(dtype: Any) -> Any:
    """The integer type's ends and bits; NumPy has none of 4 bits."""
    name, bits = dtype.name, int(dtype.name.removeprefix("u").removeprefix("int"))
    low = 0 if name.startswith("u") else -(1 << (bits - 1))
    return Limits(low, low + (1 << bits) - 1, bits)


@dataclass(frozen=True)
class Limits:
    min: int
    max: int
    bits: int


def clamp(total: Fraction, least: int, greatest: int, kind: Any) -> Fraction:
    return min(max(total, Fraction(least)), Fraction(greatest))


@dataclass(frozen=True)
class Quantizer:
    """By its parts, each right by default. `place` is the index of a slice's parameters, of so many."""

    number: Callable[[int, int, Fraction], Fraction] = lambda x, zero, scale: (x - zero) * scale
    read: Callable[[Fraction], Fraction] = lambda x: x
    divide: Callable[[Fraction, Fraction], Fraction] = lambda x, scale: x / scale
    add: Callable[[Fraction, int], Fraction] = lambda quotient, zero: quotient + zero
    whole: Callable[[Fraction], int] = round
    clamp: Callable[[Fraction, int, int, Any], Fraction] = clamp
    place: Callable[[int, int], int] = lambda index, count: index
    axis: Callable[[int, int], int] = lambda axis, rank: axis

    def __call__(self, node: Any, x: Array, scales: Array, points: Array, *own: Array) -> tuple[Array, ...]:
        kind, out = limits(node.outputs[0].dtype), np.zeros(x.shape, np.int64)
        for at in np.ndindex(x.shape):
            scale, zero = self.own(at, x, node.value("quantization_dimension"), scales, points)
            value = float(x[at])
            if math.isnan(value):
                continue
            found = self.total(node, at, x, own, scale, zero, kind)
            out[at] = (found - kind.min) % (1 << kind.bits) + kind.min
        return (out.astype(node.outputs[0].dtype),)

    def own(self, at: tuple[int, ...], x: Array, axis: int, scales: Array, points: Array) -> tuple[Fraction, int]:
        count = scales.size
        index = self.place(at[self.axis(axis, x.ndim)] % count, count) % count if axis >= 0 else 0
        return Fraction(float(scales.reshape(-1)[index])), int(points.reshape(-1)[index])

    def total(
        self, node: Any, at: tuple[int, ...], x: Array, own: tuple[Array, ...], scale: Fraction, zero: int, kind: Any
    ) -> int:
        least, greatest = ends_of(node, kind)
        if math.isinf(float(x[at])):
            return greatest if x[at] > 0 else least
        if own:
            scale_in, zero_in = self.own(at, x, node.value("operand_quantization_dimension"), own[0], own[1])
            number = self.number(int(x[at]), zero_in, scale_in)
        else:
            number = self.read(Fraction(float(x[at])))
        return self.whole(self.clamp(self.add(self.divide(number, scale), zero), least, greatest, kind))


RIGHT_PARTS = Quantizer()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = BYTES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"stablehlo-quantize: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


WRONG = [
    wrong("zero point after rounding", "ZeroPointParity", EVERY, divide=lambda x, scale: Fraction(round(x / scale))),
    wrong("ties away", "Tie", EVERY, whole=away),
    wrong("ties upward", "Tie", EVERY, whole=upward),
    wrong("ties toward zero", "Tie", EVERY, whole=toward_zero),
    wrong("truncates", "Tie", EVERY, whole=math.trunc),
    wrong("floors", "Tie", EVERY, whole=math.floor),
    wrong("ceils", "NearTie", EVERY, whole=math.ceil),
    wrong("no zero point", "ZeroPointParity", EVERY, add=lambda quotient, zero: quotient),
    wrong("subtracts the zero point", "ZeroPointParity", EVERY[2:5], add=lambda quotient, zero: quotient - zero),
    wrong("wraps", "Saturates", EVERY, clamp=lambda total, least, greatest, kind: total),
    wrong("clamps to the signed type", "Saturates", BYTES[1:],
          clamp=lambda total, least, greatest, kind: min(max(total, Fraction(-128)), Fraction(127))),
    wrong("ignores storage_min and storage_max", "NarrowRange", EVERY,
          clamp=lambda total, least, greatest, kind: clamp(total, kind.min, kind.max, kind)),
    wrong("ignores storage_max", "NarrowRange", EVERY,
          clamp=lambda total, least, greatest, kind: clamp(total, least, kind.max, kind)),
    wrong("always narrow", "Saturates", EVERY,
          clamp=lambda total, least, greatest, kind: clamp(total, max(least, kind.min + 1), greatest, kind)),
    wrong("multiplies by the scale", "ScaleNotPowerOfTwo", EVERY, divide=lambda x, scale: x * scale),
    wrong("scale in bfloat16", "ScaleNotPowerOfTwo", divide=lambda x, scale: x / to_bfloat16(scale)),
    wrong("input in bfloat16", "NearTie", read=to_bfloat16),
    wrong("flushes scales", "Subnormal",
          divide=lambda x, scale: x / scale if scale >= Fraction(1, 1 << 126) else Fraction(0)),
    wrong("first scale for all", "PerAxis", EVERY, place=lambda index, count: 0),
    wrong("next scale", "PerAxis", EVERY, place=lambda index, count: index + 1),
    wrong("scales reversed", "PerAxis", EVERY, place=lambda index, count: count - 1 - index),
    wrong("always the last axis", "PerAxis", EVERY, axis=lambda axis, rank: rank - 1),
    wrong("always the first axis", "PerAxis", EVERY, axis=lambda axis, rank: 0),
    wrong("no operand zero point", "ScaleNotPowerOfTwo", INTEGERS, number=lambda x, zero, scale: x * scale),
    wrong("adds the operand's zero point", "ScaleNotPowerOfTwo", INTEGERS,
          number=lambda x, zero, scale: (x + zero) * scale),
    wrong("no operand scale", "ScaleNotPowerOfTwo", INTEGERS, number=lambda x, zero, scale: Fraction(x - zero)),
    wrong("operand difference wraps in 8 bits", "ScaleNotPowerOfTwo", INTEGERS[:1],
          number=lambda x, zero, scale: ((x - zero + 128) % 256 - 128) * scale),
    wrong("quantized operand, ties away", "Tie", INTEGERS, whole=away),
    wrong("quantized operand, wraps", "Saturates", INTEGERS, clamp=lambda total, least, greatest, kind: total),
    wrong("quantized operand, first scales for all", "PerAxis", INTEGERS, place=lambda index, count: 0),
]  # fmt: skip


def in_steps(node: Any, x: Array, scales: Array, points: Array, *own: Array) -> tuple[Array, ...]:
    """The document's steps in NumPy's floats of the expressed type."""
    scale, zero = spread(node.value("quantization_dimension"), x, scales, points)
    number: Any = x
    with np.errstate(all="ignore"):
        if own:
            own_scale, own_zero = spread(node.value("operand_quantization_dimension"), x, *own)
            number = (x.astype(np.int64) - own_zero.astype(np.int64)).astype(np.float32) * own_scale
        total = number / scale + zero.astype(scale.dtype)
        ends = [np.array(end).astype(scale.dtype) for end in ends_of(node, limits(node.outputs[0].dtype))]
        whole = np.rint(np.clip(total, *ends)).astype(np.float64)
    return (np.nan_to_num(whole).astype(np.int64).astype(node.outputs[0].dtype).reshape(x.shape),)


def spread(axis: int, x: Array, *parameters: Array) -> tuple[Array, ...]:
    sizes = [-1 if at == axis else 1 for at in range(x.ndim)]
    return tuple(array.reshape(sizes) if axis >= 0 else array for array in parameters)


RIGHT = [
    WrongBackend("stablehlo-quantize, right: in fractions", OPERATOR, RIGHT_PARTS, "", (*EVERY, *INTEGERS)),
    WrongBackend("stablehlo-quantize, right: in steps", OPERATOR, in_steps, "", (*EVERY, *INTEGERS)),
]
