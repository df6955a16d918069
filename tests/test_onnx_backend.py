"""Runtimes with the interface of onnx.backend.base: one made here, and ONNX Runtime's own."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tiebreak.adapters.onnx_backend import reason
from tiebreak.adapters.protocol import Backend
from tiebreak.adapters.registry import check_spec, load_backend
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node, with_constants

pytest.importorskip("onnx")

MODULE = """
import numpy as np
from onnx.reference import ReferenceEvaluator

__version__ = "4.2"


class Prepared:
    def __init__(self, model):
        self.model, self.evaluator = model, ReferenceEvaluator(model)

    def run(self, inputs):
        assert len(inputs) == len(self.model.graph.input)
        if inputs[0].size == 3:
            raise NotImplementedError("no three elements")
        if inputs[0].size == 4:
            raise RuntimeError("four elements")
        return self.evaluator.run(None, dict(zip([one.name for one in self.model.graph.input], inputs)))


class Runs:
    @classmethod
    def is_compatible(cls, model, device):
        return model.graph.node[0].op_type == "QuantizeLinear"

    @classmethod
    def prepare(cls, model, device, **how):
        assert device == "CPU" and model.graph.output[0].type.tensor_type.HasField("shape")
        if model.graph.node[0].attribute:
            raise ValueError("no attributes")
        return Prepared(model)
"""


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Backend:
    (tmp_path / "my_onnx_runtime.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "my_onnx_runtime", raising=False)
    return load_backend(check_spec("onnx-backend:my_onnx_runtime:Runs"))


def given(node: Node, x: list[float]) -> list[np.ndarray]:
    values = (x, 0.5, 1)
    return [np.asarray(value).astype(kind.dtype) for value, kind in zip(values, node.inputs, strict=True)]


def test_a_class_of_a_module_runs(backend: Backend) -> None:
    node = make_node("onnx.QuantizeLinear", quantized="uint8")
    assert (backend.name, backend.version) == ("onnx-backend:my_onnx_runtime:Runs", "4.2")
    run = backend.compile(node)
    assert run(*given(node, [0.25, 0.75]))[0].tolist() == [1, 3]
    assert run(*given(node, [0.75] * 5))[0].tolist() == [3] * 5
    constant = with_constants(node, {"y_scale": np.float32(0.5), "y_zero_point": np.uint8(1)})
    assert backend.compile(constant)(*given(node, [0.75]))[0].tolist() == [3]
    assert backend.attest()["interface"] == "onnx.backend.base"


def test_what_prepare_raises_is_a_refusal_and_what_run_raises_an_error(backend: Backend) -> None:
    node = make_node("onnx.QuantizeLinear", quantized="uint8", attributes={"axis": 0})
    with pytest.raises(Unsupported, match="ValueError: no attributes"):
        backend.compile(node)(*given(node, [1.0]))
    other = make_node("onnx.DequantizeLinear", quantized="uint8")
    with pytest.raises(Unsupported, match="is_compatible"):
        backend.compile(other)(*given(other, [1.0]))
    plain = make_node("onnx.QuantizeLinear", quantized="uint8")
    with pytest.raises(Unsupported, match="no three elements"):
        backend.compile(plain)(*given(plain, [1.0] * 3))
    with pytest.raises(RuntimeError, match="four elements"):
        backend.compile(plain)(*given(plain, [1.0] * 4))
    narrow = make_node("onnx.QuantizeLinear", quantized="int4")
    with pytest.raises(Unsupported, match="RuntimeError: four elements"):
        backend.compile(narrow)(*given(narrow, [1.0] * 4))


def test_a_refusal_does_not_name_a_folder_that_is_another_each_time() -> None:
    told = f"C compilation failed:\n{tempfile.gettempdir()}/made_8x_z/model.c:3:5: error: /usr/include/a.h"
    assert reason(ValueError(told)) == "ValueError: C compilation failed:\nmodel.c:3:5: error: /usr/include/a.h"


def test_its_script_needs_only_the_module(backend: Backend) -> None:
    node = make_node("onnx.QuantizeLinear", quantized="uint8")
    inputs = given(node, [0.25, 0.75])
    found = {"np": np, **dict(zip(("x", "y_scale", "y_zero_point"), inputs, strict=True))}
    exec(backend.reproducer(node, inputs), found)  # type: ignore[attr-defined]  # noqa: S102
    assert found["outputs"][0].tolist() == [1, 3] and found["library"] == "my_onnx_runtime 4.2"


def test_onnx_runtimes_own_module_runs() -> None:
    pytest.importorskip("onnxruntime")
    found, node = load_backend("onnx-backend:onnxruntime.backend"), make_node("onnx.QuantizeLinear", quantized="uint8")
    assert found.compile(node)(*given(node, [0.25, 0.75]))[0].tolist() == [1, 3]


def test_a_module_without_the_interface_says_so() -> None:
    with pytest.raises(InvalidInput, match=r"no prepare\(model, device\) there"):
        load_backend("onnx-backend:json")
    with pytest.raises(InvalidInput, match="no module 'no_such_module'"):
        load_backend("onnx-backend:no_such_module")
