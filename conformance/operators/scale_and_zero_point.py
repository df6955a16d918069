"""Fake quantization by a float32 scale and an integer zero point, as frameworks for training do it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, decode, encode
from tiebreak.golden.problem import Array

FLOAT32 = FLOAT_TYPES["float32"]
OVERFLOWN = -(2.0**63)  # what x86 makes of a number that int64 does not hold


def by_scale_and_zero_point(
    x: Array, low: Array, high: Array, levels: tuple[int, int], *, product: Any = np.float32, casts: bool = False
) -> Array:
    """(clamp(round(x * fl(1 / scale)) + zero point) - zero point) * scale; the arrays are of one shape.

    The quotient and the sum are float32, or float64 if x is. The last product is rounded to the type `product`, and
    then to x's type. `casts`: a level is an int64 before it is clamped. ValueError for limits that have no such scale.
    """
    scale, zero_point = parameters(low, high, levels)
    kind = np.result_type(x.dtype, np.float32) if x.dtype == np.float64 else np.dtype(np.float32)
    inverse = (np.float32(1) / scale).astype(kind)
    level = (np.rint(x.astype(kind) * inverse) + zero_point.astype(kind)).astype(np.float64)
    if casts:
        level = np.where(np.abs(level) < -OVERFLOWN, level, OVERFLOWN)
    steps = np.fmin(np.fmax(level, levels[0]), levels[1]) - zero_point
    return np.asarray((steps.astype(product) * scale.astype(product)).astype(x.dtype))


def parameters(low: Array, high: Array, levels: tuple[int, int]) -> tuple[Array, Array]:
    """The float32 scale and the zero point of each element, computed once for each pair of limits."""
    limits = np.stack([low.reshape(-1), high.reshape(-1)]).astype(np.float64)
    pairs, places = np.unique(limits, axis=1, return_inverse=True)
    found = [parameters_of(first, last, levels) for first, last in pairs.T.tolist()]
    scales, zero_points = (
        np.array(column)[places.reshape(-1)].reshape(low.shape) for column in zip(*found, strict=True)
    )
    return scales.astype(np.float32), zero_points.astype(np.float64)


def parameters_of(low: float, high: float, levels: tuple[int, int]) -> tuple[float, int]:
    """The float32 next to the step, and the integer next to the place of 0 among the levels."""
    if not (np.isfinite(low) and np.isfinite(high) and low <= 0 <= high and low < high and levels[0] < levels[1]):
        raise ValueError("no scale: the limits are not finite, out of order, or leave out 0")
    step = (Fraction(high) - Fraction(low)) / (levels[1] - levels[0])
    scale = float(decode(encode(step, FLOAT32), FLOAT32))
    if not (scale and np.isfinite(scale)):
        raise ValueError("no scale: float32 does not hold the step")
    return scale, round(levels[0] - Fraction(low) / step)
