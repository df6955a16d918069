"""QLinearConv and ConvInteger: sums by hand, ratios beside ties, what is open, and what ONNX's own runtimes give."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference.ops.op_conv import _conv_implementation

from tiebreak.golden import kernel, oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators.onnx_convolution import output_shape
from tiebreak.golden.problem import IN_RANGE, UNDEFINED, Array, Elementwise
from tiebreak.golden.problems import problems_of
from tiebreak.golden.samples.onnx_convolution import LAYOUTS, Window, mixed

QLINEAR, INTEGER = "onnx.QLinearConv", "onnx.ConvInteger"


def solved(case: Case, *, working: bool = False) -> tuple[list[int], list[int]]:
    """Codes and states by the oracle, which the kernel must give, too."""
    (problem,) = problems_of(case)
    found = [solve(problem, working=working) for solve in (oracle.solve, kernel.solve)]
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
    return found[0][0].tolist(), found[0][1].tolist()


def one_weight(x: list[int], w: int, scales: tuple[float, float, float], points: tuple[int, int, int]) -> Case:
    """A convolution of uint8 with one weight; scales and zero points are those of x, w and y."""
    node = make_node(QLINEAR, real="uint8", quantized="uint8", zero_point=False)
    (of_x, of_w, of_y), (x_point, w_point, y_point) = map(np.float32, scales), map(np.uint8, points)
    image, kernel_ = np.array(x, np.uint8).reshape(1, 1, -1), np.array(w, np.uint8).reshape(1, 1, 1)
    given = (image, of_x, x_point, kernel_, of_w, w_point, of_y, y_point)
    return Case("typed", node, tuple(np.asarray(array) for array in given))


def convolved(node: Any, *inputs: Array) -> Case:
    return Case("typed", node, inputs)


def test_a_quotient_is_rounded_to_even_before_the_zero_point_is_added() -> None:
    case = one_weight([1, 2, 3, 5], 1, (0.5, 1, 1), (0, 0, 1))
    assert solved(case) == ([1, 2, 3, 3], [IN_RANGE] * 4)


def test_a_ratio_beside_a_tie_is_decided_by_the_real_scales() -> None:
    """0.02 * 0.03 / 0.04 of the nearest float32 is a little less than 0.015, so 8100 of them are less than 121.5."""
    exact = Fraction(float(np.float32(0.02))) * Fraction(float(np.float32(0.03))) / Fraction(float(np.float32(0.04)))
    assert exact * 8100 < Fraction(243, 2)
    case = one_weight([81], 100, (0.02, 0.03, 0.04), (0, 0, 0))
    assert solved(case)[0] == [121]
    factor = np.float32(0.02) * np.float32(0.03) / np.float32(0.04)
    assert np.rint(np.float32(8100) * factor) == 122


def test_pads_are_the_zero_point_as_in_onnx_own_node_test() -> None:
    """The values of ONNX's test convinteger_with_padding, of its first channel."""
    node = make_node(INTEGER, real="uint8", quantized="int32", attributes={"pads": [1, 1, 1, 1]})
    x, w = np.arange(2, 11, dtype=np.uint8).reshape(1, 1, 3, 3), np.ones((1, 1, 2, 2), np.uint8)
    codes, _ = solved(convolved(node, x, w, np.uint8(1).reshape(()), np.zeros((), np.uint8)))
    assert codes == [1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9]


@pytest.mark.parametrize("one", LAYOUTS, ids=lambda one: one.name)
def test_windows_are_those_of_onnx_reference_evaluator(one: Window) -> None:
    node = make_node(INTEGER, real="uint8", quantized="int32", attributes=dict(one.attributes))
    x, w = (np.array(mixed("uint8", int(np.prod(s))), np.uint8).reshape(s) for s in (one.x, one.w))
    points = np.array(3, np.uint8), np.array(5, np.uint8)
    axes = len(one.x) - 2
    given = {name: node.value(name) or None for name in ("auto_pad", "dilations", "group", "pads", "strides")}
    differences = x.astype(np.int32) - 3, w.astype(np.int32) - 5
    wanted = _conv_implementation(
        *differences, None, given["auto_pad"], given["dilations"] or (1,) * axes, given["group"], one.w[2:],
        given["pads"], given["strides"],
    )  # fmt: skip
    assert wanted.shape == output_shape(node, one.x, one.w)
    assert solved(convolved(node, x, w, *points))[0] == wanted.reshape(-1).tolist()


def test_a_sum_beyond_32_bits_is_open() -> None:
    """Each product is 255 * 255; 33,025 of them still have 32 bits, one more has not."""
    for terms, state in ((33_025, IN_RANGE), (33_026, UNDEFINED)):
        node = make_node(INTEGER, real="uint8", quantized="int32", zero_point=False)
        x, w = np.full((1, terms, 1), 255, np.uint8), np.full((1, terms, 1), 255, np.uint8)
        assert solved(convolved(node, x, w))[1] == [state]


def test_a_bias_counts_to_the_ends_of_32_bits() -> None:
    node = make_node(QLINEAR, real="uint8", quantized="uint8")
    case = one_weight([0, 1], 1, (1, 1, 2.0**24), (0, 0, 0))
    full = convolved(node, *case.inputs, np.array([(1 << 31) - 1], np.int32))
    assert solved(full) == ([128, 0], [IN_RANGE, UNDEFINED])


def test_steps_in_float32_may_give_another_integer() -> None:
    """Working precision rounds the product 0.02 * 0.03 to float32, the product with the sum, and the quotient."""
    case = one_weight(list(range(0, 256)), 100, (0.02, 0.03, 0.04), (0, 0, 0))
    steps = np.rint(np.arange(256, dtype=np.float32) * 100 * (np.float32(0.02) * np.float32(0.03)) / np.float32(0.04))
    assert solved(case, working=True)[0] == np.clip(steps, 0, 255).astype(int).tolist()


BAD: tuple[tuple[str, dict[str, Any], tuple[int, ...], tuple[int, ...]], ...] = (
    ("need one rank", {}, (1, 1), (1, 1)),
    ("do not divide into 1 groups", {}, (1, 3, 4), (1, 2, 1)),
    ("do not divide into 2 groups", {"group": 2}, (1, 2, 4), (3, 1, 1)),
    ("is larger than the padded image", {}, (1, 1, 2), (1, 1, 3)),
    ("kernel_shape is", {"kernel_shape": (2,)}, (1, 1, 4), (1, 1, 3)),
    ("can't be used with auto_pad", {"pads": (1, 1), "auto_pad": "VALID"}, (1, 1, 4), (1, 1, 3)),
    ("strides", {"strides": (1, 1)}, (1, 1, 4), (1, 1, 3)),
)


@pytest.mark.parametrize(("message", "attributes", "x", "w"), BAD)
def test_shapes_that_do_not_fit_are_refused(
    message: str, attributes: dict[str, Any], x: tuple[int, ...], w: tuple[int, ...]
) -> None:
    node = make_node(INTEGER, real="uint8", quantized="int32", zero_point=False, attributes=attributes)
    with pytest.raises(InvalidInput, match=message):
        problems_of(convolved(node, np.ones(x, np.uint8), np.ones(w, np.uint8)))


def test_the_reference_evaluator_adds_the_zero_point_before_it_rounds() -> None:
    from tiebreak.adapters.onnx_reference import OnnxReference

    case = one_weight([1, 3], 1, (0.5, 1, 1), (0, 0, 1))
    (given,) = OnnxReference().compile(case.node)(*case.inputs)
    assert solved(case)[0] == [1, 3]
    assert given.reshape(-1).tolist() == [2, 2], onnx.__version__


def test_onnxruntime_multiplies_by_one_factor() -> None:
    from tiebreak.adapters.onnxruntime import OnnxRuntime

    case = one_weight([81, 80], 100, (0.02, 0.03, 0.04), (0, 0, 0))
    (given,) = OnnxRuntime().compile(case.node)(*case.inputs)
    assert given.reshape(-1).tolist() == [122, 120]
    assert solved(case)[0] == [121, 120]
    (problem,) = problems_of(case)
    assert isinstance(problem, Elementwise) and problem.names((), ())[:3] == ("x", "w", "B")
