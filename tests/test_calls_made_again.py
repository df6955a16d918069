"""Scripts about answers that change: each makes the library's own call again, and sees that the answer is another."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters import registry
from tiebreak.adapters.failure_reproducer import Failure, call_of, failure_script
from tiebreak.adapters.outcome import NOT_DETERMINISTIC
from tiebreak.adapters.reproducer import CALL
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Counts the calls of the library's own function; an array that the script makes after a second one is another.
COUNTED = """
import sys

import numpy as np

CALLS, MADE = [], np.array


def counted(owner, name):
    plain = getattr(owner, name)

    def wrapped(*given, **named):
        CALLS.append(name)
        return plain(*given, **named)

    setattr(owner, name, wrapped)


def changed(*given, **named):
    found = MADE(*given, **named)
    if len(CALLS) > 1 and sys._getframe(1).f_globals["__name__"] == "__main__":
        found.view(np.uint8).reshape(-1)[:1] += 1
    return found


np.array = changed
"""
ORT, SESSION = "import onnxruntime", "onnxruntime.InferenceSession"
OPENVINO = "import openvino", "openvino.InferRequest", "infer"
LITERT = "from ai_edge_litert.interpreter import Interpreter", "Interpreter", "invoke"
EVALUATOR = "from onnx.reference import ReferenceEvaluator as Machine", "Machine", "run"
FAKE = "FakeQuantWithMinMaxVars"
TENSORFLOW = "import tensorflow as tf", "tf.raw_ops", FAKE
X = np.float32([0.5, 1.5, 2.5])
NODE = make_node("onnx.QuantizeLinear")
LINEAR = (X, np.float32(1), np.uint8(0))
TO_FLOAT8 = {"real": "float32", "quantized": "float8_e4m3fn"}
RANGE = tuple(np.float32(end) for end in (0, 9, 0, 9))
# (backend, operator, node, inputs, the library's own function)
FLIPPING: tuple[tuple[str, str, Mapping[str, Any], tuple[Array, ...], tuple[str, str, str]], ...] = (
    ("onnxruntime", "onnx.QuantizeLinear", {}, LINEAR, (ORT, SESSION, "run")),
    ("onnxruntime", "onnx.Cast", TO_FLOAT8, (X,), (ORT, SESSION, "run_with_iobinding")),
    ("onnxruntime-qdq", "onnx.QuantizeLinear", {}, LINEAR, (ORT, SESSION, "run")),
    ("onnx-reference", "onnx.QuantizeLinear", {}, LINEAR, EVALUATOR),
    ("openvino", "onnx.QuantizeLinear", {}, LINEAR, OPENVINO),
    ("openvino", "openvino.FakeQuantize", {"attributes": {"levels": 256}}, (X, *RANGE), OPENVINO),
    ("litert", "onnx.QuantizeLinear", {"quantized": "int8"}, (*LINEAR[:2], np.int8(0)), LITERT),
    ("tensorflow", f"tensorflow.{FAKE}", {}, (X, np.float32(-1), np.float32(1)), TENSORFLOW),
)
TO_INT8 = {"quantized": "int8"}, (*LINEAR[:2], np.int8(0))
MICRO = "from tflite_micro.python.tflite_micro import runtime", "runtime.Interpreter", "invoke"
APART: tuple[tuple[str, Mapping[str, Any], tuple[Array, ...], tuple[str, str, str]], ...] = (
    ("tract", {}, LINEAR, ("from tract import runnable", "runnable.Runnable", "run")),
    ("tflite-micro", *TO_INT8, MICRO),
    ("ncnn", *TO_INT8, ("import ncnn", "ncnn.Extractor", "extract")),
    ("mnn", *TO_INT8, ("import MNN.expr as expr", "expr", "dequant")),
)


def script(folder: Path, node: Node, inputs: tuple[Array, ...], lines: str, *flips: str) -> tuple[int, str]:
    """Exit code and text of the script about an answer that changes, run where the library flips, or does not."""
    failure = Failure("error", NOT_DETERMINISTIC, "it changed", [inputs[0].shape], 60.0, 4096)
    text, path = failure_script("A title", node, inputs, failure, lines), folder / "script.py"
    if flips:
        imported, owner, name = flips
        text = text.replace("\nimport os\n", f"\nimport os\n{COUNTED}{imported}\n\ncounted({owner}, {name!r})\n", 1)
    path.write_text(text, encoding="utf-8")
    words = [sys.executable, "-I", str(path)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600, env={}, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("name", "operator", "node", "inputs", "flips"), FLIPPING, ids=[f"{f[0]}-{f[1]}" for f in FLIPPING]
)
def test_a_script_makes_the_call_again_and_sees_what_changes(
    tmp_path: Path,
    name: str,
    operator: str,
    node: Mapping[str, Any],
    inputs: tuple[Array, ...],
    flips: tuple[str, str, str],
) -> None:
    sees_what_changes(tmp_path, name, make_node(operator, **node), inputs, flips)


@pytest.mark.parametrize(("name", "node", "inputs", "flips"), APART, ids=[name for name, *_ in APART])
def test_so_does_a_script_of_a_library_that_is_installed_apart(
    tmp_path: Path, name: str, node: Mapping[str, Any], inputs: tuple[Array, ...], flips: tuple[str, str, str]
) -> None:
    pytest.importorskip(flips[0].split()[1].partition(".")[0])
    sees_what_changes(tmp_path, name, make_node("onnx.QuantizeLinear", **node), inputs, flips)


def sees_what_changes(
    folder: Path, name: str, node: Node, inputs: tuple[Array, ...], flips: tuple[str, str, str]
) -> None:
    lines = registry.load_backend(name).reproducer(node, inputs)
    code, text = script(folder, node, inputs, lines, *flips)
    assert code == 1 and "identical calls that give what the first one gave: [False, False, " in text, text
    code, text = script(folder, node, inputs, lines)
    assert code == 0 and text.count("True") == 3 * 7, text


# Memory that a process gets from its allocator and never writes: at every call it is the same.
UNWRITTEN = """
import ctypes
allocator = ctypes.CDLL(None)
allocator.malloc.restype = ctypes.c_void_p
got = allocator.malloc(3000)
library = "a library 1.0"
# The call.
outputs = (np.array((ctypes.c_uint8 * 3).from_address(got)),)
"""


# A call in a statement of its own, without the line that marks it.
UNMARKED = """
library, calls = "a library 1.0", []


def flipping(array):
    calls.append(array)
    return array.astype(np.uint8) + np.uint8(len(calls) % 2)


y = {}(x)
outputs = (y,)
"""


@pytest.mark.parametrize(("how", "code"), [("flipping", 1), ("np.uint8", 0)])
def test_a_call_that_is_not_marked_is_made_again(tmp_path: Path, how: str, code: int) -> None:
    exit_code, text = script(tmp_path, NODE, LINEAR, UNMARKED.format(how))
    assert exit_code == code and "identical calls that give what the first one gave: [" in text, text


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators fill nothing")
def test_memory_that_nobody_wrote_is_filled_and_seen(tmp_path: Path) -> None:
    code, text = script(tmp_path, make_node("onnx.QuantizeLinear"), LINEAR, UNWRITTEN)
    assert code == 1 and "filled with 0x5a, the outputs are, byte by byte: 5a 5a 5a" in text, text


def test_a_call_in_a_block_keeps_its_head_and_leaves_what_stands_before() -> None:
    block = f"    graph = made()\n    {CALL}\n    found = graph(x)\n    outputs = (found,)\n"
    lines = f'library = "a"\nwith device("b"):\n{block}'
    assert call_of(NODE, lines + 'name = "c"\n') == 'with device("b"):\n    found = graph(x)\n    outputs = (found,)'
    assert call_of(NODE, "made = 1\noutputs = (call(made, x),)\nlibrary = 3") == "outputs = (call(made, x),)"
    assert call_of(NODE, "made = 1\noutputs = (call(made),)\nlibrary = 3").startswith("made = 1\n")
    assert (
        call_of(NODE, f"made = 1\n{CALL}\nfound = made()\noutputs = (found,)\n") == "found = made()\noutputs = (found,)"
    )
