"""Operators of com.microsoft in libraries that load ONNX models, where they are installed: numbers computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from test_apart import loaded

from tiebreak.adapters.registry import load_backend
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of emx-onnx-cgen's folders

# (5 - 1) / 2 and (7 - 3) / 4, of which the result has quarters and the zero point 4.
OPERANDS = (5, 0.5, 1, 7, 0.25, 3, 0.25, 4)


@pytest.mark.parametrize("name", ["emx-onnx-cgen", "iree", "tinygrad"])
@pytest.mark.parametrize(("operator", "wanted"), [("QLinearAdd", 16), ("QLinearMul", 12)])
def test_a_pair_of_quantized_numbers(name: str, operator: str, wanted: int) -> None:
    node = make_node(f"com.microsoft.{operator}", quantized="uint8")
    inputs = [np.array(value).astype(tensor.dtype) for tensor, value in zip(node.inputs, OPERANDS, strict=True)]
    inputs[0] = inputs[0].reshape(1)
    (found,) = loaded(name).compile(node)(*inputs)
    assert found.dtype == np.uint8 and found.tolist() == [wanted]


def test_a_product_with_a_bias_in_c() -> None:
    """((5 - 1) * (7 - 3) + 8) / 8 / 0.5 + 2; without C the generator misses an input that may be left off."""
    backend = loaded("emx-onnx-cgen")
    values = ([[5]], 0.5, 1, [[7]], 0.25, 3, [8], 0.5, 2)
    node = make_node("com.microsoft.QGemm", real="uint8", quantized="uint8", operands=("uint8",))
    inputs = [np.array(value).astype(tensor.dtype) for tensor, value in zip(node.inputs, values, strict=True)]
    assert backend.compile(node)(*inputs)[0].tolist() == [[8]]
    numbers = make_node("com.microsoft.QGemm", real="uint8", quantized="float32", operands=("uint8",), form=3)
    with pytest.raises(Unsupported, match="QGemm must have 9 inputs"):
        backend.compile(numbers)(*inputs[:6])


@pytest.mark.parametrize("name", ["emx-onnx-cgen", "onnxruntime-openvino", "openvino", "tract"])
def test_weights_of_2_bits(name: str) -> None:
    """2 times the second weight of each row, (code - 2) / 2. Weights are constants, also where the node has inputs."""
    backend = load_backend(name) if name == "openvino" else loaded(name)
    node = make_node("com.microsoft.MatMulNBits", zero_point=False, operands=("uint8",),
                     attributes={"K": 16, "N": 4, "block_size": 16, "bits": 2})  # fmt: skip
    a, weights = np.zeros((1, 16), np.float32), np.zeros((4, 1, 4), np.uint8)
    a[0, 1], weights[:, 0, 0] = 2, [code << 2 for code in range(4)]
    scales = np.full((4, 1), 0.5, np.float32)
    assert (node.operator in backend.always_constant) == (name != "emx-onnx-cgen")
    assert backend.compile(node)(a, weights, scales)[0].tolist() == [[-2, -1, 0, 1]]


@pytest.mark.parametrize("points", [True, False])
@pytest.mark.parametrize("name", ["emx-onnx-cgen", "onnxruntime-openvino", "openvino", "tract"])
def test_each_column_of_a_product_has_its_bias(name: str, points: bool) -> None:
    """(3 - 1) * 2 / 2 plus a bias; without zero points 2 is subtracted, and an input is left off before the bias."""
    backend = load_backend(name) if name == "openvino" else loaded(name)
    node = make_node("com.microsoft.MatMulNBits", operands=("uint8",), form=1 if points else 2,
                     attributes={"K": 16, "N": 3, "block_size": 16, "bits": 2})  # fmt: skip
    a, weights = np.zeros((1, 16), np.float32), np.zeros((3, 1, 4), np.uint8)
    a[0, 1], weights[:, 0, 0] = 2, 3 << 2
    inputs = [a, weights, np.full((3, 1), 0.5, np.float32), *([np.ones((3, 1), np.uint8)] if points else [])]
    found = backend.compile(node)(*inputs, np.array([1, -3, 0.25], np.float32))[0]
    assert found.tolist() == ([[3, -1, 2.25]] if points else [[2, -2, 1.25]])
