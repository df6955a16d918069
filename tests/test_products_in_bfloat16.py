"""QLinearMatMul and QLinearConv of OpenVINO where a processor multiplies bfloat16: three numbers are rounded to it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.registry import load_backend
from tiebreak.conformance.operators import dequantized_results as dq
from tiebreak.conformance.operators.onnx_qlinear_conv_mistakes import ALONG_INPUTS_IN_BFLOAT16, TO_BFLOAT16
from tiebreak.conformance.operators.onnx_qlinear_conv_mistakes import MISTAKES as OF_CONV
from tiebreak.conformance.operators.onnx_qlinear_matmul_mistakes import MISTAKES as OF_MATMUL
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

MATMUL, CONV = "onnx.QLinearMatMul", "onnx.QLinearConv"
PRODUCT = f"dequantizes-to-bfloat16-first:{dq.USUAL}"
IN_FLOAT32 = f"convolves-in-bfloat16:with the sum in float32, {dq.USUAL}"
BY_ID = {cause.id: run for cause, run in (*OF_MATMUL, *OF_CONV)}
HAS_INSTRUCTIONS = "avx512_bf16" in instruction_sets().split()


def bfloat16(value: Any) -> float:
    return float(np.float32(value).astype(ml_dtypes.bfloat16))


def level(total: float, y_scale: float, point: int, ends: tuple[int, int], *, narrow: bool = False) -> int:
    """A FakeQuantize by its formula, of float32 steps; `narrow`: y's range is in bfloat16."""
    low, high = (np.float32(y_scale) * np.float32(end - point) for end in ends)
    if narrow:
        low, high = np.float32(bfloat16(low)), np.float32(bfloat16(high))
    inside = np.float32(min(max(total, low), high))
    return int(np.rint((inside - low) / (high - low) * np.float32(255))) + ends[0]


def product_in_bfloat16(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """Matrices without batches and with one scale each, in Python's numbers."""
    a, a_scale, a_point, b, b_scale, b_point, y_scale, y_point = inputs
    row, column = (
        np.vectorize(bfloat16)((values.astype(np.float32) - np.float32(point)) * np.float32(scale)).astype(np.float64)
        for values, point, scale in ((a, a_point, a_scale), (b, b_point, b_scale))
    )
    ends, narrow = np.iinfo(y_point.dtype), a_scale.dtype == ml_dtypes.bfloat16
    limits = int(ends.min), int(ends.max)
    totals = [bfloat16(total) for total in (row @ column).reshape(-1)]
    found = [level(total, float(y_scale), int(y_point), limits, narrow=narrow) for total in totals]
    return (np.array(found, y_point.dtype).reshape(row.shape[0], column.shape[1]),)


def convolution_in_bfloat16(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """Kernels of one weight, of one channel: every pixel times every weight."""
    x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point = inputs
    column, row = w.reshape(-1, 1), x.reshape(1, -1)
    (found,) = product_in_bfloat16(node, column, w_scale, w_point, row, x_scale, x_point, y_scale, y_point)
    return (found.reshape(1, -1, *x.shape[2:]),)


def plain_products(real: str, kind: str) -> list[Case]:
    cases = indexed_cases(VECTORS / file_name(MATMUL, real, kind))
    return [case for case in cases if "near-rational" in case.id and {a.ndim for a in case.inputs[:4:3]} == {2}
            and case.inputs[1].size == case.inputs[4].size == 1]  # fmt: skip


def plain_convolutions(kind: str) -> list[Case]:
    cases = indexed_cases(VECTORS / file_name(CONV, kind, kind))
    return [case for case in cases if "ratio-" in case.id and "NearTie" in case.flags]


@pytest.mark.parametrize("real", ["float32", "float16", "bfloat16"])
def test_a_backend_that_multiplies_bfloat16_is_named_so(real: str) -> None:
    cases = plain_products(real, "uint8")
    assert len(cases) > 5
    assert set(causes_of(product_in_bfloat16, cases)) == {sentence_of(PRODUCT)}


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_a_backend_that_convolves_bfloat16_is_named_so(kind: str) -> None:
    cases = plain_convolutions(kind)
    assert len(cases) > 3
    assert set(causes_of(convolution_in_bfloat16, cases)) == {sentence_of(TO_BFLOAT16)}


def one_product(a: int, b: int, scales: tuple[float, float, float]) -> tuple[Array, ...]:
    of_a, of_b, of_y = (np.array(scale, np.float32) for scale in scales)
    zero = np.zeros((), np.uint8)
    return np.array([[a]], np.uint8), of_a, zero, np.array([[b]], np.uint8), of_b, zero, of_y, zero


@pytest.mark.parametrize(
    ("a", "b", "y"),
    [
        (255, 1, 255),
        (17, 15, 255),  # 255 has eight bits
        (3, 86, 255),  # 258 is beyond the range
        (19, 13, 247),
    ],
)
def test_products_of_eight_bits_are_right(a: int, b: int, y: int) -> None:
    node = make_node(MATMUL, quantized="uint8", operands=("uint8", "uint8"))
    assert BY_ID[PRODUCT](node, *one_product(a, b, (1, 1, 1)))[0].tolist() == [[y]]


@pytest.mark.parametrize(
    ("scales", "y"),
    [
        ((1, 1, 3), 100),  # 15 * 20 = 300, which bfloat16 has
        ((1.00390625, 1, 3), 101),  # 15.0586 becomes 15.0625; the product is 301.25, which becomes 302
    ],
)
def test_three_numbers_are_rounded(scales: tuple[float, float, float], y: int) -> None:
    node = make_node(MATMUL, quantized="uint8", operands=("uint8", "uint8"))
    assert BY_ID[PRODUCT](node, *one_product(15, 20, scales))[0].tolist() == [[y]]


def with_a_bias(bias: int) -> tuple[Array, ...]:
    """17 * 16 pixels and weights and one 1 more: 273 has nine bits."""
    zero, one = np.zeros((), np.uint8), np.array(1, np.float32)
    x, w = np.array([[[17], [1]]], np.uint8), np.array([[[16], [1]]], np.uint8)
    return x, one, zero, w, one, zero, one, zero, np.array([bias], np.int32)


@pytest.mark.parametrize(("cause", "y"), [(TO_BFLOAT16, 172), (IN_FLOAT32, 173)])
def test_a_sum_in_float32_keeps_nine_bits(cause: str, y: int) -> None:
    """273 - 100; as a bfloat16, 273 is a tie between 272 and 274."""
    node = make_node(CONV, real="uint8", quantized="uint8")
    assert BY_ID[cause](node, *with_a_bias(-100))[0].tolist() == [[[y]]]


def test_subnormal_numbers_become_zero() -> None:
    values = np.array([2.0**-126, 2.0**-127, -(2.0**-127), 257, 259], np.float32)
    assert dq.in_bfloat16(values).tolist() == [2.0**-126, 0, 0, 256, 260]
    assert np.signbit(dq.in_bfloat16(values)).tolist() == [False, False, True, False, False]


def answers(backend: Any, cases: list[Case]) -> list[tuple[Case, Array]]:
    found = []
    for case in cases:
        try:
            found.append((case, backend.compile(case.node)(*case.inputs)[0]))
        except Unsupported:
            continue
    return found


@pytest.mark.skipif(not HAS_INSTRUCTIONS, reason="this processor has no AVX512_BF16")
@pytest.mark.parametrize(("name", "real"), [("openvino", "bfloat16"), ("openvino-as-shipped", "float32")])
def test_openvino_multiplies_bfloat16(name: str, real: str) -> None:
    found = answers(load_backend(name), list(indexed_cases(VECTORS / file_name(MATMUL, real, "int8")))[:20])
    assert len(found) > 10
    for case, y in found:
        with np.errstate(all="ignore"):
            (given,) = BY_ID[PRODUCT](case.node, *case.inputs)
        assert y.tolist() == given.tolist(), case.id


@pytest.mark.skipif(not HAS_INSTRUCTIONS, reason="this processor has no AVX512_BF16")
def test_openvino_convolves_bfloat16() -> None:
    """The sum keeps float32 only on the way to a bias; scales of w are taken along its input channels."""
    cases = [case for case in indexed_cases(VECTORS / file_name(CONV, "uint8", "int8")) if case.inputs[0].ndim == 3]
    found = answers(load_backend("openvino-as-shipped"), cases[::3])
    assert len(found) > 20
    for case, y in found:
        along = case.inputs[3].shape[1] == case.inputs[4].size > 1
        usual = ALONG_INPUTS_IN_BFLOAT16 if along else TO_BFLOAT16
        ways = (usual, IN_FLOAT32) if len(case.inputs) > 8 else (usual,)
        with np.errstate(all="ignore"):
            given = [BY_ID[way](case.node, *case.inputs)[0].tolist() for way in ways]
        assert y.tolist() in given, case.id
