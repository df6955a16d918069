"""What changed between two runs, and over many, as tables for the terminal.

`found` is the mapping that conformance.gate.compare or .history returns. Every text from a backend is escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.golden.messages import gist
from tiebreak.reports.console import terminal_text
from tiebreak.reports.repro_command import repro_words
from tiebreak.reports.severity import percent

MOST_LINES = 40
MEANINGS = {
    "new": "not there before",
    "changed": "other elements, or other results",
    "gone": "the same cases ran, and it is not there any more",
    "renamed": "the same results, of which some are explained by another cause now",
    "unchanged": "the same elements with the same results",
    "not run": "its cases did not run in the second run: neither there nor gone",
    "not run before": "its cases are not in the first run: neither old nor new",
}


def repro_line(row: Mapping[str, Any], folders: Sequence[str]) -> str:
    """The command that shows a root cause again, in the second run if the cause is there."""
    at = 1 if row["elements"][1] else 0
    cause = row["clusters"][at]
    name = cause["id"] if cause else row["first"][at]
    return shlex.join(repro_words(name, folders[at], row["specs"][at]))


def print_comparison(found: Mapping[str, Any]) -> None:
    """Print changed root causes first, then changed verdicts, denominators and backends in one run only."""
    console = Console()
    for status in ("new", "changed", "gone"):
        rows = [row for row in found["causes"] if row["status"] == status]
        for row in rows[:MOST_LINES]:
            console.print("\n".join(cause_lines(row, found["folders"])), soft_wrap=True)
        if len(rows) > MOST_LINES:
            console.print(f"… and {len(rows) - MOST_LINES} more {status}: see --json or --html")
    for line in [*verdict_lines(found["verdicts"]), *changed_lines(found["changed"])]:
        console.print(terminal_text(line, 600), soft_wrap=True)
    console.print(denominator_table(found))
    for line in map(not_run_line, found["not_run"] if found["must_run"] else ()):
        console.print(terminal_text(line, 300), soft_wrap=True)
    for line in [*difference_lines(found), *only_in_one(found["backends"])]:
        console.print(terminal_text(line, 600), soft_wrap=True)
    console.print(changed_line(found["changed"], ran_in_both(found)))
    console.print(
        "root causes: " + ", ".join(f"{found['counts'][status]} {status}" for status in MEANINGS), soft_wrap=True
    )


def cause_lines(row: Mapping[str, Any], folders: Sequence[str]) -> list[str]:
    """A root cause in lines: where it is, how many elements it has, an example, and the command that shows it."""
    at = 1 if row["elements"][1] else 0
    cause = row["clusters"][at]
    versions = " → ".join(terminal_text(version, 30) for version in row["versions"])
    colour = {"new": "red", "changed": "red" if row["appeared"] else "yellow", "gone": "green"}[row["status"]]
    backend, operator, text = map(terminal_text, (row["backend"], row["operator"], row["cause"]), (60, 60, 300))
    title = f"{backend} {versions}, {operator}: {text}"
    counts = f"{row['elements'][0]:,} → {row['elements'][1]:,} elements"
    lines = [f"[{colour}]{row['status']}[/] {title}", f"  {counts} ({row['appeared']:,} new, {row['vanished']:,} gone)"]
    lines += [f"  {terminal_text(cause['sentence'], 600)}"] if cause else []
    return [*lines, f"  {terminal_text(repro_line(row, folders), 400)}"]


def verdict_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines about cases whose verdict changed: how many, where, and the first one."""
    lines = [
        f"{row['kind']}: {row['backend']}, {row['operator']}: {row['from']} → {row['to']} in {row['cases']:,} cases, "
        f"first {row['first']}{': ' if row['message'] else ''}{gist(row['message'])[:200]}"
        for row in rows[:MOST_LINES]
    ]
    return [*lines, *([f"… and {len(rows) - MOST_LINES} more: see --json"] if len(rows) > MOST_LINES else [])]


def ran_in_both(found: Mapping[str, Any]) -> int:
    return sum(row["ran_in_both"] for row in found["operators"])


def changed_lines(rows: Sequence[Mapping[str, Any]] | None) -> list[str]:
    """Lines about results with other bits: in how many cases, and the first, one that conforms if there is one."""
    rows = rows or ()
    lines = [changed_text(row) for row in rows[:MOST_LINES]]
    return [*lines, *([f"… and {len(rows) - MOST_LINES} more: see --json"] if len(rows) > MOST_LINES else [])]


def changed_text(row: Mapping[str, Any]) -> str:
    verdicts = " → ".join(dict.fromkeys(row["verdicts"]))
    first = f"first {row['first']} ({verdicts}){': ' if row['example'] else ''}{row['example']}"
    where = f"{row['backend']}, {row['operator']}: in {row['cases']:,} of {row['of']:,} cases"
    return f"other bits: {where}, of which {row['conforming']:,} conform both times; {first}"


def changed_line(rows: Sequence[Mapping[str, Any]] | None, both: int) -> str:
    """Whether any result changed of so many cases that ran both times, in one line."""
    if rows is None:
        return "whether results that conform changed is not known: an older version made a run, without digests"
    return f"{sum(row['cases'] for row in rows):,} of {both:,} cases that ran both times gave other bits"


def not_run_line(row: Mapping[str, Any]) -> str:
    where = f"{row['backend']}, {row['operator']}"
    return f"not run {where}: {row['cases']:,} of the {row['of']:,} cases that ran before"


def denominator_table(found: Mapping[str, Any]) -> Table:
    table = Table(title="what was compared: first → second run", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("backend, operator", overflow="fold", min_width=24)
    for name in ("cases ran", "of", "in both", "elements", "deviating"):
        table.add_column(name, justify="right")
    for row in found["operators"]:
        ran, planned, judged, deviating = (arrow(*row[name]) for name in ("ran", "planned", "judged", "deviating"))
        where = f"{terminal_text(row['backend'])}\n  {terminal_text(row['operator'])}"
        table.add_row(where, ran, planned, f"{row['ran_in_both']:,}", judged, deviating)
    return table


def setting_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines about variables that libraries read and that the two runs did not share."""
    said = [
        [f"{name}={row[at]}" if row[at] is not None else f"no {name}" for at in ("before", "after")]
        for row in rows
        for name in (row["name"],)
    ]
    return [f"another setting: {before} → {after}" for before, after in said]


def counterpart_lines(found: Mapping[str, Any]) -> list[str]:
    """Lines about backends that have another name in the first run, or in the baseline."""
    return [
        f"{before} before, {after} now: one configuration of a library"
        for before, after in found.get("counterparts", {}).items()
    ]


def difference_lines(found: Mapping[str, Any]) -> list[str]:
    """What else differs between two runs than what their backends did."""
    vectors = [f"other golden vectors of {name}: a result may differ for that" for name in found.get("vectors", [])]
    return [*setting_lines(found.get("settings", [])), *vectors, *counterpart_lines(found)]


def arrow(one: int, other: int) -> str:
    """Both numbers, below each other; one where they are equal."""
    return f"{one:,}" if one == other else f"{one:,}\n→ {other:,}"


def only_in_one(backends: Sequence[Mapping[str, Any]]) -> list[str]:
    """Backends that the other run does not have: not compared, and said so."""
    lines = []
    for row in backends:
        one, other = row["versions"]
        if one is None or other is None:
            which = "second" if one is None else "first"
            lines.append(f"{row['backend']} {other if one is None else one}: only in the {which} run, not compared")
    return lines


def print_history(found: Mapping[str, Any]) -> None:
    """A table for each backend's operator, its runs by date; then the folders that are no whole run."""
    console = Console()
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in found["rows"]:
        groups.setdefault((row["backend"], row["operator"]), []).append(row)
    for (backend, operator), rows in groups.items():
        console.print(history_table(f"{terminal_text(backend)}, {terminal_text(operator)}", rows))
    for one in found["damaged"]:
        console.print(f"not counted: {terminal_text(one['run'])}: {terminal_text(one['problem'], 300)}", soft_wrap=True)


def history_table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    table.add_column("date", no_wrap=True)
    for name in ("run", "version"):
        table.add_column(name, overflow="fold")
    for name in ("ran", "of", "deviating", "share", "causes", "failures"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        counts = [f"{row[name]:,}" for name in ("ran", "cases", "deviating")]
        share = percent(row["deviating"], row["judged"])
        ends = [f"{row[name]:,}" for name in ("root_causes", "failures")]
        table.add_row(
            row["created"][:10], terminal_text(row["run"]), terminal_text(row["version"], 40), *counts, share, *ends
        )
    return table
