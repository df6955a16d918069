"""Sweeps: counts, intervals and certificates against an ordinary judgement of the same inputs; faults; going on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.cli import main
from tiebreak.conformance.plan import Selection
from tiebreak.conformance.sweep.blocks import judged
from tiebreak.conformance.sweep.intervals import MOST_KEPT, Folded, fold, joined
from tiebreak.conformance.sweep.job import How, space_of, sweep_job
from tiebreak.conformance.sweep.judging import Look, SolvingJudge, judge_for
from tiebreak.conformance.sweep.log import part_of
from tiebreak.conformance.sweep.sweeper import Sweeper
from tiebreak.conformance.truths import kernel_truth
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.space import Space, space_from

SAMPLES = Path(__file__).parent / "sample_sweep_backends.py"
HALF = ["--operator", "onnx.QuantizeLinear", "--input-type", "float16", "--type", "uint8"]
DOUBLE = [
    "--operator",
    "ngraph.Quantize",
    "--input-type",
    "float64",
    "--attr",
    "round_mode=ROUND_UP",
    "--attr",
    "axes=[]",
]
FIXED = [*HALF, "--input", "y_scale=0.1", "--input", "y_zero_point=128"]


def sample(name: str) -> str:
    return f"{SAMPLES}:{name}"


def cli(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["sweep", *arguments])


def half_space(**inputs: str) -> Space:
    return space_of(Selection(("onnx.QuantizeLinear",), {}, "float16", "uint8", inputs=inputs))


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
    assert not part_of(file).exists()
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


SPACES: dict[str, tuple[Selection, int]] = {
    "plain": (
        Selection(("onnx.QuantizeLinear",), {}, "float32", "uint8", inputs={"y_scale": "0.1", "y_zero_point": "3"}),
        0x41000000,
    ),
    "silent beyond the range": (
        Selection(
            ("ngraph.Quantize",),
            {"round_mode": "ROUND_UP", "axes": []},
            "float32",
            "int8",
            inputs={"scale": "0.1", "zero_point": "3"},
        ),
        0xC1400000,
    ),
    "wide": (
        Selection(
            ("ngraph.Quantize",),
            {"round_mode": "ROUND_DOWN", "axes": []},
            "float32",
            "int32",
            inputs={"scale": "-3e-41", "zero_point": "-7"},
        ),
        0x07000000,
    ),
    "bfloat16": (
        Selection(("onnx.QuantizeLinear",), {}, "bfloat16", "int4", inputs={"y_scale": "0.1", "y_zero_point": "-2"}),
        0,
    ),
    "every scale": (
        Selection(
            ("ngraph.Quantize",),
            {"round_mode": "ROUND_NEAREST_UPWARD", "axes": []},
            "float16",
            "uint8",
            inputs={"zero_point": "200"},
        ),
        15360 << 16,
    ),
}


@pytest.mark.parametrize("name", SPACES)
def test_the_fast_judge_judges_as_any_case_is_judged(name: str) -> None:
    selection, at = SPACES[name]
    space = space_of(selection)
    size = min(1 << 20, space.patterns)
    random, solving, fast = np.random.default_rng(5), SolvingJudge(space), judge_for(space)
    assert type(fast).__name__ == "FastJudge"
    case, problem = solving.posed(at, size)
    output = kernel_truth(case, [problem], case.node.modes[0]).working.astype(numpy_dtype(space.node.output_type))
    where = random.integers(0, output.size, 500)
    output[where] = random.permutation(output)[where]
    for judge_output in (output, output[::-1].copy()):
        one, other = Look(), Look()
        for judge, look in ((fast, one), (solving, other)):
            judge.look(at, judge_output, look)
            judge.look_at_modes(at, judge_output, look)
        assert one.counts.tolist() == other.counts.tolist()
        assert one.differ.tolist() == other.differ.tolist()
        assert sorted_wrong(one) == sorted_wrong(other)
        assert one.counts[3] > 0


def sorted_wrong(look: Look) -> list[tuple[int, int, int]]:
    return sorted(tuple(map(int, row)) for part in look.wrong for row in zip(*part, strict=True))  # type: ignore[misc]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 80), max_size=60, unique=True), st.integers(1, 5))
def test_folding_in_parts_is_folding_at_once(numbers: list[int], parts: int) -> None:
    """Also over the ends of blocks; never over a sign or into NaNs."""
    space = half_space(y_scale="1", y_zero_point="0")
    at = np.sort(np.array([0x7BE0 + n for n in numbers], np.int64))
    wrong = [(at, at % 7, at % 5)]
    whole = fold(space, wrong)
    cuts = np.array_split(at, parts)
    found = joined(space, [fold(space, [(cut, cut % 7, cut % 5)]) for cut in cuts])
    assert found.described() == whole.described()
    assert sum(interval.inputs for interval in whole.kept) == len(numbers)
    for interval in whole.kept:
        assert not interval.first < 0x7C00 <= interval.last  # infinity
        assert not interval.first <= 0x7C00 < interval.last  # NaNs
    assert whole.count == len(whole.kept) == sum(1 for n in at if n - 1 not in at or n in (0x7C00, 0x7C01))


def test_of_many_intervals_all_are_counted_and_the_first_are_kept() -> None:
    space = half_space(y_scale="1", y_zero_point="0")
    at = np.arange(0, 20000, 2)
    halves = [fold(space, [(part, part, part)]) for part in (at[:7000], at[7000:])]
    found = joined(space, halves)
    assert found.count == 10000 and len(found.kept) == MOST_KEPT
    assert found.last is not None and found.last.first == 19998
    assert joined(space, [found, Folded()]).described() == found.described()


def test_a_block_goes_through_json_unchanged() -> None:
    from tiebreak.adapters.sweeping import Answer
    from tiebreak.conformance.sweep.blocks import Digests, block_from

    space = half_space(y_scale="0.1", y_zero_point="0")
    output = np.random.default_rng(1).integers(0, 255, 1 << 16, np.uint8)
    block = judged(space, judge_for(space), Answer(0, "ok", output, 0.5), Digests(), all_modes=True)
    assert block.counts[3] > 1000 and min(block.differ) > 1000
    assert block_from(json.loads(json.dumps(block.described()))) == block


def test_a_crash_costs_its_block_and_is_named(tmp_path: Path) -> None:
    space = replace(half_space(y_zero_point="128"), block=1 << 20)  # 16 scales a block
    sweeper = Sweeper(sample("crashes"), space)
    try:
        blocks = list(sweeper.sweep(range(12)))
    finally:
        sweeper.close()
    assert [block.number for block in blocks] == list(range(12))
    faulty = [block.number for block in blocks if block.fault]
    assert faulty == [3, 4, 5, 6, 7] and "SIGABRT" in blocks[3].fault
    assert all(sum(block.counts) == space.block for block in blocks if not block.fault)


def test_a_backend_that_always_fails_is_given_up(tmp_path: Path) -> None:
    space = replace(half_space(y_zero_point="128"), block=1 << 16)
    with pytest.raises(MachineryFailed, match=r"given up after 8 blocks: output is uint8\[65535\]"):
        sweep_job(sample("wrong_shape"), space, tmp_path / "c.json", How())
    assert not (tmp_path / "c.json").exists()


def test_a_fault_in_the_only_block_ends_with_3(tmp_path: Path) -> None:
    result = cli(sample("wrong_shape"), *FIXED, "-o", str(tmp_path / "c.json"))
    assert result.exit_code == 3 and "65535" in result.stdout


SCRIPT = """
import sys
from dataclasses import replace
from pathlib import Path
from tiebreak.conformance.plan import Selection
from tiebreak.conformance.sweep.job import How, space_of, sweep_job
from tiebreak.conformance.sweep.sweeper import Sweeper
space = space_of(Selection(("onnx.QuantizeLinear",), {}, "float16", "uint8", inputs={"y_zero_point": "128"}))
space = replace(space, block=1 << 16)
type(space).scales = 60  # of 31743
sweep_job(sys.argv[1], space, Path(sys.argv[2]), How(all_modes=True), resume=sys.argv[3] == "resume")
"""


def sweep_some(file: Path, notes: Path, how: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "TIEBREAK_TEST_NOTES": str(notes)}
    command = [sys.executable, "-c", SCRIPT, sample("notes"), str(file), how]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path, how: signal.Signals) -> None:
    whole, broken, notes = tmp_path / "whole.json", tmp_path / "broken.json", tmp_path / "notes"
    sweep_some(whole, tmp_path / "other", "anew").communicate(timeout=120)
    process, log, deadline = sweep_some(broken, notes, "anew"), part_of(broken), time.monotonic() + 60
    while not log.exists() or log.read_bytes().count(b"\n") < 12:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(how)
    process.communicate(timeout=60)
    kept = log.read_bytes().count(b"\n") - 1
    log.write_bytes(log.read_bytes() + b"0badc0de {half a li")
    process = sweep_some(broken, notes, "resume")
    said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert compared(broken) == compared(whole)
    assert len(compared(whole)["sha256"]) > 10 and compared(whole)["counts"]["deviates"] > 100
    calls = Counter(line for line in notes.read_text().split() if line.endswith(":65536"))
    assert len(calls) == 60 and kept >= 11
    assert all(calls[f"{scale}:65536"] == 1 for scale in range(1, kept + 1))


def compared(file: Path) -> dict[str, Any]:
    data = json.loads(file.read_text())
    return {name: value for name, value in data.items() if name not in ("created", "seconds", "backend_seconds")}


def test_going_on_with_nothing_or_with_another_sweep_is_refused(tmp_path: Path) -> None:
    result = cli(sample("right"), *FIXED, "-o", str(tmp_path / "c.json"), "--resume")
    assert result.exit_code == 2 and "nothing to go on with" in result.stderr
    part_of(tmp_path / "c.json").write_text("nothing of the sort\n")
    assert cli(sample("right"), *FIXED, "-o", str(tmp_path / "c.json"), "--resume").exit_code == 2


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


def test_every_scale_comes_once_with_every_input() -> None:
    space = half_space(y_zero_point="1")
    assert space.inputs == 65536 * 31743
    scales = [int(space.other_inputs(n << 16)[0].view(np.uint16)) for n in (0, 1, 31742)]
    assert scales == [1, 2, 0x7BFF]
    assert space.first_input(5 << 16, 1 << 16).view(np.uint16).tolist() == list(range(1 << 16))
    last = space.pieces(space.blocks - 1)
    assert last[-1] + space.piece == space.inputs


def test_a_description_of_something_else_is_refused() -> None:
    good = half_space(y_scale="1", y_zero_point="0").described()
    for change in ({"inputs": [["y_scale", "float32", [], [1]]]}, {"block": 12345}, {"node": "{}"}, {"inputs": 3}):
        with pytest.raises(InvalidInput):
            space_from({**good, **change})


def test_two_sweeps_on_one_file_are_refused(tmp_path: Path) -> None:
    from tiebreak.conformance.sweep.log import Log

    log = Log(part_of(tmp_path / "c.json"))
    log.begin({"anything": 1})
    result = cli(sample("right"), *FIXED, "-o", str(tmp_path / "c.json"))
    assert result.exit_code == 2 and "another sweep is writing there" in result.stderr
    assert log.path.read_bytes()
    log.close()
    assert cli(sample("right"), *FIXED, "-o", str(tmp_path / "c.json")).exit_code == 0


@pytest.mark.parametrize(
    "change",
    [{"block": 5}, {"block": -1}, {"counts": [0, 0, 0, -7]}, {"counts": [65536, 0, 0, 1]}, {"seconds": float("nan")}],
)
def test_a_log_of_other_blocks_makes_no_certificate(tmp_path: Path, change: dict[str, Any]) -> None:
    from tiebreak.adapters.sweeping import Answer
    from tiebreak.conformance.sweep.blocks import Digests
    from tiebreak.conformance.sweep.job import check_whole
    from tiebreak.conformance.sweep.log import Log
    from tiebreak.golden.errors import DamagedFile

    space, log = half_space(y_scale="0.1", y_zero_point="0"), Log(tmp_path / "c.json.part")
    output = np.zeros(1 << 16, np.uint8)
    block = judged(space, judge_for(space), Answer(0, "ok", output, 0.5), Digests(), all_modes=False)
    log.begin({"anything": 1})
    log.add(block, {})
    check_whole(space, log)
    log.write({**block.described(), **change})
    log.close()
    again = Log(log.path)
    again.read()
    again.close()
    with pytest.raises(DamagedFile):
        check_whole(space, again)


def test_damaged_lines_of_a_log_are_dropped_without_a_traceback() -> None:
    import zlib

    from tiebreak.conformance.sweep.log import entry_of

    deep = b"[" * 200_000
    assert entry_of(b"%08x %b\n" % (zlib.crc32(deep), deep)) is None
    assert entry_of(b'%08x {"a": 1}\n' % zlib.crc32(b'{"a": 1}')) == {"a": 1}
    assert entry_of(b'%08x {"a": 1}' % zlib.crc32(b'{"a": 1}')) is None


@pytest.mark.parametrize("runs", [[[1, 1, "x"]], [[0, 5, "x"]], [[0, 0, "x"], [0, 0, "x"]], [[0, 1 << 60, "x"]], []])
def test_checksums_that_are_not_the_sweeps_are_refused(runs: list[Any]) -> None:
    from tiebreak.conformance.sweep.certificate import digests
    from tiebreak.golden.errors import DamagedFile

    assert digests({"sha256": [[0, 1, "a"], [2, 2, "b"]]}, 3) == ["a", "a", "b"]
    with pytest.raises(DamagedFile):
        digests({"sha256": runs}, 3)


def test_a_node_whose_forms_leave_the_range_far_apart() -> None:
    """In float16 the quotient overflows at 65,520; the exact one stays in range of 32 bits up to the largest input."""
    attributes = {"round_mode": "ROUND_TOWARD_ZERO", "axes": []}
    inputs = {"scale": "0x2d3e", "zero_point": "0"}
    space = space_of(Selection(("ngraph.Quantize",), attributes, "float16", "uint32", inputs=inputs))
    case, problem = SolvingJudge(space).posed(0, 1 << 16)
    output = kernel_truth(case, [problem], "ROUND_TOWARD_ZERO").exact.astype(np.uint32)
    looks = Look(), Look()
    judge_for(space).look(0, output, looks[0])
    SolvingJudge(space).look(0, output, looks[1])
    assert looks[0].counts.tolist() == looks[1].counts.tolist()
    assert looks[0].counts[0] > looks[0].counts[1] and looks[0].counts[3] == 0


def test_a_death_between_blocks_costs_no_block_that_was_answered() -> None:
    space = replace(half_space(y_zero_point="128"), block=1 << 16)
    sweeper, faults = Sweeper(sample("right"), space), []
    try:
        for block in sweeper.sweep(range(8)):
            faults.append(block.fault)
            if block.number == 2:
                assert sweeper.worker is not None
                time.sleep(0.5)  # it has answered what it was asked
                sweeper.worker.process.kill()
                sweeper.worker.process.wait()
    finally:
        sweeper.close()
    assert [number for number, fault in enumerate(faults) if fault] == [5] and "SIGKILL" in faults[5]


def test_a_range_that_the_tensor_sets_cannot_be_swept() -> None:
    arguments = ["--operator", "tensorflow.QuantizeAndDequantizeV4", "--attr", "range_given=false"]
    inputs = ["--input", "input_min=-1", "--input", "input_max=1"]
    result = cli("numpy-naive", *arguments, *inputs)
    assert result.exit_code == 2 and "range_given=true" in result.stderr


def test_where_nothing_is_specified_nothing_was_judged(tmp_path: Path) -> None:
    inputs = ["--input", "y_scale=0", "--input", "y_zero_point=0"]
    result = cli(sample("right"), *HALF, *inputs, "-o", str(tmp_path / "c.json"))
    assert result.exit_code == 4 and "nothing was judged" in result.stderr
