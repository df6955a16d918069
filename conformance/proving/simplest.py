"""The input with the fewest significant bits at which two sides differ for a scale, and the smallest of those."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tiebreak.conformance.proving.codes import Goal, span
from tiebreak.conformance.proving.records import Differing, DifferingGroup, ZeroPoints
from tiebreak.conformance.proving.thresholds import Staircase
from tiebreak.conformance.theorems.counterexample import roundest
from tiebreak.conformance.theorems.decisions import numbers
from tiebreak.conformance.theorems.scale_blocks import significant_bits
from tiebreak.golden.elements import FLOAT_TYPES, numpy_dtype
from tiebreak.golden.problem import Array


def with_simplest_input(goal: Goal, found: Differing, zero_points: ZeroPoints) -> Differing:
    """The same difference at the simplest input of its scale; both sides end in Q and never fall as it grows."""
    real, room = zero_points.real, span(zero_points.kind)
    kind = FLOAT_TYPES[real]
    word = np.array([found.word], f"u{numpy_dtype(real).itemsize}")
    scale = word.view(numpy_dtype(real))

    def results(ordinals: Array) -> list[Array]:
        scales = np.repeat(scale, len(ordinals))
        stairs = Staircase(goal, goal.operands()[0], goal.pair(), room, real, scales)
        return stairs.results(numbers_of(ordinals, real))

    codes = np.arange(-room - 1, room + 1)
    left = least_ordinals(lambda at: results(at)[0] > codes, len(codes), kind.largest_bits)
    right = least_ordinals(lambda at: results(at)[1] > codes, len(codes), kind.largest_bits)
    low, high = np.minimum(left, right), np.minimum(np.maximum(left, right), kind.largest_bits + 1)
    one = 1 << (kind.precision - 1)
    pieces = [(int(low[k]), int(high[k])) for k in np.flatnonzero(low < high)]
    inputs = np.array([roundest(*piece, most=one) for piece in pieces], np.int64)
    sides = [side.astype(np.int64) for side in results(inputs)]
    words = np.repeat(word, len(inputs))
    operands = bits_of(inputs, real)
    some = DifferingGroup(sides[0], sides[1], words, words, operands=operands)
    first, last = zero_points.showing(some)
    chosen = np.asarray(zero_points.chosen)
    is_shown = np.searchsorted(chosen, first) < np.searchsorted(chosen, last, "right")
    if not (places := np.flatnonzero(is_shown)).size:
        return found
    order = np.lexsort((inputs[places] < 0, np.abs(inputs[places]), significant_bits(np.abs(inputs[places]), kind)))
    best = int(places[order[0]])
    return replace(
        found,
        operand=int(operands[best]),
        left=int(sides[0][best]),
        right=int(sides[1][best]),
        zeros=(int(first[best]), int(last[best])),
    )


def least_ordinals(passes: Callable[[Array], Array], count: int, largest: int) -> Array:
    """The least ordinals that pass, by halving; one beyond the largest float where none does."""
    low, high = np.full(count, -largest - 1), np.full(count, largest + 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        passing = passes(np.clip(middle, -largest, largest))
        low, high = np.where(passing, low, middle), np.where(passing, middle, high)
    return np.asarray(high)


def bits_of(ordinals: Array, real: str) -> Array:
    """Bit patterns of floats, which ordinals count from 0 in both directions."""
    return numbers_of(ordinals, real).view(f"u{numpy_dtype(real).itemsize}")


def numbers_of(ordinals: Array, real: str) -> Array:
    dtype = numpy_dtype(real)
    return numbers(ordinals.astype(f"i{dtype.itemsize}"), dtype)
