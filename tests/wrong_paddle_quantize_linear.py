"""Quantizers of PaddlePaddle that are wrong on purpose, each in one way, and right ones, in fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from wrong_torch_quantize import number

from wrong_model import Array, WrongBackend

OPERATOR, TYPES = "paddle.QuantizeLinear", (("float32", "float32"),)
HALF = Fraction(1, 2)


def up(value: Fraction) -> int:
    return math.floor(value + HALF)


def away(value: Fraction) -> int:
    return up(value) if value > 0 else -up(-value)


def by_type(value: Fraction, round_type: int) -> int:
    return away(value) if round_type else round(value)


def exact(x: np.float32, scale: np.float32, steps: int) -> Fraction:
    return Fraction(float(x)) * steps / Fraction(float(scale))


def inverse_first(x: np.float32, scale: np.float32, steps: int) -> Fraction:
    return number(np.float32(steps) * (np.float32(1) / scale) * x)


def product_first(x: np.float32, scale: np.float32, steps: int) -> Fraction:
    return number(x * np.float32(steps) * (np.float32(1) / scale))


def factor_first(x: np.float32, scale: np.float32, steps: int) -> Fraction:
    return number(x * (np.float32(steps) / scale))


def step_first(x: np.float32, scale: np.float32, steps: int) -> Fraction:
    step = scale / np.float32(steps)
    return number(x / step) if step and steps else Fraction(0)


def in_float16(x: np.float32, scale: np.float32, steps: int) -> Fraction:
    found = np.float16(x) / np.float16(scale) * np.float16(steps)
    return Fraction(0) if math.isnan(found) else number(found)


def stepwise(x: np.float32, scale: np.float32, steps: int) -> Fraction:
    """In working precision."""
    return number(x * np.float32(steps) / scale)


def range_of(said: Callable[[str], int]) -> int:
    return int(2 ** (said("bit_length") - 1) - 1)


def clamped(whole: int, low: int, high: int) -> int:
    return min(max(whole, low), high)


@dataclass(frozen=True)
class Quantizer:
    """A quantizer by its parts, number by number; each default is right."""

    steps: Callable[[Callable[[str], int]], int] = range_of
    quotient: Callable[[np.float32, np.float32, int], Fraction] = exact
    round: Callable[[Fraction, int], int] = by_type
    clamp: Callable[[int, int, int], int] = clamped
    place: Callable[[int, int], int] = lambda channel, channels: channel
    axis: Callable[[int, int], int] = lambda axis, rank: axis

    def __call__(self, node: Any, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            pairs = zip(x.reshape(-1), self.spread(node, x, scale), strict=True)
            found = [self.one(node.value, *pair) for pair in pairs]
        return (np.array(found, np.float32).reshape(x.shape),)

    def one(self, said: Callable[[str], int], x: np.float32, scale: np.float32) -> float:
        if not (np.isfinite(x) and np.isfinite(scale) and scale > 0):
            return 0.0
        whole = self.round(self.quotient(x, scale, self.steps(said)), said("round_type"))
        found = float(self.clamp(whole, said("qmin"), said("qmax")))
        return math.copysign(found, x) if found == 0 else found

    def spread(self, node: Any, x: Array, scale: Array) -> Array:
        axis = node.value("quant_axis")
        if axis < 0:
            return np.broadcast_to(scale.reshape(()), x.shape).reshape(-1)
        chosen = self.axis(axis, x.ndim)
        sizes = [-1 if n == chosen else 1 for n in range(x.ndim)]
        channel = np.broadcast_to(np.arange(x.shape[chosen]).reshape(sizes), x.shape)
        count = max(len(scale), 1)
        return scale[np.array([self.place(n, count) % count for n in channel.reshape(-1).tolist()], int)]


def ends_exchanged(whole: int, low: int, high: int) -> int:
    return high if whole == low else whole


PARTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("ties to even always", "Tie", {"round": lambda value, kind: round(value)}),
    ("ties away always", "Tie", {"round": lambda value, kind: away(value)}),
    ("ties up", "Tie", {"round": lambda value, kind: up(value)}),
    ("round types exchanged", "Tie", {"round": lambda value, kind: by_type(value, 1 - kind)}),
    ("floors", "NearTie", {"round": lambda value, kind: math.floor(value)}),
    ("truncates", "NearTie", {"round": lambda value, kind: math.trunc(value)}),
    ("floors in float32", "NearTie", {"quotient": stepwise, "round": lambda value, kind: math.floor(value)}),
    ("ceils in float32", "NearTie", {"quotient": stepwise, "round": lambda value, kind: math.ceil(value)}),
    ("range times the reciprocal", "Reciprocal", {"quotient": inverse_first}),
    ("multiplies by the reciprocal", "Reciprocal", {"quotient": product_first}),
    ("range over the scale first", "StepFirst", {"quotient": factor_first}),
    ("divides by a step", "StepFirst", {"quotient": step_first}),
    ("multiplies by the scale", "ScaleNotPowerOfTwo", {"quotient": lambda x, s, steps: number(x * steps * s)}),
    ("ignores range", "OtherRange", {"steps": lambda said: 1}),
    ("divides in float16", "NearTie", {"quotient": in_float16}),
    ("qmax for range", "OtherRange", {"steps": lambda said: said("qmax")}),
    ("127 for range", "OtherRange", {"steps": lambda said: 127}),
    ("a range of one more", "OtherRange", {"steps": lambda said: range_of(said) + 1}),
    ("a range of all values", "OtherRange", {"steps": lambda said: 2 * range_of(said) + 1}),
    ("narrow range", "RangeEdge", {"clamp": lambda whole, low, high: clamped(whole, -high, high)}),
    ("never qmin", "RangeEdge", {"clamp": lambda whole, low, high: clamped(whole, low + 1, high)}),
    ("half the range", "RangeEdge", {"clamp": lambda whole, low, high: min(clamped(whole, low, high), high // 2)}),
    ("the lowest becomes the highest", "RangeEdge", {"clamp": ends_exchanged}),
    ("first channel for all", "PerAxis", {"place": lambda channel, channels: 0}),
    ("next channel", "PerAxis", {"place": lambda channel, channels: channel + 1}),
    ("channels reversed", "PerAxis", {"place": lambda channel, channels: -1 - channel}),
    ("the last axis", "PerAxis", {"axis": lambda axis, rank: rank - 1}),
    ("the first axis", "PerAxis", {"axis": lambda axis, rank: 0}),
)


def named(name: str, flag: str, parts: dict[str, Any]) -> WrongBackend:
    return WrongBackend(f"{OPERATOR}: {name}", OPERATOR, replace(Quantizer(), **parts), flag, TYPES)


WRONG = [named(*each) for each in PARTS]


def in_float32(node: Any, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
    """Whole arrays, each step in float32."""
    axis = node.value("quant_axis")
    if axis >= 0:
        scale = scale.reshape([-1 if n == axis else 1 for n in range(x.ndim)])
    with np.errstate(all="ignore"):
        quotient = x * np.float32(range_of(node.value)) / (scale if axis >= 0 else scale[0])
        half_up = np.copysign(np.floor(np.abs(quotient.astype(np.float64)) + 0.5), quotient)
        whole = half_up if node.value("round_type") else np.rint(quotient)
    return (np.asarray(whole, np.float32),)


RIGHT = [
    named("right: in fractions", "", {}),
    named("right: wraps", "", {"clamp": lambda whole, low, high: whole if low <= whole <= high else 0}),
    WrongBackend(f"{OPERATOR}: right: in float32", OPERATOR, in_float32, "", TYPES),
]
