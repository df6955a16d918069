"""Dynamic quantizers that are wrong on purpose, each in one way, and right ones: in fractions, float32 and float64.

The wrong ones compute in fractions, number by number, and round where the document does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "onnx.DynamicQuantizeLinear"
TYPES = (("float32", "uint8"),)
HALF, STEPS = Fraction(1, 2), 255
LEAST_NORMAL = Fraction(1, 1 << 126)
BEYOND = Fraction(1 << 128)  # a reciprocal from here on is infinite

Round = Callable[[Fraction], int]
Ends = tuple[Fraction, Fraction]


def single(value: Fraction) -> Fraction:
    """The nearest float32; a number beyond them all is the largest."""
    largest = float(np.finfo(np.float32).max)
    with np.errstate(over="ignore"):
        found = float(np.float32(float(value)))
    return Fraction(math.copysign(largest, found)) if math.isinf(found) else double_checked(value, found)


def double_checked(value: Fraction, found: float) -> Fraction:
    """The float32 itself, or a neighbour that is nearer: `value` was rounded to float64 first."""
    near = [found, *(float(np.nextafter(np.float32(found), np.float32(end))) for end in (-np.inf, np.inf))]
    finite = [Fraction(one) for one in near if math.isfinite(one)]
    best = min(abs(one - value) for one in finite)
    return next(one for one in finite if abs(one - value) == best)


def even(value: Fraction) -> int:
    return round(value)


def away(value: Fraction) -> int:
    return math.floor(abs(value) + HALF) * (1 if value > 0 else -1)


def toward_zero_ties(value: Fraction) -> int:
    return math.ceil(abs(value) - HALF) * (1 if value > 0 else -1)


def up_ties(value: Fraction) -> int:
    return math.floor(value + HALF)


def floor_of_sum(value: Fraction) -> int:
    """floor(q + 0.5) with q and the sum in float32."""
    return math.floor(single(single(value) + HALF))


def bounded(value: int, highest: int = STEPS) -> int:
    return max(0, min(highest, value))


@dataclass(frozen=True)
class Dynamic:
    """A dynamic quantizer by its parts; each default is right."""

    x: Callable[[Fraction], Fraction] = lambda value: value
    seen: Callable[[Sequence[Fraction]], Sequence[Fraction]] = lambda values: values
    range: Callable[[Sequence[Fraction]], Ends] = lambda seen: (min([*seen, Fraction(0)]), max([*seen, Fraction(0)]))
    scale: Callable[[Ends], Fraction] = lambda ends: single((ends[1] - ends[0]) / STEPS)
    point: Callable[[Ends, Fraction], int] = lambda ends, scale: bounded(even(-ends[0] / scale))
    y: Callable[[Fraction, Ends, Fraction, int], int] = lambda x, ends, scale, point: even(x / scale) + point
    finish: Callable[[int], int] = bounded

    def __call__(self, node: Any, x: Array) -> tuple[Array, ...]:
        if not x.size or not np.isfinite(x).all():
            return np.zeros(x.shape, np.uint8), np.asarray(np.float32(1)), np.asarray(np.uint8(0))
        values = [self.x(Fraction(float(value))) for value in x.reshape(-1)]
        ends = self.range(self.seen(values))
        scale = self.scale(ends)
        if scale:
            point = self.point(ends, scale)
            codes = [self.finish(self.y(value, ends, scale, point)) for value in values]
        else:  # infinities, and NaN for zeros
            point = STEPS if ends[0] < 0 else 0
            codes = [STEPS if value > 0 else 0 for value in values]
        return (
            np.array(codes, np.uint8).reshape(x.shape),
            np.asarray(np.float32(float(scale))),
            np.asarray(np.uint8(point)),
        )


def quotient_by(round_: Round) -> Callable[[Fraction, Ends, Fraction, int], int]:
    return lambda x, ends, scale, point: round_(x / scale) + point


def point_by(round_: Round) -> Callable[[Ends, Fraction], int]:
    return lambda ends, scale: bounded(round_(-ends[0] / scale))


def over(steps: int) -> Callable[[Ends], Fraction]:
    return lambda ends: single((ends[1] - ends[0]) / steps)


def bare(seen: Sequence[Fraction]) -> Ends:
    return min(seen), max(seen)


def symmetric(seen: Sequence[Fraction]) -> Ends:
    greatest = max(map(abs, seen))
    return -greatest, greatest


def by_reciprocal(x: Fraction, ends: Ends, scale: Fraction, point: int) -> int:
    if 1 / scale >= BEYOND:
        return STEPS if x > 0 else 0
    return even(x * single(1 / scale)) + point


def by_real_scale(x: Fraction, ends: Ends, scale: Fraction, point: int) -> int:
    return even(x * STEPS / (ends[1] - ends[0])) + point


def sum_first(x: Fraction, ends: Ends, scale: Fraction, point: int) -> int:
    return even(x / scale + point)


def from_low(x: Fraction, ends: Ends, scale: Fraction, point: int) -> int:
    return even((x - ends[0]) / scale)


def clamped_first(x: Fraction, ends: Ends, scale: Fraction, point: int) -> int:
    return bounded(even(x / scale)) + point


def flushed(value: Fraction) -> Fraction:
    return Fraction(0) if abs(value) < LEAST_NORMAL else value


def flushed_scale(ends: Ends) -> Fraction:
    return flushed(over(STEPS)(ends))


def raised_scale(ends: Ends) -> Fraction:
    return max(over(STEPS)(ends), Fraction(1, 1 << 23))


def in_bfloat16(value: Fraction) -> Fraction:
    """The bfloat16 nearest to a normal number, by its 8 significant bits; smaller numbers stay."""
    if abs(value) < LEAST_NORMAL:
        return value
    unit = Fraction(2) ** (math.frexp(float(abs(value)))[1] - 8)
    return round(value / unit) * unit


def cut_off(ends: Ends) -> Fraction:
    """The scale with the last bit of its float32 zero."""
    bits = np.float32(float(over(STEPS)(ends))).reshape(1).view(np.uint32) & np.uint32(0xFFFFFFFE)
    return Fraction(float(bits.view(np.float32)[0]))


def whole_vectors(width: int) -> Callable[[Sequence[Fraction]], Sequence[Fraction]]:
    return lambda values: values[: len(values) // width * width] or values


def first_half(values: Sequence[Fraction]) -> Sequence[Fraction]:
    return values[: (len(values) + 1) // 2]


def by_real_width(ends: Ends, scale: Fraction) -> int:
    return bounded(even(-ends[0] * STEPS / (ends[1] - ends[0])))


RIGHT_PARTS = Dynamic()


def wrong(name: str, flag: str, **parts: Any) -> WrongBackend:
    return WrongBackend(f"dynamic: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, TYPES)


WRONG = [
    wrong("ties away", "Tie", y=quotient_by(away)),
    wrong("ties toward zero", "Tie", y=quotient_by(toward_zero_ties)),
    wrong("ties up", "Tie", y=quotient_by(up_ties)),
    wrong("truncates", "NearTie", y=quotient_by(math.trunc)),
    wrong("floors", "NearTie", y=quotient_by(math.floor)),
    wrong("floor of q + 0.5", "AddHalf", y=quotient_by(floor_of_sum)),
    wrong("zero point with ties away", "Tie", point=point_by(away)),
    wrong("zero point truncated", "NearTie", point=point_by(math.trunc)),
    wrong("zero point rounded up", "NearTie", point=point_by(math.ceil)),
    wrong("zero point of the real width", "ScaleNotPowerOfTwo", point=by_real_width),
    wrong("zero point from max", "Tie", point=lambda ends, scale: bounded(STEPS - even(ends[1] / scale))),
    wrong("no zero point", "ClampOrder", point=lambda ends, scale: 0),
    wrong("zero point first", "ZeroPointParity", y=sum_first),
    wrong("counts from min", "Tie", y=from_low),
    wrong("clamps first", "ClampOrder", y=clamped_first),
    wrong("clamps first, then wraps", "ClampOrder", y=clamped_first, finish=lambda value: value % 256),
    wrong("no zero point in y", "ClampOrder", y=lambda x, ends, scale, point: even(x / scale)),
    wrong("reciprocal", "Reciprocal", y=by_reciprocal),
    wrong("real scale", "ScaleNotPowerOfTwo", y=by_real_scale),
    wrong("256 for 255", "ScaleNotPowerOfTwo", scale=over(256)),
    wrong("254 for 255", "ScaleNotPowerOfTwo", scale=over(254)),
    wrong("scale cut off", "ScaleNotPowerOfTwo", scale=cut_off),
    wrong("scale at least 2^-23", "Subnormal", scale=raised_scale),
    wrong("scale flushed", "Subnormal", scale=flushed_scale),
    wrong("inputs flushed", "Subnormal", x=flushed),
    wrong("inputs in bfloat16", "ScaleNotPowerOfTwo", x=in_bfloat16),
    wrong("range without zero", "ZeroOutside", range=bare),
    wrong("symmetric range", "RangeEdge", range=symmetric),
    wrong("range without the last", "Measured", seen=lambda values: values[:-1] or values),
    wrong("range without the first", "Measured", seen=lambda values: values[1:] or values),
    wrong("range of whole vectors of 8", "Measured", seen=whole_vectors(8)),
    wrong("range of whole vectors of 64", "Lane", seen=whole_vectors(64)),
    wrong("range of the first half", "Shape", seen=first_half),
    wrong("wraps", "Saturates", finish=lambda value: value % 256),
    wrong("never 255", "RangeEdge", finish=lambda value: bounded(value, 254)),
    wrong("at most 127", "RangeEdge", finish=lambda value: bounded(value, 127)),
]


def in_type(dtype: type) -> Callable[..., tuple[Array, ...]]:
    """The function body, step by step in a floating-point type; the scale is a float32 all the same."""

    def run(node: Any, x: Array) -> tuple[Array, ...]:
        wide = x.astype(dtype)
        low, high = np.min(wide, initial=0), np.max(wide, initial=0)
        scale = dtype(np.float32((high - low) / dtype(255)))
        point = np.rint(np.clip(dtype(0) - low / scale, dtype(0), dtype(255)))
        y = np.clip(np.rint(wide / scale) + point, 0, 255)
        return np.nan_to_num(y).astype(np.uint8), np.asarray(np.float32(scale)), np.nan_to_num(point).astype(np.uint8)

    return run


def by_text(node: Any, x: Array) -> tuple[Array, ...]:
    """min(x) in the zero point's formula as it stands there, of a range above zero, too: it saturates to the same."""
    outputs = in_type(np.float32)(node, x)
    scale, least = outputs[1], np.min(x, initial=np.inf)
    point = np.rint(np.clip(np.float32(0) - least / scale, 0, 255))
    return outputs[0], scale, np.asarray(np.nan_to_num(point), np.uint8).reshape(())


RIGHT = [
    WrongBackend(f"dynamic, right: {name}", OPERATOR, run, "", TYPES)
    for name, run in (
        ("in fractions", RIGHT_PARTS),
        ("in float32", in_type(np.float32)),
        ("in float64", in_type(np.float64)),
        ("by the text", by_text),
    )
]
