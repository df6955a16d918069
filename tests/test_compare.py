"""Two runs held against each other, on real runs of one backend that behaves differently from version to version."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from recorded_versions import recorded

from tiebreak.cli import main
from tiebreak.conformance.gate.compare import compare
from tiebreak.conformance.gate.history import history
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.reports.comparison_page import comparison_page, library_rows
from tiebreak.reports.records import Run, read_run, write_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs"))


def cli(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def compared(runs: Path, one: str, other: str) -> dict[str, Any]:
    return compare(read_run(runs / one), read_run(runs / other))


def only(run: Run, keep: pd.Series) -> Run:
    """The run without the cases whose number is not kept, as if they had not been planned."""
    cases = set(run.results["case"][keep])
    parts = [rows[rows["case"].isin(cases)].reset_index(drop=True) for rows in (run.results, run.discrepancies)]
    return Run(run.info, *parts)


@pytest.mark.slow
def test_what_a_version_broke_is_new_and_what_it_mended_is_gone(runs: Path) -> None:
    broke, mended = compared(runs, "sound", "away"), compared(runs, "away", "sound")
    (new,), (gone,) = broke["causes"], mended["causes"]
    assert (new["status"], new["cause"], broke["exit"]) == ("new", "wrong tie rule: NEAREST_TOWARD_INFINITY", 1)
    assert new["elements"][0] == 0 and new["appeared"] == new["elements"][1] == new["compared"][1] > 100
    assert new["versions"] == ["1.0", "2.0"]
    assert (
        new["clusters"][0] is None and new["clusters"][1]["witness"]["got"] != new["clusters"][1]["witness"]["expected"]
    )
    assert (gone["status"], gone["vanished"], mended["exit"]) == ("gone", new["appeared"], 0)
    kinds = {row["kind"] for row in broke["verdicts"]}, {row["kind"] for row in mended["verdicts"]}
    assert kinds == ({"newly deviating"}, {"newly right", "newly unspecified"})


def test_the_same_run_twice_changes_nothing(runs: Path) -> None:
    found = compared(runs, "away", "away")
    assert [row["status"] for row in found["causes"]] == ["unchanged"]
    assert (found["verdicts"], found["exit"]) == ([], 0)
    row = found["operators"][0]
    assert row["planned"][0] == row["planned"][1] > row["ran_in_both"] == row["ran"][0] > 50
    assert row["deviating"] == [found["causes"][0]["elements"][0]] * 2


def test_shares_are_of_the_cases_that_ran_in_both(runs: Path) -> None:
    """A run of fewer cases has another share of all its elements, and the same one of the common cases."""
    whole = read_run(runs / "away")
    ran = whole.results[whole.results["verdict"] == "deviates"]["case"].unique()
    part = only(whole, whole.results["case"].isin(ran[::2]))
    (row,) = compare(whole, part)["operators"]
    assert row["judged_calibrated"][0] > row["judged_calibrated"][1] > 0
    for name, (one, other) in row["common"].items():
        assert one == other == row[name][1], name
    (shares,) = (one["shares"] for one in library_rows(compare(whole, part), []))
    assert shares[0] == shares[1] != "0 %"


def test_crashes_are_failures_and_no_discrepancies(runs: Path) -> None:
    found = compared(runs, "sound", "aborts")
    assert (found["causes"], found["exit"]) == ([], 3)
    assert {(row["kind"], row["to"]) for row in found["verdicts"]} == {("newly failing", "crash")}
    assert compared(runs, "aborts", "sound")["exit"] == 0


def test_a_cause_whose_cases_did_not_run_again_is_not_gone(runs: Path) -> None:
    whole = read_run(runs / "away")
    deviates = whole.results["verdict"] == "deviates"
    rest = only(whole, ~deviates)
    (row,) = compare(whole, rest)["causes"]
    assert (row["status"], row["compared"], row["vanished"]) == ("not run", [0, 0], 0)
    found = compare(rest, whole)
    assert (found["causes"][0]["status"], found["exit"]) == ("not run before", 0)


def test_a_case_refused_before_and_wrong_now_is_new(runs: Path) -> None:
    whole = read_run(runs / "away")
    refused = whole.results.assign(verdict="unsupported", deviates=0)
    found = compare(Run(whole.info | {"clusters": []}, refused, whole.discrepancies[:0]), whole)
    assert (found["causes"][0]["status"], found["exit"]) == ("new", 1)
    back = compare(whole, Run(whole.info, refused, whole.discrepancies[:0]))
    assert (back["causes"][0]["status"], back["exit"]) == ("not run", 4)
    assert {row["kind"] for row in back["verdicts"]} == {"newly unsupported"}


def test_fewer_elements_are_a_change_for_the_better_and_other_bits_one_for_the_worse(runs: Path) -> None:
    whole = read_run(runs / "away")
    fewer = replace(whole, discrepancies=whole.discrepancies[5:])
    (row,), code = (found := compare(whole, fewer))["causes"], found["exit"]
    assert (row["status"], row["vanished"], row["appeared"], code) == ("changed", 5, 0, 0)
    bits = whole.discrepancies["got_bits"].copy()
    bits[0] += 1
    (row,), code = (
        (found := compare(whole, replace(whole, discrepancies=whole.discrepancies.assign(got_bits=bits))))["causes"],
        found["exit"],
    )
    assert (row["status"], row["vanished"], row["appeared"], code) == ("changed", 1, 1, 1)


UNEXPLAINED = {"cause": "unexplained", "cause_id": "unexplained"}


def test_the_same_results_with_another_cause_are_not_new(runs: Path) -> None:
    whole = read_run(runs / "away")
    found = compare(whole, replace(whole, discrepancies=whole.discrepancies.assign(**UNEXPLAINED)))
    assert ([row["status"] for row in found["causes"]], found["exit"]) == (["renamed", "renamed"], 0)


def test_backends_in_one_run_only_are_said_so(runs: Path) -> None:
    found = compared(runs, "away", "both")
    assert {row["backend"]: row["versions"] for row in found["backends"]}["sound"] == [None, "1.0"]
    assert {row["backend"] for row in found["causes"]} == {"dev"}
    result = cli("compare", runs / "away", runs / "both")
    assert "sound 1.0: only in the second run, not compared" in result.output
    result = cli("compare", runs / "sound", runs / "hostile")
    assert result.exit_code == 4


def test_the_command_prints_and_writes_all_of_it(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "changes.html"
    result = cli("compare", runs / "sound", runs / "away", "--html", page)
    assert result.exit_code == 1
    for text in ("new dev 1.0 → 2.0", "tiebreak repro C001 --run", "newly deviating", "1 new, 0 changed"):
        assert text in result.output
    assert "wrong tie rule" in page.read_text() and "src=" not in page.read_text() and "http:" not in page.read_text()
    found = json.loads(cli("compare", runs / "sound", runs / "away", "--json").output)
    assert found["counts"]["new"] == 1 and found["folders"] == [str(runs / "sound"), str(runs / "away")]
    assert list(tmp_path.iterdir()) == [page]


def test_nothing_of_a_hostile_backend_is_interpreted(runs: Path) -> None:
    hostile = read_run(runs / "hostile")
    none = Run(hostile.info | {"clusters": []}, hostile.results, hostile.discrepancies[:0])
    found = {"folders": ["<b>", "b"], "created": ["<i>", ""]} | compare(none, hostile)
    page = comparison_page(found)
    assert found["counts"]["new"] == 1
    assert "<script" not in page and "<img" not in page and "<b>" not in page
    assert "&lt;script&gt;alert(&#39;name&#39;)" in page
    result = cli("compare", runs / "hostile", runs / "hostile")
    assert "\x1b" not in result.output
    assert "alert(" in result.output


@pytest.mark.parametrize(
    "clusters", ["none", [{"id": "C001"}], [7], [{"witness": {"operands": [[1]]}}], {"a": 1}], ids=repr
)
def test_damaged_clusters_are_named(runs: Path, clusters: Any) -> None:
    whole = read_run(runs / "away")
    with pytest.raises(DamagedFile, match="clusters"):
        compare(whole, Run(whole.info | {"clusters": clusters}, whole.results, whole.discrepancies))


def test_the_command_names_the_damaged_file(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "away", tmp_path / "run")
    info = json.loads((tmp_path / "run" / "run.json").read_text()) | {"backends": 7}
    (tmp_path / "run" / "run.json").write_text(json.dumps(info))
    for words in (["compare", runs / "away"], ["gate", "--baseline"]):
        result = cli(*words[:1], *([runs / "away"] if words[0] == "gate" else []), *words[1:], tmp_path / "run")
        assert result.exit_code == 2 and f"{tmp_path / 'run'}/run.json: damaged run file" in result.output


@pytest.mark.parametrize("vectors", [7, {"onnx.QuantizeLinear": 7}, {"onnx.QuantizeLinear": {"vectors": 1}}], ids=repr)
def test_damaged_digests_of_vectors_are_named(vectors: Any, runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "away", tmp_path / "run")
    info = json.loads((tmp_path / "run" / "run.json").read_text()) | {"vectors": vectors}
    (tmp_path / "run" / "run.json").write_text(json.dumps(info))
    result = cli("compare", runs / "away", tmp_path / "run")
    assert result.exit_code == 2 and "damaged run file: vectors" in result.output


def test_history_has_a_row_for_each_run_by_date(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    folder = tmp_path / "it's [a]*; DROP TABLE x?"
    for number, name in enumerate(("away", "sound", "aborts")):
        run = read_run(runs / name)
        target = folder / f"{name} 'x' [*]?=1"
        target.mkdir(parents=True)
        write_run(
            target,
            Run(run.info | {"created": f"2026-01-0{3 - number}T00:00:00+00:00"}, run.results, run.discrepancies),
            [],
        )
    rows = history(folder)["rows"]
    assert [row["version"] for row in rows] == ["3.0", "1.0", "2.0"]
    away = read_run(runs / "away")
    assert rows[2]["deviating"] == len(away.discrepancies) > 0 and rows[2]["root_causes"] == 1
    assert rows[2]["cases"] == len(away.results) > rows[2]["ran"] > 0
    assert rows[2]["share"] == rows[2]["deviating"] / rows[2]["judged"]
    assert rows[0]["failures"] > 0 == rows[1]["failures"]
    result = cli("history", folder)
    assert result.exit_code == 0 and "dev, onnx.QuantizeLinear" in result.output


def test_history_names_damaged_runs_and_goes_on(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    for name in ("good", "no json", "bad parquet", "no date", "other columns"):
        shutil.copytree(runs / "away", tmp_path / name)
    (tmp_path / "no json" / "run.json").unlink()
    (tmp_path / "bad parquet" / "results.parquet").write_bytes(b"PAR1 no")
    info = json.loads((tmp_path / "no date" / "run.json").read_text()) | {"created": "<b>yesterday"}
    (tmp_path / "no date" / "run.json").write_text(json.dumps(info))
    pd.DataFrame({"backend": [1]}).to_parquet(tmp_path / "other columns" / "results.parquet")
    (tmp_path / "notes").mkdir()
    found = json.loads(cli("history", tmp_path, "--json").output)
    assert {row["run"] for row in found["rows"]} == {"good"}
    assert {row["run"] for row in found["damaged"]} == {"no json", "bad parquet", "no date", "other columns"}


def test_history_of_no_runs_is_a_mistake(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    with pytest.raises(InvalidInput, match="is a run itself"):
        history(runs / "away")
    for folder in (tmp_path, tmp_path / "missing"):
        assert cli("history", folder).exit_code == 2
