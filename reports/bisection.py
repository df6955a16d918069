"""The terminal's page on a bisection over releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tiebreak.reports.console import terminal_label

LONGEST = 400


def print_bisection(found: Mapping[str, Any]) -> None:
    """Print where the answer changes, both answers and arithmetics, and the scripts."""
    for line in lines_of(found):
        print(terminal_label(line, LONGEST))


def lines_of(found: Mapping[str, Any]) -> Iterator[str]:
    before, after = found["before"], found["after"]
    yield f"{found['backend']}: the answer changes between {before['release']} and {after['release']}"
    for side in (before, after):
        yield f"  {side['release']}: {side['answer']}"
    if found["other_build"]:
        builds = " and ".join(side["version"] for side in (before, after))
        yield f"  {builds} are different builds: the build may be what changes the answer"
    if found["not_installable"]:
        yield f"  between them, without an answer here: {', '.join(found['not_installable'])}"
    yield from arithmetic_lines(before, after)
    for side in (before, after):
        yield f"  script: {side['script']}" if side["script"] else f"  {side['release']}: {side['no_script']}"


def arithmetic_lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """The facets of the audit that differ, or that none does."""
    problems = [
        f"  audit of {side['release']}: {side['arithmetic']['problem']}"
        for side in (before, after)
        if "problem" in side["arithmetic"]
    ]
    if problems:
        yield from problems
        return
    old, new = before["arithmetic"]["semantics"], after["arithmetic"]["semantics"]
    sentences = before["arithmetic"]["sentences"] | after["arithmetic"]["sentences"]
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    for name in changed:
        yield f"  {name}: {said(old.get(name), sentences)} → {said(new.get(name), sentences)}"
    if not changed:
        yield "  the audit finds the same arithmetic on both sides"


def said(value: Any, sentences: Mapping[str, str]) -> str:
    return sentences.get(value, str(value)) if isinstance(value, str) else str(value)
