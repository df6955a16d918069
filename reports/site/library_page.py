"""What the page of a library shows: its releases, and for each operator the trend, the causes and the badges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tiebreak.reports.libraries import release_order
from tiebreak.reports.site.badges import Badge
from tiebreak.reports.site.changes import trend_rows
from tiebreak.reports.site.newest import ReleaseRow
from tiebreak.reports.site.run_facts import RunFacts
from tiebreak.reports.trend import LibraryTrend, Row, trends

MOST_RUNS = 60  # of a library, in its pictures


def library_trends(runs: Iterable[RunFacts]) -> dict[str, LibraryTrend]:
    """The trend of each library."""
    return {one.library: one for one in trends(rows_by_date(runs), MOST_RUNS)}


def rows_by_date(runs: Iterable[RunFacts]) -> Iterator[Row]:
    """The rows of all runs. Releases that one run has of a library stand side by side, the older one first."""
    for run in runs:
        places: dict[str, int] = defaultdict(int)
        by_release = trend_rows(run)
        for library, version in sorted(by_release, key=lambda key: (key[0], release_order(key[1]))):
            places[library] += 1
            for row in by_release[library, version].values():
                yield row | {"created": f"{run.created} {places[library]:03}"}


def library_facts(rows: Sequence[ReleaseRow], trend: LibraryTrend | None, badges: Sequence[Badge]) -> dict[str, Any]:
    """The template's values for the rows of one library."""
    operators = sorted({operator for row in rows for operator in row.cells})
    by_operator: dict[str, list[Badge]] = {name: [] for name in operators}
    for badge in badges:
        by_operator[badge.cell.operator].append(badge)
    return {
        "library": rows[0].library,
        "rows": rows,
        "releases": list(dict.fromkeys(row.version for row in rows)),
        "trends": trend.panels if trend else (),
        "trend_of": trend,
        "judged": {name: any(name in row.cells and row.cells[name].judged for row in rows) for name in operators},
        "badges": by_operator,
        "operators": operators,
    }
