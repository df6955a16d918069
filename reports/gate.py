"""The gate's result on the terminal, for $GITHUB_STEP_SUMMARY, and as JUnit XML.

`found` is the mapping that conformance.gate.gate returns, with the `run` and `baseline` folders. Every text from a
backend is escaped for its format.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rich.console import Console

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.exit_codes import EXIT_CONFORMS, EXIT_DISCREPANCIES, EXIT_FAILED, EXIT_NOTHING_RAN
from tiebreak.golden.messages import gist
from tiebreak.golden.untrusted_text import printable
from tiebreak.reports.comparison import changed_line, changed_lines, changed_text, difference_lines, not_run_line
from tiebreak.reports.console import terminal_text
from tiebreak.reports.junit import xml_text
from tiebreak.reports.markdown import append_step_summary, operand_values
from tiebreak.reports.records import write_aside
from tiebreak.reports.repro_command import repro_words

MOST = 25  # root causes in full
LONGEST_LINE = 900  # of a failure's text
HEADLINES = {
    EXIT_CONFORMS: "nothing new",
    EXIT_FAILED: "a backend failed where the baseline does not",
    EXIT_NOTHING_RAN: "nothing ran",
}
CHANGED, LOST = "changed results", "cases that no longer run"
NOTED = {"stale": "no longer matches", "expired": "has expired", "not run": "could not be tried"}


def print_gate(found: Mapping[str, Any]) -> None:
    """Print new root causes, failures, waivers that no longer hold, cases that did not run, and the counts."""
    console = Console()
    for row in found["new"][:MOST]:
        where = f"{terminal_text(row['backend'])} {terminal_text(row['version'], 40)}, {terminal_text(row['operator'])}"
        console.print(f"[red]new[/] {where}: {terminal_text(row['cause'], 300)}", soft_wrap=True)
        for line in new_cause_lines(row, found["run"]):
            console.print(f"  {terminal_text(line, 900)}", soft_wrap=True)
    if len(found["new"]) > MOST:
        console.print(f"… and {len(found['new']) - MOST} more root causes: see --json")
    for row in found["hazards"][:MOST]:
        console.print(f"[cyan]hazard[/] {terminal_text(hazard_line(row), 600)}", soft_wrap=True)
    for row in found["other_orders"][:MOST]:
        colour = "red" if found["strict"] else "cyan"
        console.print(f"[{colour}]other order[/] {terminal_text(new_order_line(row), 600)}", soft_wrap=True)
    for row in found["failures"][:MOST]:
        console.print(f"[red]failed[/] {terminal_text(new_failure_line(row), 600)}", soft_wrap=True)
    for row in found["waivers"]:
        if row["status"] in NOTED:
            console.print(f"[yellow]{row['status']}[/] {terminal_text(waiver_line(row), 600)}", soft_wrap=True)
    changed = changed_lines(found["changed"]) if found["any_change"] else []
    for line in [*changed, *map(not_run_line, found["not_run"]), *difference_lines(found)]:
        console.print(terminal_text(line, 600), soft_wrap=True)
    if both := found["counts"]["ran_in_both"]:
        console.print(changed_line(found["changed"], both))
    console.print(counts_line(found["counts"]), soft_wrap=True)
    console.print(f"gate: {headline(found)} (exit code {found['exit']})")


def headline(found: Mapping[str, Any]) -> str:
    news = reasons(found)
    if found.get("updated") and (news or found["failures"]) and found["exit"] == EXIT_CONFORMS:
        return "accepted: what is new is in the baseline now"
    if found["exit"] == EXIT_DISCREPANCIES:
        return " and ".join(news)
    but = [text for text, rows in (("new conversion hazards", found["hazards"]), (CHANGED, found["changed"])) if rows]
    if found["exit"] == EXIT_CONFORMS and but:
        return f"no new discrepancies, but {' and '.join(but)}"
    if found["exit"] == EXIT_NOTHING_RAN and found["counts"]["ran"]:
        return "no case ran in the baseline, too: nothing was compared"
    return HEADLINES[found["exit"]]


def reasons(found: Mapping[str, Any]) -> list[str]:
    """What makes the gate end with 1."""
    asked = found["any_change"]
    said = {
        "new discrepancies": found["new"],
        "new conversion hazards": asked and found["hazards"],
        "other orders of steps": found["strict"] and found["other_orders"],
        CHANGED: asked and found["changed"],
        LOST: found["must_run"] and found["not_run"],
        "a waiver that no longer matches": any(row["status"] == "stale" for row in found["waivers"]),
    }
    return [text for text, there in said.items() if there]


def changed_and_lost(found: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """What the gate fails for besides discrepancies and failures, if it was asked to: a kind, its row, and its line."""
    if found["any_change"]:
        yield from (("new conversion hazard", row, hazard_line(row)) for row in found["hazards"])
        yield from ((CHANGED, row, changed_text(row)) for row in found["changed"] or ())
    if found["must_run"]:
        yield from ((LOST, row, not_run_line(row)) for row in found["not_run"])


def new_cause_lines(row: Mapping[str, Any], run: str) -> list[str]:
    """The lines below a new root cause: its size, an example, notes, and the command that shows it."""
    cause, first = row["cluster"], row["first"]
    part = "" if row["elements"] == row["of"] else f" of {row['of']:,}"
    name = f"{cause['id']}: " if cause else ""
    lines = [f"{name}{row['elements']:,}{part} elements in {row['cases']:,} cases are new, clause {row['clause']}"]
    lines += [cause["sentence"]] if cause else []
    lines += [
        f"e.g. {first['id']}: {operand_values(first['operands'])}: expected {first['expected']}, got {first['got']}"
    ]
    lines += [f"in the case {first['case']}"]
    lines += [f"{row['unseen']:,} of them in cases that the baseline does not have"] if row["unseen"] else []
    lines += [f"waiver {number} is for it, but has expired" for number in row["expired"]]
    lines += [f"waiver {number} is for it, but does not tolerate this much" for number in row["beyond"]]
    return [*lines, shlex.join(repro_words(row["repro"], run, row["spec"]))]


def hazard_line(row: Mapping[str, Any]) -> str:
    """A new deviation from a document that the backend does not claim, in one line."""
    where = f"{row['backend']} {row['version']}, {row['operator']}"
    return f"{where}: {row['cause']} ({row['elements']:,} elements; it does not claim this document)"


def new_failure_line(row: Mapping[str, Any]) -> str:
    kind = row["verdict"] if row["fault"] in ("", row["verdict"]) else f"{row['verdict']} ({row['fault']})"
    where = f"{row['backend']}, {row['operator']}"
    return f"{where}: {kind} in {row['cases']:,} cases, first {row['first']}: {gist(row['message'])[:200]}"


def new_order_line(row: Mapping[str, Any]) -> str:
    """Results of another order of the document's steps, in one line."""
    told = f"{row['elements']:,} elements in {row['cases']:,} cases, first {row['first']}"
    return f"{row['backend']}, {row['operator']}: {told}"


def waiver_line(row: Mapping[str, Any]) -> str:
    return f"{row['waiver']} {NOTED[row['status']]}: {row['why']} ({row['elements']:,} elements; {row['link']})"


def counts_line(counts: Mapping[str, int]) -> str:
    return (
        f"{counts['ran']:,} of {counts['planned']:,} cases ran; {counts['deviating']:,} elements deviate: "
        f"{counts['new']:,} new, {counts['hazards']:,} new conversion hazards, {counts['waived']:,} waived, "
        f"{counts['known']:,} known; "
        f"{counts['gone']:,} of the baseline's are gone"
    )


def append_gate_summary(found: Mapping[str, Any]) -> None:
    """Append the Markdown to a GitHub step's page. A failure is only reported: the exit code stays the gate's."""
    try:
        append_step_summary(gate_markdown(found))
    except InvalidInput as error:
        print(f"tiebreak: {error}", file=sys.stderr)


def gate_markdown(found: Mapping[str, Any]) -> str:
    """A short Markdown summary. Backends' texts are in code spans that they can't end."""
    lines = [f"## Tiebreak gate: {headline(found)}", "", counts_line(found["counts"]), ""]
    for row in found["new"][:MOST]:
        lines.append(f"- **new** {code_span(row['backend'])} {code_span(row['operator'])} {code_span(row['cause'])}")
        lines += [f"  - {code_span(line)}" for line in new_cause_lines(row, found["run"])]
    left_out = len(found["new"]) - MOST
    lines += [f"- {left_out} more root causes"] if left_out > 0 else []
    lines += [f"- **hazard** {code_span(hazard_line(row))}" for row in found["hazards"][:MOST]]
    lines += [f"- **other order** {code_span(new_order_line(row))}" for row in found["other_orders"][:MOST]]
    lines += [f"- **failed** {code_span(new_failure_line(row))}" for row in found["failures"][:MOST]]
    lines += [
        f"- **{row['status']}** {code_span(waiver_line(row))}" for row in found["waivers"] if row["status"] in NOTED
    ]
    lines += [
        f"- {code_span(line)}" for line in (changed_lines(found["changed"]) if found["any_change"] else [])[:MOST]
    ]
    lines += [f"- {code_span(not_run_line(row))}" for row in found["not_run"][:MOST]]
    lines += [f"- {code_span(line)}" for line in difference_lines(found)[:MOST]]
    return "\n".join(lines) + "\n\n"


def code_span(text: str) -> str:
    """Untrusted text as a code span of one line."""
    plain = printable(text, LONGEST_LINE, " ")
    return f"`{plain.replace('`', chr(39)).strip() or ' '}`"


def write_gate_junit(path: Path, found: Mapping[str, Any]) -> None:
    """One test case for each new root cause, new failure and waiver, and one for all that conforms or is known."""
    root = gate_document(found, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"))
    document = f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
    write_aside(path, lambda aside: aside.write_text(document, encoding="utf-8"))


def gate_document(found: Mapping[str, Any], stamp: str) -> ElementTree.Element:
    """The document, with every attribute that common readers need; `stamp` is the time in UTC."""
    cases = list(junit_cases(found))
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(sum(case.find(kind) is not None for case in cases)) for name, kind in kinds.items()}
    names = {"name": "tiebreak gate", "package": "tiebreak", "id": "0", "hostname": "localhost", "timestamp": stamp}
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", names | {"tests": str(len(cases)), "time": "0"} | counts)
    ElementTree.SubElement(suite, "properties")
    suite.extend(cases)
    said = [counts_line(found["counts"]), *difference_lines(found)]
    ElementTree.SubElement(suite, "system-out").text = "\n".join(xml_text(line, LONGEST_LINE) for line in said)
    ElementTree.SubElement(suite, "system-err")
    return root


def junit_cases(found: Mapping[str, Any]) -> Iterator[ElementTree.Element]:
    for row in found["new"]:
        yield junit_case(
            row["backend"], f"{row['operator']}: {row['cause']}", "failure", new_cause_lines(row, found["run"])
        )
    for row in found["failures"]:
        yield junit_case(row["backend"], f"{row['operator']}: {row['verdict']}", "error", [new_failure_line(row)])
    for what, row, line in changed_and_lost(found):
        yield junit_case(row["backend"], f"{row['operator']}: {what}", "failure", [line])
    for row in found["other_orders"] if found["strict"] else ():
        yield junit_case(row["backend"], f"{row['operator']}: other order", "failure", [new_order_line(row)])
    for row in found["waivers"]:
        kind = {"stale": "failure", "not run": "skipped"}.get(row["status"], "")
        yield junit_case("waivers", row["waiver"], kind, [waiver_line(row)] if kind else [])
    kind = "error" if found["exit"] == EXIT_NOTHING_RAN else ""
    yield junit_case("gate", "everything else conforms or is known", kind, [counts_line(found["counts"])])


def junit_case(suite: str, name: str, kind: str, lines: Sequence[str]) -> ElementTree.Element:
    """A test case; `kind` is failure, error, skipped, or empty if it passes."""
    names = {"classname": f"tiebreak.{xml_text(suite)}", "name": xml_text(name, 500) or "?", "time": "0"}
    case = ElementTree.Element("testcase", names)
    if kind:
        message = {"message": xml_text(lines[0], 500)}
        problem = ElementTree.SubElement(case, kind, message if kind == "skipped" else message | {"type": kind})
        problem.text = "\n".join(xml_text(line, LONGEST_LINE) for line in lines)
    return case
