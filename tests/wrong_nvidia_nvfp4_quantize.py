"""NVFP4 quantizers that are wrong on purpose, each in one way, and right ones: in fractions, float32 and ml_dtypes.

The wrong ones compute number by number in fractions, each step rounded to float32 as in working precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from wrong_ocp_mx_quantize import Round, away, even, in_bfloat16, log2, to_zero, upward

from wrong_model import Array, WrongBackend

OPERATOR = "nvidia.NVFP4Quantize"
SINGLE = (("float32", "float4_e2m1fn"),)
BOTH = (*SINGLE, ("bfloat16", "float4_e2m1fn"))
SIX, WHOLE, MOST = Fraction(6), Fraction(2688), Fraction(448)
LEAST = Fraction(1, 512)
LARGEST = Fraction(float(np.finfo(np.float32).max))
E4M3, E2M1 = ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn


def on_grid(value: Fraction, precision: int, least: Fraction, round_: Round = even) -> Fraction:
    """A number on the grid of a type with so many significand bits and this least number; its range has no end."""
    unit = max(Fraction(2) ** (log2(abs(value)) - precision + 1), least) if value else least
    return round_(value / unit) * unit


def as_e4m3(value: Fraction, round_: Round = even) -> Fraction:
    return min(on_grid(value, 4, LEAST, round_), MOST)


def as_e2m1(value: Fraction, round_: Round = even) -> Fraction:
    return max(-SIX, min(SIX, on_grid(value, 2, Fraction(1, 2), round_)))


def scale_by(round_: Round) -> Callable[[Fraction], Fraction]:
    return lambda value: as_e4m3(value, round_)


def element_by(round_: Round) -> Callable[[Fraction], Fraction]:
    return lambda value: as_e2m1(value, round_)


def single(value: Fraction) -> Fraction:
    """A number rounded to float32; beyond its range the largest, which saturates as well."""
    found = np.float32(float(max(-LARGEST, min(LARGEST, value))))
    return Fraction(float(found))


def exactly(value: Fraction) -> Fraction:
    return value


def by_nothing(value: Fraction) -> Fraction:
    """A number times 1 / 0, which is infinite; what PTX makes of NaN is the largest."""
    return -LARGEST if value < 0 else LARGEST


@dataclass(frozen=True)
class Block:
    """A block quantizer by its parts; each default is right, and a number by no scale is infinite."""

    x: Callable[[Fraction], Fraction] = lambda value: value
    seen: Callable[[Sequence[Fraction]], Sequence[Fraction]] = lambda values: [abs(value) for value in values]
    factor: Callable[[Fraction], Fraction] = lambda whole: WHOLE / whole
    scale: Callable[[Fraction], Fraction] = as_e4m3
    divisor: Callable[[Fraction, Fraction], Fraction] = lambda scale, quotient: scale
    element: Callable[[Fraction], Fraction] = as_e2m1
    size: int = 16  # numbers that share a scale
    signed: bool = True  # whether a zero has the sign of its number
    step: Callable[[Fraction], Fraction] = single

    def __call__(self, node: Any, x: Array, whole: Array | None = None) -> tuple[Array, ...]:
        rows = x.astype(np.float64).reshape(-1, x.shape[-1]) if x.size else np.zeros((0, x.shape[-1]))
        encode = self.factor_of(whole)
        done = [self.row(row.tolist(), encode) for row in rows]
        elements = np.array([value for row in done for value in row[0]], np.float64).reshape(x.shape)
        scales = np.array([scale for row in done for scale in row[1]], np.float64)
        blocks = (*x.shape[:-1], -(-x.shape[-1] // 16))
        return elements.astype(node.outputs[0].dtype), scales.reshape(blocks).astype(node.outputs[1].dtype)

    def factor_of(self, whole: Array | None) -> Fraction:
        number = float(whole.reshape(-1)[0]) if whole is not None else 0.0
        return self.step(self.factor(Fraction(number))) if math.isfinite(number) and number > 0 else Fraction(1)

    def row(self, numbers: list[float], encode: Fraction) -> tuple[list[float], list[float]]:
        elements: list[float] = []
        scales: list[float] = []
        for start in range(0, len(numbers), self.size):
            some = numbers[start : start + self.size]
            values = [self.x(Fraction(one)) if math.isfinite(one) else Fraction(0) for one in some]
            sixth = self.step(max(self.seen(values), default=Fraction(0)) / SIX)
            quotient = self.step(sixth * encode)
            scale = self.scale(quotient)
            divisor = self.step(self.divisor(scale, quotient) * self.step(1 / encode))
            factor = self.step(1 / divisor) if divisor else None
            found = [
                float(self.element(self.step(value * factor) if factor else by_nothing(value))) for value in values
            ]
            elements += [
                -0.0 if self.signed and not one and value < 0 else one for one, value in zip(found, values, strict=True)
            ]
            scales += [float(scale)] * -(-len(some) // 16)
        return elements, scales


def at_least(least: Fraction) -> Callable[[Fraction], Fraction]:
    return lambda value: max(as_e4m3(value), least)


def flushed_scale(value: Fraction) -> Fraction:
    return as_e4m3(value) if as_e4m3(value) >= 8 * LEAST else Fraction(0)


def power_of_two(value: Fraction) -> Fraction:
    if not value:
        return value
    below = Fraction(2) ** log2(value)
    return as_e4m3(below if below == value else 2 * below)


def without_subnormals(value: Fraction) -> Fraction:
    found = as_e2m1(value)
    return found if abs(found) >= 1 else Fraction(0)


def to_even_units(value: Fraction) -> int:
    return 2 * math.trunc(Fraction(round(value), 2))


def by_distance(value: Fraction) -> Fraction:
    """The first of least distance, where distances beyond 2^24 have no digits left."""
    every = [Fraction(sign * twice, 2) for sign in (1, -1) for twice in (0, 1, 2, 3, 4, 6, 8, 12)]
    return min(every, key=lambda one: np.abs(np.float32(float(value)) - np.float32(float(one))))


RIGHT_PARTS = Block()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = SINGLE, **parts: Any) -> WrongBackend:
    return WrongBackend(f"nvfp4: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


WRONG = [
    wrong("ties away", "Midpoint", BOTH, element=element_by(away)),
    wrong("ties toward zero", "Midpoint", BOTH, element=element_by(to_zero)),
    wrong("ties up", "Midpoint", element=element_by(upward)),
    wrong("truncates", "BesideMidpoint", BOTH, element=element_by(math.trunc)),
    wrong("floors", "Midpoint", element=element_by(math.floor)),
    wrong("elements by distance", "Overflow", element=by_distance),
    wrong("elements flushed", "Midpoint", element=without_subnormals),
    wrong("elements flushed to positive zero", "Midpoint", element=without_subnormals, signed=False),
    wrong("the lowest bit lost", "Midpoint", element=element_by(to_even_units)),
    wrong("elements end at 3", "Saturates", element=lambda value: max(Fraction(-3), min(Fraction(3), as_e2m1(value)))),
    wrong("elements end at 4", "Saturates", element=lambda value: max(Fraction(-4), min(Fraction(4), as_e2m1(value)))),
    wrong("no sign", "Midpoint", element=lambda value: as_e2m1(abs(value))),
    wrong("scales up", "ScaleMidpoint", BOTH, scale=scale_by(math.ceil)),
    wrong("scales down", "ScaleMidpoint", BOTH, scale=scale_by(math.floor)),
    wrong("scale ties away", "ScaleMidpoint", BOTH, scale=scale_by(away)),
    wrong("scale ties toward zero", "ScaleMidpoint", scale=scale_by(to_zero)),
    wrong("scales to powers of two", "ScaleMidpoint", scale=power_of_two),
    wrong("no scale below 2^-6", "LeastScale", BOTH, scale=at_least(8 * LEAST)),
    wrong("no scale below 2^-9", "ZeroBlock", BOTH, scale=at_least(LEAST)),
    wrong("subnormal scales flushed", "LeastScale", scale=flushed_scale),
    wrong("scales end at 416", "Saturates", scale=lambda value: min(on_grid(value, 4, LEAST), Fraction(416))),
    wrong("unrounded scale divides", "ScaleMidpoint", divisor=lambda scale, quotient: quotient),
    wrong("global_amax ignored", "TwoLevels", BOTH, factor=lambda whole: Fraction(1)),
    wrong("448 without 6", "TwoLevels", BOTH, factor=lambda whole: MOST / whole),
    wrong("global scale inverted", "TwoLevels", factor=lambda whole: whole / WHOLE),
    wrong("signed greatest", "Measured", seen=lambda values: [max(value, Fraction(0)) for value in values]),
    wrong("greatest without the last", "Measured", seen=lambda values: [abs(value) for value in values[:15]]),
    wrong("greatest without the first", "Measured", seen=lambda values: [abs(value) for value in values[1:]]),
    wrong("greatest of 8", "Measured", seen=lambda values: [abs(value) for value in values[:8]]),
    wrong("blocks of 32", "Shape", size=32),
    wrong("greatest in bfloat16", "ScaleMidpoint", seen=lambda values: [in_bfloat16(abs(value)) for value in values]),
    wrong("inputs in bfloat16", "BesideMidpoint", x=in_bfloat16),
]  # fmt: skip


def in_float32(node: Any, x: Array, whole: Array | None = None) -> tuple[Array, ...]:
    """The documents' steps in float32, with ml_dtypes' own conversions."""
    one, length = np.float32(1), x.shape[-1]
    count = -(-length // 16)
    padded = np.zeros((*x.shape[:-1], count * 16), np.float32)
    padded[..., :length] = np.nan_to_num(x.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    blocks = padded.reshape(*x.shape[:-1], count, 16)
    encode = np.float32(2688) / whole.reshape(-1)[0] if whole is not None else one
    quotient = np.abs(blocks).max(axis=-1) / np.float32(6) * encode
    scales = np.minimum(np.nan_to_num(quotient, posinf=448.0), np.float32(448)).astype(node.outputs[1].dtype)
    factor = one / (scales.astype(np.float32) * (one / encode))
    products = np.clip(np.nan_to_num(blocks * factor[..., None], nan=0.0), -6, 6)
    return products.reshape(padded.shape)[..., :length].astype(node.outputs[0].dtype), scales


RIGHT = [
    WrongBackend("nvfp4, right: in fractions", OPERATOR, replace(RIGHT_PARTS, step=exactly), "", BOTH),
    WrongBackend("nvfp4, right: step by step", OPERATOR, RIGHT_PARTS, "", BOTH),
    WrongBackend("nvfp4, right: in float32", OPERATOR, in_float32, "", BOTH),
]
