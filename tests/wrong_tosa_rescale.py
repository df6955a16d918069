"""Rescalers that are wrong on purpose, each in one way, and right ones: in Python's integers, and in NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "tosa.RESCALE"
SIGNED = ("int8", "int16", "int32")
EVERY = (
    *((source, target) for source in SIGNED for target in SIGNED),
    *((source, target) for source in ("uint8", "uint16") for target in SIGNED[:2]),
    *((source, target) for source in SIGNED[:2] for target in ("uint8", "uint16")),
)
WIDE = tuple(("int48", target) for target in SIGNED)
ALL = (*EVERY, *WIDE)
TYPES = (("int8", "int8"), ("int32", "int8"))
SOME = (("int8", "int8"), ("int16", "int16"), ("int32", "int32"))
NARROW = (("int8", "int8"), ("int16", "int8"))
TO_UNSIGNED = (("int8", "uint8"), ("int16", "uint8"))
FROM_UNSIGNED = (("uint8", "int8"), ("uint8", "int16"))
NUDGE = 1 << 30
Channel = Callable[[int, tuple[int, ...], int], int]  # an element's number, the shape, the channels: the channel


def bits_as(value: int, bits: int, *, signed: bool = True) -> int:
    """The low bits of a number."""
    low = value % (1 << bits)
    return low - (1 << bits) if signed and low >> (bits - 1) else low


def upward(quotient: Fraction) -> int:
    return (2 * quotient.numerator + quotient.denominator) // (2 * quotient.denominator)


def away(quotient: Fraction) -> int:
    found = upward(abs(quotient))
    return found if quotient > 0 else -found


def toward_zero(quotient: Fraction) -> int:
    return -upward(-quotient) if quotient > 0 else upward(quotient)


def cut_off(quotient: Fraction) -> int:
    return int(quotient)


def floor(quotient: Fraction) -> int:
    return quotient.numerator // quotient.denominator


def nudge(mode: str, value: int, shift: int) -> int:
    return (NUDGE if value >= 0 else -NUDGE) if mode == "DOUBLE_ROUND" and shift > 31 else 0


def exact(mode: str, value: int, multiplier: int, shift: int) -> int:
    return upward(Fraction(value * multiplier + nudge(mode, value, shift), 1 << shift))


def high_half(mode: str, value: int, multiplier: int, shift: int) -> int:
    """Of nodes that round twice: as gemmlowp does it, with a shift that rounds away from zero. It is the same."""
    if mode != "DOUBLE_ROUND" or shift <= 31:
        return exact(mode, value, multiplier, shift)
    product = value * multiplier
    first = (product + NUDGE) >> 31 if product >= 0 else -((NUDGE - 1 - product) >> 31)
    return away(Fraction(first, 1 << (shift - 31)))


def ends(kind: str) -> tuple[int, int]:
    info = np.iinfo(kind)
    return int(info.min), int(info.max)


def clamped(kind: str, total: int) -> int:
    low, high = ends(kind)
    return min(max(total, low), high)


def wraps(kind: str, total: int) -> int:
    return bits_as(total, np.iinfo(kind).bits, signed=not kind.startswith("u"))


@dataclass(frozen=True)
class Rescaler:
    """A RESCALE, number by number. Each step may be replaced."""

    channel: Channel = lambda number, shape, channels: number % channels
    read: Callable[[str, int], int] = lambda kind, x: x
    difference: Callable[[str, int, int], int] = lambda kind, x, point: x - point
    factors: Callable[[bool, int, int], tuple[int, int]] = lambda scale32, multiplier, shift: (multiplier, shift)
    scale: Callable[[str, int, int, int], int] = exact
    add: Callable[[str, int, int], int] = lambda kind, rounded, point: rounded + point
    clamp: Callable[[str, int], int] = clamped

    def __call__(self, node: Any, *inputs: Array) -> tuple[Array, ...]:
        x, multipliers, shifts, input_zp, output_zp = inputs
        source, target, mode = node.input_type, node.output_type, node.value("rounding_mode")
        found = []
        for number, value in enumerate(x.reshape(-1).tolist()):
            which = self.channel(number, x.shape, len(multipliers)) % len(multipliers)
            multiplier, shift = int(multipliers[which]), int(shifts[which])
            multiplier, shift = self.factors(node.value("scale32"), multiplier, min(max(shift, 1), 62))
            own = self.difference(source, self.read(source, value), int(input_zp[0]))
            rounded = self.scale(mode, own, multiplier, min(max(shift, 1), 62))
            found.append(self.clamp(target, self.add(target, rounded, int(output_zp[0]))))
        return (np.array(found, np.int64).astype(node.outputs[0].dtype).reshape(x.shape),)


def by(round_: Callable[[Fraction], int]) -> Callable[[str, int, int, int], int]:
    """Every mode rounds so; what rounding twice adds stays."""
    return lambda mode, value, multiplier, shift: round_(
        Fraction(value * multiplier + nudge(mode, value, shift), 1 << shift)
    )


def product_in_32_bits(mode: str, value: int, multiplier: int, shift: int) -> int:
    product = bits_as(value * multiplier, 32)
    return upward(Fraction(product + nudge(mode, value, shift), 1 << shift))


def in_float32(mode: str, value: int, multiplier: int, shift: int) -> int:
    return round(float(np.float32(value) * np.float32(np.ldexp(float(multiplier), -shift))))


def in_float64(mode: str, value: int, multiplier: int, shift: int) -> int:
    return round(float(value) * float(multiplier) * 2.0**-shift)


def product_in_48_bits(mode: str, value: int, multiplier: int, shift: int) -> int:
    return exact(mode, bits_as(value * multiplier, 48), 1, shift)


def to_unsigned_or_not(kind: str, x: int) -> int:
    """The bits of a number read as the other signedness has them; of int32 as they are."""
    return x if kind == "int32" else bits_as(x, np.iinfo(kind).bits, signed=kind.startswith("u"))


def compared_as_unsigned(kind: str, total: int) -> int:
    return ends(kind)[1] if total < 0 and kind.startswith("u") else clamped(kind, total)


def highest_of_signed(kind: str, total: int) -> int:
    low, high = ends(kind)
    return min(max(total, low), high >> 1)


def saturates_as_signed(kind: str, total: int) -> int:
    bits = np.iinfo(kind).bits
    return bits_as(min(max(total, -(1 << (bits - 1))), (1 << (bits - 1)) - 1), bits, signed=False)


def narrow(kind: str, total: int) -> int:
    low, high = ends(kind)
    return min(max(total, low + 1), high)


def along_the_second_axis(number: int, shape: tuple[int, ...], channels: int) -> int:
    """The channel where the last of three axes and more is as long as the second."""
    return (
        number // int(np.prod(shape[2:])) % shape[1] if len(shape) > 2 and shape[1] == channels else number % channels
    )


RIGHT_PARTS = Rescaler()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = TYPES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"rescale: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


WRONG = [
    wrong("always once", "DoubleRound", EVERY,
          scale=lambda mode, value, multiplier, shift: exact("SINGLE_ROUND", value, multiplier, shift)),
    wrong("always twice", "DoubleRound", EVERY,
          scale=lambda mode, value, multiplier, shift: exact("DOUBLE_ROUND", value, multiplier, shift)),
    wrong("ties away", "Tie", SOME, scale=by(away)),
    wrong("ties even", "Tie", EVERY, scale=by(round)),
    wrong("ties toward zero", "Tie", scale=by(toward_zero)),
    wrong("floors", "Tie", EVERY, scale=by(floor)),
    wrong("truncates", "Tie", scale=by(cut_off)),
    wrong("nudges upward always", "DoubleRound", scale=lambda mode, value, multiplier, shift: upward(
        Fraction(value * multiplier + abs(nudge(mode, value, shift)), 1 << shift))),
    wrong("product in 32 bits", "ScaleNotPowerOfTwo", EVERY, scale=product_in_32_bits),
    wrong("in float32", "DoubleRound", (("int32", "int8"), ("int16", "int16")), scale=in_float32),
    wrong("in float64", "WideInput", WIDE, scale=in_float64),
    wrong("product in 48 bits", "WideInput", WIDE, scale=product_in_48_bits),
    wrong("low 32 of 48 bits", "WideInput", WIDE, read=lambda kind, x: bits_as(x, 32)),
    wrong("48 bits saturate to 32", "WideInput", WIDE, read=lambda kind, x: clamped("int32", x)),
    wrong("ties of 48 bits away", "Tie", WIDE, scale=by(away)),
    wrong("48 bits floor", "NearTie", WIDE, scale=by(floor)),
    wrong("48 bits wrap at the end", "Saturates", WIDE[:2], clamp=wraps),
    wrong("48 bits, next channel", "PerChannel", WIDE, channel=lambda number, shape, channels: number % channels + 1),
    wrong("shift one more", "Tie", factors=lambda scale32, multiplier, shift: (multiplier, shift + 1)),
    wrong("shift one less", "Tie", factors=lambda scale32, multiplier, shift: (multiplier, shift - 1)),
    wrong("16 bits as upper half", "Tie",
          factors=lambda scale32, multiplier, shift: (multiplier if scale32 else multiplier << 16, shift)),
    wrong("multiplier of 15 bits", "ScaleNotPowerOfTwo", (("int32", "int16"), ("int16", "int32")),
          factors=lambda scale32, multiplier, shift: (((multiplier + (1 << 15)) >> 16) << 16, shift)),
    wrong("no input zero point", "ZeroPointEdge", NARROW[:1], difference=lambda kind, x, point: x),
    wrong("input zero point added", "ZeroPointEdge", (("int8", "int16"),), difference=lambda kind, x, point: x + point),
    wrong("no output zero point", "ZeroPointEdge", NARROW, add=lambda kind, rounded, point: rounded),
    wrong("output zero point subtracted", "ZeroPointEdge", NARROW, add=lambda kind, rounded, point: rounded - point),
    wrong("difference wraps", "ZeroPointEdge", (("int8", "int8"), ("uint8", "int16")),
          difference=lambda kind, x, point: wraps(kind, x - point)),
    wrong("clamps before the zero point", "ZeroPointEdge", NARROW,
          add=lambda kind, rounded, point: clamped(kind, rounded) + point),
    wrong("wraps", "Saturates", (*NARROW, *TO_UNSIGNED), clamp=wraps),
    wrong("highest of the signed type", "Saturates", TO_UNSIGNED, clamp=highest_of_signed),
    wrong("saturates as signed", "Saturates", TO_UNSIGNED, clamp=saturates_as_signed),
    wrong("narrow range", "Saturates", NARROW, clamp=narrow),
    wrong("unsigned read as signed", "ScaleNotPowerOfTwo", FROM_UNSIGNED, read=to_unsigned_or_not),
    wrong("signed read as unsigned", "Tie", NARROW, read=to_unsigned_or_not),
    wrong("first channel for all", "PerChannel", EVERY, channel=lambda number, shape, channels: 0),
    wrong("next channel", "PerChannel", channel=lambda number, shape, channels: number % channels + 1),
    wrong("channels along the first axis", "PerChannel",
          channel=lambda number, shape, channels: number // max(int(np.prod(shape[1:])), 1)),
    wrong("channels along the second axis", "PerChannel", EVERY, channel=along_the_second_axis),
    wrong("multiplier without its last bit", "Tie", ALL,
          factors=lambda scale32, multiplier, shift: (multiplier & ~1, shift)),
]  # fmt: skip


def in_int64(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """The document's own integers, whole arrays at a time."""
    x, multiplier, shift, input_zp, output_zp = (array.astype(np.int64) for array in inputs)
    shift = np.clip(shift, 1, 62)
    value = x - input_zp
    rounding = np.int64(1) << (shift - 1)
    if node.value("rounding_mode") == "DOUBLE_ROUND":
        rounding = rounding + np.where(shift > 31, np.where(value >= 0, NUDGE, -NUDGE), 0)
    total = ((value * multiplier + rounding) >> shift) + output_zp
    info = np.iinfo(node.outputs[0].dtype)
    return (np.clip(total, info.min, info.max).astype(node.outputs[0].dtype).reshape(x.shape),)


def in_doubles(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """As in_int64, but with INEXACT_ROUND in doubles, with ties to even."""
    if node.value("rounding_mode") != "INEXACT_ROUND":
        return in_int64(node, *inputs)
    x, multiplier, shift, input_zp, output_zp = (array.astype(np.float64) for array in inputs)
    total = np.rint((x - input_zp) * multiplier * np.exp2(-shift)) + output_zp
    info = np.iinfo(node.outputs[0].dtype)
    return (np.clip(total, info.min, info.max).astype(node.outputs[0].dtype).reshape(x.shape),)


RIGHT = [
    WrongBackend("rescale, right: in fractions", OPERATOR, RIGHT_PARTS, "", ALL),
    WrongBackend("rescale, right: twice as gemmlowp", OPERATOR, Rescaler(scale=high_half), "", EVERY),
    WrongBackend("rescale, right: in int64", OPERATOR, in_int64, "", ALL),
    WrongBackend("rescale, right: apply_clip_u by its letter", OPERATOR, Rescaler(clamp=compared_as_unsigned), "", ALL),
]
