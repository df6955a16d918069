"""GGUF quantizers that are wrong on purpose, each in one way, and right ones: in fractions, and in NumPy's float32.

The wrong ones compute number by number in fractions, each step rounded to float32 as in working precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from wrong_ocp_mx_quantize import Round, away, even, in_bfloat16, to_zero

from wrong_model import Array, WrongBackend

OPERATOR = "gguf.Quantize"
BYTES, NIBBLES = (("float32", "int8"),), (("float32", "uint4"),)
BOTH = (*BYTES, *NIBBLES)
LARGEST = Fraction(float(np.finfo(np.float32).max))
Change = Callable[[Fraction], Fraction]


def single(value: Fraction) -> Fraction:
    """A number rounded to float32; beyond its range the largest."""
    return Fraction(float(np.float32(float(max(-LARGEST, min(LARGEST, value))))))


def exactly(value: Fraction) -> Fraction:
    return value


def half(value: Fraction) -> float:
    """A number as a float16; a float64 on the way changes nothing that a float32 has not."""
    with np.errstate(over="ignore"):
        return float(np.float16(float(value)))


def first(values: Sequence[Fraction]) -> Fraction:
    return max(values, key=abs, default=Fraction(0))


def to_byte(round_: Round) -> Callable[[Fraction, Change], int]:
    return lambda product, step: int(round_(product))


def to_nibble(product: Fraction, step: Change) -> int:
    return min(math.trunc(step(product + Fraction(17, 2))), 15)


@dataclass(frozen=True)
class GgufBlock:
    """A block quantizer by its parts; each default is right."""

    x: Change = lambda value: value
    top: Callable[[Sequence[Fraction]], Fraction] = first
    divisors: tuple[int, int] = (127, -8)
    scale: Callable[[Fraction, int], Fraction] = lambda top, by: abs(top) / by if by > 0 else top / by
    stored: Callable[[Fraction], float] = half
    divisor: Callable[[Fraction, float], Fraction] = lambda scale, stored: scale
    byte: Callable[[Fraction, Change], int] = lambda product, step: int(away(product))
    nibble: Callable[[Fraction, Change], int] = to_nibble
    size: int = 32  # numbers that share a scale
    step: Change = single

    def __call__(self, node: Any, x: Array) -> tuple[Array, ...]:
        rows = x.astype(np.float64).reshape(-1, x.shape[-1]) if x.size else np.zeros((0, x.shape[-1]))
        done = [self.row(row.tolist(), node.output_type == "uint4") for row in rows]
        elements = np.array([one for row in done for one in row[0]], np.int64).reshape(x.shape)
        scales = np.array([scale for row in done for scale in row[1]], np.float64)
        blocks = (*x.shape[:-1], -(-x.shape[-1] // 32))
        return elements.astype(node.outputs[0].dtype), scales.reshape(blocks).astype(np.float16)

    def row(self, numbers: list[float], nibbles: bool) -> tuple[list[int], list[float]]:
        elements: list[int] = []
        scales: list[float] = []
        for start in range(0, len(numbers), self.size):
            values = [self.x(Fraction(n)) if math.isfinite(n) else Fraction(0) for n in numbers[start:][: self.size]]
            scale = self.step(self.scale(self.top(values), self.divisors[nibbles]))
            stored = self.stored(scale)
            factor = self.factor(self.divisor(scale, stored))
            to_element = self.nibble if nibbles else self.byte
            found = [to_element(self.step(value * factor), self.step) for value in values]
            elements += [one & 15 if nibbles else max(-128, min(127, one)) for one in found]
            scales += [stored] * -(-len(values) // 32)
        return elements, scales

    def factor(self, divisor: Fraction) -> Fraction:
        """What stands for 1 / d; 0 of what float32 does not tell from zero."""
        return self.step(1 / divisor) if single(divisor) else Fraction(0)


def last(values: Sequence[Fraction]) -> Fraction:
    return first(values[::-1])


def cut_half(value: Fraction) -> float:
    found = half(value)
    above = math.isfinite(found) and abs(Fraction(found)) > abs(value)
    return float(np.nextafter(np.float16(found), np.float16(0))) if above else found


def flushed_half(value: Fraction) -> float:
    found = half(value)
    return 0.0 if abs(found) < 2.0**-14 else found


def of_stored(scale: Fraction, stored: float) -> Fraction:
    return Fraction(stored) if math.isfinite(stored) else scale


RIGHT_PARTS = GgufBlock()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = BOTH, **parts: Any) -> WrongBackend:
    return WrongBackend(f"gguf: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


def nibble_by(round_: Round) -> Callable[[Fraction, Change], int]:
    return lambda product, step: min(int(round_(product)) + 8, 15)


def unlimited(product: Fraction, step: Change) -> int:
    return math.trunc(step(product + Fraction(17, 2)))


WRONG = [
    wrong("ties to even", "Tie", byte=to_byte(even), nibble=nibble_by(even)),
    wrong("ties toward zero", "Tie", byte=to_byte(to_zero), nibble=nibble_by(to_zero)),
    wrong("ties away from zero in Q4_0", "Tie", NIBBLES, nibble=nibble_by(away)),
    wrong("truncates", "NearTie", byte=to_byte(math.trunc), nibble=nibble_by(math.trunc)),
    wrong("floors", "NearTie", byte=to_byte(math.floor), nibble=nibble_by(math.floor)),
    wrong("16 wraps to 0", "Saturates", NIBBLES, nibble=unlimited),
    wrong("divides by 128 and -7", "Tie", divisors=(128, -7)),
    wrong("Q4_0 loses the sign", "Measured", NIBBLES, scale=lambda top, by: abs(top) / abs(by)),
    wrong("the last of equals", "FirstOfEquals", NIBBLES, top=last),
    wrong("scales cut off", "ScaleMidpoint", stored=cut_half),
    wrong("subnormal scales flushed", "LeastScale", stored=flushed_half),
    wrong("scales end at 65504", "InfiniteScale", stored=lambda value: half(max(Fraction(-65504), min(value, 65504)))),
    wrong("scales in bfloat16", "ScaleMidpoint", stored=lambda value: half(in_bfloat16(value))),
    wrong("the stored scale's reciprocal", "ScaleNotPowerOfTwo", divisor=of_stored),
    wrong("greatest without the last", "Measured", top=lambda values: first(values[:31])),
    wrong("greatest without the first", "Measured", top=lambda values: first(values[1:])),
    wrong("greatest of the first 16", "Measured", top=lambda values: first(values[:16])),
    wrong("signed greatest", "Measured", top=lambda values: max(values, default=Fraction(0))),
    wrong("blocks of 64", "Shape", size=64),
    wrong("inputs in bfloat16", "NearTie", x=in_bfloat16),
]


def in_float32(node: Any, x: Array) -> tuple[Array, ...]:
    """The document's steps in NumPy's float32."""
    length, nibbles = x.shape[-1], node.output_type == "uint4"
    count = -(-length // 32)
    padded = np.zeros((*x.shape[:-1], count * 32), np.float32)
    padded[..., :length] = np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0)
    blocks = padded.reshape(*x.shape[:-1], count, 32)
    low, high = (blocks.min(axis=-1), blocks.max(axis=-1)) if x.size else (np.zeros((*x.shape[:-1], count)),) * 2
    if nibbles:
        first_low = (blocks == low[..., None]).argmax(axis=-1) < (blocks == high[..., None]).argmax(axis=-1)
        top = np.where((-low > high) | ((-low == high) & first_low), low, high)
    else:
        top = np.maximum(-low, high)
    scale = np.asarray(top / np.float32(-8 if nibbles else 127), np.float32)[..., None]
    factor = np.where(scale == 0, np.float32(0), np.float32(1) / scale)
    product = np.asarray(blocks * factor, np.float32)
    whole = np.trunc(product) + np.where(np.abs(product - np.trunc(product)) >= 0.5, np.sign(product), 0)
    found = np.minimum(np.trunc(product + np.float32(8.5)), 15) if nibbles else whole
    kept = np.nan_to_num(found, posinf=0, neginf=0).reshape(padded.shape)[..., :length]
    return kept.astype(node.outputs[0].dtype), scale[..., 0].astype(np.float16)


RIGHT = [
    WrongBackend("gguf, right: in fractions", OPERATOR, replace(RIGHT_PARTS, step=exactly), "", BOTH),
    WrongBackend("gguf, right: step by step", OPERATOR, RIGHT_PARTS, "", BOTH),
    WrongBackend("gguf, right: in float32", OPERATOR, in_float32, "", BOTH),
]
