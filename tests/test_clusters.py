"""Root causes of a run: clusters, their smallest witnesses cut down, and the page of findings."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tiebreak.adapters.outcome import Outcome
from tiebreak.cli import main
from tiebreak.conformance.causes.root_causes import root_cause_rows
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.running.failures import failures_of
from tiebreak.conformance.running.shrink import ShrunkCase, shrink
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.reports.findings import findings, issue_of, md
from tiebreak.reports.folding import FoldedCause, folded_causes
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES, Run, read_run, typed_frame
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.severity import leading_domain, severity
from tiebreak.reports.text_columns import with_plain_text


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("onnx")
    folder = tmp_path_factory.mktemp("clusters")
    chosen = ["--operator", "onnx.QuantizeLinear", "--type", "uint8", "--level", "quick"]
    result = CliRunner().invoke(main, ["run", "-b", "onnx-reference", *chosen, "-o", str(folder)])
    assert result.exit_code == 1, result.stderr
    assert "C001" in result.stdout
    return folder


@pytest.mark.slow
def test_every_discrepancy_is_in_one_cluster_with_its_smallest_witness(run_dir: Path) -> None:
    run = read_run(run_dir)
    clusters = run.info["clusters"]
    assert sum(cluster["elements"] for cluster in clusters) == len(run.discrepancies) > 0
    assert len({(c["backend"], c["operator"], c["cause"]) for c in clusters}) == len(clusters) <= 12
    sizes = run.results.set_index("case")["elements"]
    for cluster in clusters:
        own = run.discrepancies[run.discrepancies["cause"] == cluster["cause"]]
        plainest = own[own["domain"] == leading_domain(cluster)]
        assert cluster["witness"]["elements"] == min(sizes[case] for case in plainest["case"])
        assert sum(share["elements"] for share in cluster["domains"].values()) == cluster["elements"]
        assert all(0 < share["elements"] <= share["judged"] for share in cluster["domains"].values())
        assert cluster["sentence"].startswith("onnx.QuantizeLinear on onnx-reference")
        assert f"gives {cluster['witness']['got']}, not {cluster['witness']['expected']}" in cluster["sentence"]


@pytest.mark.slow
def test_a_clusters_reproducer_is_cut_down_and_shows_it(run_dir: Path, tmp_path: Path) -> None:
    for cluster in read_run(run_dir).info["clusters"]:
        script = CliRunner().invoke(main, ["repro", cluster["id"], "--run", str(run_dir)])
        assert script.exit_code == 0, script.stderr
        path = tmp_path / "script.py"
        path.write_text(script.stdout)
        shown = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, timeout=120)
        assert shown.returncode == 1, shown.stdout + shown.stderr
        (x,) = [line for line in script.stdout.splitlines() if line.startswith("x = ")]
        assert x.count("0x") == 1, x
    unknown = CliRunner().invoke(main, ["repro", "C999", "--run", str(run_dir)])
    assert unknown.exit_code == 2 and "no cluster 'C999'" in unknown.stderr


def test_the_page_of_findings_names_each_cause_with_severity_and_witness(run_dir: Path, tmp_path: Path) -> None:
    page = tmp_path / "findings.md"
    result = CliRunner().invoke(main, ["report", str(run_dir), "--findings", str(page)])
    assert result.exit_code == 0 and result.stdout.strip() == str(page)
    text = page.read_text()
    for cluster in read_run(run_dir).info["clusters"]:
        assert f"| {cluster['id']} | onnx-reference" in text
    assert "wrong value" in text and "## Where the document is silent" in text
    assert "## Searched and found clean" in text


def test_what_configurations_of_a_library_have_in_common_stands_once() -> None:
    row = {"operator": "o", "version": "1", "cause": "c", "types": ["a"], "clause": "X-1", "farthest": 1}
    row |= {"id": "C1", "backend": "lib-fast", "elements": 5, "cases": 2, "boundary_ulp": 0.0}
    plain = {**row, "id": "C2", "backend": "lib", "types": ["b"], "elements": 3, "farthest": 7, "boundary_ulp": None}
    others = [{**row, "backend": "other"}, {**row, "operator": "p"}, {**row, "cause": "d"}]
    names = [{"name": name, "version": "1", "library": "lib"} for name in ("lib-fast", "lib", "lib-other")]
    info = {"backends": [*names, {"name": "other", "version": "1"}], "clusters": [row, plain, *others]}
    (first, *rest) = folded_causes(Run(info, pd.DataFrame(), pd.DataFrame()))
    assert [one.row["id"] for one in rest] == ["C1"] * len(others)
    assert (first.ids, first.who, first.row["elements"], first.row["cases"]) == (["C1", "C2"], "lib, -fast", 8, 4)
    assert (first.row["types"], first.row["farthest"], first.row["boundary_ulp"]) == (["a", "b"], 7, None)


def test_severity_and_escaping() -> None:
    row = {"types": ["float32 to int8"], "farthest": 1, "boundary_ulp": 0.0}
    assert severity(row) == "wrong by one at ties"
    assert severity({**row, "boundary_ulp": 1.0}) == "wrong by one next to a decision boundary"
    assert severity({**row, "farthest": 2}) == severity({**row, "boundary_ulp": None}) == "wrong value"
    assert severity({**row, "types": ["float32 to float32"], "farthest": 3}) == "wrong real result"
    assert md("<b>|x|\x1b[31m</b>") == "&lt;b&gt;\\|x\\| \\[31m&lt;/b&gt;"


def test_failures_are_told_by_message(run_dir: Path) -> None:
    run = read_run(run_dir)
    results = with_plain_text(run.results)
    results.loc[:2, "verdict"] = "crash"
    results.loc[:2, "message"] = ["killed at 0xdeadbeef"] * 3
    failures = failures_of(results, {"onnx-reference": "1"})
    text = findings(replace(run, results=results, info=run.info | {"failures": failures}))
    assert "## Crashes, hangs and wrong shapes" in text and "crash: killed at 0xdeadbeef | 3 of " in text


def test_answers_of_one_operand_are_no_part_of_a_root_cause() -> None:
    one = root_of("path-dependent: 94 per tensor; 93 per axis")
    assert one == root_of("path-dependent: -3.5 per axis; 103 per tensor")
    assert one == "path-dependent: per axis; per tensor"
    assert root_of("wraps around") == "wraps around"
    none = typed_frame([], DISCREPANCY_DTYPES), typed_frame([], RESULT_DTYPES)
    assert root_cause_rows(*none, {}) == []


def test_the_witness_of_a_root_cause_shows_the_clause_that_is_cited() -> None:
    """The plainest element breaks another clause than most. No pathological one is the witness, however many there are.

    Four break ONC-R6 and are pathological; of the calibrated ones two break ONC-R4 and one, the first, ONC-R5.
    """
    shared = {"backend": "it", "operator": "onnx.Cast", "operands": '[["input", "0x3fc00000", "1.5"]]'}
    shared |= {"cause": "it", "cause_id": "it", "result_type": "float8_e8m0fnu"}
    clauses = ("ONC-R5", "ONC-R4", "ONC-R4", *["ONC-R6"] * 4)
    domains = (*["calibrated"] * 3, *["pathological"] * 4)
    rows = [
        shared | {"id": f"d{number}", "case": "c", "clause": clause, "domain": domain}
        for number, (clause, domain) in enumerate(zip(clauses, domains, strict=True))
    ]
    results = typed_frame([], RESULT_DTYPES)
    (found,) = root_cause_rows(typed_frame(rows, DISCREPANCY_DTYPES), results, {})
    assert (found["clause"], found["witness"]["id"]) == ("ONC-R4", "d1")


def test_a_root_cause_says_all_that_conforms_and_its_witness_types_first() -> None:
    """The plainest element is the only one of its types."""
    shared = {"backend": "it", "operator": "onnx.QuantizeLinear", "operands": "[]", "case": "c", "clause": "ONQ-F1"}
    shared |= {"cause": "it", "cause_id": "it", "result_type": "uint16", "input_type": "float16"}
    results = {
        "expected": 55293,
        "expected_working": 55296,
        "expected_bits": 55293,
        "working_bits": 55296,
        "got": 55294,
    }
    rows = [shared | results | {"id": "d0", "domain": "calibrated", "output_type": "uint16"}]
    rows += [shared | results | {"id": f"d{n}", "domain": "edge", "output_type": "float8_e5m2"} for n in (1, 2)]
    (found,) = root_cause_rows(typed_frame(rows, DISCREPANCY_DTYPES), typed_frame([], RESULT_DTYPES), {})
    assert found["types"] == ["float16 to uint16", "float16 to float8_e5m2"]
    assert (found["witness"]["expected"], found["witness"]["got"]) == ("55293 or 55296", "55294")
    assert "gives 55294, not 55293 or 55296" in found["sentence"]


def backend_with(wrong: Any) -> Any:
    """One that is right except where `wrong` of (inputs, result) says otherwise."""

    def run(case: Case) -> Outcome:
        exact = truths_of(case).judged_by.exact.reshape(case.inputs[0].shape).astype(case.node.outputs[0].dtype)
        return Outcome("ok", (wrong(case.inputs, exact),))

    return run


def test_shrinking_keeps_what_is_needed_and_no_more() -> None:
    node = make_node("onnx.QuantizeLinear", quantized="int8", attributes={"axis": 1})
    x = np.arange(60, dtype=np.float32).reshape(4, 5, 3)
    inputs = (x, np.ones(5, np.float32), np.zeros(5, np.int8))

    def anywhere(inputs: Any, exact: Any) -> Any:
        return np.where(inputs[0] == 37, np.int8(1), exact)

    place = int(np.flatnonzero(x.reshape(-1) == 37)[0])
    found = shrink(backend_with(anywhere), ShrunkCase(Case("c", node, inputs), place, 1))
    assert found.case.inputs[0].shape == (1, 1, 1) and found.place == 0
    assert [array.size for array in found.case.inputs] == [1, 1, 1]

    def in_long_rows(inputs: Any, exact: Any) -> Any:
        """Only in rows of two and more."""
        return anywhere(inputs, exact) if inputs[0].shape[-1] > 1 else exact

    found = shrink(backend_with(in_long_rows), ShrunkCase(Case("c", node, inputs), place, 1))
    assert found.case.inputs[0].shape == (1, 1, 3)
    assert found.case.inputs[0].reshape(-1)[found.place] == 37
    kept = shrink(backend_with(lambda inputs, exact: exact), ShrunkCase(Case("c", node, inputs), place, 1))
    assert kept.case.inputs[0].shape == (4, 5, 3)


def test_the_summary_for_machines_has_the_clusters(run_dir: Path) -> None:
    chosen = ["--operator", "onnx.QuantizeLinear", "--input", "x=3e9", "--input", "y_scale=1"]
    result = CliRunner().invoke(main, ["run", "-b", "onnx-reference", *chosen, "-o", str(run_dir / "typed"), "--json"])
    (cluster,) = json.loads(result.stdout)["clusters"]
    assert cluster["elements"] == 1 and cluster["witness"]["operands"][0][2] == "3000000000.0"


def test_public_issues_are_found_by_backend_operator_and_cause() -> None:
    row = {"backend": "torch-decomposed", "operator": "onnx.QuantizeLinear", "cause_id": "wraps + rounds-in-body:8,UP"}
    others = [row | {"backend": "mine"}, row | {"operator": "ngraph.Quantize"}, row | {"cause_id": "wraps"}]
    assert issue_of(FoldedCause(row, (row,))) == "pytorch/pytorch#60077"
    assert not any(issue_of(FoldedCause(one, (one,))) for one in others)
