"""Usual mistakes with one operand of a quantizer or a dequantizer: a zero point or a scale that becomes another one.

Zero points are whole numbers of a type with these ends, int64 or float64; scales are float64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.golden.problem import Array

OfZeroPoint = Callable[[Array, int, int], Array | None]  # None: the mistake makes no difference to this type
OfScale = Callable[[Array], Array]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
LEAST = 2.0**-23  # what a scale may be raised to


def wrapped_to(values: Array, bits: int, *, signed: bool) -> Array:
    """The low bits of whole numbers, as numbers of a type of so many."""
    low = -(1 << (bits - 1)) if signed else 0
    return np.asarray(np.mod(values - low, 1 << bits) + low)


def to_bits(values: Array, bits: int) -> Array:
    """Values rounded to so many significant bits."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.asarray(np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits))


def cut_to_bits(values: Array, bits: int) -> Array:
    """Values cut off to so many significant bits."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.asarray(np.ldexp(np.trunc(np.ldexp(fraction, bits)), exponent - bits))


def to_digits(values: Array, count: int) -> Array:
    """Numbers after they were written as text with so many significant decimal digits."""
    different, places = np.unique(values.astype(np.float64), return_inverse=True)
    texts = [float(f"{value:.{count}g}") for value in different.tolist()]
    return np.array(texts, np.float64)[places.reshape(-1)].reshape(np.shape(values))


# Zero points.


def moved(by: Callable[[int], int], zero: Array, low: int, high: int) -> Array:
    return np.asarray(zero + by((high - low + 1) // 2))


def without_top_bit(zero: Array, low: int, high: int) -> Array:
    return np.asarray(np.mod(zero, (high - low + 1) // 2))


def saturated_to_other_sign(zero: Array, low: int, high: int) -> Array:
    return np.maximum(zero, 0) if low else np.minimum(zero, high // 2)


def low_byte(signed: bool, zero: Array, low: int, high: int) -> Array | None:
    return wrapped_to(zero, 8, signed=signed) if high - low > 255 else None


def magnitude(zero: Array, low: int, high: int) -> Array | None:
    return np.abs(zero) if low else None


def halved(zero: Array, low: int, high: int) -> Array:
    return np.floor(zero / 2)


def held_in(dtype: Any, bits: int, zero: Array, low: int, high: int) -> Array | None:
    return zero.astype(dtype).astype(np.float64) if high - low >= 1 << bits else None


OF_ZERO_POINTS: tuple[tuple[str, OfZeroPoint], ...] = (
    ("zero-point-moved:1", partial(moved, lambda half: 1)),
    ("zero-point-moved:-1", partial(moved, lambda half: -1)),
    ("zero-point-without-top-bit", without_top_bit),
    ("zero-point-less-half-range", partial(moved, lambda half: -half)),
    ("zero-point-more-half-range", partial(moved, lambda half: half)),
    ("zero-point-saturates-to-other-sign", saturated_to_other_sign),
    ("zero-point-cast-to:int8", partial(low_byte, True)),
    ("zero-point-cast-to:uint8", partial(low_byte, False)),
    ("zero-point-magnitude", magnitude),
    ("zero-point-halved", halved),
    ("zero-point-in:float16", partial(held_in, np.float16, 11)),
    ("zero-point-in:bfloat16", partial(held_in, BFLOAT16, 8)),
    ("zero-point-in:float32", partial(held_in, np.float32, 24)),
)


# Scales.


def power_of_two(rounds: Callable[[Array], Array], scale: Array) -> Array:
    return np.copysign(np.exp2(rounds(np.log2(np.abs(scale)))), scale)


def raised(scale: Array, least: float = LEAST) -> Array:
    return np.where(scale > least, scale, np.where(np.isnan(scale), scale, least))


def in_single(text: str) -> float:
    """A number as code has it in float32."""
    return float(np.float32(text))


def plus(text: str) -> OfScale:
    return lambda scale: scale + in_single(text)


def raised_to(text: str) -> OfScale:
    return lambda scale: raised(scale, in_single(text))


OF_SCALES: tuple[tuple[str, OfScale], ...] = (
    ("scale-cut-off-to:bfloat16", lambda scale: cut_to_bits(scale, 8)),
    ("scale-of-bits:8", lambda scale: to_bits(scale, 8)),
    ("scale-of-bits:11", lambda scale: to_bits(scale, 11)),
    ("scale-of-bits:15", lambda scale: to_bits(scale, 15)),
    ("scale-to-power-of-two-below", lambda scale: cut_to_bits(scale, 1)),
    ("scale-to-power-of-two-above", partial(power_of_two, np.ceil)),
    ("scale-of-digits:6", lambda scale: to_digits(scale, 6)),
    ("scale-magnitude", np.abs),
    ("scale-raised", raised),
)

# What keeps a division by zero away: numbers that libraries add to a scale, or raise it to.
GUARDS = ("1e-12", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5")
GUARDED_SCALES: tuple[tuple[str, OfScale], ...] = (
    *((f"scale-plus:{guard}", plus(guard)) for guard in GUARDS),
    *((f"scale-raised-to:{guard}", raised_to(guard)) for guard in GUARDS),
)
