"""A run that is killed or interrupted goes on where it stopped and ends with the records of an unbroken one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tiebreak.adapters.batches import MOST_CASES
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance import main_job
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.journal import FOLDER, Journal, begin_run, read_unfinished
from tiebreak.conformance.running.outcomes import SAMPLE
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.samples.model import reals, scalar

SAMPLES = Path(__file__).parent / "sample_backends.py"
COMMAND = [sys.executable, "-P", "-m", "tiebreak", "run"]
CHOICE = ["-b", f"{SAMPLES}:notes", "-b", f"{SAMPLES}:wrong", "--operator", "onnx.QuantizeLinear"]
CHOICE += ["--type", "uint8", "--level", "quick", "--json"]


def begin(folder: Path, notes: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "TIEBREAK_TEST_NOTES": str(notes)}
    # A job in the background is born deaf to Ctrl-C, and its children with it.
    hearing = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": hearing}
    return subprocess.Popen([*COMMAND, *CHOICE, "-o", str(folder)], env=environment, text=True, **pipes)  # type: ignore[call-overload,no-any-return]


def resume(folder: Path, notes: Path, *more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TIEBREAK_TEST_NOTES": str(notes)}
    command = [*COMMAND, "--resume", str(folder), "--json", *more]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


def cases() -> list[Case]:
    return plan(Selection(("onnx.QuantizeLinear",), output_type="uint8", level="quick"))


def noted(case: Case) -> str:
    """The line that the backend `notes` writes in each call of a case."""
    x, *rest = case.inputs
    return f"{case.node.key} {x.tobytes().hex()} {[array.tobytes().hex() for array in rest]}"


def break_off(folder: Path, notes: Path, how: signal.Signals) -> tuple[subprocess.Popen[str], str]:
    """Begin a run and end it when the sample and a batch are through; its process and what it said."""
    process, journal = begin(folder, notes), folder / FOLDER / "0.frames"
    deadline = time.monotonic() + 120
    while not journal.exists() or journal.stat().st_size < 90_000:
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.01)
    process.send_signal(how)
    process.wait(60)
    return process, process.communicate()[1]


def records(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, object]]:
    """A run's tables and info, without how long things took and when."""
    results = pd.read_parquet(folder / "results.parquet").drop(columns="seconds")
    info = json.loads((folder / "run.json").read_text())
    return (
        results,
        pd.read_parquet(folder / "discrepancies.parquet"),
        without(info, "created", "command", "folder", "stages"),
    )


def without(info: dict[str, object], *names: str) -> dict[str, object]:
    return {name: value for name, value in info.items() if name not in names}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    process = begin(folder / "run", folder / "notes")
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 1, output + errors
    return folder


@pytest.mark.slow
def test_a_killed_run_is_completed_without_redoing_a_finished_case(unbroken: Path, tmp_path: Path) -> None:
    folder, notes = tmp_path / "run", tmp_path / "notes"
    break_off(folder, notes, signal.SIGKILL)
    assert not (folder / "run.json").exists()
    finished = Journal(folder / FOLDER / "0.frames").outcomes
    assert SAMPLE + MOST_CASES < len(finished) < len(cases()), "it ended within a batch that was not the first"
    notes.write_text("")
    done = resume(folder, notes)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["exit"] == 1
    for whole, completed in zip(records(unbroken / "run"), records(folder), strict=True):
        assert whole.equals(completed) if isinstance(whole, pd.DataFrame) else whole == completed
    everything = Counter((unbroken / "notes").read_text().splitlines())
    again = Counter(notes.read_text().splitlines())
    ran = Counter(noted(case) for case in cases() if case.id in finished and finished[case.id].status == "ok")
    assert len(ran) >= 20
    for call, number in ran.items():  # each case is two calls
        assert again[call] <= everything[call] - 2 * number, "what was written down runs no more"
    assert not (folder / FOLDER).exists()


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on_and_leaves_no_process(unbroken: Path, tmp_path: Path) -> None:
    folder, notes = tmp_path / "run", tmp_path / "notes"
    process, said = break_off(folder, notes, signal.SIGINT)
    assert process.returncode == 3
    last = said.splitlines()[-1]  # a slow run has told of its backends before
    assert last == f"tiebreak: interrupted; to go on: tiebreak run --resume {folder}"
    assert resume(folder, notes).returncode == 1
    whole, completed = records(unbroken / "run"), records(folder)
    assert whole[0].equals(completed[0]) and whole[1].equals(completed[1]) and whole[2] == completed[2]


@pytest.mark.slow
def test_resume_refuses_what_is_not_there_finished_or_otherwise_chosen(unbroken: Path, tmp_path: Path) -> None:
    for folder, words, message in (
        (tmp_path, (), "nothing to go on with: no run there"),
        (unbroken / "run", (), "the run there is finished"),
        (unbroken / "run", ("--level", "quick"), "it takes no --level"),
    ):
        refused = resume(folder, tmp_path / "notes", *words)
        assert refused.returncode == 2
        assert message in refused.stderr
        assert refused.stderr.count("\n") == 1


def small_case(number: int) -> Case:
    inputs = (reals("float32", [number]).array(), scalar("float32", 1).array(), scalar("uint8", 0).array())
    return Case(f"case-{number}", make_node("onnx.QuantizeLinear"), inputs)


def test_a_frame_that_was_cut_off_is_dropped_and_written_anew(tmp_path: Path) -> None:
    path, cases = tmp_path / "0.frames", [small_case(number) for number in range(3)]
    outcomes = [Outcome("ok", (case.inputs[0],), seconds=0.5) for case in cases[:2]]
    outcomes.append(Outcome("crash", message="a\nb", fault="crash"))
    journal = Journal(path)
    journal.begin({"spec": "s", "name": "n", "version": "1"})
    for case, outcome in zip(cases, outcomes, strict=True):
        journal.add(case, outcome)
    whole = path.read_bytes()
    for length in range(len(whole) - 1, len(whole) - 90, -1):
        path.write_bytes(whole[:length])
        cut = Journal(path)
        assert set(cut.outcomes) == {"case-0", "case-1"}
        cut.add(cases[2], outcomes[2])
        assert path.read_bytes() == whole
    read = Journal(path).outcomes
    assert read["case-2"] == outcomes[2]
    assert read["case-0"].outputs[0].tobytes() == outcomes[0].outputs[0].tobytes()


def test_a_refusal_that_repeats_its_nodes_is_written_once(tmp_path: Path) -> None:
    """It follows from the first one when the run goes on; another outcome of the node does not."""
    journal, cases = Journal(tmp_path / "0.frames"), [small_case(number) for number in range(5)]
    journal.begin({"spec": "s", "name": "n", "version": "1"})
    refused = Outcome("unsupported", message="no int8", refused=True)
    other = replace(cases[3], node=make_node("onnx.QuantizeLinear", quantized="int8"))
    journal.add(cases[0], refused)
    journal.add(cases[1], replace(refused))
    journal.add(cases[2], replace(refused, message="no"))
    journal.add(other, refused)
    journal.add(cases[4], Outcome("unsupported", message="no int8"))
    assert [name for name, _ in Journal(tmp_path / "0.frames").added] == ["case-0", "case-2", "case-3", "case-4"]


def test_a_changed_byte_is_not_believed(tmp_path: Path) -> None:
    path, cases = tmp_path / "0.frames", [small_case(number) for number in range(3)]
    journal = Journal(path)
    journal.begin({"spec": "s", "name": "n", "version": "1"})
    for case in cases:
        journal.add(case, Outcome("ok", (case.inputs[0],)))
    whole = path.read_bytes()
    for at in range(len(whole) - 150, len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert "case-2" not in Journal(path).outcomes
        assert Journal(path).outcomes["case-0"].outputs[0].tobytes() == cases[0].inputs[0].tobytes()


@pytest.mark.slow
def test_damaged_files_of_an_unfinished_run_are_named(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER
    folder.mkdir()
    for text in ("{", "[]", '{"format": "tiebreak-unfinished", "version": 1}', '{"format": 1}'):
        (folder / "plan.json").write_text(text)
        refused = resume(tmp_path, tmp_path / "notes")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "plan.json: damaged" in refused.stderr
    path = folder / "0.frames"
    journal = Journal(path)
    journal.write(b'{"name": "n", "tensors": []}\n')
    journal.write(b'{"case": "a", "boo": 1, "tensors": []}\n')
    with pytest.raises(DamagedFile, match=r"0\.frames: damaged: not an outcome"):
        Journal(path)


def test_a_run_goes_on_under_its_own_settings_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[str] = []

    def stops(folder: Path, *rest: Any) -> Path:
        plans.append((begin_run(folder, *rest) / "plan.json").read_text(encoding="utf-8"))
        raise InvalidInput("stopped")

    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    monkeypatch.setattr(main_job, "begin_run", stops)
    one = Selection(("onnx.QuantizeLinear",), inputs={"x": "1.5", "y_scale": "1"}, level="")
    with pytest.raises(InvalidInput, match="stopped"):
        main_job.main_job(["numpy-naive"], one, tmp_path, main_job.RunLimits())
    (path := tmp_path / FOLDER / "plan.json").parent.mkdir()
    path.write_text(plans[0], encoding="utf-8")
    read_unfinished(tmp_path)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    with pytest.raises(InvalidInput, match="ONEDNN_MAX_CPU_ISA=SSE41 → ONEDNN_MAX_CPU_ISA=AVX2: set it as it was"):
        read_unfinished(tmp_path)
    plan_ = json.loads(plans[0])
    del plan_["facts"]["settings"]
    path.write_text(json.dumps(plan_), encoding="utf-8")
    read_unfinished(tmp_path)


def test_another_version_of_the_backend_does_not_go_on(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "0.frames")
    journal.begin({"spec": "s", "name": "n", "version": "1"})
    with pytest.raises(InvalidInput, match="its version was '1' when the run began and is '2' now"):
        Journal(tmp_path / "0.frames").begin({"spec": "s", "name": "n", "version": "2"})
