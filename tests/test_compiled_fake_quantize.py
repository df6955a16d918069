"""Arithmetic that compilers make of FakeQuantize and of QuantizeLinear, each with values computed by hand."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.openvino_fake_quantize_variants import codes_for
from tiebreak.conformance.operators.quantize_ranges import of_range
from tiebreak.conformance.variants.conversions import rounded_if_odd
from tiebreak.golden.make_node import make_node
from tiebreak.golden.rounding import EVEN

MOST = float(np.finfo(np.float32).max)
MISTAKES = {cause.id: run for cause, run in TESTED["openvino.FakeQuantize"].mistakes or ()}
REBUILT, CLIPPED = "folded-rebuilt", "folded-fused:both products, in float32"


def predicted(id_: str, levels: int, x: Any, *ends: Any) -> Any:
    node = make_node("openvino.FakeQuantize", real=x.dtype.name, attributes={"levels": levels})
    return MISTAKES[id_](node, x, *ends)[0].astype(float).tolist()


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
    id_ = "computes-in:float32 + overflow-to-largest"
    assert predicted(id_, 3, np.array([5e299]), *limits(0, 1e300, -1, 1, kind=np.float64)) == [1.0]
    assert predicted(id_, 3, np.array([2.0]), *limits(0, 1, -1, 1e300, kind=np.float64)) == [MOST]
    with pytest.raises(ValueError, match="float32"):
        predicted(id_, 3, np.zeros(1, np.float32), *limits(0, 1, 0, 1))


def test_reversed_limits_clip_to_the_low_one() -> None:
    # min(2.125, -0.5) is -0.5, max(-0.5, 1.5) is 1.5, which is level 0.
    assert predicted(CLIPPED, 3, np.array([2.125], np.float32), *limits(1.5, -0.5, 2, -2)) == [2.0]


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
    assert found == (least, greatest, zero_point)


def test_limits_of_both_kinds_need_a_zero_point() -> None:
    with np.errstate(all="ignore"):
        found = codes_for(256, np.array([-1.28, 0], np.float32), np.array([1.27, 1], np.float32))
    assert found == (0, 255, True)


def test_limits_are_rebuilt_from_a_scale_and_a_zero_point() -> None:
    x = np.array([0, 9], np.float32)
    # Their ratio is near -16 / 14, so codes are -8 to 7 and the scale is 1.5 / 15.
    ends = [end.astype(np.float32) for end in limits(-0.8, 0.7, kind=np.float16)]
    assert predicted(REBUILT, 16, x, *limits(0, 1), *ends) == [np.float32(-8) * np.float32(0.1), np.float32(0.7)]
    # The zero point is -127.5 and the scale 2 / 255.
    step = np.float32(2) / np.float32(255)
    assert predicted(REBUILT, 256, x, *limits(0, 1, 1, 3)) == [np.float32(127.5) * step, np.float32(382.5) * step]
    assert predicted(REBUILT, 5, x, *limits(0, 1, 1, 3)) == [1, 3]


def test_equal_limits_are_a_constant_even_for_nan() -> None:
    x = np.array([0.5, np.nan], np.float32)
    assert predicted(REBUILT, 256, x, *limits(0, 1, 3, 3)) == [3, 3]
    assert predicted(REBUILT, 256, x, *limits(0, 1, 300, 300)) == [0, 0]  # no code is 300


def test_the_least_scale_is_1e_32_whatever_the_sign() -> None:
    found = predicted(REBUILT, 16, np.array([0, 1], np.float32), *limits(0, 1, 1e-40, -1e-40))
    assert found == [0.0, np.float32(15) * np.float32(1e-32)]


def test_reversed_limits_go_to_a_kernel_along_an_axis_and_else_to_the_formula() -> None:
    x = np.array([[2.125, 0.75]], np.float32)
    by_axis = [np.array([end], np.float32) for end in (1.5, -0.5, 2, -2)]
    # min(x, -0.5) is -0.5, max(-0.5, 1.5) is 1.5, which is level 0; the document takes 2.125 to output_high.
    assert predicted(REBUILT, 3, x, *by_axis) == [[2.0, 2.0]]
    assert predicted(REBUILT, 3, x[0], *by_axis) == [-2.0, 0.0]
    by_element = [np.broadcast_to(limit, (1, 1, 2)) + np.zeros((1, 1, 2), np.float32) for limit in by_axis]
    assert predicted(REBUILT, 3, x.reshape(1, 1, 2), *by_element) == [[[-2.0, 0.0]]]


def test_output_high_is_read_at_the_places_of_output_low() -> None:
    id_, x = "output-high-at-output-low", np.array([[9.0, 9.0], [9.0, 9.0]], np.float32)
    low, high = limits(0, 4)
    first, last = np.array([[0.0], [1.0]], np.float32), np.array([2.0, 3.0], np.float32)
    assert predicted(id_, 5, x, low, high, first, last) == [[2.0, 2.0], [3.0, 3.0]]
    with pytest.raises(ValueError, match="nothing"):
        predicted(id_, 5, x, low, high, first, last[:1])


def test_output_high_is_zero_beyond_its_values() -> None:
    id_, x, (low, high) = "output-high-beyond-its-values", np.array([[15.0], [15.0]], np.float32), limits(0, 15)
    first, last = np.zeros((2, 1), np.float32), np.array([30.0], np.float32)
    assert predicted(id_, 16, x, low, high, first, last) == [[30.0], [0.0]]
    with pytest.raises(ValueError, match="nothing"):
        predicted(id_, 16, x, low, high, first, np.ones((2, 1), np.float32))


@pytest.mark.parametrize(
    "kind", [np.dtype(kind) for kind in ("float16", "float32", "float64")] + [np.dtype(ml_dtypes.bfloat16)]
)
@pytest.mark.parametrize(("last", "kernels"), [(8, 11), (4, 13)])  # with one range for both limits more apply
def test_every_kernel_gives_the_levels_of_an_exact_range(kind: Any, last: int, kernels: int) -> None:
    x, ends = np.array([0.0, 1.0, 2.0, 3.0, 4.0]).astype(kind), limits(0, 4, 0, last, kind=kind)
    told = 0
    for id_ in list(MISTAKES)[:18]:
        if "output-high" in id_:  # of limits that do not broadcast
            continue
        try:
            found = predicted(id_, 5, x, *ends)
        except ValueError:  # of other types
            continue
        assert found == [0.0, last / 4, last / 2, last * 3 / 4, last], id_
        told += 1
    assert told >= kernels


def test_a_range_that_overflows_gives_zero() -> None:
    scale = np.array([1.0, 8e37, 0.5], np.float32)
    operands = QuantizationOperands(np.array([2.0, 8e37, -70], np.float32), scale, np.array([1, 1, 1]), -128, 127, EVEN)
    with np.errstate(all="ignore"):
        assert of_range(None)(operands).tolist() == [3, 0, -128]
