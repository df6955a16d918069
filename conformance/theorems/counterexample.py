"""The counterexample that is easiest to check by hand: the fewest significant bits, in the scale, then in x."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.theorems.scale_blocks import significant_bits
from tiebreak.golden.elements import FloatType
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class Counterexample:
    """Bit patterns of an input and a scale, and the codes of the two arithmetics there.

    Compared for every zero point, the codes are those of zero point 0 in a type with room for them.
    """

    x: int
    scale: int
    left: int
    right: int


def simplest_counterexample(real: FloatType, scale: int, lowest: int, left: Array, right: Array) -> Counterexample:
    """The simplest input at a scale at which codes differ. The sides are least inputs, `lowest` is the first code."""
    apart = left != right
    pieces = zip(np.minimum(left, right)[apart], np.maximum(left, right)[apart], strict=True)
    inputs = np.array([roundest(int(low), int(high)) for low, high in pieces])
    bits = significant_bits(np.abs(inputs), real)
    x = int(inputs[np.lexsort((inputs < 0, np.abs(inputs), bits))[0]])
    codes = (lowest + int((side <= x).sum()) for side in (left, right))
    return Counterexample(abs(x) | (x < 0) << (real.bits - 1), scale, *codes)


def roundest(low: int, high: int, most: int = 1 << 40) -> int:
    """The ordinal in [low, high) with the most zeros at its end; the one nearest to 0 of those.

    From a multiple of `most` on further zeros do not count.
    """
    if low <= 0 < high:
        return 0
    if high <= 0:
        return -roundest(1 - high, 1 - low, most)
    step = 1
    while step < most and -(-low // (2 * step)) * 2 * step < high:
        step *= 2
    return -(-low // step) * step
