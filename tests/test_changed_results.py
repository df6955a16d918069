"""Did any result change, deviating or not, and does all run that ran before? compare and gate answer both."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tiebreak.cli import main
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.gate.compare import compare
from tiebreak.conformance.gate.gate import gate
from tiebreak.conformance.main_job import RunLimits, main_job
from tiebreak.reports.alerts import alerts_of
from tiebreak.reports.comparison import difference_lines
from tiebreak.reports.gate import gate_markdown, headline
from tiebreak.reports.records import Run, read_run, write_run
from tiebreak.reports.root_cause import UNWRITTEN

TODAY = date(2026, 6, 1)
QUANTIZE, DEQUANTIZE = "onnx.QuantizeLinear", "onnx.DequantizeLinear"
BOXES = f"""
import numpy as np
from tiebreak import Unsupported

class Box:
    name, version, configuration_of = "box", "1", "box"
    maps = {{"{DEQUANTIZE}": "the same in this box"}}
    operators = {{"{QUANTIZE}"}}

    def __init__(self, *, nan=0, zero=0.0, half=0.0, refuses=""):
        self.nan, self.zero, self.half, self.refuses = nan, zero, half, refuses

    def compile(self, node):
        x, y = (one[0].dtype.name for one in (node.inputs, node.outputs))
        if (x, y) not in (("float32", "uint8"), ("float32", "int8"), ("uint8", "float32")) or y == self.refuses:
            raise Unsupported("no such types")
        if set(node.attributes) - {{"axis"}}:
            raise Unsupported("plain nodes only")
        return self.dequantize if x == "uint8" else lambda *inputs: self.quantize(y, *inputs)

    def quantize(self, name, x, scale, zero_point=0):
        if np.ndim(scale):
            raise Unsupported("per tensor only")
        info = np.iinfo(name)
        with np.errstate(all="ignore"):
            q = np.rint(np.asarray(x / scale, np.float64)) + np.float64(zero_point)
        return (np.where(np.isnan(q), self.nan, np.clip(q, info.min, info.max)).astype(name),)

    def dequantize(self, x, scale, zero_point=np.uint8(0)):
        if np.ndim(scale):
            raise Unsupported("per tensor only")
        real = (np.float32(x) - np.float32(zero_point)) * scale
        return (np.where(real == 0, np.float32(self.zero), real + np.float32(self.half)).astype(np.float32),)

box, again, nan, zero = Box(), Box(), Box(nan=7), Box(zero=-0.0)
refuses, hazard = Box(refuses="int8"), Box(half=0.5)
"""
NAMES = ("box", "again", "nan", "zero", "refuses", "hazard")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "boxes.py").write_text(BOXES)
    selection = Selection((QUANTIZE, DEQUANTIZE), level="brief")
    for name in NAMES:
        main_job([f"{folder}/boxes.py:{name}"], selection, folder / name, RunLimits(), show="nothing")
    return folder


def cli(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def both(runs: Path, one: str, other: str, **how: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    a, b = (read_run(runs / name) for name in (one, other))
    return compare(a, b, **how), gate(b, a, [], TODAY, **how)


def test_nothing_changed_between_two_equal_runs(runs: Path) -> None:
    for found in both(runs, "box", "again", any_change=True, must_run=True):
        assert (found["exit"], found["changed"], found["not_run"]) == (0, [], [])
    assert headline(both(runs, "box", "again")[1]) == "nothing new"


@pytest.mark.parametrize(("name", "operator"), [("nan", QUANTIZE), ("zero", DEQUANTIZE)])
def test_a_result_that_conforms_and_changed_is_seen(runs: Path, name: str, operator: str) -> None:
    """Another answer where the document is silent, and the sign of a zero where it says nothing about signs."""
    for found in both(runs, "box", name):
        assert found["exit"] == 0 and [row["operator"] for row in found["changed"]] == [operator]
    for found in both(runs, "box", name, any_change=True):
        (row,) = found["changed"]
        assert found["exit"] == 1 and 0 < row["cases"] == row["conforming"] < row["of"]
        assert "deviates" not in row["verdicts"]
    kept = both(runs, "box", name)[1]
    assert headline(kept) == "no new discrepancies, but changed results"


def test_the_commands_show_the_first_element_that_changed(runs: Path, tmp_path: Path) -> None:
    page, junit = tmp_path / "page.html", tmp_path / "gate.xml"
    for words in (["compare", runs / "box", runs / "nan"], ["gate", runs / "nan", "--baseline", runs / "box"]):
        assert cli(*words).exit_code == 0 and " cases that ran both times gave other bits" in cli(*words).output
        told = cli(*words, "--any-change", *(["--html", page] if words[0] == "compare" else ["--junit", junit]))
        assert told.exit_code == 1 and f"other bits: box, {QUANTIZE}: in " in told.output
        assert " was 0 and is 7" in told.output
    assert " was 0 and is 7" in page.read_text()
    (failure,) = ElementTree.parse(junit).getroot().iter("failure")
    assert " was 0 and is 7" in str(failure.text)
    signs = json.loads(cli("compare", runs / "box", runs / "zero", "--json").output)["changed"]
    assert [row["example"] for row in signs] == ["the sign of a zero"]


def test_a_case_that_no_longer_runs_is_support_lost(runs: Path) -> None:
    for found in both(runs, "box", "refuses"):
        assert found["exit"] == 0 and [row["operator"] for row in found["not_run"]] == [QUANTIZE]
    for found in both(runs, "box", "refuses", must_run=True):
        assert found["exit"] == 1
    assert both(runs, "refuses", "box", must_run=True)[1]["exit"] == 0
    for words in (["compare", runs / "box", runs / "refuses"], ["gate", runs / "refuses", "--baseline", runs / "box"]):
        told = cli(*words, "--must-run")
        assert told.exit_code == 1 and f"not run box, {QUANTIZE}: " in told.output
    whole = read_run(runs / "box")
    part = replace(whole, results=whole.results[whole.results["operator"] == QUANTIZE])
    (row,) = gate(part, whole, [], TODAY, must_run=True)["not_run"]
    assert (row["operator"], row["cases"]) == (DEQUANTIZE, row["of"]), (
        "an operator that is no longer claimed is lost, too"
    )


def test_where_no_case_ran_both_times_nothing_is_said_to_be_unchanged(runs: Path) -> None:
    whole = read_run(runs / "box")
    one, other = (
        replace(whole, results=whole.results[whole.results["operator"] == name]) for name in (QUANTIZE, DEQUANTIZE)
    )
    assert gate(one, other, [], TODAY)["exit"] == 0
    found = gate(one, other, [], TODAY, any_change=True)
    assert found["exit"] == 4 and headline(found) == "no case ran in the baseline, too: nothing was compared"


def test_memory_that_nobody_wrote_is_the_same_whatever_was_left_there(runs: Path) -> None:
    run = read_run(runs / "hazard")
    first = run.discrepancies["case"].iloc[0]

    def left(bits: str, digest: int, cause: str) -> Run:
        own, cases = run.discrepancies["case"] == first, run.results["case"] == first
        rows = run.discrepancies.assign(
            got_bits=run.discrepancies["got_bits"].astype("string").mask(own, bits),
            cause_id=run.discrepancies["cause_id"].astype("string").mask(own, cause),
        )
        results = run.results.assign(digest=run.results["digest"].mask(cases, digest))
        return replace(run, discrepancies=rows, results=results)

    named = [left("0x00000001", 5, UNWRITTEN), left("0x00000002", 6, UNWRITTEN)]
    for found in (compare(*named, any_change=True), gate(*reversed(named), [], TODAY, any_change=True)):
        assert (found["exit"], found["changed"]) == (0, [])
    assert compare(named[0], left("0x00000002", 6, "other"), any_change=True)["exit"] == 1


def test_a_new_hazard_is_a_changed_result_and_never_nothing_new(runs: Path) -> None:
    silent, loud = both(runs, "box", "hazard")[1], both(runs, "box", "hazard", any_change=True)
    assert silent["exit"] == 0 and silent["hazards"]
    assert headline(silent) == "no new discrepancies, but new conversion hazards and changed results"
    assert [found["exit"] for found in loud] == [1, 1]
    assert headline(loud[1]) == "new conversion hazards and changed results"
    unseen = gate(read_run(runs / "hazard"), None, [], TODAY)
    assert headline(unseen) == "no new discrepancies, but new conversion hazards"


def test_what_the_gate_was_asked_for_is_in_its_alerts(runs: Path) -> None:
    found = {"run": "r", "baseline": "b", "waiver_file": None}
    silent = found | both(runs, "box", "hazard")[1]
    loud = found | both(runs, "box", "hazard", any_change=True, must_run=True)[1]
    lost = found | both(runs, "box", "refuses", must_run=True)[1]
    kinds = [[alert.rule for alert in alerts_of(one)] for one in (silent, loud, lost)]
    assert kinds[0] == [] and set(kinds[1]) == {"new-conversion-hazard", "changed-results"}
    assert kinds[2] == ["cases-that-no-longer-run"]
    assert "other bits: box" in gate_markdown(loud) and "other bits: box" not in gate_markdown(silent)


def test_an_update_forgets_no_change_unless_it_is_accepted(runs: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline"
    words = ["gate", runs / "nan", "--baseline", baseline, "--update", "--any-change"]
    assert cli("gate", runs / "box", "--baseline", baseline, "--update", "--accept", "--any-change").exit_code == 0
    refused = cli(*words)
    assert refused.exit_code == 1 and "stays as it was" in refused.output
    accepted = cli(*words, "--accept")
    assert accepted.exit_code == 0 and "accepted" in accepted.output
    assert cli("gate", runs / "nan", "--baseline", baseline, "--any-change").exit_code == 0


def as_older(run: Run) -> Run:
    return replace(run, results=run.results.assign(digest=np.uint64(0)))


def test_a_run_of_an_older_version_says_that_it_has_no_answer(runs: Path, tmp_path: Path) -> None:
    older = as_older(read_run(runs / "box"))
    (tmp_path / "older").mkdir()
    write_run(tmp_path / "older", older, [])
    for words in (
        ["compare", tmp_path / "older", runs / "nan"],
        ["gate", runs / "nan", "--baseline", tmp_path / "older"],
    ):
        told = cli(*words)
        assert told.exit_code == 0 and "is not known" in told.output
        refused = cli(*words, "--any-change")
        assert refused.exit_code == 2 and f"{tmp_path / 'older'}: an older version made this run" in refused.output
    again = cli("gate", tmp_path / "new", "-b", "numpy-naive", "--any-change", "--baseline", tmp_path / "older")
    assert again.exit_code == 2 and not (tmp_path / "new").exists(), "told before anything runs"
    assert cli("gate", runs / "nan", "--any-change").exit_code == 2, "there is nothing to compare with"


def test_golden_vectors_that_were_built_anew_are_said(runs: Path) -> None:
    """A vector keeps its id when its inputs change, so that another result may be no change of the backend."""
    one, other = read_run(runs / "box"), read_run(runs / "again")
    vectors = {QUANTIZE: {**one.info["vectors"][QUANTIZE], "sha256": "0"}, DEQUANTIZE: one.info["vectors"][DEQUANTIZE]}
    older = replace(one, info=one.info | {"vectors": vectors})
    for found in (compare(older, other), gate(other, older, [], TODAY)):
        assert found["vectors"] == [QUANTIZE]
        assert f"other golden vectors of {QUANTIZE}: a result may differ for that" in difference_lines(found)
    fewer = {QUANTIZE: {"vectors": 1, "sha256": "0"}}
    assert compare(replace(one, info=one.info | {"vectors": fewer}), other)["vectors"] == [], "of another level"


def test_digests_are_of_cases_that_ran(runs: Path) -> None:
    rows = read_run(runs / "box").results
    ran = rows["verdict"] != "unsupported"
    assert (rows["digest"][ran] != 0).all() and (rows["digest"][~ran] == 0).all() and ran.any() and not ran.all()


def test_the_level_is_the_baseline_s_unless_it_is_given(runs: Path, tmp_path: Path) -> None:
    words = ["gate", tmp_path / "run", "-b", f"{runs}/boxes.py:box", "--operator", QUANTIZE, "--input-type", "float32"]
    assert cli(*words, "--baseline", runs / "box").exit_code in (0, 1)
    assert read_run(tmp_path / "run").info["level"] == "brief"
    assert len(plan(Selection((QUANTIZE,), input_type="float32", level="brief"))) == len(
        read_run(tmp_path / "run").results
    )
    case = ["--case", read_run(tmp_path / "run").results["case"][0]]
    for level, given in (("full", ["--baseline", runs / "box", "--level", "full"]), ("quick", [])):
        cli(*words, *case, *given)
        assert read_run(tmp_path / "run").info["level"] == level
