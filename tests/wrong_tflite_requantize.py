"""Requantizers that are wrong on purpose, each in one way, and right ones, in Python's integers and fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "tflite.Requantize"
EIGHT = (("int8", "int8"), ("uint8", "int8"))
SOME = (*EIGHT, ("int16", "int16"))
EVERY = (
    ("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"), ("uint8", "uint8"), ("int16", "int8"), ("int16", "int16"),
    ("int16", "int32"), ("int32", "int8"), ("int32", "int16"), ("int8", "int16"), ("int8", "int32"),
)  # fmt: skip
HALF, WORD = Fraction(1, 2), np.iinfo(np.int32)
FAR = 1 << 62  # where an int64 ends, or before
Round = Callable[[Fraction], int]


def away(value: Fraction) -> int:
    return math.floor(abs(value) + HALF) * (1 if value > 0 else -1)


def upward(value: Fraction) -> int:
    return math.floor(value + HALF)


def to_zero(value: Fraction) -> int:
    return math.ceil(abs(value) - HALF) * (1 if value > 0 else -1)


def downward(value: Fraction) -> int:
    return math.ceil(value - HALF)


def multiplier(scale: Fraction, other: Fraction, bits: int = 31) -> tuple[int, int]:
    """The ratio as bits and a shift; the quotient of two float32 is a float64 first."""
    part, shift = math.frexp(float(scale) / float(other))
    found = math.floor(Fraction(part) * (1 << bits) + HALF)
    return (found, shift) if shift >= -31 else (0, 0)


def real(d: int, scale: Fraction, other: Fraction, round_: Round = round) -> int:
    return round_(d * scale / other)


def once(d: int, scale: Fraction, other: Fraction, bits: int = 31, round_: Round = upward) -> int:
    found, shift = multiplier(scale, other, bits)
    if shift > 30:
        found, shift = (1 << bits) - 1, 30
    return round_(Fraction(d * found) * Fraction(2) ** (shift - bits))


def twice(d: int, scale: Fraction, other: Fraction, first: Round = upward, second: Round = away) -> int:
    """As a processor does it, whose int32 wraps around."""
    found, shift = multiplier(scale, other)
    power = in_type(1 << (max(shift, 0) & 31), WORD)
    high = first(Fraction(in_type(d * power, WORD) * found, 1 << 31))
    return second(high * Fraction(2) ** min(shift, 0))


def held(value: int) -> int:
    return min(max(value, int(WORD.min)), int(WORD.max))


def twice_saturating(d: int, scale: Fraction, other: Fraction) -> int:
    """As in an int32 that saturates."""
    found, shift = multiplier(scale, other)
    high = upward(Fraction(held(held(d) << max(shift, 0)) * found, 1 << 31))
    return away(high * Fraction(2) ** min(shift, 0))


WAYS: dict[str, Callable[[int, Fraction, Fraction], int]] = {"nearest": real, "single": once, "double": twice}


@dataclass(frozen=True)
class Requantizer:
    """A requantizer by its parts; each default is right. `ways` has a rounding for each value of the attribute."""

    ways: Callable[[str], Callable[[int, Fraction, Fraction], int]] = WAYS.__getitem__
    scales: Callable[[Fraction, Fraction], tuple[Fraction, Fraction]] = lambda scale, other: (scale, other)
    zeros: Callable[[int, int], tuple[int, int]] = lambda first, last: (first, last)
    read: Callable[[int, Any], int] = lambda value, kind: value
    end: Callable[[int, int, Any], int] = lambda whole, zero, kind: min(max(whole + zero, kind.min), kind.max)

    def __call__(self, node: Any, x: Array, s_in: Array, z_in: Array, s_out: Array, z_out: Array) -> tuple[Array, ...]:
        source, target = np.iinfo(x.dtype), np.iinfo(node.outputs[0].dtype)
        if not all(np.isfinite(scale) and scale > 0 for scale in (s_in, s_out)):
            return (np.zeros(x.shape, node.outputs[0].dtype),)
        scale, other = self.scales(Fraction(float(s_in)), Fraction(float(s_out)))
        first, last = self.zeros(int(z_in), int(z_out))
        way = self.ways(node.value("rounding"))
        found = [
            self.end(way(self.read(value, source) - first, scale, other), last, target)
            for value in x.reshape(-1).tolist()
        ]
        wrapped = np.array([in_type(value, target) for value in found], object)
        return (wrapped.astype(node.outputs[0].dtype).reshape(x.shape),)


def in_type(value: int, kind: Any) -> int:
    """The low bits of a whole number."""
    return (value - int(kind.min)) % (1 << kind.bits) + int(kind.min)


def always(way: Callable[[int, Fraction, Fraction], int]) -> dict[str, Any]:
    return {"ways": lambda rounding: way}


def only(rounding: str, way: Callable[[int, Fraction, Fraction], int]) -> Callable[[str], Any]:
    """The right ways but for one rounding."""
    return {**WAYS, rounding: way}.__getitem__


def of_real(round_: Round) -> dict[str, Any]:
    return always(lambda d, scale, other: real(d, scale, other, round_))


def few_bits(bits: int, d: int, scale: Fraction, other: Fraction) -> int:
    ratio = np.float32(float(scale) / float(other)) if scale < other * (1 << 100) else np.float32(2.0**100)
    return math.floor(Fraction(d * round(Fraction(float(ratio)) * (1 << bits)), 1 << bits) + HALF)


def in_float32(d: int, scale: Fraction, other: Fraction) -> int:
    with np.errstate(all="ignore"):
        product = np.float32(d) * np.float32(float(scale) / float(other))
    return round(Fraction(float(product))) if math.isfinite(product) else int(math.copysign(1 << 40, d))


def bfloat16(value: Fraction) -> Fraction:
    part, exponent = math.frexp(float(value))
    return Fraction(round(Fraction(part) * 256)) / 256 * Fraction(2) ** exponent


RIGHT_PARTS = Requantizer()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = SOME, **parts: Any) -> WrongBackend:
    return WrongBackend(f"requantize: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


def ends(clamp: Callable[[int, int, Any], int]) -> dict[str, Any]:
    return {"end": clamp}


def clamped(value: int, kind: Any) -> int:
    return min(max(value, int(kind.min)), int(kind.max))


WRONG = [
    wrong("always twice", "RoundedInTwoSteps", EVERY, **always(twice)),
    wrong("always twice, saturating", "RoundedInTwoSteps", **always(twice_saturating)),
    wrong("always twice, ties upward", "RoundedInTwoSteps",
          **always(lambda d, s, o: twice(d, s, o, second=upward))),
    wrong("always twice, ties to even", "RoundedInTwoSteps",
          **always(lambda d, s, o: twice(d, s, o, second=round))),
    wrong("double rounds away both times", "RoundedInTwoSteps",
          ways=only("double", lambda d, s, o: twice(d, s, o, first=away))),
    wrong("always once", "RoundedInTwoSteps", EVERY, **always(once)),
    wrong("once, ties away", "Tie",
          ways=only("single", lambda d, s, o: once(d, s, o, round_=away))),
    wrong("15 bits", "ScaleNotPowerOfTwo", (("int16", "int16"), ("int32", "int16")),
          **always(lambda d, s, o: once(d, s, o, 15))),
    wrong("8 fractional bits", "FewFactorBits", **always(lambda d, s, o: few_bits(8, d, s, o))),
    wrong("16 fractional bits", "ScaleNotPowerOfTwo", (("int16", "int16"),),
          **always(lambda d, s, o: few_bits(16, d, s, o))),
    wrong("always in float32", "RoundedInTwoSteps", **always(in_float32)),
    wrong("truncates", "ScaleNotPowerOfTwo", EVERY, **of_real(math.trunc)),
    wrong("floors", "ScaleNotPowerOfTwo", **of_real(math.floor)),
    wrong("ceils", "ScaleNotPowerOfTwo", **of_real(math.ceil)),
    wrong("always to even", "RoundedInTwoSteps", **of_real(round)),
    wrong("always away", "RoundedInTwoSteps", **of_real(away)),
    wrong("wraps", "Saturates", EIGHT, **ends(lambda whole, zero, kind: min(max(whole, -FAR), FAR) + zero)),
    wrong("clamps before the zero point", "Saturates", EIGHT,
          **ends(lambda whole, zero, kind: clamped(clamped(whole, kind) + zero, kind))),
    wrong("narrow range", "Saturates", EIGHT,
          **ends(lambda whole, zero, kind: max(clamped(whole + zero, kind), int(kind.min) + 1))),
    wrong("beyond is zero", "Saturates", EIGHT,
          **ends(lambda whole, zero, kind: whole + zero if clamped(whole + zero, kind) == whole + zero else 0)),
    wrong("no input zero point", "ZeroPointParity", zeros=lambda first, last: (0, last)),
    wrong("no output zero point", "ZeroPointParity", zeros=lambda first, last: (first, 0)),
    wrong("zero points exchanged", "ZeroPointParity", zeros=lambda first, last: (last, first)),
    wrong("adds the input's zero point", "ZeroPointParity", zeros=lambda first, last: (-first, last)),
    wrong("shift one more", "Tie", EVERY, scales=lambda scale, other: (2 * scale, other)),
    wrong("shift one more, saturating", "Tie", scales=lambda scale, other: (2 * scale, other),
          ways=only("double", twice_saturating)),
    wrong("shift one less", "Tie", EVERY, scales=lambda scale, other: (scale / 2, other)),
    wrong("ratio inverted", "Tie", scales=lambda scale, other: (other, scale)),
    wrong("no scales", "ScaleNotPowerOfTwo", scales=lambda scale, other: (Fraction(1), Fraction(1))),
    wrong("scales in bfloat16", "ScaleNotPowerOfTwo",
          scales=lambda scale, other: (bfloat16(scale), bfloat16(other))),
    wrong("input read as unsigned", "ScaleNotPowerOfTwo", (("int8", "int8"), ("int16", "int16")),
          read=lambda value, kind: value % (1 << kind.bits)),
    wrong("input read as signed", "ScaleNotPowerOfTwo", (("uint8", "int8"), ("uint8", "uint8")),
          read=lambda value, kind: value - 256 if value > 127 else value),
    wrong("largest shift never limited", "Overflow", (("int8", "int32"), ("int16", "int32")),
          ways=only("single", lambda d, s, o: endless(d, s, o))),
]  # fmt: skip


def endless(d: int, scale: Fraction, other: Fraction) -> int:
    found, shift = multiplier(scale, other)
    return upward(Fraction(d * found) * Fraction(2) ** (shift - 31))


def with_ties(round_: Round) -> Requantizer:
    """The real result by another rule for ties, which the document leaves open."""
    ways = {**WAYS, "nearest": lambda d, scale, other: real(d, scale, other, round_)}
    return replace(RIGHT_PARTS, ways=ways.__getitem__)


def in_integers(node: Any, x: Array, s_in: Array, z_in: Array, s_out: Array, z_out: Array) -> tuple[Array, ...]:
    """With NumPy's int64 and shifts; the real result by a division of int64 alone where it is small enough."""
    target, rounding = np.iinfo(node.outputs[0].dtype), node.value("rounding")
    if rounding == "nearest" or not all(np.isfinite(scale) and scale > 0 for scale in (s_in, s_out)):
        return RIGHT_PARTS(node, x, s_in, z_in, s_out, z_out)
    found, shift = multiplier(Fraction(float(s_in)), Fraction(float(s_out)))
    d = x.astype(np.int64) - int(z_in)
    if rounding == "single":
        found, shift = (found, shift) if shift <= 30 else ((1 << 31) - 1, 30)
        whole = (d * found + (1 << (30 - shift))) >> (31 - shift)
    else:
        high = ((d << min(max(shift, 0), 31)) * found + (1 << 30)) >> 31
        right = max(-shift, 0)
        mask = (1 << right) - 1
        whole = (high >> right) + ((high & mask) > (mask >> 1) + (high < 0))
    return (np.clip(whole + int(z_out), target.min, target.max).astype(node.outputs[0].dtype),)


RIGHT = [
    WrongBackend("requantize, right: in fractions", OPERATOR, RIGHT_PARTS, "", EVERY),
    WrongBackend("requantize, right: in integers", OPERATOR, in_integers, "", EVERY),
    WrongBackend("requantize, right: ties away", OPERATOR, with_ties(away), "", EVERY),
    WrongBackend("requantize, right: ties upward", OPERATOR, with_ties(upward), "", EVERY),
    WrongBackend("requantize, right: ties toward zero", OPERATOR, with_ties(to_zero), "", EIGHT),
    WrongBackend("requantize, right: ties downward", OPERATOR, with_ties(downward), "", EIGHT),
]
