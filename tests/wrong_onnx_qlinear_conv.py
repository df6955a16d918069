"""Convolutions of quantized tensors that are wrong on purpose, each in one way, and right ones: in Python's integers.

They gather their windows by loops of their own and share nothing with the tables of mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "onnx.QLinearConv"
BYTES = ("uint8", "int8")
EVERY = tuple((x, y) for x in BYTES for y in BYTES)
SOME = (("uint8", "uint8"), ("int8", "int8"))
TO_SIGNED, TO_UNSIGNED = ((("uint8", "int8"),), (("uint8", "uint8"), ("int8", "uint8")))


@dataclass(frozen=True)
class Frame:
    """Where windows lie: a number for each axis."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    output: tuple[int, ...]


def frame_of(node: Any, image: tuple[int, ...], kernel: tuple[int, ...]) -> Frame:
    axes = len(image)
    strides, dilations = node.value("strides") or (1,) * axes, node.value("dilations") or (1,) * axes
    spans = [gap * (size - 1) + 1 for gap, size in zip(dilations, kernel, strict=True)]
    pads, way = node.value("pads") or (0,) * (2 * axes), node.value("auto_pad")
    if not way.startswith("SAME"):
        sizes = [size + pads[n] + pads[n + axes] for n, size in enumerate(image)]
        output = tuple((s - span) // step + 1 for s, span, step in zip(sizes, spans, strides, strict=True))
        return Frame(strides, dilations, tuple(pads[:axes]), output)
    output = tuple(math.ceil(size / step) for size, step in zip(image, strides, strict=True))
    rows = zip(output, strides, spans, image, strict=True)
    totals = [max(0, step * (count - 1) + span - size) for count, step, span, size in rows]
    upper = way == "SAME_UPPER"
    return Frame(strides, dilations, tuple(total // 2 if upper else (total + 1) // 2 for total in totals), output)


@dataclass(frozen=True)
class Summing:
    """The sums of a convolution, window by window. Each step may be replaced."""

    frame: Callable[[Any, Frame], Frame] = lambda node, frame: frame
    kernel: Callable[[Array], Array] = lambda w: w
    group: Callable[[int, int, int], int] = lambda channel, inputs, group: channel
    added: Callable[[int], int] = lambda point: point
    points: Callable[[int, int], tuple[int, int]] = lambda x, w: (x, w)
    point_of: Callable[[int], int] = lambda channel: channel
    difference: Callable[[str, int, int], int] = lambda kind, value, point: value - point
    total: Callable[[list[int]], int] = sum

    def sums(self, node: Any, x: Array, w: Array, x_point: Array, w_point: Array) -> Array:
        """int64, of y's shape."""
        frame, kernel = self.frame(node, frame_of(node, x.shape[2:], w.shape[2:])), self.kernel(w)
        found = np.zeros((x.shape[0], w.shape[0], *frame.output), np.int64)
        w_points = np.broadcast_to(w_point, (w.shape[0],)).tolist()
        for place in np.ndindex(*found.shape):
            points = self.points(int(x_point), w_points[self.point_of(place[1]) % len(w_points)])
            filler = self.added(int(x_point))
            terms = [
                self.difference(x.dtype.name, filler if pixel is None else pixel, points[0])
                * self.difference(w.dtype.name, weight, points[1])
                for pixel, weight in self.pairs(node, frame, x, kernel, place)
            ]
            found[place] = self.total(terms)
        return found

    def pairs(self, node: Any, frame: Frame, x: Array, w: Array, place: tuple[int, ...]) -> Iterator[tuple[Any, int]]:
        batch, output, *at = place
        inputs, groups = w.shape[1], node.value("group")
        begins = [step * n - low for step, n, low in zip(frame.strides, at, frame.before, strict=True)]
        first = output // (w.shape[0] // groups) * inputs
        for channel, *inner in product(range(inputs), *map(range, w.shape[2:])):
            spot = tuple(b + gap * n for b, gap, n in zip(begins, frame.dilations, inner, strict=True))
            inside = all(0 <= s < size for s, size in zip(spot, x.shape[2:], strict=True))
            of_x = self.group(first + channel, x.shape[1], groups)
            yield (int(x[(batch, of_x, *spot)]) if inside else None), int(w[(output, channel, *inner)])


def one_weight_at_once(node: Any, x: Array, w: Array, x_point: Array, w_point: Array) -> Array:
    """The same sums where a kernel has one weight of one channel: every pixel times every weight."""
    pixels = x.astype(np.int64) - int(x_point)
    weights = w.astype(np.int64).reshape(-1) - np.asarray(w_point, np.int64).reshape(-1)
    return pixels * weights.reshape(-1, *(1,) * (x.ndim - 2))


RIGHT_SUMS = Summing()


def is_plain(x: Array, w: Array) -> bool:
    return w[0].size == 1 and x.shape[1] == 1


def ends(kind: str) -> tuple[int, int]:
    info = np.iinfo(kind)
    return int(info.min), int(info.max)


def wraps(kind: str, total: int) -> int:
    low, high = ends(kind)
    return (total - low) % (high - low + 1) + low


def clamped(kind: str, total: int) -> int:
    low, high = ends(kind)
    return min(max(total, low), high)


def even(quotient: Fraction) -> int:
    return round(quotient)


def away(quotient: Fraction) -> int:
    found = math.floor(abs(quotient) + Fraction(1, 2))
    return found if quotient > 0 else -found


def ratio(x: Any, w: Any, y: Any) -> Fraction:
    return Fraction(float(x)) * Fraction(float(w)) / Fraction(float(y))


@dataclass(frozen=True)
class Convolver:
    """A QLinearConv, number by number. Each step may be replaced."""

    sums: Summing = field(default_factory=Summing)
    bias: Callable[[int, int], int] = lambda total, bias: total + bias
    bias_of: Callable[[int], int] = lambda channel: channel
    real_bias: bool = False  # the bias is beside the dequantized sum, and only y's scale divides it
    scale_of: Callable[[int], int] = lambda channel: channel
    ratio: Callable[[Any, Any, Any], Fraction] = ratio
    round: Callable[[Fraction], int] = even
    add: Callable[[str, int, int], int] = lambda kind, rounded, point: rounded + point
    clamp: Callable[[str, int], int] = clamped

    def __call__(self, node: Any, *inputs: Array) -> tuple[Array, ...]:
        x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point, *rest = inputs
        own = self.sums
        plain = own == RIGHT_SUMS and is_plain(x, w) and not node.attributes
        totals = (one_weight_at_once if plain else own.sums)(node, x, w, x_point, w_point)
        kind, found = node.output_type, np.zeros(totals.shape, y_point.dtype)
        scales = [self.factor(x_scale, one, y_scale) for one in np.broadcast_to(w_scale, (w.shape[0],))]
        biases = rest[0].tolist() if rest else [0] * w.shape[0]
        for place in np.ndindex(*totals.shape):
            factor = scales[self.scale_of(place[1]) % len(scales)]
            bias = biases[self.bias_of(place[1]) % len(biases)]
            total = int(totals[place]) if self.real_bias else self.bias(int(totals[place]), bias)
            beside = Fraction(bias) / Fraction(float(y_scale)) if self.real_bias and factor is not None else 0
            found[place] = 0 if factor is None else self.result(kind, total * factor + beside, int(y_point))
        return (found,)

    def factor(self, *scales: Any) -> Fraction | None:
        """None where a scale is no number, or divides nothing."""
        return self.ratio(*scales) if all(map(np.isfinite, scales)) and scales[2] else None

    def result(self, kind: str, quotient: Fraction, point: int) -> int:
        return self.clamp(kind, self.add(kind, self.round(quotient), point))


def float32_factor(x: Any, w: Any, y: Any) -> Fraction:
    """Infinite factors become the largest."""
    with np.errstate(all="ignore"):
        found = np.float32(x) * np.float32(w) / np.float32(y)
    return Fraction(float(np.nan_to_num(found)))


def factor_without_sign(x: Any, w: Any, y: Any) -> Fraction:
    """1 for a factor that float32 holds as 0 or as a subnormal number."""
    found = abs(float32_factor(x, w, y))
    return found if found >= Fraction(1, 1 << 126) else Fraction(1)


def cut_factor(x: Any, w: Any, y: Any) -> Fraction:
    """A factor without what lies behind its first 31 bits."""
    exact = ratio(x, w, y)
    power = Fraction(2) ** (31 - math.frexp(float(exact))[1])
    return int(exact * power) / power if exact else exact


def depthwise_away(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """Another kernel where each channel has its own weights: ties go away from zero there."""
    is_depthwise = node.value("group") == inputs[0].shape[1] > 1
    return Convolver(round=away if is_depthwise else even)(node, *inputs)


def in_32_bits(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = SOME, **parts: Any) -> WrongBackend:
    return WrongBackend(f"conv: {name}", OPERATOR, Convolver(**parts), flag, types)


def summed(name: str, flag: str, types: tuple[tuple[str, str], ...] = SOME[:1], **parts: Any) -> WrongBackend:
    return WrongBackend(f"conv: {name}", OPERATOR, Convolver(sums=Summing(**parts)), flag, types)


def without(name: str) -> Callable[[Any, Frame], Frame]:
    return lambda node, frame: replace(frame, **{name: (1,) * len(frame.strides)})


def no_pads_before(node: Any, frame: Frame) -> Frame:
    return replace(frame, before=(0,) * len(frame.before))


def other_same(node: Any, frame: Frame) -> Frame:
    """What SAME_LOWER adds before, SAME_UPPER does, and the other way round: one pixel more or less."""
    step = {"SAME_UPPER": 1, "SAME_LOWER": -1}.get(node.value("auto_pad"), 0)
    return replace(frame, before=tuple(max(low + step, 0) for low in frame.before))


def flipped(w: Array) -> Array:
    return np.flip(w, axis=tuple(range(2, w.ndim)))


def pairs_in_16_bits(terms: list[int]) -> int:
    return sum(min(max(sum(terms[n : n + 2]), -(1 << 15)), (1 << 15) - 1) for n in range(0, len(terms), 2))


def in_float32(terms: list[int]) -> int:
    total = np.float32(0)
    for term in terms:
        total = np.float32(total + np.float32(term))
    return int(total)


def without_tail(terms: list[int]) -> int:
    return sum(terms[: len(terms) // 4 * 4] if len(terms) >= 4 else terms)


def along_inputs(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """Scales and zero points of w by input channel, where there are as many."""
    x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point, *bias = inputs
    if not w_scale.size == w.shape[1] > 1:
        return Convolver()(node, *inputs)
    frame, size = frame_of(node, x.shape[2:], w.shape[2:]), w[0, 0].size
    scales, points = w_scale.tolist(), np.broadcast_to(w_point, w_scale.shape).tolist()
    found = np.zeros((x.shape[0], w.shape[0], *frame.output), y_point.dtype)
    for place in np.ndindex(*found.shape):
        total = Fraction(scales[place[1]]) * int(bias[0][place[1]]) if bias else Fraction(0)
        for n, (pixel, weight) in enumerate(RIGHT_SUMS.pairs(node, frame, x, w, place)):
            of_x = 0 if pixel is None else pixel - int(x_point)
            total += of_x * (weight - points[n // size]) * Fraction(scales[n // size])
        quotient = even(total * ratio(x_scale, 1, y_scale))
        found[place] = clamped(node.output_type, quotient + int(y_point))
    return (found,)


def in_range_of_sum(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """The sum is a level of a FakeQuantize between the ends of y's range, which are divided by x_scale * w_scale."""
    x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point, *rest = inputs
    plain = is_plain(x, w) and not node.attributes
    totals = (one_weight_at_once if plain else RIGHT_SUMS.sums)(node, x, w, x_point, w_point)
    biases, scales = rest[0].tolist() if rest else [0] * w.shape[0], np.broadcast_to(w_scale, (w.shape[0],))
    found, (least, most) = np.zeros(totals.shape, y_point.dtype), ends(node.output_type)
    with np.errstate(all="ignore"):
        for channel in range(w.shape[0]):
            factor, point = x_scale * scales[channel], np.float32(y_point)
            low, high = (y_scale * (np.float32(end) - point) / factor for end in (least, most))
            step, shift = np.float32(255) / (high - low), -low * np.float32(255) / (high - low) + np.float32(least)
            sums = (totals[:, channel] + biases[channel]).astype(np.float32).astype(np.longdouble)
            levels = np.rint((sums * step + shift).astype(np.float32))
            found[:, channel] = np.clip(np.nan_to_num(levels.astype(np.float64)), least, most)
    return (found,)


SUMS = (
    ("no zero point of x", "ZeroPointEdge", {"points": lambda x, w: (0, w)}),
    ("no zero point of w", "ZeroPointEdge", {"points": lambda x, w: (x, 0)}),
    ("zero points exchanged", "ZeroPointEdge", {"points": lambda x, w: (w, x)}),
    ("zero point of the first channel", "PerAxis", {"point_of": lambda channel: 0}),
    ("difference wraps", "ZeroPointEdge", {"difference": lambda kind, value, point: wraps(kind, value - point)}),
    ("difference saturates", "ZeroPointEdge", {"difference": lambda kind, value, point: clamped(kind, value - point)}),
    ("pads with 0", "Padding", {"added": lambda point: 0}),
    ("no pads before", "Padding", {"frame": no_pads_before}),
    ("same exchanged", "Padding", {"frame": other_same}),
    ("no strides", "Stride", {"frame": without("strides")}),
    ("no dilations", "Dilation", {"frame": without("dilations")}),
    ("kernel flipped", "Shape", {"kernel": flipped}),
    ("groups in turn", "Groups", {"group": lambda channel, inputs, group: channel * group % inputs
                                  + channel * group // inputs}),
    ("first group for all", "Groups", {"group": lambda channel, inputs, group: channel % (inputs // group)}),
    ("pairs in 16 bits", "LongSum", {"total": pairs_in_16_bits}),
    ("sum wraps in 16 bits", "LongSum", {"total": lambda terms: wraps("int16", sum(terms))}),
    ("sum in float32", "LongSum", {"total": in_float32}),
    ("tail lost", "LongSum", {"total": without_tail}),
)  # fmt: skip
WRONG = [
    wrong("float32 factor", "Tie", EVERY, ratio=float32_factor),
    wrong("bits of a factor", "Overflow", EVERY, ratio=factor_without_sign,
          round=lambda quotient: in_32_bits(round(quotient)),
          add=lambda kind, rounded, point: in_32_bits(rounded + point)),
    wrong("ties away", "Tie", EVERY, round=away),
    WrongBackend("conv: ties away in depthwise convolutions", OPERATOR, depthwise_away, "Groups", EVERY),
    wrong("a factor of 31 bits, cut off", "Tie", EVERY, ratio=cut_factor),
    wrong("ties upward", "Tie", EVERY, round=lambda quotient: math.floor(quotient + Fraction(1, 2))),
    wrong("floors", "Tie", round=math.floor),
    wrong("truncates", "Tie", round=int),
    wrong("rounds to halves first", "NearTie", round=lambda quotient: round(Fraction(round(quotient * 2), 2))),
    wrong("no zero point of y", "ZeroPointEdge", add=lambda kind, rounded, point: rounded),
    wrong("zero point of y subtracted", "ZeroPointEdge", add=lambda kind, rounded, point: rounded - point),
    wrong("clamps before the zero point", "Saturates", EVERY,
          add=lambda kind, rounded, point: clamped(kind, rounded) + point),
    wrong("wraps", "Saturates", EVERY, clamp=wraps),
    wrong("highest of the signed type", "Saturates", TO_UNSIGNED,
          clamp=lambda kind, total: min(clamped(kind, total), 127)),
    wrong("narrow range", "RangeEdge", TO_SIGNED, clamp=lambda kind, total: max(clamped(kind, total), -127)),
    wrong("scale of the first channel", "PerAxis", EVERY, scale_of=lambda channel: 0),
    wrong("scale of the next channel", "PerAxis", scale_of=lambda channel: channel + 1),
    WrongBackend("conv: parameters of w along its input channels", OPERATOR, along_inputs, "PerAxis", EVERY),
    WrongBackend("conv: the sum in y's divided range", OPERATOR, in_range_of_sum, "NearTie", EVERY),
    wrong("bias dropped", "Bias", EVERY, bias=lambda total, bias: total),
    wrong("bias without its scale", "Bias", EVERY, real_bias=True),
    wrong("bias subtracted", "Bias", bias=lambda total, bias: total - bias),
    wrong("bias of the first channel", "Bias", bias_of=lambda channel: 0),
    wrong("bias in float32", "Bias", bias=lambda total, bias: total + int(np.float32(bias))),
    wrong("ratio without the scale of x", "NearTie", ratio=lambda x, w, y: ratio(1, w, y)),
    *(summed(name, flag, **parts) for name, flag, parts in SUMS),
]  # fmt: skip


def sum_first(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """The document's steps in float32, one after the other."""
    x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point, *rest = inputs
    plain = is_plain(x, w) and not node.attributes
    totals = (one_weight_at_once if plain else RIGHT_SUMS.sums)(node, x, w, x_point, w_point)
    columns = (-1, *(1,) * (x.ndim - 2))
    totals = totals + (rest[0].astype(np.int64).reshape(columns) if rest else 0)
    scale = np.asarray(x_scale * np.broadcast_to(w_scale, (w.shape[0],)), np.float32).reshape(columns)
    quotient = totals.astype(np.float32) * scale / y_scale
    info = np.iinfo(y_point.dtype)
    found = np.clip(np.rint(np.nan_to_num(quotient)).astype(np.float64) + int(y_point), info.min, info.max)
    return (found.astype(y_point.dtype),)


RIGHT = [
    WrongBackend("conv, right: in fractions", OPERATOR, Convolver(), "", EVERY),
    WrongBackend("conv, right: step by step in float32", OPERATOR, sum_first, "", EVERY),
]
