"""The findings page: every root cause of a run in Markdown, with versions, severity and witness."""

from __future__ import annotations

import html
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tiebreak.golden.messages import without_numbers
from tiebreak.golden.untrusted_text import one_line
from tiebreak.golden.verdicts import FAILED
from tiebreak.reports.records import Run
from tiebreak.reports.rows import result_rows, values_by_key

TIES, NEAR, WRONG = "wrong by one at ties", "wrong by one next to a decision boundary", "wrong value"
ACCEPTED, REFUSED = "invalid argument accepted", "valid one rejected"
SEVERITIES = {
    "crash": "the process ends",
    "timeout": "no answer in time",
    "error": "valid input, no result",
    WRONG: "a result that is further off, or off far from any decision boundary",
    "wrong real result": "a real output with other bits, in units in the last place",
    NEAR: "an integer off by one, only within 8 units in the last place of a tie or an integer",
    ACCEPTED: "a call that the document forbids has a result",
    REFUSED: "a node that the document allows is not taken; the results that there are may be right",
    TIES: "an integer off by one, only where the quotient is a tie or an integer exactly",
}
NEAREST_ULPS = 8
LONGEST_MESSAGE = 160
MOST_KINDS = 6  # pairs of types of a refusal
COLUMNS = (
    *("id", "backend", "cause", "severity", "elements", "types", "clause", "witness", "expected", "got"),
    "public issue",
)
PUBLIC_ISSUES = Path(__file__).parent / "public_issues.toml"


def findings(run: Run) -> str:
    """The page as Markdown. Every text from a backend is escaped."""
    found = [
        *page_heading(run),
        *root_cause_sections(run),
        *failure_section(run),
        *accepted_section(run),
        *refused_section(run),
    ]
    return "\n".join([*found, *unspecified_section(run), *clean_section(run)]) + "\n"


def page_heading(run: Run) -> Iterator[str]:
    info = run.info
    yield "# What a run found"
    yield ""
    yield (
        f"Made by `tiebreak report RUN_DIR --findings FILE` from a run's records ({md(info['created'][:10])}, level "
        f"{md(info['level'])}): {len(info['backends'])} backends, {len(run.results):,} cases, "
        f"{len(run.discrepancies):,} deviating elements in {len(merged_causes(info.get('clusters', [])))} root causes. "
        "A cause shared by several configurations of a library is listed once, with each id. "
        "`tiebreak repro ID --run RUN_DIR` prints a script in the library's own API that shows one, cut down to the "
        "fewest elements."
    )
    yield ""
    yield "| severity | means |"
    yield "| --- | --- |"
    yield from (f"| {name} | {text} |" for name, text in SEVERITIES.items())


def root_cause_sections(run: Run) -> Iterator[str]:
    rows = merged_causes(run.info.get("clusters", []))
    for operator in sorted({row["operator"] for row in rows}):
        yield from ("", f"## {operator}", "")
        yield "| " + " | ".join(COLUMNS) + " |"
        yield "| --- " * len(COLUMNS) + "|"
        of_operator = [row for row in rows if row["operator"] == operator]
        yield from map(root_cause_line, sorted(of_operator, key=lambda row: row["backend"].split(", ")[0]))


def merged_causes(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Root causes; one that several configurations of a library's version share is merged into one row."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["operator"], row["backend"].split("-")[0], row["version"], row["cause"]].append(row)
    return [merged_cause(sorted(group, key=lambda row: len(row["backend"]))) for group in groups.values()]


def merged_cause(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The first row with the ids, backends, counts and types of all rows merged in."""
    beyond = [row["boundary_ulp"] for row in rows]
    return dict(rows[0]) | {
        "id": ", ".join(row["id"] for row in rows),
        "backend": ", ".join(row["backend"] for row in rows),
        "elements": sum(row["elements"] for row in rows),
        "cases": sum(row["cases"] for row in rows),
        "types": list(dict.fromkeys(kind for row in rows for kind in row["types"])),
        "farthest": max(row["farthest"] for row in rows),
        "boundary_ulp": None if None in beyond else max(beyond),
    }


def root_cause_line(row: Mapping[str, Any]) -> str:
    witness = row["witness"]
    operands = ", ".join(f"{name} {value} ({bits})" for name, bits, value in witness["operands"])
    cells = (
        row["id"],
        f"{row['backend']} {row['version']}",
        row["cause"],
        severity(row),
        f"{row['elements']:,} in {row['cases']:,} cases",
        ", ".join(row["types"]),
        row["clause"],
        operands,
        witness["expected"],
        witness["got"],
        issue_of(row),
    )
    return "| " + " | ".join(md(cell) for cell in cells) + " |"


def severity(row: Mapping[str, Any]) -> str:
    """The severity by the greatest distance of its elements and by their distance from a decision boundary."""
    quantizes = any(one.endswith(tuple(f"int{bits}" for bits in (2, 4, 8, 16, 32))) for one in row["types"])
    if not quantizes:
        return f"wrong real result, up to {row['farthest']:,} ulp"
    furthest = row["boundary_ulp"]
    if row["farthest"] > 1 or furthest is None or furthest > NEAREST_ULPS:
        return WRONG
    return TIES if furthest == 0 else NEAR


def issue_of(row: Mapping[str, Any]) -> str:
    """The public report of a root cause, such as owner/repository#1; empty if none is known."""
    for one in public_issues():
        same = row["backend"].startswith(one["backend"]) and row["operator"] == one["operator"]
        if same and one["cause"] in row["cause"]:
            return one["issue"]
    return ""


@cache
def public_issues() -> list[dict[str, str]]:
    """The entries of public_issues.toml."""
    entries: list[dict[str, str]] = tomllib.loads(PUBLIC_ISSUES.read_text(encoding="utf-8"))["issue"]
    return entries


def failure_section(run: Run) -> Iterator[str]:
    """Crashes, timeouts and errors, grouped by message."""
    failed = run.results[run.results["verdict"].isin(FAILED)]
    if failed.empty:
        return
    yield from ("", "## Failures", "", "| backend | operator | verdict | cases | message | first case |")
    yield "| --- | --- | --- | --- | --- | --- |"
    counts: Counter[tuple[str, ...]] = Counter()
    first: dict[tuple[str, ...], str] = {}
    for row in result_rows(failed):
        key = tuple(str(row[name]) for name in ("backend", "version", "operator", "verdict"))
        key = (*key, without_numbers(str(row["message"]))[:LONGEST_MESSAGE])
        counts[key] += 1
        first.setdefault(key, str(row["case"]))
    for (backend, version, operator, verdict, message), count in sorted(counts.items()):
        case = first[backend, version, operator, verdict, message]
        yield (
            "| " + " | ".join(md(c) for c in (f"{backend} {version}", operator, verdict, count, message, case)) + " |"
        )


def accepted_section(run: Run) -> Iterator[str]:
    """Forbidden calls that a backend did not reject."""
    rows = [row for row in run.info.get("forbidden", []) if row["answer"] != "rejected"]
    tried = len(run.info.get("forbidden", []))
    if not tried:
        return
    yield from ("", "## Forbidden calls", "")
    yield (
        f"Of {tried:,} calls that a clause excludes {tried - len(rows):,} were rejected. The others, severity "
        f"*{ACCEPTED}*; where the operator is not the library's own, an adapter has chosen what to call for it."
    )
    yield from ("", "| backend | operator | clause | call | answer | result |", "| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        names = f"{row['backend']} {row['version']}", row["operator"], row["clause"], row["what"], row["answer"]
        yield "| " + " | ".join(md(cell) for cell in (*names, row["got"] or row["message"])) + " |"


def refused_section(run: Run) -> Iterator[str]:
    """Valid nodes that a backend's adapter or library refuses, with its reason."""
    rows = run.results[run.results["verdict"] == "unsupported"]
    counts: Counter[tuple[str, ...]] = Counter()
    types: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in result_rows(rows):
        key = (
            f"{row['backend']} {row['version']}",
            str(row["operator"]),
            without_numbers(str(row["message"]))[:LONGEST_MESSAGE],
        )
        counts[key] += 1
        types[key].add(f"{row['input_type']} to {row['output_type']}")
    if not counts:
        return
    yield from ("", "## Valid nodes that were refused", "")
    yield f"Severity *{REFUSED}*: what a library says is its own; the rest are its adapter's reasons."
    yield from ("", "| backend | operator | cases | types | reason |", "| --- | --- | --- | --- | --- |")
    for (backend, operator, message), count in sorted(counts.items()):
        kinds = sorted(types[backend, operator, message])
        shown = ", ".join(kinds[:MOST_KINDS]) + (f" and {len(kinds) - MOST_KINDS} more" if kinds[MOST_KINDS:] else "")
        yield "| " + " | ".join(md(c) for c in (backend, operator, f"{count:,}", shown, message)) + " |"


def unspecified_section(run: Run) -> Iterator[str]:
    """How many elements of each backend are unspecified."""
    counts = run.results.groupby(["operator", "backend"], observed=True)["unspecified"].sum()
    rows = [(str(a), str(b), int(n)) for (a, b), n in values_by_key(counts) if n]
    if not rows:
        return
    yield from ("", "## Unspecified", "", "Elements on which the document says nothing; never a failure.", "")
    yield from ("| operator | backend | elements |", "| --- | --- | --- |")
    yield from (f"| {md(operator)} | {md(backend)} | {count:,} |" for operator, backend, count in rows)


def clean_section(run: Run) -> Iterator[str]:
    """Operators and types of a backend on which nothing deviated and nothing failed."""
    ran = run.results[run.results["verdict"] != "unsupported"]
    keys = ["operator", "backend", "input_type", "output_type"]
    rows = []
    for key, group in ran.groupby(keys, observed=True):
        if set(group["verdict"]) <= {"exact", "working-precision", "unspecified"}:
            rows.append((*map(str, key), len(group), int(group["elements"].sum())))
    yield from ("", "## Searched and found clean", "")
    yield from ("| operator | backend | from | to | cases | elements |", "| --- | --- | --- | --- | --- | --- |")
    for operator, backend, first, second, cases, elements in rows:
        yield f"| {md(operator)} | {md(backend)} | {first} | {second} | {cases:,} | {elements:,} |"


def md(value: object) -> str:
    """Text for a table's cell, escaped so that nothing in it is markup."""
    return re.sub(r"([\\|*_\[\]`])", r"\\\1", html.escape(one_line(value, 400), quote=False))
