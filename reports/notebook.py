"""A run as HTML for a notebook: what a report shows first, without style sheets and scripts, on light and on dark."""

from __future__ import annotations

from typing import Any

from tiebreak.reports.first_screen import headlines, library_rows, what_ran
from tiebreak.reports.page import BoundedRows, environment_of
from tiebreak.reports.page_grid import grid_cell, grid_rows
from tiebreak.reports.records import Run
from tiebreak.reports.story import story
from tiebreak.reports.summary import shown_counts

MOST_LIBRARIES, MOST_ROWS = 24, 40
# Washes behind the notebook's own text, which both a light and a dark page can bear. By the looks of page_grid.LOOKS.
WASHES = {
    "fail": "background: rgba(213, 94, 0, .28); font-weight: bold",
    "broke": "background: rgba(227, 179, 65, .3); font-weight: bold",
    "hazard": "border: 1px dashed rgba(86, 150, 200, .9)",
    "pass": "background: rgba(0, 114, 178, .18)",
}
FAINT = "opacity: .65"


def notebook_html(run: Run) -> str:
    """The libraries, the findings that matter most, and the matrix backend by operator."""
    chapters, counts = story(run), shown_counts(run.results)
    libraries, operators = library_rows(run, chapters), sorted({operator for _, operator in counts})
    grid = [
        (label, [styled_cell(counts.get((backend, one), {})) for one in operators])
        for label, backend, _ in grid_rows(run, counts)
    ]
    return (
        environment_of()
        .get_template("notebook.html.j2")
        .render(
            exit=run.info["exit"],
            ran=what_ran(run, libraries),
            libraries=BoundedRows(libraries).cut(MOST_LIBRARIES),
            headlines=headlines(run, chapters),
            operators=operators,
            grid=BoundedRows(grid).cut(MOST_ROWS),
        )
    )


def styled_cell(found: dict[str, int]) -> dict[str, Any]:
    cell = grid_cell(found)
    return cell | {"style": WASHES.get(cell["look"], FAINT)}
