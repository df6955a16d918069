"""`tiebreak.run`: the command's records as tables, its errors as exceptions, and nothing printed."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tiebreak
from tiebreak import InvalidInput, MachineryFailed
from tiebreak.cli.calling import value_words
from tiebreak.cli.running import run as command

SAMPLES = Path(__file__).parent / "sample_backends.py"
FEW = {"operators": "onnx.QuantizeLinear", "input_type": "float32", "type": "uint8", "level": "quick"}
WORDS = ("--operator", "onnx.QuantizeLinear", "--type", "uint8", "--input-type", "float32", "--level", "quick")
TYPED = {"operators": "onnx.QuantizeLinear", "inputs": {"x": np.float32([2.5, np.nan]), "y_scale": 1}}


def mine(attribute: str) -> str:
    return f"{SAMPLES}:{attribute}"


@pytest.mark.slow
def test_it_gives_the_records_of_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    there = [sys.executable, "-P", "-m", "tiebreak", "run", "-b", "numpy-naive", "-b", mine("wrong"), *WORDS]
    done = subprocess.run([*there, "-o", str(tmp_path / "typed")], capture_output=True, text=True, check=False)
    capfd.readouterr()
    here = tiebreak.run(backends=["numpy-naive", mine("wrong")], **FEW, output=tmp_path / "called")
    assert capfd.readouterr() == ("", "")
    typed = tiebreak.load(tmp_path / "typed")
    assert (here.exit_code, done.returncode) == (1, 1)
    assert len(here.discrepancies) > 100
    for name, frame in typed:
        frames = [frame.drop(columns="seconds", errors="ignore") for frame in (getattr(here, name), frame)]
        pd.testing.assert_frame_equal(*frames)
    assert (tmp_path / "called" / "report.html").exists()
    assert here.info["command"] == typed.info["command"].replace("typed", "called").replace(sys.argv[0], "tiebreak")


def test_without_a_folder_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tables = tiebreak.run(backends="numpy-naive", **TYPED)
    assert tables.exit_code == 0
    assert tables.results["verdict"].tolist() == ["unspecified"]
    assert list(tmp_path.iterdir()) == []


def test_it_prints_what_the_command_prints_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    tiebreak.run(backends="numpy-naive", **TYPED, show=True)
    assert "cases by verdict" in capsys.readouterr().out


def test_a_backend_that_takes_nothing_is_exit_code_4() -> None:
    typed = {**TYPED["inputs"], "y_zero_point": 1}
    tables = tiebreak.run(backends=mine("sound"), operators="onnx.QuantizeLinear", inputs=typed, type="int16")
    assert tables.exit_code == 4


@pytest.mark.parametrize(
    ("keywords", "said"),
    [
        ({"level": "best"}, "'best' is not one of"),
        ({"operators": "onnx.Quantise"}, "onnx.QuantizeLinear"),
        ({"inputs": {"x": 1}, "seed": 3}, "--input gives the one case to run: it takes no --seed"),
        ({"resume": "nowhere", "seed": 3}, "--resume goes on as the run was begun: it takes no --seed"),
        ({"resume": "nowhere"}, "nowhere"),
        ({"operators": "no.Such", "output": "made"}, "no.Such"),
    ],
)
def test_what_is_wrong_is_raised_and_leaves_nothing(
    keywords: dict[str, object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=said):
        tiebreak.run(**({} if "resume" in keywords else {"backends": "numpy-naive"}), **keywords)
    assert list(tmp_path.iterdir()) == []


def test_a_backend_that_does_not_start_is_machinery_failed() -> None:
    with pytest.raises(MachineryFailed):
        tiebreak.run(backends="exec:false", **TYPED)


def test_every_option_of_the_command_is_a_keyword() -> None:
    renamed = {"operator": "operators", "backend": "backends", "attr": "attributes", "case": "cases", "input": "inputs"}
    renamed |= {"from": "earlier_run", "json": "show"}
    options = {max(param.opts, key=len).removeprefix("--").replace("-", "_") for param in command.params}
    assert {renamed.get(name, name) for name in options} == set(inspect.signature(tiebreak.run).parameters)


def test_values_become_the_text_that_a_person_types() -> None:
    assert value_words("0x3effffff,1") == "0x3effffff,1"
    assert value_words(True) == "true"
    assert value_words((0, 2)) == "[0, 2]"
    assert value_words(np.float32([[0.5, -np.inf]])) == "[[0.5, -inf]]"
