"""`tiebreak prove` on the command line, and the rules that have names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from proven_claims import IDENTITY, cli

from tiebreak.conformance.proving.findings import PROVED, REFUTED, UNKNOWN
from tiebreak.conformance.proving.job import prove_job
from tiebreak.conformance.proving.rules import RULES


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.where.real != "float32"])
def test_rules_of_narrow_types_come_out_as_they_say(name: str) -> None:
    if name == "dq-q-float16-int16":
        pytest.skip("a test of its own, which is slow")
    rule = RULES[name]
    assert prove_job(rule.claim, rule.domain(), None, lambda done, of: None)["verdict"] == rule.verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", [*RULES])
def test_every_rule_comes_out_as_it_says(name: str) -> None:
    rule = RULES[name]
    assert prove_job(rule.claim, rule.domain(), None, lambda done, of: None, 2)["verdict"] == rule.verdict


def test_the_exit_code_is_the_verdict(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    for words, code, verdict in (
        (["per-axis"], 0, PROVED),
        ([IDENTITY, "--float", "bfloat16"], 1, REFUTED),
        (["sigmoid = exact(sigmoid)"], 4, UNKNOWN),
    ):
        result = cli(*words, "-o", str(file), "--json")
        assert result.exit_code == code, result.output
        assert json.loads(result.stdout)["verdict"] == json.loads(file.read_text())["verdict"] == verdict
        told = cli(*words, "-o", str(file))
        assert told.exit_code == code and told.stdout.startswith(verdict)


def test_a_certificate_is_checked_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    assert cli(IDENTITY, "--float", "float16", "-o", str(file)).exit_code == 0
    checked = cli("--check", str(file), "--json")
    assert checked.exit_code == 0 and json.loads(checked.stdout)["holds"] is True
    data = json.loads(file.read_text())
    data["steps"][0]["blocks"][0][0] = "0" * 64
    file.write_text(json.dumps(data))
    checked = cli("--check", str(file))
    assert checked.exit_code == 1 and "does not hold" in checked.stdout


def test_a_file_that_is_no_certificate_is_damaged(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text('{"format": "tiebreak-proof", "version": 2}')
    result = cli("--check", str(file))
    assert result.exit_code == 2 and "damaged" in result.stderr


def test_rules_are_listed() -> None:
    assert set(json.loads(cli("--list", "--json").stdout)) == set(RULES)
    assert "dq-q-bfloat16" in cli("--list").stdout


def test_integers_do_not_wrap_and_the_output_says_so(tmp_path: Path) -> None:
    pytest.importorskip("bitwuzla")
    told = cli("(v << 3) >> 3 = v", "--let", "v=int32", "-o", str(tmp_path / "p.json"))
    assert told.exit_code == 0 and "for integers that never wrap: v from" in told.stdout


def test_a_rule_that_is_misspelt_is_named() -> None:
    result = cli("relu-q-lowst")
    assert result.exit_code == 2 and "did you mean relu-q-lowest?" in result.stderr


def test_there_is_nothing_to_check_in_what_is_unknown(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    assert cli("sigmoid = exact(sigmoid)", "-o", str(file)).exit_code == 4
    result = cli("--check", str(file))
    assert result.exit_code == 4 and "nothing to check" in result.stderr
