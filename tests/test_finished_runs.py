"""A finished run stays: only --discard, or naming its folder, lets another run replace it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from test_offline import one_case

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


def test_an_offline_run_stays_where_no_folder_is_named(tmp_path: Path) -> None:
    lab = one_case(tmp_path)

    def verified(name: str, *words: str) -> Result:
        return CliRunner().invoke(main, ["verify", str(lab), "--backend-name", name, *words])

    def judged() -> str:
        return str(read_run(lab / "run").info["backends"][0]["name"])

    assert verified("one").exit_code == 0 and judged() == "one"
    refused = verified("other")
    said = f"{lab / 'run'}: has a finished run, which stays; to judge elsewhere add -o RUN_DIR"
    assert refused.exit_code == 2 and said in refused.output and judged() == "one"
    for words in (["--discard"], ["-o", str(lab / "run")]):
        assert verified(words[0], *words).exit_code == 0 and judged() == words[0]


def test_a_pattern_run_stays_where_no_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = Path("tiebreak-patterns", "patterns.json")
    records.parent.mkdir()
    Path("box.py").write_text("raise RuntimeError('no device')", encoding="utf-8")

    def refused(*words: str) -> Result:
        done = CliRunner().invoke(main, ["pattern", "run", "relu", "-b", "box.py:Box", *words])
        assert records.exists(), "a runtime that does not start replaces nothing"
        return done

    records.write_text('{"schema": "tiebreak-patterns-1", "finished": true}', encoding="utf-8")
    said = "tiebreak-patterns: has a finished run, which stays; to run elsewhere add -o DIR; to replace it"
    assert refused().exit_code == 2 and said in refused().output
    assert "no device" in refused("--discard").output and "no device" in refused("-o", "tiebreak-patterns").output
    records.write_text('{"schema": "tiebreak-patterns-1", "finished": false}', encoding="utf-8")
    assert "no device" in refused().output


def test_single_cases_replace_those_of_the_last_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for x in ("1.5", "2.5"):
        assert run("--input", f"x={x}", "--input", "y_scale=1").exit_code < 2
        assert read_run(Path("tiebreak-case")).info["typed"][0]["input"].startswith(x)
    assert not Path("tiebreak-run").exists()
