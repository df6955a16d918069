"""A run with some of its backends only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.untrusted_text import printable
from tiebreak.reports.records import Run

NAMES = ("backend", "a", "b")  # keys of run.json's rows that hold a backend's name; pairs have two


def runs_of_backends(runs: Mapping[Path, Run], names: Sequence[str]) -> dict[Path, Run]:
    """Each run as if these backends alone had taken part; runs without any are left out.

    InvalidInput for a name that is in no run.
    """
    inside = {folder: backends_of(run) for folder, run in runs.items()}
    check_known(names, list(dict.fromkeys(one for known in inside.values() for one in known)))
    kept = {folder: [name for name in names if name in known] for folder, known in inside.items()}
    return {folder: of_backends(runs[folder], own) for folder, own in kept.items() if own}


def of_backends(run: Run, names: Sequence[str]) -> Run:
    """The run as if these backends alone had taken part. InvalidInput for one that did not."""
    check_known(names, backends_of(run))
    info = {key: rows_about(value, names) if is_rows(value) else value for key, value in run.info.items()}
    info["backends"] = [one for one in info["backends"] if one["name"] in names]
    tables = {
        name: table[table["backend"].isin(names)]
        for name, table in (("results", run.results), ("discrepancies", run.discrepancies))
    }
    return replace(run, info=info, **tables)


def backends_of(run: Run) -> list[str]:
    return [str(one["name"]) for one in run.info["backends"]]


def check_known(names: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [name for name in names if name not in known]:
        raise InvalidInput(f"no backend {printable(unknown[0], 80)!r} in this run; it has: {', '.join(known)}")


def is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, Mapping) for row in value)


def rows_about(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Mapping[str, Any]]:
    """The rows that name no other backend."""
    return [row for row in rows if all(row[key] in names for key in NAMES if key in row)]
