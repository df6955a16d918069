"""Wrong ways to round a quotient to an integer, in place of any mode that rounds to nearest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.quantize_prediction import Predict
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import is_nearest


def to_nearest(rounds: Callable[[Array], Array]) -> Predict:
    """Another way to round to nearest, in place of any mode that rounds to nearest."""
    return lambda o: o.clamp(rounds(o.quotient()) + o.zero_point) if is_nearest(o.mode) else None


def to_odd(q: Array) -> Array:
    magnitude = np.abs(q)
    whole = np.floor(magnitude)
    fraction = magnitude - whole
    return np.asarray(np.copysign(whole + np.where(fraction == 0.5, np.mod(whole, 2) == 0, fraction > 0.5), q))


def halves_first(q: Array) -> Array:
    return np.asarray(np.copysign(np.floor(np.abs(np.rint(2 * q)) / 2 + 0.5), q))


def sixteenths_first(q: Array) -> Array:
    return np.asarray(np.rint(np.rint(q * 16) / 16))


def cut_to_8_fraction_bits(q: Array) -> Array:
    return np.asarray(np.floor(np.trunc(q * 256) / 256 + 0.5))


def magic_number_above_zero(q: Array) -> Array:
    """2^23 added and subtracted in float32; below zero halves stay, which a cast cuts off."""
    return np.asarray(np.trunc((q + np.float32(2**23)).astype(np.float32).astype(np.float64) - 2**23))


def of_one_sign(mode: str, *, negative: bool) -> Predict:
    """Another round mode for quotients of one sign alone."""

    def predict(o: QuantizationOperands) -> Array | None:
        if not is_nearest(o.mode):
            return None
        q = o.quotient()
        return o.clamp(np.where((q < 0) == negative, round_array(q, mode), round_array(q, o.mode)) + o.zero_point)

    return predict


ONE_SIGN: tuple[tuple[str, Predict], ...] = tuple(
    (f"rounds-one-sign:{side} zero, {words}", of_one_sign(mode, negative=side == "below"))
    for side in ("below", "above")
    for mode, words in (
        ("ROUND_NEAREST_TOWARD_INFINITY", "ties away from it"),
        ("ROUND_NEAREST_TOWARD_ZERO", "ties toward it"),
        ("ROUND_TOWARD_ZERO", "everything toward it"),
        ("ROUND_TOWARD_INFINITY", "everything away from it"),
    )
    if (side, mode) != ("below", "ROUND_TOWARD_INFINITY")  # which is negatives_down
)


def negatives_down(q: Array) -> Array:
    return np.where(q < 0, np.floor(q), np.rint(q))


def less_than_half_added(q: Array) -> Array:
    """The float32 below 0.5 added to the magnitude, in float32."""
    return np.asarray(np.trunc((q + np.copysign(0.5 - 2.0**-25, q)).astype(np.float32).astype(np.float64)))


MAGIC = np.float32(1.5 * 2**23)


def magic_number(q: Array) -> Array:
    return np.asarray((q + MAGIC).astype(np.float32) - MAGIC, np.float64)


def magic_number_bits(q: Array) -> Array:
    bits = (q + MAGIC).astype(np.float32).view(np.int32)
    return np.asarray(bits - MAGIC.view(np.int32), np.float64)  # wraps around as int32 does
