"""TOSA's reference model on tosa.RESCALE, where it is installed beside Tiebreak."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.registry import is_beside, load_backend
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.samples.tosa_rescale import FILES
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES, WORKING

OPERATOR, NAME = "tosa.RESCALE", "tosa-reference-model"
HALF = np.array([1 << 30], np.int32), np.array([31], np.int8)


def loaded() -> Any:
    if not is_beside(NAME):
        pytest.skip(f"{NAME} is not installed beside Tiebreak")
    return load_backend(NAME)


def node_of(source: str = "int8", target: str = "int8", mode: str = "SINGLE_ROUND") -> Node:
    attributes = {"scale32": True, "rounding_mode": mode, "per_channel": False}
    return make_node(OPERATOR, real=source, quantized=target, attributes=attributes)


def answer(node: Node, values: list[int], points: tuple[int, int] = (0, 0)) -> list[int]:
    """What half of the values becomes."""
    arrays = [np.array(given).astype(kind.dtype) for given, kind in zip(
        (values, [1 << 30], [31], points[:1], points[1:]), node.inputs, strict=True)]  # fmt: skip
    (found,) = loaded().compile(node)(*arrays)
    assert found.dtype == node.outputs[0].dtype
    return found.tolist()  # type: ignore[no-any-return]


def test_ties_go_upward_and_if_inexact_to_even() -> None:
    assert answer(node_of(), [5, 3, 1, -1, -3]) == [3, 2, 1, 0, -1]
    assert answer(node_of(mode="INEXACT_ROUND"), [5, 3, 1, -1, -3]) == [2, 2, 0, 0, -2]


def test_unsigned_tensors_keep_their_sign_and_end_at_zero() -> None:
    assert answer(node_of("uint8", "int16"), [255, 128, 0], (1, 0)) == [127, 64, 0]
    assert answer(node_of("int8", "uint8"), [-2, 0, 127], (0, 200)) == [199, 200, 255]
    assert answer(node_of("int8", "uint8"), [-2, 0, 127]) == [0, 0, 64]


def test_an_error_is_refused_in_its_own_words_without_a_debugger() -> None:
    path = os.environ["PATH"]
    with pytest.raises(Unsupported, match="TOSA_ERROR: OpRescale: Input TOSA_REF_TYPE not INT8/UINT8/UINT16"):
        answer(node_of("int16"), [1], (1, 0))
    assert os.environ["PATH"] == path


def wide(values: list[int], shift: int, scale32: bool = False) -> tuple[Node, tuple[Any, ...]]:
    attributes = {"scale32": scale32, "rounding_mode": "SINGLE_ROUND", "per_channel": False}
    node = make_node(OPERATOR, real="int48", quantized="int32", attributes=attributes)
    given = values, [1 << 14], [shift], [0], [0]
    return node, tuple(np.array(one).astype(kind.dtype) for one, kind in zip(given, node.inputs, strict=True))


def test_48_bits_go_to_the_executable() -> None:
    node, inputs = wide([3 << 31, (1 << 47) - 1, -(1 << 47), -(3 << 31)], 46)
    (found,) = loaded().compile(node)(*inputs)
    assert found.dtype == np.int32 and found.tolist() == [2, 1 << 15, -(1 << 15), -1]
    node, inputs = wide([1 << 46], 10)
    with pytest.raises(Unsupported, match=r"UNPREDICTABLE: OpRescale failure: apply_scale_16\(\) error: scaled"):
        loaded().compile(node)(*inputs)


def test_its_script_of_48_bits_makes_the_same_call() -> None:
    node, inputs = wide([3 << 31, (1 << 47) - 1], 46)
    named = {kind.name: array for kind, array in zip(node.inputs, inputs, strict=True)}
    lines = [f"{name} = np.array({a.tolist()}, '{a.dtype}')" for name, a in named.items()]
    script = "\n".join(["import numpy as np", *lines, loaded().reproducer(node, inputs), "print(outputs[0].tolist())"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str([2, 1 << 15])


KILLED = """
import os, signal
from test_rescale_in_libraries import answer, node_of

try:
    answer(node_of("int16"), [1], (1, 0))
finally:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_no_file_of_messages(tmp_path: Path) -> None:
    loaded()
    surroundings = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", KILLED], env=surroundings, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("types", FILES, ids=">".join)
def test_it_conforms_to_every_vector(types: tuple[str, str]) -> None:
    """The executable gives no output of an unpredictable graph, the binding does."""
    backend, ran, between, refused = loaded(), 0, 0, list[tuple[str, tuple[str, ...]]]()
    for case in indexed_cases(VECTORS / file_name(OPERATOR, *types)):
        try:
            outputs = backend.compile(case.node)(*case.inputs)
        except Unsupported as refusal:
            refused.append((str(refusal), case.flags))
            continue
        judgement = judge_outputs(outputs, truths_of(case))
        assert judgement.count(DEVIATES) == 0, case.id
        ran, between = ran + 1, between + judgement.count(WORKING)
    assert ran > 90 and between > 20
    assert bool(refused) == ("int48" in types)
    assert all("UNPREDICTABLE" in message and "Unpredictable" in flags for message, flags in refused)


def test_its_script_makes_the_same_call(tmp_path: Path) -> None:
    node, x = node_of("uint8", "int8"), np.array([7, 200, 255], np.uint8)
    inputs = (x, *HALF, np.array([3], np.uint8), np.array([-5], np.int8))
    named = {kind.name: array for kind, array in zip(node.inputs, inputs, strict=True)}
    lines = [f"{name} = np.array({a.tolist()}, '{a.dtype}')" for name, a in named.items()]
    body = loaded().reproducer(node, inputs)
    script = tmp_path / "script.py"
    script.write_text("\n".join(["import numpy as np", *lines, body, "print(library, outputs[0].tolist())"]))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    (found,) = loaded().compile(node)(*inputs)
    assert done.stdout.split(maxsplit=2)[2].strip() == str(found.tolist())
