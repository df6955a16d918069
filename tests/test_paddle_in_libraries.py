"""PaddlePaddle itself, where it is installed beside Tiebreak: its layer LinearQuanter and its operator in programs."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.registry import is_beside, load_backend
from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators.paddle_quantize_linear_variants import (
    LIMITED_IF_AWAY,
    MISTAKES,
    OF_QMAX,
    WITHIN_ENDS,
    by_flushed_inverse,
    by_kernel_inverse,
    quotient,
)
from tiebreak.conformance.variants.mutant import at_once
from tiebreak.golden.builder import file_name
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS
from tiebreak.golden.verdicts import DEVIATES

OPERATOR = "paddle.QuantizeLinear"
NAMES = ("paddle", "paddle-program")
HALF_ADDED = "half-added-to-magnitude:with round_type 1"
pytestmark = pytest.mark.filterwarnings("ignore:No ccache found")


def loaded(name: str) -> Any:
    if not is_beside("paddle"):
        pytest.skip("paddle is not installed beside Tiebreak")
    return load_backend(name)


def node_of(**attributes: int) -> Node:
    return make_node(OPERATOR, attributes={"quant_axis": -1, **attributes})


def answer(name: str, x: Any, scale: list[float], zero_point: float = 0.0, **attributes: int) -> Any:
    given = (x, scale, [zero_point] * len(scale))
    arrays = [np.array(values, np.float32) for values in given]
    (found,) = loaded(name).compile(node_of(**attributes))(*arrays)
    assert found.dtype == np.float32 and found.shape == arrays[0].shape
    return found.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_ties_go_to_even_and_results_are_clipped_after_rounding(name: str) -> None:
    assert answer(name, [0.5, 1.5, 2.5, -2.5, 200, -128.25, -200], [127]) == [0, 2, 2, -2, 127, -128, -128]


def test_round_type_1_is_for_a_program_and_clips_first() -> None:
    x = [0.5, 1.5, 2.5, -2.5, 200, -128.25]
    assert answer("paddle-program", x, [127], round_type=1) == [1, 2, 3, -3, 127, -127]
    with pytest.raises(Unsupported, match="LinearQuanter has no round_type"):
        answer("paddle", x, [127], round_type=1)


def test_range_is_qmax() -> None:
    """So a program with a bit_length of 4 has a range of 127, unless it says qmax, too."""
    assert answer("paddle-program", [0.5], [1], bit_length=4) == [64]
    for name in NAMES:
        assert answer(name, [0.5], [1], bit_length=4, qmin=-8, qmax=7) == [4]
    with pytest.raises(Unsupported, match="sets qmin to -8 and qmax to 7 by bit_length"):
        answer("paddle", [0.5], [1], bit_length=4)


@pytest.mark.parametrize("name", NAMES)
def test_range_is_multiplied_by_the_rounded_inverse(name: str) -> None:
    assert answer(name, [80.3984375, -4.8046875], [81.359375]) == [125, -7]  # 125.5 and -7.5


@pytest.mark.parametrize("name", NAMES)
def test_small_and_large_scales(name: str) -> None:
    """1e-6 is added to a scale of at most 1e-30. Eager mode flushes a subnormal inverse to zero."""
    assert answer(name, [2.0**-101], [2.0**-100]) == [0]
    assert answer(name, [2.0**126], [2.0**127]) == ([64] if name == "paddle-program" else [0])
    assert answer(name, [2.0**125], [2.0**126]) == [64]


@pytest.mark.parametrize("name", NAMES)
def test_zero_points_are_ignored_and_nan_stays(name: str) -> None:
    assert answer(name, [0.5, 5.0], [127], 3.0) == [0, 5]
    (found,) = answer(name, [math.nan], [127])
    assert math.isnan(found)


@pytest.mark.parametrize("name", NAMES)
def test_channels_and_ranks(name: str) -> None:
    x = [[1.0, 2.0], [3.0, 4.0]]
    assert answer(name, x, [127, 254], quant_axis=0) == [[1, 2], [2, 2]]
    assert answer(name, x, [127, 254], quant_axis=1) == [[1, 1], [3, 2]]
    assert answer(name, 3.0, [127]) == 3
    assert answer(name, [], [127]) == []


@pytest.mark.parametrize("name", NAMES)
def test_it_refuses_another_axis_in_its_own_words(name: str) -> None:
    node = replace(make_node(OPERATOR), attributes={"quant_axis": 2})
    run = loaded(name).compile(node)
    with pytest.raises(Unsupported, match="'quant_axis' should be 0 or 1, but the received is 2"):
        run(*(np.ones(shape, np.float32) for shape in ((2, 2, 2), 2, 2)))


def kernel(name: str, node: Node, *inputs: Array) -> tuple[Array, ...]:
    """What the CPU kernel computes: the inverse of the scale, qmax for range and ends, X clipped if ties go away."""
    inverse = by_kernel_inverse if name == "paddle-program" else by_flushed_inverse
    own = at_once(quotient(inverse), OF_QMAX, LIMITED_IF_AWAY)
    return replace(own, reading=WITHIN_ENDS)(node, *inputs)


@pytest.mark.parametrize(("name", "fewest"), [("paddle", 60), ("paddle-program", 110)])
def test_one_arithmetic_gives_all_that_it_deviates(name: str, fewest: int) -> None:
    backend, ran = loaded(name), 0
    for case in indexed_cases(VECTORS / file_name(OPERATOR, "float32", "float32")):
        if case.inputs[1].size == 0 or case.inputs[0].size == 0:
            continue  # a channel without elements ends the process
        try:
            outputs = backend.compile(case.node)(*case.inputs)
        except Unsupported:
            continue
        ran += 1
        truths = truths_of(case)
        wrong = judge_outputs(outputs, truths).grades == DEVIATES
        same = kernel(name, case.node, *case.inputs)[0].reshape(-1)[wrong]
        assert outputs[0].reshape(-1)[wrong].tolist() == same.tolist(), case.id
    assert ran > fewest


@pytest.mark.parametrize("name", NAMES)
def test_its_script_gives_the_same_numbers(name: str, tmp_path: Path) -> None:
    backend, node = loaded(name), node_of(bit_length=4, qmin=-8, qmax=7)
    x, scale, zero = (np.array(values, np.float32) for values in ([0.1, 0.4, -0.9], [1], [0]))
    (found,) = backend.compile(node)(x, scale, zero)
    arrays = {"X": x, "Scale": scale, "ZeroPoint": zero}
    head = "".join(f"{key} = np.array({array.tolist()!r}, np.float32)\n" for key, array in arrays.items())
    text = f"import numpy as np\n\n{head}{backend.reproducer(node, ())}print(outputs[0].tolist(), library)\n"
    (tmp_path / "script.py").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"{found.tolist()} paddle {backend.version}"


@pytest.mark.parametrize("name", NAMES)
def test_it_tells_what_ran(name: str) -> None:
    facts = loaded(name).attest()
    assert facts["device"] == "cpu" and facts["commit"] and all(isinstance(text, str) for text in facts.values())


def through_openvino(x: Any, scale: list[float], zero_point: float = 0.0, **attributes: int) -> list[float]:
    """What OpenVINO's PaddlePaddle front end makes of it."""
    pytest.importorskip("openvino")
    node = node_of(**attributes)
    arrays = [np.array(values, np.float32) for values in (x, scale, [zero_point] * len(scale))]
    (found,) = load_backend("openvino-paddle").compile(node)(*arrays)
    assert found.dtype == np.float32 and found.shape == arrays[0].shape
    return found.tolist()  # type: ignore[no-any-return]


def test_openvino_has_both_ties_and_clips_to_the_type() -> None:
    x = [0.5, 1.5, 2.5, -2.5, 200, -200]
    assert through_openvino(x, [127]) == [0, 2, 2, -2, 127, -128]
    assert through_openvino(x, [127], round_type=1) == [1, 2, 3, -3, 127, -128]


def test_openvino_reads_bit_length_and_divides_by_a_step() -> None:
    """The step is the scale times the rounded reciprocal of range: 3.5 becomes less."""
    assert through_openvino([0.5, -0.75, 1], [1], bit_length=4) == [3, -5, 7]
    assert through_openvino([80.3984375], [81.359375]) == [125]


def test_openvino_subtracts_a_zero_point_from_x() -> None:
    assert through_openvino([0.5, 5.0], [127], 3.0) == [-2, 2]


def test_one_arithmetic_gives_all_that_openvino_deviates() -> None:
    pytest.importorskip("openvino")
    backend, ran = load_backend("openvino-paddle"), 0
    own = {cause.id: run for cause, run in MISTAKES}[f"step-by-reciprocals + ends-of-bits + {HALF_ADDED}"]
    for case in indexed_cases(VECTORS / file_name(OPERATOR, "float32", "float32")):
        if case.node.value("quant_axis") >= 0 or case.node.value("bit_length") == 1 or not case.inputs[0].ndim:
            continue  # it refuses channels and a range of 0, and gives a scalar another shape
        outputs = backend.compile(case.node)(*case.inputs)
        ran += 1
        wrong = judge_outputs(outputs, truths_of(case)).grades == DEVIATES
        same = own(case.node, *case.inputs)[0].reshape(-1)[wrong]
        assert outputs[0].reshape(-1)[wrong].tolist() == same.tolist(), case.id
    assert ran > 110


def test_openvino_refuses_channels_in_its_own_words() -> None:
    with pytest.raises(Unsupported, match="quant_axis is NOT in the range of"):
        through_openvino([[1.0, 2.0], [3.0, 4.0]], [127, 254], quant_axis=0)


def test_openvino_s_script_gives_the_same_numbers(tmp_path: Path) -> None:
    found = through_openvino([0.1, 0.4, -0.9], [1], bit_length=4)
    x, scale, zero = (np.array(values, np.float32) for values in ([0.1, 0.4, -0.9], [1], [0]))
    lines = load_backend("openvino-paddle").reproducer(node_of(bit_length=4), (x, scale, zero))
    head = f"import numpy as np\n\nX = np.array({x.tolist()!r}, np.float32)\nScale = np.array([1], np.float32)\n"
    text = f"{head}ZeroPoint = np.array([0], np.float32)\n{lines}print(outputs[0].tolist())\n"
    (tmp_path / "script.py").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(found)
