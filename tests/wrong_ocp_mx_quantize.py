"""Block quantizers that are wrong on purpose, each in one way, and right ones: in fractions, float32 and ml_dtypes.

The wrong ones compute in fractions, number by number, and round where the documents do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "ocp.MXQuantize"
FLOATS = ("float8_e4m3fn", "float8_e5m2", "float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn")
TYPES = (("float32", "float8_e4m3fn"), ("float32", "float4_e2m1fn"))
EVERY = (*((real, to) for to in FLOATS for real in ("float32", "bfloat16")), ("float32", "int8"))
TINY = (("float32", "float8_e5m2"),)
HALF = Fraction(1, 2)
LEAST, MOST = -127, 127
LEAST_NORMAL = Fraction(1, 1 << 126)
Round = Callable[[Fraction], int]


@dataclass(frozen=True)
class Element:
    """An element type: significand bits, exponents of its least normal number and its largest power, its largest."""

    precision: int
    emin: int
    emax: int
    largest: Fraction


@cache
def element(to: str) -> Element:
    if to == "int8":
        return Element(7, 0, 0, Fraction(127, 64))
    info = ml_dtypes.finfo(to)
    largest = Fraction(float(info.max))
    return Element(info.nmant + 1, info.minexp, log2(largest), largest)


def log2(value: Fraction) -> int:
    """floor(log2(value)) of a positive number."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def ceil_log2(value: Fraction) -> int:
    below = log2(value)
    return below + (Fraction(2) ** below != value)


def even(value: Fraction) -> int:
    return round(value)


def away(value: Fraction) -> int:
    return math.floor(abs(value) + HALF) * (1 if value > 0 else -1)


def to_zero(value: Fraction) -> int:
    return math.ceil(abs(value) - HALF) * (1 if value > 0 else -1)


def upward(value: Fraction) -> int:
    return math.floor(value + HALF)


def on_grid(to: str, value: Fraction, round_: Round = even) -> Fraction:
    """A number on the grid of the element type, which goes on beyond its range."""
    kind = element(to)
    least = kind.emin - kind.precision + 1
    unit = Fraction(2) ** max(log2(abs(value)) - kind.precision + 1, least) if value else Fraction(1)
    return round_(value / (unit if to != "int8" else Fraction(1, 64))) * (unit if to != "int8" else Fraction(1, 64))


def clamped(to: str, value: Fraction) -> Fraction:
    return max(-element(to).largest, min(element(to).largest, value))


def by_mode(to: str, mode: str, amax: Fraction) -> int:
    """The scale's exponent, that of rceil by a float32 quotient; for a block of zeros the least."""
    kind = element(to)
    if not amax:
        return LEAST
    if mode == "rceil":
        quotient = Fraction(float(np.float32(float(amax / kind.largest))))
        return max(ceil_log2(quotient), LEAST) if quotient else LEAST
    if mode == "ceil":
        return ceil_log2(amax) - kind.emax
    if mode == "even":
        unit = Fraction(2) ** (log2(amax) - kind.precision + 1)
        amax = round(amax / unit) * unit
    return log2(amax) - kind.emax


@dataclass(frozen=True)
class Block:
    """A block quantizer by its parts; each default is right."""

    x: Callable[[Fraction], Fraction] = lambda value: value
    seen: Callable[[Sequence[Fraction]], Sequence[Fraction]] = lambda values: [abs(value) for value in values]
    exponent: Callable[[str, str, Fraction], int] = by_mode
    divisor: Callable[[int], Fraction] = lambda exponent: Fraction(2) ** max(LEAST, min(MOST, exponent))
    code: Callable[[int], int] = lambda exponent: max(0, min(254, exponent + 127))
    element: Callable[[str, Fraction], Fraction] = lambda to, value: clamped(to, on_grid(to, value))
    beside: int = 1  # blocks that share a scale
    signed: bool = True  # whether a zero has the sign of its number

    def __call__(self, node: Any, x: Array) -> tuple[Array, ...]:
        to, mode = node.output_type, node.value("scaling_mode")
        rows = x.astype(np.float64).reshape(-1, x.shape[-1]) if x.size else np.zeros((0, x.shape[-1]))
        done = [self.row(to, mode, row.tolist()) for row in rows]
        elements = np.array([value for row in done for value in row[0]], np.float64).reshape(x.shape)
        codes = np.array([code for row in done for code in row[1]], np.uint8)
        blocks = (*x.shape[:-1], -(-x.shape[-1] // 32))
        return stored(node, elements), codes.reshape(blocks).view(node.outputs[1].dtype)

    def row(self, to: str, mode: str, numbers: list[float]) -> tuple[list[float], list[int]]:
        elements: list[float] = []
        codes: list[int] = []
        size = 32 * self.beside
        for start in range(0, len(numbers), size):
            some = numbers[start : start + size]
            values = [self.x(Fraction(one)) if math.isfinite(one) else Fraction(0) for one in some]
            exponent = self.exponent(to, mode, max(self.seen(values), default=Fraction(0)))
            found = [float(self.element(to, value / self.divisor(exponent))) for value in values]
            elements += [
                -0.0 if self.signed and not one and value < 0 else one for one, value in zip(found, values, strict=True)
            ]
            codes += [self.code(exponent)] * -(-len(some) // 32)
        return elements, codes


def stored(node: Any, values: Array) -> Array:
    dtype = node.outputs[0].dtype
    return (values * 64).astype(np.int64).astype(np.int8) if dtype == np.int8 else values.astype(dtype)


def element_by(round_: Round) -> Callable[[str, Fraction], Fraction]:
    return lambda to, value: clamped(to, on_grid(to, value, round_))


def as_mode(mode: str) -> Callable[[str, str, Fraction], int]:
    return lambda to, _, amax: by_mode(to, mode, amax)


def log2_in_float32(to: str, mode: str, amax: Fraction) -> int:
    """rceil by a logarithm that is rounded to float32."""
    if mode != "rceil" or not amax:
        return by_mode(to, mode, amax)
    logarithm = float(np.log2(np.float32(float(amax / element(to).largest))))
    return max(math.ceil(max(logarithm, -1000.0)), LEAST)


def further(step: int) -> Callable[[str, str, Fraction], int]:
    return lambda to, mode, amax: by_mode(to, mode, amax) + step


def unclamped(to: str, mode: str, amax: Fraction) -> int:
    return ceil_log2(amax / element(to).largest) if amax and mode == "rceil" else by_mode(to, mode, amax)


def beyond_is_nan(to: str, value: Fraction) -> Any:
    found = on_grid(to, value)
    return found if abs(found) <= element(to).largest else math.nan


def beyond_is_infinite(to: str, value: Fraction) -> Any:
    found = on_grid(to, value)
    return found if abs(found) <= element(to).largest else math.copysign(math.inf, found)


def ends_at_power(to: str, value: Fraction) -> Fraction:
    most = Fraction(2) ** element(to).emax
    return max(-most, min(most, on_grid(to, value)))


def ends_at_half(to: str, value: Fraction) -> Fraction:
    most = Fraction(element(to).largest) / 2
    return max(-most, min(most, on_grid(to, value)))


def to_even_units(value: Fraction) -> int:
    return 2 * math.trunc(Fraction(even(value), 2))


def flushed(value: Fraction) -> Fraction:
    return Fraction(0) if abs(value) < LEAST_NORMAL else value


def without_subnormals(to: str, value: Fraction) -> Fraction:
    found = clamped(to, on_grid(to, value))
    return found if abs(found) >= Fraction(2) ** element(to).emin else Fraction(0)


def in_bfloat16(value: Fraction) -> Fraction:
    """The bfloat16 nearest to a number of few bits."""
    unit = Fraction(2) ** (log2(abs(value)) - 7) if value else Fraction(1)
    return round(value / unit) * unit


RIGHT_PARTS = Block()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = TYPES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"mx: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


WRONG = [
    wrong("ties away", "Midpoint", EVERY, element=element_by(away)),
    wrong("ties toward zero", "Midpoint", EVERY, element=element_by(to_zero)),
    wrong("ties up", "Midpoint", element=element_by(upward)),
    wrong("truncates", "BesideMidpoint", EVERY, element=element_by(math.trunc)),
    wrong("floors", "Midpoint", element=element_by(math.floor)),
    wrong("always floor", "Carry", exponent=as_mode("floor")),
    wrong("always ceil", "Carry", exponent=as_mode("ceil")),
    wrong("always even", "Carry", exponent=as_mode("even")),
    wrong("always rceil", "Carry", exponent=as_mode("rceil")),
    wrong("rceil by a log2 in float32", "Carry", exponent=log2_in_float32),
    wrong("exponent one more", "Carry", exponent=further(1)),
    wrong("exponent one less", "Saturates", exponent=further(-1)),
    wrong("exponent wraps", "Subnormal", exponent=unclamped,
          code=lambda exponent: (exponent + 127) % 256, divisor=lambda exponent: Fraction(2) ** exponent),
    wrong("least scale divides as 2^-126", "Subnormal", divisor=lambda e: Fraction(2) ** max(e, -126)),
    wrong("least scale divides as 1", "Subnormal", divisor=lambda e: Fraction(2) ** (0 if e <= LEAST else e)),
    wrong("least scale never", "Subnormal", code=lambda exponent: max(1, min(254, exponent + 127))),
    wrong("signed greatest", "Measured", seen=lambda values: [max(value, Fraction(0)) for value in values]),
    wrong("greatest without the last", "Measured", seen=lambda values: [abs(value) for value in values[:31]]),
    wrong("greatest without the first", "Measured", seen=lambda values: [abs(value) for value in values[1:]]),
    wrong("greatest of 16", "Measured", seen=lambda values: [abs(value) for value in values[:16]]),
    wrong("blocks of 64", "Shape", beside=2),
    wrong("greatest in bfloat16", "Carry", seen=lambda values: [in_bfloat16(abs(value)) for value in values]),
    wrong("inputs in bfloat16", "BesideMidpoint", x=in_bfloat16),
    wrong("inputs flushed", "Subnormal", TINY, x=flushed),
    wrong("elements flushed", "Midpoint", element=without_subnormals),
    wrong("elements flushed to positive zero", "Midpoint", element=without_subnormals, signed=False),
    wrong("the lowest bit lost", "Midpoint", element=element_by(to_even_units)),
    wrong("ends at half", "Saturates", element=ends_at_half),
    wrong("ends at the power", "Saturates", EVERY, element=ends_at_power),
    wrong("no sign", "Midpoint", element=lambda to, value: clamped(to, on_grid(to, abs(value)))),
    wrong("zeros have scale 1", "ZeroBlock",
          exponent=lambda to, mode, amax: by_mode(to, mode, amax) if amax else 0),
]  # fmt: skip


def in_float32(node: Any, x: Array) -> tuple[Array, ...]:
    """With frexp, float32 quotients and ml_dtypes' own conversions; cuBLAS's steps for rceil."""
    to, mode, length = node.output_type, node.value("scaling_mode"), x.shape[-1]
    count = -(-length // 32)
    padded = np.zeros((*x.shape[:-1], count * 32), np.float32)
    padded[..., :length] = np.nan_to_num(x.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    blocks = padded.reshape(*x.shape[:-1], count, 32)
    exponent = exponent_in_float32(element(to), mode, np.abs(blocks).max(axis=-1))
    quotients = np.ldexp(blocks, -exponent[..., None]).reshape(padded.shape)[..., :length]
    largest = float(element(to).largest)
    if to == "int8":
        elements = np.clip(np.rint(quotients * 64), -127, 127).astype(np.int8)
    else:
        elements = np.clip(quotients, -largest, largest).astype(node.outputs[0].dtype)
    return elements, (exponent + 127).astype(np.uint8).view(node.outputs[1].dtype)


def exponent_in_float32(kind: Element, mode: str, amax: Array) -> Array:
    if mode == "rceil":
        part, exponent = np.frexp(amax / np.float32(kind.largest))
        found = exponent - (part == 0.5)
        return np.where(part == 0, LEAST, np.clip(found, LEAST, MOST))
    if mode == "even":
        bits = 24 - kind.precision
        fields = (amax.view(np.uint32) + np.uint32(1 << (bits - 1))) >> np.uint32(23)  # which grow beyond float32's
        return np.clip(fields.astype(np.int64) - 127 - kind.emax, LEAST, MOST)
    part, exponent = np.frexp(amax)
    above = (part > 0.5) & (mode == "ceil")
    return np.clip(exponent - 1 + above - kind.emax, LEAST, MOST)


RIGHT = [
    WrongBackend("mx, right: in fractions", OPERATOR, RIGHT_PARTS, "", EVERY),
    WrongBackend("mx, right: in float32", OPERATOR, in_float32, "", EVERY),
    # That what is beyond should be clamped is advice.
    wrong(
        "beyond is NaN", "Saturates", (("float32", "float8_e4m3fn"), ("bfloat16", "float8_e5m2")), element=beyond_is_nan
    ),
    wrong("beyond is infinite", "Saturates", TINY, element=beyond_is_infinite),
]
