"""Scripts about a backend that writes none: each asks Tiebreak again, from any folder, and exits as all scripts do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.main_job import RunLimits, main_job
from tiebreak.conformance.running.repro import reproducer
from tiebreak.golden.errors import InvalidInput
from tiebreak.reports.records import read_run
from tiebreak.reports.repro_command import repro_words, shown_backends
from tiebreak.reports.story import story

BOXES = """
import os

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


class Process(Box):
    name = "process"

    def changed(self, y):
        if WRONG and other_process():
            return y + np.uint8(1)
        return y


def other_process():
    # whether it is not the first one that its parent has started
    try:
        with open(f"first-of-{os.getppid()}", "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        pass
    with open(f"first-of-{os.getppid()}") as file:
        return file.read() != str(os.getpid())


class Path(Box):
    name = "path"

    def changed(self, y):
        return y + np.uint8(WRONG and y.size > 1)


class One(Box):
    name = configuration_of = "lib"


class Two(One):
    name = "lib-two"

    def changed(self, y):
        return y + np.uint8(WRONG)


class Refuses(Box):
    name = "refuses"

    def compile(self, node):
        if WRONG:
            raise Unsupported("not today")
        return super().compile(node)
"""


CASE = "onnx.QuantizeLinear/float32/uint8/scalar-0/ROUND_NEAREST_TOWARD_EVEN"


def a_run(folder: Path, *specs: str, **chosen: Any) -> Path:
    """A run of boxes in today's folder, which are named without their folder."""
    folder.joinpath("boxes.py").write_text(BOXES, encoding="utf-8")
    selection = Selection(("onnx.QuantizeLinear",), **(chosen or {"case_ids": (CASE,)}))
    main_job([f"boxes.py:{spec}" for spec in specs], selection, Path("run"), RunLimits())
    return Path("run")


BRIEF = {"input_type": "float32", "output_type": "uint8", "level": "brief"}


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


@pytest.mark.few(1)
@pytest.mark.parametrize(("boxes", "chosen"), [(("One", "Two"), {}), (("Path",), BRIEF), (("Process",), BRIEF)])
def test_both_answers_of_a_contradiction_are_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, boxes: tuple[str, ...], chosen: dict[str, str]
) -> None:
    """By configuration, by path, and in another process; the command is the one that the screen shows."""
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run = read_run(folder := a_run(tmp_path, *boxes, **chosen))
    finding = next(one for one in story(run)[0].findings if one.ids)
    specs = {str(row["name"]): str(row["spec"]) for row in run.info["backends"]}
    words = repro_words(finding.ids[0], "run", *(specs[name] for name in shown_backends(finding)))
    assert words == ["tiebreak", "repro", "S001", "--run", "run", *(w for b in boxes for w in ("-b", f"boxes.py:{b}"))]
    script = reproducer(folder, finding.ids[0], *(word for word in words if ":" in word))
    done = replayed(script, elsewhere)
    assert done.returncode == 1 and done.stdout.count("The run and its report stay in") == 1, done.stdout + done.stderr
    (tmp_path / "boxes.py").write_text(BOXES.replace("WRONG = True", "WRONG = False"), encoding="utf-8")
    assert replayed(script.replace("range(8)", "range(1)"), elsewhere).returncode == 0
    if len(boxes) > 1:
        with pytest.raises(InvalidInput, match=r"-b boxes.py:One is the backend lib 1; the discrepancy is of lib-two"):
            reproducer(folder, finding.ids[0], "boxes.py:One")
