"""A run from cases to records to report, on small backends in real workers."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tiebreak.conformance.cases.generators import generate_cases
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.assembling import exit_code_of_run
from tiebreak.conformance.running.backends import run_cases
from tiebreak.golden.elements import exponent_of
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.reports.html import render
from tiebreak.reports.records import (
    RESULT_DTYPES,
    Run,
    as_run,
    read_generated,
    read_run,
    typed_frame,
    write_run,
)
from tiebreak.reports.severity import percent
from tiebreak.reports.summary import boundary_grade, cause_groups, json_summary, mode_matrix, verdict_counts

SAMPLES = Path(__file__).parent / "sample_backends.py"
SELECTION = Selection(operators=("onnx.QuantizeLinear",), input_type="float32", output_type="uint8", level="quick")
FACTS = {"command": "tiebreak run", "level": "quick", "seed": 0, "time_limit": 30, "folder": "run"}


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return plan(SELECTION)


def run_of(names: list[str], cases: list[Case]) -> tuple[Run, list[Case]]:
    records = run_cases([f"{SAMPLES}:{name}" for name in names], cases, time_limit=30, facts=dict(FACTS))
    return as_run(records), list(records.generated)


@pytest.fixture(scope="module")
def run(cases: list[Case]) -> Run:
    return run_of(["sound", "wrong", "raises"], cases)[0]


@pytest.mark.slow
def test_every_planned_case_has_a_verdict(run: Run, cases: list[Case]) -> None:
    for backend in ("sound", "wrong", "raises"):
        verdicts = verdict_counts(run.results)[(backend, "onnx.QuantizeLinear")]
        assert sum(verdicts.values()) == len(cases)
    elements = run.results[["exact", "working_precision", "unspecified", "deviates"]].sum(axis=1)
    ran = ~run.results["verdict"].isin(["error", "unsupported"])
    assert (elements[ran] == run.results["elements"][ran]).all()


def test_sound_conforms_wrong_deviates_and_failure_is_neither(run: Run) -> None:
    counts = verdict_counts(run.results)
    assert "deviates" not in counts[("sound", "onnx.QuantizeLinear")]
    assert counts[("wrong", "onnx.QuantizeLinear")]["deviates"] > 10
    assert set(counts[("raises", "onnx.QuantizeLinear")]) == {"error", "unsupported"}  # a node with constants
    assert set(run.discrepancies["backend"]) == {"wrong"}
    assert set(run.discrepancies["cause"]) == {"wrong tie rule: NEAREST_TOWARD_INFINITY"}
    assert set(run.discrepancies["clause"]) == {"ONQ-R1"}
    # 1 where a quotient is no tie in truth but becomes one in float32.
    assert set(run.discrepancies["boundary_ulp"]) == {0, 1}
    assert run.info["exit"] == 1


def test_matrix_compares_with_all_nine_modes(run: Run) -> None:
    matrix = mode_matrix(run.results).set_index("backend")
    assert matrix.loc["sound", "differs_NEAREST_TOWARD_EVEN"] == 0
    assert matrix.loc["sound", "differs_NEAREST_TOWARD_INFINITY"] > 0
    assert matrix.loc["wrong", "differs_NEAREST_TOWARD_INFINITY"] == 0
    assert matrix.loc["wrong", "differs_NEAREST_TOWARD_EVEN"] == len(run.discrepancies)
    assert "raises" not in matrix.index


def test_backends_are_compared_with_one_another(run: Run) -> None:
    (pair,) = run.info["pairs"]
    assert (pair["a"], pair["b"]) == ("sound", "wrong")
    assert pair["differ"] >= len(run.discrepancies) > 0


def test_unspecified_is_observed(run: Run) -> None:
    rows = [row for row in run.info["observed"] if row["backend"] == "sound"]
    assert {row["situation"] for row in rows} >= {"input NaN", "scale NaN", "input +infinity", "scale zero"}


def test_records_come_back_as_written_and_others_can_read_them(run: Run, tmp_path: Path) -> None:
    generated = generate_cases("onnx.QuantizeLinear", 20, seed=0)
    write_run(tmp_path, run, generated)
    again = read_run(tmp_path)
    pd.testing.assert_frame_equal(again.results, run.results)
    pd.testing.assert_frame_equal(again.discrepancies, run.discrepancies)
    assert pq.read_table(tmp_path / "discrepancies.parquet").num_rows == len(run.discrepancies)
    back = read_generated(tmp_path)
    assert [case.id for case in back] == [case.id for case in generated]
    for one, other in zip(back, generated, strict=True):
        assert one.node.key == other.node.key
        assert [a.tobytes() for a in one.inputs] == [b.tobytes() for b in other.inputs]
    assert render(again, "run") == render(run, "run")
    assert not list(tmp_path.glob(".*")), "nothing half-written is left"


def test_a_generated_case_is_found_again_by_its_id(run: Run, tmp_path: Path) -> None:
    generated = generate_cases("onnx.QuantizeLinear", 20, seed=0)
    write_run(tmp_path, run, generated)
    (found,) = plan(Selection(case_ids=(generated[0].id,), earlier_run=tmp_path))
    assert found.id == generated[0].id
    with pytest.raises(InvalidInput, match="no case"):
        plan(Selection(case_ids=(generated[0].id,)))


@pytest.mark.parametrize("name", ["results.parquet", "discrepancies.parquet", "run.json"])
def test_damaged_run_file_is_named(run: Run, tmp_path: Path, name: str) -> None:
    write_run(tmp_path, run, [])
    (tmp_path / name).write_bytes(b"PAR1 no")
    with pytest.raises(DamagedFile, match=name):
        read_run(tmp_path)


def test_hostile_name_version_and_message_are_escaped(cases: list[Case]) -> None:
    page = render(run_of(["hostile", "raises"], cases[:40])[0], "<i>folder</i>")
    assert page.count("<script") == 1  # the report's own
    assert "&lt;script&gt;alert(&#39;name&#39;)&lt;/script&gt;" in page
    assert "<img" not in page
    assert "<b>no" not in page
    assert "&lt;b&gt;no &amp; never&lt;/b&gt;" in page
    assert "<i>folder" not in page


def test_report_is_one_file_that_refers_to_nothing_outside(run: Run) -> None:
    page = render(run, "run")
    outside = re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)([^"']*)""", page)
    assert set(outside) <= {"discrepancies.parquet", "results.parquet", "run.json"}  # its neighbours, never fetched
    named = page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")  # a name that nothing fetches
    assert "http" not in named
    assert "@import" not in page
    assert "url(" not in page


def test_report_shows_matrix_causes_bits_and_a_replay_command(run: Run) -> None:
    page = render(run, "run")
    first = run.discrepancies.iloc[0]
    assert "wrong tie rule: NEAREST_TOWARD_INFINITY" in page
    assert f"0x{int(first['input_bits']):08x}" in page
    assert f"tiebreak repro {run.info['clusters'][0]['id']} --run run" in page
    assert '"case":"onnx.QuantizeLinear/float32/uint8/' in page
    assert "ONQ-R1" in page


def test_two_backends_of_one_name_are_kept_apart(cases: list[Case]) -> None:
    found, _ = run_of(["sound", "sound"], cases[:5])
    assert [backend["name"] for backend in found.info["backends"]] == ["sound", "sound (2)"]
    assert set(json_summary(found, "run")["backends"]) == {"sound", "sound (2)"}


def code_of(verdicts: list[str], *, document: str = "own", fault: str = "", judge_foreign: bool = False) -> int:
    rows = [{"verdict": verdict, "document": document, "fault": fault} for verdict in verdicts]
    return exit_code_of_run(typed_frame(rows, RESULT_DTYPES), judge_foreign=judge_foreign)


def test_exit_codes() -> None:
    assert code_of(["exact", "unspecified", "working-precision", "unsupported"]) == 0
    assert code_of(["exact", "deviates", "crash"]) == 1
    assert code_of(["exact", "timeout"]) == 3
    assert code_of(["exact", "deviates", "error"], fault="not judged") == 3
    assert code_of(["unsupported"]) == code_of([]) == 4


def test_a_foreign_document_counts_for_the_exit_code_only_if_asked() -> None:
    assert code_of(["exact", "deviates"], document="foreign") == 0
    assert code_of(["exact", "deviates"], document="foreign", judge_foreign=True) == 1
    assert code_of(["exact", "crash"], document="foreign") == 3


def test_shares_never_round_to_nothing_or_all() -> None:
    assert [percent(0, 9), percent(9, 9), percent(0, 0)] == ["0 %", "100 %", "–"]
    assert percent(1, 10**6) == "< 0.01 %"
    assert percent(10**6 - 1, 10**6) == "> 99.99 %"
    assert percent(1, 3) == "33.3 %"


def test_grades() -> None:
    assert boundary_grade(0) == "only on a decision boundary"
    assert boundary_grade(2) == "only within 2 ulp of a decision boundary"
    assert boundary_grade(float("inf")) == "also far from a decision boundary"


def test_causes_are_counted_by_group(run: Run) -> None:
    groups = cause_groups(run.discrepancies)
    assert groups["elements"].sum() == len(run.discrepancies)
    assert list(groups.columns[:4]) == ["backend", "operator", "cause", "clause"]


def test_what_was_judged_is_counted_by_the_exponent_of_the_input(run: Run, cases: list[Case]) -> None:
    """Against the inputs themselves; of cases with unspecified elements no more than there are."""
    sound = next(backend for backend in run.info["backends"] if backend["name"] == "sound")
    results = run.results[run.results["backend"] == "sound"].set_index("case")
    counts: Counter[int] = Counter()
    for case in cases:
        row = results.loc[case.id]
        if row["verdict"] in ("exact", "working-precision"):
            x = case.inputs[0].astype(np.float64).reshape(-1)
            counts.update(exponent_of(abs(Fraction(value))) for value in x[(x != 0) & np.isfinite(x)].tolist())
    judged = sound["judged"]["onnx.QuantizeLinear"]
    assert counts and all(judged[exponent] >= count for exponent, count in counts.items())
    partly = results.loc[results["verdict"] == "unspecified", "elements"].sum()
    assert counts.total() <= sum(judged.values()) <= counts.total() + partly
