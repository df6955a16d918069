"""The published rules are those of the certificates, and these are what the rules say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tiebreak.conformance.proof_checker import check
from tiebreak.conformance.proving.proof_file import read_proof
from tiebreak.conformance.proving.rules import RULES

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks" / "rules").is_dir(), reason="not in a source distribution")


def rules_page() -> Any:
    found = importlib.util.spec_from_file_location("rules_page", ROOT / "benchmarks" / "rules_page.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_page_is_made_of_the_certificates() -> None:
    assert (ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == rules_page().page()


def test_each_certificate_belongs_to_a_rule() -> None:
    assert {path.stem for path in (ROOT / "benchmarks" / "rules").iterdir()} == set(RULES)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [*RULES])
def test_a_certificate_is_about_its_rule_and_holds(name: str) -> None:
    rule, data = RULES[name], read_proof(ROOT / "benchmarks" / "rules" / f"{name}.json")
    claim = data["claim"]
    assert data["verdict"] == rule.verdict
    if not rule.where.ranges:
        assert (claim["real"], claim["extent"], claim["zero_points"]) == (
            rule.where.real,
            "all" if rule.where.real != "float32" and claim["kind"] == "arithmetics" else rule.where.extent,
            rule.where.zero_points,
        )
    assert claim["kind"] == "patterns" or f"{claim['left']} = {claim['right']}" == rule.claim
    assert check(data, seconds=0)
