"""Mistakes of dequantizers whose scales and zero points lie along an axis that an attribute names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from tiebreak.conformance.judging.misplaced import Misplace
from tiebreak.conformance.operators.dequantize_mistakes import MISPLACED_PAIRS, PAIRS, RIGHT
from tiebreak.conformance.operators.dequantize_numbers import Arithmetic
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.tensorflow_uniform import IN_PLACE, PLACES, taken
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


def mistake(axis: str, arithmetic: Arithmetic, places: tuple[Misplace, Misplace] = IN_PLACE) -> Mistake:
    """The arithmetic gets the node, x and zero point as int64 and the scale, all of x's shape."""

    def run(node: Node, x: Array, scales: Array, zero_points: Array) -> tuple[Array, ...]:
        if places is not IN_PLACE and scales.size < 2:
            raise NotImplementedError
        factor, zero = taken(x, int(node.value(axis)), scales, zero_points, places)
        found = arithmetic(node, x.astype(np.int64), factor, zero.astype(np.int64))
        return (np.asarray(found).astype(node.outputs[0].dtype),)

    return run


def mistakes_along(axis: str, own: Iterable[tuple[Cause, Arithmetic]]) -> Iterator[tuple[Cause, Mistake]]:
    """Parameters that are taken from another place, and an operator's own mistakes; `axis` is the attribute."""
    made = partial(mistake, axis)
    yield from ((Cause(key, "projection"), made(RIGHT, (first, last))) for key, first, last in PLACES)
    yield from ((cause, made(arithmetic)) for cause, arithmetic in own)


def pairs_along(axis: str) -> Iterator[tuple[Cause, Mistake]]:
    """Two mistakes of the arithmetic at once, and one at parameters that are taken from another place."""
    made = partial(mistake, axis)
    yield from ((cause, made(arithmetic)) for cause, arithmetic in PAIRS)
    for key, first, last in PLACES:
        for second, arithmetic in MISPLACED_PAIRS:
            yield Cause(f"{key}{JOINT}{second}", "projection"), made(arithmetic, (first, last))
