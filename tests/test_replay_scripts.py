"""Scripts about a backend that writes none: each asks Tiebreak again, from any folder, and exits as all scripts do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.main_job import RunLimits, main_job
from tiebreak.conformance.running.repro import reproducer

BOXES = """
import numpy as np
from tiebreak import Unsupported

WRONG = True


class Box:
    name, version, operators = "box", "1", {"onnx.QuantizeLinear"}

    def compile(self, node):
        return lambda x, scale, zero_point: (self.changed(np.zeros(x.shape, node.outputs[0].dtype)),)

    def changed(self, y):
        return y


class Fails(Box):
    name = "fails"

    def changed(self, y):
        if WRONG:
            raise RuntimeError("no")
        return y


class Refuses(Box):
    name = "refuses"

    def compile(self, node):
        if WRONG:
            raise Unsupported("not today")
        return super().compile(node)
"""


CASE = "onnx.QuantizeLinear/float32/uint8/scalar-0/ROUND_NEAREST_TOWARD_EVEN"


def a_run(folder: Path, *specs: str) -> Path:
    """A run of boxes in today's folder, which are named without their folder."""
    folder.joinpath("boxes.py").write_text(BOXES, encoding="utf-8")
    selection = Selection(("onnx.QuantizeLinear",), case_ids=(CASE,))
    main_job([f"boxes.py:{spec}" for spec in specs], selection, Path("run"), RunLimits())
    return Path("run")


def replayed(script: str, elsewhere: Path) -> subprocess.CompletedProcess[str]:
    path = elsewhere / "script.py"
    path.write_text(script, encoding="utf-8")
    return subprocess.run([sys.executable, str(path)], cwd=elsewhere, capture_output=True, text=True, check=False)


@pytest.mark.few(1)
@pytest.mark.parametrize(("box", "name"), [("Fails", "F001"), ("Refuses", "R001"), ("Box", "D000001"), ("Box", "C001")])
def test_it_runs_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, box: str, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = reproducer(a_run(tmp_path, box), name, f"boxes.py:{box}")
    done = replayed(script, elsewhere)
    assert done.returncode == 1 and "The run and its report stay in" in done.stdout, done.stdout + done.stderr
    (tmp_path / "boxes.py").write_text(BOXES.replace("WRONG = True", "WRONG = False"), encoding="utf-8")
    assert replayed(script, elsewhere).returncode == (1 if box == "Box" else 0)
    (tmp_path / "boxes.py").unlink()
    gone = replayed(script, elsewhere)
    assert gone.returncode == 2 and "stay in" not in gone.stdout, gone.stdout
