"""What an audit says of operators that have no table: why."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.operators.model import Absent

WITHOUT_TABLE = {
    name: record.semantics.reason for name, record in TESTED.items() if isinstance(record.semantics, Absent)
}


def refusal_of(operator: str) -> str:
    run = CliRunner().invoke(main, ["audit", "numpy-naive", "--operator", operator])
    assert run.exit_code == 2
    return " ".join(run.output.split())


@pytest.mark.parametrize("operator", WITHOUT_TABLE)
def test_a_refusal_gives_the_records_reason(operator: str) -> None:
    assert f"not '{operator}': {WITHOUT_TABLE[operator]}" in refusal_of(operator)


def test_few_operators_have_no_table() -> None:
    assert "tensorflow.FakeQuantWithMinMaxVars" in WITHOUT_TABLE and "gguf.Dequantize" not in WITHOUT_TABLE
    assert len(WITHOUT_TABLE) * 10 < len(TESTED)


def test_of_an_unknown_operator_the_nearest_are_named() -> None:
    said = refusal_of("onnx.QuantizeLinea")
    assert said.startswith("tiebreak: unknown operator 'onnx.QuantizeLinea'; did you mean onnx.QuantizeLinear")
