"""Causes of QLinearConv that convolve dequantized operands: what each gives, by hand, beside the formula."""

from __future__ import annotations

import numpy as np
import pytest
from causes_of_records import causes_of
from wrong_onnx_qlinear_conv import in_range_of_sum

from tiebreak.conformance.operators.onnx_qlinear_conv_mistakes import MISTAKES
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import with_constants
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR = "onnx.QLinearConv"
ALONG_INPUTS = next(run for cause, run in MISTAKES if cause.id == "along-other-axis:w_scale and w_zero_point")
CAUSES = {cause.id: mistake for cause, mistake in MISTAKES if cause.id.startswith("convolves-dequantized")}


def one_weight(x: int, w: int, scales: tuple[float, float, float], y_point: int, *bias: Array) -> tuple[Array, ...]:
    of_x, of_w, of_y = (np.asarray(scale, np.float32) for scale in scales)
    zero = np.zeros((), np.uint8)
    image, kernel = np.full((1, 1, 1), x, np.uint8), np.full((1, 1, 1), w, np.uint8)
    return image, of_x, zero, kernel, of_w, zero, of_y, np.asarray(y_point, np.uint8), *bias


@pytest.mark.parametrize("ending", CAUSES, ids=str)
def test_whole_numbers_and_a_bias_give_what_the_formula_gives(ending: str) -> None:
    """(3 * 5 + 7) * 0.5 * 2 / 1 + 4 = 26."""
    node = make_node("onnx.QLinearConv", real="uint8", quantized="uint8")
    (y,) = CAUSES[ending](node, *one_weight(3, 5, (0.5, 2, 1), 4, np.array([7], np.int32)))
    assert y.tolist() == [[[26]]]


def test_ends_of_the_range_that_overflow_give_zero() -> None:
    """-130 * 2^126 and 125 * 2^126 are no float32: both ends are infinite, and the level is no number."""
    node = make_node("onnx.QLinearConv", real="uint8", quantized="int8", zero_point=False)
    inputs = (*one_weight(3, 5, (1, 1, 2.0**126), 0)[:7], np.asarray(2, np.int8))
    with np.errstate(all="ignore"):
        (y,) = CAUSES["convolves-dequantized:then a FakeQuantize by its formula"](node, *inputs)
    assert y.tolist() == [[[0]]]


def test_scales_and_zero_points_of_input_channels() -> None:
    """Weights (4 - 1) * 0.5 and (6 - 2) * 2 of x's 2 and 3, and a bias of 10 * 0.5: 3 + 24 + 5 = 32."""
    node = make_node("onnx.QLinearConv", real="uint8", quantized="uint8")
    x, w, one = np.array([[[2], [3]]], np.uint8), np.array([[[4], [6]]] * 2, np.uint8), np.float32(1)
    of_w = np.array([0.5, 2], np.float32), np.array([1, 2], np.uint8)
    zero, bias = np.zeros((), np.uint8), np.array([10, 10], np.int32)
    (y,) = ALONG_INPUTS(node, x, np.asarray(one), zero, w, *of_w, np.asarray(one), zero, bias)
    assert y.tolist() == [[[32], [47]]]


def test_openvino_takes_scales_of_w_along_its_input_channels() -> None:
    openvino = pytest.importorskip("tiebreak.adapters.openvino")
    cases = [case for case in indexed_cases(VECTORS / file_name(OPERATOR, "uint8", "uint8")) if "channels-2" in case.id]
    assert cases
    for case in cases:
        (found,) = openvino.OpenVino().compile(case.node)(*case.inputs)
        (given,) = ALONG_INPUTS(case.node, *case.inputs)
        assert found.tolist() == given.tolist(), case.id


def test_a_tie_tells_where_the_zero_point_is_added() -> None:
    """0.5 + 1 is 1.5, which goes to 2; 0.5 goes to 0, and 1 more is 1. A FakeQuantize's levels begin at the lowest."""
    node = make_node("onnx.QLinearConv", real="uint8", quantized="uint8", zero_point=False)
    inputs = one_weight(1, 1, (0.5, 1, 1), 1)
    given = {ending.partition(":")[2]: int(mistake(node, *inputs)[0].item()) for ending, mistake in CAUSES.items()}
    assert len(given) == 5
    assert given["and divides"] == 1
    assert {value for ending, value in given.items() if ending != "and divides"} == {2}


IN_RANGE_OF_SUM = "convolves-integers:then a FakeQuantize whose range is divided by the factor first"
OF_INTEGERS = next(run for cause, run in MISTAKES if cause.id == IN_RANGE_OF_SUM)


def with_every_x(kind: str, points: tuple[int, int, int], w: int) -> tuple[Array, ...]:
    """Every x of a type times one weight, with scales 0.02, 0.03 and 0.04."""
    of_x, of_w, of_y = (np.asarray(scale, np.float32) for scale in (0.02, 0.03, 0.04))
    x_point, w_point, y_point = (np.asarray(point, kind) for point in points)
    ends = np.iinfo(kind)
    x = np.arange(ends.min, ends.max + 1).astype(kind).reshape(1, 1, -1)
    return x, of_x, x_point, np.full((1, 1, 1), w, kind), of_w, w_point, of_y, y_point


def test_a_range_that_is_divided_first_has_a_shift_of_its_own() -> None:
    """The sums are -100 and 10100, the factor 0.0006: the shift is 100.00001, so that 98.5 and 251.5 go upward."""
    node = make_node(OPERATOR, real="uint8", quantized="uint8")
    x, *others = with_every_x("uint8", (27, 28, 100), 128)
    (y,) = OF_INTEGERS(node, np.asarray(x[..., [26, 128]]), *others)
    assert y.tolist() == [[[99, 252]]]
    (usual,) = CAUSES["convolves-dequantized:then a FakeQuantize by its formula"](node, x[..., [26, 128]], *others)
    assert usual.tolist() == [[[98, 252]]]


@pytest.mark.parametrize(("kind", "points", "w"), [("uint8", (27, 28, 100), 128), ("int8", (27, 0, -100), 100)])
def test_openvino_divides_the_range_where_all_parameters_are_constants(
    kind: str, points: tuple[int, int, int], w: int
) -> None:
    openvino = pytest.importorskip("tiebreak.adapters.openvino")
    inputs = with_every_x(kind, points, w)
    node = make_node(OPERATOR, real=kind, quantized=kind, zero_point=False)
    constants = {t.name: array for t, array in zip(node.inputs[1:], inputs[1:], strict=True)}
    (found,) = openvino.OpenVino().compile(with_constants(node, constants))(*inputs)
    (given,) = OF_INTEGERS(node, *inputs)
    assert found.tolist() == given.tolist()


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_a_backend_that_divides_the_range_is_named_so(kind: str) -> None:
    cases = [case for case in indexed_cases(VECTORS / file_name(OPERATOR, kind, kind)) if "NearTie" in case.flags]
    assert len(cases) > 5
    assert set(causes_of(in_range_of_sum, cases)) == {sentence_of(IN_RANGE_OF_SUM)}
