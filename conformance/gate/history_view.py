"""What `tiebreak history` shows of a folder of runs or of a history file: all of it, or by release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tiebreak.conformance.gate.history import Row, history
from tiebreak.conformance.gate.history_file import history_of_file
from tiebreak.golden.errors import InvalidInput
from tiebreak.reports.libraries import release_order


def history_at(
    place: Path, *, by_release: bool = False, backends: Sequence[str] = (), operators: Sequence[str] = ()
) -> dict[str, Any]:
    """The document that `tiebreak history --json` prints, of the named backends and operators only, if any are named.

    With `by_release` each release of a library is there once, by its last run, and `order` is its place among the
    library's releases. InvalidInput for a name that no row has.
    """
    found = history_of_file(place) if place.is_file() else history(place)
    rows = list(found["rows"])
    for column, names in (("backend", backends), ("operator", operators)):
        there = {row[column] for row in rows}
        for name in names:
            if name not in there:
                raise InvalidInput(f"{place}: no {column} {name!r:.100} in it; there are {', '.join(sorted(there))}")
        rows = [row for row in rows if not names or row[column] in names]
    by = {"by": "release" if by_release else "run"}
    return found | by | {"rows": list(last_runs(rows)) if by_release else rows}


def last_runs(rows: Sequence[Row]) -> Iterator[Row]:
    """Each release's rows of its last run, the earlier release first."""
    last: dict[tuple[str, str], tuple[str, str]] = {}
    for row in rows:
        key = row["library"], row["release"]
        last[key] = max(last.get(key, ("", "")), (row["created"], row["run"]))
    releases = {library: sorted({r for own, r in last if own == library}, key=release_order) for library, _ in last}
    kept = [row for row in rows if (row["created"], row["run"]) == last[row["library"], row["release"]]]
    ordered = [row | {"order": releases[row["library"]].index(row["release"])} for row in kept]
    yield from sorted(ordered, key=lambda row: (row["backend"], row["operator"], row["order"]))
