"""The sum of products times the scales of a and b, divided by y's: the document's steps, and other orders and types.

Sums are int64; the scales broadcast to them. Quotients are computed in the scales' type and handed on as float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.golden.problem import Array

Scales = tuple[Array, Array, Array]  # of a, b and y, broadcast to the result


def divided(total: Array, scales: Scales) -> Array:
    """In the scales' type: the product of the scales, x, and the quotient."""
    a, b, y = scales
    return wide(product(total, a * b) / y)


def product(total: Array, factor: Array) -> Array:
    """total * factor in the factor's type. float64 has all bits of a total of 29 bits; more are rounded twice."""
    return np.asarray((total.astype(np.float64) * factor.astype(np.float64)).astype(factor.dtype))


def wide(values: Array) -> Array:
    return values.astype(np.float64)


def folded(total: Array, scales: Scales) -> Array:
    """One multiplier, and the sum rounded to its type before the product."""
    a, b, y = scales
    multiplier = a * b / y
    return wide(total.astype(multiplier.dtype) * multiplier)


def folded_wide(total: Array, scales: Scales) -> Array:
    a, b, y = scales
    return total.astype(np.float64) * wide(a * b / y)


def folded_in(kind: Any, total: Array, scales: Scales) -> Array:
    """The multiplier and the product in another type."""
    a, b, y = (scale.astype(kind) for scale in scales)
    return wide(total.astype(kind) * (a * b / y))


def folded_from_a(total: Array, scales: Scales) -> Array:
    a, b, y = scales
    return wide(product(total, a / y * b))


def folded_from_b(total: Array, scales: Scales) -> Array:
    a, b, y = scales
    return wide(product(total, a * (b / y)))


def by_reciprocal(total: Array, scales: Scales) -> Array:
    a, b, y = scales
    return wide(product(total, a * b) * (y.dtype.type(1) / y))


def folded_by_reciprocal(total: Array, scales: Scales) -> Array:
    a, b, y = scales
    multiplier = a * b * (y.dtype.type(1) / y)
    return wide(total.astype(multiplier.dtype) * multiplier)


def in_turn(total: Array, scales: Scales) -> Array:
    a, b, y = scales
    return wide(product(total, a) * b / y)


def all_in(kind: Any, total: Array, scales: Scales) -> Array:
    a, b, y = (scale.astype(kind) for scale in scales)
    return wide(total.astype(kind) * (a * b) / y)


def multiplier_of_31_bits(total: Array, scales: Scales) -> Array:
    """One whole multiplier and a shift, rounded half up: an integer already."""
    a, b, y = (scale.astype(np.float64) for scale in scales)
    fraction, exponent = np.frexp(a * b / y)
    whole = np.rint(np.ldexp(fraction, 31)).astype(np.int64)
    shift = np.clip(31 - exponent, 1, 62).astype(np.int64)
    if (np.abs(total) >= 1 << 31).any() or not np.isfinite(fraction).all():
        raise ValueError("no number of 32 bits")
    return wide((total * whole + (np.int64(1) << (shift - 1))) >> shift)
