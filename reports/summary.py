"""A run's summary: tables for the terminal, and the JSON object of --json."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tiebreak.golden.messages import gist
from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.golden.untrusted_text import one_line, plural
from tiebreak.golden.verdicts import FOREIGN, OURS, OWN, RAN, SHOWN, VERDICTS, shown_verdict
from tiebreak.reports.console import terminal_text
from tiebreak.reports.libraries import release
from tiebreak.reports.records import Run
from tiebreak.reports.rows import values_by_key
from tiebreak.reports.story import Chapter, finding_text, operator_names, story

MOST_ERRORS = 5
MOST_FAILURES = 30  # lines
MOST_TYPED_ROWS = 50
LONGEST_CELL = 500  # characters
MOST_FINDINGS = 60  # of a chapter
MOST_PATH_ROWS = 12
WIDE = 160  # columns of the whole text in a pipe or file
MOST_COLUMNS = 2  # backends side by side; more are grouped by what they gave
NARROW = {
    "working-precision": "working-\nprecision",
    "other-order": "other-\norder",
    "unspecified": "unspec-\nified",
    "unsupported": "unsup-\nported",
}


def verdict_counts(results: pd.DataFrame) -> dict[tuple[str, str], dict[str, int]]:
    """(backend, operator) to the number of cases of each verdict that occurs, in the order of VERDICTS."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    sizes = results.groupby(["backend", "operator", "verdict"], sort=False, observed=True).size()
    for (backend, operator, verdict), count in values_by_key(sizes):
        counts.setdefault((str(backend), str(operator)), {})[str(verdict)] = int(count)
    return {key: {v: found[v] for v in VERDICTS if v in found} for key, found in counts.items()}


def shown_counts(results: pd.DataFrame) -> dict[tuple[str, str], dict[str, int]]:
    """Like verdict_counts, in the order of SHOWN: "deviates" by a foreign document is shown as a hazard."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    sizes = results.groupby(["backend", "operator", "verdict", "document"], sort=False, observed=True).size()
    for (backend, operator, verdict, document), count in values_by_key(sizes):
        found = counts.setdefault((str(backend), str(operator)), {})
        name = shown_verdict(str(verdict), str(document))
        found[name] = found.get(name, 0) + int(count)
    return {key: {v: found[v] for v in SHOWN if v in found} for key, found in counts.items()}


def json_summary(run: Run, folder: str) -> dict[str, Any]:
    """The object that `tiebreak run --json` prints."""
    backends: dict[str, Any] = {b["name"]: {"version": b["version"], "operators": {}} for b in run.info["backends"]}
    maps = {b["name"]: b.get("maps", {}) for b in run.info["backends"]}
    for (backend, operator), verdicts in verdict_counts(run.results).items():
        document = FOREIGN if operator in maps[backend] else OWN
        backends[backend]["operators"][operator] = {"document": document, "verdicts": verdicts}
    counts = {"discrepancies": len(run.discrepancies), "path_dependent": run.info.get("paths", [])}
    counts["clusters"] = run.info.get("clusters", [])
    counts["story"] = [{"chapter": one.id, "findings": [finding_text(f) for f in one.findings]} for one in story(run)]
    counts["failures"] = run.info.get("failures", [])
    counts["explanation_errors"] = run.info.get("explanation_errors", [])
    counts["stages"] = run.info.get("stages", [])
    return {"run": folder, "exit": run.info["exit"], "backends": backends, **counts}


def mode_matrix(results: pd.DataFrame) -> pd.DataFrame:
    """For each backend, operator and requested rounding mode: elements compared with and differing from each mode.

    Columns compared_… and differs_… for the nine modes; only rows of cases that ran.
    """
    ran = results[results["verdict"].isin(RAN)]
    columns = [f"{what}_{short_mode(mode)}" for mode in ROUND_MODES for what in ("compared", "differs")]
    return ran.groupby(["backend", "operator", "round_mode"], sort=False, observed=True)[columns].sum().reset_index()


def cause_groups(discrepancies: pd.DataFrame) -> pd.DataFrame:
    """Discrepancies counted by backend, operator, cause and clause, most first."""
    keys = ["backend", "operator", "cause", "clause"]
    grouped = discrepancies.groupby(keys, sort=False, observed=True)
    table = grouped.agg(
        elements=("id", "size"), cases=("case", "nunique"), boundary_ulp=("boundary_ulp", "max"), first=("id", "first")
    )
    return table.reset_index().sort_values(["backend", "elements"], ascending=[True, False], kind="stable")


def boundary_grade(boundary_ulp: float) -> str:
    """How far from a decision boundary the elements lie, in words, by the greatest distance in ulp."""
    if math.isnan(boundary_ulp):
        return ""
    if boundary_ulp == 0:
        return "only on a decision boundary"
    if boundary_ulp <= 8:
        return f"only within {int(boundary_ulp)} ulp of a decision boundary"
    return "also far from a decision boundary"


def print_details(run: Run, folder: str, *, console: Console | None = None) -> None:
    """Everything: the tables of verdicts, causes, paths and of a typed case, and each kind of failure."""
    console = console or wide_console()
    console.print(verdict_table(run))
    for chapter in story(run):
        if chapter.findings:
            console.print(chapter_table(chapter))
    if run.info.get("releases"):
        console.print(release_table(run))
    if run.info.get("paths"):
        console.print(path_table(run))
    if run.info.get("typed"):
        console.print(typed_table(run))
    for line in failure_lines(run):
        console.print(escape(line), soft_wrap=not console.is_terminal)
    console.print(f"report: {escape(folder)}/report.html", soft_wrap=True)


def wide_console() -> Console:
    """A console whose lines are as long as a table needs if a program reads them and nobody said how wide it is."""
    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=WIDE)


def release_table(run: Run) -> Table:
    """What changed between two releases of a library that a run has side by side."""
    table = Table(title="between releases", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("before", "after", "change", "operator", "cause, or verdicts"):
        table.add_column(name, overflow="fold")
    table.add_column("counts", justify="right", no_wrap=True)
    for row in run.info["releases"]:
        texts = (terminal_text(row[name]) for name in ("before", "after", "status", "operator", "what"))
        table.add_row(*texts, " → ".join(f"{int(count):,}" for count in row["counts"]))
    return table


def print_stages(run: Run) -> None:
    """The table of the stages, for --verbose."""
    table = Table(title="seconds by stage", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("stage")
    table.add_column("seconds", justify="right")
    for row in run.info.get("stages", []):
        table.add_row(terminal_text(row["stage"]), f"{row['seconds']:.1f}")
    Console().print(table)


def verdict_table(run: Run) -> Table:
    """The table of verdicts. Verdicts that did not occur are left out, to fit 80 columns."""
    counts = shown_counts(run.results)
    occurring = [verdict for verdict in SHOWN if any(verdict in found for found in counts.values())]
    table = Table(title="cases by verdict", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("backend, operator", overflow="fold")
    for verdict in occurring:
        table.add_column(NARROW.get(verdict, verdict), justify="right", no_wrap=True)
    versions = {backend["name"]: backend["version"] for backend in run.info["backends"]}
    for (backend, operator), verdicts in counts.items():
        cells = [str(verdicts.get(verdict, "")) for verdict in occurring]
        name = f"{terminal_text(backend)} {terminal_text(release(versions[backend]), 20)}"
        table.add_row(f"{name}\n  {operator_names([operator])}", *cells)
    return table


def chapter_table(chapter: Chapter) -> Table:
    """The findings of a chapter, a row each."""
    table = Table(title=chapter.title.lower(), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("", "backend", "operator", "what"):
        table.add_column(name, overflow="fold")
    table.add_column("how much", justify="right")
    for finding in chapter.findings[:MOST_FINDINGS]:
        what = f"{finding.what}; {finding.shown}" if finding.shown else finding.what
        cells = (", ".join(finding.ids), finding.who, operator_names(finding.operators), what, finding.how_much)
        table.add_row(*(terminal_text(cell, LONGEST_CELL) for cell in cells))
    if len(chapter.findings) > MOST_FINDINGS:
        table.caption = f"{len(chapter.findings) - MOST_FINDINGS:,} more in the report"
    return table


def path_table(run: Run) -> Table:
    """The table of operands to which a backend gives several answers, each with its path."""
    rows = run.info["paths"]
    left_out = f"; {len(rows) - MOST_PATH_ROWS} more in the report" if len(rows) > MOST_PATH_ROWS else ""
    table = Table(title=f"answers that depend on the path{left_out}", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("backend", "operands", "answers"):
        table.add_column(name, overflow="fold")
    for row in rows[:MOST_PATH_ROWS]:
        operands = "\n".join(f"{name} {text}" for name, _, text in row["operands"])
        answers = "\n".join(f"{answer['value']} {answer['paths'][0]}" for answer in row["answers"])
        types = f"{row['input_type']} → {row['output_type']}"
        table.add_row(f"{terminal_text(row['backend'])}\n{row['operator']}\n{types}", operands, answers)
    return table


def failure_lines(run: Run) -> list[str]:
    """One line for each kind of failure, with its id, one such case and that case's message."""
    rows = run.info.get("failures", [])
    lines = [failure_line(row) for row in rows[:MOST_FAILURES]]
    if len(rows) > MOST_FAILURES:
        lines.append(f"… and {plural(len(rows) - MOST_FAILURES, 'other kind')} of failure: see failures in run.json")
    ran = set(run.results["backend"])
    idle = [backend["name"] for backend in run.info["backends"] if backend["name"] not in ran]
    return lines + [f"{name}: claims none of the chosen operators" for name in idle]


def failure_line(row: Mapping[str, Any]) -> str:
    verdict, fault, witness = row["verdict"], row["fault"], row["witness"]
    kind = verdict if fault in ("", verdict) else f"{verdict} ({fault})"
    told = f"as {witness['case']}: {one_line(gist(witness['message']), 200)}"
    return f"{row['id']} {row['backend']}: {kind} in {plural(row['cases'], 'case')} of {row['operator']}, {told}"


def explanation_failures(errors: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each explanation that failed by an error of Tiebreak's; run.json has them all."""
    lines = [
        f"could not explain ({row['stage']}; {one_line(row['about'], 80)}; {plural(row['times'], 'time')}): "
        f"{one_line(row['error'], 200)}"
        for row in errors
    ]
    more = len(lines) - MOST_ERRORS
    left_out = [f"{more} more errors of explanations are in run.json"] if more > 0 else []
    known = ["the records are whole; please report what could not be explained"] if lines else []
    return lines[:MOST_ERRORS] + left_out + known


def own_failures(info: Mapping[str, Any]) -> list[str]:
    """A line for each kind of failure that is Tiebreak's own, in its adapter or where it judges."""
    rows = [row for row in info.get("failures", []) if row["fault"] in OURS]
    lines = [
        f"{row['backend']}, {row['operator']}: {plural(row['cases'], 'case')}: {one_line(row['message'], 300)}"
        for row in rows[:MOST_ERRORS]
    ]
    return [*lines, *(["no library is to blame for that; please report it"] if lines else [])]


def why_nothing_ran(run: Run) -> str:
    """One line for exit code 4: the commonest reason of each backend."""
    if run.results.empty:
        return "nothing ran: no chosen backend claims a chosen operator"
    messages = run.results.groupby("backend", observed=True)["message"]
    reasons = [f"{name}: {one_line(gist(rows.mode().iloc[0]), 200)}" for name, rows in messages]
    return f"nothing ran: {'; '.join(reasons)}"


def typed_table(run: Run, most: int = MOST_TYPED_ROWS) -> Table:
    """The table of a typed case by element: first operand, expected result, and each backend's result."""
    rows = run.info["typed"][:most]
    names = [name for name in (rows[0]["got"] if rows else ()) if any(row["got"][name] != "–" for row in rows)]
    named, apart = any(row["output"] for row in rows), len(names) <= MOST_COLUMNS
    table = Table(title="the typed case", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in (*(["output"] if named else []), "input", "bits", "expected", *(names if apart else ["got"])):
        table.add_column(terminal_text(name), justify="right" if name != "got" else "left", overflow="fold")
    for row in rows:
        start = [row["output"]] if named else []
        got = [row["got"][name] for name in names] if apart else [grouped_answers(row["got"], names)]
        table.add_row(*start, row["input"], row["bits"], row["expected"], *(terminal_text(text, 400) for text in got))
    return table


def grouped_answers(got: dict[str, str], names: Sequence[str]) -> str:
    """The distinct answers, each with the backends that gave it."""
    answers: dict[str, list[str]] = {}
    for name in names:
        answers.setdefault(got[name], []).append(name)
    return "; ".join(f"{answer}: {', '.join(who)}" for answer, who in answers.items())
