"""torch.compile of the decomposed functions, and torch's quantized engines, on the real library."""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")
    from tiebreak.adapters.torch import Torch, compiled, fbgemm, onednn, qnnpack

NODE = make_node("onnx.QuantizeLinear", real="float32", quantized="uint8")
TIES = np.array([-2.5, -1.5, 0.5, 1.5, 2.5, 300.0], np.float32)
NO_TIES = np.array([-2.6, -1.4, 0.4, 1.6, 2.4, 300.0], np.float32)
ONE, TWO = np.float32(1), np.uint8(2)


@pytest.fixture(scope="module")
def backend() -> Torch:
    try:
        return compiled()
    except RuntimeError as error:
        pytest.skip(f"TorchInductor needs a C++ compiler: {error}")


@pytest.mark.slow
def test_a_compiled_function_rounds_and_serves_every_size_of_a_rank(backend: Torch) -> None:
    run = backend.compile(NODE)
    assert run(NO_TIES, ONE, TWO)[0].tolist() == [0, 1, 2, 4, 4, 255]
    assert run(np.repeat(NO_TIES, 50), ONE, TWO)[0].tolist() == np.repeat([0, 1, 2, 4, 4, 255], 50).tolist()
    assert len(backend.compiler.functions) == 1  # type: ignore[union-attr]
    assert run(NO_TIES.reshape(2, 3), ONE, TWO)[0].tolist() == [[0, 1, 2], [4, 4, 255]]
    assert run(NO_TIES[:0], ONE, TWO)[0].shape == (0,)
    assert len(backend.compiler.functions) == 2  # type: ignore[union-attr]
    assert "torch.compile(fullgraph=True, dynamic=True), TorchInductor: 2 functions" in backend.attest()["compiled"]


def test_another_type_is_another_function(backend: Torch) -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="int8")
    assert backend.compile(node)(NO_TIES, ONE, np.int8(2))[0].tolist() == [-1, 1, 2, 4, 4, 127]


def test_the_tie_rule_of_compiled_code_is_that_of_the_vectors(backend: Torch) -> None:
    """TorchInductor adds the zero point and rounds in one step: with AVX-512 ties go to even, with AVX2 away from 0."""
    found = backend.compile(NODE)(TIES, ONE, TWO)[0].tolist()
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    if "avx2" not in flags:
        pytest.skip("neither AVX2 nor AVX-512")
    assert found == ([0, 0, 2, 4, 4, 255] if "avx512f" in flags else [0, 1, 3, 4, 5, 255])


def test_what_does_not_compile_is_refused_in_torchs_words(backend: Torch) -> None:
    node = make_node("tensorflow.FakeQuantWithMinMaxVars")
    run = backend.compile(node)
    with pytest.raises(Unsupported, match=r"fake tensors; unsupported operator: aten\._?fake_quantize_per_tensor"):
        run(TIES, np.float32(-128), np.float32(127))


def test_the_script_compiles_the_same_call(backend: Torch, tmp_path: Path) -> None:
    inputs = (NO_TIES, ONE, TWO)
    lines = backend.reproducer(NODE, inputs)
    assert "def called(tensor_0, tensor_1, tensor_2):" in lines and "torch.compile(called, " in lines
    (tmp_path / "lines.py").write_text(lines, encoding="utf-8")
    named = dict(zip((tensor.name for tensor in NODE.inputs), inputs, strict=True)) | {"np": np, "torch": torch}
    found = runpy.run_path(str(tmp_path / "lines.py"), named)
    assert found["outputs"][0].tolist() == [0, 1, 2, 4, 4, 255]


@pytest.mark.parametrize(("make", "engine"), [(fbgemm, "fbgemm"), (onednn, "onednn"), (qnnpack, "qnnpack")])
def test_a_quantized_engine_is_attested(make: Callable[[], Torch], engine: str) -> None:
    if engine not in torch.backends.quantized.supported_engines:
        pytest.skip(f"this build has no {engine}")
    before = torch.backends.quantized.engine
    try:
        backend = make()
        assert backend.compile(NODE)(TIES, ONE, TWO)[0].tolist() == [0, 0, 2, 4, 4, 255]
        assert backend.attest()["quantized engine"] == engine
        assert backend.name == f"torch-{engine}"
    finally:
        torch.backends.quantized.engine = before
