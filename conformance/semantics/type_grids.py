"""Numbers (float64) on the grid of a floating-point type: rounded to it, once, and their bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tiebreak.golden.elements import FloatType, decode, numpy_dtype
from tiebreak.golden.problem import Array

Whole = Callable[[Array], Array]  # real numbers to whole ones, both float64; NaN and infinities stay


def magnitudes_on_grid(values: Array, kind: FloatType, whole: Whole) -> Array:
    """The bits (int64) of a rounded number's magnitude, as if the type's exponent had no end; of finite numbers.

    `whole` rounds a number in units of the type's last digit at its size.
    """
    units, power = in_units(values, kind)
    field = power + kind.precision - 1 - kind.emin  # exponents above the least normal one
    return field * (1 << (kind.precision - 1)) + np.abs(whole(units)).astype(np.int64)


def on_grid(values: Array, kind: FloatType, whole: Whole = np.rint) -> Array:
    """Numbers moved to a multiple of the distance to the type's next value. Signs stay, and no range ends."""
    units, power = in_units(values, kind)
    return np.where(np.isfinite(values), np.copysign(np.ldexp(whole(units), power), values), values)


def rounded_to_grid(values: Array, kind: FloatType, whole: Whole = np.rint) -> Array:
    """Numbers rounded to a type, subnormals kept; what exceeds its range becomes infinite."""
    found = on_grid(values, kind, whole)
    return np.where(np.abs(found) > largest_of(kind), np.copysign(np.inf, found), found)


def in_units(values: Array, kind: FloatType) -> tuple[Array, Array]:
    """Numbers in units of the type's last digit at their size, and the unit's power of two (int64)."""
    finite = np.where(np.isfinite(values), values, 0.0)
    exponent = np.frexp(finite)[1].astype(np.int64) - 1
    power = np.where(finite == 0, kind.emin, np.maximum(exponent, kind.emin)) - (kind.precision - 1)
    return np.ldexp(finite, -power), power


def sign_bit(kind: FloatType) -> int:
    """That of a negative number as an int64: of a type of 64 bits it is negative."""
    return -(1 << 63) if kind.bits == 64 else 1 << (kind.bits - 1)


def largest_of(kind: FloatType) -> float:
    return float(decode(kind.largest_bits, kind))


def bits_as_numbers(bits: Array, kind: FloatType) -> Array:
    """The numbers (float64) that bit patterns stand for."""
    dtype = numpy_dtype(kind.name)
    return np.asarray(bits.astype(f"uint{8 * dtype.itemsize}").view(dtype).astype(np.float64))
