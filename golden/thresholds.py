"""The inputs next to every decision threshold of round(x / scale) + zero_point, for float32 and many scales at once.

A *step* k is an integer that the quotient rounds to. Its threshold to k + 1 lies at (k + 1/2) * scale: the product of
24 bits and 17 bits, which an integer of 41 bits holds. The *place* of a float32 is its number in order of value: 0 for
zero, 1 for the least positive one, -1 for its negative. A tie rounds to the even step (ONNX, round half to even). So
the exact threshold is the place of the least x above the product if k is even, and from the product on if k is odd.

Working precision divides in float32 first. A quotient rounded to k + 1/2 makes a tie of its own. Then the threshold
moves by one place at most: up if k is even, down if k is odd. Of two floats on one side of the product, at most one has
a quotient that rounds to k + 1/2. They differ by a unit in the last place, which is more than half a unit of the
quotient. So three inputs show where a threshold is, for either form of the answer. They are the last one that is k in
both, the one between, and the first one that is k + 1 in both.

Places come from integers, not from floats: a library may have told the processor to treat subnormal numbers as zero.
"""

from __future__ import annotations

import numpy as np

from tiebreak.golden.problem import Array

try:
    from tiebreak.golden._kernel import fill_patterns
except ImportError:  # in a worker of another environment
    from tiebreak.golden.filling import fill_patterns

LARGEST, INFINITE = 0x7F7FFFFF, 0x7F800000
MOST_STEP = 1 << 16  # beyond it a step times a scale would need more bits


def columns(codes: int) -> int:
    """How many inputs are asked for a scale, if the output's type has so many codes."""
    return 3 * (codes - 1) + 3


def thresholds_of(scales: Array, steps: Array) -> Array:
    """Places (int64) of the exact thresholds from each step (int64) to the next; the two arrays broadcast.

    `scales` are bit patterns of positive finite float32. A threshold beyond every finite x is at ±INFINITE.
    """
    bits = scales.astype(np.int64)
    exponent = bits >> 23
    significand = np.where(exponent > 0, (bits & 0x7FFFFF) | 0x800000, bits & 0x7FFFFF)
    odd = 2 * steps + 1
    product = significand * np.abs(odd)
    exact = product.astype(np.float64).view(np.int64)
    place = (exact >> 29) + ((np.maximum(exponent, 1) + 126 - 150 - 1023) << 23)
    tiny = place < 0x800000
    sticky = np.where(tiny, product & 1, (exact & 0x1FFFFFFF) != 0)
    place = np.where(tiny, product >> 1, place)
    even = ~steps & 1
    found = np.where(odd > 0, place + (sticky | even), -place + ((sticky ^ 1) & even))
    return np.asarray(np.where(place > LARGEST, np.sign(odd) * INFINITE, found))


def working_thresholds(scales: Array, steps: Array) -> Array:
    """The same in working precision: x / scale rounded to float32, then rounded to an integer, ties to even."""
    exact, odd = thresholds_of(scales, steps), steps & 1
    between = exact - odd
    with np.errstate(over="ignore"):
        quotient = patterns_at(between).view(np.float32) / scales.astype(np.uint32).view(np.float32)
    half = steps.astype(np.float32) + np.float32(0.5)
    up = (quotient > half) | ((quotient == half) & (odd == 1))
    return np.where(np.abs(exact) == INFINITE, exact, np.where(up, between, between + 1))


def patterns_at(places: Array) -> Array:
    """The bit patterns (uint32) of the float32 at these places, or of the nearest finite one."""
    inside = np.clip(places, -LARGEST, LARGEST)
    return np.where(inside < 0, 0x80000000 - inside, inside).astype(np.uint32)


def patterns_between(first: int, last: int) -> Array:
    """The bit patterns (uint32) of all finite float32 from place `first` to place `last`, in order."""
    if first < 0 <= last:
        return np.concatenate([patterns_between(first, -1), patterns_between(0, last)])
    found = np.empty(last - first + 1, np.uint32)
    if first >= 0:
        fill_patterns(found, first)
        return found
    fill_patterns(found, 0x80000000 - last)
    return np.ascontiguousarray(found[::-1])


def places_of(patterns: Array) -> Array:
    """The places (int64) of finite float32, given as bit patterns."""
    bits = patterns.astype(np.int64)
    return np.where(bits >= 0x80000000, 0x80000000 - bits, bits)


def asked_of(scales: Array, first: int, codes: int) -> Array:
    """The inputs asked (bit patterns, uint32) for each scale, one row each, of `columns(codes)` columns.

    `first` is the step of the lowest code. A row has the lower inputs of all steps, then those between, then the upper
    ones, then the least finite x, zero and the greatest.
    """
    found = np.empty((scales.size, columns(codes)), np.uint32)
    fill_asked(np.ascontiguousarray(scales, np.uint32), first, found)
    return found


def fill_in_numpy(scales: Array, first: int, out: Array) -> None:
    """What the compiled fill_asked does."""
    steps = np.arange(first, first + (out.shape[1] - 3) // 3, dtype=np.int64)
    middle = thresholds_of(scales[:, None], steps) - (steps & 1)
    for number in range(3):
        out[:, number * steps.size : (number + 1) * steps.size] = patterns_at(middle + (number - 1))
    out[:, -3:] = 0x80000000 | LARGEST, 0, LARGEST


try:
    from tiebreak.golden._thresholds import fill_asked
except ImportError:  # in a worker of another environment
    fill_asked = fill_in_numpy


def exact_row(first: int, lowest: int, codes: int) -> Array:
    """The exact codes (int64) of the inputs asked for any scale whose thresholds lie apart; see `lie_apart`."""
    steps, low = np.arange(first, first + codes - 1), np.arange(lowest, lowest + codes - 1)
    ends = lowest, min(max(lowest - first, lowest), lowest + codes - 1), lowest + codes - 1
    return np.concatenate([low, low + 1 - (steps & 1), low + 1, ends])


def lie_apart(scales: Array, first: int, codes: int) -> Array:
    """Whether all thresholds of a scale are finite and so far apart that the inputs asked are in order.

    Eight units of the least subnormal number between thresholds are enough; for larger scales there are more, since
    the steps have 17 bits and a float32 has 24.
    """
    most = max(abs(first), abs(first + codes)) + 1
    below = (scales.astype(np.uint32) & 0x7F800000).view(np.float32).astype(np.float64) * 2 * most < 2.0**127
    return np.asarray((scales >= 8) & below)
