"""QLinearMatMul by a vector in OpenVINO: eight sums of dequantized products, as a vector of AVX2 holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.conformance.operators import dequantized_results as dq
from tiebreak.conformance.operators.onnx_qlinear_matmul_mistakes import MISTAKES
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

OPERATOR, IN_SUMS = "onnx.QLinearMatMul", f"dequantizes-first:of each eighth product a sum, {dq.USUAL}"
LARGE = 2.0**24  # 1 more is no float32


@pytest.mark.parametrize(("ones", "total"), [(15, LARGE + 14), (16, LARGE + 16), (7, LARGE + 6)])
def test_order_of_eight_sums(ones: int, total: float) -> None:
    """2^24 takes one 1 as it is, and 2 or more; the seventeenth product comes last: 2^24 + 15 is a tie."""
    row = np.array([[LARGE, *[1.0] * ones]], np.float32)
    assert dq.product_in_eight_sums(row, np.ones((ones + 1, 1), np.float32)).tolist() == [[total]]
    assert sum_in_turn(row[0]) == LARGE


def sum_in_turn(terms: Array) -> float:
    found = np.float32(0)
    for term in terms:
        found += term
    return float(found)


def test_a_matrix_of_two_columns_is_multiplied_otherwise() -> None:
    with pytest.raises(NotImplementedError):
        dq.product_in_eight_sums(np.ones((2, 3), np.float32), np.ones((3, 2), np.float32))


def constant_case(count: int, a: int, points: tuple[int, int, int], scales: tuple[float, float, float]) -> Case:
    """A row of `count` equal numbers times a column of zeros, all unsigned."""
    node = make_node(OPERATOR, quantized="uint8", operands=("uint8", "uint8"))
    of_a, of_b, of_y = (np.array(scale, np.float32) for scale in scales)
    z_a, z_b, z_y = (np.array(point, np.uint8) for point in points)
    row, column = np.full((1, count), a, np.uint8), np.zeros((count, 1), np.uint8)
    return Case(f"{count}-{scales[0]}-{scales[1]}-{points[1]}", node, (row, of_a, z_a, column, of_b, z_b, of_y, z_y))


CASES = (  # 33,024 products with the sum beside a tie of y
    constant_case(33024, 0, (236, 128, 128), (0.01, 0.04, 266023.72)),
    constant_case(33024, 0, (236, 128, 128), (0.04, 0.04, 1064094.875)),
    constant_case(33024, 0, (236, 236, 128), (0.01, 0.04, 1471443.75)),
    constant_case(33024, 0, (236, 236, 128), (0.01, 0.01, 367860.9375)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_openvino_does_it(case: Case) -> None:
    openvino = pytest.importorskip("tiebreak.adapters.openvino")
    mistake = next(run for cause, run in MISTAKES if cause.id == IN_SUMS)
    (found,), (given,) = openvino.OpenVino().compile(case.node)(*case.inputs), mistake(case.node, *case.inputs)
    assert found.tolist() == given.tolist()


def beside_a_tie(count: int) -> Case:
    """The sum is 50.5 steps of y from its zero point, as near as float32 has it."""
    step = count * 236.0 * 128 * 0.01 * 0.04 / 50.5
    return constant_case(count, 0, (236, 128, 128), (0.01, 0.04, step))


def in_eight_sums(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """A row times a column, in Python's numbers; then a FakeQuantize between 0 and 255 with a zero point inside."""
    a, a_scale, a_point, b, b_scale, b_point, y_scale, y_point = inputs
    row = [float(np.float32(int(one) - int(a_point)) * a_scale) for one in a[0]]
    column = [float(np.float32(int(one) - int(b_point)) * b_scale) for one in b[:, 0]]
    sums = [np.float32(0)] * 8
    for number, (one, other) in enumerate(zip(row, column, strict=True)):
        sums[number % 8] = np.float32(float(sums[number % 8]) + one * other)
    halves = [sums[n] + sums[n + 4] for n in range(4)]
    total = (halves[0] + halves[2]) + (halves[1] + halves[3])
    low, high = (y_scale * (np.float32(end) - np.float32(y_point)) for end in (0, 255))
    level = np.rint((min(max(total, low), high) - low) / (high - low) * np.float32(255))
    return (np.array([[level]]).astype(np.uint8),)


@pytest.mark.slow
def test_a_backend_that_does_it_is_named_so() -> None:
    cases = [*CASES, *(beside_a_tie(count) for count in range(24000, 33000, 1000))]
    assert set(causes_of(in_eight_sums, cases)) == {sentence_of(IN_SUMS)}
