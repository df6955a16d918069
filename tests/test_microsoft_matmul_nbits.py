"""com.microsoft.MatMulNBits: weights by hand, which sums and accuracy levels are judged, ONNX Runtime's scripts."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.onnx_models import onnx_node, places_of
from tiebreak.adapters.onnxruntime import OnnxRuntime
from tiebreak.golden import kernel, oracle
from tiebreak.golden.elements import FLOAT_TYPES, decode
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators.microsoft_matmul_nbits import ID
from tiebreak.golden.packed_weights import exact_sum, packed, unpacked
from tiebreak.golden.problem import UNDEFINED, Array
from tiebreak.golden.problems import problems_of

SINGLE = FLOAT_TYPES["float32"]


def node_of(inner: int, columns: int = 1, points: str = "uint8", *, biased: bool = False, **attributes: int) -> Node:
    said = {"K": inner, "N": columns, "block_size": 16, **attributes}
    form = 0 if not biased else 1 if points else 2
    return make_node(ID, operands=[points or "uint8"], zero_point=bool(points) or biased, form=form, attributes=said)


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


def test_each_column_has_its_bias() -> None:
    """(9 - 7) * 0.5 * 4 and (3 - 7) * 0.5 * 4, and a row of zeros, plus 1/3 or 5."""
    third = float(np.float32(1 / 3))
    inputs = np.array([[4], [0]], np.float32), weights([[9], [3]]), np.array([[0.5], [0.5]], np.float32)
    bias = np.array([third, 5], np.float32)
    node = node_of(1, 2, biased=True)
    found = solved(node, *inputs, np.array([[7], [7]], np.uint8), bias)
    assert found == [float(np.float32(4 + third)), -3, third, 5]
    without = solved(node_of(1, 2, points="", biased=True), *inputs, bias)
    assert without == [float(np.float32(2 + third)), -5, third, 5]
    assert [tensor.name for tensor in node_of(1, points="", biased=True).inputs] == ["A", "B", "scales", "bias"]


@pytest.mark.parametrize(("number", "bias", "wanted"), [
    (4.0, 2.0**-30, 12.0),  # the product is exact: the sum is rounded once in any order
    (1 + 2.0**-23, 2.0**-20, None),  # three times this number has 25 bits: a fused step shows them
    (1 + 2.0**-23, 0.0, 3 + 2.0**-21),  # a zero shows nothing, so the product's own rounding counts
    (3e38, -3e38, None),  # the product overflows unless the step is fused
])  # fmt: skip
def test_a_bias_is_judged_where_a_fused_step_does_not_show(number: float, bias: float, wanted: float | None) -> None:
    a, b, scales = np.array([[number]], np.float32), weights([[11]]), np.ones((1, 1), np.float32)
    node = node_of(1, points="", biased=True)
    assert solved(node, a, b, scales, np.array([bias], np.float32)) == [wanted]


def test_a_sum_with_a_bias_is_judged_where_every_order_has_it() -> None:
    inputs = np.array([[1, 2]], np.float32), weights([[9, 9]]), np.ones((1, 1), np.float32)
    node = node_of(2, points="", biased=True)
    found = [solved(node, *inputs, np.array([bias], np.float32)) for bias in (0.5, 2.0**-24, np.nan)]
    assert found == [[3.5], [None], [None]]


@pytest.mark.parametrize("shape", [(2,), (1,), (1, 3), ()])
def test_a_bias_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    """ONNX Runtime refuses it, too: the model says the shape that the bias has."""
    node = node_of(1, 3, biased=True)
    inputs = np.ones((2, 1), np.float32), np.ones((3, 1, 8), np.uint8), np.ones((3, 1), np.float32)
    every = (*inputs, np.ones((3, 1), np.uint8), np.ones(shape, np.float32))
    with pytest.raises(InvalidInput, match="bias has shape"):
        problems_of(Case("a", node, every))
    with pytest.raises(Unsupported, match=r"bias shape must be \[N\]"):
        OnnxRuntime().compile(node)(*every)


def test_a_bias_without_zero_points_has_a_form_of_its_own() -> None:
    with pytest.raises(InvalidInput, match="is form 2"):
        make_node(ID, form=1, zero_point=False, attributes={"K": 1, "N": 1, "block_size": 16})


@pytest.mark.parametrize("points", ["uint8", "float32", ""])
def test_onnxruntime_adds_the_bias_of_each_column(points: str) -> None:
    node = node_of(1, 2, points=points, biased=True)
    inputs = [np.array([[4], [0]], np.float32), weights([[9], [3]]), np.array([[0.5], [0.5]], np.float32)]
    inputs += [np.full((2, 1), 7).astype(points)] if points else []
    found = OnnxRuntime().compile(node)(*inputs, np.array([0.75, 5], np.float32))[0].tolist()
    assert found == ([[4.75, -3], [0.75, 5]] if points else [[2.75, -5], [0.75, 5]])


def test_a_model_has_an_empty_name_for_each_input_that_is_left_off() -> None:
    places = [places_of(onnx_node(node_of(1, points=points, biased=True))) for points in ("uint8", "")]
    assert places == [("A", "B", "scales", "zero_points", "", "bias"), ("A", "B", "scales", "", "", "bias")]
    assert places_of(onnx_node(node_of(1, points=""))) == ("A", "B", "scales")


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
    node, backend = node_of(2, biased=True), OnnxRuntime()
    a, b, scales = np.eye(2, dtype=np.float32), weights([[9, 3]]), np.array([[0.5]], np.float32)
    points = np.array([[7]], np.uint8)
    bias = np.array([0.25], np.float32)
    wanted = backend.compile(node)(a, b, scales, points, bias)[0].tolist()
    assert wanted == [[1.25], [-1.75]]
    head = "import numpy as np\n\n" + "".join(
        f"{name} = np.array({array.tolist()!r}, np.{array.dtype})\n"
        for name, array in zip(("A", "B", "scales", "zero_points", "bias"), (a, b, scales, points, bias), strict=True)
    )
    script = head + backend.reproducer(node, (a, b, scales, points, bias)) + "\nprint(outputs[0].tolist())\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(wanted)
