"""com.microsoft.MatMulNBits: weights by hand, which sums and accuracy levels are judged, ONNX Runtime's scripts."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.onnxruntime import OnnxRuntime
from tiebreak.golden import kernel, oracle
from tiebreak.golden.elements import FLOAT_TYPES, decode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators.microsoft_matmul_nbits import ID
from tiebreak.golden.packed_weights import exact_sum, packed, unpacked
from tiebreak.golden.problem import UNDEFINED, Array
from tiebreak.golden.problems import problems_of

SINGLE = FLOAT_TYPES["float32"]


def node_of(inner: int, columns: int = 1, points: str = "uint8", **attributes: int) -> Node:
    said = {"K": inner, "N": columns, "block_size": 16, **attributes}
    return make_node(ID, operands=[points or "uint8"], zero_point=bool(points), attributes=said)


def weights(codes: Any, bits: int = 4, size: int = 16) -> Array:
    """B from the integers of each column."""
    rows = np.asarray(codes)
    blocks = -(-rows.shape[1] // size)
    filled = np.zeros((len(rows), blocks * size), np.int64)
    filled[:, : rows.shape[1]] = rows
    return packed(filled, bits).reshape(len(rows), blocks, -1)


def solved(node: Node, *inputs: Array) -> list[float | None]:
    """The one answer of both truths, in both forms; None where it is open."""
    (problem,) = problems_of(Case("a", node, inputs))
    found = []
    for working in (False, True):
        for truth in (oracle, kernel):
            codes, states = truth.solve(problem, working=working)
            values = [float(decode(int(code), SINGLE)) for code in codes]
            found.append([None if s == UNDEFINED else v for v, s in zip(values, states, strict=True)])
    assert all(values == found[0] for values in found), found
    return found[0]


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_the_first_number_lies_in_the_lowest_bits(bits: int) -> None:
    codes = np.arange(9) % (1 << bits)
    assert unpacked(packed(codes, bits), bits, 9).tolist() == codes.tolist()
    assert int(packed(np.array([1, 0, 0, 0]), bits)[0]) == 1


def test_each_block_has_its_scale_and_packed_zero_point() -> None:
    b = weights([[9] * 16 + [3] * 4])
    scales, points = np.array([[0.5, 2]], np.float32), np.array([[0x17]], np.uint8)  # 7, and then 1
    assert solved(node_of(20), np.eye(20, dtype=np.float32)[[0, 15, 16]], b, scales, points) == [1, 1, 4]


def test_zero_points_may_be_floats_or_left_off() -> None:
    a, b, scales = np.ones((1, 1), np.float32), weights([[9]]), np.array([[4]], np.float32)
    assert solved(node_of(1, points="float32"), a, b, scales, np.array([[8.75]], np.float32)) == [1]
    assert solved(node_of(1, points=""), a, b, scales) == [4]
    assert solved(node_of(1, points="", bits=2), a, weights([[3]], 2), scales) == [4]


def test_a_sum_is_judged_where_every_order_has_it() -> None:
    a, b = np.array([[1, 2, 3]], np.float32), weights([[9, 8, 10]])
    assert solved(node_of(3, points=""), a, b, np.array([[0.5]], np.float32)) == [3.5]
    assert solved(node_of(3, points=""), a, b, np.array([[0.1]], np.float32)) == [None]
    one, far = Fraction(1), Fraction(1, 1 << 24)
    assert exact_sum([(one, one), (one, 2 * far)], SINGLE)
    assert not exact_sum([(one, one), (one, far)], SINGLE)


@pytest.mark.parametrize(("level", "number", "judged"), [
    (1, 1 + 2.0**-20, True), (2, 0.5, True), (2, 1 + 2.0**-20, False), (3, 1.0, True), (3, 1 + 2.0**-9, False),
    (4, 1.0, False), (4, 0.0, True),
])  # fmt: skip
def test_what_a_level_lets_become_another_number_is_open(level: int, number: float, judged: bool) -> None:
    node = node_of(1, points="", accuracy_level=level)
    found = solved(node, np.array([[number]], np.float32), weights([[9]]), np.ones((1, 1), np.float32))
    assert found == [number if judged else None]


def test_a_weight_that_overflows_beside_a_zero_is_open() -> None:
    most = np.finfo(np.float32).max
    b = weights([[15] * 16 + [9]])
    a = np.eye(17, dtype=np.float32)[[16]]
    assert solved(node_of(17, points=""), a, b, np.array([[most, 1]], np.float32)) == [None]


@pytest.mark.parametrize(("shapes", "words"), [
    (((2, 3), (1, 1, 8), (1, 1)), "A of shape"), (((2, 1), (1, 1, 4), (1, 1)), "B has shape"),
    (((2, 1), (1, 1, 8), (1,)), "scales has shape"), (((1,), (1, 1, 8), (1, 1)), "no matrix"),
])  # fmt: skip
def test_shapes_that_do_not_fit_are_refused(shapes: Any, words: str) -> None:
    a, b, scales = shapes
    inputs = np.ones(a, np.float32), np.ones(b, np.uint8), np.ones(scales, np.float32)
    with pytest.raises(InvalidInput, match=words):
        problems_of(Case("a", node_of(1, points=""), inputs))


def test_onnxruntimes_script_gives_the_same(tmp_path: Path) -> None:
    node, backend = node_of(2), OnnxRuntime()
    a, b, scales = np.eye(2, dtype=np.float32), weights([[9, 3]]), np.array([[0.5]], np.float32)
    points = np.array([[7]], np.uint8)
    wanted = backend.compile(node)(a, b, scales, points)[0].tolist()
    assert wanted == [[1], [-2]]
    head = "import numpy as np\n\n" + "".join(
        f"{name} = np.array({array.tolist()!r}, np.{array.dtype})\n"
        for name, array in zip(("A", "B", "scales", "zero_points"), (a, b, scales, points), strict=True)
    )
    script = head + backend.reproducer(node, (a, b, scales, points)) + "\nprint(outputs[0].tolist())\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(wanted)
