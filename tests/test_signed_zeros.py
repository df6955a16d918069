"""A zero result has no sign that a document asks for, but for small float types, whose table has two zeros."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

LEAST = 2.0**-149  # of float32


def grade(case: Case, output: Array) -> str:
    return judge_outputs((output,), truths_of(case)).verdict


@pytest.mark.parametrize("operator", ["tensorflow.Dequantize", "tensorflow.QuantizeAndDequantizeV4"])
def test_either_zero_is_right_where_a_product_rounds_to_zero(operator: str) -> None:
    """1 * -2^-149 / 128 or 1 * 2^-149 / 127: far below half of float32's least number."""
    dequantize = operator == "tensorflow.Dequantize"
    attributes = {"mode": "SCALED"} if dequantize else {"range_given": True}
    types = {"real": "float32", "quantized": "int8"} if dequantize else {"real": "float32"}
    x = np.array([-1, 0], np.int8) if dequantize else np.array([-LEAST / 512, 0], np.float32)
    limits = (np.array(-LEAST, np.float32), np.array(LEAST, np.float32))
    case = Case("zeros", make_node(operator, **types, attributes=attributes), (x, *limits))
    for zeros in ([0.0, 0.0], [-0.0, -0.0]):
        assert grade(case, np.array(zeros, np.float32)) == "exact"


def test_either_zero_is_right_where_a_level_rounds_to_zero() -> None:
    node = make_node("openvino.FakeQuantize", real="float32", attributes={"levels": 256})
    limits = (np.float32(0), np.float32(1), np.float32(-LEAST), np.float32(LEAST))
    case = Case("zeros", node, (np.array([0.3, 0.7], np.float32), *map(np.asarray, limits)))
    for zeros in ([0.0, 0.0], [-0.0, -0.0]):
        assert grade(case, np.array(zeros, np.float32)) == "exact"


def test_a_small_float_keeps_the_sign_of_a_quotient_that_rounds_to_zero() -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="float8_e4m3fn")
    small, zero = ml_dtypes.float8_e4m3fn, np.zeros((), ml_dtypes.float8_e4m3fn)
    case = Case("zeros", node, (np.array([-(2.0**-20), -0.0], np.float32), np.array(1, np.float32), zero))
    assert grade(case, np.array([-0.0, 0.0], small)) == "exact"
    assert grade(case, np.array([-0.0, -0.0], small)) == "exact"
    assert grade(case, np.array([0.0, 0.0], small)) == "deviates"
