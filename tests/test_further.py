"""A single case gets the cause that many get: the backend is asked further cases, which are evidence only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.running.further import MOST, alike, further_cases
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, with_constants

BACKENDS = """
import numpy as np

calls = []


class Box:
    version, operators = "1", {"onnx.QuantizeLinear"}

    def __init__(self, name, whole):
        self.name, self.whole = name, whole

    def compile(self, node):
        def run(x, scale, zero_point):
            return (np.clip(self.whole(x, scale) + zero_point.astype(np.int64), 0, 255).astype(np.uint8),)

        return run


def magnitude(x, scale):
    quotient = (x / scale).astype(np.float64)
    return np.copysign(np.floor(np.abs(quotient) + 0.5), quotient)


away = Box("away", magnitude)
up = Box("up", lambda x, scale: np.floor((x / scale).astype(np.float64) + 0.5))
one_more = Box("one-more", lambda x, scale: np.rint(x / scale) + 1)
other = Box("other", lambda x, scale: np.rint(40 * np.sin(x / scale)) + 60)
alone = Box("alone", lambda x, scale: magnitude(x, scale) if x.size == 1 else np.rint(x / scale))
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("boxes") / "boxes.py"
    path.write_text(BACKENDS, encoding="utf-8")
    return path


def causes(file: Path, name: str, x: str, folder: Path) -> list[str]:
    """The ids of the causes of a typed case, with a scale of 1 and a zero point of 3."""
    given = ["--input", f"x={x}", "--input", "y_scale=1", "--input", "y_zero_point=3"]
    node = ["--operator", "onnx.QuantizeLinear", "--type", "uint8"]
    result = CliRunner().invoke(main, ["run", "-b", f"{file}:{name}", *node, *given, "-o", str(folder)])
    assert result.exit_code == 1, result.output
    assert len(pd.read_parquet(folder / "results.parquet")) == 1
    return list(pd.read_parquet(folder / "discrepancies.parquet")["cause_id"].unique())


@pytest.mark.few(1)
@pytest.mark.parametrize("x", ["2.5", "[[0.5, 2.5], [4.5, 6.25]]"])
def test_modes_that_one_tie_cannot_tell_apart_are_told_apart(file: Path, x: str, tmp_path: Path) -> None:
    assert causes(file, "away", x, tmp_path / "away") == ["ties:NEAREST_TOWARD_INFINITY"]
    assert causes(file, "up", x, tmp_path / "up") == ["ties:NEAREST_UPWARD"]


@pytest.mark.slow
def test_what_no_known_mistake_does_stays_unexplained(file: Path, tmp_path: Path) -> None:
    assert causes(file, "other", "2.25", tmp_path / "run") == ["unexplained"]


@pytest.mark.slow
def test_a_constant_is_told_from_a_mode(file: Path, tmp_path: Path) -> None:
    assert causes(file, "one_more", "2.25", tmp_path / "run") == ["zero-point-moved:1"]


def test_one_element_alone_is_asked_alone(file: Path, tmp_path: Path) -> None:
    assert causes(file, "alone", "2.5", tmp_path / "run") == ["ties:NEAREST_TOWARD_INFINITY"]


def test_like_cases_keep_shapes_and_constants_of_the_case() -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="int8", attributes={"axis": 0})
    scale, zero_point = np.array([0.5, 2.0, 1.0], np.float32), np.array([1, 2, 3], np.int8)
    case = Case("mine", with_constants(node, {"y_scale": scale}), (np.zeros((3, 2), np.float32), scale, zero_point))
    found = list(further_cases(case, np.ones(6, np.int64), ExplanationErrors()))
    own = [one for one in found if one.id.startswith("asked/mine/")]
    assert 0 < len(own) <= MOST and MOST <= len(found) <= 2 * MOST
    for one in own:
        assert [array.shape for array in one.inputs] == [(3, 2), (3,), (3,)]
        (constant,) = one.node.baked
        assert constant.name == "y_scale"
        np.testing.assert_array_equal(constant.array(), one.inputs[1])
    assert len({one.inputs[0].tobytes() for one in own}) > len(own) // 2


def test_no_vectors_no_like_cases() -> None:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="int8")
    inputs = np.zeros(2, np.float32), np.ones((), np.float32), np.zeros((), np.int8)
    assert list(alike(Case("mine", node, inputs), [], [])) == []
