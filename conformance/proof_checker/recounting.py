"""How many inputs get another code from one arithmetic than from another, for arrays of scales.

A code never falls as the input grows. So two arithmetics differ for the inputs between their least inputs with more
than a code, for some code; ordinals count the floats in order, 0 and -0 as one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tiebreak.conformance.proof_checker.evaluation import DTYPES, Values, floats_of, infinity_of
from tiebreak.conformance.proof_checker.named_arithmetics import CheckedArithmetic

AT_ONCE = 1 << 16
WIDTHS = (1 << 2, 1 << 9, 1 << 15, 1 << 40)  # ordinals around a guess


class CountedPair(NamedTuple):
    """Two arithmetics of inputs of type `real`; codes are from `lowest` to `highest`."""

    sides: tuple[CheckedArithmetic, CheckedArithmetic]
    real: str
    zero_point: int
    lowest: int
    highest: int

    def codes(self, x: Values, scales: Values) -> list[Values]:
        """Both codes of each input."""
        below = np.arange(self.lowest, self.highest)[:, None]
        return [self.lowest + side.passes(x, scales, below, self.zero_point).sum(axis=0) for side in self.sides]


def counts_of(pair: CountedPair, scales: Values) -> Values:
    """The number of inputs (uint32) with different codes, for each scale."""
    counts, end = np.zeros(len(scales), np.int64), np.full(len(scales), -(1 << 40))
    rows = max(1, AT_ONCE // len(scales))
    for start in range(pair.lowest, pair.highest, rows):
        codes = np.arange(start, min(start + rows, pair.highest))[:, None]
        left, right = (least_inputs(side, pair, codes, scales) for side in pair.sides)
        for low, high in zip(np.minimum(left, right), np.maximum(left, right), strict=True):
            counts += np.maximum(high - np.maximum(low, end), 0)
            end = np.maximum(end, high)
    return counts.astype(np.uint32)


def least_inputs(side: CheckedArithmetic, pair: CountedPair, codes: Values, scales: Values) -> Values:
    """Ordinals of the least inputs with more than each code (rows), for each scale; beyond infinity if there is none.

    They are looked for around where a real quotient passes, by halving.
    """
    beyond = infinity_of(pair.real) + 1

    def passing(counted: Values) -> Values:
        wide = np.broadcast_to(scales, counted.shape)
        return side.passes(inputs_of(counted, pair.real), wide, codes, pair.zero_point)

    before, after = side.before_and_after(pair.zero_point)
    at = side.thresholds(codes - after)[0] - before
    with np.errstate(all="ignore"):
        guess = ordinals((at * scales.astype(np.float64)).astype(DTYPES[pair.real]))
    low, high = np.full(guess.shape, -beyond), np.full(guess.shape, beyond)
    unknown = np.ones(guess.shape, bool)
    for width in WIDTHS:
        first, last = np.maximum(guess - width, -beyond), np.minimum(guess + width, beyond)
        low_fails = (first == -beyond) | ~passing(first)
        high_passes = (last == beyond) | passing(last)
        low = np.where(unknown & low_fails, first, low)
        high = np.where(unknown & high_passes, last, high)
        unknown &= ~(low_fails & high_passes)
        if not unknown.any():
            break
    while (high - low > 1).any():
        middle = (low + high) // 2
        passed = passing(middle)
        low, high = np.where(passed, low, middle), np.where(passed, middle, high)
    return np.asarray(high)


def ordinals(values: Values) -> Values:
    """Floats counted from 0 in both directions."""
    bits = values.view(f"u{values.dtype.itemsize}").astype(np.int64)
    sign = 1 << (8 * values.dtype.itemsize - 1)
    return np.asarray(np.where(bits >= sign, -(bits - sign), bits))


def inputs_of(counted: Values, real: str) -> Values:
    """The floats that ordinals count; NaN beyond infinity."""
    return floats_of(np.where(counted < 0, (1 << 8 * DTYPES[real].itemsize - 1) - counted, counted), real)
