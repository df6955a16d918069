"""Turns the rows of a test's cases into its outcome: pass, skip, fail, or an expected failure by waivers."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from tiebreak.conformance.gate.waivers import Waiver
from tiebreak.conformance.pytest_plugin.assertions import Row, failure_text, is_stored
from tiebreak.conformance.pytest_plugin.assertions import printable_message as shown_text
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import FAILED
from tiebreak.reports.root_cause import root_of

MOST_FAILURES = 3  # cases that did not run, named in a text
Replay = Callable[[Row], str]  # the command that runs a row's case again


@dataclass(frozen=True)
class SuiteOutcome:
    """The outcome of a test: "pass", "skip", "fail" or "waived"; `note` says how many of its cases are unsupported."""

    outcome: str
    text: str = ""
    note: str = ""


@dataclass(frozen=True)
class CaseRows:
    """Rows of some cases on a backend: results, and discrepancies each with its waiver or None."""

    backend: str
    results: Sequence[Mapping[str, Any]]
    discrepancies: Sequence[tuple[Row, Waiver | None]]

    def showing(self, clause: str) -> CaseRows:
        """The rows of the cases that exercise a clause."""
        results = [row for row in self.results if clause in row["clauses"].split()]
        cases = {row["case"] for row in results}
        return replace(
            self, results=results, discrepancies=[pair for pair in self.discrepancies if pair[0]["case"] in cases]
        )

    def failed(self) -> list[Mapping[str, Any]]:
        """The cases that gave no outputs to judge."""
        return [row for row in self.results if row["verdict"] in FAILED]

    def unsupported(self) -> list[Mapping[str, Any]]:
        return [row for row in self.results if row["verdict"] == "unsupported"]


def with_waivers(
    rows: Sequence[Mapping[str, Any]], version: str, waivers: Sequence[Waiver]
) -> list[tuple[Row, Waiver | None]]:
    """Each discrepancy with the first valid waiver that excuses it, or None."""
    valid = [waiver for waiver in waivers if is_valid(waiver)]
    rooted = [{**row, "root": root_of(row["cause"])} for row in rows]
    return [
        (row, next((waiver for waiver in valid if waiver.names(row, version) and waiver.tolerates(row)), None))
        for row in rooted
    ]


def is_valid(waiver: Waiver) -> bool:
    return waiver.expires >= date.today()


def outcome_of_rows(shown: CaseRows, replay: Replay) -> SuiteOutcome:
    """The outcome of a test from the rows of its cases. No waiver excuses a case that did not run."""
    idle, failed = shown.unsupported(), shown.failed()
    new = [row for row, waiver in shown.discrepancies if waiver is None]
    if not shown.results:
        return SuiteOutcome("skip", "no case of these types at this level shows the clause")
    if len(idle) == len(shown.results):
        return SuiteOutcome("skip", f"unsupported: {commonest_reason(idle)}")
    note = f"{len(idle)} of {plural(len(shown.results), 'case')} unsupported: {commonest_reason(idle)}" if idle else ""
    if failed or new:
        texts = [failure_text(shown.backend, new, replay)] if new else []
        texts += [not_run_text(shown, replay)] if failed else []
        waived = len(shown.discrepancies) - len(new)
        texts += [f"{plural(waived, 'element')} more are waived"] if waived else []
        return SuiteOutcome("fail", "\n\n".join([*texts, note] if note else texts), note)
    if shown.discrepancies:
        return SuiteOutcome("waived", waived_text(shown), note)
    return SuiteOutcome("pass", note=note)


def commonest_reason(rows: Sequence[Mapping[str, Any]]) -> str:
    """The commonest message, and how many others there are."""
    (first, _), *others = Counter(row["message"] for row in rows).most_common()
    return shown_text(first) + (f" (and {plural(len(others), 'other reason')})" if others else "")


def not_run_text(shown: CaseRows, replay: Replay) -> str:
    """The text about cases that crashed, hung or failed."""
    failed = shown.failed()
    kinds = Counter((row["verdict"], row["fault"]) for row in failed)
    what = ", ".join(
        f"{verdict} ({fault}) {n}" if fault != verdict else f"{verdict} {n}" for (verdict, fault), n in kinds.items()
    )
    lines = [f"{shown_text(shown.backend)} did not run {len(failed)} of {plural(len(shown.results), 'case')}: {what}"]
    for row in failed[:MOST_FAILURES]:
        lines += [
            f"  {row['case']}",
            f"    {row['verdict']}: {shown_text(row['message'])}",
            f"    replay: {replay(row)}",
        ]
    return "\n".join(lines)


def waived_text(shown: CaseRows) -> str:
    """The waivers, each with its reason and link."""
    counts = Counter(waiver for _, waiver in shown.discrepancies if waiver is not None)
    return "; ".join(
        f"{plural(count, 'element')} by {waiver}: {waiver.reason}, {waiver.link}, until {waiver.expires}"
        for waiver, count in counts.items()
    )


def replay_command(spec: str, folder: Path | None, row: Row) -> str:
    """A command line that runs a case again: from a kept run, unless it is a golden vector."""
    words = ["tiebreak", "run", "-b", spec, "--case", row["case"]]
    kept = [] if is_stored(row) or folder is None else ["--from", str(folder)]
    return shlex.join([*words, *kept, "-o", "replay"])
