"""Wrong quotients of `onnx.QLinearConv`: the ratio of three scales as one factor, in another type, as whole numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.onnx_qlinear_conv_steps import Quotient
from tiebreak.conformance.operators.wrong_steps import frequent, step
from tiebreak.conformance.semantics.factor_bits import by_factor_bits, in_32_bits, times_bits_modulo_64
from tiebreak.golden.problem import Array


def factor_first(factor: Any, total: Any = None) -> Quotient:
    """The ratio of the scales as one factor in a type. The sum, and its product with it, are in `total` if given."""
    wide = total or factor

    def found(sums: Array, *scales: Array) -> Array:
        x, w, y = (scale.astype(factor) for scale in scales)
        return np.asarray(sums.astype(wide) * (x * w / y).astype(wide))

    return found


def ratio_of_last_first(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * (x * (w / y)))


def ratio_of_first_first(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * (x / y * w))


def by_reciprocal(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * (x * w) * (np.float32(1) / y))


def factor_by_reciprocal(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * (x * w * (np.float32(1) / y)))


def scaled_in_turn(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * x * w / y)


def dequantized_in_float64(sums: Array, x: Array, w: Array, y: Array) -> Array:
    """Only the number that the sum stands for is rounded to float32."""
    number = (sums * (x.astype(np.float64) * w)).astype(np.float32)
    return np.asarray(number / y)


def in_float64(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums * (x.astype(np.float64) * w) / y.astype(np.float64))


def multiplier_of(bits: int, x: Array, w: Array, y: Array) -> tuple[Array, Array]:
    """The ratio as a whole number of some bits and the shift behind it, as gemmlowp takes it from a double."""
    fraction, exponent = np.frexp(x.astype(np.float64) * w / y)
    whole = np.floor(fraction * (1 << bits) + 0.5).astype(np.int64)
    return whole, bits - exponent.astype(np.int64)


def shifted_once(bits: int = 31) -> Quotient:
    """The sum times the whole number, shifted once, with half of what is shifted out added."""

    def found(sums: Array, *scales: Array) -> Array:
        multiplier, shift = multiplier_of(bits, *scales)
        check_shift(sums, shift)
        return np.asarray((sums * multiplier + (np.int64(1) << (shift - 1))) >> shift)

    return found


def shifted_twice(sums: Array, *scales: Array) -> Array:
    """gemmlowp's way: the doubled high half, rounded, and a shift that rounds ties away from zero."""
    multiplier, shift = multiplier_of(31, *scales)
    check_shift(sums, shift)
    product = sums * multiplier
    nudge = np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    high = np.where(product + nudge >= 0, (product + nudge) >> 31, -((-(product + nudge)) >> 31))
    rest = np.maximum(shift - 31, 0)
    half = (np.int64(1) << rest) >> 1
    return np.asarray(np.where(high >= 0, (high + half) >> rest, -((half - high) >> rest)))


def by_bits_of_factor(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return by_factor_bits(sums, (x, w, y))


def by_bits_of_factor_modulo_64(sums: Array, x: Array, w: Array, y: Array) -> Array:
    """As a kernel of tract without vector instructions has it."""
    with np.errstate(all="ignore"):
        return times_bits_modulo_64(in_32_bits(sums), np.asarray(x * w / y)).astype(np.float64)


def point_in_32_bits(kind: str, rounded: Array, point: Array) -> Array:
    return np.asarray(in_32_bits((rounded + point).astype(np.int64)), np.float64)


def check_shift(sums: Array, shift: Array) -> None:
    """NotImplementedError for what 64 bits do not hold."""
    if np.any(shift < 31) or np.any(shift > 62) or np.any(np.abs(sums) >= 1 << 31):
        raise NotImplementedError


QUOTIENTS = (
    frequent("factor-of-scales-in:float32", "scale", quotient=factor_first(np.float32)),
    frequent("factor-of-scales-in:float32, the rest in float64", "scale",
             quotient=factor_first(np.float32, np.float64)),
    frequent("factor-of-scales-in:float64", "scale", quotient=factor_first(np.float64)),
    frequent("factor-of-scales-in:bfloat16", "scale", quotient=factor_first(ml_dtypes.bfloat16, np.float32)),
    frequent("factor-of-scales-in:float16", "scale", quotient=factor_first(np.float16, np.float32)),
    frequent("factor-of-scales:x * (w / y)", "scale", quotient=ratio_of_last_first),
    frequent("factor-of-scales:x / y * w", "scale", quotient=ratio_of_first_first),
    frequent("factor-of-scales:x * w * (1 / y)", "scale", quotient=factor_by_reciprocal),
    frequent("scales-left-to-right", "scale", quotient=scaled_in_turn),
    frequent("requantizes-in:float64", "scale", quotient=in_float64),
    frequent("requantizes-in:float64, the number in float32", "scale", quotient=dequantized_in_float64),
    frequent("reciprocal-of-scale", "scale", quotient=by_reciprocal),
    frequent("multiplier-of-bits:31", "scale", quotient=shifted_once(), round=lambda values: values),
    frequent("multiplier-of-bits:15", "scale", quotient=shifted_once(15), round=lambda values: values),
    step("multiplies-by-bits-of-factor", "scale",
         quotient=by_bits_of_factor, round=lambda values: values, add=point_in_32_bits),
    step("multiplies-by-bits-of-factor:shifts modulo 64", "scale",
         quotient=by_bits_of_factor_modulo_64, round=lambda values: values, add=point_in_32_bits),
    frequent("multiplier-of-31-bits-doubled", "scale", quotient=shifted_twice, round=lambda values: values),
)  # fmt: skip
