"""Each adapter's standalone script, run without Tiebreak: 1 while the result is wrong, 0 once it is right."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters import registry
from tiebreak.adapters.reproducer import WantedElement, answer_script, discrepancy_script, input_lines
from tiebreak.adapters.tensorflow_source import raw_operator_source
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, with_constants
from tiebreak.golden.problem import Array

EVEN = {"round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
FLOAT8 = {"quantized": "float8_e5m2", "attributes": {"saturate": False}}
QUANTIZE, DEQUANTIZE, FAKE_QUANTIZE = "onnx.QuantizeLinear", "onnx.DequantizeLinear", "openvino.FakeQuantize"

# (backend, operator, node, inputs, the bits that would be right, the bits that the first element gets). Where both are
# the library's, the wrong expectation is made up.
DISCREPANCIES: tuple[tuple[str, str, Mapping[str, Any], tuple[Any, ...], int, int], ...] = (
    ("onnx-reference", QUANTIZE, {}, ([3e9], 1, 0), 255, 0),  # casts to int32 before clamping
    ("onnxruntime", QUANTIZE, FLOAT8, ([61500.0], 1, 0), 0x7C, 0x7F),  # NaN, where infinity is nearest
    ("onnxruntime-no-optimisation", QUANTIZE, FLOAT8, ([61500.0], 1, 0), 0x7C, 0x7F),
    ("openvino", QUANTIZE, {}, ([0.5], 1, 1), 1, 2),  # adds the zero point before rounding
)  # fmt: skip
CONFORMING: tuple[tuple[str, str, Mapping[str, Any], tuple[Any, ...], int, int], ...] = (
    ("numpy-naive", "ngraph.Quantize", {"quantized": "int8", "attributes": EVEN}, ([2.5], 1, 0), 3, 2),
    ("numpy-naive", "onnx.DequantizeLinear", {"quantized": "int8"}, ([3], 0.5, 1), 0, 0x3F800000),
    ("numpy-naive", QUANTIZE, {"quantized": "uint4", "attributes": {"axis": 0}}, ([[3.0], [5.0]], [1, 2], [1, 1]),
     0, 4),
    ("onnx-reference", "ngraph.Dequantize", {"quantized": "uint8"}, ([3], 0.5, 1), 0, 0x3F800000),
    ("onnxruntime", QUANTIZE, {"quantized": "int4"}, ([-3.0], 1, 0), 0, 0xD),
    ("onnxruntime-qdq", QUANTIZE, {"quantized": "int8"}, ([[-3.0, 1]], 1, 0), 0, 0xFD),
    ("onnxruntime-qdq-unfused", DEQUANTIZE, {"quantized": "uint16"}, ([3], 0.5, 1), 0, 0x3F800000),
    ("openvino", DEQUANTIZE, {"quantized": "int4"}, ([3], 0.5, 1), 0, 0x3F800000),
    # A level: where the processor has instructions for bfloat16, other numbers are not rounded to one.
    ("openvino-as-shipped", FAKE_QUANTIZE, {"real": "bfloat16", "attributes": {"levels": 9}}, ([2.0], 0, 8, 0, 8),
     0, 0x4000),
    ("openvino", QUANTIZE, {"real": "bfloat16", "quantized": "float8_e5m2"}, ([3], 2, 0), 0, 0x3E),
    ("tiebreak.adapters.openvino:limits_as_inputs", FAKE_QUANTIZE, {"attributes": {"levels": 9}}, ([1.25], 0, 8, 0, 8),
     0, 0x3F800000),
)  # fmt: skip


def case_of(operator: str, node: Mapping[str, Any], values: tuple[Any, ...]) -> Case:
    made = make_node(operator, **node)
    inputs = (np.asarray(v).astype(kind.dtype) for v, kind in zip(values, made.inputs, strict=True))
    return Case("c", made, tuple(inputs))


def write(folder: Path, case: Case, lines: str, *, right: int, got: int) -> Path:
    """The script for the first element of the first output."""
    operands = [("a", "0x0", "0")]
    path = folder / f"expects_{right:x}.py"
    wanted = WantedElement(0, 0, {right: "right"}, got, operands)
    path.write_text(discrepancy_script("A title", case.node, case.inputs, wanted, lines), encoding="utf-8")
    return path


def run(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """In a process that sees neither this folder nor Tiebreak's source nor the environment."""
    assert "tiebreak" not in path.read_text(encoding="utf-8").lower()
    command = [sys.executable, "-I", str(path)]
    return subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, text=True, timeout=120)


def check(folder: Path, case: Case, lines: str, right: int, got: int, library: str) -> None:
    """Wrong against the right bits, right against those that the library gives."""
    wrong = run(write(folder, case, lines, right=right, got=got))
    digits = 2 + 2 * case.node.outputs[0].dtype.itemsize
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert f"expected {right:#0{digits}x} (right), got {got:#0{digits}x} " in wrong.stdout
    assert re.search(rf"^{library} \d+\.\d+", wrong.stdout, re.MULTILINE)
    fixed = run(write(folder, case, lines, right=got, got=got))
    assert fixed.returncode == 0, fixed.stdout + fixed.stderr


def ids(value: Any) -> str | None:
    return value if isinstance(value, str) else ""


@pytest.mark.few(6)
@pytest.mark.parametrize(("name", "operator", "node", "values", "right", "got"), DISCREPANCIES + CONFORMING, ids=ids)
def test_a_script_tells_wrong_from_right(
    tmp_path: Path, name: str, operator: str, node: Mapping[str, Any], values: tuple[Any, ...], right: int, got: int
) -> None:
    library = re.findall(r"numpy|onnxruntime|onnx|openvino", name)[-1]
    pytest.importorskip(library)
    pytest.importorskip("onnx")
    case, backend = case_of(operator, node, values), registry.load_backend(name)
    outputs = backend.compile(case.node)(*case.inputs)
    assert bits(outputs[0]) == got, "the library changed: look for another discrepancy"
    check(tmp_path, case, backend.reproducer(case.node, case.inputs), right, got, library)


def bits(array: Array) -> int:
    """Of the first element, without what a type of fewer than 8 bits leaves undefined."""
    word = int(np.ascontiguousarray(array).reshape(-1).view(f"uint{8 * array.dtype.itemsize}")[0])
    return word & 0xF if "int4" in array.dtype.name else word


@pytest.mark.parametrize("name", ["onnxruntime", "openvino"])
def test_a_script_builds_in_what_the_node_holds(tmp_path: Path, name: str) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip(name)
    case = case_of(QUANTIZE, {}, ([3.0], 1, 0))
    node = with_constants(case.node, {"y_scale": case.inputs[1], "y_zero_point": case.inputs[2]})
    lines = registry.load_backend(name).reproducer(node, case.inputs)
    assert 'numpy_helper.from_array(y_scale, "y_scale")' in lines
    assert run(write(tmp_path, Case("c", node, case.inputs), lines, right=3, got=3)).returncode == 0


# TensorFlow takes seconds to import, so each script runs once, and its text comes without importing it here.


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="no tensorflow")
def test_tensorflow_that_is_wrong(tmp_path: Path) -> None:
    """Just below a tie: floor(v + 0.5) rounds the sum up."""
    case = case_of("tensorflow.FakeQuantWithMinMaxVars", {}, ([0.011764705181121826], 0, 6))
    wrong = run(write(tmp_path, case, raw_operator_source(case.node), right=0, got=0x3CC0C0C1))
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr
    assert "expected 0x00000000 (right), got 0x3cc0c0c1 " in wrong.stdout
    assert wrong.stdout.startswith("tensorflow 2.")


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="no tensorflow")
def test_tensorflow_without_onednn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend sets the variable before it imports TensorFlow; so does the script, whatever it finds."""
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    case = case_of("tensorflow.QuantizeV2", {"quantized": "int32", "attributes": {"mode": "SCALED"}}, ([1.0], -1, 1))
    lines = raw_operator_source(case.node)
    assert 'os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"' in lines
    overflow = 0x80000000  # of the highest value, in a cast
    right = run(write(tmp_path, case, lines, right=overflow, got=overflow), TF_ENABLE_ONEDNN_OPTS="1")
    assert right.returncode == 0, right.stdout + right.stderr


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="no tensorflow")
def test_tensorflow_in_a_graph_and_compiled_by_xla(tmp_path: Path) -> None:
    """Just below a tie, where the eager kernel rounds up, XLA's arithmetic is right."""
    case = case_of("tensorflow.FakeQuantWithMinMaxVars", {}, ([0.011764705181121826], 0, 6))
    text = raw_operator_source(case.node, xla=True)
    assert text == raw_operator_source(case.node, graph=True).replace(
        "autograph=False", "autograph=False, jit_compile=True"
    )
    found = run(write(tmp_path, case, text, right=0, got=0x3CC0C0C1))
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="no tensorflow")
def test_the_script_that_prints_an_answer_imports_what_it_needs(tmp_path: Path) -> None:
    """`tiebreak bisect` writes it; it has no frame of its own that imports os."""
    case = case_of("tensorflow.FakeQuantWithMinMaxVars", {}, ([1.0], 0, 255))
    path = tmp_path / "answer.py"
    path.write_text(answer_script("A title", "tensorflow==1", case.node, case.inputs, raw_operator_source(case.node)))
    told = run(path)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "float32 (1,) [1.0] bits, byte by byte: 00 00 80 3f" in told.stdout


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="no tensorflow")
@pytest.mark.slow
def test_tensorflow_with_constants(tmp_path: Path) -> None:
    """FakeQuantWithMinMaxArgs multiplies by 255 / (max - min): just below a tie it gives the next value."""
    case = case_of("tensorflow.FakeQuantWithMinMaxVars", {}, ([1.3294117450714111], 0, 6))
    low, high = case.inputs[1:]
    for constants, operation, gives in (
        ({"min": low, "max": high}, "FakeQuantWithMinMaxArgs(", 0x3FABABAC),
        ({"max": high}, "tf.function(lambda inputs, min: tf.raw_ops.FakeQuantWithMinMaxVars(", 0x3FA8A8A9),
    ):
        own = Case("c", with_constants(case.node, constants), case.inputs)
        lines = raw_operator_source(own.node)
        assert operation in lines
        found = run(write(tmp_path, own, lines, right=gives, got=gives))
        assert found.returncode == 0, found.stdout + found.stderr


def test_a_missing_library_is_2(tmp_path: Path) -> None:
    case = case_of(QUANTIZE, {}, ([3.0], 1, 0))
    path = write(tmp_path, case, "import a_library_that_is_not_there", right=3, got=3)
    missing = run(path)
    assert missing.returncode == 2
    assert "ModuleNotFoundError" in missing.stdout
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("values", [3, 100])
def test_a_long_array_has_a_short_script_that_runs(tmp_path: Path, values: int) -> None:
    """Over 4,096 elements with few values are told by their places; with many they are listed."""
    x = (np.arange(5000) % values).astype(np.float32)
    lines = 'outputs = (x.astype(np.uint8) + np.uint8(1),)\nlibrary = "numpy 1.0"'
    path = write(tmp_path, Case("c", make_node(QUANTIZE), (x, np.float32(1), np.uint8(0))), lines, right=1, got=1)
    assert ("def filled(" in path.read_text(encoding="utf-8")) == (values <= 64)
    assert run(path).returncode == 0, run(path).stdout


def test_a_script_imports_what_its_lines_need() -> None:
    """Of an input of NumPy's own, the lines may still name a type that NumPy lacks, or have the import themselves."""
    node = make_node("onnx.Cast", real="float32", quantized="float8_e5m2")
    x = (np.zeros(2, np.float32),)
    assert (
        input_lines(node, x, "outputs = (y.view(ml_dtypes.float8_e5m2),)")[0] == "import ml_dtypes\nimport numpy as np"
    )
    assert input_lines(node, x, "import ml_dtypes\nml_dtypes.int4")[0] == "import numpy as np"
    assert input_lines(node, x, "outputs = (y,)")[0] == "import numpy as np"
