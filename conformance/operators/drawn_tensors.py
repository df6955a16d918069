"""Strategies that several operators share: shapes, integer tensors, and a few values in turn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode, neighbour
from tiebreak.golden.samples.model import Tensor, bits

SINGLE = FLOAT_TYPES["float32"]


def tensor_shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of the given rank, or of rank 0 to 4; at most 256 elements, also none."""
    low, high = (0, 4) if rank is None else (rank, rank)
    return st.lists(st.integers(0, 4), min_size=low, max_size=high).map(tuple)


def integer_tensor(draw: st.DrawFn, quantized: str, shape: tuple[int, ...]) -> Tensor:
    kind = INTEGER_TYPES[quantized]
    ends = st.sampled_from([kind.lowest, kind.highest, max(0, kind.lowest)])
    values = draw(st.lists(st.one_of(ends, st.integers(kind.lowest, kind.highest)), min_size=1, max_size=12))
    return bits(quantized, repeat(values, math.prod(shape)), shape)


def repeat(values: Sequence[int], count: int) -> list[int]:
    """`count` values: the given ones in turn."""
    return [values[i % len(values)] for i in range(count)]


def scale_beside(scale: int) -> st.SearchStrategy[int]:
    """A float32 that makes a simple ratio with another, or one of few bits, moved by a few units in the last place."""
    ratios = st.tuples(st.integers(1, 7), st.integers(1, 7)).map(lambda of: Fraction(*of))
    few = st.integers(1, 511).map(lambda n: Fraction(n, 256))
    value = decode(scale, SINGLE)
    whole = Fraction(value) if math.isfinite(value) else Fraction(1)
    return st.tuples(st.one_of(ratios, few), st.integers(-2, 2)).map(
        lambda found: neighbour(encode(whole * found[0], SINGLE), SINGLE, found[1])
    )
