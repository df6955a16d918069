"""Arithmetic that compilers make of FakeQuantize and of QuantizeLinear, each with values computed by hand."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.compiled_fake_quantize import (
    KERNELS,
    Codes,
    Compiled,
    clipped_high_first,
    codes_for,
    folded_rebuilt,
    output_high_misplaced,
    output_high_overrun,
    rebuilt_limits,
    rounded_if_odd,
    stepwise,
    to_single,
)
from tiebreak.conformance.operators.quantize_ranges import of_range
from tiebreak.golden.rounding import EVEN

MOST = float(np.finfo(np.float32).max)


def limits(*values: float, kind: Any = np.float32) -> list[Any]:
    return [np.array([value], kind) for value in values]


@pytest.mark.parametrize(
    ("bits", "kept"),
    [
        (0x3F800000, 0x3F80),
        (0x3F80FFFF, 0x3F80),  # almost the next one, and cut off: the last bit kept is even
        (0x3F818000, 0x3F82),
        (0x3F817FFF, 0x3F81),
        (0xBF81FFFF, 0xBF82),
    ],
)
def test_half_a_unit_is_added_to_odd_numbers_only(bits: int, kept: int) -> None:
    single = np.array([bits], np.uint32).view(np.float32)
    assert rounded_if_odd(single).view(np.uint16).tolist() == [kept]


def test_what_float32_cannot_hold_becomes_its_largest_number() -> None:
    assert to_single(np.array([1e300, -1e300, 0.5])).tolist() == [MOST, -MOST, 0.5]
    assert np.isinf(to_single(np.array([np.inf], np.float32))).all()
    box = Compiled(stepwise, ("float64",))
    assert box(3, np.array([5e299]), *limits(0, 1e300, -1, 1, kind=np.float64)).tolist() == [1.0]
    with pytest.raises(ValueError, match="float32"):
        box(3, np.zeros(1, np.float32), *limits(0, 1, 0, 1))


def test_reversed_limits_clip_to_the_low_one() -> None:
    # min(2.125, -0.5) is -0.5, max(-0.5, 1.5) is 1.5, which is level 0.
    assert clipped_high_first(3, np.array([2.125], np.float32), *limits(1.5, -0.5, 2, -2)).tolist() == [2.0]


@pytest.mark.parametrize(
    ("levels", "first", "last", "least", "greatest", "zero_point"),
    [
        (16, -0.8, 0.7, -8, 7, False),  # -0.8 / 0.7 is -16 / 14
        (16, -0.8, 0.75, 0, 15, True),
        (255, -1, 1, -127, 127, False),
        (256, -1.28, 1.27, -128, 127, False),
        (256, -1, 1, 0, 255, True),
        (256, 0, 1, 0, 255, False),
        (256, 5e-7, 1, 0, 255, False),  # counts as 0
        (256, 0.5, 1, 0, 255, True),
        (256, 1, -1, 0, 255, True),
        (256, -1, 0, 0, 255, True),
        (256, -5e-7, 5e-7, -128, 127, False),
        (256, 5e-8, 5e-7, 0, 255, False),
        (15, -0.7, 0.7, 0, 255, True),
    ],
)
def test_a_compiler_chooses_codes_by_all_output_limits(
    levels: int, first: float, last: float, least: int, greatest: int, zero_point: bool
) -> None:
    with np.errstate(all="ignore"):
        found = codes_for(levels, *limits(first, last))
    assert found == Codes(np.float32(least), np.float32(greatest), zero_point)


def test_limits_of_both_kinds_need_a_zero_point() -> None:
    with np.errstate(all="ignore"):
        found = codes_for(256, np.array([-1.28, 0], np.float32), np.array([1.27, 1], np.float32))
    assert found == Codes(np.float32(0), np.float32(255), zero_point=True)


def test_limits_are_rebuilt_from_a_scale_and_a_zero_point() -> None:
    low, high = rebuilt_limits(16, *(end.astype(np.float32) for end in limits(-0.8, 0.7, kind=np.float16)))
    # Their ratio is near -16 / 14, so codes are -8 to 7 and the scale is 1.5 / 15.
    assert low.tolist() == [np.float32(-8) * np.float32(0.1)] and high.tolist() == [np.float32(7) * np.float32(0.1)]
    low, high = rebuilt_limits(256, *limits(1, 3))
    # The zero point is -127.5 and the scale 2 / 255.
    step = np.float32(2) / np.float32(255)
    assert low.tolist() == [np.float32(127.5) * step] and high.tolist() == [np.float32(382.5) * step]
    first, last = limits(1, 3)
    assert rebuilt_limits(5, first, last) == (first, last)


def test_the_least_scale_is_1e_32_whatever_the_sign() -> None:
    low, high = rebuilt_limits(16, *limits(1e-40, -1e-40))
    assert low.tolist() == [0.0] and high.tolist() == [np.float32(15) * np.float32(1e-32)]


def test_reversed_limits_go_to_a_kernel_along_an_axis_and_else_to_the_formula() -> None:
    x = np.array([[2.125, 0.75]], np.float32)
    by_axis = [np.array([end], np.float32) for end in (1.5, -0.5, 2, -2)]
    # min(x, -0.5) is -0.5, max(-0.5, 1.5) is 1.5, which is level 0; the document takes 2.125 to output_high.
    with np.errstate(all="ignore"):
        assert folded_rebuilt(3, x, *by_axis).tolist() == [[2.0, 2.0]]
        assert folded_rebuilt(3, x[0], *by_axis).tolist() == [-2.0, 0.0]
        by_element = [np.broadcast_to(limit, (1, 1, 2)) + np.zeros((1, 1, 2), np.float32) for limit in by_axis]
        assert folded_rebuilt(3, x.reshape(1, 1, 2), *by_element).tolist() == [[[-2.0, 0.0]]]


def test_output_high_is_read_at_the_places_of_output_low() -> None:
    x = np.array([[9.0, 9.0], [9.0, 9.0]], np.float32)
    low, high = limits(0, 4)
    first, last = np.array([[0.0], [1.0]], np.float32), np.array([2.0, 3.0], np.float32)
    assert output_high_misplaced(5, x, low, high, first, last).tolist() == [[2.0, 2.0], [3.0, 3.0]]
    with pytest.raises(IndexError):
        output_high_misplaced(5, x, low, high, first, last[:1])


def test_output_high_is_zero_beyond_its_values() -> None:
    x, (low, high) = np.array([[15.0], [15.0]], np.float32), limits(0, 15)
    first, last = np.zeros((2, 1), np.float32), np.array([30.0], np.float32)
    with np.errstate(all="ignore"):
        assert output_high_overrun(16, x, low, high, first, last).tolist() == [[30.0], [0.0]]
    with pytest.raises(ValueError, match="each"):
        output_high_overrun(16, x, low, high, first, np.ones(2, np.float32))


def test_every_kernel_gives_the_levels_of_an_exact_range() -> None:
    for key, _, kernel in KERNELS:
        if "output-high" in key:  # of limits that do not broadcast
            continue
        kind = (
            np.dtype(kernel.only[0] if kernel.only else "float32")
            if kernel.only != ("bfloat16",)
            else ml_dtypes.bfloat16
        )
        x = np.array([0.0, 1.0, 2.0, 3.0, 4.0]).astype(kind)
        found = kernel(5, x, *(limit.astype(kind) for limit in limits(0, 4, 0, 8)))
        assert found.astype(float).tolist() == [0.0, 2.0, 4.0, 6.0, 8.0], key


def test_a_range_that_overflows_gives_zero() -> None:
    scale = np.array([1.0, 8e37, 0.5], np.float32)
    operands = QuantizationOperands(np.array([2.0, 8e37, -70], np.float32), scale, np.array([1, 1, 1]), -128, 127, EVEN)
    with np.errstate(all="ignore"):
        assert of_range(None)(operands).tolist() == [3, 0, -128]
