"""The gate: what is new, known, waived, stale, expired or failed, and every exit code."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from recorded_versions import recorded
from waiver_files import waiver_file

from tiebreak.cli import main
from tiebreak.conformance.gate.gate import gate, update_baseline
from tiebreak.conformance.gate.waivers import read_waivers
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.reports.gate import code_span, gate_markdown
from tiebreak.reports.records import Run, read_run, write_run
from tiebreak.reports.text_columns import mapped_text

TODAY = date(2026, 6, 1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs"))


def cli(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def gated(runs: Path, name: str, baseline: str | Run | None, *changes: dict[str, Any]) -> dict[str, Any]:
    base = read_run(runs / baseline) if isinstance(baseline, str) else baseline
    waivers = read_waivers(waiver_file(runs, *changes), ["dev", "sound"]) if changes else []
    return gate(read_run(runs / name), base, waivers, TODAY)


def test_known_discrepancies_pass_and_new_ones_do_not(runs: Path) -> None:
    new, known = gated(runs, "away", "sound"), gated(runs, "away", "away")
    assert (new["exit"], known["exit"]) == (1, 0)
    assert new["counts"]["new"] == known["counts"]["known"] == new["new"][0]["elements"] > 100
    assert new["new"][0]["repro"] == "C001" and new["new"][0]["unseen"] == 0
    assert gated(runs, "sound", "away")["counts"]["gone"] == known["counts"]["known"]
    assert gated(runs, "away", None)["new"][0]["unseen"] == new["counts"]["new"]


def test_more_elements_or_other_bits_are_new_and_another_name_is_not(runs: Path) -> None:
    whole = read_run(runs / "away")
    found = gated(runs, "away", replace(whole, discrepancies=whole.discrepancies[3:]))
    assert (found["exit"], found["counts"]["new"]) == (1, 3)
    assert found["new"][0]["repro"] == whole.discrepancies["id"][0], "the witness is one of the new elements"
    bits = whole.discrepancies["got_bits"].copy()
    bits[7] += 1
    found = gated(runs, "away", replace(whole, discrepancies=whole.discrepancies.assign(got_bits=bits)))
    assert (found["exit"], found["counts"]["new"]) == (1, 1)
    renamed = replace(whole, discrepancies=whole.discrepancies.assign(cause="unexplained"))
    assert gated(runs, "away", renamed)["exit"] == 0


def test_failures_are_known_only_of_the_same_case_and_verdict_and_never_waived(runs: Path) -> None:
    any_cause = {"cause": "*"}
    found = gated(runs, "aborts", "sound", any_cause)
    assert (found["exit"], found["new"], found["failures"][0]["verdict"]) == (3, [], "crash")
    assert found["waivers"][0]["status"] == "not run", "what crashed may still have the discrepancy"
    assert gated(runs, "aborts", "aborts")["exit"] == 0
    crashed = read_run(runs / "aborts")
    other = mapped_text(crashed.results["verdict"], lambda verdict: "timeout" if verdict == "crash" else verdict)
    assert gated(runs, "aborts", replace(crashed, results=crashed.results.assign(verdict=other)))["exit"] == 3
    assert 0 < found["not_run"][0]["cases"] <= found["failures"][0]["cases"]


def test_nothing_ran_is_no_pass(runs: Path, tmp_path: Path) -> None:
    whole = read_run(runs / "sound")
    idle = Run(whole.info, whole.results.assign(verdict="unsupported"), whole.discrepancies)
    found = gate(idle, whole, [], TODAY)
    assert (found["exit"], found["not_run"][0]["cases"]) == (4, found["not_run"][0]["of"])
    (tmp_path / "idle").mkdir()
    write_run(tmp_path / "idle", idle, [])
    result = cli("gate", tmp_path / "idle", "--baseline", tmp_path / "new", "--update", "--accept")
    assert result.exit_code == 4 and not (tmp_path / "new").exists()


def test_a_waiver_excuses_what_it_tolerates_and_no_more(runs: Path) -> None:
    assert gated(runs, "away", "sound", {})["exit"] == 0
    assert gated(runs, "away", "sound", {"cause": None, "clause": "ONQ-R1", "version": ">=2,<3"})["exit"] == 0
    assert gated(runs, "away", "sound", {"tolerance": {"kind": "within k ulp of a boundary", "ulp": 1}})["exit"] == 0
    found = gated(runs, "away", "sound", {"tolerance": {"kind": "ties only"}})
    near = int((read_run(runs / "away").discrepancies["boundary_ulp"] != 0).sum())
    assert (found["exit"], found["counts"]["new"]) == (1, near) and near > 0
    assert (found["new"][0]["beyond"], found["waivers"][0]["status"]) == ([1], "used")
    found = gated(runs, "away", "sound", {"tolerance": {"kind": "nan only"}})
    assert found["waivers"][0]["why"] == "all that it names is beyond its tolerance" and found["exit"] == 1


def test_a_waiver_whose_discrepancy_is_gone_is_stale(runs: Path) -> None:
    found = gated(runs, "sound", "sound", {})
    assert (found["exit"], found["waivers"][0]["status"]) == (1, "stale")
    for change in ({"backend": "sound"}, {"version": ">=7"}, {"operator": "ngraph.Quantize"}):
        found = gated(runs, "sound", "sound", change)
        assert (found["exit"], found["waivers"][0]["status"]) == (0, "not run"), change


def test_a_waiver_of_cases_that_did_not_run_is_not_stale(runs: Path) -> None:
    whole = read_run(runs / "away")
    rest = replace(
        whole, results=whole.results[whole.results["verdict"] != "deviates"], discrepancies=whole.discrepancies[:0]
    )
    found = gate(rest, whole, read_waivers(waiver_file(runs, {}), ["dev"]), TODAY)
    assert (found["exit"], found["waivers"][0]["status"]) == (0, "not run")


def test_an_expired_waiver_no_longer_counts(runs: Path) -> None:
    last, day_after = {"expires": TODAY}, {"expires": date(2026, 5, 31)}
    assert gated(runs, "away", "sound", last)["exit"] == 0
    for baseline in ("sound", "away"):  # not even with a baseline that was made meanwhile
        found = gated(runs, "away", baseline, day_after)
        assert (found["exit"], found["waivers"][0]["status"], found["new"][0]["expired"]) == (1, "expired", [1])
    assert gated(runs, "sound", "sound", day_after)["exit"] == 0


def test_the_command_says_what_is_new_first(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    waivers = waiver_file(tmp_path, {"tolerance": {"kind": "ties only"}}, {"backend": "de?", "cause": "unknown to all"})
    junit = tmp_path / "gate.xml"
    result = cli("gate", runs / "away", "--baseline", runs / "sound", "--waivers", waivers, "--junit", junit)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0].startswith("new dev 2.0, onnx.QuantizeLinear: wrong tie rule")
    assert any(line.strip().startswith("tiebreak repro D") and " -b " in line for line in lines)
    assert any(line.startswith("stale waiver 2 (de?") for line in lines)
    assert "exit code 1" in lines[-1]
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("before\n## Tiebreak gate") and "- **new** `dev`" in summary and "**stale**" in summary
    root = ElementTree.parse(junit).getroot()
    suite = root.find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "2", "0", "0"]
    assert len(root.findall("testsuite/testcase/failure")) == 2
    found = json.loads(cli("gate", runs / "away", "--baseline", runs / "sound", "--json").output)
    assert (found["exit"], found["counts"]["new"]) == (1, found["counts"]["deviating"])


def failures_in(junit: Path) -> int:
    return len(ElementTree.parse(junit).getroot().findall("testsuite/testcase/failure"))


@pytest.mark.parametrize("schema", ["ant-junit.xsd", "jenkins-junit-10.xsd"])
@pytest.mark.parametrize("name", ["away", "hostile", "aborts", "sound"])
def test_the_junit_file_is_as_ci_servers_want_it(runs: Path, tmp_path: Path, name: str, schema: str) -> None:
    xmlschema = pytest.importorskip("xmlschema")
    path = tmp_path / "gate.xml"
    cli("gate", runs / name, "--baseline", runs / "sound", "--waivers", waiver_file(tmp_path, {}), "--junit", path)
    xmlschema.XMLSchema(str(Path(__file__).parent / "schemas" / schema)).validate(str(path))


def test_a_hostile_backend_is_quoted_everywhere(runs: Path, tmp_path: Path) -> None:
    junit = tmp_path / "gate.xml"
    result = cli("gate", runs / "hostile", "--junit", junit)
    assert result.exit_code == 1 and "\x1b" not in result.output
    assert "<script>alert('name')</script>[red] ?[31m<img" in result.output
    assert "\x1b" not in junit.read_text() and "<script" not in junit.read_text()
    assert failures_in(junit) == 1
    found = {"run": "r", "baseline": None} | gated(runs, "hostile", None)
    assert "<script" not in re.sub(r"`[^`\n]*`", "", gate_markdown(found))
    assert code_span("a`b\n# c") == "`a'b # c`"


@pytest.mark.slow
def test_a_gate_runs_its_backends_first(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = ("--case", read_run(runs / "away").discrepancies["case"][0], "--operator", "onnx.QuantizeLinear")
    backend = ("-b", f"{runs / 'versions.py'}:away")
    result = cli("gate", *backend, *one, "--baseline", runs / "sound")
    assert result.exit_code == 1 and "new dev 2.0" in result.output and "of 1 cases ran" in result.output
    recorded_run = read_run(tmp_path / "tiebreak-gate").info
    assert (recorded_run["level"], recorded_run["exit"]) == ("quick", 1)
    kept = cli("gate", *backend, *one, "--baseline", runs / "sound")
    assert kept.exit_code == 2 and "tiebreak-gate: has a finished run, which stays; to run elsewhere" in kept.output
    assert read_run(tmp_path / "tiebreak-gate").info == recorded_run
    assert cli("gate", *backend, *one, "--baseline", runs / "sound", "--discard").exit_code == 1
    assert read_run(tmp_path / "tiebreak-gate").info != recorded_run
    result = cli("gate", "named", *backend, *one, "--baseline", runs / "away", "--level", "full", "--json")
    assert json.loads(result.stdout)["exit"] == result.exit_code == 0, "what the run finds is for the gate to judge"
    assert read_run(tmp_path / "named").info["level"] == "full"
    missing = cli("gate", "unmade", *backend, *one, "--baseline", tmp_path / "none")
    assert missing.exit_code == 2 and not (tmp_path / "unmade").exists(), "told before anything runs"


def test_wrong_usage(runs: Path, tmp_path: Path) -> None:
    for words in (
        [tmp_path / "none"],
        [runs / "away", "--baseline", tmp_path / "none"],
        [runs / "away", "--waivers", tmp_path / "none.toml"],
        [runs / "away", "--update"],
        [runs / "away", "--baseline", runs / "sound", "--accept"],
        [runs / "away", "--baseline", runs / "away", "--update"],
    ):
        result = cli("gate", *words)
        assert result.exit_code == 2 and len(result.output.splitlines()) == 1, result.output


def test_damaged_operands_are_no_traceback(runs: Path) -> None:
    whole = read_run(runs / "away")
    waivers = read_waivers(waiver_file(runs, {"tolerance": {"kind": "nan only"}}), ["dev"])
    with pytest.raises(DamagedFile, match="discrepancies"):
        gate(replace(whole, discrepancies=whole.discrepancies.assign(operands="{")), None, waivers, TODAY)


def test_update_replaces_the_baseline_only_if_nothing_new_failed(runs: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "kept" / "baseline"
    made = cli("gate", runs / "sound", "--baseline", baseline, "--update", "--accept")
    assert made.exit_code == 0 and read_run(baseline).info["backends"][0]["version"] == "1.0"
    (baseline / "NOTES.md").write_text("mine")
    for name, expected in (("away", 1), ("aborts", 3)):
        refused = cli("gate", runs / name, "--baseline", baseline, "--update")
        assert refused.exit_code == expected and "stays as it was" in refused.output
        assert read_run(baseline).info["backends"][0]["version"] == "1.0"
    assert cli("gate", runs / "away", "--baseline", baseline, "--update", "--accept").exit_code == 0
    assert cli("gate", runs / "away", "--baseline", baseline).exit_code == 0
    assert cli("gate", runs / "sound", "--baseline", baseline, "--update").exit_code == 0
    assert read_run(baseline).info["backends"][0]["version"] == "1.0"
    assert (baseline / "NOTES.md").read_text() == "mine"
    assert [path.name for path in baseline.parent.iterdir()] == ["baseline"], "nothing half-made is left"


def full_disk(*paths: Path, **how: Any) -> None:
    raise OSError(28, "No space left on device")


def test_update_leaves_other_folders_and_the_old_baseline_alone(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_text("x")
    with pytest.raises(InvalidInput, match="no run here"):
        update_baseline(runs / "sound", tmp_path / "photos")
    shutil.copytree(runs / "away", tmp_path / "baseline")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", full_disk)
        with pytest.raises(InvalidInput, match="No space left"):
            update_baseline(runs / "sound", tmp_path / "baseline")
    assert read_run(tmp_path / "baseline").info["backends"][0]["version"] == "2.0"
    shutil.copytree(runs / "away", tmp_path / "linked")
    (tmp_path / "linked" / "report.html").unlink(missing_ok=True)
    (tmp_path / "linked" / "report.html").symlink_to("/etc/hostname")
    with pytest.raises(InvalidInput, match="a link"):
        update_baseline(tmp_path / "linked", tmp_path / "baseline")


def test_a_waiver_that_never_matched_names_the_causes_that_are_there(runs: Path) -> None:
    found = gated(runs, "away", "away", {"cause": "wrong tie rule: NEAREST_TOWARD_INFINITY (only at ties)"})
    (row,) = found["waivers"]
    assert row["status"] == "stale" and found["exit"] == 1
    assert row["why"].endswith("causes that are here: wrong tie rule: NEAREST_TOWARD_INFINITY")
