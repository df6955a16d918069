"""The numbers of a root cause's picture and of its examples are the oracle's, and lie around the witness."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from test_html_report import FACTS, SAMPLES

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.backends import run_cases
from tiebreak.conformance.running.illustrations import (
    boundary,
    exact_results,
    moved,
    neighbours_of_result,
    number,
    ordinal,
)
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.reports.records import Run, as_run
from tiebreak.reports.run_info import check_info

BACKENDS = """
import numpy as np


class Rounds:
    version, operators = "1", {"onnx.QuantizeLinear", "openvino.FakeQuantize"}

    def __init__(self, name, run):
        self.name, self.run = name, run

    def compile(self, node):
        return lambda *inputs: self.run(node, *inputs)


def up(node, x, low, high, out_low, out_high):
    levels = np.float32(node.attributes["levels"] - 1)
    with np.errstate(all="ignore"):
        inside = np.ceil((x - low) / (high - low) * levels) / levels * (out_high - out_low) + out_low
        return (np.where(x <= low, out_low, np.where(x > high, out_high, inside)).astype(x.dtype),)


fake = Rounds("fake", up)
"""


@pytest.fixture(scope="module")
def quantized() -> Run:
    cases = plan(Selection(operators=("onnx.QuantizeLinear",), input_type="float32", level="quick"))[::3]
    return as_run(run_cases([f"{SAMPLES}:wrong"], cases, time_limit=30, facts=dict(FACTS)))


def test_examples_have_every_mode_of_the_number_that_is_rounded(quantized: Run) -> None:
    rows = quantized.discrepancies.set_index("id")
    found = [one for row in quantized.info["clusters"] for one in row["examples"]]
    assert found
    for one in found:
        row = rows.loc[one["id"]]
        info = np.iinfo(row["output_type"])
        for mode, text in zip(ROUND_MODES, one["modes"], strict=True):
            wanted = ROUND_MODES[mode](Fraction(one["rounded"])) + row["zero_point"]
            assert int(text) == max(info.min, min(info.max, wanted))
    assert quantized.info["clusters"][0]["examples"][0]["id"] == quantized.info["clusters"][0]["witness"]["id"]


def test_a_picture_shows_the_decision_boundary_next_to_the_witness(quantized: Run) -> None:
    row = quantized.info["clusters"][0]
    picture = row["picture"]
    assert (picture["kind"], picture["operand"], picture["apart"]) == ("steps", "x", 1)
    at = [point["x"][0] for point in picture["points"]].index(picture["x"])
    witness = picture["points"][at]
    assert (witness["exact"], witness["got"]) == (row["witness"]["expected"], row["witness"]["got"])
    results = [point["exact"] for point in picture["points"]]
    assert len(set(results)) == 2, "both sides of one boundary"
    values = [float(point["x"][0]) for point in picture["points"]]
    assert values == sorted(values)
    bits = [ordinal(int(point["x"][1], 0), FLOAT_TYPES["float32"]) for point in picture["points"]]
    assert bits == list(range(bits[0], bits[0] + len(bits))), "each float between the ends"


@pytest.mark.slow
def test_a_range_far_off_shows_several_steps(tmp_path: Any) -> None:
    file = tmp_path / "fake.py"
    file.write_text(BACKENDS, encoding="utf-8")
    cases = plan(Selection(operators=("openvino.FakeQuantize",), input_type="float32", level="quick"))[::3]
    run = as_run(run_cases([f"{file}:fake"], cases, time_limit=30, facts=dict(FACTS)))
    pictures = [row["picture"] for row in run.info["clusters"] if row.get("picture")]
    assert {"steps"} <= {picture["kind"] for picture in pictures}
    far = next(picture for picture in pictures if picture["kind"] == "steps")
    results = [float(point["exact"]) for point in far["points"]]
    assert results == sorted(results) and len(set(results)) >= 2
    assert any(point["got"] not in ("", point["exact"]) for point in far["points"])


@pytest.mark.parametrize(
    ("x", "direction", "first"), [(2.25, 1, 2.5000002), (2.25, -1, 1.4999999), (-0.25, -1, -0.50000006)]
)
def test_the_boundary_is_the_first_value_with_another_result(x: float, direction: int, first: float) -> None:
    node = make_node("onnx.QuantizeLinear", quantized="int8")
    inputs = (np.array([x], np.float32), np.array(1, np.float32), np.array(0, np.int8))
    (problem,) = problems_of(Case("c", node, inputs))
    kind = FLOAT_TYPES["float32"]
    found = boundary(int(np.float32(x).view(np.uint32)), kind, exact_results(problem), direction)
    assert found is not None and np.uint32(found).view(np.float32) == np.float32(first)


@pytest.mark.parametrize(("exact", "drawn"), [("0.1", True), ("0.10000005", True), ("-0.1", False)])
def test_floats_far_apart_are_not_drawn_one_by_one(exact: str, drawn: bool) -> None:
    """Where a sum cancels, exact and as written are billions of floats apart; the backend is next to one of them."""
    codes = [int(np.float32(value).view(np.uint32)) for value in (exact, "0.1", "0.10000001")]
    names = "expected_bits", "working_bits", "got_bits"
    found = neighbours_of_result(dict(zip(names, codes, strict=True)) | {"output": "y"}, FLOAT_TYPES["float32"])
    assert (found is not None) == drawn
    if found is not None:
        texts = [point["x"][0] for point in found["points"]]
        assert texts == sorted(texts, key=float) and {"0.1", "0.10000001"} <= set(texts)


def test_a_step_beyond_a_type_is_none() -> None:
    assert moved(127, INTEGER_TYPES["int8"], 1) is None and moved(-128, INTEGER_TYPES["int8"], 1) == -127
    largest = int(np.float32(np.finfo(np.float32).max).view(np.uint32))
    assert moved(largest, FLOAT_TYPES["float32"], 1) is None
    below_zero = moved(0, FLOAT_TYPES["float32"], -1)
    assert below_zero is not None and number(below_zero, FLOAT_TYPES["float32"]) == -Fraction(1, 2**149)


@pytest.mark.parametrize("broken", [{"examples": [{"id": 3}]}, {"picture": {"kind": "steps"}}, {"picture": 3}])
def test_a_damaged_picture_is_named(quantized: Run, broken: dict[str, Any]) -> None:
    info = json.loads(json.dumps(quantized.info))
    check_info(info)
    info["clusters"][0] |= broken
    with pytest.raises(ValueError, match=r"clusters\[0\]"):
        check_info(info)
