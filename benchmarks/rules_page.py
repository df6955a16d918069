"""Proves every rule that has a name, checks the certificates, and writes docs/rules.md.

python benchmarks/rules_page.py [RULE …]     half an hour; certificates go to benchmarks/rules/
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from tiebreak.conformance.proof_checker import check
from tiebreak.conformance.proving.job import prove_job
from tiebreak.conformance.proving.proof_file import read_proof
from tiebreak.conformance.proving.rules import RULES, RewriteRule
from tiebreak.reports.proofs import counterexample_line, facts_of, ranges

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
FOOT = """
## By argument

No claim of the prover says these. `tests/test_proving.py` checks their ends.

- **float64 division is exact below 2^29.** round(x / scale) of two float32 numbers, divided in float64, is that of the
  real quotient, if it is below 2^29. Let X and S be the significands, of 24 bits. A quotient that is not k + 1/2
  differs from it by |2^(e+1) X - (2k+1) S| / 2S. That is at least 1 / 2S, and so above 2^-25. Below 2^29 a float64 is
  at most 2^-25 from what it stands for. From 2^29 on it fails: 4508925923688448 / 8392535 is next to 537254348.5, and
  float64 makes a tie of it. So division by float64 is not exact for int32.
- **float32 division with one fma is exact.** t = round(x / scale) in float32 is next to the quotient. The rest
  x - t * scale has at most 24 bits, so that one fma gives it exactly. It says on which side of the middle the quotient
  is. `golden/kernels/quotient.h` has the argument, and the reference kernel is built so.
"""


def main(names: list[str]) -> None:
    CERTIFICATES.mkdir(exist_ok=True)
    for name in names or RULES:
        rule = RULES[name]
        path = CERTIFICATES / f"{name}.json"
        prove_job(rule.claim, rule.domain(), path, lambda *_: None, os.cpu_count() or 1)
        data = read_proof(path)
        told = check(data)
        print(f"{name}: {data['verdict']}, {data['seconds']:.1f} s; {'; '.join(told)}"[:300], flush=True)
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page of the certificates that there are."""
    rows = (row(name, rule, read_proof(CERTIFICATES / f"{name}.json")) for name, rule in RULES.items())
    return HEAD + "\n".join(rows) + "\n" + FOOT


def row(name: str, rule: RewriteRule, data: dict[str, Any]) -> str:
    assert data["verdict"] == rule.verdict, name
    example = counterexample_line(data["counterexample"]) if data["counterexample"] else ""
    if data["differs"] and data["holds"]:
        example += f"; none for zero points {ranges(data['holds'])}"
    notes = " ".join([rule.why, *(f"{note[0].upper()}{note[1:]}." for note in facts_of(data))])
    return f"| {name} | `{rule.claim}` | {rule.about} | {data['verdict']} | {example} | {notes} |"


if __name__ == "__main__":
    main(sys.argv[1:])
