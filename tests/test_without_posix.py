"""Where Python has neither fcntl nor resource, as on Windows: what works does, the rest says what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import sys
for name in ("fcntl", "resource"):
    sys.modules[name] = None
from tiebreak.cli import main
if __name__ == "__main__":
    main()
"""


def tiebreak(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    script = folder / "without_posix.py"
    script.write_text(WITHOUT, encoding="utf-8")
    return subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=False, cwd=folder)


@pytest.mark.parametrize("command", ["run", "backends", "sweep"])
def test_a_command_that_starts_a_backend_says_what_it_needs(command: str, tmp_path: Path) -> None:
    words = {
        "run": ["-b", "numpy-naive", "--level", "quick", "-o", "out"],
        "sweep": ["numpy-naive", "--operator", "ngraph.Quantize"],
    }
    told = tiebreak(tmp_path, command, *words.get(command, []))
    assert told.returncode == 3
    assert told.stderr == f"tiebreak: {command} needs Linux or macOS (Python's fcntl); on Windows, use WSL\n"
    assert not (tmp_path / "out").exists()


def test_vectors_are_checked_there(tmp_path: Path) -> None:
    told = tiebreak(tmp_path, "vectors", "check", "--operator", "paddle.QuantizeLinear")
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize("words", [[], ["pattern"], ["vectors"]])
def test_a_group_without_a_command_shows_its_help_on_many_lines(words: list[str], tmp_path: Path) -> None:
    told = tiebreak(tmp_path, *words)
    assert told.returncode == 2 and told.stderr.startswith("Usage:") and "\nCommands:\n" in told.stderr
