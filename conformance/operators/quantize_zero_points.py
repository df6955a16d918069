"""What a wrong quantizer adds to the rounded quotient in place of the zero point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.operand_mistakes import (
    OF_ZERO_POINTS,
    OfZeroPoint,
)
from tiebreak.conformance.operators.quantize_prediction import Predict
from tiebreak.golden.problem import Array

Change = Callable[[QuantizationOperands], Array | None]  # another zero point; None: there is none


def with_zero_point(change: Change) -> Predict:
    def predict(o: QuantizationOperands) -> Array | None:
        zero_point = change(o)
        return None if zero_point is None else replace(o, zero_point=zero_point).finish(o.quotient())

    return predict


def read_as_signed(o: QuantizationOperands) -> Array | None:
    size = o.highest + 1
    return None if o.lowest else np.where(o.zero_point >= size // 2, o.zero_point - size, o.zero_point)


def read_as_unsigned(o: QuantizationOperands) -> Array | None:
    size = o.highest - o.lowest + 1
    return np.where(o.zero_point < 0, o.zero_point + size, o.zero_point) if o.lowest else None


def of_type(change: OfZeroPoint) -> Change:
    return lambda o: change(o.zero_point, o.lowest, o.highest)


ZERO_POINTS: tuple[tuple[str, Change], ...] = (
    ("ignores-zero-point", lambda o: 0 * o.zero_point),
    ("zero-point-as-signed", read_as_signed),
    ("zero-point-as-unsigned", read_as_unsigned),
    ("subtracts-zero-point", lambda o: -o.zero_point),
    ("zero-point-twice", lambda o: 2 * o.zero_point),
    *((key, of_type(change)) for key, change in OF_ZERO_POINTS),
)
