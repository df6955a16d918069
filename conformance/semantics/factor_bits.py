"""Sums times a float32 factor as tract's Scaler has it: by a whole number and a shift, from the factor's bits.

The sign bit is not looked at, and 0 becomes a factor of 1. The result, and the zero point's sum, keep 32 bits.
"""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.semantics.folded_scales import Scales
from tiebreak.golden.problem import Array

SINGLE = np.dtype(np.float32)
FRACTION, BIAS = 23, 127  # of float32: bits, and the exponent of 1
HIDDEN = 1 << FRACTION
MOST, WIDEST = 31, 62  # bits to shift by in int32, and in the product's 64


def by_factor_bits(total: Array, scales: Scales) -> Array:
    """Integers of 32 bits, as float64.

    Scales of several values, or of one value each for rows and for columns, make an array of factors: the products are
    float32, rounded to even, and the ends of int32 where they are beyond.
    """
    a, b, y = (scale.astype(SINGLE) for scale in scales)
    total = in_32_bits(total)
    if is_one(a) and is_one(b) and not (a.ndim and b.ndim):
        factor = a.reshape(-1)[:1] * b.reshape(-1)[:1] / y
        return times_bits(total, factor).astype(np.float64) if factor.size else total.astype(np.float64)
    with np.errstate(all="ignore"):
        product = np.rint(np.abs(total).astype(SINGLE) * (a * (b / y))).astype(np.float64) * np.sign(total)
    return np.clip(np.nan_to_num(product, nan=0), -(2.0**31), 2.0**31 - 1)


def is_one(scale: Array) -> bool:
    """Whether all values are one."""
    return bool((scale == scale.reshape(-1)[:1]).all())


def fields(factor: Array) -> tuple[Array, Array, Array]:
    """Whether a factor is a power of two, the whole number that it is otherwise, and the bits to shift right by."""
    bits = factor.view(np.uint32).astype(np.int64)
    exponent, part = bits >> FRACTION & 255, bits & (HIDDEN - 1)
    is_power = part == 0
    whole = np.where(is_power, 1, (part | HIDDEN) << (MOST - 24))
    shift = np.where(is_power, BIAS - exponent, BIAS - 1 - exponent + MOST)
    return is_power, whole, np.where(factor == 0, 0, shift)


def times_bits(total: Array, factor: Array) -> Array:
    """The product of the magnitudes, in 64 bits, shifted and rounded to even; by a power of two, in 32 bits."""
    is_power, whole, shift = fields(factor)
    value = np.abs(total) * whole
    right = np.clip(shift, 1, WIDEST)
    raised = value + (np.int64(1) << (right - 1)) - 1 + (value >> right & 1)
    raised = np.where(is_power, in_32_bits(raised), raised)
    down = np.where(shift > np.where(is_power, MOST, WIDEST), 0, raised >> right)
    up = np.where(-shift > MOST, 0, value << np.clip(-shift, 0, MOST))
    return in_32_bits(np.sign(total) * np.where(shift > 0, down, up))


def times_bits_modulo_64(total: Array, factor: Array) -> Array:
    """The same in 64 bits throughout, where a shift by 64 is one by 0: Rust's, of a build without checks."""
    _, whole, shift = fields(factor)
    value, right = np.abs(total) * whole, shift & 63
    raised = value + (np.int64(1) << (shift - 1 & 63)) - 1 + (value >> right & 1)
    return in_32_bits(np.sign(total) * np.where(shift > 0, raised >> right, value << (-shift & 63)))


def in_32_bits(values: Array) -> Array:
    """The low 32 bits, as an integer with a sign."""
    return np.asarray((values + (1 << 31)) % (1 << 32) - (1 << 31))
