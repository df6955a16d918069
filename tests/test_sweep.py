"""Sweeps on the command line: counts and certificates against an ordinary judgement of the same inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweep_support import DOUBLE, FIXED, HALF, cli, half_space, sample

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.sweep.explaining import MOST_BOUNDARIES, numbers_at_boundaries
from tiebreak.conformance.sweep.job import space_of
from tiebreak.conformance.sweep.log import sweep_log_path
from tiebreak.golden.space import Space, space_from


def test_a_sound_backend_and_its_certificate(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    result = cli(sample("right"), *FIXED, "-o", str(file), "--json")
    assert result.exit_code == 0, result.stderr
    found, certificate = json.loads(result.stdout), json.loads(file.read_text())
    assert {"backend", "operator", "inputs", "mismatches", "seconds", "backend_seconds", "overhead", "first"} <= set(
        found
    )
    assert (found["backend"], found["inputs"], found["mismatches"], found["first"]) == ("right", 65536, 0, [])
    assert found["counts"]["unspecified"] == 2048 and sum(found["counts"].values()) == 65536
    assert certificate["sha256"][0][:2] == [0, 0] and len(certificate["sha256"][0][2]) == 64
    assert certificate["kernel"]["instruction_set"] and certificate["backend"]["version"] == "1.0"
    assert not sweep_log_path(file).exists()
    assert cli(sample("right"), "--check", str(file)).exit_code == 0


def test_a_certificate_runs_no_code_of_its_own_choice(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    assert cli(sample("right"), *FIXED, "-o", str(file)).exit_code == 0
    data = json.loads(file.read_text())
    for spec in (sample("right"), f"exec:touch {tmp_path / 'ran'}", "os:abort"):
        file.write_text(json.dumps({**data, "backend": {**data["backend"], "spec": spec}}))
        result = cli("--check", str(file))
        assert result.exit_code == 2 and "name it yourself" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_mismatches_are_counted_exactly_and_folded(tmp_path: Path) -> None:
    found = json.loads(cli(sample("wrong_once"), *FIXED, "-o", str(tmp_path / "c.json"), "--json").stdout)
    assert found["mismatches"] == 3 and found["intervals"] == 2
    one, two = found["first"]
    assert (one["first"]["bits"], one["last"]["bits"], one["inputs"]) == ("0x3c00", "0x3c00", 1)
    assert (one["first"]["input"], one["first"]["expected"], one["first"]["got"]) == ("1.0", "138", "139")
    assert (two["first"]["bits"], two["last"]["bits"], two["inputs"]) == ("0xbc01", "0xbc02", 2)
    assert one["cause"] == "unexplained"


def test_a_wrong_tie_rule_is_named_and_counted_in_every_mode(tmp_path: Path) -> None:
    inputs = ["--input", "y_scale=0.5", "--input", "y_zero_point=128"]
    result = cli(sample("ties_away"), *HALF, *inputs, "--modes", "all", "-o", str(tmp_path / "c.json"), "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert {row["cause"] for row in found["first"]} == {"wrong tie rule: NEAREST_TOWARD_INFINITY"}
    assert found["modes"]["ROUND_NEAREST_TOWARD_INFINITY"] == 0
    assert (
        found["modes"]["ROUND_NEAREST_TOWARD_EVEN"]
        == found["mismatches"]
        == brute(half_space(y_scale="0.5", y_zero_point="128"))
    )
    assert len([count for count in found["modes"].values() if count]) == 8


def test_a_sign_is_no_place_in_the_array(tmp_path: Path) -> None:
    """A sweep lists positive numbers first. What one sign alone has is said of the sign, or nothing is."""
    given = ["--input", "y_zero_point=128", "-o", str(tmp_path / "c.json"), "--json"]
    ties = json.loads(cli(sample("ties_away_below_zero"), *HALF, "--input", "y_scale=0.5", *given).stdout)
    assert ties["intervals"] > 50
    (cause,) = {row["cause"] for row in ties["first"]}
    assert cause == sentence_of("rounds-one-sign:below zero, ties away from it")
    other = json.loads(cli(sample("by_sign"), *HALF, "--input", "y_scale=0.1", *given).stdout)
    assert other["intervals"] and {row["cause"] for row in other["first"]} == {"unexplained"}


def test_conforming_ties_refute_a_cause_that_gives_every_deviating_one(tmp_path: Path) -> None:
    """Halfway down gives every tie that deviates, but not those to an even code, which go up as they should."""
    chosen = ["--operator", "onnx.Cast", "--attr", "round_mode=nearest", "--type", "float8_e8m0fnu"]
    result = cli(sample("powers"), *chosen, "--input-type", "bfloat16", "-o", str(tmp_path / "c.json"), "--json")
    found = json.loads(result.stdout)
    assert found["intervals"] > 100
    (cause,) = {row["cause"] for row in found["first"]}
    assert cause == sentence_of("power-rounds:to nearest, halfway to an even code, where round_mode is nearest")


def test_boundaries_beside_intervals_are_few_and_of_both_parities() -> None:
    """At a scale of 1/2: the first of many ties, then neighbours; of one scale of all; evenly spread if all are one."""
    fixed = half_space(y_scale="0.5", y_zero_point="128")
    at = numbers_at_boundaries(fixed, 0)
    quarters = np.array([0.25, 0.75, 1.25], np.float16).view(np.uint16)
    assert set(quarters.tolist()) <= set(at.tolist()) and at.size < 2 * MOST_BOUNDARIES
    every = Space(fixed.node, fixed.others, every_scale=True)
    scale = int(np.float16(0.5).view(np.uint16)) - 1
    assert np.array_equal(numbers_at_boundaries(every, scale), at + scale * every.patterns)
    wide = space_of(Selection(("onnx.DequantizeLinear",), {}, "int32", "float32", inputs={"x_scale": "0.5"}))
    spread = numbers_at_boundaries(wide, 0)
    assert spread.size == MOST_BOUNDARIES and (spread[0], spread[-1]) == (0, (1 << 32) - 1)


def brute(space: Space) -> int:
    """Deviations of ties away, in plain numpy."""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)
    q = x[np.isfinite(x)] / 0.5
    right, wrong = np.rint(q), np.copysign(np.floor(np.abs(q) + 0.5), q)
    return int(np.count_nonzero(np.clip(right + 128, 0, 255) != np.clip(wrong + 128, 0, 255)))


def test_the_terminal_says_the_same_and_nothing_hostile(tmp_path: Path) -> None:
    result = cli(sample("hostile"), *FIXED, "-o", str(tmp_path / "c.json"))
    assert "wrong tie rule" in result.stdout and "certificate:" in result.stdout
    assert "\x1b[31m" not in result.stdout and "[red]<b>?[31m" in result.stdout


def test_a_certificate_has_the_settings_and_a_check_tells_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.json"
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    assert cli(sample("right"), *FIXED, "-o", str(path)).exit_code == 0
    data = json.loads(path.read_text())
    assert data["settings"]["ONEDNN_MAX_CPU_ISA"] == "SSE41"
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    found = json.loads(cli(sample("right"), "--check", str(path), "--json").stdout)
    assert found["changed"] == {"settings: ONEDNN_MAX_CPU_ISA": ["SSE41", "absent"]}
    path.write_text(json.dumps({name: value for name, value in data.items() if name != "settings"}))
    found = json.loads(cli(sample("right"), "--check", str(path), "--json").stdout)
    assert found["changed"] == {}, "an earlier certificate has none"
    path.write_text(json.dumps(data | {"settings": {"A": 1}}))
    refused = cli(sample("right"), "--check", str(path))
    assert refused.exit_code == 2 and "settings" in refused.stderr and refused.stderr.count("\n") == 1


def test_check_finds_results_that_have_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIEBREAK_TEST_NOTES", str(tmp_path / "changed"))
    assert cli(sample("changes"), *FIXED, "-o", str(tmp_path / "c.json")).exit_code == 0
    (tmp_path / "changed").touch()
    result = cli(sample("changes"), "--check", str(tmp_path / "c.json"), "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["changed_blocks"] == [0] and found["counts"]["now"]["deviates"] == 3


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "tiebreak-certificate"}', "NaN", "[" * 100_000])
def test_what_is_no_certificate_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "c.json"
    file.write_text(text)
    result = cli("--check", str(file))
    assert result.exit_code == 2 and result.stderr.count("\n") == 1 and "damaged" in result.stderr


def test_a_certificate_with_another_space_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    assert cli(sample("right"), *FIXED, "-o", str(file)).exit_code == 0
    data = json.loads(file.read_text())
    for change in ({"block": 3}, {"inputs": []}, {"node": "x"}, {"block": 1 << 16, "every_scale": True}):
        file.write_text(json.dumps({**data, "space": {**data["space"], **change}}))
        assert cli(sample("right"), "--check", str(file)).exit_code == 2
    file.write_text(json.dumps({**data, "sha256": []}))
    assert cli(sample("right"), "--check", str(file)).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a backend"),
        (["right"], "name a backend and an --operator"),
        (["right", "--operator", "onnx.QuantizeLinea"], "unknown operator"),
        ([sample("right"), *HALF, "--input", "x=1"], "takes every value there is"),
        ([sample("right"), *HALF, "--input", "nothing=1"], "has no inputs nothing"),
        ([sample("right"), "--operator", "onnx.QuantizeLinear", "--input", "y_zero_point=0"], "every scale"),
        ([sample("right"), *FIXED, "-o", "/nowhere/c.json"], "no folder"),
        (["nobody", *FIXED], "unknown backend"),
        (["--modes", "all", "--check", "c.json"], "takes no other choice"),
        (
            ["right", *DOUBLE, "--input", "scale=1", "--input", "zero_point=0"],
            "too many to try",
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    tmp_path: Path, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = cli(*arguments)
    assert result.exit_code == 2, result.stderr
    assert result.stderr.count("\n") == 1 and said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_node_that_is_not_taken_ends_with_4(tmp_path: Path) -> None:
    arguments = [
        "--operator",
        "onnx.QuantizeLinear",
        "--input-type",
        "float16",
        "--type",
        "int8",
        "--input",
        "y_scale=1",
        "--input",
        "y_zero_point=0",
    ]
    result = cli(sample("right"), *arguments, "-o", str(tmp_path / "c.json"))
    assert result.exit_code == 4 and "uint8 only" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "inputs"),
    [
        (
            [
                "--operator",
                "ngraph.Dequantize",
                "--input-type",
                "int8",
                "--input",
                "scale=0.1",
                "--input",
                "zero_point=3",
            ],
            256,
        ),
        (
            [
                "--operator",
                "onnx.DequantizeLinear",
                "--input-type",
                "int16",
                "--input",
                "x_scale=0.1",
                "--input",
                "x_zero_point=3",
            ],
            65536,
        ),
        (
            ["--operator", "tensorflow.FakeQuantWithMinMaxVarsPerChannel", "--input", "min=[-1]", "--input", "max=[1]"],
            1 << 32,
        ),
    ],
)
def test_other_operators_have_a_space(arguments: list[str], inputs: int) -> None:
    chosen = dict(zip(arguments[::2], arguments[1::2], strict=True))
    texts = dict(arguments[i + 1].split("=", 1) for i, word in enumerate(arguments) if word == "--input")
    space = space_of(Selection((chosen["--operator"],), {}, chosen.get("--input-type", ""), inputs=texts))
    assert space.inputs == inputs
    assert space_from(json.loads(json.dumps(space.described()))).described() == space.described()


def test_every_input_of_dequantize(tmp_path: Path) -> None:
    arguments = [
        "--operator",
        "onnx.DequantizeLinear",
        "--input-type",
        "int8",
        "--input",
        "x_scale=0.1",
        "--input",
        "x_zero_point=3",
    ]
    result = cli("numpy-naive", *arguments, "-o", str(tmp_path / "c.json"), "--json")
    found = json.loads(result.stdout)
    assert found["inputs"] == 256 and result.exit_code in (0, 4), result.stderr
    assert found["mismatches"] == 0


@pytest.mark.parametrize("runs", [[[1, 1, "x"]], [[0, 5, "x"]], [[0, 0, "x"], [0, 0, "x"]], [[0, 1 << 60, "x"]], []])
def test_checksums_that_are_not_the_sweeps_are_refused(runs: list[Any]) -> None:
    from tiebreak.conformance.sweep.certificate import block_digests
    from tiebreak.golden.errors import DamagedFile

    assert block_digests({"sha256": [[0, 1, "a"], [2, 2, "b"]]}, 3) == ["a", "a", "b"]
    with pytest.raises(DamagedFile):
        block_digests({"sha256": runs}, 3)


def test_a_range_that_the_tensor_sets_cannot_be_swept() -> None:
    arguments = ["--operator", "tensorflow.QuantizeAndDequantizeV4", "--attr", "range_given=false"]
    inputs = ["--input", "input_min=-1", "--input", "input_max=1"]
    result = cli("numpy-naive", *arguments, *inputs)
    assert result.exit_code == 2 and "range_given=true" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--operator", "onnx.DynamicQuantizeLinear"],
        ["--operator", "ocp.MXQuantize", "--input-type", "float32", "--type", "float8_e4m3fn"],
        ["--operator", "nvidia.NVFP4Quantize", "--input-type", "float32"],
    ],
)
def test_what_measures_its_tensor_cannot_be_swept(arguments: list[str]) -> None:
    """Each piece of a sweep would be a tensor with a range of its own: no result is wrong, and many would be blamed."""
    result = cli("numpy-naive", *arguments)
    assert result.exit_code == 2 and "depends on other elements of its tensor" in result.stderr


def test_where_nothing_is_specified_nothing_was_judged(tmp_path: Path) -> None:
    inputs = ["--input", "y_scale=0", "--input", "y_zero_point=0"]
    result = cli(sample("right"), *HALF, *inputs, "-o", str(tmp_path / "c.json"))
    assert result.exit_code == 4 and "nothing was judged" in result.stderr
