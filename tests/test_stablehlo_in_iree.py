"""IREE on StableHLO's uniform_quantize and uniform_dequantize, where it is installed beside Tiebreak."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.registry import is_beside, load_backend
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

QUANTIZE, DEQUANTIZE = "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"


def loaded() -> Any:
    if not is_beside("iree"):
        pytest.skip("iree is not installed beside Tiebreak")
    return load_backend("iree")


def arrays(node: Node, *values: Any) -> tuple[Array, ...]:
    return tuple(np.array(one).astype(kind.dtype) for one, kind in zip(values, node.inputs, strict=True))


def answer(node: Node, *values: Any) -> list[Any]:
    found: list[Any] = loaded().compile(node)(*arrays(node, *values))[0].tolist()
    return found


def test_it_adds_the_zero_point_before_rounding() -> None:
    node = make_node(QUANTIZE, real="float32", quantized="int8")
    assert answer(node, [0.5, 1.5, -0.5, -1.5, 300], 1.0, 1) == [2, 2, 0, 0, 127]


def test_it_takes_scales_along_a_dimension_and_quantized_operands() -> None:
    node = make_node(QUANTIZE, real="float32", quantized="int8", attributes={"quantization_dimension": 1})
    assert answer(node, [[0, 1, 2], [3, 4, 5]], [0.5, 0.25, 1.0], [1, 2, 3]) == [[1, 6, 5], [7, 18, 8]]
    node = make_node(QUANTIZE, real="int8", quantized="int16")
    assert answer(node, [0, 1, 3, 127, -128], 1.0, -2, 0.5, 1) == [-2, -2, -1, 61, -66]


def test_unsigned_storage_is_read_and_written_as_signed() -> None:
    """Not what the document says: 200 is 200, and 255 less 128 is 127. Quantize does so in longer arrays alone.

    On a processor with AVX-512 longer arrays are right, too.
    """
    node = make_node(QUANTIZE, real="float32", quantized="uint8")
    assert answer(node, [100, 200, 255, 300], 1.0, 0) == [100, 200, 255, 255]
    assert answer(node, [200] * 9, 1.0, 0) in ([127] * 9, [200] * 9)
    node = make_node(DEQUANTIZE, real="float32", quantized="uint8")
    assert answer(node, [0, 127, 128, 255], 0.5, 128) == [-64.0, -0.5, -128.0, -64.5]


def test_what_it_refuses_is_said_in_its_own_words() -> None:
    node = make_node(QUANTIZE, real="float16", quantized="int8")
    with pytest.raises(Unsupported, match="Unsupported input element type"):
        answer(node, [1.0], 1.0, 0)


def test_its_script_makes_the_same_call() -> None:
    node = make_node(QUANTIZE, real="int8", quantized="int8")
    inputs = arrays(node, [0, 1, 100], 0.3, 3, 0.1, -5)
    backend = loaded()
    names = [tensor.name for tensor in node.inputs]
    given = "".join(f"{name} = np.array({a.tolist()!r}, '{a.dtype}')\n" for name, a in zip(names, inputs, strict=True))
    script = f"import numpy as np\n{given}{backend.reproducer(node, inputs)}\nprint(outputs[0].tolist())"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.strip() == str(backend.compile(node)(*inputs)[0].tolist())
