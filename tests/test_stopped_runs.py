"""A run that is stopped anywhere, by a signal or a full disk, and resumed, has the records of an unbroken one."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from stopped_run import STAGES

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.journal import FOLDER, Journal

HERE = Path(__file__).parent
MOST = 6  # cases, which a run of few seconds has
KEPT = ("results.parquet", "discrepancies.parquet", "cases.parquet", "outputs.parquet")


def chosen_cases() -> list[str]:
    """Some that deviate, some that don't, and one at which the backend crashes."""
    options = {"operators": ("onnx.QuantizeLinear",), "input_type": "float32", "output_type": "uint8"}
    cases = plan(Selection(level="quick", **options))  # type: ignore[arg-type]
    crashing = [case.id for case in cases if case.inputs[0].size == 7][:1]
    return [*[case.id for case in cases[:40:8]][: MOST - len(crashing)], *crashing]


@pytest.fixture(scope="module")
def words() -> list[str]:
    return [
        "-b",
        f"{HERE / 'sample_backends.py'}:stops",
        *(word for name in chosen_cases() for word in ("--case", name)),
    ]


def tiebreak(*arguments: str, first: tuple[str, ...] = ("-m", "tiebreak"), **environment: str) -> Any:
    # A job in the background is born deaf to Ctrl-C and to the end of a session, and its children with it.
    hearing = partial(map, lambda number: signal.signal(number, signal.SIG_DFL), (signal.SIGINT, signal.SIGHUP))
    return subprocess.run(
        [sys.executable, "-P", *first, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=lambda: list(hearing()),
    )


def records(folder: Path) -> dict[str, Any]:
    """Tables and info of a run, without when it was and how long things took."""
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    for name in ("created", "command", "folder", "stages"):
        del info[name]
    return {name: pd.read_parquet(folder / name).drop(columns="seconds", errors="ignore") for name in KEPT} | {
        "info": info
    }


def assert_same(whole: dict[str, Any], other: dict[str, Any]) -> None:
    assert whole["info"] == other["info"]
    for name in KEPT:
        assert whole[name].equals(other[name]), name


@pytest.fixture(scope="module")
def unbroken(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    done = tiebreak("run", *words, "-o", str(folder))
    assert done.returncode == 1, done.stderr
    found = records(folder)
    assert set(found["results.parquet"]["verdict"]) >= {"deviates", "crash"}
    return found


def without_progress(text: str) -> str:
    """Without the lines that say how far the run is, which one that takes 15 s writes."""
    lines = text.splitlines(keepends=True)
    told = re.compile(r"tiebreak: (\S+ (has started$|is done: )|[\d ]+s; )")
    return "".join(line for line in lines if not told.match(line))


def assert_completed(folder: Path, words: list[str], whole: dict[str, Any]) -> None:
    """Go on, or begin anew where nothing had been found out."""
    if (folder / FOLDER / "plan.json").exists():
        done = tiebreak("run", "--resume", str(folder))
    else:
        done = tiebreak("run", *words, "-o", str(folder))
    assert done.returncode == 1, done.stderr
    assert_same(whole, records(folder))
    assert {path.name for path in folder.iterdir()} == {*KEPT, "run.json", "report.html"}


STOPS = [("planning", "SIGTERM"), ("first case", "SIGTERM"), ("some cases", "SIGHUP"), ("a file", "SIGKILL")]
STOPS += [("ending", "SIGKILL")]
EVERY_STOP = [(stage, name) for stage in STAGES for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("stage", "name"),
    [stop if stop in STOPS else pytest.param(*stop, marks=pytest.mark.slow) for stop in EVERY_STOP],
)
def test_a_signal_at_any_stage_costs_nothing_that_was_found(
    stage: str, name: str, words: list[str], unbroken: dict[str, Any], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    stopped = tiebreak("run", *words, "-o", str(folder), first=(str(HERE / "stopped_run.py"), stage, name))
    if name == "SIGKILL":
        assert stopped.returncode == -signal.SIGKILL
    elif stage == "ending":
        assert stopped.returncode == 1, "all is written and said: too late to stop"
        assert_same(unbroken, records(folder))
    else:
        assert stopped.returncode == 3, stopped.stderr
        kept = (folder / FOLDER).exists()
        advice = f"to go on: tiebreak run --resume {folder}" if kept else "nothing was written"
        assert without_progress(stopped.stderr) == f"tiebreak: interrupted; {advice}\n"
        assert kept or not folder.exists()
        assert not list(tmp_path.rglob("*.part"))
    assert_completed(folder, words, unbroken)


@pytest.fixture(scope="module")
def full_disk(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed, as for the kernel"
    library = tmp_path_factory.mktemp("disk") / "full_disk.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "full_disk.c", "-ldl"], check=True, timeout=120)
    return str(library)


def on_small_disk(library: str, folder: Path, words: list[str], allowed: int) -> tuple[Any, list[str]]:
    """A run whose disk takes so many writes, and which file each of them was to."""
    log = folder.parent / "writes"
    settings = {"LD_PRELOAD": library, "FULL_FOLDER": str(folder), "FULL_AFTER": str(allowed), "FULL_LOG": str(log)}
    done = tiebreak("run", *words, "-o", str(folder), **settings)
    return done, [str(Path(line).relative_to(folder)) for line in log.read_text(encoding="utf-8").splitlines()]


FILES = ["0.frames", "results.parquet", "report.html"]


def check_full_disk(library: str, words: list[str], unbroken: dict[str, Any], place: Path, allowed: int) -> None:
    folder = place / "run"
    done, writes = on_small_disk(library, folder, words, allowed)
    found_out = list((folder / FOLDER).glob("*.frames")) if folder.exists() else []
    in_use = found_out or writes[allowed].endswith(".frames")
    assert done.returncode == (3 if in_use else 2), (writes[allowed], done.stderr)
    assert without_progress(done.stderr).count("\n") == 1, done.stderr
    assert "No space left on device" in done.stderr
    assert (f"to go on: tiebreak run --resume {folder}" in done.stderr) == bool(found_out)
    assert not list(place.rglob("*.part"))
    before = Journal(found_out[0]).outcomes if found_out else {}
    written = sum(name.endswith(".frames") for name in writes[:allowed]) // 2 - 1
    assert len(before) >= min(written, MOST) - 1, "what was journalled is there"
    assert_completed(folder, words, unbroken)


@pytest.mark.few(1)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the loader's LD_PRELOAD")
@pytest.mark.parametrize("file", [pytest.param(FILES[0], marks=pytest.mark.slow), *FILES[1:]])
def test_a_full_disk_costs_nothing_that_was_found(
    file: str, words: list[str], full_disk: str, unbroken: dict[str, Any], tmp_path: Path
) -> None:
    _, writes = on_small_disk(full_disk, tmp_path / "run", words, 1 << 30)
    wanted = [number for number, name in enumerate(writes) if file in name]
    shutil.rmtree(tmp_path / "run")
    (tmp_path / "writes").unlink()
    check_full_disk(full_disk, words, unbroken, tmp_path, wanted[len(wanted) // 2])


def telling(writes: list[str]) -> list[int]:
    """All but the middle ones of the hundreds of writes that make a table."""
    found: set[int] = set()
    for file in set(writes):
        places = [number for number, name in enumerate(writes) if name == file]
        few = len(places) <= 2 * MOST + 2
        found |= set(places if few else (places[0], places[1], places[len(places) // 2], places[-1]))
    return sorted(found)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the loader's LD_PRELOAD")
def test_a_disk_that_is_full_at_any_write_costs_nothing_that_was_found(
    words: list[str], full_disk: str, unbroken: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "all").mkdir()
    done, writes = on_small_disk(full_disk, tmp_path / "all" / "run", words, 1 << 30)
    assert done.returncode == 1
    assert {Path(name).name.strip(".").removesuffix(".part") for name in writes} >= {*KEPT, "run.json", "report.html"}
    for allowed in telling(writes):
        (tmp_path / str(allowed)).mkdir()
        check_full_disk(full_disk, words, unbroken, tmp_path / str(allowed), allowed)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_standard_output_that_takes_nothing_loses_no_record(
    words: list[str], unbroken: dict[str, Any], tmp_path: Path
) -> None:
    command = [sys.executable, "-P", "-m", "tiebreak", "run", *words, "-o", str(tmp_path / "run")]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=300)
    said = "tiebreak: standard output: can't write: No space left on device\n"
    assert (done.returncode, without_progress(done.stderr)) == (1, said)
    assert_same(unbroken, records(tmp_path / "run"))
