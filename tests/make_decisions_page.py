"""Writes docs/pattern-decisions.md from the decisions themselves: `python tests/make_decisions_page.py`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from tiebreak.conformance.patterns.decisions.derived import DECISIONS, decisions_of
from tiebreak.conformance.patterns.decisions.model import RewriteDecision, RewriteSource
from tiebreak.golden.patterns.catalogue import CATALOGUE
from tiebreak.golden.patterns.text import TYPES, pattern_of
from tiebreak.reports.markdown_table import markdown_table

PAGE = Path(__file__).parent.parent / "docs" / "pattern-decisions.md"
MOVED = {"scale": "scale", "zero_point": "zero point"}
HEAD = """# Patterns: decisions of rewrites

Made by `python tests/make_decisions_page.py`; not edited by hand.

A rewrite looks at scales and zero points before it changes a graph. These are the conditions that were read in the
runtimes' sources. `tiebreak pattern run` tries every [pattern](patterns.md) on both sides of each: two settings that
differ in one scale by one float32, or in one zero point by 1. Where rounding in the runtime may put the border
elsewhere, they are some float32 further apart; the table says so.

A source is read at one version; an installed release may decide otherwise. Conditions on element types alone are not
in the table: `--type` decides them.
"""


def page() -> str:
    parts = [HEAD]
    for runtime, decisions in groupby(sorted(DECISIONS, key=runtime_of), runtime_of):
        parts += [f"## {runtime}\n", table(list(decisions)) + "\n"]
    return "\n".join(parts)


def runtime_of(decision: RewriteDecision) -> str:
    return decision.source.runtime


def table(decisions: list[RewriteDecision]) -> str:
    """A row for each condition; what is moved is named together."""
    found: dict[tuple[RewriteSource, str], list[RewriteDecision]] = {}
    for one in decisions:
        found.setdefault((one.source, one.says), []).append(one)
    rows = [row_of(source, says, group) for (source, says), group in found.items()]
    return markdown_table(("rule", "condition", "moved", "patterns"), rows)


def row_of(source: RewriteSource, says: str, group: list[RewriteDecision]) -> tuple[str, ...]:
    moved = ", ".join(MOVED[one.knob] + (f", ±{one.doubt} float32" if one.doubt else "") for one in group)
    return f"{source.rule}: `{source.file}`", says, moved, ", ".join(patterns(group[0]))


def patterns(decision: RewriteDecision) -> Iterator[str]:
    """Patterns by name; those at which it looks with one type alone, with that type."""
    for name in CATALOGUE:
        kinds = [kind for kind in TYPES if any(one is decision for one, _ in decisions_of(pattern_of(name, kind)))]
        if kinds:
            yield name if "uint8" in kinds else f"{name} ({', '.join(kinds)})"


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
