"""Quantizers of torch that are wrong on purpose, each in one way, and right ones, in fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

TENSOR, CHANNEL = "torch.quantize_per_tensor", "torch.quantize_per_channel"
EVERY = (("float32", "uint8"), ("float32", "int8"), ("float32", "int32"))
EIGHT = EVERY[:2]
HALF = Fraction(1, 2)
FAR = 1 << 70
Ends = tuple[int, int]


def exact(x: np.float32, scale: np.float32) -> Fraction:
    return Fraction(float(x)) / Fraction(float(scale))


def by_reciprocal(x: np.float32, scale: np.float32) -> Fraction:
    return number(x * (np.float32(1) / scale))


def number(found: Any) -> Fraction:
    """A float as a fraction; what is infinite as a number beyond every type."""
    return Fraction(float(found)) if math.isfinite(found) else Fraction(int(math.copysign(FAR, found)))


def in_float16(x: np.float32, scale: np.float32) -> Fraction:
    quotient = np.float16(x) / np.float16(scale)
    return Fraction(0) if math.isnan(quotient) else number(quotient)


def up(total: Fraction) -> int:
    return math.floor(total + HALF)


def away(total: Fraction) -> int:
    return up(total) if total > 0 else -up(-total)


def clamped(whole: int, ends: Ends) -> int:
    return min(max(whole, ends[0]), ends[1])


def wrapped(whole: int, ends: Ends) -> int:
    return (whole - ends[0]) % (ends[1] - ends[0] + 1) + ends[0]


@dataclass(frozen=True)
class Quantizer:
    """A quantizer by its parts, number by number; each default is right."""

    quotient: Callable[[np.float32, np.float32], Fraction] = exact
    zero: Callable[[Fraction], Fraction] = lambda point: point  # of one that is a float
    in_input: bool = False  # a float zero point is subtracted from the input
    add: Callable[[Fraction, Fraction, Ends], Fraction] = lambda quotient, point, ends: quotient + point
    round: Callable[[Fraction], int] = round
    clamp: Callable[[int, Ends], int] = clamped
    place: Callable[[int, int], int] = lambda channel, channels: channel
    axis: Callable[[int, int], int] = lambda axis, rank: axis

    def __call__(self, node: Any, x: Array, scale: Array, point: Array) -> tuple[Array, ...]:
        kind = np.iinfo(node.outputs[0].dtype)
        ends = int(kind.min), int(kind.max)
        scales, points = self.spread(node, x, scale), self.spread(node, x, point)
        with np.errstate(all="ignore"):
            found = [
                self.one(*each, ends)
                for each in zip(x.reshape(-1), scales.reshape(-1), points.reshape(-1), strict=True)
            ]
        return (np.array(found, np.int64).astype(node.outputs[0].dtype).reshape(x.shape),)

    def one(self, x: np.float32, scale: np.float32, point: Any, ends: Ends) -> int:
        if not (np.isfinite(x) and np.isfinite(scale) and scale and np.isfinite(point)):
            return 0
        value = Fraction(float(point))
        if isinstance(point, np.floating):
            value = self.zero(value)
            if self.in_input:
                return self.clamp(self.round(self.quotient(np.float32(x - point), scale)), ends)
        return self.clamp(self.round(self.add(self.quotient(x, scale), value, ends)), ends)

    def spread(self, node: Any, x: Array, parameter: Array) -> Array:
        axis = node.attributes.get("axis")
        if axis is None:
            return np.broadcast_to(parameter, x.shape)
        chosen = self.axis(axis, x.ndim)
        sizes = [-1 if n == chosen else 1 for n in range(x.ndim)]
        channel = np.broadcast_to(np.arange(x.shape[chosen]).reshape(sizes), x.shape)
        count = max(len(parameter), 1)
        index = [self.place(n, count) % count for n in channel.reshape(-1).tolist()]
        return parameter[np.array(index, int)].reshape(x.shape)


def added_after(quotient: Fraction, point: Fraction, ends: Ends) -> Fraction:
    """Of a zero point that is no integer the same before rounding."""
    return round(quotient) + point if point.denominator == 1 else quotient + point


def clamped_first(quotient: Fraction, point: Fraction, ends: Ends) -> Fraction:
    return clamped(round(quotient), ends) + point


def stepwise(x: np.float32, scale: np.float32) -> Fraction:
    return number(x / scale)


SHARED: tuple[tuple[str, str, tuple[tuple[str, str], ...], dict[str, Any]], ...] = (
    ("floors", "NearTie", EVERY, {"round": math.floor}),
    ("truncates", "NearTie", EVERY, {"round": math.trunc}),
    ("rounds up", "NearTie", EVERY, {"round": math.ceil}),
    ("multiplies by the reciprocal", "Reciprocal", EVERY, {"quotient": by_reciprocal}),
    ("multiplies by the scale", "ScaleNotPowerOfTwo", EVERY, {"quotient": lambda x, s: number(x * s)}),
    ("divides in float16", "NearTie", EVERY, {"quotient": in_float16}),
    ("no zero point", "ZeroPointParity", EVERY, {"add": lambda quotient, point, ends: quotient}),
    ("subtracts the zero point", "ZeroPointParity", EVERY, {"add": lambda quotient, point, ends: quotient - point}),
    ("clamps before the zero point", "ClampOrder", EVERY, {"add": clamped_first}),
    ("wraps", "Saturates", EVERY, {"clamp": wrapped}),
    ("narrow range", "RangeEdge", EVERY, {"clamp": lambda whole, ends: max(clamped(whole, ends), ends[0] + 1)}),
    ("half the range", "RangeEdge", EVERY, {"clamp": lambda whole, ends: min(clamped(whole, ends), ends[1] // 2)}),
)
CHANNELS: tuple[tuple[str, str, tuple[tuple[str, str], ...], dict[str, Any]], ...] = (
    ("first channel for all", "PerAxis", EVERY, {"place": lambda channel, channels: 0}),
    ("next channel", "PerAxis", EVERY, {"place": lambda channel, channels: channel + 1}),
    ("channels reversed", "PerAxis", EVERY, {"place": lambda channel, channels: -1 - channel}),
    ("the last axis", "PerAxis", EVERY, {"axis": lambda axis, rank: rank - 1}),
    ("the first axis", "PerAxis", EVERY, {"axis": lambda axis, rank: 0}),
)
FLOATS: tuple[tuple[str, str, tuple[tuple[str, str], ...], dict[str, Any]], ...] = (
    ("rounds a float zero point", "FloatZeroPoint", EVERY, {"zero": lambda point: Fraction(round(point))}),
    ("truncates a float zero point", "FloatZeroPoint", EVERY, {"zero": lambda point: Fraction(math.trunc(point))}),
    ("subtracts a float zero point from the input", "FloatZeroPoint", EVERY, {"in_input": True}),
)
RIGHT_PARTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("in fractions, ties to even", {}),
    ("in fractions, ties up", {"round": up}),
    ("in fractions, ties away", {"round": away}),
    ("zero point after rounding", {"add": added_after}),
)


def named(operator: str, name: str, flag: str, types: tuple[tuple[str, str], ...], parts: Any) -> WrongBackend:
    return WrongBackend(f"{operator}: {name}", operator, replace(Quantizer(), **parts), flag, types)


WRONG = [
    *(named(operator, *each) for operator in (TENSOR, CHANNEL) for each in SHARED),
    *(named(CHANNEL, *each) for each in (*CHANNELS, *FLOATS)),
]


def in_float32(node: Any, x: Array, scale: Array, point: Array) -> tuple[Array, ...]:
    """Whole arrays, each step in float32, ties to even."""
    axis = node.attributes.get("axis")
    if axis is not None:
        scale, point = (a.reshape([-1 if n == axis else 1 for n in range(x.ndim)]) for a in (scale, point))
    with np.errstate(all="ignore"):
        quotient = x * (np.float32(1) / scale) if point.dtype.kind == "f" else x / scale
        whole = np.rint(quotient + point.astype(np.float32)).astype(np.float64)
    kind = np.iinfo(node.outputs[0].dtype)
    return (np.clip(np.nan_to_num(whole), kind.min, kind.max).astype(np.int64).astype(kind.dtype),)


RIGHT = [
    *(
        named(operator, f"right: {name}", "", EVERY, parts)
        for operator in (TENSOR, CHANNEL)
        for name, parts in RIGHT_PARTS
    ),
    *(
        WrongBackend(f"{operator}: right: in float32", operator, in_float32, "", EVERY)
        for operator in (TENSOR, CHANNEL)
    ),
]
