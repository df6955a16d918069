"""QLinearConv and QLinearMatMul of tract: a factor's bits are a whole number and a shift. The results are tract's."""

from __future__ import annotations

import numpy as np
import pytest

from tiebreak.adapters.registry import is_beside, load_backend
from tiebreak.conformance.operators import onnx_qlinear_conv_mistakes as of_convolution
from tiebreak.conformance.operators import onnx_qlinear_matmul_mistakes as of_product
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

CONV = make_node("onnx.QLinearConv", real="uint8", quantized="uint8", zero_point=False)  # without a bias
MATMUL = make_node("onnx.QLinearMatMul", quantized="uint8", operands=("uint8", "uint8"))
MISTAKES = {node.operator: module.MISTAKES for node, module in ((CONV, of_convolution), (MATMUL, of_product))}
SUBNORMAL, LARGE = 1e-39, 2.0**17
MODULO = "multiplies-by-bits-of-factor:shifts modulo 64"
BITS = MODULO.partition(":")[0]
CASES = [
    (CONV, BITS, (0.5, 1.0, 1.0), (50, 1), 25),  # an ordinary factor
    (CONV, BITS, (0.5, 1.0, 1.0), (5, 1), 2),  # 2.5, to even
    (CONV, BITS, (-0.5, 1.0, 1.0), (50, 1), 25),  # its sign is lost
    (CONV, BITS, (0.0, 1.0, 1.0), (50, 3), 150),  # 0 is read as 1
    (CONV, BITS, (SUBNORMAL, 1.0, 1.0), (50, 3), 0),
    (CONV, BITS, (LARGE, 1.0, 1.0), (128, 128), 0),  # 2^31 is -2^31 in 32 bits
    (CONV, MODULO, (0.5, 1.0, 1.0), (50, 1), 25),
    (CONV, MODULO, (1e-30, 1e-30, 1.0), (50, 3), 150),  # 0, read as 1
    (CONV, MODULO, (1.5 * 2.0**-33, 1.0, 1.0), (100, 1), 0),  # shifted by 63 bits
    (CONV, MODULO, (1.5 * 2.0**-65, 1.0, 1.0), (100, 1), 75),  # as 0.75
    (CONV, MODULO, (2.0**-64, 1.0, 1.0), (100, 1), 99),  # as 1, and half of 2^64 is lost
    (CONV, MODULO, (2.0**-149, 1.0, 1.0), (100, 1), 200),
    (CONV, MODULO, (2.0**70, 1.0, 1.0), (3, 1), 192),  # as 2^6
    (MATMUL, BITS, (-0.5, 1.0, 1.0), (50, 1), 25),
    (MATMUL, BITS, (0.0, 1.0, 1.0), (50, 3), 150),
    (MATMUL, BITS, (SUBNORMAL, 1.0, 1.0), (50, 3), 0),
    (MATMUL, BITS, (LARGE, 1.0, 1.0), (128, 128), 0),
]


def inputs_of(node: Node, id_: str, scales: tuple[float, ...], values: tuple[int, int]) -> tuple[Array, ...]:
    """Each result is one product. Here tract shifts modulo 64: w has scales along its axis, x a second channel."""
    zero = np.zeros((), np.uint8)
    a, b, y = (np.array(scale, np.float32) for scale in scales)
    if node is MATMUL or id_ == BITS:
        x, w = (np.full((1,) * (2 if node is MATMUL else 3), value, np.uint8) for value in values)
        return x, a, zero, w, b, zero, y, zero
    x, w = np.full((1, 2, 4, 4), values[0], np.uint8), np.zeros((3, 2, 2, 2), np.uint8)
    w[:, 0, 0, 0] = values[1]
    return x, a, zero, w, np.full(3, b), np.zeros(3, np.uint8), y, zero


@pytest.mark.parametrize(("node", "id_", "scales", "values", "wanted"), CASES)
def test_the_cause_and_tract_give_the_same(
    node: Node, id_: str, scales: tuple[float, ...], values: tuple[int, int], wanted: int
) -> None:
    inputs = inputs_of(node, id_, scales, values)
    (mistake,) = (run for cause, run in MISTAKES[node.operator] if cause.id == id_)
    assert set(mistake(node, *inputs)[0].flat) == {wanted}
    if is_beside("tract"):
        assert set(load_backend("tract").compile(node)(*inputs)[0].flat) == {wanted}
