"""What an audit says of operators that have no table: why, and which of their arithmetics runs name as causes."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Absent
from tiebreak.conformance.semantics.causes import sentence_of

SEVERAL = {
    "tensorflow.Dequantize": ("range-ratio-first", "min-first-in-float32", "divides-by-step"),  # one of each mode
}


def refusal_of(operator: str) -> str:
    run = CliRunner().invoke(main, ["audit", "numpy-naive", "--operator", operator])
    assert run.exit_code == 2
    return " ".join(run.output.split())


@pytest.mark.parametrize("operator", SEVERAL)
def test_a_refusal_says_which_arithmetics_runs_name(operator: str) -> None:
    """Each of them is a cause of the operator."""
    said, record = refusal_of(operator), TESTED[operator]
    assert not isinstance(record.mistakes, Absent)
    known = {cause.id for cause, _ in record.mistakes}
    assert "Runs name other arithmetics as causes" in said
    assert all(key in known and sentence_of(key) in said for key in SEVERAL[operator])


@pytest.mark.parametrize("operator", SEVERAL)
def test_every_sentence_of_a_refusal_is_one_of_the_operators_causes(operator: str) -> None:
    record = TESTED[operator]
    assert isinstance(record.semantics, Absent) and not isinstance(record.mistakes, Absent)
    known = {sentence_of(cause.id) for cause, _ in record.mistakes}
    _, told = record.semantics.reason.split("as causes: ")
    assert len(told.split("; ")) >= 5 and {*told.split("; ")} <= known


def test_where_nothing_is_rounded_a_refusal_says_so() -> None:
    assert "nothing is rounded: every order of its steps is exact in float32" in refusal_of("gguf.Dequantize")


def test_of_an_unknown_operator_no_reason_is_given() -> None:
    said = refusal_of("onnx.Nothing")
    assert "'onnx.Nothing'" in said and "as causes" not in said
