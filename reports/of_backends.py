"""A run with some of its backends only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.untrusted_text import printable
from tiebreak.reports.records import Run

NAMES = ("backend", "a", "b")  # keys of run.json's rows that hold a backend's name; pairs have two


def of_backends(run: Run, names: Sequence[str]) -> Run:
    """The run as if these backends alone had taken part. InvalidInput for one that did not."""
    known = [str(one["name"]) for one in run.info["backends"]]
    if unknown := [name for name in names if name not in known]:
        raise InvalidInput(f"no backend {printable(unknown[0], 80)!r} in this run; it has: {', '.join(known)}")
    info = {key: rows_about(value, names) if is_rows(value) else value for key, value in run.info.items()}
    info["backends"] = [one for one in info["backends"] if one["name"] in names]
    tables = {
        name: table[table["backend"].isin(names)]
        for name, table in (("results", run.results), ("discrepancies", run.discrepancies))
    }
    return replace(run, info=info, **tables)


def is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)


def rows_about(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Mapping[str, Any]]:
    """The rows that name no other backend."""
    return [row for row in rows if all(row[key] in names for key in NAMES if key in row)]
