"""Strategies for operators that measure blocks along the last axis."""

from __future__ import annotations

import math

from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.strategies import st


def block_shapes(rank: int | None, last: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank from 1 on, or of any, whose last size is one of `last`."""
    ranks = st.integers(1, 3) if not rank else st.just(rank)
    outer = ranks.flatmap(lambda n: st.lists(st.integers(0, 2), min_size=n - 1, max_size=n - 1))
    return st.tuples(outer, last).map(lambda found: (*found[0], found[1]))


def in_blocks(blocks: list[list[int]], shape: tuple[int, ...], size: int) -> list[int]:
    """Blocks of a size in turn along the last axis, their numbers repeated; the last of a row may be cut off."""
    codes: list[int] = []
    for row in range(math.prod(shape[:-1])):
        per_row = -(-shape[-1] // size)
        whole = [code for n in range(per_row) for code in repeat(blocks[(row + n) % len(blocks)], size)]
        codes += whole[: shape[-1]]
    return codes
