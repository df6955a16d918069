"""What a page says of an operator's backends: those of a run, and beside them those that were there before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tiebreak.golden.verdicts import VERDICTS
from tiebreak.reports.markdown_table import markdown_table

Row = Mapping[str, str]  # cells by the table's heads
COUNTS, CAUSES, SILENT = "", "differs because", "situation"  # what a table holds, by the head of its second column
OPEN = "Where the documents are silent:"


def with_recorded(results: str, recorded: str) -> str:
    """The results of a run with the rows of the backends of a page that it did not ask.

    Runs of another level, day or machine are not mixed: the first line says all three.
    """
    (first, _, _), (before, _, _) = results.partition("\n"), recorded.partition("\n")
    if first != before:
        return results
    old, new = dict(tables_of(recorded)), dict(tables_of(results))
    asked = {name_of(row) for row in new[COUNTS]}
    order = list(dict.fromkeys(name_of(row) for row in (*old[COUNTS], *new[COUNTS])))
    parts = [first]
    for kind in (COUNTS, CAUSES, SILENT):
        kept = [row for row in old.get(kind, []) if name_of(row) not in asked]
        rows = sorted((*kept, *new.get(kind, [])), key=lambda row: order.index(name_of(row)))
        parts += [OPEN] if rows and kind == SILENT else []
        parts += [table_of(kind, rows)] if rows else []
    return "\n\n".join(parts)


def tables_of(results: str) -> Iterator[tuple[str, list[Row]]]:
    """The tables of a part of a page, each with what it holds. A cell's own bars are escaped."""
    for part in results.split("\n\n"):
        if part.startswith("| backend |"):
            head, _, *lines = (line.removeprefix("| ").removesuffix(" |").split(" | ") for line in part.splitlines())
            kind = head[1] if head[1] in (CAUSES, SILENT) else COUNTS
            yield kind, [dict(zip(head, cells, strict=True)) for cells in lines]


def name_of(row: Row) -> str:
    """The backend of a row, without its version."""
    return row["backend"].partition(" ")[0]


def table_of(kind: str, rows: Sequence[Row]) -> str:
    head: Sequence[str] = list(rows[0])
    if kind == COUNTS:
        head = ["backend", *(verdict for verdict in VERDICTS if any(verdict in row for row in rows))]
    return markdown_table(head, [[row.get(name, "") for name in head] for row in rows])
