"""tflite.Requantize in LiteRT and tflite-micro: one set of numbers, and what each kernel makes of it."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.registry import is_beside, load_backend
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

pytest.importorskip("ai_edge_litert")

OPERATOR = "tflite.Requantize"
X = [1, 2, 4, -1, -2, -4]
ONCE, TWICE, UPWARD = [0, 1, 1, 0, -1, -1], [1, 1, 2, -1, -1, -2], [1, 1, 2, 0, 0, -1]
DELEGATED, BUILT_IN, REFERENCE = "litert", "litert-no-xnnpack", "litert-reference"
ALL = (DELEGATED, BUILT_IN, REFERENCE, "tflite-micro")


@cache
def loaded(name: str) -> Any:
    if name == "tflite-micro" and not is_beside(name):
        pytest.skip(f"{name} is not installed beside Tiebreak")
    return load_backend(name)


def given(node: Node, x: list[int], scale: float, other: float, zeros: tuple[int, int] = (0, 0)) -> tuple[Array, ...]:
    values = (x, scale, zeros[0], other, zeros[1])
    return tuple(np.array(one, kind.dtype) for one, kind in zip(values, node.inputs, strict=True))


def answer(name: str, x: list[int], scale: float, other: float, kind: str = "int8", **attributes: str) -> list[int]:
    node = make_node(OPERATOR, real=kind, quantized=kind, attributes=attributes)
    (y,) = loaded(name).compile(node)(*given(node, x, scale, other))
    assert y.dtype == node.outputs[0].dtype and y.shape == (len(x),)
    return y.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "through", "results"),
    [
        (DELEGATED, "QUANTIZE", ONCE), (BUILT_IN, "QUANTIZE", TWICE), (REFERENCE, "QUANTIZE", TWICE),
        ("tflite-micro", "QUANTIZE", TWICE), (DELEGATED, "MUL", ONCE), (BUILT_IN, "MUL", TWICE),
        (DELEGATED, "ADD", ONCE), (BUILT_IN, "ADD", ONCE), (DELEGATED, "FULLY_CONNECTED", ONCE),
        ("tflite-micro", "FULLY_CONNECTED", TWICE),
    ],
)  # fmt: skip
def test_thirds_are_rounded_once_or_twice(name: str, through: str, results: list[int]) -> None:
    assert answer(name, X, 0.1, 0.3, through=through) == results


def test_vectors_of_16_and_the_rest_of_the_array_differ() -> None:
    """Where the array is shorter than a vector nothing is. The reference kernels do not care."""
    long, rest = [*X, *X, *X], 16
    found = answer(BUILT_IN, long, 0.1, 0.3)
    assert found[:rest] == (UPWARD * 3)[:rest] and found[rest:] == (TWICE * 3)[rest:]
    assert answer(REFERENCE, long, 0.1, 0.3) == TWICE * 3
    assert answer(DELEGATED, long, 0.1, 0.3) == ONCE * 3


def test_the_delegate_has_8_bits_behind_the_point() -> None:
    """5 / 170 becomes 8 / 256, so that 16 is halfway and goes up."""
    assert answer(DELEGATED, [16, 115], 0.05, 1.7) == [1, 4]
    assert answer(REFERENCE, [16, 115], 0.05, 1.7) == [0, 3]
    assert answer(DELEGATED, [16, 115], 0.05, 1.7, through="MUL") == [0, 3]


@pytest.mark.parametrize(
    ("name", "through", "results"),
    [
        (DELEGATED, "QUANTIZE", [1, 0, 2, -1]), (DELEGATED, "ADD", [1, 0, 2, -1]),
        (DELEGATED, "MUL", [0, 0, 2, -2]), (DELEGATED, "FULLY_CONNECTED", [0, 0, 2, -2]),
        (BUILT_IN, "QUANTIZE", [1, 0, 2, -1]), (BUILT_IN, "ADD", [1, -1, 2, -2]), (BUILT_IN, "MUL", [1, 0, 2, -1]),
    ],
)  # fmt: skip
def test_ties_by_operator(name: str, through: str, results: list[int]) -> None:
    assert answer(name, [1, -1, 3, -3], 0.02, 0.04, through=through) == results


@pytest.mark.parametrize("name", [REFERENCE, "tflite-micro"])
def test_a_shift_beyond_31_wraps_around(name: str) -> None:
    assert answer(name, [1, -1], 2.0**64, 1.0) == [1, -1]


@pytest.mark.parametrize("name", ALL)
def test_what_no_model_says_is_unsupported(name: str) -> None:
    backend = loaded(name)
    with pytest.raises(Unsupported, match="a build of the kernels has one, double by default"):
        backend.compile(make_node(OPERATOR, real="int8", quantized="int8", attributes={"rounding": "single"}))
    node = make_node(OPERATOR, real="int8", quantized="int8")
    x, scale, zero, *others = given(node, [1, 2], 1.0, 1.0)
    with pytest.raises(Unsupported, match=r"one scale and zero point, not shape \[2\]"):
        backend.compile(node)(x, np.ones(2, np.float32), zero, *others)
    with pytest.raises(Unsupported, match="from a scale and zero point to a scale and zero point"):
        backend.compile(node)(x, scale, zero)


def test_a_pair_of_types_that_a_library_lacks_is_refused_in_its_own_words() -> None:
    node = make_node(OPERATOR, real="int8", quantized="int32")
    with pytest.raises(Unsupported, match="kTfLiteUInt8"):
        loaded(REFERENCE).compile(node)


@pytest.mark.parametrize("through", ["QUANTIZE", "FULLY_CONNECTED"])
def test_the_reproducer_gives_what_the_backend_gave(through: str) -> None:
    backend = loaded(BUILT_IN)
    node = make_node(OPERATOR, real="int8", quantized="int8", attributes={"through": through})
    inputs = given(node, X, 0.1, 0.3)
    lines = ["import numpy as np", f"input = np.array({X}, np.int8)", backend.reproducer(node, inputs)]
    lines.append("print(outputs[0].tolist())")
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(backend.compile(node)(*inputs)[0].tolist())


def test_attest_says_which_kernels_run() -> None:
    backend: Any = load_backend(DELEGATED)
    backend.compile(make_node(OPERATOR, real="int8", quantized="int8"))
    backend.compile(make_node(OPERATOR, real="int16", quantized="int16"))
    told = backend.attest()
    assert "QUANTIZE: int8 to int8" in told["probes run by the delegate"]
    assert told["probes run by built-in kernels"] == "QUANTIZE: int16 to int16"
