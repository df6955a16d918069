"""A pattern run's rows as findings: one for each pattern and runtime, with what undoes it and the worst setting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypedDict

from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED
from tiebreak.conformance.patterns.records import WayRow

Key = tuple[str, ...]


class Cell(TypedDict):
    """One pattern on one runtime, over all settings. Counts are of output elements.

    `fused_unfused` compares as shipped with unfused, `fused_exact` and `unfused_exact` each with the exact truth;
    `settings` counts the settings, `settings_differ` those in which as shipped and unfused differ. `restores` are the
    ways that give the unfused answers wherever as shipped does not. `worst` is the row with most differences.
    """

    backend: str
    version: str
    pattern: str
    text: str
    type: str
    outputs: int
    fused_unfused: int
    fused_exact: int
    unfused_exact: int
    settings: int
    settings_differ: int
    graphs: list[str]
    restores: list[str]
    worst: WayRow | None
    refused: str


def cells(rows: Sequence[WayRow]) -> list[Cell]:
    """In the order of the rows."""
    groups: dict[Key, list[WayRow]] = defaultdict(list)
    for row in rows:
        groups[row["backend"], row["pattern"], row["type"]].append(row)
    return [cell(group) for group in groups.values()]


def cell(rows: Sequence[WayRow]) -> Cell:
    shipped = [row for row in rows if row["way"] == SHIPPED]
    unfused = [row for row in rows if row["way"] == UNFUSED]
    differing = [row for row in shipped if row["differ_unfused"] > 0]
    first = rows[0]
    return {
        "backend": first["backend"],
        "version": first["version"],
        "pattern": first["pattern"],
        "text": first["text"],
        "type": first["type"],
        "outputs": sum(row["outputs"] for row in shipped),
        "fused_unfused": total(row["differ_unfused"] for row in shipped),
        "fused_exact": total(row["differ_exact"] for row in shipped),
        "unfused_exact": total(row["differ_exact"] for row in unfused),
        "settings": sum(row["status"] == "ok" for row in shipped),
        "settings_differ": len(differing),
        "graphs": list(dict.fromkeys(" > ".join(row["graph"]) for row in shipped if row["graph"])),
        "restores": restoring(rows),
        "worst": max(differing, key=lambda row: row["differ_unfused"], default=None),
        "refused": next(
            (f"{row['way']}: {row['status']}: {row['message']}" for row in rows if row["status"] != "ok"), ""
        ),
    }


def total(counts: Iterable[int]) -> int:
    """The sum of what was compared; -1 if nothing was."""
    known = [count for count in counts if count >= 0]
    return sum(known) if known else -1


def restoring(rows: Sequence[WayRow]) -> list[str]:
    """The ways without any difference from the unfused graph in each setting in which as shipped has some."""
    by_setting: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        by_setting[str(row["pairs"])][row["way"]] = row["differ_unfused"]
    wrong = [ways for ways in by_setting.values() if ways.get(SHIPPED, 0) > 0]
    names = dict.fromkeys(row["way"] for row in rows if row["way"] not in (SHIPPED, UNFUSED))
    return [name for name in names if wrong and all(ways.get(name) == 0 for ways in wrong)]
