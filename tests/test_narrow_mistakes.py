"""Arithmetic that XNNPACK and XLA use, each with values computed by hand."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.golden.rounding import EVEN


def predicted(key: str, values: list[float], scales: list[float], zero_points: list[int], kind: Any) -> list[int]:
    """What a mistake predicts for results of 8 bits, signed ones unless a zero point is above 127."""
    lowest = 0 if max(zero_points) > 127 else -128
    x, scale = (np.array(numbers, kind) for numbers in (values, scales))
    operands = QuantizationOperands(x, scale, np.array(zero_points), lowest, lowest + 255, EVEN)
    (predict,) = [predict for cause, predict in HYPOTHESES if cause.id == key]
    with np.errstate(all="ignore"):
        found = predict(operands)
    return [] if found is None else found.tolist()


def test_a_multiplication_reads_subnormal_operands_as_zero() -> None:
    key = "own-reciprocal + flushes-inputs-and-reciprocals"
    x, scale = [2.0**127, 0.75 * 2.0**-126, -58.499996], [2.0**127, 2.0**-126, 3.0]
    assert predicted(key, x, scale, [5, 5, 0], np.float32) == [5, 5, -20]  # 1 / 2^127 is subnormal; fl(1 / 3) > 1 / 3
    assert predicted("own-reciprocal", x, scale, [5, 5, 0], np.float32) == [6, 6, -20]


def test_a_zero_point_is_added_in_bfloat16_to_a_product_of_flushed_operands() -> None:
    """1 / 2^127 is subnormal; 6 + 257 is 263, and bfloat16 has 256 for 257 and 262 for 6 + 256."""
    key, kind = "reciprocal:float32 + flushes-inputs-and-reciprocals", np.dtype(ml_dtypes.bfloat16)
    x, scale = np.array([9, 2.0**127], kind), np.array([1.5, 2.0**127], kind)
    operands = QuantizationOperands(x, scale, np.array([257, 257]), -(2**15), 2**15 - 1, EVEN)
    found = {cause.id: predict for cause, predict in HYPOTHESES}
    with np.errstate(all="ignore"):
        plain, own = found[key](operands), found[f"{key} + sum-in-own-type"](operands)
    assert plain is not None
    assert own is not None
    assert plain.tolist() == [263, 257]
    assert own.tolist() == [262, 256]
    assert predicted(f"{key} + sum-in-own-type", [1.0], [1.0], [1], np.float32) == []


def test_a_reciprocal_of_few_bits_is_multiplied_in_float32() -> None:
    key = "own-reciprocal + in:float32 + nan-to-highest"
    # The float16 next to 1 / 3 is 0.33325, next to 1 / 2^-24 infinity; in float16 the first product would be -19.5.
    assert predicted(key, [-58.5, 0.0, 2.5], [3.0, 2.0**-24, 1.0], [0, 1, 1], np.float16) == [-19, 127, 3]
    assert predicted(key, [-58.5], [3.0], [0], np.float32) == []
    assert predicted("own-reciprocal + in:float32", [-58.5, 0.0], [3.0, 2.0**-24], [0, 1], np.float16) == [-19, 0]


def test_a_zero_point_is_added_in_float32_to_the_product_with_a_float32_reciprocal() -> None:
    key = "reciprocal-plus-zero-point + in:float32"
    # 45.5 * fl(1 / 7) is just above 6.5. Added to 128 it is rounded to 134.5, a tie.
    assert predicted(key, [45.5, 45.5, 2.5], [7.0, 7.0, 1.0], [0, 128, 128], np.float16) == [7, 134, 130]
    assert predicted(key, [45.5], [7.0], [0], np.float32) == []


@pytest.mark.parametrize(("kind", "results"), [(np.float16, [130, 131]), (np.float32, [])])
def test_a_zero_point_is_added_in_a_wider_type(kind: Any, results: list[int]) -> None:
    # 129.5 is a tie; 131.4375 has no float16, and the next one is a tie.
    assert predicted("zero-point-first-in-wider-type", [2.5, 3.4375], [1.0, 1.0], [127, 128], kind) == results
