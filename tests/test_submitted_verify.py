"""`tiebreak submit` of a run by `tiebreak verify`: it is packed and found right; a tampered one is refused."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from tampered_runs import change_an_output, drop_outputs_of_a_case, hide_a_deviation, info, table

from tiebreak.cli import main

CHOSEN = ("--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "uint8")
EVERY = ("--sample", "1000000", "--seed", "1")


def cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)


def returned(folder: Path) -> None:
    """The exact results come back, but one case with a wrong element and one with a reason; the last not at all."""
    paths = sorted((folder / "cases").glob("*.npz"))
    for number, path in enumerate(paths[:-1]):
        with np.load(path) as arrays:
            y = arrays["exact_0"].astype(np.uint8)
        if number == 3:
            y.reshape(-1)[0] ^= 1
        np.savez(folder / "outputs" / path.name, y=y)
    (folder / "outputs" / f"{paths[5].stem}.txt").write_text("no such kernel", encoding="utf-8")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab") / "lab"
    assert cli("vectors", "export", folder, "--format", "npz", *CHOSEN).exit_code == 0
    returned(folder)
    return folder


def verified(lab: Path, folder: Path) -> Path:
    found = cli("verify", lab, "--backend-name", "my-npu", "--backend-version", "0.3", "-o", folder)
    assert found.exit_code in (0, 1, 3), found.output
    return folder


@pytest.fixture(scope="module")
def run(lab: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return verified(lab, tmp_path_factory.mktemp("run") / "run")


def checked(run: Path, file: Path) -> Any:
    assert cli("submit", run, "-o", file).exit_code == 0
    found = cli("submit", "check", file, *EVERY, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def refused(run: Path, file: Path, code: int, reason: str) -> None:
    assert cli("submit", run, "-o", file).exit_code == 0
    found = cli("submit", "check", file, *EVERY)
    assert (found.exit_code, found.stdout) == (code, ""), found.output
    (line,) = found.stderr.splitlines()
    assert reason in line


def test_a_verified_run_is_found_right_and_says_what_is_not_known(run: Path, tmp_path: Path) -> None:
    found = checked(run, tmp_path / "file")
    rows = pd.read_parquet(run / "results.parquet")
    said = found["checked"]
    assert said["planned"] == f"{len(rows)} rows: all golden vectors chosen, and no others; none was generated"
    assert "where they were computed, and by what, is not known" in said["manifest"]
    assert said["judged again"].startswith(f"{len(rows) - 2} of {len(rows) - 2} cases")
    assert "1 deviates" in said["verdicts"] and "1 unsupported" in said["verdicts"] and "1 error" in said["verdicts"]
    assert found["backends"] == [{"name": "my-npu", "version": "0.3"}] and found["level"] == "offline"
    assert "is not known" in cli("submit", "check", tmp_path / "file").output
    with zipfile.ZipFile(tmp_path / "file") as opened:
        environment = json.loads(opened.read("environment.json"))
    assert environment["about"].startswith("where the outputs were judged; where they were computed")
    assert environment["backends"][0]["attestation"]["ran"] == "elsewhere"


@pytest.mark.few(1)
@pytest.mark.parametrize("level", ["quick", "full"])
def test_generated_cases_are_planned_again(level: str, tmp_path: Path) -> None:
    words = ("vectors", "export", tmp_path / "lab", "--format", "npz", *CHOSEN, "--level", level)
    assert cli(*words).exit_code == 0
    returned(tmp_path / "lab")
    said = checked(verified(tmp_path / "lab", tmp_path / "run"), tmp_path / "file")["checked"]
    assert f"all cases planned at level {level}, and no others" in said["planned"]


def test_what_a_layout_leaves_out_counts_in_the_denominator(tmp_path: Path) -> None:
    said = cli("vectors", "export", tmp_path / "lab", "--format", "onnx", *CHOSEN).output
    left_out = len((tmp_path / "lab" / "unsupported.txt").read_text(encoding="utf-8").splitlines())
    for path in (tmp_path / "lab" / "cases").iterdir():
        number = path.name.removeprefix("test_tiebreak_")
        target = tmp_path / "lab" / "outputs" / number
        target.mkdir()
        shutil.copy(path / "test_data_set_0" / "output_0.pb", target)
    run = verified(tmp_path / "lab", tmp_path / "run")
    rows = pd.read_parquet(run / "results.parquet")
    away = rows[rows["verdict"] == "unsupported"]
    assert len(away) == left_out > 0 and f"; {left_out} have no form" in said
    assert away["message"].str.startswith("not exported: ").all()
    assert f"{left_out} unsupported" in checked(run, tmp_path / "file")["checked"]["verdicts"]


def hide_what_deviates(folder: Path) -> None:
    hide_a_deviation(folder)
    info(folder, lambda data: data.update(exit=3))


def forget_a_refusal(folder: Path) -> None:
    table(folder, "results", lambda rows: rows[rows["verdict"] != "unsupported"])
    info(folder, lambda data: data["vectors"]["onnx.QuantizeLinear"].update(vectors=0))


def claim_a_level(folder: Path) -> None:
    info(folder, lambda data: data["selection"].update(level="quick"))


def call_it_a_run(folder: Path) -> None:
    info(folder, lambda data: data.update(level="full"))


def choose_less(folder: Path) -> None:
    info(folder, lambda data: data["selection"].update(input_type="float16"))


@pytest.mark.parametrize(
    ("tamper", "code", "reason"),
    [
        (change_an_output, 1, "judged again, its "),
        (hide_what_deviates, 1, "judged again, its exact is"),
        (drop_outputs_of_a_case, 1, "it ran, but its outputs are not stored"),
        (forget_a_refusal, 1, " golden vectors have rows"),
        (claim_a_level, 1, "planned cases have no row"),
        (call_it_a_run, 2, "level: 'full' is not that of its selection, ''"),
        (choose_less, 1, "planned cases have no row"),
    ],
)
def test_tampering_is_refused(
    tamper: Callable[[Path], None], code: int, reason: str, run: Path, tmp_path: Path
) -> None:
    shutil.copytree(run, tmp_path / "run")
    tamper(tmp_path / "run")
    refused(tmp_path / "run", tmp_path / "file", code, reason)


def edited(lab: Path, folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the exported cases whose manifest was changed in the lab."""
    shutil.copytree(lab, folder)
    path = folder / "manifest.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    return folder


def flip_an_input(data: dict[str, Any]) -> None:
    inputs = json.loads(data["cases"][3]["inputs"])
    words = inputs[0]["values"].split()
    inputs[0]["values"] = " ".join(["3f800001", *words[1:]])
    data["cases"][3]["inputs"] = json.dumps(inputs)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data["cases"].pop(), "planned cases have no row"),
        (flip_an_input, "the run had other golden vectors than the manifest lists"),
    ],
)
def test_cases_that_the_lab_changed_are_refused(
    change: Callable[[dict[str, Any]], None], reason: str, lab: Path, tmp_path: Path
) -> None:
    run = verified(edited(lab, tmp_path / "lab", change), tmp_path / "run")
    refused(run, tmp_path / "file", 1, reason)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data.pop("selection"), "export its cases again"),
        (lambda data: data["made_by"].update(sources="0" * 16), "export its cases again"),
        (lambda data: data["selection"].update(case_ids=["one"]), "made with --case"),
    ],
)
def test_a_run_whose_plan_is_not_known_is_not_packed(
    change: Callable[[dict[str, Any]], None], reason: str, lab: Path, tmp_path: Path
) -> None:
    run = verified(edited(lab, tmp_path / "lab", change), tmp_path / "run")
    found = cli("submit", run, "-o", tmp_path / "file")
    assert found.exit_code == 2 and reason in found.stderr and not (tmp_path / "file").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["selection"].update(level="other"),
        lambda data: data.update(selection=[]),
        lambda data: data.update(made_by={}),
        lambda data: data.update(left_out=[{"number": 1}]),
        lambda data: data.update(left_out=7),
    ],
)
def test_a_damaged_plan_is_said(change: Callable[[dict[str, Any]], None], lab: Path, tmp_path: Path) -> None:
    folder = edited(lab, tmp_path / "lab", change)
    found = cli("verify", folder, "--backend-name", "my-npu", "-o", tmp_path / "run")
    assert found.exit_code == 2 and "damaged manifest" in found.stderr and len(found.stderr.splitlines()) == 1


def test_an_export_of_chosen_cases_alone_has_no_plan(tmp_path: Path) -> None:
    words = ("vectors", "minimal", "--operator", "onnx.QuantizeLinear", "--suite", "exact", *CHOSEN[2:])
    assert cli(*words, "-o", tmp_path / "lab").exit_code == 0
    assert "selection" not in json.loads((tmp_path / "lab" / "manifest.json").read_text(encoding="utf-8"))
