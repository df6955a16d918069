"""Shared testing of QuantizeV2 and Dequantize: inputs with one range, or a range for each slice."""

from __future__ import annotations

from fractions import Fraction

from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.model import CaseConstraints
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import FLOAT_TYPES, encode
from tiebreak.golden.samples.model import Tensor, bits

F32 = FLOAT_TYPES["float32"]
Range = tuple[int, int]  # bits of both ends


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
