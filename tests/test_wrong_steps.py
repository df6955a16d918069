"""Wrong steps of operators with ranges, each with values computed by hand; without one the pipelines are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import (
    TESTED,
    openvino_fake_quantize_variants,
    tensorflow_dequantize_variants,
    tensorflow_fake_quant_variants,
    tensorflow_quantize_and_dequantize_variants,
    tensorflow_quantize_v2_variants,
)
from tiebreak.conformance.variants import conversions
from tiebreak.conformance.variants.mutant import Mutant
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DEVIATES

FAKE, PER_CHANNEL = "tensorflow.FakeQuantWithMinMaxVars", "tensorflow.FakeQuantWithMinMaxVarsPerChannel"
ROUND_TRIP, OPENVINO = "tensorflow.QuantizeAndDequantizeV4", "openvino.FakeQuantize"
QUANTIZE, DEQUANTIZE = "tensorflow.QuantizeV2", "tensorflow.Dequantize"
MODULES = {
    FAKE: tensorflow_fake_quant_variants,
    PER_CHANNEL: tensorflow_fake_quant_variants,
    ROUND_TRIP: tensorflow_quantize_and_dequantize_variants,
    OPENVINO: openvino_fake_quantize_variants,
    QUANTIZE: tensorflow_quantize_v2_variants,
    DEQUANTIZE: tensorflow_dequantize_variants,
}
INT8 = {"quantized": "int8"}


def predicted(operator: str, id: str, node: dict[str, Any], *inputs: Any) -> list[Array]:
    """The first outputs that a cause of a pipeline predicts, one for each of its rows that applies."""
    arrays = [np.asarray(values, np.float32) for values in inputs]
    if operator == DEQUANTIZE:
        arrays[0] = arrays[0].astype(np.dtype(node["quantized"]))
    made = make_node(operator, **node)
    module: Any = MODULES[operator]
    own = [*module.MISTAKES, *module.PAIRS]
    if operator == PER_CHANNEL:
        own = [*module.MISTAKES_OF_CHANNELS, *module.PAIRS_OF_CHANNELS]
    found = []
    for cause, run in own:
        if cause.id == id:
            try:
                found.append(run(made, *arrays)[0])
            except ValueError:
                continue
    return found


STEPS_OF_1 = {"attributes": {"num_bits": 4}}  # with -7 and 8 the scale is 1
EIGHT_AND_NARROW = {"attributes": {"num_bits": 4, "narrow_range": True}}


@pytest.mark.parametrize(
    ("id", "node", "x", "low", "high", "result"),
    [
        ("truncates", STEPS_OF_1, [1.75, -1.5], -7, 8, [1, -2]),  # 8.75 and 5.5 above -7
        ("result-in:TF32", STEPS_OF_1, [1.75], -7, 8, [2]),
        ("x-in:bfloat16", STEPS_OF_1, [1.5078125], -7, 8, [2]),  # 1.5, 8.5 above -7: a tie, to even 8
        ("min-off-by-one:up", STEPS_OF_1, [-8, 1], -7, 8, [-6, 1]),
        ("does-not-clamp-above", STEPS_OF_1, [-9, 9], -7, 8, [-7, 9]),
        ("at-most:8 bits", {"attributes": {"num_bits": 9}}, [0.75], 0, 255, [1]),
        ("one-bit-less", STEPS_OF_1, [3], 0, 14, [4]),  # 7 steps of 2: 3 is a tie
        ("inverts:narrow_range", EIGHT_AND_NARROW, [7.5], 0, 15, [8]),  # 15 steps of 1, not 14
        ("divides-by-reciprocal", {"attributes": {"num_bits": 2}}, [6], 0, 147, [0]),
        ("scale-to-power-of-two", STEPS_OF_1, [1.5], 0, 11.25, [2]),  # 0.75 becomes 1
        ("range-made-symmetric", STEPS_OF_1, [0.5], -7.5, 1, [0]),  # scale 1, -8 to 7: 8.5 above -8
        ("quantize-and-dequantize", STEPS_OF_1, [1.5, 2.5], -7, 8, [2, 2]),
        ("ignores:narrow_range + truncates", EIGHT_AND_NARROW, [7.75], 0, 15, [7]),
    ],
)
def test_fake_quantization(id: str, node: dict[str, Any], x: Any, low: float, high: float, result: list[float]) -> None:
    assert [found.tolist() for found in predicted(FAKE, id, node, x, low, high)] == [result]


LOWS, HIGHS = [0, 0, 0], [15, 30, 60]  # steps of 1, 2 and 4


@pytest.mark.parametrize(
    ("id", "result"),
    [
        ("one-for-all:range", [5, 5, 5]),
        ("one-for-all:last range", [4, 4, 4]),
        ("previous-range", [4, 5, 4]),
        ("next-range", [4, 4, 5]),
        ("ranges-in-pairs", [5, 5, 4]),
        ("next-max", [4, 4, 5]),
        ("previous-range + truncates", [4, 5, 4]),
    ],
)
def test_fake_quantization_with_other_channels_ranges(id: str, result: list[float]) -> None:
    x = [[5, 5, 5]] if "truncates" not in id else [[5.75, 5.75, 5.75]]
    assert [found.tolist() for found in predicted(PER_CHANNEL, id, STEPS_OF_1, x, LOWS, HIGHS)] == [[result]]


def test_runs_and_repetitions_of_ranges() -> None:
    x = [[5, 5], [6, 6]]
    (runs,) = predicted(PER_CHANNEL, "ranges-in-runs", STEPS_OF_1, x, [0, 0], [15, 60])
    assert runs.tolist() == [[5, 5], [8, 8]]  # 6 is a tie between 4 and 8: one and a half steps
    assert not predicted(PER_CHANNEL, "ranges-in-runs", STEPS_OF_1, [[5.0]], [0], [15])


def levels(count: int) -> dict[str, Any]:
    return {"attributes": {"levels": count}}


@pytest.mark.parametrize(
    ("id", "node", "x", "limits", "result"),
    [
        ("output-limits-exchanged", levels(5), [0, 1, 4, 9], (0, 4, 0, 8), [8, 6, 0, 0]),
        ("limits-extended-to-zero", levels(5), [3], (2, 4, 0, 8), [6]),
        ("both-limits-in-order", levels(5), [0, 1], (4, 0, 0, 8), [8, 6]),
        ("low-is-minus-high", levels(5), [-2], (0, 4, 0, 8), [2]),
        ("levels-not-steps", levels(4), [1], (0, 4, 0, 8), [2]),
        ("at-most:256 levels", levels(511), [0.75], (0, 255, 0, 255), [1]),
        ("255-levels-for-256", levels(256), [127], (0, 254, 0, 254), [127]),
        ("even-levels", levels(3), [1.25], (0, 3, 0, 3), [1]),
        ("power-of-two-levels-below", levels(7), [1.25], (0, 3, 0, 3), [1]),
        ("clamped-goes-through-below", levels(5), [-9, 9], (0, 4, 0, 8), [0, 8]),
        ("x-outside-is-result", levels(5), [-9, 9, 1], (0, 4, 0, 8), [-9, 9, 2]),
        ("position:magnitude of input_low", levels(9), [1], (-2, 6, 0, 8), [3]),
        ("position:magnitude of input_low", levels(9), [3], (2, 10, 0, 8), [5]),
        ("result:with output_high", levels(5), [1], (0, 4, 0, 8), [10]),
        ("result:from the other end", levels(5), [1], (0, 4, 0, 8), [6]),
        ("position-in:float16", levels(2), [2049], (0, 4096, 0, 1), [0]),  # 2048: a tie, to even
        ("limits-in:bfloat16", levels(2), [0], (0, 1, 257, 300), [256]),
        ("quantize-and-dequantize-whole", levels(5), [2], (0.75, 4.75, 0, 8), [2]),  # round(2) + round(-0.75)
        ("levels-not-steps + truncates", levels(4), [1.75], (0, 4, 0, 8), [2]),
    ],
)
def test_fake_quantize(id: str, node: dict[str, Any], x: Any, limits: tuple[float, ...], result: list[float]) -> None:
    assert [found.tolist() for found in predicted(OPENVINO, id, node, x, *limits)] == [result]


def test_fake_quantize_with_other_limits() -> None:
    highs = [4, 8]
    (found,) = predicted(OPENVINO, "one-for-all:input_high", levels(5), [[3, 3]], 0, highs, 0, highs)
    assert found.tolist() == [[3, 6]]
    (found,) = predicted(OPENVINO, "previous-limits", levels(5), [[3, 3]], 0, highs, 0, highs)
    assert found.tolist() == [[4, 3]]  # 1.5 steps of 2


GIVEN = {"attributes": {"range_given": True, "num_bits": 4}}
MEASURED = {"attributes": {"num_bits": 4, "narrow_range": True}}


@pytest.mark.parametrize(
    ("id", "node", "x", "low", "high", "result"),
    [
        ("factor-to-power-of-two-below", GIVEN, [1], -8, 4, [1]),
        ("steps-over-width", GIVEN, [1], -3, 4.5, [1]),  # 15 steps over 7.5; the right factor is 7 / 4.5
        ("clamps-symmetrically", GIVEN, [-8], -8, 7, [-7]),
        ("always-unsigned", GIVEN, [-1, 2], -8, 15, [0, 2]),
        ("one-bit-more", GIVEN, [0.5], -8, 7.5, [0.5]),  # steps of 1/2, not of 1
        ("divides-by-step", GIVEN, [3], -8, 7, [3]),
        ("ignores-scale", GIVEN, [3], -16, 14, [2]),  # 1.5 is a tie
        ("measures-all-but:the last element", MEASURED, [7, -3, 14], 0, 0, [7, -3, 7]),
        ("measures-magnitude", MEASURED, [3, -7], 0, 0, [3, -7]),
        ("ignores:num_bits + truncates", GIVEN, [1.75], -128, 127, [1]),
    ],
)
def test_round_trips(id: str, node: dict[str, Any], x: Any, low: float, high: float, result: list[float]) -> None:
    assert [found.tolist() for found in predicted(ROUND_TRIP, id, node, x, low, high)] == [result]


def of_mode(mode: str, **more: Any) -> dict[str, Any]:
    return {"quantized": "int8", "attributes": {"mode": mode, **more}}


COMBINED, FIRST, SCALED = (of_mode(mode) for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"))


@pytest.mark.parametrize(
    ("id", "node", "x", "low", "high", "result"),
    [
        ("offset-of-one-less", COMBINED, [0, -128], 0, 255, [127, -1]),
        ("counts-from-max", COMBINED, [0], 0, 255, [128]),
        ("divides-before-width", COMBINED, [127], 0, 255, [255]),
        ("by-integer-zero-point", COMBINED, [0], -0.75, 254.25, [127]),
        ("lowest-input-as-next", COMBINED, [-128, 0], 0, 255, [1, 128]),
        ("input-as-unsigned", COMBINED, [-1], 0, 255, [383]),
        ("range-exchanged", COMBINED, [0], 0, 255, [127]),
        ("moves-minimum-down", FIRST, [-128], -0.25, 254.75, [-1]),
        ("no-lowest", FIRST, [1], 0, 255, [1]),
        ("one-scale-of-half-the-values", SCALED, [3], -64, 32, [1.5]),
        ("width-over-steps", SCALED, [3], -85, 170, [3]),
        ("offset-of-one-less + no-minimum", COMBINED, [0], 1, 256, [127]),
        ("offset-of-one-less", SCALED, [0], 0, 255, None),
    ],
)
def test_dequantization(id: str, node: dict[str, Any], x: Any, low: float, high: float, result: list[float]) -> None:
    assert [found.tolist() for found in predicted(DEQUANTIZE, id, node, x, low, high)] == ([result] if result else [])


@pytest.mark.parametrize(
    ("id", "node", "x", "low", "high", "result"),
    [
        ("offset-of-one-less", COMBINED, [100], 0, 255, [-27]),
        ("counts-one-step-less", COMBINED, [255], 0, 255, [126]),
        ("counts-from-max", COMBINED, [100], 0, 255, [-28]),
        ("divides-by-max", COMBINED, [11], 1, 256, [-118]),  # 2550 / 256 is 9.96
        ("lowest-one-more", FIRST, [100], 0, 255, [-27]),
        ("truncates-minimum", FIRST, [100], -0.75, 254.25, [-28]),
        ("ceils-minimum", FIRST, [100], 0.25, 255.25, [-29]),
        ("clips-at-zero", COMBINED, [-5], -10, 245, [-118]),
        ("mean-of-factors", SCALED, [10], -64, 127, [15]),
        ("one-scale-of-half-the-values", SCALED, [10], -16, 32, [40]),
        ("width-over-steps", SCALED, [10], -85, 170, [10]),
        ("narrow-at-both-ends", of_mode("SCALED", narrow_range=True), [300], -126, 126, [126]),
        ("highest-never", SCALED, [300], -128, 127, [126]),
        ("lowest-never", SCALED, [-300], -128, 127, [-127]),
        ("one-scale-of-half-the-values + truncates", SCALED, [10.25], -32, 64, [20]),
    ],
)
def test_quantization(id: str, node: dict[str, Any], x: Any, low: float, high: float, result: list[float]) -> None:
    assert [found.tolist() for found in predicted(QUANTIZE, id, node, x, low, high)] == [result]


def test_what_overflows_is_computed_without_an_overflow() -> None:
    most = float(np.finfo(np.float32).max)
    (found,) = predicted(QUANTIZE, "truncates", COMBINED, [0, most], -most, most)
    assert found.tolist() == [0, 127]  # the width is infinite in float32; -0.5 is truncated


def test_conversions() -> None:
    x = np.array([1 + 2.0**-9, -3.0000002, 1e-8, 70000], np.float32)
    assert conversions.in_tf32(x)[[0, 1, 3]].tolist() == [1 + 2.0**-9, -3, 70016]
    assert conversions.cut_to_bfloat16(x).tolist()[:2] == [1, -3]
    assert conversions.in_saturating_float16(x)[3] == 65504
    assert conversions.tiny_to_zero(x)[2] == 0
    assert conversions.of_six_digits(np.array([1.2345678, np.inf], np.float32)).tolist() == [
        np.float32(1.23457),
        np.inf,
    ]
    assert conversions.to_power_of_two_below(np.array([3.5, 4], np.float32)).tolist() == [2, 4]
    assert conversions.cut_off(np.array([1 - 2.0**-30]), np.float32).tolist() == [1 - 2.0**-24]
    assert conversions.estimate(np.array([3], np.float32)).tolist() == [2731 / 8192]


def test_without_a_wrong_step_nothing_deviates() -> None:
    node = make_node(ROUND_TRIP, attributes={"range_given": True})
    x = np.random.default_rng(0).uniform(-2, 3, 500).astype(np.float32)
    case = Case("c", node, (x, *(np.asarray(np.float32(end)) for end in (-1.3, 2.7))))
    outputs = Mutant(())(node, *case.inputs)
    assert not (judge_outputs(outputs, truths_of(case)).grades == DEVIATES).any()


@pytest.mark.parametrize("operator", [*MODULES])
def test_pairs_are_of_two_steps_and_few_enough(operator: str) -> None:
    pairs = TESTED[operator].pairs
    assert 100 < len(pairs) < 1200
    assert all(cause.id.count(" + ") == 1 and cause.text for cause, _ in pairs)
