"""ONNX Runtime's quantization tool on the real library: one scale, every type that it takes, and its own refusals."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")
from tiebreak.adapters.onnxruntime_tool import OnnxRuntimeTool

TIES = np.array([-2.5, 0.5, 1.5, 2.5, 300.0], np.float32)
ONE = np.float32(1)


@pytest.fixture(scope="module")
def backend() -> OnnxRuntimeTool:
    return OnnxRuntimeTool()


@pytest.mark.parametrize(("quantized", "highest"), [("uint8", 255), ("int8", 127), ("uint16", 302), ("int16", 302)])
def test_ties_go_to_even_and_the_zero_point_is_added(backend: OnnxRuntimeTool, quantized: str, highest: int) -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized=quantized)
    zero = np.asarray(2, node.outputs[0].dtype)
    assert backend.compile(node)(TIES, ONE, zero)[0].tolist() == [0, 2, 4, 4, highest]
    assert quantized in backend.attest()["ran"]


def test_float8_goes_by_onnxs_evaluator(backend: OnnxRuntimeTool) -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="float8_e4m3fn")
    kind = numpy_dtype("float8_e4m3fn")
    assert backend.compile(node)(TIES, ONE, np.zeros((), kind))[0].astype(float).tolist() == [-2.5, 0.5, 1.5, 2.5, 288]
    with pytest.raises(Unsupported, match="zero_point is expected to be null for float 8"):
        backend.compile(node)(TIES, ONE, np.ones((), kind))


def test_more_than_one_scale_is_refused(backend: OnnxRuntimeTool) -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")
    with pytest.raises(Unsupported, match=r"takes one y_scale, not the shape \[5\]"):
        backend.compile(node)(TIES, np.ones(5, np.float32), np.zeros(5, np.uint8))
    with pytest.raises(Unsupported, match="has no axis"):
        backend.compile(make_node("onnx.QuantizeLinear", real="float32", quantized="uint8", attributes={"axis": 0}))
    with pytest.raises(Unsupported, match=r"has no onnx\.DequantizeLinear"):
        backend.compile(make_node("onnx.DequantizeLinear", real="float32", quantized="uint8"))


@pytest.mark.parametrize("zero_point", [True, False])
def test_the_script_makes_the_same_call(backend: OnnxRuntimeTool, tmp_path: Path, zero_point: bool) -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8", zero_point=zero_point)
    inputs = (TIES, ONE, np.uint8(0))[: 3 if zero_point else 2]
    (tmp_path / "lines.py").write_text(backend.reproducer(node, inputs), encoding="utf-8")
    named = dict(zip((tensor.name for tensor in node.inputs), inputs, strict=True)) | {"np": np}
    found = runpy.run_path(str(tmp_path / "lines.py"), named)
    assert found["outputs"][0].tolist() == [0, 0, 2, 2, 255] == backend.compile(node)(*inputs)[0].tolist()
    assert found["library"].startswith("onnxruntime ")
