"""Quantizers that make a FakeQuantize of the node: numbers between the ends of a range, in steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.quantize_prediction import Predict
from tiebreak.conformance.operators.quantize_quotients import in_own_type
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.problem import Array


def symmetric_range(steps: Callable[[QuantizationOperands], float]) -> Predict:
    """Scales so that |lowest| * scale maps to `steps` instead of |lowest| on either side of zero.

    For types of more than 8 bits the factor is so near 1 that it would explain any noise; those are not predicted.
    """

    def predict(o: QuantizationOperands) -> Array | None:
        if o.highest > 255:
            return None
        factor = (steps(o) / max(-o.lowest, o.highest + 1)) / o.scale.astype(np.float64)
        return o.finish(np.asarray(o.x * factor.astype(o.x.dtype), np.float64))

    return predict


def all_above_zero(o: QuantizationOperands) -> float:
    return o.highest


def half_of_steps(o: QuantizationOperands) -> float:
    return (o.highest - o.lowest) / 2


def of_range(dtype: object) -> Predict:
    """x between the numbers that the type's ends stand for, in steps: a FakeQuantize and a cast that cuts off.

    If the range overflows, results are NaN; the cast makes 0 of them, the low bits of the lowest int32.
    """

    def predict(o: QuantizationOperands) -> Array:
        kind = np.dtype(dtype or o.x.dtype)  # type: ignore[call-overload]
        x, scale, zero_point = (array.astype(kind) for array in (o.x, o.scale, o.zero_point))
        first, last = (np.asarray(end, np.float64).astype(kind) for end in (o.lowest, o.highest))
        low, high = scale * (first - zero_point), scale * (last - zero_point)
        position = ((x - low) / (high - low) * (last - first)).astype(np.float64)
        level = round_array(position, o.mode).astype(kind)
        inside = (level / (last - first) * (last - first) + first).astype(np.float64)
        found = np.where(x > np.maximum(low, high), np.float64(o.highest), np.nan_to_num(np.trunc(inside)))
        return o.clamp(np.where(x <= np.minimum(low, high), np.float64(o.lowest), found))

    return predict


def of_clipped_range(o: QuantizationOperands) -> Array:
    """As of_range, with x clipped to the range first: with a negative scale always to its high end."""
    kind = o.x.dtype
    first, last = (np.asarray(end, np.float64) for end in (o.lowest, o.highest))
    low, high = (in_own_type((end - o.zero_point) * o.scale.astype(np.float64), o.x) for end in (first, last))
    x = np.minimum(np.maximum(o.x.astype(np.float64), low), high)
    part = in_own_type(in_own_type(x - low, o.x) / in_own_type(high - low, o.x), o.x)
    return o.clamp(round_array(in_own_type(part * (last - first).astype(kind), o.x), o.mode) + first)
