"""Integers whose product with a factor is a tie, lies beside one, or comes to an end of the range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tiebreak.conformance.semantics.integer_scaling_ends import SMALL_BITS
from tiebreak.conformance.semantics.integer_scaling_facets import Factor
from tiebreak.conformance.semantics.model import Probe
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

FEW = 512  # elements of a probe
NEAR_ZERO, DRAWN = 24, 40


def numbers_for(node: Node, factor: Factor, point: int, random: np.random.Generator) -> Array:
    """Every number of a small type; of a wider one those around zero, the ends, and ties of the factor."""
    source, target = INTEGER_TYPES[node.input_type], INTEGER_TYPES[node.output_type]
    dtype = node.inputs[0].dtype
    if source.bits <= SMALL_BITS:
        return np.arange(source.lowest, source.highest + 1).astype(dtype)
    near = around(source, [source.lowest, source.highest, source.lowest // 2, source.highest // 2], 3)
    small = around(source, [point], NEAR_ZERO)
    ties = around(source, ties_of(factor, point, target, random), 1)
    close = around(source, [point + value for value in close_to_ties(factor)], 1)
    any_ = random.integers(source.lowest, source.highest + 1, DRAWN)
    found = np.unique(np.concatenate([near, small, ties, close, any_]))
    return np.ascontiguousarray(random.permutation(found)).astype(dtype)


def ties_of(factor: Factor, point: int, target: IntegerType, random: np.random.Generator) -> list[int]:
    """The inputs nearest to half-integers of the quotient, in the output's range and somewhat beyond it."""
    if not factor.over:
        return []
    room = 2 * (target.highest - target.lowest)
    halves = [*range(-9, 10), *random.integers(-room, room + 1, DRAWN).tolist()]
    halves += [2 * end + step for end in (target.lowest, target.highest) for step in (-3, -1, 1, 3)]
    return [point + round(half * factor.under / (2 * factor.over)) for half in halves]


def close_to_ties(factor: Factor) -> list[int]:
    """Numbers whose product with an odd multiplier is as near to a tie as any: one unit before or behind it."""
    if factor.over % 2 == 0 or factor.under < 4 or factor.under & (factor.under - 1):
        return []
    half, inverse = factor.under // 2, pow(factor.over, -1, factor.under)
    found = [(half + step) * inverse % factor.under for step in (-3, -2, -1, 1, 2, 3)]
    return [sign for value in found for sign in (value, value - factor.under)]


def around(kind: IntegerType, values: list[int], most: int) -> Array:
    near = {value + step for value in values for step in range(-most, most + 1)}
    return np.array(sorted(value for value in near if kind.lowest <= value <= kind.highest), np.int64)


def open_left_out(probe: Probe, is_open: Callable[[Probe], Array]) -> Iterator[Probe]:
    """The elements of which the document says something, not too many; no probe if there are none."""
    kept = np.flatnonzero(~is_open(probe))
    if kept.size:
        yield probe.only(kept[:FEW])


def pairs_of_points(node: Node, points_of: Callable[[str], Sequence[int]]) -> list[tuple[int, int]]:
    """The zero points of input and output that are asked together; `points_of` gives those of a type."""
    return [(first, last) for last in points_of(node.output_type) for first in points_of(node.input_type)]
