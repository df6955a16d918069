"""docs/suites.md: the tests of other suites are read as they are, and the page says what was measured."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.append(str(ROOT / "benchmarks"))

import stablehlo_programs  # noqa: E402
import suite_tests  # noqa: E402
import suites_page  # noqa: E402

from tiebreak.conformance.power.arithmetics import WrongArithmetic  # noqa: E402
from tiebreak.conformance.power.chains import last_outputs  # noqa: E402
from tiebreak.conformance.power.own_tests import OwnTest, power_of  # noqa: E402
from tiebreak.conformance.power.suites import near_in_onnx, near_in_wpt  # noqa: E402
from tiebreak.golden.make_node import make_node  # noqa: E402
from tiebreak.golden.nodes import Case  # noqa: E402

COUNTED = ("tests", "elements", "vectors", "arithmetics", "wrong_expectations")
MODES = ("DOWN", "UP", "TOWARD_ZERO", "TOWARD_INFINITY")
TIES = ("NEAREST_UPWARD", "NEAREST_DOWNWARD", "NEAREST_TOWARD_ZERO", "NEAREST_TOWARD_INFINITY")


def test_the_page_is_made_of_the_results() -> None:
    results = json.loads(suites_page.RESULTS.read_text(encoding="utf-8"))
    assert {"QuantizeLinear", "DequantizeLinear", "wpt", "stablehlo"} <= set(results)
    assert suites_page.PAGE.read_text(encoding="utf-8") == suites_page.page(results)


def test_the_files_that_are_ready_to_send_are_those_of_the_results() -> None:
    """Otherwise: python benchmarks/suites_page.py"""
    pytest.importorskip("onnx")
    wanted = suites_page.ready_files(json.loads(suites_page.RESULTS.read_text(encoding="utf-8")))
    there = {str(path.relative_to(suites_page.READY)): path for path in suites_page.READY.rglob("*.*")}
    assert there.keys() == wanted.keys()
    assert {Path(name).parts[0] for name in there} == {"onnx", "wpt", "stablehlo"}
    assert {name: path.read_bytes() for name, path in there.items()} == wanted


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["stablehlo", "QuantizeLinear", "DequantizeLinear", "wpt"])
def test_the_results_are_those_of_the_vectors_and_mistakes_that_there_are(suite: str) -> None:
    """Otherwise: python benchmarks/suites_page.py SUITE"""
    stored = json.loads(suites_page.RESULTS.read_text(encoding="utf-8"))[suite]
    found = suites_page.measure(suites_page.measured(None)[suite])
    assert {name: found[name] for name in COUNTED} == {name: stored[name] for name in COUNTED}


def test_wpts_tests_expect_right_results_and_any_rounding_passes_them() -> None:
    tests = list(suite_tests.wpt_tests())
    assert len(tests) == 30
    power = power_of(tests, near_in_wpt)
    assert power.wrong == ()
    assert power.elements == sum(test.expected[0].size for test in tests)
    rounding = {WrongArithmetic(f"rounds:{mode}") for mode in MODES} | {
        WrongArithmetic(f"ties:{mode}") for mode in TIES
    }
    assert rounding <= power.passing
    assert {WrongArithmetic(f"ties:{mode}") for mode in TIES} <= power.passing_exactly
    assert {WrongArithmetic(f"rounds:{mode}") for mode in MODES} <= power.exactly


@pytest.mark.slow
def test_onnx_node_tests_let_ties_away_pass() -> None:
    tests = list(suite_tests.onnx_node_tests("QuantizeLinear"))
    power = power_of(tests, near_in_onnx)
    assert len(tests) >= 10
    assert power.wrong == ()
    assert WrongArithmetic("ties:NEAREST_TOWARD_INFINITY") in power.passing_exactly
    assert {WrongArithmetic(f"rounds:{mode}") for mode in MODES} <= power.seen


def quantized(name: str, x: list[float], expected: list[int]) -> OwnTest:
    node = make_node("onnx.QuantizeLinear", real="float32", quantized="int8", opset=21)
    case = Case(name, node, (np.array(x, np.float32), np.array(1, np.float32), np.array(0, np.int8)))
    return OwnTest(name, case, (np.array(expected, np.int8),))


def test_a_wrong_expectation_is_named_and_a_tie_is_power() -> None:
    power = power_of([quantized("right", [0.5, 1.5], [0, 2]), quantized("wrong", [0.5], [1])], None)
    assert power.wrong == ("wrong",)
    assert WrongArithmetic("ties:NEAREST_TOWARD_INFINITY") in power.seen
    assert power.passing == power.passing_exactly
    near = power_of([quantized("right", [0.5, 1.5], [0, 2])], near_in_wpt)
    assert WrongArithmetic("ties:NEAREST_TOWARD_INFINITY") in near.passing - near.passing_exactly
    assert power_of([replace(quantized("says nothing", [0.5], [1]), expected=())], None).wrong == ()


@pytest.mark.parametrize("shape", ["0", "12", "1x13x2"])
def test_the_name_of_a_test_of_rescale_is_read(shape: str) -> None:
    found = suite_tests.OF_NAME.match(f"rescale_{shape}_i48_outi16_sc0_rmD_pc1_iu0_ou1")
    assert found and found.groups() == ("i48", "i16", "0", "D", "1", "0", "1")


def test_a_program_takes_an_arithmetic_through_each_step() -> None:
    """0.5 becomes 1 if ties go away; 1 of scale 0.5 is 0.5, and the next step makes 1 of it again."""
    node = make_node("stablehlo.uniform_quantize", real="float32", quantized="int8")
    first = Case("first", node, (np.array([0.5], np.float32), np.array(1, np.float32), np.array(0, np.int8)))
    again = make_node("stablehlo.uniform_quantize", real="int8", quantized="int8")
    scales = (np.array(1, np.float32), np.array(0, np.int8), np.array(0.5, np.float32), np.array(0, np.int8))
    found = last_outputs(first, [lambda codes: Case("again", again, (codes, *scales))])
    assert found[None].tolist() == [0]
    assert found[WrongArithmetic("ties:NEAREST_TOWARD_INFINITY")].tolist() == [1]


def test_stablehlos_programs_give_the_numbers_that_they_expect() -> None:
    """Some of each operation; the measurement has all of them."""
    given = stablehlo_programs.programs()
    assert Counter(one["operation"] for one in given) == {"convolution": 45, "dot_general": 27, "gather": 34}
    assert len({one["name"] for one in given}) == 106
    stored = json.loads(suites_page.RESULTS.read_text(encoding="utf-8"))["stablehlo"]
    assert stored["wrong_expectations"] == [] and stored["tests"] == 106
    for program in given[::9]:
        right = stablehlo_programs.outputs_of(program)[None]
        assert stablehlo_programs.gives(program, right)
        assert not stablehlo_programs.gives(program, right ^ 1)
    meets = []
    for program in given:
        if "at" in program:
            exact, written = stablehlo_programs.outputs_of(program)[None], stablehlo_programs.written_codes(program)
            assert [str(place) for place in np.flatnonzero(exact != written)] == list(program["at"])
            meets.append([stablehlo_programs.gives(program, one) for one in (exact, written)])
    assert meets == [[False, True], [True, False]]


def test_a_programs_sums_are_those_of_the_definition() -> None:
    """A convolution with groups, strides, padding and dilations, as StableHLO writes it: a sum for each output."""
    random = np.random.default_rng(3)
    lhs, rhs = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((2, 4, 5, 6), (6, 2, 2, 3)))
    program = {
        "layouts": ["bf01", "oi01", "b01f"], "zero_points": [-3, 5], "feature_groups": 2, "strides": [2, 1],
        "padding": [[1, 2], [0, 1]], "lhs_dilation": [1, 2], "rhs_dilation": [2, 1],
    }  # fmt: skip
    found = stablehlo_programs.convolution(program, lhs, rhs)
    image, kernel = lhs.astype(int) + 3, rhs.astype(int) - 5
    assert found.shape == (2, 3, 10, 6)
    for b, y, x, o in np.ndindex(found.shape):
        total = 0
        for i, r, c in np.ndindex(2, 2, 3):
            row, column = 2 * y + 2 * r - 1, x + c  # in the dilated image, whose columns are twice as far apart
            if 0 <= row < 5 and column % 2 == 0 and 0 <= column // 2 < 6:
                total += image[b, (o // 3) * 2 + i, row, column // 2] * kernel[o, i, r, c]
        assert found[b, y, x, o] == total
