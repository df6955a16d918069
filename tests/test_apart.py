"""Libraries with environments of their own, where they are installed beside Tiebreak: real calls, refusals, scripts."""

from __future__ import annotations

import platform
import runpy
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from jinja2 import DictLoader, Environment

from tiebreak.adapters.emx_onnx_cgen import compiler, share_templates
from tiebreak.adapters.registry import APART, is_beside, load_backend, registered, usual
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node, with_constants

# emx-onnx-cgen's models leave their folders to be removed when they are collected.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
Q, D = "onnx.QuantizeLinear", "onnx.DequantizeLinear"
TIES = np.array([-2.5, -1.5, 0.5, 1.5, 2.5, 300.0], np.float32)
# What each library makes of these ties with scale 1 and zero point 0, and at int8's end.
EVEN, AWAY = [-2, -2, 0, 2, 2, 127], [-3, -2, 1, 2, 3, 127]
ROUNDS = {
    **dict.fromkeys(("tract", "tvm", "iree", "tinygrad", "emx-onnx-cgen", "onnxruntime-openvino", "jax"), EVEN),
    **dict.fromkeys(("executorch",), EVEN),
    **dict.fromkeys(("ncnn", "mnn", "tflite-micro"), AWAY),
}
OTHERS = {
    "ggml",
    "gguf",
    "mlx",
    "paddle",
    "torchao",
    "tosa-reference-model",
    "triton-interpreter",
}  # which have no such operator; see test_…_in_libraries.py


def loaded(name: str) -> Any:
    if not is_beside(name):
        pytest.skip(f"{name} is not installed beside Tiebreak")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return load_backend(name)
        except Exception as error:  # without clang, or with another package's onnxruntime
            pytest.skip(str(error))


def quantized(backend: Any, x: np.ndarray, scale: float = 1, zero_point: int = 0, kind: str = "int8") -> list[int]:
    node = make_node(Q, quantized=kind)
    found = backend.compile(node)(x, np.array(scale, np.float32), np.array(zero_point).astype(numpy_dtype(kind)))[0]
    assert found.dtype == numpy_dtype(kind) and found.shape == x.shape
    return found.tolist()  # type: ignore[no-any-return]


def test_every_library_apart_has_a_test() -> None:
    assert set(ROUNDS) | OTHERS == set(APART) <= set(registered())


def test_what_is_not_installed_is_not_usual(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert {name for name in usual() if name in APART} == {name for name in APART if is_beside(name)}


@pytest.mark.parametrize("name", ROUNDS)
def test_it_rounds_ties(name: str) -> None:
    backend = loaded(name)
    assert quantized(backend, TIES) == ROUNDS[name]
    assert quantized(backend, TIES.reshape(2, 3)) == np.reshape(ROUNDS[name], (2, 3)).tolist()
    facts = backend.attest()
    assert facts["library"] and all(isinstance(text, str) for text in facts.values())


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ROUNDS)
def test_its_script_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    """The script runs in a process of its own, as the reader's does."""
    backend = loaded(name)
    node = make_node(Q, quantized="int8")
    inputs = (TIES, np.float32(0.5), np.int8(0))
    wanted = backend.compile(node)(*map(np.asarray, inputs))[0].tolist()
    bound = "\n".join(
        f"{tensor.name} = np.array({np.asarray(array).tolist()!r}, np.{array.dtype.name})"
        for tensor, array in zip(node.inputs, inputs, strict=True)
    )
    lines = f"import numpy as np\n{bound}\n{backend.reproducer(node, inputs)}\nprint(outputs[0].tolist())\n"
    (tmp_path / "script.py").write_text(lines, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(wanted)


def with_axis() -> tuple[Node, tuple[np.ndarray, ...]]:
    node = make_node(Q, quantized="int8", attributes={"axis": 0})
    return node, (TIES.reshape(2, 3), np.array([1, 2], np.float32), np.array([0, 1], np.int8))


@pytest.mark.parametrize("name", ["tvm", "iree", "jax", "emx-onnx-cgen", "executorch"])
def test_it_takes_scales_along_an_axis(name: str) -> None:
    node, inputs = with_axis()
    assert loaded(name).compile(node)(*inputs)[0].tolist() == [[-2, -2, 0], [2, 2, 127]]


REFUSED: Mapping[str, str] = {
    "ncnn": "is run with one scale, without an axis",
    "mnn": "is run with one scale, without an axis",
    "tflite-micro": "TFLM failed to allocate tensors",
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_refuses_an_axis_in_its_own_words(name: str) -> None:
    node, inputs = with_axis()
    with pytest.raises(Unsupported, match=REFUSED[name]):
        loaded(name).compile(node)(*inputs)


@pytest.mark.parametrize("name", ["ncnn", "mnn"])
def test_a_factor_is_said_only_where_it_is_the_scale(name: str) -> None:
    backend = loaded(name)
    assert quantized(backend, TIES, 0.5) == [-5, -3, 1, 3, 5, 127]
    for scale, zero_point, why in ((0.1, 0, "is no float32"), (0, 0, "is no float32"), (1, 3, "has no zero point")):
        with pytest.raises(Unsupported, match=why):
            quantized(backend, TIES, scale, zero_point)


def test_ncnn_keeps_its_input_alive() -> None:
    """Its Mat uses the array's memory: without the array the first elements are another's."""
    run = loaded("ncnn").compile(make_node(D, quantized="int32"))
    x = np.arange(-150, 153, dtype=np.int32)
    for _ in range(20):
        assert run(x, np.array(2, np.float32))[0].tolist() == (2 * x).tolist()


@pytest.mark.parametrize("name", ["tvm", "jax", "iree"])
def test_constants_are_part_of_what_is_compiled(name: str) -> None:
    node = make_node(Q, quantized="int8")
    fixed = with_constants(node, {"y_scale": np.array(0.5, np.float32), "y_zero_point": np.array(1, np.int8)})
    backend = loaded(name)
    inputs = (TIES, np.array(0.5, np.float32), np.array(1, np.int8))
    assert backend.compile(fixed)(*inputs)[0].tolist() == backend.compile(node)(*inputs)[0].tolist()
    lines = backend.reproducer(fixed, inputs)
    assert "y_scale" in lines


def test_templates_are_compiled_once_for_all_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    """emx-onnx-cgen makes an environment for each model."""
    compiled: list[str] = []
    own = Environment.compile

    def counted(self: Environment, source: str, *given: Any) -> Any:
        compiled.append(source)
        return own(self, source, *given)

    monkeypatch.setattr(Environment, "compile", counted)
    emitter: Any = SimpleNamespace(Environment=Environment)
    share_templates(emitter)
    for text in ("a{{ x }}", "a{{ x }}", "b{{ x }}"):
        template = emitter.Environment(loader=DictLoader({"one": text})).get_template("one")
        assert template.render(x=1) == f"{text[0]}1"
    assert compiled == ["a{{ x }}", "b{{ x }}"]


def test_the_c_compiler_is_attested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", f"{sys.executable} -I")
    assert compiler() == f"{sys.executable} -I: Python {platform.python_version()}"
    monkeypatch.setenv("CC", "no-such-compiler -O2")
    assert compiler() == "none"


@pytest.mark.parametrize("kind", ["int4", "uint4"])
def test_4_bits_enter_and_leave_packed(kind: str) -> None:
    backend, codes = loaded("onnxruntime-openvino"), [0, 5, 2, 7, 1]
    assert quantized(backend, np.array(codes, np.float32), 1, 1, kind) == [1, 6, 3, 7 if kind == "int4" else 8, 2]
    node = make_node(D, quantized=kind)
    inputs = (np.array(codes).astype(numpy_dtype(kind)), np.array(2, np.float32), np.array(1).astype(numpy_dtype(kind)))
    assert backend.compile(node)(*inputs)[0].tolist() == [-2.0, 8.0, 2.0, 12.0, 0.0]
    found: dict[str, Any] = {"np": np}
    found |= dict(zip((tensor.name for tensor in node.inputs), inputs, strict=True))
    exec(backend.reproducer(node, inputs), found)  # noqa: S102
    assert found["outputs"][0].tolist() == [-2.0, 8.0, 2.0, 12.0, 0.0]


def test_the_kernels_of_executorch_end_the_process_for_bfloat16() -> None:
    with pytest.raises(Unsupported, match="it ends the process"):
        loaded("executorch").compile(make_node(Q, real="bfloat16", quantized="int8"))


def test_scripts_of_models_are_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """tract reads files, so the script writes one."""
    monkeypatch.chdir(tmp_path)
    node = make_node(D, quantized="uint8")
    inputs = {"x": np.array([3, 5], np.uint8), "x_scale": np.float32(0.5), "x_zero_point": np.uint8(1)}
    backend = loaded("tract")
    lines = backend.reproducer(node, tuple(inputs.values()))
    (tmp_path / "lines.py").write_text(lines, encoding="utf-8")
    found = runpy.run_path(str(tmp_path / "lines.py"), {"np": np, **inputs})
    assert found["outputs"][0].tolist() == [1.0, 2.0] and found["library"] == f"tract {backend.version}"
    assert Path("model.onnx").is_file()
