"""The fewest vectors that stop every wrong arithmetic: the search is exact, and a suite's own runner agrees."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.cli.vectors import SUITE_NAMES
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.power.arithmetics import answered
from tiebreak.conformance.power.cover import fewest_cover
from tiebreak.conformance.power.minimal import fewest_cases
from tiebreak.conformance.power.stops import decoded, stopping
from tiebreak.conformance.power.suites import SUITES, near_in_iree, near_in_onnx, near_in_openvino, near_in_wpt
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.samples.model import Tensor

QUANTIZE = "onnx.QuantizeLinear"
SMALL = plan(Selection((QUANTIZE,), input_type="float16", output_type="uint8", level=""))[::3]
WITH_MISTAKES = [name for name, tested in TESTED.items() if tested.mistakes]


def together(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def smallest(sets: list[int]) -> int:
    """The number of sets in a smallest cover, by trying all choices."""
    choices = (some for n in range(len(sets) + 1) for some in itertools.combinations(sets, n))
    return len(next(some for some in choices if together(some) == together(sets)))


def test_the_fewest_are_the_fewest() -> None:
    random = np.random.default_rng(7)
    for _ in range(150):
        sets = [int(one) for one in random.integers(0, 1 << 9, int(random.integers(1, 10)))]
        found = fewest_cover(sets)
        assert found.is_fewest
        assert len(found.places) == smallest(sets)
        assert together(sets[place] for place in found.places) == together(sets)


def test_a_search_that_is_cut_short_does_not_say_fewest() -> None:
    random = np.random.default_rng(3)
    sets = [sum(1 << int(bit) for bit in random.choice(60, 6, replace=False)) for _ in range(90)]
    found = fewest_cover(sets, most_steps=3)
    assert not found.is_fewest
    assert found.at_least < len(found.places)
    assert together(sets[place] for place in found.places) == together(sets)


def test_of_equal_cases_the_smaller_is_chosen_and_none_is_idle() -> None:
    found = fewest_cases(SMALL, "exact")
    assert found.is_fewest
    assert 3 < len(found.chosen) < 25
    assert len(found.stopped) > 150
    for one in found.chosen:
        others = [two.seen for two in found.chosen if two is not one]
        assert one.seen - frozenset().union(*others)


def test_every_wrong_arithmetic_has_one_place() -> None:
    cases = SMALL
    found = fewest_cases(cases, "onnx")
    groups = [found.stopped, frozenset(found.hidden), frozenset(found.unsayable), frozenset(found.equal)]
    every = frozenset(name for one in answered(cases) for name in one.codes)
    assert frozenset().union(*groups) == every
    assert sum(map(len, groups)) == len(every)


@pytest.mark.slow
def test_onnx_own_runner_stops_what_is_said_and_only_that(tmp_path: Path) -> None:
    """Each wrong arithmetic's answers go through the comparison of onnx's own test runner, on what was written."""
    onnx = pytest.importorskip("onnx")
    from onnx.backend.test.runner import Runner

    arguments = ["vectors", "minimal", "--operator", QUANTIZE, "--suite", "onnx", "-o", str(tmp_path / "out"), "--json"]
    said = CliRunner().invoke(
        main, [*arguments, "--input-type", "float32", "--type", "uint16", "--attr", "block_size=0"]
    )
    assert said.exit_code == 0, said.output
    document = json.loads(said.stdout)
    assert document == json.loads((tmp_path / "out" / "minimal.json").read_text(encoding="utf-8"))
    assert document["fewest"]
    assert document["hidden_by_tolerance"]  # a thousandth of a 16-bit code
    by_id = {
        one.case.id: one
        for one in answered(plan(Selection(case_ids=tuple(c["case"] for c in document["chosen"]), level="")))
    }
    folders = sorted((tmp_path / "out" / "cases").iterdir())
    for folder, chosen in zip(folders, document["chosen"], strict=True):
        expected = onnx.numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / "output_0.pb"))
        stops = {(row["cause"], row["form"]) for row in chosen["stops"]}
        for name, codes in by_id[chosen["case"]].codes.items():
            try:
                Runner.assert_similar_outputs(
                    [expected], [codes.astype(expected.dtype).reshape(expected.shape)], 1e-3, 1e-7
                )
            except AssertionError:
                assert (name.cause, name.form) in stops
            else:
                assert (name.cause, name.form) not in stops


def test_what_onnx_takes_for_near_is_what_numpy_does() -> None:
    values = np.array([0.0, 1.0, -1.0, 1000.0, 1001.0, 1002.0, np.inf, -np.inf, np.nan, 1e-8])
    for expected, got in itertools.product(values, values):
        near = bool(near_in_onnx("float32", np.array([expected]), np.array([got]))[0])
        assert near == bool(np.isclose(got, expected, rtol=1e-3, atol=1e-7, equal_nan=True)), (expected, got)


@pytest.mark.parametrize(("kind", "ulp"), [("float32", 2.0**-23), ("float16", 2.0**-10), ("int8", 1.0)])
def test_what_wpt_takes_for_near_is_one_ulp(kind: str, ulp: float) -> None:
    one = np.array([1.0])
    assert near_in_wpt(kind, one, one + ulp).all()
    assert not near_in_wpt(kind, one, one + 2 * ulp).any()


@pytest.mark.parametrize(("kind", "atol"), [("float32", 1e-4), ("float16", 1e-3), ("bfloat16", 1e-2), ("int8", 0)])
def test_what_iree_takes_for_near_is_what_its_program_says(kind: str, atol: float) -> None:
    """Tried with iree-run-module 3.13.0 --expected_output, numbers, NaN, infinities and zeros."""
    expected = np.array([1.0, 0.0, np.nan, np.inf, -0.0, 1.0])
    got = np.array([1.0 + atol / 2, -0.0, np.nan, np.inf, 0.0, np.nan])
    assert near_in_iree(kind, expected, got).tolist() == [True, True, True, True, True, False]
    assert not near_in_iree(kind, np.array([1.0, np.inf]), np.array([1.001 + 2 * atol, -np.inf])).any()


def test_what_openvino_takes_for_near_is_four_ulp_of_a_float32() -> None:
    one, ulp = np.array([1.0, -1.0, 0.0]), np.array([2.0**-23, -(2.0**-23), 2.0**-149])
    assert near_in_openvino("float32", one, one + 4 * ulp).all()
    assert not near_in_openvino("float32", one, one + 5 * ulp).any()
    assert near_in_openvino(
        "float32", np.array([2.0**-148, np.nan, np.inf]), np.array([-(2.0**-148), np.nan, np.inf])
    ).all()
    assert not near_in_openvino("float32", np.array([1.0, np.nan, np.inf]), np.array([np.nan, 1.0, 3.4e38])).any()
    assert (
        not near_in_openvino("float16", one[:2], one[:2] + 2.0**-10).any() and near_in_openvino("int8", one, one).all()
    )


def test_a_choice_tells_how_far_it_is() -> None:
    heard: list[tuple[int, int]] = []
    fewest_cases(SMALL[:5], "exact", told=lambda done, of: heard.append((done, of)))
    assert heard == [(number, 5) for number in range(1, 6)]


def test_codes_of_floats_are_decoded_as_their_bits() -> None:
    array = np.array([1.5, -0.0, np.inf], np.float16)
    codes = array.view(np.int16).astype(np.int64)
    assert np.array_equal(decoded("float16", codes), array.astype(np.float64))
    assert Tensor("int8", (2,), [-3, 4]).array().tolist() == decoded("int8", [-3, 4]).tolist()


def some_cases(operator: str) -> list[Case]:
    """Some of the operator's vectors, of all its types."""
    cases = plan(Selection((operator,), level=""))
    return cases[:: max(1, len(cases) // 50)]


@pytest.mark.few(1)
@pytest.mark.parametrize("operator", WITH_MISTAKES)
def test_each_operator_with_mistakes_has_a_smallest_choice(operator: str) -> None:
    found = fewest_cases(some_cases(operator), "exact")
    assert found.chosen
    every = [stopping(one, None) for one in answered(some_cases(operator))]
    assert found.stopped == frozenset().union(*(one.seen for one in every)) != frozenset()
    assert found.at_least >= 1


def test_what_cannot_be_chosen_is_said_in_one_line() -> None:
    with pytest.raises(InvalidInput, match=r"none of the \d+ cases has a form in onnx: ONNX has no tosa.RESCALE"):
        fewest_cases(some_cases("tosa.RESCALE"), "onnx")
    said = CliRunner().invoke(main, ["vectors", "minimal"])
    assert said.exit_code == 2
    assert "name one operator" in said.output
    assert set(SUITE_NAMES) == set(SUITES)


def test_a_suite_with_a_tolerance_of_one_misses_ties() -> None:
    near = replace(SUITES["exact"], near=near_in_wpt)
    case_id = f"{QUANTIZE}/float16/uint8/ties-zp0/ROUND_NEAREST_TOWARD_EVEN"
    (tie,) = answered(plan(Selection(case_ids=(case_id,), level="")))
    found = stopping(tie, near.near)
    wrong = {name.cause for name in found.exactly - found.seen}
    assert {"ties:NEAREST_UPWARD", "rounds:DOWN", "rounds:TOWARD_ZERO"} <= wrong
