"""The folder of `tiebreak pattern run`: what an interrupted run leaves there, and what the next one removes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tiebreak.conformance.patterns.kept import clear
from tiebreak.conformance.patterns.main import pattern_job
from tiebreak.conformance.patterns.parameters import settings
from tiebreak.golden.patterns.text import pattern_of

BOXES = Path(__file__).parent / "pattern_boxes.py"


def box(name: str) -> str:
    return f"{BOXES}:{name}"


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_an_interrupted_run_keeps_what_was_asked(tmp_path: Path) -> None:
    """By SIGTERM while the third setting of six hangs; the page and the message say so."""
    hanging, folder = tmp_path / "hanging", tmp_path / "out"
    command = [sys.executable, "-m", "tiebreak", "pattern", "run", "relu", "-b", box("HangsLater"), "-o", folder]
    environment = {**os.environ, "HANGING": str(hanging)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as running:
        while not hanging.exists():
            assert running.poll() is None
            time.sleep(0.05)
        lines = (folder / "patterns.jsonl").read_text().splitlines()
        assert [list(json.loads(line)) for line in lines] == [["row"]] * 7
        running.terminate()
        assert running.stderr is not None
        assert f"interrupted; {folder} has the 7 answers that came until then" in running.stderr.read()
    assert running.returncode == 3
    found = json.loads((folder / "patterns.json").read_text())
    assert (len(found["rows"]), found["finished"], found["exit"]) == (7, False, 3)
    assert "Interrupted: what was not asked is not here." in (folder / "report.html").read_text()
    assert files_in(folder) == {"patterns.json", "patterns.parquet", "report.html"}


def test_an_interrupt_while_explaining_keeps_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupts(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tiebreak.conformance.patterns.explaining.smallest", interrupts)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    (tmp_path / "patterns.jsonl").write_text('{"explanation": {"script": "scripts/009-killed.py"}}\n')
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "009-killed.py").touch()
    pattern = pattern_of("add")
    found = pattern_job([pattern], [box("MergesScales")], "quick", 60, 4096, tmp_path, lambda line: None)
    many = 4 * len(settings(pattern, 6))
    assert (found["finished"], found["exit"], len(found["rows"]), found["explanations"]) == (False, 3, many, [])
    assert files_in(tmp_path) == {"patterns.json", "patterns.parquet"}
    assert json.loads((tmp_path / "patterns.json").read_text())["settings"]["ONEDNN_MAX_CPU_ISA"] == "SSE41"


def test_an_interrupt_before_anything_is_asked_leaves_the_folder(tmp_path: Path, monkeypatch: Any) -> None:
    def interrupts(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tiebreak.conformance.patterns.job.IsolatedRuntime.start", interrupts)
    (tmp_path / "patterns.json").write_text('{"schema": "tiebreak-patterns-1"}')
    with pytest.raises(KeyboardInterrupt):
        pattern_job([pattern_of("add")], [box("Right")], "quick", 60, 4096, tmp_path, lambda line: None)
    assert files_in(tmp_path) == {"patterns.json"}


def test_a_run_clears_only_what_pattern_runs_left(tmp_path: Path) -> None:
    """Files of an ended run, by its records, and of a killed one, by its lines; what they name elsewhere stays."""
    named = ("scripts/001-a.py", "models/001-a.onnx", "scripts/002-b.py")
    others = ("scripts/mine.py", "models/002-mine.onnx", "notes.md", "sub/scripts/001-a.py")
    for name in (*named, *others, "report.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    ended = [{"script": named[0], "model": named[1]}, {"script": "notes.md", "model": "models/.."}, None, {}]
    killed = {"script": named[2], "model": "sub/scripts/001-a.py"}
    (tmp_path / "patterns.json").write_text(json.dumps({"schema": "tiebreak-patterns-1", "explanations": ended}))
    (tmp_path / "patterns.jsonl").write_text(json.dumps({"explanation": killed}) + '\n{"row": {"back')
    clear(tmp_path)
    assert files_in(tmp_path) == set(others)


@pytest.mark.parametrize("text", ['{"schema": "another"}', "[]", "{", None])
def test_records_of_something_else_stay(tmp_path: Path, text: str | None) -> None:
    (tmp_path / "report.html").touch()
    if text is not None:
        (tmp_path / "patterns.json").write_text(text)
    before = files_in(tmp_path)
    clear(tmp_path)
    assert files_in(tmp_path) == before
