"""A finished run stays: only --discard, or naming its folder, lets another run replace it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tiebreak.cli import main
from tiebreak.reports.records import read_run

CHOICE = ("-b", "numpy-naive", "--operator", "onnx.QuantizeLinear", "--type", "uint8", "--input-type", "float32")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["run", *CHOICE, *words])


def test_a_finished_run_stays_where_no_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("--level", "brief").exit_code < 2
    first = {path.name: path.read_bytes() for path in Path("tiebreak-run").iterdir()}
    refused = run("--level", "brief", "--seed", "1")
    assert refused.exit_code == 2
    said = "tiebreak-run: has a finished run, which stays; to run elsewhere add -o RUN_DIR; to replace it add --discard"
    assert said in refused.output
    assert {path.name: path.read_bytes() for path in Path("tiebreak-run").iterdir()} == first
    for seed, words in (("2", ["--discard"]), ("3", ["-o", "tiebreak-run"])):
        assert run("--level", "brief", "--seed", seed, *words).exit_code < 2
        assert read_run(Path("tiebreak-run")).info["seed"] == int(seed)


def test_single_cases_replace_those_of_the_last_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for x in ("1.5", "2.5"):
        assert run("--input", f"x={x}", "--input", "y_scale=1").exit_code < 2
        assert read_run(Path("tiebreak-case")).info["typed"][0]["input"].startswith(x)
    assert not Path("tiebreak-run").exists()
