"""Shared testing of QuantizeV2 and Dequantize: inputs with one range, or a range for each slice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.model import CaseConstraints
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.wrong_steps import Place, taken_from
from tiebreak.golden.elements import FLOAT_TYPES, IntegerType, encode
from tiebreak.golden.problem import Array, along
from tiebreak.golden.samples.model import Tensor, bits

F32 = FLOAT_TYPES["float32"]
Range = tuple[int, int]  # bits of both ends


@dataclass(frozen=True)
class RangedIntegers:
    """The range of each element, float32, and the integers' type."""

    low: Array
    high: Array
    kind: IntegerType

    @property
    def width(self) -> Array:
        return np.asarray(self.high - self.low)

    @property
    def steps(self) -> np.float32:
        return np.float32(self.kind.highest - self.kind.lowest)

    @property
    def magnitude(self) -> Array:
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)))


def draw_ranges(draw: st.DrawFn, wanted: CaseConstraints, shape: tuple[int, ...], axis: int) -> list[Range]:
    """One range, or one for each slice along the axis."""
    pairs = draw(st.lists(range_bits(wanted.specials), min_size=1, max_size=3))
    count = 1 if axis < 0 else shape[axis]
    lows, highs = (repeat([pair[end] for pair in pairs], count) for end in (0, 1))
    return list(zip(lows, highs, strict=True))


def end_tensors(ranges: list[Range], axis: int) -> tuple[Tensor, ...]:
    """The tensors min_range and max_range."""
    shape = () if axis < 0 else (len(ranges),)
    return tuple(bits("float32", [pair[end] for pair in ranges], shape) for end in (0, 1))


def range_bits(specials: bool) -> st.SearchStrategy[Range]:
    """Bits of ranges: around zero, on one side of it, between any two positive ends, or arbitrary."""
    ends = st.sampled_from([Fraction(n, d) for n, d in ((1, 1), (6, 1), (10, 1), (255, 1), (127, 1), (1, 10), (7, 3))])
    powers = st.one_of(st.integers(-6, 40), st.integers(-130, 100)).map(lambda e: Fraction(2) ** e)
    moderate = st.integers(1, 1 << 20).map(lambda n: Fraction(n, 4096))
    significands = st.integers(1 << 23, (1 << 24) - 1)  # the width of such a range is seldom a float
    every_bit = st.tuples(significands, st.integers(-27, -20)).map(lambda p: p[0] * Fraction(2) ** p[1])
    positive = st.one_of(ends, moderate, powers, every_bit).map(lambda v: encode(v, F32))
    around = st.tuples(positive.map(lambda code: code | 1 << 31), positive)
    above, below = positive.map(lambda code: (0, code)), positive.map(lambda code: (code | 1 << 31, 0))
    any_two = st.tuples(positive, positive).map(lambda pair: (min(pair), max(pair)))
    anything = st.tuples(*[st.integers(0, (1 << 32) - 1)] * 2)
    if not specials:
        anything = anything.filter(lambda p: all(b & 0x7FFFFFFF < F32.infinity_bits for b in p))
    return st.one_of(around, around, around, above, above, below, any_two, anything)


def ranges_over_input(attributes: Mapping[str, Any], x: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The ends of the range, spread over the input's shape."""
    axes = () if attributes.get("axis", -1) < 0 else (attributes["axis"],)
    from_low, to_high = (np.broadcast_to(along(end, axes, x.shape), x.shape) for end in (low, high))
    return from_low, to_high


def flush_float32(values: Array) -> Array:
    """Float32 values, subnormal ones as 0 of the same sign."""
    return np.where(np.abs(values) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), values), values)


def ranges_of_elements(
    attributes: Mapping[str, Any],
    x: Array,
    low: Array,
    high: Array,
    places: tuple[Place | None, Place | None] | None,
) -> tuple[Array, Array]:
    """As ranges_over_input, with the ranges that elements take at wrong places."""
    if places is None:
        return ranges_over_input(attributes, x, low, high)
    axis = attributes.get("axis", -1)
    own = along(np.arange(low.size).reshape(low.shape), () if axis < 0 else (axis,), x.shape)
    return taken_from(places, np.broadcast_to(own, x.shape), low, high)
