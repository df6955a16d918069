"""IREE on tosa.RESCALE, where it is installed beside Tiebreak."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.registry import is_beside, load_backend
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node, with_constants
from tiebreak.golden.problem import Array

HALF = [1 << 30], [31]


def loaded() -> Any:
    if not is_beside("iree"):
        pytest.skip("iree is not installed beside Tiebreak")
    return load_backend("iree")


def node_of(source: str, target: str, mode: str = "SINGLE_ROUND") -> Node:
    attributes = {"scale32": True, "rounding_mode": mode, "per_channel": False}
    return make_node("tosa.RESCALE", real=source, quantized=target, attributes=attributes)


def arrays(node: Node, values: list[int], shift: int = 31, points: tuple[int, int] = (0, 0)) -> tuple[Array, ...]:
    given = (values, [1 << 30], [shift], points[:1], points[1:])
    return tuple(np.array(one).astype(kind.dtype) for one, kind in zip(given, node.inputs, strict=True))


def test_it_rounds_once_and_twice() -> None:
    once, twice = node_of("int32", "int8"), node_of("int32", "int8", "DOUBLE_ROUND")
    inputs = arrays(once, [1, 2, -2, 1000], 32)
    assert loaded().compile(once)(*inputs)[0].tolist() == [0, 1, 0, 127]
    assert loaded().compile(twice)(*inputs)[0].tolist() == [1, 1, -1, 127]


def test_an_unsigned_zero_point_is_read_as_signed_unless_it_is_a_constant() -> None:
    node = node_of("uint8", "int8")
    inputs = arrays(node, [0, 127, 128, 255], points=(128, 0))
    assert loaded().compile(node)(*inputs)[0].tolist() == [64, 127, 127, 127]
    fixed = with_constants(node, {"input_zp": np.array([128], np.uint8)})
    assert loaded().compile(fixed)(*inputs)[0].tolist() == [-64, 0, 0, 64]


def test_what_it_refuses_is_said_in_its_own_words() -> None:
    node = node_of("int8", "int8", "INEXACT_ROUND")
    with pytest.raises(Unsupported, match="INEXACT_ROUND requires extension"):
        loaded().compile(node)(*arrays(node, [1]))


def test_48_bits_are_held_in_64() -> None:
    attributes = {"scale32": False, "rounding_mode": "SINGLE_ROUND", "per_channel": False}
    node = make_node("tosa.RESCALE", real="int48", quantized="int32", attributes=attributes)
    given = ([3 << 31, (1 << 47) - 1, -(1 << 47), -(3 << 31)], [1 << 14], [46], [0], [0])
    inputs = tuple(np.array(one).astype(kind.dtype) for one, kind in zip(given, node.inputs, strict=True))
    for compiled in (node, with_constants(node, {"input_zp": inputs[3]})):
        assert loaded().compile(compiled)(*inputs)[0].tolist() == [2, 1 << 15, -(1 << 15), -1]


def test_its_script_makes_the_same_call() -> None:
    node = node_of("uint8", "int8")
    inputs = arrays(node, [7, 200, 255], points=(3, -5))
    named = {kind.name: array for kind, array in zip(node.inputs, inputs, strict=True)}
    lines = [f"{name} = np.array({a.tolist()}, '{a.dtype}')" for name, a in named.items()]
    script = "\n".join(["import numpy as np", *lines, loaded().reproducer(node, inputs), "print(outputs[0].tolist())"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(loaded().compile(node)(*inputs)[0].tolist())
