"""Causes of QLinearConv that convolve dequantized operands: what each gives, by hand, beside the formula."""

from __future__ import annotations

import numpy as np
import pytest

from tiebreak.conformance.operators.onnx_qlinear_conv_mistakes import MISTAKES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.problem import Array

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


def test_a_tie_tells_where_the_zero_point_is_added() -> None:
    """0.5 + 1 is 1.5, which goes to 2; 0.5 goes to 0, and 1 more is 1. A FakeQuantize's levels begin at the lowest."""
    node = make_node("onnx.QLinearConv", real="uint8", quantized="uint8", zero_point=False)
    inputs = one_weight(1, 1, (0.5, 1, 1), 1)
    given = {ending.partition(":")[2]: int(mistake(node, *inputs)[0].item()) for ending, mistake in CAUSES.items()}
    assert len(given) == 5
    assert given["and divides"] == 1
    assert {value for ending, value in given.items() if ending != "and divides"} == {2}
