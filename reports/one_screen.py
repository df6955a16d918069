"""What a run prints at its end: one screen. `tiebreak report RUN` prints it again, with `--text` the rest."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from itertools import chain

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tiebreak.golden.exit_codes import EXIT_CONFORMS
from tiebreak.golden.untrusted_text import one_line, plural, printable
from tiebreak.golden.verdicts import FAILED, RAN
from tiebreak.reports.first_screen import (
    TOLD,
    Headline,
    LibraryRow,
    headline,
    headlines,
    library_names,
    library_rows,
)
from tiebreak.reports.records import Run
from tiebreak.reports.refusals import refusal_text
from tiebreak.reports.repro_command import repro_words, shown_backends
from tiebreak.reports.severity import percent, share_text
from tiebreak.reports.story import Chapter, operator_names, story
from tiebreak.reports.summary import MOST_TYPED_ROWS, shown_counts, typed_table, verdict_table

FEW = 6  # pairs of backend and operator whose table tells more and still fits
LINES = 40  # of the screen
MOST_OTHERS = 10
MOST_LINES = 2  # of why cases are unsupported
INDENT = 2  # columns before what is said of a library
LONGEST, LONGEST_COMMAND = 400, 4000  # characters of a sentence, and of what to type


def print_summary(run: Run, folder: str, *, console: Console | None = None, judged: bool = False) -> None:
    """The libraries with their worst findings, further findings, why cases are unsupported: at most 40 lines.

    A clean run may become a baseline, unless it is `judged` by one.
    """
    console = console or Console()
    chapters = story(run)
    told = headlines(run, chapters)
    first = [table] if len(shown_counts(run.results)) <= FEW and (table := verdict_table(run)) else []
    last = remarks(run, console)
    worst = worst_by_library(run, chapters, told)
    command = next_command(run, folder, [one for _, one in worst if one], judged=judged)
    commands = [f"next: {command}", where_the_rest_is(folder, run.info["level"])]
    room = LINES - height(console, [*first, *last]) - sum(lines_of(line, console.width) for line in commands)
    libraries = library_parts(run, chapters, worst, folder, console, room)
    room -= height(console, libraries)
    if run.info.get("typed"):
        libraries.append(typed := fitting_typed_table(run, console, room))
        room -= height(console, [typed])
    for part in (*first, *libraries, *further_findings(run, chapters, told, console, room), *last):
        console.print(part)
    for line in commands:  # whole, so that they can be copied
        console.print(Text(printable(line, LONGEST_COMMAND)), soft_wrap=True)


def height(console: Console, parts: Sequence[RenderableType]) -> int:
    """How many lines the parts take."""
    return sum(len(console.render_lines(part, pad=False)) for part in parts)


def lines_of(text: str, width: int) -> int:
    """How many lines a terminal makes of a line that is printed whole."""
    return max(1, math.ceil(cell_len(text) / width))


def worst_by_library(
    run: Run, chapters: Sequence[Chapter], told: Sequence[Headline]
) -> list[tuple[LibraryRow, Headline | None]]:
    """The libraries, those first of which most is wrong, with their worst findings."""
    names = library_names(run)
    worst = {names.get(one.finding.backends[0], ""): one for one in reversed(told)}
    return [(row, worst.get(row.library)) for row in library_rows(run, chapters)]


def library_parts(
    run: Run,
    chapters: Sequence[Chapter],
    worst: Sequence[tuple[LibraryRow, Headline | None]],
    folder: str,
    console: Console,
    room: int,
) -> list[RenderableType]:
    """Every library's line, and below it its worst finding with the command that shows it, as far as there is room.

    Nothing is cut in the middle: what has no room is left out whole, and said to be.
    """
    heads: list[RenderableType] = [Text(library_text(row), "bold") for row, _ in worst]
    while height(console, heads) > room - 1 and len(heads) > 1:
        heads.pop()
    room -= height(console, heads)
    shown: list[RenderableType] = []
    for head, (row, one) in zip(heads, worst, strict=False):
        below = finding_parts(run, one, folder) if one else [indented(why_nothing_is_told(run, chapters, row))]
        needed = height(console, below)
        shown += [head, *(below if needed <= room else [])]
        room -= needed if needed <= room else 0
    if len(heads) < len(worst):
        shown.append(Text(f"… and {plural(len(worst) - len(heads), 'row')} of libraries on which less deviates"))
    return shown


def why_nothing_is_told(run: Run, chapters: Sequence[Chapter], row: LibraryRow) -> str:
    found = (finding for chapter in chapters if chapter.id in chain(*TOLD) for finding in chapter.findings)
    if any(set(finding.backends) <= set(row.backends) for finding in found):
        return "what is found here is on empty tensors, or what the library documents of its defaults: see the report"
    return "nothing deviates, fails or contradicts itself"


def library_text(row: LibraryRow) -> str:
    """A library with its releases, and its shares of cases and operators."""
    releases = ", ".join(row.releases)
    name = f"{'⇄ ' if row.foreign else ''}{row.library} {releases}" + (
        f" × {len(row.backends)}" if len(row.backends) > 1 else ""
    )
    share = f"{percent(row.deviates, row.judged)} of {plural(row.judged, 'calibrated case')} deviate"
    parts = [f"{share}, in {row.deviate_in:,} of {plural(row.operators, 'operator')}"] if row.judged else []
    parts += [f"{plural(row.other_order, 'case')} right in another order of steps"] if row.other_order else []
    parts += [f"contradicts itself {plural(row.itself, 'time')}"] if row.itself else []
    parts += [f"{plural(row.failed, 'case')} failed"] if row.failed else []
    return printable(f"{name}: {'; '.join(parts) or 'no calibrated case is judged'}", LONGEST)


def finding_parts(run: Run, one: Headline, folder: str) -> list[RenderableType]:
    """A finding in a sentence, and the command that shows it again."""
    command = command_of(run, one, folder)
    return [indented(sentence(one)), *([indented(command)] if command else [])]


def indented(text: str) -> Padding:
    return Padding(Text(printable(text, LONGEST_COMMAND)), (0, 0, 0, INDENT))


def sentence(one: Headline) -> str:
    """Where a finding is, what it is, how often, and its cause; without the example where that is too long."""
    id_, cause = f"{one.id} " if one.id else "", one.finding.cause
    if cause is None:
        start, end = f"{id_}{one.finding.who}, {operator_names(one.finding.operators)}: ", one.finding.how_much
        whole, short = f"{id_}{one.text} ({one.why})", f"{start}{one.finding.what} ({end})"
    else:
        types = ", ".join(cause.row["types"][:1]) + (" and others" if cause.row["types"][1:] else "")
        start, end = f"{id_}{operator_names(one.finding.operators)}, {types}: ", f"{one.why} ({share_text(cause.row)})"
        whole, short = f"{start}{one.text}: {end}", f"{start}{end}"
    return one_line(whole if len(whole) <= LONGEST else short, LONGEST)


def command_of(run: Run, one: Headline, folder: str) -> str:
    """The command that shows a finding again; empty if it has no id."""
    specs = {str(row["name"]): str(row.get("spec", "")) for row in run.info["backends"]}
    if not one.id:
        return ""
    asked = (specs.get(name, "") for name in shown_backends(one.finding))
    return shlex.join(repro_words(one.id, folder, *asked))


def further_findings(
    run: Run, chapters: Sequence[Chapter], told: Sequence[Headline], console: Console, room: int
) -> list[RenderableType]:
    """The worst causes and failures that no sentence has told, as many as fit into `room` lines with their heading."""
    known = [one.finding for one in told]
    others = [
        (chapter.id, one)
        for chapter in chapters
        for one in chapter.findings
        if (one.cause or chapter.id == "failures") and one not in known
    ]
    fitting: list[RenderableType] = []
    for chapter, finding in others[:MOST_OTHERS]:
        text = sentence(headline(run, chapter, finding))
        part = Text(f"{finding.who} {text}" if finding.cause else text)
        if height(console, [*fitting, part]) > room - 1:
            break
        fitting.append(part)
    few = len(fitting) < len(others)
    title = f"the {len(fitting)} worst of {len(others):,} other findings" if few else "the other findings"
    heading = Text(f"{title}, the backend's own document first:", "bold", no_wrap=True, overflow="ellipsis")
    return [heading, *fitting] if fitting else []


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


def idle_text(run: Run) -> str:
    ran = set(run.results["backend"])
    idle = ", ".join(str(backend["name"]) for backend in run.info["backends"] if backend["name"] not in ran)
    return f"claim none of the chosen operators: {idle}" if idle else ""


def next_command(run: Run, folder: str, worst: Sequence[Headline], *, judged: bool) -> str:
    """What to type next: what shows the first of the worst findings again, or what makes a clean run the baseline."""
    if not run.results["verdict"].isin([*RAN, *FAILED]).any():
        return "tiebreak doctor"
    if shown_again := next((one for one in worst if one.id), None):
        return command_of(run, shown_again, folder)
    if run.info.get("exit") == EXIT_CONFORMS and not (judged or run.info.get("typed")):
        return f"tiebreak gate {shlex.quote(folder)} --baseline baseline --update --accept"
    return f"tiebreak report {shlex.quote(folder)} --text"


def where_the_rest_is(folder: str, level: str) -> str:
    return f"report: {folder}/report.html; as text: tiebreak report {shlex.quote(folder)} --text; level: {level}"
