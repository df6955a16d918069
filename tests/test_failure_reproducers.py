"""Scripts that show a crash, a hang, an exception or outputs of a wrong form, run without Tiebreak."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tiebreak.adapters import failure_reproducer, outcome
from tiebreak.adapters.failure_reproducer import Failure, failure_script
from tiebreak.conformance.running.failures import failure_rows
from tiebreak.golden.make_node import make_node

RIGHT = "outputs = (np.zeros(x.shape, np.uint8),)"
# (what fails, verdict, fault, lines of the library, what the script prints)
FAILURES = (
    ("crash", "crash", outcome.CRASH, "os.abort()", "the process was killed by signal 6"),
    ("exit", "crash", outcome.CRASH, "os._exit(3)", "the process ended with exit status 3"),
    ("hang", "timeout", outcome.HANG, "time.sleep(60)", "no answer within "),
    ("memory", "crash", outcome.OUT_OF_MEMORY, "hog = np.ones(1 << 27, np.uint8); time.sleep(60)", "more than 64 MiB"),
    ("exception", "error", outcome.EXCEPTION, "raise ValueError('no such axis')", "ValueError: no such axis"),
    ("shape", "error", outcome.WRONG_OUTPUT, "outputs = (np.zeros((3, 1), np.uint8),)", "got [('uint8', (3, 1))]"),
    ("type", "error", outcome.WRONG_OUTPUT, "outputs = (np.zeros(3, np.int8),)", "got [('int8', (3,))]"),
    ("number", "error", outcome.WRONG_OUTPUT, f"{RIGHT} * 2", "got [('uint8', (3,)), ('uint8', (3,))]"),
    ("flips", "error", outcome.NOT_DETERMINISTIC,
     "calls = iter(range(9))\noutputs = (np.full(3, next(calls), np.uint8),)",
     "identical calls that give what the first one gave: [False, "),
)  # fmt: skip


def run(path: Path) -> subprocess.CompletedProcess[str]:
    """In a process that sees neither this folder nor Tiebreak's source nor the environment."""
    assert "tiebreak" not in path.read_text(encoding="utf-8").lower()
    return subprocess.run(
        [sys.executable, "-I", str(path)], cwd=path.parent, env={}, capture_output=True, text=True, timeout=120
    )


def written(folder: Path, verdict: str, fault: str, lines: str) -> Path:
    node = make_node("onnx.QuantizeLinear")
    inputs = (np.ones(3, np.float32), np.float32(1), np.uint8(0))
    failure = Failure(verdict, fault, 'it said "no"\nand more', [(3,)], time_limit=4.0, memory_limit=64)
    path = folder / "script.py"
    source = failure_script("A title", node, inputs, failure, f'library = "a library 1.0"\n{lines}')
    path.write_text(source, encoding="utf-8")
    return path


@pytest.mark.few(4)
@pytest.mark.parametrize(("verdict", "fault", "lines", "says"), [f[1:] for f in FAILURES], ids=[f[0] for f in FAILURES])
def test_a_script_shows_the_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdict: str, fault: str, lines: str, says: str
) -> None:
    monkeypatch.setattr(failure_reproducer, "STARTING", 0.0)
    shown = run(written(tmp_path, verdict, fault, lines))
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert says in shown.stdout
    kind = verdict if fault == verdict else f"{verdict} ({fault})"
    assert f"recorded {kind}: it said ?no??and more" in shown.stdout


@pytest.mark.few(2)
@pytest.mark.parametrize(("verdict", "fault"), sorted({failure[1:3] for failure in FAILURES}))
def test_it_is_0_once_the_call_is_right(tmp_path: Path, verdict: str, fault: str) -> None:
    shown = run(written(tmp_path, verdict, fault, RIGHT))
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "a library 1.0" in shown.stdout


def test_it_is_2_without_the_library(tmp_path: Path) -> None:
    shown = run(written(tmp_path, "crash", outcome.CRASH, "import a_library_that_is_not_there"))
    assert shown.returncode == 2
    assert "ModuleNotFoundError" in shown.stdout


def test_a_script_starts_itself_once_and_only_from_a_file(tmp_path: Path) -> None:
    """Whatever it is given, one child makes the call; where it can't start one it says so, and passes nothing."""
    lines = 'open("calls", "a").write("one ")\nos.abort()'
    path = written(tmp_path, "crash", outcome.CRASH, lines)
    for words in ([], ["extra"], ["--call"], ["-h", "--call"]):
        done = subprocess.run([sys.executable, str(path), *words], cwd=tmp_path, capture_output=True, timeout=120)
        assert done.returncode == 1
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "one " * 4
    for command in ([sys.executable], [sys.executable, "-"]):
        source = path.read_text(encoding="utf-8")
        piped = subprocess.run(command, input=source, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert (piped.returncode, piped.stdout.split(":")[0]) == (2, "save this script to a file first")
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "one " * 4


def test_failures_with_the_same_message_but_for_numbers_are_of_a_kind() -> None:
    def row(case: str, message: str, verdict: str = "crash", elements: int = 3) -> dict[str, object]:
        about = {"backend": "mine", "operator": "onnx.QuantizeLinear", "verdict": verdict, "fault": verdict}
        return about | {"case": case, "message": message, "elements": elements}

    rows = [
        row("a", "at 0x7f1: size 3"),
        row("b", "at 0x8e2: size 12", elements=1),
        row("c", "another"),
        row("d", "", "ok"),
        row("e", "at 0x9a3: size 0", elements=0),
    ]
    first, second = failure_rows(rows, {"mine": "1.0"})
    assert (first["id"], first["cases"], first["witness"]["case"]) == ("F001", 3, "b"), "no empty one is the example"
    assert (second["id"], second["message"]) == ("F002", "another")
    last = [row(f"{n}", "not run: given up", "error") for n in range(9)]
    assert [found["message"][:7] for found in failure_rows([*last, *rows], {})] == ["at 0x7f", "another", "not run"]
    many = [row(f"case {n}", f"message {'x' * n}") for n in range(1, 200)]
    assert len(failure_rows(many, {})) == 51
    assert sum(found["cases"] for found in failure_rows(many, {})) == 199


def tiebreak(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tiebreak", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


# (backend, operator, a vector at which it dies, its signal, the words that it leaves)
DEATHS = (
    ("tensorflow", "tensorflow.Dequantize", "tensorflow.Dequantize/int8/float32/scaled-empty", 6,
     "'data_buffer' Must be non NULL"),
    ("openvino", "openvino.FakeQuantize", "openvino.FakeQuantize/float16/float16/numpy-0-scalar-1-0-scalar", 11, ""),
)  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("backend", "operator", "case", "signal", "words"),
    [pytest.param(*d, id=d[0], marks=[pytest.mark.slow] if d[0] == "tensorflow" else []) for d in DEATHS],
)
def test_a_real_crash_has_an_id_and_a_script(
    tmp_path: Path, backend: str, operator: str, case: str, signal: int, words: str
) -> None:
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"no {backend}")
    folder = str(tmp_path / "run")
    done = tiebreak("run", "-b", backend, "--operator", operator, "--case", case, "-o", folder, "--json")
    assert done.returncode == 3, "the library changed: look for another crash"
    (failure,) = json.loads(done.stdout)["failures"]
    assert (failure["id"], failure["verdict"], failure["witness"]["case"]) == ("F001", "crash", case)
    assert words in failure["message"]
    assert " @ " not in failure["message"], "stack frames crowd out the words"
    script, same = (tiebreak("repro", name, "--run", folder) for name in ("F001", case))
    assert script.returncode == same.returncode == 0, script.stderr + same.stderr
    assert script.stdout.replace("F001", case) == same.stdout
    (tmp_path / "script.py").write_text(script.stdout, encoding="utf-8")
    shown = run(tmp_path / "script.py")
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert f"the process was killed by signal {signal}" in shown.stdout
