"""Mistakes with one operand or one step, each with values computed by hand, and the rules on two at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.causes.comparing import needed_of_pair
from tiebreak.conformance.causes.placed import key_of_place
from tiebreak.conformance.causes.places import (
    EVERYWHERE,
    Layout,
    bits_of_elements,
    bits_of_masks,
    contradicted_places,
    mask_of_place,
    numbers_of,
)
from tiebreak.conformance.judging.misplaced import ALL_MISPLACED
from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.dequantize_mistakes import PAIRS, SHARED
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.onnx_linear import BLOCKS
from tiebreak.conformance.operators.operand_mistakes import GUARDED_SCALES, OF_SCALES, OF_ZERO_POINTS
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.operators.quantize_pairs import pairs_of
from tiebreak.golden.make_node import make_node
from tiebreak.golden.rounding import EVEN


@pytest.mark.parametrize(
    ("key", "ends", "zero_points", "results"),
    [
        ("zero-point-moved:1", (0, 255), [0, 255], [1, 256]),
        ("zero-point-less-half-range", (0, 255), [129], [1]),
        ("zero-point-less-half-range", (-8, 7), [1], [-7]),
        ("zero-point-without-top-bit", (0, 255), [127, 128, 255], [127, 0, 127]),
        ("zero-point-without-top-bit", (-128, 127), [-1, 5], [127, 5]),
        ("zero-point-saturates-to-other-sign", (0, 255), [127, 200], [127, 127]),
        ("zero-point-saturates-to-other-sign", (-128, 127), [-3, 3], [0, 3]),
        ("zero-point-cast-to:int8", (-32768, 32767), [200, -200], [-56, 56]),
        ("zero-point-cast-to:int8", (0, 255), [200], None),
        ("zero-point-magnitude", (-8, 7), [-8, 7], [8, 7]),
        ("zero-point-halved", (-8, 7), [-3, 3], [-2, 1]),
        ("zero-point-in:float16", (-32768, 32767), [2049, 2051], [2048, 2052]),
        ("zero-point-in:bfloat16", (0, 255), [255], None),
    ],
)
def test_a_zero_point(key: str, ends: tuple[int, int], zero_points: list[int], results: list[int] | None) -> None:
    found = dict(OF_ZERO_POINTS)[key](np.array(zero_points), *ends)
    assert (None if found is None else found.tolist()) == results


@pytest.mark.parametrize(
    ("key", "scale", "result"),
    [
        ("scale-of-bits:8", 1 + 2.0**-8, 1.0),
        ("scale-of-bits:11", 1 + 2.0**-10, 1 + 2.0**-10),
        ("scale-of-bits:15", 1 + 3 * 2.0**-15, 1 + 2.0**-13),
        ("scale-cut-off-to:bfloat16", 2 - 2.0**-20, 2 - 2.0**-7),
        ("scale-to-power-of-two-below", -1.75, -1.0),
        ("scale-to-power-of-two-above", 1.25, 2.0),
        ("scale-of-digits:6", 0.12345678, 0.123457),
        ("scale-magnitude", -0.5, 0.5),
        ("scale-raised", 2.0**-30, 2.0**-23),
        ("scale-raised-to:1e-6", 2.0**-20, float(np.float32(1e-6))),
        ("scale-raised-to:1e-6", 2.0**-19, 2.0**-19),
        ("scale-plus:1e-6", 2.0**-20, 2.0**-20 + float(np.float32(1e-6))),
    ],
)
def test_a_scale(key: str, scale: float, result: float) -> None:
    assert dict((*OF_SCALES, *GUARDED_SCALES))[key](np.array([scale])).tolist() == [result]


def operands(
    values: Sequence[float], scale: float = 1.0, zero_point: int = 0, lowest: int = -128
) -> QuantizationOperands:
    x, scales = np.float32(values), np.full(len(values), scale, np.float32)
    return QuantizationOperands(x, scales, np.full(len(values), zero_point), lowest, lowest + 255, EVEN)


@pytest.mark.parametrize(
    ("key", "own", "results"),
    [
        ("x-cut-off-to:bfloat16", operands([1.5078124]), [2]),  # 1.5, which is a tie
        ("x-magnitude", operands([-3.0]), [3]),
        ("quotient-rounds:UP", operands([2.5 * 3 - 2.0**-21], 3.0), [2]),
        ("quotient-cut-off-to:bfloat16", operands([2.515]), [2]),  # 2.5, which is a tie
        ("reciprocal-rounded-to:bfloat16", operands([4.5], 3.0), [2]),  # 1 / 3 becomes 0.333984375
        ("reciprocal-rounded-to:float16", operands([4.5], 3.0), [1]),  # 1 / 3 becomes 0.333251953125
        ("reciprocal-rounds:UP", operands([4.5], 3.0), [2]),
        ("sixteenths-first", operands([2.53]), [2]),  # 2.5
        ("cut-to-fraction-bits:8", operands([2.499, -2.501, -2.505]), [2, -2, -3]),  # -2.5 is a tie, which goes up
        ("magic-number-above-zero", operands([2.5, -2.5, -0.6]), [2, -2, 0]),  # halves stay below 0
        ("negatives-down", operands([2.5, -2.25]), [2, -3]),
        ("scale-plus:1e-12", operands([1.0, 0.75, -3.0]), [1, 1, -3]),
        ("scale-plus:1e-6", operands([3.5 * 2.0**-20], 2.0**-20), [2]),
        ("scale-raised-to:1e-6", operands([3.5 * 2.0**-21], 2.0**-21), [2]),
        ("x-to-zero-below:1e-6", operands([3.5 * 2.0**-22, 5 * 2.0**-22], 2.0**-22), [0, 5]),
        ("rounds-one-sign:below zero, ties away from it", operands([2.5, -2.5, -2.25]), [2, -3, -2]),
        ("rounds-one-sign:below zero, ties toward it", operands([1.5, -1.5, -1.75]), [2, -1, -2]),
        ("rounds-one-sign:below zero, everything toward it", operands([1.75, -1.75]), [2, -1]),
        ("rounds-one-sign:above zero, ties away from it", operands([2.5, -2.5]), [3, -2]),
        ("rounds-one-sign:above zero, ties toward it", operands([1.5, -1.5]), [1, -2]),
        ("rounds-one-sign:above zero, everything toward it", operands([1.75, -1.75]), [1, -2]),
        ("rounds-one-sign:above zero, everything away from it", operands([1.25, -1.25]), [2, -1]),
        ("adds-half-and-truncates", operands([2.5, -2.75]), [3, -2]),
        ("narrower-by-one-bit", operands([100, -100]), [63, -64]),
        ("sum-wraps-in:int16", operands([40000, 300]), [-128, 127]),
        ("negative-to-highest", operands([-3, 3], lowest=0), [255, 3]),
        ("ends-of-type-exchanged", operands([300, -300, 5]), [-128, 127, 5]),
        ("saturates-as-unsigned", operands([200, -3, 300]), [-56, 0, -1]),
        ("saturates-to-int16-and-wraps", operands([40000], zero_point=1), [-128]),
        ("saturates-to-int8", operands([200], zero_point=100, lowest=0), [227]),
        ("negative-quotient-to-zero", operands([-5, 5], zero_point=-3), [-3, 2]),
        ("multiplier-of-bits:31", operands([2.5, -2.5]), [3, -2]),
        ("multiplier-of-31-bits-doubled", operands([5, -5], 2.0), [3, -2]),  # as 1 - 2^30 is added below 0
        ("zero-point-in-input", operands([2.5], zero_point=1), [4]),  # 3.5, which is a tie
        ("zero-point-first-all-in:bfloat16", operands([2.5], zero_point=127, lowest=0), [130]),  # 129.5 becomes 130
    ],
)
def test_a_step_of_a_quantizer(key: str, own: QuantizationOperands, results: list[int]) -> None:
    found = [predict(own) for cause, predict in HYPOTHESES if cause.id == key]
    assert [codes.tolist() for codes in found if codes is not None] == [results]


def test_two_steps_of_a_quantizer() -> None:
    pairs = {cause.id: predict for cause, predict in pairs_of(EVEN)}
    own = operands([4.5, -2.5], 1.0, 129, lowest=0)
    away = pairs["zero-point-without-top-bit + ties:NEAREST_TOWARD_INFINITY"](own)
    assert away is not None and away.tolist() == [6, 0]  # the zero point is 1
    wraps = pairs["zero-point-without-top-bit + wraps"](own)
    assert wraps is not None and wraps.tolist() == [5, 255]
    assert pairs["ignores-zero-point + saturates-to-8-bits"](own) is None  # it has 8 bits


SCALE = np.float32(0.3)  # 0.300000012


@pytest.mark.parametrize(
    ("key", "values", "scale", "zero_point", "results"),
    [
        ("product-rounds:UP", [7], SCALE, 0, [np.nextafter(np.float32(2.1), np.float32(3))]),
        ("product-rounds:DOWN", [7], SCALE, 0, [np.float32(2.1)]),
        ("overflow-to-nan", [255, 1], np.float32(3e38), 0, [np.nan, np.float32(3e38)]),
        ("difference-not-below-zero", [3, 9], np.float32(2), 5, [0, 8]),
        ("difference-reversed", [3], np.float32(2), 5, [4]),
        ("difference-wraps-as-signed", [200], np.float32(1), 0, [-56]),
        ("zero-point-after-scale", [7], np.float32(2), 3, [11]),
        ("scale-twice", [7], np.float32(3), 0, [63]),
        ("lowest-input-never", [0, 5], np.float32(1), 0, [1, 5]),
        ("input-less-half-range", [130], np.float32(1), 0, [2]),
        ("table-of-sums", [0, 1, 2, 3], np.float32(2), 1, [-2, 0, 2, 4]),
        ("result-in:float16", [7], SCALE, 0, [np.float32(np.float16(2.1))]),
        ("result-of-digits:6", [1], np.float32(1.2345678), 0, [np.float32(1.23457)]),
        ("negative-to-zero", [3, 9], np.float32(2), 5, [0, 8]),
    ],
)
def test_a_step_of_a_dequantizer(
    key: str, values: list[int], scale: np.float32, zero_point: int, results: list[float]
) -> None:
    node, x = make_node("onnx.DequantizeLinear", quantized="uint8"), np.array(values)
    (run,) = [run for cause, run in SHARED if cause.id == key]
    with np.errstate(all="ignore"):
        found = run(node, x, np.full(x.shape, scale), np.full(x.shape, zero_point))
    np.testing.assert_array_equal(found.astype(np.float32), np.float32(results))


def test_two_steps_of_a_dequantizer() -> None:
    node, x = make_node("onnx.DequantizeLinear", quantized="uint8"), np.array([7, 131])
    pairs = {cause.id: run for cause, run in PAIRS}
    run = pairs["zero-point-without-top-bit + result-in:bfloat16"]
    found = run(node, x, np.full(2, SCALE), np.full(2, 130))
    assert found.tolist() == [1.5, 38.75]  # 5 * 0.3 and 129 * 0.3 = 38.7


@pytest.mark.parametrize(
    ("key", "scales", "zero_points"),
    [
        ("previous-channel", [4, 0, 1, 2, 3], [4, 0, 1, 2, 3]),
        ("channel-pairs", [0, 0, 2, 2, 4], [0, 0, 2, 2, 4]),
        ("four-lanes", [0, 1, 2, 3, 0], [0, 1, 2, 3, 0]),
        ("last-for-all", [4] * 5, [4] * 5),
        ("next-scale", [1, 2, 3, 4, 0], [0, 1, 2, 3, 4]),
        ("zero-point-pairs-exchanged", [0, 1, 2, 3, 4], [1, 0, 3, 2, 4]),
    ],
)
def test_places_of_parameters(key: str, scales: list[int], zero_points: list[int]) -> None:
    ((_, *places),) = [entry for entry in ALL_MISPLACED if entry[0] == key]
    assert [place(np.arange(5), 5).tolist() for place in places] == [scales, zero_points]


@pytest.mark.parametrize(
    ("key", "blocks"),
    [
        ("blocks-start-early", [0, 0, 1, 1, 1, 2, 2]),
        ("blocks-start-late", [0, 0, 0, 0, 1, 1, 1]),
        ("blocks-one-shorter", [0, 0, 1, 1, 2, 2, 2]),
        ("previous-block", [0, 0, 0, 0, 0, 0, 1]),
        ("last-block-never", [0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_blocks_of_3(key: str, blocks: list[int]) -> None:
    assert BLOCKS[key](np.arange(7), 3, 3).tolist() == blocks


def test_each_of_two_mistakes_must_change_an_element() -> None:
    def needed(first: list[bool], second: list[bool]) -> Any:
        given = {"wraps": np.array(first), "narrow-range": np.array(second)}
        return needed_of_pair("wraps + narrow-range", np.array([True, True]), given)

    assert needed([True, True], [False, True]) == {"wraps"}
    assert needed([True, False], [False, True]) == {"wraps", "narrow-range"}
    assert needed_of_pair("wraps + narrow-range", np.array([True]), {}) == {"wraps", "narrow-range"}


def places_with(mask: list[bool], layout: Layout) -> set[str]:
    """The places at which a mask has an element."""
    (bits,) = bits_of_masks(np.array([mask]), layout)
    return {key_of_place(place) for place in numbers_of(bits)}


def test_odd_positions_halves_and_ends() -> None:
    third = places_with([False, False, True, False, False], Layout(5, 5, 1))
    assert third >= {"even", "first-half", "body:2", "body:4", "tail:8", "small:8", "large:4", "rank-1"}
    assert not third & {"odd", "second-half", "first", "last", "last-of-4", "tail:4", "small:4", "large:8", "rank-2"}
    assert places_with([True, False, False], Layout(3, 3, 1)) >= {"first", "first-half", "even"}
    assert places_with([False, False, True], Layout(3, 3, 1)) >= {"last", "second-half", "tail:2"}
    assert not places_with([True], Layout(1, 1, 0)) & {"first", "last", "rank-1", "rank-2"}
    assert "small:2" in places_with([True], Layout(1, 1, 0))
    of_8 = places_with([True] * 8, Layout(8, 8, 1))
    assert {"large:8", "small:16", "body:8"} <= of_8 and not of_8 & {"small:8", "large:16", "tail:8", "after:1024"}


def test_the_places_of_rows() -> None:
    at_4_of_a_row = places_with([place == 10 for place in range(18)], Layout(18, 6, 2))
    assert at_4_of_a_row >= {"row-tail:4", "row-body:2", "body:4", "body:8", "rank-2", "even"}
    assert not at_4_of_a_row & {"row-body:4", "tail:4", "tail:8", "rank-1"}


def test_masks_and_single_elements_have_the_same_places() -> None:
    """Each element's places are those of a mask of it alone; a mask's are those of its elements together."""
    random = np.random.default_rng(0)
    for shape in ((), (1,), (2,), (7,), (3, 67), (2, 3, 5), (70,), (5, 4096)):
        layout = Layout(math.prod(shape), shape[-1] if shape else 1, len(shape))
        each = bits_of_elements(layout)
        masks = random.random((20, layout.size)) < 3 / layout.size
        masks[np.arange(20), random.integers(0, layout.size, 20)] = True
        for mask, bits in zip(masks, bits_of_masks(masks, layout), strict=True):
            assert bits == int(np.bitwise_or.reduce(each[mask]))


def test_what_is_beyond_the_array_is_everywhere() -> None:
    assert bits_of_masks(np.array([[False, False, True]]), Layout(2, 2, 1)) == [EVERYWHERE]
    assert mask_of_place(numbers_of(EVERYWHERE)[0], Layout(2, 2, 1), 3).tolist() == [True, True, True]


def test_a_cause_is_contradicted_at_a_place_by_what_all_its_arithmetics_contradict() -> None:
    cause, free = Cause("wraps", "range"), Cause("narrow-range", "range")
    assert contradicted_places([(cause, 0b110), (cause, 0b011), (free, 1)], {cause: 1, free: 0}) == {cause: 0b010}
