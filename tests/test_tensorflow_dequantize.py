"""tensorflow.Dequantize: TensorFlow's own test values, clauses by hand, both truths."""

from __future__ import annotations

import numpy as np
import pytest
from answers_of_tensorflow_ranges import SCALED, D, assert_truths_agree, case, outputs
from hypothesis import given, settings

from tiebreak.conformance.generators import cases
from tiebreak.golden.nodes import Case


# dequantize_op_test.cc
@pytest.mark.parametrize(
    ("quantized", "low", "high", "x", "wanted"),
    [
        ("uint8", -255.0, 127.0, 0, 0.0),
        ("uint8", -512.0, 255.0, 255, 255.0),
        ("uint8", -1.0, 2.0, 255, 2.0),
        ("uint8", 200.0, 400.0, 255, 400.0),
        ("int8", -255.0, 127.0, 0, 0.0),
        ("int8", -10.0, 127.0, -127, -127.0),
        ("int8", -2.0, 1.0, -128, -2.0),
        ("int8", -1.0, 300.0, 42, 99.212601),
    ],
)
def test_public_values_of_dequantize_scaled(quantized: str, low: float, high: float, x: int, wanted: float) -> None:
    found = case(D, ([x], low, high), SCALED, quantized=quantized)
    for working in (False, True):
        assert outputs(found, working=working)[0] == pytest.approx([wanted], rel=1e-7)


@pytest.mark.parametrize(("quantized", "lowest"), [("uint8", 0), ("int8", -128)])
def test_public_values_of_dequantize_min_combined(quantized: str, lowest: int) -> None:
    """The integers from the lowest to one below the highest, on 0 to 255."""
    found = case(D, (np.arange(lowest, lowest + 255), 0.0, 255.0), {}, quantized=quantized)
    for working in (False, True):
        assert outputs(found, working=working)[0] == list(range(255))


def test_public_values_of_dequantize_min_first() -> None:
    found = case(D, ([1, 2, 4, 8, 16, 255], 0.0, 255.0), {"mode": "MIN_FIRST"}, quantized="uint8")
    for working in (False, True):
        assert outputs(found, working=working)[0] == [1, 2, 4, 8, 16, 255]


@pytest.mark.parametrize("quantized", ["uint8", "uint16"])
def test_dequantize_ignores_min_range_and_narrow_range_for_unsigned_types(quantized: str) -> None:
    highest = np.iinfo(quantized).max
    for narrow in (False, True):
        found = case(D, ([0, highest], 200.0, 400.0), SCALED | {"narrow_range": narrow}, quantized=quantized)
        for working in (False, True):
            assert outputs(found, working=working)[0] == pytest.approx([0, 400.0], rel=1e-7)


def test_bfloat16_is_rounded_from_the_float32_sum() -> None:
    """1 + 1/256 is a tie of bfloat16; what float32 loses here lies above it."""
    found = case(D, ([1], 1.0, 1 + 255 / 256 + 2.0**-23), {}, quantized="uint8", real="bfloat16")
    assert outputs(found)[0] == [1.0078125]
    assert outputs(found, working=True)[0] == [1.0]
    assert outputs(case(D, ([255], 0.0, 0.3), {"dtype": "bfloat16"}, quantized="uint8"))[0] == [0.30078125]


@settings(max_examples=120, deadline=None)
@given(cases(operator=D))
def test_oracle_and_kernel_agree_on_dequantize(found: Case) -> None:
    assert_truths_agree(found, ("",))
