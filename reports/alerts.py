"""What a gate fails for, one alert each, with the line of the user's own file where that is known.

SARIF and GitHub's annotations show the same alerts at the same lines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.untrusted_text import one_line
from tiebreak.reports.gate import changed_and_lost, new_cause_lines, new_failure_line, waiver_line
from tiebreak.reports.own_lines import OwnLine, line_of_backend, line_of_waiver

LONGEST, LONGEST_TITLE = 900, 200  # characters of one line of an alert's text, and of its title
STALE = "stale"
FAULTS = {
    "crash": "The backend's process ended in a case.",
    "timeout": "The backend did not answer a case in time.",
    "error": "The backend raised an error in a case, or gave an output that the node does not have.",
}


@dataclass(frozen=True)
class Alert:
    """A new root cause, a new failure, or a waiver whose discrepancies are gone.

    `rule` is what alerts of one kind share; `kind` says it in a sentence, and `about` explains it. `fingerprint` is the
    same in every run that finds the same. A waiver's alert has no `backend` and no `operator`.
    """

    rule: str
    kind: str
    about: str
    title: str
    lines: list[str]
    fingerprint: str
    place: OwnLine | None
    backend: str = ""
    operator: str = ""


def alerts_of(found: Mapping[str, Any]) -> Iterator[Alert]:
    """The alerts of a gate's findings, worst first. Their texts are bounded and printable, each on one line."""
    places = {row["spec"]: line_of_backend(row["spec"]) for row in (*found["new"], *found["failures"])}
    for row in found["new"]:
        yield alert_of_cause(row, found["run"], places[row["spec"]])
    for row in found["failures"]:
        yield alert_of_failure(row, places[row["spec"]])
    for what, row, line in changed_and_lost(found):
        yield alert_of_change(what, row, line)
    for row in found["waivers"]:
        if row["status"] == STALE:
            yield alert_of_waiver(row, found.get("waiver_file"))


def alert_of_cause(row: Mapping[str, Any], run: str, place: OwnLine | None) -> Alert:
    name = row["cause_id"] or row["clause"]
    return Alert(
        alert_text(f"{row['operator']}/{name}"),
        alert_text(row["cause"]),
        alert_text(f"{row['cause']}. {clause_text(row)}"),
        alert_text(f"{row['backend']}, {row['operator']}: {row['cause']}", LONGEST_TITLE),
        [alert_text(line) for line in new_cause_lines(row, run)],
        alert_fingerprint("new", row["backend"], row["operator"], name, row["cause"] if not row["cause_id"] else ""),
        place,
        alert_text(row["backend"]),
        alert_text(row["operator"]),
    )


def clause_text(row: Mapping[str, Any]) -> str:
    """The clause that the cause breaks, with its text and its source if Tiebreak has it."""
    operator = OPERATORS.get(row["operator"])
    found = [one for one in operator.clauses if one.id == row["clause"]] if operator else []
    return f"Clause {row['clause']}: {found[0].text} ({found[0].source})" if found else f"Clause {row['clause']}"


def alert_of_failure(row: Mapping[str, Any], place: OwnLine | None) -> Alert:
    return Alert(
        alert_text(row["verdict"]),
        alert_text(f"new {row['verdict']}"),
        FAULTS.get(row["verdict"], "The backend failed in a case."),
        alert_text(f"{row['backend']}, {row['operator']}: {row['verdict']}", LONGEST_TITLE),
        [alert_text(new_failure_line(row))],
        alert_fingerprint("failure", row["backend"], row["operator"], row["verdict"], row["fault"]),
        place,
        alert_text(row["backend"]),
        alert_text(row["operator"]),
    )


def alert_of_change(what: str, row: Mapping[str, Any], line: str) -> Alert:
    """The alert of a changed result, a new conversion hazard or cases that no longer run."""
    return Alert(
        alert_text(what.replace(" ", "-")),
        alert_text(what),
        "The gate was asked to fail for it: --any-change, --must-run.",
        alert_text(f"{row['backend']}, {row['operator']}: {what}", LONGEST_TITLE),
        [alert_text(line)],
        alert_fingerprint(what, row["backend"], row["operator"], str(row.get("cause_id", ""))),
        line_of_backend(row.get("spec", "")),
        alert_text(row["backend"]),
        alert_text(row["operator"]),
    )


def alert_of_waiver(row: Mapping[str, Any], file: str | None) -> Alert:
    said = row["waiver"].partition(" (")[2]  # without its number, which another entry changes
    return Alert(
        "stale-waiver",
        "a waiver that no longer matches",
        "A waiver is to be removed when no discrepancy is left that it excuses.",
        alert_text(f"{row['waiver']}: {row['why']}", LONGEST_TITLE),
        [alert_text(waiver_line(row))],
        alert_fingerprint("waiver", said, row["reason"], row["link"]),
        line_of_waiver(Path(file), row["number"]) if file else None,
    )


def alert_fingerprint(*words: str) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:32]


def alert_text(text: object, longest: int = LONGEST) -> str:
    return one_line(text, longest)
