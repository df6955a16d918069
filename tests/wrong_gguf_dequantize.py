"""Wrong and right backends for gguf.Dequantize, number by number in Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "gguf.Dequantize"
BYTES, NIBBLES = (("int8", "float32"),), (("uint4", "float32"),)
BOTH = (*BYTES, *NIBBLES)
Place = Callable[[int], int]  # of an element in its block


@dataclass(frozen=True)
class GgufNumbers:
    """Blocks to numbers by their parts; each default is right."""

    offset: float = 8
    element: Callable[[int], float] = lambda element: element
    scale: Callable[[float], float] = lambda scale: scale
    place: Place = lambda place: place
    number: Callable[[float], float] = lambda number: number
    size: int = 32
    own_block: bool = True

    def __call__(self, node: Any, elements: Array, scales: Array) -> tuple[Array, ...]:
        nibbles, length = node.input_type == "uint4", elements.shape[-1]
        rows = elements.astype(np.int64).reshape(-1, length) if elements.size else np.zeros((0, length), np.int64)
        y = np.zeros(rows.shape, np.float32)
        factors = scales.astype(np.float64).reshape(len(rows), -1) if len(rows) else np.zeros((0, 1))
        for r, c in np.ndindex(*rows.shape):
            source = c // 32 * 32 + self.place(c % 32) if nibbles else c
            whole = self.element(int(rows[r, min(source, length - 1)])) - (self.offset if nibbles else 0)
            block = min(c // self.size, factors.shape[1] - 1) if self.own_block else 0
            y[r, c] = self.number(whole * self.scale(float(factors[r, block])))
        return (y.reshape(elements.shape),)


def flushed(scale: float) -> float:
    return 0.0 if abs(scale) < 2.0**-14 else scale


def in_half(number: float) -> float:
    return float(np.float16(number))


def in_bfloat16(number: float) -> float:
    """Cut off to 8 significant bits."""
    part, exponent = math.frexp(number) if math.isfinite(number) else (number, 0)
    return math.ldexp(math.trunc(part * 256), exponent - 8) if math.isfinite(number) else number


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = BOTH, **parts: Any) -> WrongBackend:
    return WrongBackend(f"gguf back: {name}", OPERATOR, replace(GgufNumbers(), **parts), flag, types)


WRONG = [
    wrong("8 is not subtracted", "RangeEdge", NIBBLES, offset=0),
    wrong("7 is subtracted", "RangeEdge", NIBBLES, offset=7),
    wrong("7.5 is subtracted", "RangeEdge", NIBBLES, offset=7.5),
    wrong("the upper four bits first", "Blocked", NIBBLES, place=lambda place: (place + 16) % 32),
    wrong("neighbours share a byte", "Blocked", NIBBLES, place=lambda place: place // 2 + 16 * (place % 2)),
    wrong("neighbours exchanged", "Blocked", NIBBLES, place=lambda place: place ^ 1),
    wrong("bytes without a sign", "RangeEdge", BYTES, element=lambda element: element % 256),
    wrong("-128 becomes -127", "RangeEdge", BYTES, element=lambda element: max(element, -127)),
    wrong("absolute scale", "NegativeScale", scale=abs),
    wrong("no scale", "ScaleNotPowerOfTwo", BYTES, scale=lambda scale: 1),
    wrong("no scale, of nibbles", "NegativeScale", NIBBLES, scale=lambda scale: 1),
    wrong("subnormal scales flushed", "Subnormal", scale=flushed),
    wrong("the product in float16", "HugeScale", number=in_half),
    wrong("the product in bfloat16", "ScaleNotPowerOfTwo", BYTES, number=in_bfloat16),
    wrong("blocks of 64", "Shape", size=64),
    wrong("one scale for a row", "Shape", own_block=False),
]


def in_numpy(node: Any, elements: Array, scales: Array) -> tuple[Array, ...]:
    factor = np.repeat(scales.astype(np.float32), 32, axis=-1)[..., : elements.shape[-1]]
    whole = elements.astype(np.float32) - np.float32(8 if node.input_type == "uint4" else 0)
    return (np.asarray(whole * factor, np.float32),)


RIGHT = [
    wrong("right, number by number", ""),
    WrongBackend("gguf back: right, in NumPy", OPERATOR, in_numpy, "", BOTH),
]
