"""Proves every rule that has a name, checks the certificates, and writes docs/rules.md.

python benchmarks/rules_page.py [RULE …]     a quarter of an hour; certificates go to benchmarks/rules/
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tiebreak.conformance.proof_checker import check
from tiebreak.conformance.proving.job import prove_job
from tiebreak.conformance.proving.rules import RULES, RewriteRule
from tiebreak.reports.proofs import counterexample_line, ranges

ROOT = Path(__file__).parent.parent
CERTIFICATES, PAGE = ROOT / "benchmarks" / "rules", ROOT / "docs" / "rules.md"
HEAD = """# Rewrite rules, settled

Made by `python benchmarks/rules_page.py`; not edited by hand.

Each rule is decided by [`tiebreak prove`](prove.md) for every input, every scale of the normal range and, unless it
says so, every zero point. `tiebreak prove RULE` does it again. The certificates are in `benchmarks/rules`; they were
checked by the checker, which shares no code with the prover.

| rule | claim | for | verdict | counterexample | what it means |
| --- | --- | --- | --- | --- | --- |
"""


def main(names: list[str]) -> None:
    CERTIFICATES.mkdir(exist_ok=True)
    for name in names or RULES:
        rule = RULES[name]
        data = prove_job(rule.claim, rule.domain(), CERTIFICATES / f"{name}.json", lambda *_: None, os.cpu_count() or 1)
        told = check(data, False)
        print(f"{name}: {data['verdict']}, {data['seconds']:.1f} s; {told[-1]}", flush=True)
    rows = (row(name, rule, json.loads((CERTIFICATES / f"{name}.json").read_text())) for name, rule in RULES.items())
    PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


def row(name: str, rule: RewriteRule, data: dict[str, Any]) -> str:
    assert data["verdict"] == rule.verdict, name
    example = counterexample_line(data["counterexample"]) if data["counterexample"] else ""
    if data["differs"] and data["holds"]:
        example += f"; none for zero points {ranges(data['holds'])}"
    notes = "; ".join([rule.why, *data["notes"]])
    return f"| {name} | `{rule.claim}` | {rule.about} | {data['verdict']} | {example} | {notes} |"


if __name__ == "__main__":
    main(sys.argv[1:])
