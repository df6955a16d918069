"""The folder of a pattern run: patterns.json and patterns.parquet, then the explanations, scripts and models."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

import pandas as pd

from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.adapters.settings import settings_of
from tiebreak.conformance.patterns.explaining import PatternExplanation
from tiebreak.conformance.patterns.kept import RECORDS, SCHEMA, TABLE
from tiebreak.conformance.patterns.records import WayRow
from tiebreak.conformance.patterns.summary import Cell
from tiebreak.golden.places import write_text_aside
from tiebreak.reports.records import write_aside
from tiebreak.reports.table_files import write_table
from tiebreak.version import __version__


class PatternRecords(TypedDict):
    """What patterns.json holds. A run that was interrupted is not `finished`: it lacks rows, or explanations."""

    schema: str
    tiebreak: str
    created: str
    machine: str
    instruction_sets: str
    settings: dict[str, str]
    level: str
    exit: int
    finished: bool
    missing: dict[str, str]
    cells: list[Cell]
    explanations: list[PatternExplanation]
    rows: list[WayRow]


def records(
    rows: Sequence[WayRow],
    cells: Sequence[Cell],
    explanations: Sequence[PatternExplanation],
    level: str,
    missing: Mapping[str, str],
    code: int,
    *,
    finished: bool,
) -> PatternRecords:
    return {
        "schema": SCHEMA,
        "tiebreak": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "instruction_sets": instruction_sets(),
        "settings": settings_of(os.environ),
        "level": level,
        "exit": code,
        "finished": finished,
        "missing": dict(missing),
        "cells": list(cells),
        "explanations": list(explanations),
        "rows": list(rows),
    }


def write(found: PatternRecords, folder: Path) -> None:
    """Write both files aside and rename them into place."""
    write_text_aside(folder / RECORDS, json.dumps(found, indent=1) + "\n")
    frame = pd.DataFrame([flat(row) for row in found["rows"]])
    write_aside(folder / TABLE, lambda aside: write_table(frame, aside))


def flat(row: WayRow) -> dict[str, Any]:
    """A row of plain numbers and text."""
    kept = {name: value for name, value in row.items() if not isinstance(value, dict | list) and name != "witness"}
    pairs = ", ".join(f"{name} = {scale} @ {zero_point}" for name, (scale, zero_point) in row["pairs"].items())
    witness = row["witness"] or {"operands": {}, "got": "", "unfused": "", "exact": ""}
    return kept | {
        "pairs": pairs,
        "graph": " > ".join(row["graph"]),
        "operands": json.dumps(witness["operands"]),
        "got": witness["got"],
        "unfused": witness["unfused"],
        "exact": witness["exact"],
    }
