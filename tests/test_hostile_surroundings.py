"""Standard streams that are closed or full, a folder that is gone, a second run in one folder, and kill -9."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tiebreak.conformance.running.journal import FOLDER, LOCK, Journal, check_not_locked, run_lock
from tiebreak.golden.errors import InvalidInput

SAMPLES = Path(__file__).parent / "sample_backends.py"
TIEBREAK = shlex.join([sys.executable, "-P", "-m", "tiebreak"])
FEW = "--operator onnx.QuantizeLinear --input-type float32 --type uint8 --level quick"
FULL = "tiebreak: standard output: can't write: No space left on device\n"
ONE = "--operator onnx.QuantizeLinear --input x=2.5 --input y_scale=1"


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command line of `tiebreak`, by a shell that closes and redirects."""
    line = command.replace("tiebreak", TIEBREAK, 1)
    how = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 300}
    return subprocess.run(["bash", "-c", line], cwd=cwd, check=False, **how)  # type: ignore[call-overload,no-any-return]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("tiebreak operators >/dev/full", 3, FULL),
        (
            "tiebreak operators --json >/dev/full",
            3,
            "tiebreak: standard output: can't write: No space left on device\n",
        ),
        ("tiebreak --help >/dev/full", 3, FULL),
        ("tiebreak operators >&-", 3, "tiebreak: standard output is closed\n"),
        ("tiebreak operators <&- >/dev/null", 0, ""),
        ("tiebreak operators nosuch 2>&-", 2, ""),
        ("tiebreak operators nosuch 2>/dev/full", 2, ""),
        ("tiebreak operators nosuch <&- >&- 2>&-", 2, ""),
        ("tiebreak operators | head -1 >/dev/null; exit ${PIPESTATUS[0]}", 0, ""),
        ("tiebreak operators --json | true; exit ${PIPESTATUS[0]}", 0, ""),
    ],
)
def test_standard_streams(tmp_path: Path, command: str, code: int, said: str) -> None:
    done = shell(command, tmp_path)
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.few(1)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-", ">/dev/full"])
def test_a_run_does_its_work_whatever_is_closed(tmp_path: Path, closed: str) -> None:
    done = shell(f"tiebreak run -b {SAMPLES}:wrong {ONE} -o run {closed}", tmp_path)
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "run" / "run.json").is_file() and (tmp_path / "run" / "report.html").is_file()
    assert not (tmp_path / "run" / FOLDER).exists()


@pytest.mark.parametrize("words", ["operators", f"run -b numpy-naive {ONE} -o run", "vectors check", "report run"])
def test_a_current_folder_that_is_gone(tmp_path: Path, words: str) -> None:
    (tmp_path / "gone").mkdir()
    done = shell(f"cd gone && rmdir ../gone && tiebreak {words}", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "the current folder is gone" in done.stderr


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    done = shell(f"tiebreak run -b numpy-naive {ONE} -o $'\\xff'", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "'-o' / '--output': '\\udcff' is not UTF-8" in done.stderr and not list(tmp_path.iterdir())


SLOW = f"""
import pathlib, sys, time
sys.path.insert(0, {str(SAMPLES.parent)!r})
from sample_backends import Sample, quantize
go, calls = pathlib.Path(__file__).with_name("go"), []
def slow(node, *inputs):
    calls.append(None)
    while len(calls) > 60 and not go.exists():
        time.sleep(0.02)
    return quantize(node, *inputs)
slow = Sample("slow", slow)
"""


def begun(folder: Path) -> subprocess.Popen[str]:
    """A run that has some outcomes and goes on, but not to its end before there is a file `go`."""
    (folder / "slow.py").write_text(SLOW)
    words = [*shlex.split(TIEBREAK), "run", "-b", "slow.py:slow", *FEW.split(), "--timeout", "600", "-o", "run"]
    process = subprocess.Popen(words, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    journal, deadline = folder / "run" / FOLDER / "0.frames", time.monotonic() + 120
    while not journal.exists() or journal.stat().st_size < 3000:
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.01)
    return process


@pytest.mark.slow
def test_a_second_run_in_a_folder_is_refused_while_the_first_lives_and_a_killed_one_is_resumed(tmp_path: Path) -> None:
    again = f"tiebreak run -b slow.py:slow {FEW} -o run"
    first = begun(tmp_path)
    try:
        for command in (again, f"{again} --discard", "tiebreak run --resume run"):
            refused = shell(command, tmp_path)
            assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
            assert "run: another run is going on there" in refused.stderr
        assert first.poll() is None
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate()
    kept = Journal(tmp_path / "run" / FOLDER / "0.frames").outcomes
    refused = shell(again, tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert "has an unfinished run; to go on with it: tiebreak run --resume run; to begin anew" in refused.stderr
    assert len(kept) > 3 and set(Journal(tmp_path / "run" / FOLDER / "0.frames").outcomes) == set(kept)
    (tmp_path / "go").touch()
    assert shell("tiebreak run --resume run", tmp_path).returncode == 0
    assert not (tmp_path / "run" / FOLDER).exists()


@pytest.mark.slow
def test_discard_begins_anew_and_what_has_no_outcome_is_replaced(tmp_path: Path) -> None:
    unfinished = tmp_path / "run" / FOLDER
    unfinished.mkdir(parents=True)
    journal = Journal(unfinished / "0.frames")
    journal.write(b'{"name": "n", "tensors": []}\n')
    run = f"tiebreak run -b {SAMPLES}:sound {ONE} -o run"
    assert shell(run, tmp_path).returncode == 0 and not unfinished.exists()
    unfinished.mkdir()
    for body in (b'{"name": "n", "tensors": []}\n', b'{"case": "a", "tensors": []}\n'):
        journal.write(body)
    assert shell(run, tmp_path).returncode == 2 and unfinished.exists()
    assert shell(f"{run} --discard", tmp_path).returncode == 0 and not unfinished.exists()


def test_the_lock_goes_with_its_holder_and_no_stale_one_stays(tmp_path: Path) -> None:
    with run_lock(tmp_path):
        with pytest.raises(InvalidInput, match="another run is going on"):
            check_not_locked(tmp_path)
        assert (tmp_path / FOLDER / LOCK).exists()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / LOCK).write_text("")  # of a run that was killed
    with run_lock(tmp_path):
        pass


NEVER = """
import sys, time, os
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("how", ["a program", "a program in a session of its own", "a module"])
def test_kill_9_while_a_backend_starts_leaves_no_process(tmp_path: Path, how: str) -> None:
    (tmp_path / "never.py").write_text(NEVER)
    (tmp_path / "module.py").write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    session = "setsid --wait " if "session" in how else ""
    spec = "module.py:x" if how == "a module" else f"exec:{session}{sys.executable} never.py pid"
    words = [*shlex.split(TIEBREAK), "run", "-b", spec, *ONE.split(), "-o", "run"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = psutil.Process(wait_for_text(tmp_path / "pid"))
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs([started, *workers], timeout=60)
    for one in alive:
        one.kill()
    assert not alive


def wait_for_text(path: Path) -> int:
    deadline = time.monotonic() + 120
    while not path.exists() or not path.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(path.read_text())


def test_a_new_backends_commands_work_as_printed(tmp_path: Path) -> None:
    done = shell("tiebreak new-backend mine -o 'a new folder'", tmp_path)
    commands = [line.strip() for line in done.stdout.partition("Next:")[2].splitlines() if line.strip()]
    assert commands[0] == "cd 'a new folder'" and len(commands) == 2
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    line = " && ".join(commands).replace("--operator", "--level quick --type uint8 --input-type float32 --operator")
    result = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, check=False
    )
    assert result.returncode in (0, 1), result.stderr
    assert (tmp_path / "a new folder" / "mine-run" / "run.json").is_file()
