"""What may happen to a number between two steps that no document says.

Functions keep the type of their array. A Conversion is one of them as a step of a term, on numbers as float64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.golden.arithmetic.term import Term, equal
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, scaled
from tiebreak.golden.problem import Array

TF32_BITS, BFLOAT16_BITS = 11, 8
EPSILON = 2.0**-23
Change = Callable[[Array], Array]


@dataclass(frozen=True)
class Conversion:
    """A function of numbers, known by its name."""

    name: str
    function: Change = field(compare=False)

    def __call__(self, number: Term) -> Term:
        return Term("changed", (number,), self)


def through(kind: Any, values: Array) -> Array:
    return np.asarray(values.astype(kind).astype(values.dtype))


in_bfloat16: Change = partial(through, ml_dtypes.bfloat16)
in_float16: Change = partial(through, np.float16)
in_float32: Change = partial(through, np.float32)


def in_saturating_float16(values: Array) -> Array:
    return in_float16(np.clip(values, -65504, 65504))


def significant(bits: int, values: Array, *, whole: Callable[[Array], Array] = np.rint) -> Array:
    """Values rounded to so many significant bits, ties to even, or by `whole`."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.asarray(np.ldexp(whole(np.ldexp(fraction, bits)), exponent - bits)).astype(values.dtype)


in_tf32: Change = partial(significant, TF32_BITS)
cut_to_bfloat16: Change = partial(significant, BFLOAT16_BITS, whole=np.trunc)
to_power_of_two_below: Change = partial(significant, 1, whole=np.trunc)


def to_power_of_two_above(values: Array) -> Array:
    below = to_power_of_two_below(values)
    return np.where(values == below, values, 2 * below)


def of_six_digits(values: Array) -> Array:
    """Values as six significant decimal digits say them."""
    distinct, places = np.unique(values, return_inverse=True)
    found = np.array([float(f"{value:.6g}") for value in distinct.astype(np.float64).tolist()])
    return np.asarray(found.astype(values.dtype)[places].reshape(values.shape))


def estimate(values: Array) -> Array:
    """The estimate of a reciprocal, of 12 bits, from an instruction."""
    return significant(12, np.asarray(1 / values.astype(np.float64))).astype(values.dtype)


def cut_off(values: Array, kind: Any) -> Array:
    """float64 values rounded toward zero to a type."""
    near = values.astype(kind)
    beyond = np.abs(near.astype(np.float64)) > np.abs(values)
    return np.where(beyond, np.nextafter(near, np.zeros_like(near)), near)


def as_is(values: Array) -> Array:
    return values


def negative_to_zero(values: Array) -> Array:
    return np.where(values < 0, np.zeros_like(values), values)


def tiny_to_zero(values: Array) -> Array:
    return np.where(np.abs(values) < EPSILON, np.zeros_like(values), values)


def magnitude(values: Array) -> Array:
    return np.abs(values)


INPUTS: Mapping[str, Change] = {
    "x-in:bfloat16": in_bfloat16,
    "x-in:float16": in_float16,
    "x-in:TF32": in_tf32,
    "x-cut-off-to-bfloat16": cut_to_bfloat16,
    "x-in:float16 that saturates": in_saturating_float16,
    "x-without-sign": magnitude,
    "x-tiny-to-zero": tiny_to_zero,
}
RESULTS: Mapping[str, Change] = {
    "result-in:float16": in_float16,
    "result-in:bfloat16": in_bfloat16,
    "result-in:TF32": in_tf32,
    "truncates-to-bfloat16": cut_to_bfloat16,
    "result-in:float16 that saturates": in_saturating_float16,
    "result-of-digits:6": of_six_digits,
    "negative-results-to-zero": negative_to_zero,
    "tiny-results-to-zero": tiny_to_zero,
}


def below_to_zero(bound: float, values: Array) -> Array:
    """Numbers nearer to 0 than a bound as 0 of their sign."""
    return np.where(np.abs(values) < bound, np.copysign(np.zeros_like(values), values), values)


def flushed_in(kind: FloatType) -> Conversion:
    """A type's subnormal numbers as 0 of their sign."""
    return Conversion(f"flushed {kind.name}", partial(below_to_zero, float(scaled(1, kind.emin))))


def as_x86_casts(values: Array, bits: int = 32) -> Array:
    """Whole numbers after a cast to so many bits, which gives the lowest number for NaN and for all that is beyond."""
    end = 2.0 ** (bits - 1)
    return np.where((values >= -end) & (values < end), values, -end)


def dropped_to_bfloat16(values: Array) -> Array:
    """float32 numbers without the bits that a bfloat16 does not have."""
    codes = np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return codes.view(np.float32).astype(values.dtype)


def rounded_if_odd(values: Array) -> Array:
    """float32 in bfloat16: half a unit is added if the last bit kept is odd, and the rest is cut off."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    upper: Array = (bits + ((bits & np.uint32(0x10000)) >> np.uint32(1))) >> np.uint32(16)
    return np.asarray(upper.astype(np.uint16).view(ml_dtypes.bfloat16)).reshape(values.shape)


def lies_in_vectors(lanes: int, values: Array) -> Array:
    """1 for what a loop over vectors of so many numbers takes, 0 for the tail after them."""
    at = np.arange(values.size).reshape(values.shape)
    return (at < values.size // lanes * lanes).astype(np.float64)


def in_whole_vectors(lanes: int, number: Term) -> Term:
    """Whether an element's number is taken in whole vectors."""
    return equal(Conversion(f"whether in whole vectors of {lanes}", partial(lies_in_vectors, lanes))(number), 1)


def nan_in_tail(values: Array) -> Array:
    """0 for NaN in the tail of a vector loop of 16."""
    return np.where(np.isnan(values) & (lies_in_vectors(16, values) == 0), 0.0, values)


FLOAT16, BFLOAT16 = Conversion("float16", in_float16), Conversion("bfloat16", in_bfloat16)
HALF_IF_ODD = Conversion("bfloat16, half a unit for odd", lambda values: rounded_if_odd(values).astype(np.float64))
CUT_TO_BFLOAT16 = Conversion("cut to bfloat16", dropped_to_bfloat16)
CUT_TO_FLOAT32 = Conversion("cut to float32", lambda values: cut_off(values, "float32").astype(np.float64))
SIX_DIGITS = Conversion("six digits", of_six_digits)
POWER_BELOW = Conversion("the power of two below", to_power_of_two_below)
POWER_ABOVE = Conversion("the power of two above", to_power_of_two_above)
TF32 = Conversion("TF32", in_tf32)
FLUSH = flushed_in(FLOAT_TYPES["float32"])
ESTIMATE = Conversion("the estimate of the reciprocal, of 12 bits", estimate)
X86_CAST = Conversion("a cast to int32 as on x86", as_x86_casts)
X86_CAST_64 = Conversion("a cast to int64 as on x86", partial(as_x86_casts, bits=64))
NAN_IN_TAIL = Conversion("NaN to 0 in the tail of 16", nan_in_tail)
NAN_TO_LEAST = Conversion("NaN below all", lambda values: np.where(np.isnan(values), -np.inf, values))
NAN_TO_GREATEST = Conversion("NaN above all", lambda values: np.where(np.isnan(values), np.inf, values))
