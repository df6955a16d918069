"""What a run prints at its end: one screen. `tiebreak report RUN --text` has the rest."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from tiebreak.golden.exit_codes import EXIT_CONFORMS
from tiebreak.golden.untrusted_text import one_line, plural, printable
from tiebreak.golden.verdicts import RAN
from tiebreak.reports.console import terminal_text
from tiebreak.reports.first_screen import Headline, headlines, is_pathological
from tiebreak.reports.records import Run
from tiebreak.reports.refusals import refusal_text
from tiebreak.reports.repro_command import repro_words
from tiebreak.reports.severity import share_text
from tiebreak.reports.story import Chapter, Finding, operator_names, story
from tiebreak.reports.summary import MOST_TYPED_ROWS, shown_counts, typed_table, verdict_table
from tiebreak.reports.verdict_matrix import Cells, folded_rows, mark_of, matrix_table, most_columns, names_explained

FEW = 6  # backends, or pairs of backend and operator whose table tells more and still fits
LINES = 40  # of the screen
MOST_CAUSES = 10
MOST_OPERATORS = 16  # columns of the matrix
MOST_LINES = 2  # of a finding, and of why cases are unsupported
ID = 5  # columns of an id
WIDE = 110  # columns from which on the causes have the operator and the share
LONGEST, LONGEST_COMMAND = 400, 4000  # characters of a sentence, and of what to type


def print_summary(run: Run, folder: str, *, console: Console | None = None) -> None:
    """The matrix, five findings, the worst causes, why cases are unsupported, what to type: at most 40 lines."""
    console = console or Console()
    chapters = story(run)
    told = headlines(run, chapters)
    is_full = run.results["backend"].nunique() > FEW
    most = {True: MOST_LINES, False: 1} if is_full else dict.fromkeys((True, False), 2 * MOST_LINES)
    sentences = headline_parts(told, chapters, console, most)
    last = remarks(run, console)
    commands = [f"next: {next_command(run, folder, told)}", where_the_rest_is(folder, run.info["level"])]
    room = LINES - height(console, [*sentences, *last]) - sum(lines_of(line, console.width) for line in commands)
    first = [*matrix_parts(run, console, room), *sentences]
    room -= height(console, first) - height(console, sentences)
    if run.info.get("typed"):
        first.append(table := fitting_typed_table(run, console, room))
        room -= height(console, [table])
    for part in (*first, *further_causes(chapters, told, console.width, room), *last):
        console.print(part)
    for line in commands:  # whole, so that they can be copied
        console.print(Text(printable(line, LONGEST_COMMAND)), soft_wrap=True)


def height(console: Console, parts: Sequence[RenderableType]) -> int:
    """How many lines the parts take."""
    return sum(len(console.render_lines(part, pad=False)) for part in parts)


def lines_of(text: str, width: int) -> int:
    """How many lines a terminal makes of a line that is printed whole."""
    return max(1, math.ceil(cell_len(text) / width))


def matrix_parts(run: Run, console: Console, room: int) -> list[RenderableType]:
    """The matrix of the backends that ran something, in so many lines, and its short headings; of few cells a table."""
    counts = shown_counts(run.results)
    if len(counts) <= FEW and height(console, [table := verdict_table(run)]) <= room:
        return [table]
    operators = list(dict.fromkeys(operator for _, operator in sorted(counts, key=lambda pair: pair[1])))
    rows = folded_rows(run.info, counts)
    columns = min(MOST_OPERATORS, most_columns(console.width, rows))
    every, operators = operators, worst_operators(operators, counts, columns)
    legend = [Text(text, "dim")] if (text := names_explained(operators, console.width, rows)) else []
    whole = matrix_table(rows, counts, operators, console.width)  # a line for each row, whose labels may fold the heads
    room -= height(console, [whole, *legend]) - len(rows)
    left_off = [plural(len(every) - len(operators), "operator")] if len(every) > len(operators) else []
    if len(rows) <= room - len(left_off):
        return [whole, *map(less_deviates, left_off), *legend]
    kept = dict(worst_rows(rows, counts, room - 1))
    more = less_deviates(" and ".join([plural(len(rows) - len(kept), "row"), *left_off]))
    return [matrix_table(kept, counts, operators, console.width), more, *legend]


def less_deviates(what: str) -> Text:
    return Text(f"… and {what} on which less deviates or fails")


def worst_operators(operators: list[str], counts: Cells, most: int) -> list[str]:
    """The operators on which most cases deviate or fail, so many of them, in their own order."""
    bad = dict.fromkeys(operators, 0)
    for (_, operator), found in counts.items():
        mark, number, _ = mark_of(found)
        bad[operator] += number if mark in "✗!" else 0
    kept = set(sorted(operators, key=lambda operator: -bad[operator])[:most])
    return [operator for operator in operators if operator in kept]


def worst_rows(rows: Mapping[str, str], counts: Cells, most: int) -> list[tuple[str, str]]:
    """The rows on which most cases deviate or fail, in the order of all rows."""
    bad = dict.fromkeys(rows, 0)
    for label, backend in rows.items():
        marks = [mark_of(found) for (name, _), found in counts.items() if name == backend]
        bad[label] = sum(number for mark, number, _ in marks if mark in "✗!")
    kept = set(sorted(rows, key=lambda label: -bad[label])[: max(most, 1)])
    return [(label, backend) for label, backend in rows.items() if label in kept]


def headline_parts(
    told: Sequence[Headline], chapters: Sequence[Chapter], console: Console, most: Mapping[bool, int]
) -> list[RenderableType]:
    """The findings that matter most, a sentence each with its witness.

    `most` says how many lines one may take: a root cause (True), or another finding.
    """
    if not told:
        return ["nothing deviates, fails or contradicts itself"]
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False, pad_edge=False)
    table.add_column(width=ID, no_wrap=True)
    table.add_column(no_wrap=True)
    for one in told:
        table.add_row(
            id_of(one.finding), clipped(sentence(one), console, console.width - ID - 1, most[bool(one.finding.cause)])
        )
    findings = sum(len(chapter.findings) for chapter in chapters if chapter.id != "silent")
    calibrated = any(one.finding.cause is not None for one in told)
    about = " (calibrated: everyday scales, 2^-20 to 2^10)" if calibrated else ""
    return [Text(f"what matters most of {plural(findings, 'finding')}{about}:", "bold"), table]


def sentence(one: Headline) -> str:
    """What a finding is, how often, and its cause."""
    if one.finding.cause is not None:
        return f"{one.text} ({share_text(one.finding.cause.row)}): {one.why}"
    return f"{one.text} ({one.finding.how_much})"


def id_of(finding: Finding) -> str:
    return terminal_text(finding.ids[0], ID) if finding.ids and finding.ids[0] else "–"


def clipped(text: str, console: Console, width: int, most: int) -> Text:
    """The text in at most that many lines; an ellipsis says that something is left out."""
    lines = list(Text(one_line(text, LONGEST)).wrap(console, max(width, 1)))
    for line in lines:
        line.rstrip()
    if len(lines) > most:
        rest = Text(" ").join(lines[most - 1 :])
        rest.truncate(width, overflow="ellipsis")
        lines = [*lines[: most - 1], rest]
    return Text("\n").join(lines)


def further_causes(
    chapters: Sequence[Chapter], told: Sequence[Headline], width: int, room: int
) -> list[RenderableType]:
    """The worst causes that no sentence has told, as many as fit into `room` lines with their heading."""
    known = [one.finding for one in told]
    causes = [one for chapter in chapters for one in chapter.findings if one.cause and one not in known]
    most = min(MOST_CAUSES, room - 1, len(causes))
    if most < 1:
        return []
    title = f"the {most} worst of {len(causes):,} other causes" if most < len(causes) else "the other causes"
    heading = Text(f"{title}, the backend's own document first:", "bold", no_wrap=True, overflow="ellipsis")
    return [heading, cause_table(causes[:most], width)]


def cause_table(causes: Sequence[Finding], width: int) -> Table:
    """Causes, a line each with a witness."""
    wide = width >= WIDE
    fixed = {"id": ID, "backend": 16, **({"operator": 16, "share": 19} if wide else {})}
    room = width - sum(fixed.values()) - len(fixed) - 2
    widths = fixed | {"cause": room // 2, "witness": room - room // 2}
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False, pad_edge=False)
    for name in ("id", "backend", *(["operator"] if wide else []), "cause", "witness", *(["share"] if wide else [])):
        table.add_column(no_wrap=True, overflow="ellipsis", width=max(1, widths[name]))
    for one in causes:
        assert one.cause is not None
        cells = (id_of(one), one.who, *([operator_names(one.operators)] if wide else []), one.what)
        shares = [share_text(one.cause.row)] if wide else []
        table.add_row(*(terminal_text(cell, 200) for cell in (*cells, witness_text(one.cause.row), *shares)))
    return table


def witness_text(row: Mapping[str, Any]) -> str:
    """One input with what came of it."""
    witness = row.get("witness")
    if not witness:
        return ""
    values = ", ".join(str(value) for _, _, value in witness["operands"])
    return f"{values} → {witness['got']}, not {witness['expected']}"


def fitting_typed_table(run: Run, console: Console, room: int) -> Table:
    """The table of a typed case, cut to this many lines."""
    for most in range(MOST_TYPED_ROWS, 1, -1):
        table = typed_table(run, most)
        if height(console, [table]) <= room:
            return table
    return typed_table(run, 1)


def remarks(run: Run, console: Console) -> list[RenderableType]:
    """Why cases were unsupported, and which backends had nothing to do."""
    texts = [text for text in (refusal_text(run), idle_text(run)) if text]
    return [clipped(text, console, console.width, MOST_LINES) for text in texts]


def idle_text(run: Run) -> str:
    ran = set(run.results["backend"])
    idle = ", ".join(str(backend["name"]) for backend in run.info["backends"] if backend["name"] not in ran)
    return f"claim none of the chosen operators: {idle}" if idle else ""


def next_command(run: Run, folder: str, told: Sequence[Headline]) -> str:
    """What to type next: what shows the worst finding again, or what makes a clean run the baseline.

    An answer that changes from call to call need not change in the next one, so it is not shown again.
    """
    specs = {str(one["name"]): str(one.get("spec", "")) for one in run.info["backends"]}
    if shown_again := [one for one in told if one.chapter != "itself" and id_of(one.finding) != "–"]:
        worst = min(shown_again, key=weight).finding
        return shlex.join(repro_words(worst.ids[0], folder, specs.get(worst.backends[0], "")))
    if not run.results["verdict"].isin(RAN).any():
        return "tiebreak doctor"
    if run.info.get("exit") == EXIT_CONFORMS:
        return f"tiebreak gate {shlex.quote(folder)} --baseline baseline --update --accept"
    return f"tiebreak report {shlex.quote(folder)} --text"


def weight(one: Headline) -> tuple[bool, bool, int]:
    """Sorts deviations from an own document first, of them what is not only pathological, and most elements."""
    row = one.finding.cause.row if one.finding.cause else {"elements": 0}
    return one.chapter != "own", one.finding.cause is not None and is_pathological(row), -row["elements"]


def where_the_rest_is(folder: str, level: str) -> str:
    return f"report: {folder}/report.html; as text: tiebreak report {shlex.quote(folder)} --text; level: {level}"
