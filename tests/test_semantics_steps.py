"""The Cython loops of an audit beside the same steps in NumPy, and what they refuse."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from steps_in_numpy import fused_multiply_add, locate, round_place, saturated_codes, saturation_stage

from tiebreak.conformance.audit.halving import Intervals, room_for
from tiebreak.conformance.semantics import _steps
from tiebreak.conformance.semantics.model import codes
from tiebreak.conformance.semantics.places import fused_multiply_add as fused
from tiebreak.conformance.semantics.precisions import OF_TYPE, Precision
from tiebreak.conformance.semantics.quantize_saturation import EVERY as SATURATIONS
from tiebreak.conformance.semantics.quantize_saturation import SUM_INT64_WRAP, WRAP, Saturation
from tiebreak.conformance.semantics.round_modes import EVERY as MODES
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.problem import Array

TYPES = ("int8", "uint8", "int4", "uint16", "int32", "uint32")
SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 0.49999999999999994, -0.49999999999999994, 5e-324, -5e-324, 1e300)


def values() -> Array:
    """Ties and their neighbours at all sizes, bounds of integer types and their neighbours, and specials."""
    random = np.random.default_rng(3)
    halves = np.concatenate([np.arange(-40, 41) / 2, random.integers(-(2**50), 2**50, 500) / 2])
    powers = 2.0 ** np.array([7, 8, 15, 16, 24, 31, 32, 33, 34, 52, 53, 62, 63, 64])
    ends = np.concatenate([powers, -powers, powers - 1, 1 - powers, powers / 2 + 0.5])
    exact = np.concatenate([halves, ends, random.normal(size=2000) * 2.0 ** random.integers(-40, 70, 2000)])
    near = [np.nextafter(exact, np.inf), np.nextafter(exact, -np.inf)]
    return np.concatenate([exact, *near, np.array(SPECIAL)])


@pytest.mark.parametrize("precision", OF_TYPE.values(), ids=lambda precision: precision.id)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.id)
def test_numbers_round_as_numpy_rounds_them(mode: RoundMode, precision: Precision) -> None:
    with np.errstate(all="ignore"):
        wanted = round_place(locate(values()), mode, precision)
        found = mode.round(values(), precision)
    assert np.array_equal(found, wanted, equal_nan=True)
    assert mode.round(np.array(2.5), precision).shape == ()


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("saturation", SATURATIONS, ids=lambda saturation: saturation.id)
def test_whole_numbers_saturate_as_in_numpy(saturation: Saturation, name: str) -> None:
    element = INTEGER_TYPES[name]
    whole = np.trunc(values())
    ends = element.lowest, element.highest
    zero_points = np.array([*ends, 0 if not element.lowest else -3, element.highest // 2], np.int64)
    each = np.random.default_rng(5).choice(zero_points, whole.size)
    for zero_point in (*zero_points.reshape(-1, 1), each):
        with np.errstate(all="ignore"):
            wanted = saturated_codes(element, whole, zero_point, saturation.id)
            stage = saturation_stage(element, whole, wanted, zero_point, saturation.id)
        found, stages = saturation.finish(element, whole, zero_point)
        assert np.array_equal(found, wanted)
        assert np.array_equal(stages, stage, equal_nan=True)


@pytest.mark.parametrize("saturation", [WRAP, SUM_INT64_WRAP], ids=lambda saturation: saturation.id)
def test_each_quotient_that_wraps_has_a_stage_of_its_own(saturation: Saturation) -> None:
    """From 2^53 on a number added to the quotient would be rounded."""
    whole = 2.0**53 + 2 * np.arange(64)
    for zero_point in (0, 5):
        _, stages = saturation.finish(INTEGER_TYPES["int8"], whole, np.array([zero_point]))
        assert (np.diff(stages) > 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_fused_step_is_rounded_once_as_in_numpy(dtype: type) -> None:
    with np.errstate(all="ignore"):
        x = values().astype(np.float32)
        for factor in (np.float32(1 / 3), np.float32(1e-30), np.float32(-3.0)):
            for added in (np.float64(0.1), np.float64(-(2.0**31)), np.roll(x, 7).astype(np.float64)):
                wanted = fused_multiply_add(x, factor, added, np.dtype(dtype))
                found = fused(x, factor, added, np.dtype(dtype))
                assert np.array_equal(found.view(np.uint8), wanted.view(np.uint8)) or same_numbers(found, wanted)


def same_numbers(one: Array, other: Array) -> bool:
    """Whether two arrays hold the same numbers and signs of zeros, whatever the bits of NaN."""
    pair = [array.astype(np.float64) for array in (one, other)]
    return np.array_equal(*pair, equal_nan=True) and not ((np.signbit(one) != np.signbit(other)) & (pair[0] == 0)).any()


def test_each_facet_has_its_loops_and_no_other() -> None:
    assert set(_steps.SATURATIONS) == {saturation.id for saturation in SATURATIONS}
    assert {*_steps.MODES, *(name for name, _ in _steps.SUMS)} == {mode.id for mode in MODES}


def test_codes_of_float32_have_one_nan_and_one_zero() -> None:
    words = np.array([0, 0x80000000, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC00000], np.uint32)
    nan = 0x7FC00000
    assert codes(words.view(np.float32)).tolist() == [0, 0, 1, 0x80000001, 0x7F800000, 0xFF800000, nan, nan]


def test_halves_without_a_change_are_left_out() -> None:
    """Four intervals: the change below the middle, above it, on both sides, and beside no number."""
    low, high = np.array([0, 10, 20, 30]), np.array([4, 14, 24, 32])
    below, above = np.array([[0.0, 1.0, 2.0, 3.0]]), np.array([[1.0, 2.0, 4.0, 4.0]])
    stages, middle = np.array([[1.0, 1.0, 3.0, 4.0]]), np.array([2, 12, 22, 31])
    room = room_for(1, 4)
    count = _steps.open_halves(low, high, below, above, middle, stages, *room)
    found = Intervals(*room).part(0, count)
    assert found.low.tolist() == [0, 20, 12, 22] and found.high.tolist() == [2, 22, 14, 24]
    assert found.below.tolist() == [[0, 2, 1, 3]] and found.above.tolist() == [[1, 3, 2, 4]]


def test_one_stage_of_several_keeps_a_half_open() -> None:
    low, high, middle = np.array([0]), np.array([4]), np.array([2])
    below, stages, above = (np.array([[0.0], [second]]) for second in (5.0, 5.0, 6.0))
    room = room_for(2, 1)
    count = _steps.open_halves(low, high, below, above, middle, stages, *room)
    assert [part[..., :count].tolist() for part in room] == [[2], [4], [[0.0], [5.0]], [[0.0], [6.0]]]


def test_arrays_of_other_lengths_are_refused() -> None:
    two, three, row = np.zeros(2), np.zeros(3), np.zeros((1, 2))
    ends = np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="3 zero points for 2 numbers"):
        _steps.saturated(two, three.astype(np.int64), -128, 127, 8, 0)
    with pytest.raises(ValueError, match="2 stages and 3"):
        _steps.never_falls(two, three)
    with pytest.raises(ValueError, match="2 codes and 3"):
        _steps.same(ends, three.astype(np.int64))
    with pytest.raises(ValueError, match="room for 5, not 3"):
        _steps.open_halves(ends, ends, row, row, ends, row, *room_for(1, 1))
    with pytest.raises(ValueError, match="2 intervals and 3"):
        _steps.open_halves(ends, three.astype(np.int64), row, row, ends, row, *room_for(1, 2))


def test_no_stage_falls_only_if_none_is_nan() -> None:
    rising = np.array([0.0, 1.0, 2.0])
    assert _steps.never_falls(rising, rising) and _steps.never_falls(rising, rising + 1)
    assert not _steps.never_falls(rising, np.array([0.0, 0.5, 2.0]))
    assert not _steps.never_falls(rising, np.array([0.0, np.nan, 2.0]))
    assert not _steps.never_falls(np.array([np.nan]), np.array([1.0]))
