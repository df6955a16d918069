"""UniformRequantize that is wrong on purpose, each in one way, and right ones, in fractions or NumPy's steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import wrong_tflite_requantize as rq

from wrong_model import Array, WrongBackend

OPERATOR = "tensorflow.UniformRequantize"
BYTES = (("int8", "int8"),)
TO_BYTES = (*BYTES, ("int32", "int8"))
EVERY = (*TO_BYTES, ("int8", "int32"), ("int32", "int32"))
WORD = np.iinfo(np.int32)
Side = tuple[Array, Array]


def to_ends(whole: int, zero: int, least: int, greatest: int) -> int:
    return min(max(whole + zero, least), greatest)


@dataclass(frozen=True)
class Requantizer:
    """By its parts, each right by default. `places` has the index of a slice's parameters on either side."""

    read: Callable[[int, Any], int] = lambda value, node: value
    difference: Callable[[int, int], int] = lambda x, zero: x - zero
    whole: Callable[[int, Fraction, Fraction], int] = rq.real
    scales: Callable[[Fraction, Fraction], tuple[Fraction, Fraction]] = lambda scale, other: (scale, other)
    zeros: Callable[[int, int], tuple[int, int]] = lambda first, last: (first, last)
    end: Callable[[int, int, int, int], int] = to_ends
    ends: Callable[[Any, Any], tuple[int, int]] = lambda node, kind: ends_of(node)
    places: tuple[Callable[[int, int], int], Callable[[int, int], int]] = (lambda at, n: at, lambda at, n: at)
    axis: Callable[[int, int], int] = lambda axis, rank: axis

    def __call__(self, node: Any, x: Array, s_in: Array, z_in: Array, s_out: Array, z_out: Array) -> tuple[Array, ...]:
        kind, out = np.iinfo(node.outputs[0].dtype), np.zeros(x.shape, node.outputs[0].dtype)
        for at in np.ndindex(x.shape):
            scale, first = self.own(at, x, node.value("input_quantization_axis"), (s_in, z_in), self.places[0])
            other, last = self.own(at, x, node.value("output_quantization_axis"), (s_out, z_out), self.places[1])
            if math.isfinite(scale) and math.isfinite(other) and other:
                found = self.result(node, int(x[at]), (Fraction(scale), Fraction(other)), (first, last))
                out[at] = rq.in_type(found, kind)
        return (out,)

    def own(self, at: tuple[int, ...], x: Array, axis: int, side: Side, place: Callable[[int, int], int]) -> Any:
        """The scale and the zero point of an element on one side."""
        count = side[0].size
        index = place(at[self.axis(axis, x.ndim)] % count, count) % count if axis >= 0 else 0
        return float(side[0].reshape(-1)[index]), int(side[1].reshape(-1)[index])

    def result(self, node: Any, x: int, scales: tuple[Fraction, Fraction], zeros: tuple[int, int]) -> int:
        first, last = self.zeros(*zeros)
        whole = self.whole(self.difference(self.read(x, node), first), *self.scales(*scales))
        return self.end(whole, last, *self.ends(node, np.iinfo(node.outputs[0].dtype)))


def ends_of(node: Any, side: str = "output") -> tuple[int, int]:
    least, greatest = (node.value(f"{side}_quantization_{end}_val") for end in ("min", "max"))
    return least, greatest


RIGHT_PARTS = Requantizer()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = TO_BYTES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"uniform-requantize: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


def in_word(value: int) -> int:
    return rq.in_type(value, WORD)


def held(value: int) -> int:
    return min(max(value, int(WORD.min)), int(WORD.max))


def in_byte(value: int) -> int:
    return rq.in_type(value, np.iinfo(np.int8))


def in_64_bits(whole: int) -> int:
    return min(max(whole, -rq.FAR), rq.FAR)


def to_byte(whole: int) -> int:
    return min(max(whole, -128), 127)


def multiplied(difference: int, scale: Fraction, other: Fraction) -> int:
    """By 31 bits and one shift where both scales are positive."""
    if min(scale, other) <= 0:
        return rq.real(difference, scale, other)
    return rq.once(difference, scale, other)


def by_bits(bits: int, difference: int, scale: Fraction, other: Fraction) -> int:
    return math.floor(difference * Fraction(round(scale / other * (1 << bits)), 1 << bits) + Fraction(1, 2))


def clipped(x: int, node: Any) -> int:
    least, greatest = ends_of(node, "input")
    return min(max(x, least), greatest)


FIRST = lambda at, count: 0  # noqa: E731 - a place, as the other ones
NEXT = lambda at, count: at + 1  # noqa: E731
OWN = lambda at, count: at  # noqa: E731

WRONG = [
    wrong("truncates", "ScaleNotPowerOfTwo", EVERY, whole=lambda d, s, o: math.trunc(d * s / o)),
    wrong("floors", "ScaleNotPowerOfTwo", EVERY, whole=lambda d, s, o: math.floor(d * s / o)),
    wrong("ceils", "ScaleNotPowerOfTwo", EVERY, whole=lambda d, s, o: math.ceil(d * s / o)),
    wrong("8 fractional bits", "FewFactorBits", BYTES, whole=lambda d, s, o: by_bits(8, d, s, o)),
    wrong("rounds in two steps", "RoundedInTwoSteps", BYTES,
          whole=lambda d, s, o: rq.twice(d, s, o) if min(s, o) > 0 else rq.real(d, s, o)),
    wrong("a multiplier of 31 bits", "WideInteger", (("int32", "int32"),), whole=multiplied),
    wrong("no input zero point", "ZeroPointParity", EVERY, zeros=lambda first, last: (0, last)),
    wrong("no output zero point", "ZeroPointParity", EVERY, zeros=lambda first, last: (first, 0)),
    wrong("zero points exchanged", "ZeroPointParity", EVERY, zeros=lambda first, last: (last, first)),
    wrong("adds the input's zero point", "ZeroPointParity", EVERY, zeros=lambda first, last: (-first, last)),
    wrong("subtracts the output's zero point", "ZeroPointParity", EVERY, zeros=lambda first, last: (first, -last)),
    wrong("difference wraps in int32", "WideSum", EVERY, difference=lambda x, zero: in_word(x - zero)),
    wrong("difference saturates in int32", "WideSum", (("int32", "int32"),), difference=lambda x, zero: held(x - zero)),
    wrong("zero point of 8 bits", "WideSum", difference=lambda x, zero: x - ((zero + 128) % 256 - 128)),
    wrong("sum wraps in int32", "WideSum", EVERY,
          end=lambda whole, zero, least, greatest: min(max(in_word(held(whole) + zero), least), greatest)),
    wrong("ratio inverted", "ScaleNotPowerOfTwo", EVERY, scales=lambda scale, other: (other, scale or Fraction(1))),
    wrong("no scales", "ScaleNotPowerOfTwo", EVERY, scales=lambda scale, other: (Fraction(1), Fraction(1))),
    wrong("no output scale", "ScaleNotPowerOfTwo", EVERY, scales=lambda scale, other: (scale, Fraction(1))),
    wrong("magnitude of the scales", "NegativeScale", EVERY, scales=lambda scale, other: (abs(scale), abs(other))),
    wrong("scales in bfloat16", "ScaleNotPowerOfTwo", scales=lambda s, o: (rq.bfloat16(s), rq.bfloat16(o))),
    wrong("wraps", "Saturates", end=lambda whole, zero, least, greatest: whole + zero),
    wrong("wraps, then clips to the range", "Saturates", BYTES,
          end=lambda whole, zero, least, greatest: min(max(in_byte(in_64_bits(whole) + zero), least), greatest)),
    wrong("clamps to the type, wraps, then clips to the range", "Saturates", TO_BYTES,
          end=lambda whole, zero, least, greatest: min(max(in_byte(to_byte(whole) + zero), least), greatest)),
    wrong("rounds in two steps, saturating", "RoundedInTwoSteps", BYTES, whole=rq.twice_saturating),
    wrong("clips before the zero point", "Saturates", BYTES,
          end=lambda whole, zero, least, greatest: to_ends(min(max(whole, least), greatest), zero, least, greatest)),
    wrong("ignores the output's range", "NarrowRange", EVERY, ends=lambda node, kind: (int(kind.min), int(kind.max))),
    wrong("ignores the least integer", "NarrowRange", EVERY,
          ends=lambda node, kind: (int(kind.min), ends_of(node)[1])),
    wrong("ignores the greatest integer", "NarrowRange", EVERY,
          ends=lambda node, kind: (ends_of(node)[0], int(kind.max))),
    wrong("the input's range clips the output", "NarrowRange", BYTES, ends=lambda node, kind: ends_of(node, "input")),
    wrong("input clipped to its range", "NarrowRange", EVERY, read=clipped),
    wrong("always narrow", "Saturates", ends=lambda node, kind: (max(ends_of(node)[0], int(kind.min) + 1), 127)),
    wrong("input read as unsigned", "ScaleNotPowerOfTwo", BYTES, read=lambda x, node: x % 256),
    wrong("first input scale for all", "PerAxis", EVERY, places=(FIRST, OWN)),
    wrong("first output scale for all", "PerAxis", EVERY, places=(OWN, FIRST)),
    wrong("next input scale", "PerAxis", EVERY, places=(NEXT, OWN)),
    wrong("next output scale", "PerAxis", EVERY, places=(OWN, NEXT)),
    wrong("always the last axis", "PerAxis", EVERY, axis=lambda axis, rank: rank - 1),
    wrong("always the first axis", "PerAxis", EVERY, axis=lambda axis, rank: 0),
]  # fmt: skip


def with_ties(whole: Callable[[Fraction], int]) -> Requantizer:
    return replace(RIGHT_PARTS, whole=lambda d, scale, other: rq.real(d, scale, other, whole))


def in_float32_steps(node: Any, x: Array, s_in: Array, z_in: Array, s_out: Array, z_out: Array) -> tuple[Array, ...]:
    """The document's steps in NumPy's float32, to the even integer."""
    pairs = (("input", s_in, z_in), ("output", s_out, z_out))
    (scale, first), (other, last) = (spread(node.value(f"{side}_quantization_axis"), x, *own) for side, *own in pairs)
    with np.errstate(all="ignore"):
        difference = (x.astype(np.int64) - first.astype(np.int64)).astype(np.float32)
        total = difference * (scale / other) + last.astype(np.float32)
        found = np.clip(np.nan_to_num(np.rint(total).astype(np.float64), posinf=2.0**40, neginf=-(2.0**40)),
                        *ends_of(node))  # fmt: skip
    return (found.astype(np.int64).astype(node.outputs[0].dtype).reshape(x.shape),)


def spread(axis: int, x: Array, *parameters: Array) -> tuple[Array, ...]:
    sizes = [-1 if at == axis else 1 for at in range(x.ndim)]
    return tuple(array.reshape(sizes) if axis >= 0 else array for array in parameters)


RIGHT = [
    WrongBackend("uniform-requantize, right: in fractions", OPERATOR, RIGHT_PARTS, "", EVERY),
    WrongBackend("uniform-requantize, right: in float32 steps", OPERATOR, in_float32_steps, "", EVERY),
    WrongBackend("uniform-requantize, right: ties away", OPERATOR, with_ties(rq.away), "", EVERY),
    WrongBackend("uniform-requantize, right: ties upward", OPERATOR, with_ties(rq.upward), "", EVERY),
]
