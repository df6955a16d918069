"""What a run prints at its end: one screen. `tiebreak report RUN --text` has the rest."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tiebreak.golden.untrusted_text import one_line
from tiebreak.reports.console import terminal_text
from tiebreak.reports.records import Run
from tiebreak.reports.severity import share_text
from tiebreak.reports.story import Chapter, Finding, finding_text, operator_names, story
from tiebreak.reports.summary import shown_counts, typed_table, verdict_table
from tiebreak.reports.verdict_matrix import folded_rows, matrix_table, names_explained

FEW = 6  # pairs of backend and operator whose table tells more and still fits
LINES = 21  # for the rows of the matrix and the causes
FEWEST_CAUSES, MOST_CAUSES = 5, 12
ID = 5  # columns of a cause's id
TITLE = 31  # columns of a chapter's short title


def print_summary(run: Run, folder: str, *, console: Console | None = None) -> None:
    """The matrix, the story in six lines, the worst causes, and where to read more: at most 40 lines."""
    console = console or Console()
    counts = shown_counts(run.results)
    rows = len(counts)
    if rows <= FEW:
        console.print(verdict_table(run))
    else:
        rows = print_matrix(run, counts, console)
    chapters = story(run)
    console.print(story_table(chapters, console.width))
    causes = [finding for chapter in chapters for finding in chapter.findings if finding.cause]
    if causes:
        most = max(FEWEST_CAUSES, min(MOST_CAUSES, LINES - rows))
        console.print(worst_table(causes, console.width, most))
    if run.info.get("typed"):
        console.print(typed_table(run))
    for line in idle_line(run):
        console.print(escape(line), no_wrap=True, overflow="ellipsis")
    rest = f"tiebreak report {escape(shlex.quote(folder))} --text"
    console.print(f"report: {escape(folder)}/report.html; all as text: {rest}", soft_wrap=True)


def print_matrix(run: Run, counts: Mapping[tuple[str, str], Mapping[str, int]], console: Console) -> int:
    """Print the matrix of the backends that ran something, and what its short headings mean; return its rows."""
    operators = list(dict.fromkeys(operator for _, operator in sorted(counts, key=lambda pair: pair[1])))
    rows = folded_rows(run.info, counts)
    console.print(matrix_table(rows, counts, operators, console.width))
    explained = names_explained(operators, console.width, max(map(len, rows), default=0))
    if explained:
        console.print(explained)
    return len(rows)


def story_table(chapters: Sequence[Chapter], width: int) -> Table:
    """A line for each chapter: how many findings, and the first."""
    table = Table(box=None, padding=0, show_header=False)
    table.add_column(no_wrap=True, width=TITLE)
    table.add_column(justify="right", no_wrap=True, width=4)
    table.add_column(no_wrap=True, overflow="ellipsis", width=max(20, width - TITLE - 6))
    for number, chapter in enumerate(chapters, start=1):
        first = terminal_text(finding_text(chapter.findings[0]), 300) if chapter.findings else "[dim]nothing[/]"
        table.add_row(f"{number} {chapter.short}"[:TITLE], str(len(chapter.findings) or ""), f" {first}")
    return table


def worst_table(causes: Sequence[Finding], width: int, most: int) -> Table:
    """The first causes of the story, a line each."""
    worst = f"the {most} worst of {len(causes)} causes, those by the backend's own document first"
    title = worst if len(causes) > most else "discrepancies by cause, those by the backend's own document first"
    backend, operator, share = 16, 14, 19
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for name, wide in (("", ID), ("backend", backend), ("operator", operator)):
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=wide)
    room = max(20, width - ID - backend - operator - share - 4)
    table.add_column("cause", no_wrap=True, overflow="ellipsis", width=room)
    table.add_column("of the elements", justify="right", no_wrap=True, width=share)
    for finding in causes[:most]:
        assert finding.cause is not None
        cells = (finding.ids[0] if finding.ids else "", finding.who, operator_names(finding.operators), finding.what)
        table.add_row(*(terminal_text(cell, 200) for cell in cells), share_text(finding.cause.row))
    return table


def idle_line(run: Run) -> list[str]:
    ran = set(run.results["backend"])
    idle = ", ".join(str(backend["name"]) for backend in run.info["backends"] if backend["name"] not in ran)
    return [one_line(f"claim none of the chosen operators: {idle}", 400)] if idle else []
