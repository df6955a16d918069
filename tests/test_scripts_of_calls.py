"""Each forbidden call that is answered, and each valid node that is refused, has a script that exits with 1."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tiebreak.adapters.failure_reproducer import answered_script
from tiebreak.golden.make_node import make_node
from tiebreak.reports.records import read_run
from tiebreak.reports.story import calls

BOX = """
import numpy as np

from tiebreak import Unsupported


class Box:
    name, version, operators = "box", "1", {"ngraph.Quantize"}

    def compile(self, node):
        if node.attributes.get("round_mode") == "ROUND_DOWN" and REFUSES:
            raise Unsupported("rounds to nearest only")
        return self.run

    def run(self, x, scale, zero_point):
        if x.shape != np.broadcast_shapes(x.shape, scale.shape) and not REFUSES:
            raise ValueError("shapes")
        return (np.zeros(x.shape, zero_point.dtype),)
"""


def tiebreak(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "tiebreak", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def script(path: Path, text: str) -> tuple[int, str]:
    """What it exits with and says, where no folder of PATH has the command `tiebreak`."""
    path.write_text(text, encoding="utf-8")
    words, environment = [sys.executable, str(path)], {**os.environ, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_what_tiebreak_says_of_calls_it_shows_again(tmp_path: Path) -> None:
    """The backend writes no scripts of its own, so these call Tiebreak."""
    box, folder = tmp_path / "box.py", tmp_path / "run"
    box.write_text(BOX.replace("REFUSES", "True"), encoding="utf-8")
    words = ("--operator", "ngraph.Quantize", "--type", "uint8", "--level", "brief")
    tiebreak("run", "-b", f"{box}:Box", *words, "-o", folder)
    found = {finding.ids[0][0]: finding.ids[0] for finding in calls(read_run(folder))}
    assert set(found) == {"A", "R"}
    for name in found.values():
        made = tiebreak("repro", name, "--run", folder, "-b", f"{box}:Box")
        assert made.returncode == 0, made.stderr
        code, text = script(tmp_path / f"{name}.py", made.stdout)
        assert code == 1 and "The run and its report stay in" in text, text
    box.write_text(BOX.replace("REFUSES", "False"), encoding="utf-8")
    code, text = script(tmp_path / f"{found['R']}.py", (tmp_path / f"{found['R']}.py").read_text(encoding="utf-8"))
    assert code == 0, text
    unknown = tiebreak("repro", "R999", "--run", folder)
    assert unknown.returncode == 2 and "no call 'R999'; it has A001" in unknown.stderr


LINES = """
library = "a library 1.0"
outputs = (np.zeros(x.shape, np.uint8),)
"""
INPUTS = np.ones(3, np.float32), np.float32(1), np.uint8(0)


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("", 1, "answered with [0 0 0]"),
        ("os.abort()", 1, "killed by signal 6"),
        ("raise ValueError('no such axis')", 0, "rejected: ValueError: no such axis"),
        ("import a_library_that_is_not_there", 2, "ModuleNotFoundError"),
    ],
    ids=["answered", "crash", "rejected", "no library"],
)
def test_the_script_of_a_forbidden_call(tmp_path: Path, line: str, code: int, says: str) -> None:
    text = answered_script("A title", make_node("onnx.QuantizeLinear"), INPUTS, f"{LINES}{line}\n")
    assert "tiebreak" not in text.lower()
    found, told = script(tmp_path / "script.py", text)
    assert found == code and says in told, told
