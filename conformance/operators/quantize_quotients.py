"""Mistakes in the quotient of x and the scale, by the keys of their causes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.operand_mistakes import (
    BFLOAT16,
    GUARDED_SCALES,
    GUARDS,
    LEAST,
    OF_SCALES,
    cut_to_bits,
    in_single,
    to_bits,
    to_digits,
)
from tiebreak.golden.problem import Array

Quotient = Callable[[Array, Array], Array]  # of x and scale, both in the working type; the result in float64


def exactly_divided(x: Array, scale: Array) -> Array:
    return np.asarray(x.astype(np.float64) / scale.astype(np.float64))


def in_own_type(values: Array, like: Array) -> Array:
    return values.astype(like.dtype).astype(np.float64)


def cut_off(values: Array, dtype: np.dtype[Any]) -> Array:
    """float64 values rounded toward zero to a narrower type, as float64."""
    near = values.astype(dtype)
    beyond = np.abs(near.astype(np.float64)) > np.abs(values)
    return np.where(beyond, np.nextafter(near, dtype.type(0)), near).astype(np.float64)


def to_power_of_two(scale: Array) -> Array:
    wide = scale.astype(np.float64)
    return np.copysign(np.exp2(np.rint(np.log2(np.abs(wide)))), wide)


def by_inverse(inverse: Callable[[Array], Array]) -> Quotient:
    """x times some inverse of the scale, in float64; the product rounded to the working type."""
    return lambda x, scale: in_own_type(x.astype(np.float64) * inverse(scale), x)


def cut_off_inverse(scale: Array) -> Array:
    return cut_off(1 / scale.astype(np.float64), scale.dtype)


def estimate_inverse(bits: int) -> Callable[[Array], Array]:
    return lambda scale: to_bits(1 / scale.astype(np.float64), bits)


def refined_inverse(bits: int, times: int = 1) -> Callable[[Array], Array]:
    """An estimate after some steps of Newton's method, each operation in the working type."""

    def inverse(scale: Array) -> Array:
        wide = scale.astype(np.float64)
        guess = to_bits(1 / wide, bits)
        for _ in range(times):
            rest = in_own_type(2 - in_own_type(wide * guess, scale), scale)
            guess = in_own_type(guess * rest, scale)
        return guess

    return inverse


def inverse_in(dtype: object) -> Callable[[Array], Array]:
    return lambda scale: (1 / scale.astype(np.float64)).astype(dtype).astype(np.float64)  # type: ignore[call-overload]


def directed(values: Array, dtype: np.dtype[Any], *, up: bool) -> Array:
    """float64 values rounded to a type in one direction, as float64."""
    near = values.astype(dtype)
    wrong = near.astype(np.float64) < values if up else near.astype(np.float64) > values
    other = np.nextafter(near, dtype.type(np.inf if up else -np.inf))
    return np.where(wrong, other, near).astype(np.float64)


def directed_inverse(*, up: bool) -> Callable[[Array], Array]:
    return lambda scale: directed(1 / scale.astype(np.float64), scale.dtype, up=up)


def inverse_of_digits(scale: Array) -> Array:
    return in_own_type(to_digits(1 / scale.astype(np.float64), 6), scale)


def widened(change: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda values: change(values.astype(np.float64))


def with_scale(change: Callable[[Array], Array]) -> Quotient:
    return lambda x, scale: in_own_type(x.astype(np.float64) / in_own_type(change(scale), scale), x)


def with_x(change: Callable[[Array], Array]) -> Quotient:
    return lambda x, scale: np.asarray(change(x.astype(np.float64)).astype(x.dtype) / scale, np.float64)


def zero_below(least: float) -> Callable[[Array], Array]:
    return lambda x: np.where(np.abs(x) < least, 0 * x, x)


def operands_of_bits(bits: int) -> Quotient:
    return lambda x, scale: in_own_type(to_bits(x, bits) / to_bits(scale, bits), x)


def scale_in(dtype: object) -> Quotient:
    return with_scale(lambda scale: scale.astype(np.dtype(dtype)).astype(np.float64))  # type: ignore[call-overload]


def x_in(dtype: object) -> Quotient:
    def divide(x: Array, scale: Array) -> Array:
        narrow = x.astype(np.dtype(dtype)).astype(x.dtype)  # type: ignore[call-overload]
        return np.asarray(narrow / scale, np.float64)

    return divide


def quotient_in(dtype: object) -> Quotient:
    return lambda x, scale: (x / scale).astype(np.dtype(dtype)).astype(np.float64)  # type: ignore[call-overload]


QUOTIENTS: tuple[tuple[str, Quotient], ...] = (
    ("scale-in:float16", scale_in(np.float16)),
    ("scale-in:bfloat16", scale_in(ml_dtypes.bfloat16)),
    ("scale-to-power-of-two", with_scale(to_power_of_two)),
    ("x-in:float16", x_in(np.float16)),
    ("x-in:bfloat16", x_in(ml_dtypes.bfloat16)),
    ("quotient-in:float16", quotient_in(np.float16)),
    ("quotient-in:bfloat16", quotient_in(ml_dtypes.bfloat16)),
    *((key, with_scale(widened(change))) for key, change in OF_SCALES),
    ("x-cut-off-to:bfloat16", with_x(lambda x: cut_to_bits(x, 8))),
    ("x-of-bits:11", with_x(lambda x: to_bits(x, 11))),
    ("x-magnitude", with_x(np.abs)),
    ("tiny-x-to-zero", with_x(zero_below(LEAST))),
    ("operands-of-bits:11", operands_of_bits(11)),
    ("quotient-cut-off", lambda x, scale: cut_off(exactly_divided(x, scale), x.dtype)),
    ("reciprocal-cut-off", by_inverse(cut_off_inverse)),
    ("reciprocal-refined", by_inverse(refined_inverse(12))),
    ("reciprocal-of-bits:12", by_inverse(estimate_inverse(12))),
    ("quotient-rounds:UP", lambda x, scale: directed(exactly_divided(x, scale), x.dtype, up=True)),
    ("quotient-rounds:DOWN", lambda x, scale: directed(exactly_divided(x, scale), x.dtype, up=False)),
    ("quotient-cut-off-to:bfloat16", lambda x, scale: cut_to_bits(np.asarray(x / scale), 8)),
    ("reciprocal-rounded-to:float16", by_inverse(inverse_in(np.float16))),
    ("reciprocal-rounded-to:bfloat16", by_inverse(inverse_in(BFLOAT16))),
    ("reciprocal-rounds:UP", by_inverse(directed_inverse(up=True))),
    ("reciprocal-rounds:DOWN", by_inverse(directed_inverse(up=False))),
    ("reciprocal-of-digits:6", by_inverse(inverse_of_digits)),
    ("reciprocal-of-bits:14", by_inverse(estimate_inverse(14))),
    ("reciprocal-refined-from:11", by_inverse(refined_inverse(11))),
    ("reciprocal-refined-from:8", by_inverse(refined_inverse(8))),
    ("reciprocal-refined-twice-from:8", by_inverse(refined_inverse(8, 2))),
)

# Not part of pairs: they show at small numbers alone.
GUARDED: tuple[tuple[str, Quotient], ...] = (
    *((key, with_scale(widened(change))) for key, change in GUARDED_SCALES),
    *((f"x-to-zero-below:{least}", with_x(zero_below(in_single(least)))) for least in GUARDS),
)
