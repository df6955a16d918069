"""tensorflow.QuantizeV2: TensorFlow's own test values, clauses by hand, both truths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from answers_of_tensorflow_ranges import SCALED, WIDTHLESS, Q, assert_truths_agree, case, outputs
from hypothesis import given, settings

from tiebreak.conformance.cases.generators import cases
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES

# quantize_op_test.cc: attributes, T, input, range, output, range returned.
PUBLIC_QUANTIZE: dict[
    str, tuple[dict[str, Any], str, list[float], tuple[float, float], list[int], tuple[float, float]]
] = {
    "QuantizeV2": (
        {"mode": "MIN_FIRST"},
        "uint8",
        [1.0, 1.25, 1.75, 127, 255, 500],
        (0, 255),
        [1, 1, 2, 127, 255, 255],
        (0, 255),
    ),
    "QuantizeV2_32Bit": (
        {"mode": "MIN_FIRST"},
        "int32",
        [-500.0, 0, 1, 1.25, 1.75, 127, 255, 500],
        (-256, 256),
        [-(2**31), 0, 1 << 23, 5 << 21, 7 << 21, 127 << 23, 255 << 23, 2**31 - 1],
        (-256, 256),
    ),
    "QuantizeV2Quint8Scaled": (
        SCALED,
        "uint8",
        [-255.0, 0, 1, 1.25, 1.75, 64, 127, 500],
        (-255, 127),
        [0, 0, 2, 3, 4, 129, 255, 255],
        (0, 127),
    ),
    "QuantizeV2Quint8ScaledSmallInputRange": (SCALED, "uint8", [-1.0, 0, 2], (-1, 2), [0, 0, 255], (0, 2)),
    "QuantizeV2Qint8Scaled": (
        SCALED,
        "int8",
        [-127.0, 0, 1, 1.25, 1.75, 64, 127],
        (-127, 127),
        [-127, 0, 1, 1, 2, 64, 127],
        (-128, 127),
    ),
    "QuantizeV2Qint8ScaledNarrowRange": (
        SCALED | {"narrow_range": True},
        "int8",
        [-127.0, 0, 1, 1.25, 1.75, 64, 127],
        (-127, 127),
        [-127, 0, 1, 1, 2, 64, 127],
        (-127, 127),
    ),
    "QuantizeV2Qint8ScaledSmallInputRange": (
        SCALED,
        "int8",
        [-0.064, 0, 0.127],
        (-0.064, 0.127),
        [-64, 0, 127],
        (-0.128, 0.127),
    ),
    "QuantizeV2Qint8ScaledNarrowRangeSmall": (
        SCALED | {"narrow_range": True},
        "int8",
        [-0.064, 0, 0.127],
        (-0.064, 0.127),
        [-64, 0, 127],
        (-0.127, 0.127),
    ),
    "QuantizeV2Qint8ScaledRoundToEven": (
        SCALED | {"round_mode": "HALF_TO_EVEN"} | WIDTHLESS,
        "int8",
        [-126.5, 0, 1, 2.5, 3.5, 64, 127],
        (-128, -128),
        [-126, 0, 1, 2, 4, 64, 127],
        (-128, 127),
    ),
    "QuantizeV2Qint8ScaledRoundAwayFromZero": (
        SCALED | {"round_mode": "HALF_AWAY_FROM_ZERO"} | WIDTHLESS,
        "int8",
        [-126.5, 0, 1, 2.5, 3.5, 64, 127],
        (-128, -128),
        [-127, 0, 1, 3, 4, 64, 127],
        (-128, 127),
    ),
    "QuantizeV2DisableEnsureMinimumRange": (
        SCALED | {"ensure_minimum_range": 0.0},
        "int8",
        [-0.000001, 0, 0.000042],
        (-0.000128, 0.000127),
        [-1, 0, 42],
        (-0.000128, 0.000127),
    ),
}


@pytest.mark.parametrize("name", list(PUBLIC_QUANTIZE))
@pytest.mark.parametrize("working", [False, True])
def test_public_values_of_quantize(name: str, working: bool) -> None:
    attributes, quantized, x, given_range, output, used = PUBLIC_QUANTIZE[name]
    found = outputs(case(Q, (x, *given_range), attributes, quantized=quantized), working=working)
    assert found[0] == output
    assert [end[0] for end in found[1:]] == pytest.approx(used, abs=1e-7)


def slices(shape: tuple[int, ...], axis: int | None, numbers: Sequence[float]) -> Array:
    """The numbers in turn, those of the i-th slice along the axis multiplied by i + 1."""
    count = math.prod(shape)
    flat = np.array([numbers[i % len(numbers)] for i in range(count)], np.float32).reshape(shape)
    if axis is None:
        return flat
    scale = np.arange(1, shape[axis] + 1, dtype=np.float32)
    return flat * scale.reshape([-1 if place == axis else 1 for place in range(len(shape))])


@pytest.mark.parametrize("axis", [None, 0, 1, 2, 3])
def test_public_values_per_axis(axis: int | None) -> None:
    """quantized_ops_test.py, testAxis."""
    shape, wanted = (2, 3, 4, 5), [-128, -64, 0, 38, 102, 71, 64]
    x = slices(shape, axis, [-1, -0.5, 0, 0.3, 0.8, 0.555, 0.5])
    sizes = np.arange(1, (1 if axis is None else shape[axis]) + 1, dtype=np.float32)
    ends = [np.float32(end) * sizes for end in (-1.0, 0.8)]
    attributes = SCALED | {"round_mode": "HALF_TO_EVEN"} | ({} if axis is None else {"axis": axis})
    inputs = (x, *((end[0] if axis is None else end) for end in ends))
    for working in (False, True):
        found = outputs(case(Q, inputs, attributes, quantized="int8"), working=working)
        assert found[0] == [wanted[i % 7] for i in range(120)]


def test_what_the_document_leaves_open_of_the_public_values_is_contested() -> None:
    by_id = {contest.id: contest for contest in get_operator(Q).contested}
    for name in ("tfq-range-without-zero", "tfq-range-below-zero", "tfq-equal-range"):
        contest = by_id[name]
        found = outputs(case(Q, contest.inputs, contest.node["attributes"], quantized="uint8"))
        assert set(found[0]) == {None}
        assert any("quantize_op_test" in answer.authority for answer in contest.answers)


def test_the_documents_examples() -> None:
    """0 to 6 in 255 steps, and [-10, 9] for int8: scaling factor 12.8, max_range adjusted to 9.921875."""
    assert outputs(case(Q, ([0.0, 6.0], 0, 6), {}, quantized="uint8"))[0] == [0, 255]
    assert outputs(case(Q, ([0.0, 6.0], 0, 6), {}, quantized="int8"))[0] == [-128, 127]
    found = outputs(case(Q, ([-10.0, 9.921875, 20.0], -10, 9), SCALED, quantized="int8"))
    assert found == [[-128, 127, 127], [-10], [9.921875]]


def test_min_first_rounds_both_products_before_it_subtracts() -> None:
    """range_scale 1: round(0.5) - round(-2.5) is 1 + 3; rounded once it would be 3."""
    found = case(Q, ([0.5, -2.5, 252.5], -2.5, 252.5), {"mode": "MIN_FIRST"}, quantized="uint8")
    assert outputs(found)[0] == [4, 0, 255]


def test_ties_by_round_mode_and_offset_of_int8() -> None:
    x = [0.5, 1.5, -0.5, -1.5, 0.49999997]
    away = outputs(case(Q, (x, -128, 127), SCALED, quantized="int8"))[0]
    even = outputs(case(Q, (x, -128, 127), SCALED | {"round_mode": "HALF_TO_EVEN"}, quantized="int8"))[0]
    combined = outputs(case(Q, (x, -128, 127), {}, quantized="int8"))[0]
    assert (away, even, combined) == ([1, 2, -1, -2, 0], [0, 2, 0, -2, 0], [1, 2, -1, -2, 0])


def test_scaled_needs_no_zero_in_the_range() -> None:
    assert outputs(case(Q, ([1.0, 5.0, 10.0], 1, 10), SCALED, quantized="uint8"))[0] == [26, 128, 255]


def test_min_first_clips_before_it_scales() -> None:
    """In float32 max_range falls short of the highest int32, and what lies beyond gives what max_range gives."""
    high = 17.44512176513672
    found = case(Q, ([2 * high, high, 1e30], -35.36893081665039, high), {"mode": "MIN_FIRST"}, quantized="int32")
    assert outputs(found)[0] == [2147483647] * 3
    assert outputs(found, working=True)[0] == [2147483520] * 3
    for mode in ROUND_MODES:
        assert_truths_agree(found, (mode,))


def test_narrow_range_leaves_the_lowest_int32_unused_in_working_precision_too() -> None:
    """-2147483647 is no float32: what its neighbour -2^31 would come out as is clamped."""
    found = case(Q, ([-10.0, -11.0, 0.0], -10, 10), SCALED | {"narrow_range": True}, quantized="int32")
    for working in (False, True):
        assert outputs(found, working=working)[0] == [-2147483647, -2147483647, 0]
    full = case(Q, ([-10.0], -10, 10), SCALED, quantized="int32")
    assert outputs(full, working=True)[0] == [-2147483648]


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
@given(cases(operator=Q))
def test_oracle_and_kernel_agree_on_quantize(found: Case) -> None:
    assert_truths_agree(found, found.node.modes)


@settings(max_examples=30, deadline=None)
@given(cases(operator=Q, rank=1))
def test_oracle_and_kernel_agree_in_every_rounding_mode(found: Case) -> None:
    assert_truths_agree(found, tuple(ROUND_MODES))
