"""Fake quantizers of torch that are wrong on purpose, each in one way, and right ones, in fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from wrong_torch_quantize import by_reciprocal, exact, in_float16, number

from tiebreak.golden.elements import FLOAT_TYPES, decode, encode
from wrong_model import Array, WrongBackend

TENSOR, CHANNEL = "torch.fake_quantize_per_tensor_affine", "torch.fake_quantize_per_channel_affine"
TYPES = (("float32", "float32"),)
SINGLE = FLOAT_TYPES["float32"]
HALF = Fraction(1, 2)
Ends = tuple[int, int]
Rounding = Callable[[Fraction], int]


def in_float32(value: Fraction) -> float:
    found = decode(encode(value, SINGLE), SINGLE)
    return float(found)


def up(value: Fraction) -> int:
    return math.floor(value + HALF)


def away(value: Fraction) -> int:
    return up(value) if value > 0 else -up(-value)


def limited(level: Fraction, ends: Ends) -> Fraction:
    return min(max(level, Fraction(ends[0])), Fraction(ends[1]))


def after(quotient: Fraction, zero: Fraction, ends: Ends) -> Fraction:
    return round(quotient) + zero


def rounded_by(whole: Rounding) -> dict[str, Any]:
    return {"level": lambda quotient, zero, ends: whole(quotient) + zero}


@dataclass(frozen=True)
class FakeQuantizer:
    """A fake quantizer by its parts, number by number; each default is right."""

    quotient: Callable[[np.float32, np.float32], Fraction] = exact
    level: Callable[[Fraction, Fraction, Ends], Fraction] = after
    limit: Callable[[Fraction, Ends], Fraction] = limited
    ends: Callable[[Ends], Ends] = lambda ends: ends
    zero: Callable[[Fraction], Fraction] = lambda zero: zero
    back: Callable[[Fraction, Fraction], Fraction] = lambda level, zero: level - zero
    product: Callable[[Fraction, np.float32], float] = lambda whole, scale: in_float32(whole * number(scale))
    place: Callable[[int, int], int] = lambda channel, channels: channel
    axis: Callable[[int, int], int] = lambda axis, rank: axis

    def __call__(self, node: Any, x: Array, scale: Array, zero: Array) -> tuple[Array, ...]:
        ends = self.ends((node.attributes["quant_min"], node.attributes["quant_max"]))
        parameters = [self.spread(node, x, array).reshape(-1) for array in (scale, zero)]
        with np.errstate(all="ignore"):
            found = [self.one(*each, ends) for each in zip(x.reshape(-1), *parameters, strict=True)]
        return (np.array(found, np.float32).reshape(x.shape),)

    def one(self, x: np.float32, scale: np.float32, zero: Any, ends: Ends) -> float:
        if not (np.isfinite(x) and np.isfinite(scale) and scale and np.isfinite(zero)):
            return 0.0
        point = self.zero(Fraction(float(zero)))
        level = self.limit(self.level(self.quotient(x, scale), point, ends), ends)
        return self.product(self.back(level, point), scale)

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


def limited_first(quotient: Fraction, zero: Fraction, ends: Ends) -> Fraction:
    return limited(Fraction(round(quotient)), ends) + zero


def rounded_twice(whole: Fraction, scale: np.float32) -> float:
    return float(np.float32(in_float32(whole)) * scale)


SHARED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("ties away", "Tie", rounded_by(away)),
    ("ties up", "Tie", rounded_by(up)),
    ("floors", "NearTie", rounded_by(math.floor)),
    ("truncates", "NearTie", rounded_by(math.trunc)),
    ("zero point before rounding", "ZeroPointParity",
     {"level": lambda quotient, zero, ends: Fraction(round(quotient + zero))}),
    ("multiplies by the reciprocal", "Reciprocal", {"quotient": by_reciprocal}),
    ("multiplies by the scale", "ScaleNotPowerOfTwo", {"quotient": lambda x, s: number(x * s)}),
    ("divides in float16", "NearTie", {"quotient": in_float16}),
    ("no zero point when limiting", "ClampOrder", {"level": lambda quotient, zero, ends: Fraction(round(quotient)),
                                                   "back": lambda level, zero: level}),
    ("limits before the zero point", "ClampOrder", {"level": limited_first, "limit": lambda level, ends: level}),
    ("does not limit", "Saturates", {"limit": lambda level, ends: level}),
    ("narrow range", "RangeEdge", {"ends": lambda ends: (ends[0] + 1, ends[1])}),
    ("one level more", "Saturates", {"ends": lambda ends: (ends[0], ends[1] + 1)}),
    ("zero point stays", "ZeroPointParity", {"back": lambda level, zero: level}),
    ("zero point added twice", "ZeroPointParity", {"back": lambda level, zero: level + zero}),
    ("gives the level", "ScaleNotPowerOfTwo", {"product": lambda whole, scale: in_float32(whole)}),
)  # fmt: skip
ALONE = (("rounds the level to float32", "WideSum", {"product": rounded_twice}),)
CHANNELS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("first channel for all", "PerAxis", {"place": lambda channel, channels: 0}),
    ("next channel", "PerAxis", {"place": lambda channel, channels: channel + 1}),
    ("the last axis", "PerAxis", {"axis": lambda axis, rank: rank - 1}),
    ("the first axis", "PerAxis", {"axis": lambda axis, rank: 0}),
    ("the zero point's fraction is lost", "FloatZeroPoint", {"zero": lambda zero: Fraction(math.trunc(zero))}),
    ("the zero point is rounded", "FloatZeroPoint", {"zero": lambda zero: Fraction(round(zero))}),
    ("a float zero point before rounding", "FloatZeroPoint",
     {"level": lambda quotient, zero, ends: Fraction(round(quotient + zero))}),
)  # fmt: skip


def named(operator: str, name: str, flag: str, parts: dict[str, Any]) -> WrongBackend:
    return WrongBackend(f"{operator}: {name}", operator, replace(FakeQuantizer(), **parts), flag, TYPES)


WRONG = [
    *(named(operator, *each) for operator in (TENSOR, CHANNEL) for each in SHARED),
    *(named(TENSOR, *each) for each in ALONE),
    *(named(CHANNEL, *each) for each in CHANNELS),
]


def stepwise(node: Any, x: Array, scale: Array, zero: Array) -> tuple[Array, ...]:
    """Whole arrays: quotients in float32, levels in float64, products of up to 55 bits in one step."""
    axis = node.attributes.get("axis")
    if axis is not None:
        scale, zero = (a.reshape([-1 if n == axis else 1 for n in range(x.ndim)]) for a in (scale, zero))
    with np.errstate(all="ignore"):
        point = zero.astype(np.float64)
        level = np.rint(x / scale).astype(np.float64) + point
        level = np.clip(level, node.attributes["quant_min"], node.attributes["quant_max"])
        return (((level - point).astype(np.longdouble) * scale.astype(np.longdouble)).astype(np.float32),)


RIGHT = [
    *(named(operator, "right: in fractions", "", {}) for operator in (TENSOR, CHANNEL)),
    *(WrongBackend(f"{operator}: right: in float32", operator, stepwise, "", TYPES) for operator in (TENSOR, CHANNEL)),
]
