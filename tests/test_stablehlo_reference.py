"""StableHLO's reference interpreter, where jaxlib is installed beside Tiebreak, and where its library is looked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tiebreak.adapters import registry
from tiebreak.adapters.environments.named import environments_folder
from tiebreak.adapters.registry import install_command, is_beside, library_of, load_backend, usual, with_release
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

NAME, QUANTIZE, DEQUANTIZE = "stablehlo-reference", "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"


def loaded() -> Any:
    if not is_beside(NAME):
        pytest.skip("jax is not installed beside Tiebreak")
    return load_backend(NAME)


def arrays(node: Node, *values: Any) -> tuple[Array, ...]:
    return tuple(np.array(one).astype(kind.dtype) for one, kind in zip(values, node.inputs, strict=True))


def answer(node: Node, *values: Any) -> Any:
    found = loaded().compile(node)(*arrays(node, *values))[0]
    assert found.dtype == node.outputs[0].dtype
    return found.astype(float).tolist()


def quantizer(kind: str = "int8", real: str = "float32", **attributes: int) -> Node:
    return make_node(QUANTIZE, real=real, quantized=kind, attributes=attributes)


def test_a_configuration_goes_where_its_library_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(registry, "is_beside", lambda name: False)
    assert library_of(NAME) == "jax" and install_command(NAME) == "tiebreak backends install jax"
    assert NAME not in usual() and with_release(NAME) == NAME
    (environments_folder() / "jax@0.10.2").mkdir(parents=True)
    assert NAME in usual() and with_release(NAME) == f"{NAME}@0.10.2"
    assert with_release("jax-cuda") == "jax-cuda@0.10.2" and with_release("iree") == "iree"


def test_it_adds_the_zero_point_before_rounding() -> None:
    assert answer(quantizer(), [-3, -1, 0, 1, 3, 5, 1000, -1000], 2, 3) == [2, 2, 3, 4, 4, 6, 127, -128]
    assert answer(quantizer(), [0.5, 1.5, -0.5, -1.5], 1, 1) == [2, 2, 0, 0]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (2, 3)])
def test_shapes_stay(shape: tuple[int, ...]) -> None:
    assert answer(quantizer(), np.full(shape, 5), 2, 3) == np.full(shape, 6.0).tolist()


def test_ends_and_operands_may_be_quantized_types() -> None:
    assert answer(quantizer(storage_min=-4, storage_max=6), [1000, -1000, 1], 2, 3) == [6, -4, 4]
    assert answer(quantizer("int16", "int8"), [0, 1, 3, 127, -128], 1.0, -2, 0.5, 1) == [-2, -2, -1, 61, -66]


def test_scales_may_go_along_the_last_dimension() -> None:
    found = answer(quantizer(quantization_dimension=1), [[0, 1, 2], [3, 4, 5]], [0.5, 0.25, 1.0], [1, 2, 3])
    assert found == [[1, 6, 5], [7, 18, 8]]


def test_integers_of_4_bits_come_and_go() -> None:
    assert answer(quantizer("int4"), [[-3, 1000], [1, -1000]], 2, 3) == [[2, 7], [4, -8]]
    assert answer(make_node(DEQUANTIZE, real="float32", quantized="int4"), [-8, 1, 7], 2, 1) == [-18, 0, 12]


def test_unsigned_storage_is_read_and_written_as_signed() -> None:
    """Not what the document says: 200 is 200, 15 is 15 and 128 is 128. The interpreter's lowering forgets the sign."""
    assert answer(quantizer("uint8"), [100, 200, -5], 1, 0) == [100, 127, 0]
    assert answer(quantizer("uint4"), [5, 15], 1, 0) == [5, 7]
    assert answer(make_node(DEQUANTIZE, real="float32", quantized="uint8"), [0, 127, 128], 0.5, 0) == [0, 63.5, -64]
    assert answer(make_node(DEQUANTIZE, real="float32", quantized="uint4"), [7, 8], 1, 0) == [7, -8]


REFUSED = (
    (quantizer(real="float16"), ([1.0], 1.0, 0), "Unsupported input element type"),
    (quantizer(real="bfloat16"), ([1.0], 1.0, 0), "Unsupported input element type"),
    (quantizer(quantization_dimension=0), ([[1], [1]], [1, 2], [0, 0]), "unsupported non prefix-padded dynamic rank"),
    (quantizer(), ([1.0], -1.0, 0), "out of expressed type range"),
    (make_node(DEQUANTIZE, real="float16", quantized="int8"), ([1], 1, 0), "failed to legalize"),
)


@pytest.mark.parametrize(("node", "values", "words"), REFUSED, ids=[words for _, _, words in REFUSED])
def test_what_it_refuses_is_said_in_its_own_words(node: Node, values: tuple[Any, ...], words: str) -> None:
    """Twice, as each case runs: a module that was kept would be half lowered, and end the process."""
    run = loaded().compile(node)
    for _ in range(2):
        with pytest.raises(Unsupported, match=words):
            run(*arrays(node, *values))


def test_another_operator_and_attribute_are_not_run() -> None:
    backend = loaded()
    with pytest.raises(Unsupported, match="is run for stablehlo"):
        backend.compile(make_node("onnx.QuantizeLinear", quantized="int8"))
    assert backend.attest()["StableHLO"].startswith("StableHLO 1.")


@pytest.mark.parametrize("kind", ["int8", "uint4"])
def test_its_script_makes_the_same_call(kind: str) -> None:
    node = quantizer(kind, "int8")
    inputs = arrays(node, [0, 1, 100], 0.3, 3, 0.1, -5)
    backend = loaded()
    names = [tensor.name for tensor in node.inputs]
    given = "".join(
        f"{name} = np.array({a.tolist()!r}).astype('{a.dtype}')\n" for name, a in zip(names, inputs, strict=True)
    )
    script = f"import ml_dtypes\nimport numpy as np\n{given}{backend.reproducer(node, inputs)}\nprint(outputs[0])"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.strip() == str(backend.compile(node)(*inputs)[0])
    assert ml_dtypes.__name__ in script
