"""Calls that documents forbid: what sound and careless backends answer, and that it is recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tiebreak.adapters.in_process import InProcessBackend
from tiebreak.adapters.isolation import Keep
from tiebreak.adapters.outcome import NOT_ASKED, UNASKED, Outcome
from tiebreak.cli import main
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.running.forbidden import calls_of_operators, forbidden_case, forbidden_rows
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS, get_operator
from tiebreak.reports.story import answered_calls

CALLS = list(calls_of_operators(tuple(OPERATORS)))


@pytest.mark.parametrize(("operator", "call"), CALLS, ids=[f"{call.clause} {call.what}" for _, call in CALLS])
def test_each_cites_a_clause_of_its_operator_and_can_be_asked(operator: str, call: ForbiddenCall) -> None:
    assert call.clause in {clause.id for clause in get_operator(operator).clauses}
    case = forbidden_case(operator, call, 3)
    assert case.id == f"forbidden/{operator}/3"
    assert len(case.inputs) == len(case.node.inputs)


@pytest.mark.parametrize(
    ("operators", "word"),
    [
        (("onnx.QuantizeLinear", "onnx.Cast"), "saturate"),
        (("onnx.QLinearConv", "onnx.ConvInteger"), "larger"),
        (("com.microsoft.QGemm",), "four zero points"),
    ],
)
def test_what_no_sentence_forbids_is_not_among_them(operators: tuple[str, ...], word: str) -> None:
    """Another value of a Boolean attribute, a kernel beyond the image, zero points of columns beside one scale."""
    assert not [call.what for operator, call in CALLS if operator in operators and word in call.what]


@pytest.mark.slow
def test_a_run_records_what_was_accepted_and_the_findings_say_so(tmp_path: Path) -> None:
    folder, page = tmp_path / "run", tmp_path / "findings.md"
    arguments = ["run", "-b", "openvino", "--operator", "openvino.FakeQuantize", "-o", str(folder)]
    ran = CliRunner().invoke(main, arguments)
    assert ran.exit_code == 1, ran.output
    rows = json.loads((folder / "run.json").read_text())["forbidden"]
    answers = {row["what"]: row["answer"] for row in rows}
    assert answers["levels 1"] == "accepted"  # as installed: NaN comes
    assert answers["limits of 3 for X of 2 by 2"] == "rejected"
    assert all(row["message"] for row in rows if row["answer"] == "rejected")
    assert CliRunner().invoke(main, ["report", str(folder), "--findings", str(page)]).exit_code == 0
    text = page.read_text()
    assert "## Takes what its document forbids" in text and "forbidden call accepted: levels 1 |" in text
    assert all(row["document"] == "own" for row in rows)


@pytest.mark.parametrize("fault", UNASKED)
def test_a_fault_of_ours_is_no_rejection(fault: str) -> None:
    operator, _ = CALLS[0]

    class Fails(InProcessBackend):
        def run_batch(self, cases: Sequence[Case], keep: Keep = lambda case, outcome: None) -> list[Outcome]:
            return [Outcome("error", message="ours", fault=fault) for _ in cases]

    rows = forbidden_rows([Fails("fails", "fails", "1", frozenset({operator}))], [operator])
    assert {(row["answer"], row["message"]) for row in rows} == {(NOT_ASKED, "ours")}
    assert list(answered_calls({"backends": [{"name": "fails", "version": "1"}], "forbidden": rows})) == []


def test_single_cases_try_nothing_forbidden(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    operands = ["--input", "x=1.5", "--input", "y_scale=1", "--input", "y_zero_point=0"]
    arguments = ["run", "-b", "numpy-naive", "--operator", "onnx.QuantizeLinear", *operands, "-o", str(folder)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert json.loads((folder / "run.json").read_text())["forbidden"] == []
