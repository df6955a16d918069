"""A run as a Markdown page for a CI job: the matrix, what matters most, the story, then verdicts with denominators.

Names and messages come from backends. They are escaped, so that none is Markdown, HTML, a link, a mention or the end of
a cell.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operator_names import source_of
from tiebreak.golden.places import check_outside_runs
from tiebreak.golden.untrusted_text import one_line, plural
from tiebreak.golden.verdicts import FAILED, HAZARD, RAN
from tiebreak.reports.first_screen import headlines
from tiebreak.reports.records import Run
from tiebreak.reports.refusals import refusal_text
from tiebreak.reports.repro_command import repro_words
from tiebreak.reports.story import Chapter, Finding, story
from tiebreak.reports.summary import shown_counts
from tiebreak.reports.tables import Tables, as_tables
from tiebreak.reports.verdict_matrix import MARKS, folded_rows, initials, plain_cell

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 120  # characters of one text
SENTENCE = 400  # characters of a finding that is told as a sentence
MOST_FINDINGS, MOST_PAIRS, MOST_CAUSES = 30, 100, 20
BY_CAUSE = ("own", "hazards")  # chapters
MOST_BYTES = 512 * 1024  # GitHub takes 1 MiB from one step, whose other commands may add to it
ENDS = {
    0: "conforms, or only known discrepancies",
    1: "new discrepancies",
    3: "a backend or the machinery failed",
    4: "nothing ran",
}
CAUSE_COLUMNS = ("id", "backend", "operator", "cause", "clause", "how much", "witness", "expected", "got", "show it")
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
BREAK = "\u200b"  # zero-width space: breaks up what a renderer would turn into a link or a mention
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "<span>$</span>"}
LINKS = re.compile(r"@(?=\S)|[#!~%&^](?=\w)|:(?=//)|\b[wW]{3}(?=\.)|\b(?:mailto|xmpp|GH-|gh-)(?=[:\d])|:(?=[\w+-]+:)")
SAFE = re.compile(r"[\w./' +,=%:-]{1,300}\Z")


def markdown_summary(run: Run, folder: str) -> str:
    """The page, at most MOST_BYTES of UTF-8; `folder` is what its commands call the run. DamagedFile as `load`."""
    tables = as_tables(run, f"{folder}/run.json")
    chapters = story(run)
    lines = [*summary_heading(tables), *matrix_lines(run), *headline_lines(run, chapters), *chapter_list(chapters)]
    for chapter in chapters:
        lines += cause_table(tables, chapter, folder) if chapter.id in BY_CAUSE else finding_table(chapter)
    return bounded_page([*lines, *verdict_rows_by_operator(tables.results)])


def append_step_summary(text: str) -> bool:
    """Append to the summary of the GitHub Actions step that runs this; False outside of one. InvalidInput on errors."""
    path = os.environ.get(STEP_SUMMARY)
    if not path:
        return False
    check_outside_runs(Path(path))
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text if text.endswith("\n") else f"{text}\n")
    except OSError as error:
        raise InvalidInput(f"{STEP_SUMMARY} {path}: can't write: {error.strerror or error}") from None
    return True


def summary_heading(tables: Tables) -> Iterator[str]:
    results = tables.results
    failed, ran = (int(results["verdict"].isin(some).sum()) for some in (FAILED, RAN))
    yield "# Tiebreak"
    yield ""
    yield (
        f"{plural(len(tables.backends), 'backend')}, {plural(len(results), 'case')}: {ran:,} ran, {failed:,} failed to "
        f"run, {len(results) - ran - failed:,} unsupported."
    )
    code = tables.info.get("exit")
    if isinstance(code, int):
        yield f"Exit {code}: {ENDS.get(code, 'unknown')}."


def matrix_lines(run: Run) -> Iterator[str]:
    """The matrix: a row for each backend, configurations with equal bits in one."""
    counts = shown_counts(run.results)
    if not counts:
        return
    operators = sorted({operator for _, operator in counts})
    yield ""
    yield from header("backend", *(escaped(f"{source_of(one)} {initials(one)}") for one in operators))
    rows = list(folded_rows(run.info, counts).items())
    for label, backend in rows[:MOST_PAIRS]:
        yield table_line(label, *(plain_cell(counts.get((backend, one), {})) for one in operators))
    yield from left_out(len(rows), MOST_PAIRS)
    yield from ("", f"{MARKS}. {', '.join(escaped(f'{initials(one)} {one}') for one in operators)}.")


def headline_lines(run: Run, chapters: Sequence[Chapter]) -> Iterator[str]:
    """The findings that matter most, a sentence each, and why cases were unsupported."""
    told = headlines(run, chapters)
    yield from ("", "## What matters most", "")
    for number, one in enumerate(told, start=1):
        ids = f" ({escaped(one.finding.ids[0])})" if one.finding.ids and one.finding.ids[0] else ""
        yield f"{number}. {escaped(one.text.rstrip('.'), SENTENCE)}. {escaped(one.why, SENTENCE)}{ids}"
    if not told:
        yield "Nothing deviates, fails or contradicts itself."
    if refused := refusal_text(run):
        yield from ("", escaped(f"{refused[0].upper()}{refused[1:].rstrip('.')}.", SENTENCE))


def chapter_list(chapters: Sequence[Chapter]) -> Iterator[str]:
    """How many findings each chapter has."""
    yield from ("", "## All findings", "")
    yield from (f"{n}. {chapter.title}: **{len(chapter.findings):,}**" for n, chapter in enumerate(chapters, 1))


def finding_table(chapter: Chapter) -> Iterator[str]:
    """The findings of a chapter, a row each; nothing for a chapter without any."""
    if not chapter.findings:
        return
    yield from ("", f"## {chapter.title}", "", chapter.text, "")
    yield from header("id", "backend", "operator", "what", "how much")
    for one in chapter.findings[:MOST_FINDINGS]:
        yield table_line(", ".join(one.ids), one.who, ", ".join(one.operators), one.what, one.how_much)
    yield from left_out(len(chapter.findings), MOST_FINDINGS)


def cause_table(tables: Tables, chapter: Chapter, folder: str) -> Iterator[str]:
    """The causes of a chapter: place, share, witness and the command that shows it."""
    if not chapter.findings:
        return
    yield from ("", f"## {chapter.title}", "", f"{chapter.text} The command prints a script.", "")
    yield from header(*CAUSE_COLUMNS)
    specs = dict(zip(tables.backends["name"], tables.backends["spec"], strict=True))
    for one in chapter.findings[:MOST_CAUSES]:
        if one.cause is not None:
            yield cause_line(one, one.cause.row, folder, specs)
    yield from left_out(len(chapter.findings), MOST_CAUSES)


def cause_line(one: Finding, row: Mapping[str, Any], folder: str, specs: Mapping[str, str]) -> str:
    witness, who = row.get("witness", {}), f"{one.who} {row.get('version', '')}"
    operands = ", ".join(f"{name} {value}" for name, _, value in witness.get("operands", ()))
    where = (", ".join(one.ids), who, ", ".join(one.operators), row["cause"], row["clause"], one.how_much)
    cells = table_line(*where, operands, witness.get("expected", ""), witness.get("got", ""))
    return f"{cells} {repro_code(str(row['id']), folder, specs.get(row['backend'], ''))} |"


def verdict_rows_by_operator(results: pd.DataFrame) -> Iterator[str]:
    """A row for each backend and operator: how many of its cases ran, and how many of those got each verdict."""
    if results.empty:
        yield from ("", "Nothing ran: no chosen backend claims a chosen operator.")
        return
    counts = sorted(shown_counts(results).items(), key=lambda item: worst_first(item[1]))
    versions = dict(zip(results["backend"], results["version"], strict=True))
    yield from (
        "",
        "## Verdicts",
        "",
        "Cases. The verdicts up to unspecified are of the cases that ran, those of all cases.",
        "",
    )
    yield from header("backend", "operator", "ran", "deviates", HAZARD, *RAN[:-1], "failed to run", "unsupported")
    for (backend, operator), found in counts[:MOST_PAIRS]:
        ran, failed = (sum(found.get(name, 0) for name in some) for some in ((*RAN, HAZARD), FAILED))
        off, cases = found.get("deviates", 0), sum(found.values())
        share = (f"{ran:,} of {cases:,}", f"{off:,} of {ran:,}" if ran else "none ran")
        cells = (*share, *(f"{found.get(name, 0):,}" if ran else "–" for name in (HAZARD, *RAN[:-1])), f"{failed:,}")
        yield table_line(f"{backend} {versions[backend]}", operator, *cells, f"{found.get('unsupported', 0):,}")
    yield from left_out(len(counts), MOST_PAIRS)


def worst_first(found: Mapping[str, int]) -> tuple[int, int]:
    return -found.get("deviates", 0), -sum(found.get(name, 0) for name in FAILED)


def operand_values(text: str) -> str:
    return ", ".join(f"{name} {value}" for name, _, value in json.loads(text))


def repro_code(name: str, folder: str, *specs: str) -> str:
    """`tiebreak repro` as a code span. Words that a code span in a table can't hold become RUN_DIR and BACKEND."""
    if not re.fullmatch(r"[ACDFRS]\d{1,9}", name, re.ASCII):
        return ""
    words = repro_words(name, folder if SAFE.match(folder) else "RUN_DIR", *specs)
    return f"`{shlex.join(word if SAFE.match(word) else 'BACKEND' for word in words)}`"


def header(*names: str) -> tuple[str, str]:
    return "| " + " | ".join(names) + " |", "| --- " * len(names) + "|"


def table_line(*cells: object) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def left_out(count: int, most: int) -> Iterator[str]:
    if count > most:
        yield from ("", f"{count - most:,} more are in the report and in the run's tables.")


def escaped(value: object, longest: int = LONGEST) -> str:
    """Untrusted text for a line or a table's cell: printable, bounded and escaped."""
    text = LINKS.sub(lambda found: found[0] + BREAK, one_line(value, longest))
    return re.sub(r"[\\|*_~`\[\](){}!#&<>$]", lambda found: ENTITIES.get(found[0], f"\\{found[0]}"), text)


def bounded_page(lines: Sequence[str]) -> str:
    """The lines as one text of at most MOST_BYTES; the rest is left out."""
    kept = list(within(lines, MOST_BYTES - 100))
    cut = [] if len(kept) == len(lines) else ["", "The rest is left out, since the page has a bounded size."]
    return "\n".join([*kept, *cut]) + "\n"


def within(lines: Iterable[str], most: int) -> Iterator[str]:
    size = 0
    for text in lines:
        size += len(text.encode("utf-8", "replace")) + 1
        if size > most:
            return
        yield text
