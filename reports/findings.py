"""The findings page: a run's story in Markdown, every root cause with versions, severity, share and witness."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tiebreak.golden.untrusted_text import one_line, plural
from tiebreak.golden.verdicts import DOMAINS
from tiebreak.reports.folding import FoldedCause
from tiebreak.reports.libraries import libraries_of
from tiebreak.reports.records import Run
from tiebreak.reports.rows import values_by_key
from tiebreak.reports.severity import NEAR, REAL, TIES, WRONG, severity, share_text
from tiebreak.reports.story import Chapter, Finding, story

SEVERITIES = {
    WRONG: "a result that is further off, or off far from any decision boundary",
    REAL: "a real output with other bits, in units in the last place",
    NEAR: "an integer off by one, only within 8 units in the last place of a tie or an integer",
    TIES: "an integer off by one, only where the quotient is a tie or an integer exactly",
}
COLUMNS = (
    *("id", "backend", "operator", "cause", "severity", "share", "types", "clause", "witness", "expected", "got"),
    "public issue",
)
PUBLIC_ISSUES = Path(__file__).parent / "public_issues.toml"


def findings(run: Run) -> str:
    """The page as Markdown. Every text from a backend is escaped."""
    chapters = story(run)
    lines = list(page_heading(run, chapters))
    for chapter in chapters:
        lines += chapter_lines(run, chapter)
    return "\n".join([*lines, *clean_section(run)]) + "\n"


def page_heading(run: Run, chapters: list[Chapter]) -> Iterator[str]:
    info = run.info
    yield "# What a run found"
    yield ""
    yield (
        f"Made by `tiebreak report RUN_DIR --findings FILE` from a run's records ({md(info['created'][:10])}, level "
        f"{md(info['level'])}): {plural(len(info['backends']), 'backend')}, {plural(len(run.results), 'case')}."
    )
    yield ""
    yield from (f"{number}. {chapter.title}: {len(chapter.findings):,}" for number, chapter in enumerate(chapters, 1))
    yield ""
    yield (
        "A backend claims some documents; other operators are mapped to its own operations. A deviation from a "
        "document that it does not claim is a *conversion hazard*, never an error of its own. Severity and share are "
        "those of the calibrated domain (scales 2^-20 to 2^10, inputs up to 2^16 scales from zero, nothing subnormal, "
        "NaN or infinite), if a cause has elements there. `tiebreak repro ID --run RUN_DIR` prints a script in the "
        "library's own API that shows one."
    )
    yield from ("", "| severity | means |", "| --- | --- |")
    yield from (f"| {name} | {text} |" for name, text in SEVERITIES.items())
    yield from documents_section(info)


def documents_section(info: Mapping[str, Any]) -> Iterator[str]:
    """What each library claims, and what is mapped to it and why."""
    rows: dict[tuple[str, str, str], None] = {}
    libraries = libraries_of(info)
    for backend in info["backends"]:
        for operator, text in backend.get("claims", {}).items():
            rows[libraries[backend["name"]], operator, f"claims: {text}"] = None
        for operator, text in backend.get("maps", {}).items():
            rows[libraries[backend["name"]], operator, f"mapped to {text}"] = None
    if rows:
        yield from ("", "## What each library claims", "", "| library | operator | document |", "| --- | --- | --- |")
        yield from (f"| {' | '.join(md(cell) for cell in row)} |" for row in rows)


def chapter_lines(run: Run, chapter: Chapter) -> Iterator[str]:
    yield from ("", f"## {chapter.title}", "", chapter.text, "")
    if not chapter.findings:
        yield "None."
    elif chapter.id == "silent":
        yield from silent_table(run)
    elif chapter.findings[0].cause:
        yield "| " + " | ".join(COLUMNS) + " |"
        yield "| --- " * len(COLUMNS) + "|"
        yield from (cause_line(one, one.cause) for one in chapter.findings if one.cause)
    else:
        yield from ("| id | backend | operator | what | how much |", "| --- | --- | --- | --- | --- |")
        yield from map(finding_line, chapter.findings)


def finding_line(finding: Finding) -> str:
    cells = (", ".join(finding.ids), finding.who, ", ".join(finding.operators), finding.what, finding.how_much)
    return "| " + " | ".join(md(cell) for cell in cells) + " |"


def cause_line(finding: Finding, cause: FoldedCause) -> str:
    row, witness = cause.row, cause.row.get("witness", {})
    operands = ", ".join(f"{name} {value} ({bits})" for name, bits, value in witness.get("operands", ()))
    cells = (
        ", ".join(finding.ids),
        f"{finding.who} {row.get('version', '')}",
        ", ".join(finding.operators),
        row["cause"],
        severity(row),
        shares(row),
        ", ".join(row["types"]),
        row["clause"],
        operands,
        witness.get("expected", ""),
        witness.get("got", ""),
        issue_of(cause),
    )
    return "| " + " | ".join(md(cell) for cell in cells) + " |"


def shares(row: Mapping[str, Any]) -> str:
    """The share that leads, and how many elements each domain has."""
    counts = [f"{row['domains'][name]['elements']:,} {name}" for name in DOMAINS if name in row.get("domains", {})]
    return f"{share_text(row)} ({', '.join(counts)})" if counts else share_text(row)


def issue_of(cause: FoldedCause) -> str:
    """The public report of a root cause, such as owner/repository#1; empty if none is known."""
    for one in public_issues():
        for row in cause.rows:
            same = str(row["backend"]).startswith(one["backend"]) and row["operator"] == one["operator"]
            if same and any(key.startswith(one["cause"]) for key in keys_of(row)):
                return one["issue"]
    return ""


def keys_of(row: Mapping[str, Any]) -> list[str]:
    """The parts of a root cause's id, such as "rounds:TOWARD_ZERO"; none in runs that have no ids."""
    return [key for key in str(row.get("cause_id", "")).partition(" @ ")[0].split(" + ") if key]


@cache
def public_issues() -> list[dict[str, str]]:
    """The entries of public_issues.toml."""
    entries: list[dict[str, str]] = tomllib.loads(PUBLIC_ISSUES.read_text(encoding="utf-8"))["issue"]
    return entries


def silent_table(run: Run) -> Iterator[str]:
    """How many elements of each backend are unspecified."""
    counts = run.results.groupby(["operator", "backend"], observed=True)["unspecified"].sum()
    yield from ("| operator | backend | elements |", "| --- | --- | --- |")
    yield from (
        f"| {md(operator)} | {md(backend)} | {int(n):,} |" for (operator, backend), n in values_by_key(counts) if n
    )


def clean_section(run: Run) -> Iterator[str]:
    """Operators and types of a backend on which nothing deviated and nothing failed."""
    ran = run.results[run.results["verdict"] != "unsupported"]
    keys = ["operator", "backend", "input_type", "output_type"]
    rows = []
    for key, group in ran.groupby(keys, observed=True):
        if set(group["verdict"]) <= {"exact", "working-precision", "other-order", "unspecified"}:
            rows.append((*map(str, key), len(group), int(group["elements"].sum())))
    yield from ("", "## Searched and found clean", "")
    yield from ("| operator | backend | from | to | cases | elements |", "| --- | --- | --- | --- | --- | --- |")
    for operator, backend, first, second, cases, elements in rows:
        yield f"| {md(operator)} | {md(backend)} | {first} | {second} | {cases:,} | {elements:,} |"


def md(value: object) -> str:
    """Text for a table's cell, escaped so that nothing in it is markup."""
    return re.sub(r"([\\|*_\[\]`])", r"\\\1", html.escape(one_line(value, 400), quote=False))
