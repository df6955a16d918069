"""Node tests in Python: onnx's own machinery reads them, and gets the cases that were exported."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported_cases import DEQUANTIZE, QUANTIZE, STABLEHLO, reason, some, written

from tiebreak.adapters.onnx_models import onnx_model, onnx_node
from tiebreak.conformance.offline.export_onnx_node import WIDTH, number
from tiebreak.conformance.semantics.model import codes

node_tests = pytest.importorskip("onnx.backend.test.case.node")

NUMPY_HAS = {"float32", "float16", "uint8", "int8", "int32"}


def collected(path: Path) -> dict[str, Any]:
    """The tests that a module makes, by name, without those of the function that an operator is."""
    before = len(node_tests._NodeTestCases)
    node_tests._TargetOpType = ""  # what another test may have collected alone
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    made = node_tests._NodeTestCases[before:]
    del node_tests._NodeTestCases[before:]
    for one in made:
        node_tests._existing_names.pop(one.name, None)
    return {one.name: one for one in made if "_expanded" not in one.name}


@pytest.mark.parametrize(
    ("operator", "of", "step"),
    [
        (QUANTIZE, ("float32", "uint8"), 9),
        (QUANTIZE, ("bfloat16", "float8_e4m3fn"), 5),
        (QUANTIZE, ("float16", "int4"), 5),
        (DEQUANTIZE, ("int32", "float32"), 5),
        (DEQUANTIZE, ("float4_e2m1fn", "float16"), 5),
        ("onnx.Cast", ("float32", "float8_e5m2"), 3),
        ("onnx.QLinearMatMul", ("uint8", "uint8"), 9),
        ("onnx.MatMulInteger", ("uint8", "int32"), 9),
        ("onnx.DynamicQuantizeLinear", ("float32", "uint8"), 3),
    ],
)
def test_onnx_collects_what_was_exported(operator: str, of: tuple[str, str], step: int, tmp_path: Path) -> None:
    found = written(some(operator, step, input_type=of[0], output_type=of[1]), tmp_path, "onnx-node")
    (path,) = (tmp_path / "cases").iterdir()
    made = collected(path)
    name = operator.removeprefix("onnx.").lower()
    assert path.name == f"{name}_tiebreak.py" and len(made) == len(found.kept) > 0
    for place, one in found.kept:
        test = made[f"test_{name}_tiebreak_{place:06d}"]
        ((inputs, outputs),) = test.data_sets
        shapes = [array.shape for array in one.case.inputs]
        nodes = [model.graph.node[0] for model in (test.model, onnx_model(onnx_node(one.case.node), shapes=shapes))]
        assert len({str(node).replace('domain: ""\n', "") for node in nodes}) == 1
        wanted = [*one.case.inputs, *(output.array("exact") for output in one.outputs)]
        for got, array in zip([*inputs, *outputs], wanted, strict=True):
            assert got.dtype == array.dtype and got.shape == array.shape
            assert np.array_equal(codes(got), codes(array))
    text = path.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 120
    kinds = {tensor.element for _, one in found.kept for tensor in (*one.case.node.inputs, *one.case.node.outputs)}
    assert ("import ml_dtypes" in text) == bool(kinds - NUMPY_HAS)


def test_the_files_are_formatted_as_onnx_formats_its_own(tmp_path: Path) -> None:
    written(some(QUANTIZE, 40, input_type="float32", output_type="int8"), tmp_path, "onnx-node")
    (path,) = (tmp_path / "cases").iterdir()
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E4,E7,E9", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert max(len(line) for line in path.read_text().splitlines() if "opset_imports" not in line) <= WIDTH


def test_what_is_no_node_test_has_a_reason() -> None:
    assert reason("onnx-node", STABLEHLO, [1.5], 0.5, 3, real="float32", quantized="int8") == (
        "ONNX's node tests have no stablehlo.uniform_quantize"
    )


def test_numbers_are_written_whole() -> None:
    found = [number(one) for one in (float(np.float32(0.1)), -0.0, np.inf, -np.inf, np.nan, 7)]
    assert found == ["0.10000000149011612", "-0.0", "np.inf", "-np.inf", "np.nan", "7"]
