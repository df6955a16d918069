"""What a run prints at its end: one screen. `tiebreak report RUN --text` has the rest."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tiebreak.golden.untrusted_text import one_line, plural
from tiebreak.reports.console import terminal_text
from tiebreak.reports.records import Run
from tiebreak.reports.rows import rows_of
from tiebreak.reports.summary import (
    boundary_grade,
    cause_groups,
    cause_table,
    typed_table,
    verdict_counts,
    verdict_table,
    with_paths_as_one,
)
from tiebreak.reports.verdict_matrix import folded_name, folded_rows, matrix_table, names_explained, stem

FEW = 6  # pairs of backend and operator, and causes, whose tables tell more and still fit
MOST_CAUSES = 10
ID = 5  # columns of a cause's id


def print_summary(run: Run, folder: str, *, console: Console | None = None) -> None:
    """The matrix, the worst causes, failures in one line, and where to read more: at most 40 lines."""
    console = console or Console()
    counts = verdict_counts(run.results)
    few = len(counts) <= FEW
    if few:
        console.print(verdict_table(run))
    else:
        print_matrix(run, counts, console)
    causes = causes_of(run)
    if few and len(causes) <= FEW and causes:
        console.print(cause_table(run))
    elif causes:
        console.print(worst_table(causes, console.width))
    if run.info.get("typed"):
        console.print(typed_table(run))
    for line in (*path_line(run), *failed_line(run), *idle_line(run)):
        console.print(escape(line), no_wrap=True, overflow="ellipsis")
    rest = f"tiebreak report {escape(shlex.quote(folder))} --text"
    console.print(f"report: {escape(folder)}/report.html; all as text: {rest}", soft_wrap=True)


def print_matrix(run: Run, counts: Mapping[tuple[str, str], Mapping[str, int]], console: Console) -> None:
    """The matrix of the backends that ran something, and what its short headings mean."""
    ran = {backend for backend, _ in counts}
    operators = list(dict.fromkeys(operator for _, operator in sorted(counts, key=lambda pair: pair[1])))
    versions = {str(b["name"]): str(b["version"]) for b in run.info["backends"] if b["name"] in ran}
    rows = folded_rows(versions, counts, operators)
    console.print(matrix_table(rows, counts, operators, console.width))
    explained = names_explained(operators, console.width, max(map(len, rows), default=0))
    if explained:
        console.print(explained)


def causes_of(run: Run) -> list[dict[str, Any]]:
    """The root causes, most elements first; those of the discrepancies themselves if none could be named."""
    known = [dict(row) for row in run.info.get("clusters", [])]
    if not known and len(run.discrepancies):
        known = [{"id": "", **row} for row in rows_of(cause_groups(with_paths_as_one(run)))]
    return sorted(known, key=lambda row: -int(row["elements"]))


def worst_table(causes: Sequence[Mapping[str, Any]], width: int) -> Table:
    """The causes with the most elements, a line each; configurations of one library share a line."""
    shared = shared_causes(causes)
    worst = f"the {MOST_CAUSES} worst of {len(causes)} causes"
    title = worst if len(shared) > MOST_CAUSES else "discrepancies by cause"
    backend, operator, elements = 20, 16, 9
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for name, wide in (("", ID), ("backend", backend), ("operator", operator)):
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=wide)
    room = max(20, width - ID - backend - operator - elements - 4)
    table.add_column("cause", no_wrap=True, overflow="ellipsis", width=room)
    table.add_column("elements", justify="right", no_wrap=True, width=elements)
    for rows in shared[:MOST_CAUSES]:
        first = rows[0]
        name = str(first["operator"]).partition(".")[2] or str(first["operator"])
        names = folded_name([str(row["backend"]) for row in rows])
        cause = terminal_text(first["cause"], 200) + graded(first)
        shown = (terminal_text(first["id"]), terminal_text(names, 200), terminal_text(name), cause)
        table.add_row(*shown, f"{int(first['elements']):,}")
    return table


def shared_causes(causes: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The causes in their order; equal ones of configurations of one library, as their names tell, together."""
    alike: dict[object, list[Mapping[str, Any]]] = {}
    for row in causes:
        alike.setdefault((stem(str(row["backend"])), row["operator"], row["cause"]), []).append(row)
    return list(alike.values())


def graded(row: Mapping[str, Any]) -> str:
    known = row["boundary_ulp"]
    grade = "" if known is None else boundary_grade(float(known))
    return f" ({grade})" if grade else ""


def path_line(run: Run) -> list[str]:
    rows = run.info.get("paths", [])
    who = ", ".join(dict.fromkeys(str(row["backend"]) for row in rows))
    line = f"answers that depend on the path: {plural(len(rows), 'set')} of operands, {who}"
    return [one_line(line, 400)] if rows else []


def failed_line(run: Run) -> list[str]:
    """All failures in one line: how many cases of which backends."""
    rows = run.info.get("failures", [])
    by_backend: dict[str, int] = {}
    for row in rows:
        by_backend[str(row["backend"])] = by_backend.get(str(row["backend"]), 0) + int(row["cases"])
    told = ", ".join(f"{name} {plural(cases, 'case')}" for name, cases in by_backend.items())
    first = f" ({rows[0]['id']} is {rows[0]['verdict']})" if rows else ""
    return [one_line(f"failed: {told}{first}", 400)] if rows else []


def idle_line(run: Run) -> list[str]:
    ran = set(run.results["backend"])
    idle = ", ".join(str(backend["name"]) for backend in run.info["backends"] if backend["name"] not in ran)
    return [one_line(f"claim none of the chosen operators: {idle}", 400)] if idle else []
