"""The matrix backend by operator of an HTML page: one cell for all cases of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tiebreak.golden.verdicts import FAILED, HAZARD
from tiebreak.reports.records import Run
from tiebreak.reports.verdict_matrix import Cells, compact, folded_groups, folded_label, mark_of

LOOKS = {
    "✗": "fail",
    "!": "broke",
    "⇄": "hazard",
    "≋": "other",
    "≈": "pass",
    "✓": "pass",
    "?": "open",
    "∅": "idle",
}  # CSS classes


def grid_rows(run: Run, counts: Cells) -> Iterator[tuple[str, str, list[str]]]:
    """The label of each row of the matrix, the backend whose cells it has, and all backends that it stands for."""
    for group in folded_groups(run.info, counts):
        yield folded_label(group), group[0], group


def grid_cell(found: Mapping[str, int]) -> dict[str, Any]:
    """The cell of the matrix for all cases of a backend's operator: its mark, how many cases have it, and its look."""
    mark, number, _ = mark_of(found)
    planned, failed = sum(found.values()), sum(found.get(verdict, 0) for verdict in FAILED)
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.items())
    text = f"{mark} {compact(number)}{'!' if failed and mark != '!' else ''}" if number else mark
    title = f"{told} of {planned:,} cases" if told else ""
    return {"text": text, "look": LOOKS.get(mark, "absent"), "title": title, "foreign": HAZARD in found}
