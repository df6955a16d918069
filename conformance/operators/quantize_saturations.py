"""What becomes of a sum that is out of the output type's range."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.operand_mistakes import (
    wrapped_to,
)
from tiebreak.conformance.operators.quantize_by_facets import by_facets, saturated_as
from tiebreak.conformance.operators.quantize_prediction import Predict
from tiebreak.conformance.semantics.quantize_saturation import (
    NARROW_RANGE,
    WRAP,
)
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.problem import Array

Saturate = Callable[[QuantizationOperands, Array], Array | None]  # of the sum with the zero point; None: as it is


def with_sum(finish: Saturate) -> Predict:
    return lambda o: finish(o, round_array(o.quotient(), o.mode) + o.zero_point)


def wraps_above(o: QuantizationOperands, total: Array) -> Array:
    return np.where(total > o.highest, o.wrap(total), o.clamp(total))


def wraps_below(o: QuantizationOperands, total: Array) -> Array:
    return np.where(total < o.lowest, o.wrap(total), o.clamp(total))


def replaced_beyond(o: QuantizationOperands, total: Array, value: int) -> Array:
    inside = (total >= o.lowest) & (total <= o.highest)
    return np.where(inside, o.clamp(total), value)


def highest_of_signed(o: QuantizationOperands, total: Array) -> Array | None:
    return None if o.lowest else np.minimum(o.clamp(total), o.highest // 2)


def through_8_bits(o: QuantizationOperands, total: Array) -> Array | None:
    if o.highest - o.lowest == 255:
        return None
    low = -128 if o.lowest else 0
    return o.wrap(np.clip(np.nan_to_num(total), low, low + 255))


def a_bit_less(o: QuantizationOperands, total: Array) -> Array:
    return np.clip(o.clamp(total), -(-o.lowest // 2), o.highest // 2)


def wraps_in(bits: int) -> Callable[[QuantizationOperands, Array], Array]:
    """The sum wraps around in a signed type, then saturates."""
    return lambda o, total: o.clamp(wrapped_to(np.clip(np.nan_to_num(total), -(2.0**62), 2.0**62), bits, signed=True))


def negative_to_highest(o: QuantizationOperands, total: Array) -> Array:
    return np.where(total < 0, o.highest, o.clamp(total))


def ends_of_type_exchanged(o: QuantizationOperands, total: Array) -> Array:
    other = np.where(total > o.highest, o.lowest, o.highest)
    return np.where((total > o.highest) | (total < o.lowest), other, o.clamp(total))


def saturates_as_unsigned(o: QuantizationOperands, total: Array) -> Array:
    return o.wrap(np.clip(np.nan_to_num(total), 0, o.highest - o.lowest))


def saturated_to_int16_and_wraps(o: QuantizationOperands) -> Array:
    first = np.clip(np.nan_to_num(round_array(o.quotient(), o.mode)), -(2.0**15), 2**15 - 1)
    return o.clamp(wrapped_to(first + o.zero_point, 16, signed=True))


def saturated_to_int8(o: QuantizationOperands) -> Array:
    return o.clamp(np.clip(np.nan_to_num(round_array(o.quotient(), o.mode)), -128, 127) + o.zero_point)


def negative_quotient_to_zero(o: QuantizationOperands) -> Array:
    return o.clamp(np.maximum(np.nan_to_num(round_array(o.quotient(), o.mode)), 0) + o.zero_point)


def saturated_first(bits: int) -> Predict:
    """The rounded quotient saturates to a signed type; a sum that leaves int32 wraps around."""
    end = 2.0 ** (bits - 1)

    def predict(o: QuantizationOperands) -> Array:
        total = np.clip(np.nan_to_num(round_array(o.quotient(), o.mode)), -end, end - 1) + o.zero_point
        return o.clamp(np.mod(total + 2.0**31, 2.0**32) - 2.0**31)

    return predict


def never_highest(o: QuantizationOperands, total: Array) -> Array:
    return np.minimum(o.clamp(total), o.highest - 1)


OF_FACETS: dict[str, Predict] = {value.cause: by_facets(saturation=value) for value in (WRAP, NARROW_RANGE)}
SATURATED: tuple[tuple[str, Saturate], ...] = (
    ("saturates-to-8-bits", through_8_bits),
    (WRAP.cause, saturated_as(WRAP)),
    ("wraps-above", wraps_above),
    ("wraps-below", wraps_below),
    ("highest-of-signed", highest_of_signed),
    ("beyond-to-zero", lambda o, total: replaced_beyond(o, total, max(0, o.lowest))),
    ("beyond-to-lowest", lambda o, total: replaced_beyond(o, total, o.lowest)),
    (NARROW_RANGE.cause, saturated_as(NARROW_RANGE)),
    ("highest-never", never_highest),
    ("narrower-by-one-bit", a_bit_less),
    ("sum-wraps-in:int16", wraps_in(16)),
    ("sum-wraps-in:int32", wraps_in(32)),
    ("negative-to-highest", negative_to_highest),
    ("ends-of-type-exchanged", ends_of_type_exchanged),
    ("saturates-as-unsigned", saturates_as_unsigned),
)
