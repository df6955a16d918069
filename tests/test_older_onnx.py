"""Older releases of onnx lack operator sets and types: the adapter of the reference evaluator says so, no KeyError."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.onnx_reference import OnnxReference
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx.reference.ops")  # it keeps the functions that it has when it is imported
X = np.array([0.5, 1.5, 300], np.float32)


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> OnnxReference:
    """As onnx 1.15: operator set 20, no types of 4 bits, and float32 in place of float8."""
    new = onnx.helper.tensor_dtype_to_np_dtype

    def known(number: int) -> Any:
        if number > onnx.TensorProto.FLOAT8E5M2FNUZ:
            raise KeyError(number)
        return np.dtype("float32") if number >= onnx.TensorProto.FLOAT8E4M3FN else new(number)

    monkeypatch.setattr(onnx.helper, "tensor_dtype_to_np_dtype", known)
    monkeypatch.setattr(onnx.defs, "onnx_opset_version", lambda: 20)
    return OnnxReference()


def test_a_node_runs_at_the_latest_operator_set_that_the_release_has(older: OnnxReference) -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8", opset=25)
    (y,) = older.compile(node)(X, np.float32(1), np.uint8(0))
    assert y.tolist() == [0, 2, 255] and older.opsets == {19}
    assert "19" in older.reproducer(node, (X, np.float32(1), np.uint8(0)))


@pytest.mark.parametrize(
    ("quantized", "opset", "said"),
    [
        ("int16", 21, "has no operator set after 20"),
        ("int4", 25, "has no operator set after 20"),
        ("float8_e4m3fn", 19, "has no arrays of float8_e4m3fn"),
    ],
)
def test_what_the_release_lacks_is_unsupported(older: OnnxReference, quantized: str, opset: int, said: str) -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized=quantized, opset=opset)
    with pytest.raises(Unsupported, match=said):
        older.compile(node)


def test_a_type_without_a_number_is_unsupported(older: OnnxReference, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx.defs, "onnx_opset_version", lambda: 25)
    with pytest.raises(Unsupported, match="has no arrays of int4"):
        older.compile(make_node("onnx.QuantizeLinear", real="float32", quantized="int4", opset=21))


def test_the_installed_release_has_them_all() -> None:
    for name in ("int4", "uint16", "float8_e4m3fn"):
        node = make_node("onnx.QuantizeLinear", real="float32", quantized=name, opset=25)
        (y,) = OnnxReference().compile(node)(X[:2], np.float32(1), np.zeros((), numpy_dtype(name)))
        assert y.dtype == numpy_dtype(name)
