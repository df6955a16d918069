"""What a pattern run found on both sides of each decision, for docs/pattern-results.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tiebreak.adapters.patterns.model import SHIPPED
from tiebreak.conformance.patterns.decisions.derived import DECISIONS, decisions_of
from tiebreak.conformance.patterns.decisions.model import Pairs, RewriteDecision, two_sides
from tiebreak.conformance.patterns.job import SETTINGS
from tiebreak.conformance.patterns.parameters import base_of, chosen_from_sets
from tiebreak.golden.patterns.graph import Pattern
from tiebreak.golden.patterns.text import pattern_of

# The backend and the way that takes a runtime's decisions; other runtimes take theirs as shipped, under their name.
TAKEN = {"litert": ("litert", "integer kernels"), "xnnpack": ("litert", "integer kernels, XNNPACK")}
Row = Mapping[str, Any]
Ways = Mapping[str, Row]  # rows by way


class Crossing(NamedTuple):
    """A decision of which one step changed something: the pattern, its ways, and the row of each side."""

    pattern: str
    ways: tuple[str, ...]
    holds: Row
    holds_not: Row


def keyed(pairs: Pairs) -> str:
    return str({name: [str(pair.scale), str(pair.zero_point)] for name, pair in pairs.items()})


def by_setting(found: Mapping[str, Any]) -> dict[tuple[str, str, str], dict[str, Row]]:
    """Rows by backend, pattern and pairs, and then by way."""
    rows: dict[tuple[str, str, str], dict[str, Row]] = defaultdict(dict)
    for row in found["rows"]:
        rows[row["backend"], row["pattern"], str(row["pairs"])][row["way"]] = row
    return rows


def crossings(found: Mapping[str, Any]) -> dict[str, list[Crossing]]:
    """By decision, in which patterns the graph that runs, or whether one runs, changes at the border."""
    rows = by_setting(found)
    seen: dict[str, list[Crossing]] = defaultdict(list)
    for pattern in patterns_in(found):
        for decision, place in decisions_of(pattern):
            backend, way = TAKEN.get(decision.source.runtime, (decision.source.runtime, SHIPPED))
            sides = two_sides(decision, place, base_of(pattern))
            one, other = (rows.get((backend, pattern.name, keyed(sides[side])), {}) for side in (True, False))
            if one and other:
                seen[str(decision)].append(Crossing(pattern.name, changed(one, other), one[way], other[way]))
    return seen


def patterns_in(found: Mapping[str, Any]) -> list[Pattern]:
    return [pattern_of(name) for name in dict.fromkeys(cell["pattern"] for cell in found["cells"])]


def changed(one: Ways, other: Ways) -> tuple[str, ...]:
    """The ways in which another graph runs, or none, on one of two sides."""
    return tuple(way for way in one if any(one[way][key] != other[way][key] for key in ("graph", "status")))


def decision_rows(found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A row for each condition: where the graph changes, and how many outputs differ on either side."""
    seen = crossings(found)
    groups: dict[tuple[Any, str], list[RewriteDecision]] = defaultdict(list)
    for decision in DECISIONS:
        groups[decision.source, decision.says].append(decision)
    for (source, says), group in groups.items():
        of_group = [one for name in dict.fromkeys(map(str, group)) for one in seen.get(name, ())]
        if of_group:
            yield (source.runtime, f"{source.rule}: {says}", *summed(of_group))


def summed(of_group: Sequence[Crossing]) -> tuple[str, ...]:
    crossed = dict.fromkeys(one.pattern for one in of_group if one.ways)
    patterns = dict.fromkeys(one.pattern for one in of_group)
    holds, holds_not = [one.holds for one in of_group], [one.holds_not for one in of_group]
    return f"{len(crossed)} of {len(patterns)}", differing(holds), differing(holds_not)


def differing(rows: Sequence[Row]) -> str:
    """How many outputs differ from the unfused graph's; each setting counts once."""
    once = {(row["pattern"], str(row["pairs"])): max(row["differ_unfused"], 0) for row in rows}
    return f"{sum(once.values()):,}"


def only_beside_decisions(found: Mapping[str, Any]) -> Iterator[tuple[str, str, Row]]:
    """Backend, pattern and worst row of the differences that no setting of the sets shows."""
    by_cell: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in found["rows"]:
        if row["way"] == SHIPPED and row["differ_unfused"] > 0:
            by_cell[row["backend"], row["pattern"]].append(row)
    sets = {one.name: sets_of(one, found["level"]) for one in patterns_in(found)}
    for (backend, pattern), rows in by_cell.items():
        if not any(str(row["pairs"]) in sets[pattern] for row in rows):
            yield backend, pattern, max(rows, key=lambda row: row["differ_unfused"])


def sets_of(pattern: Pattern, level: str) -> set[str]:
    return {keyed(setting.pairs) for setting in chosen_from_sets(pattern)[: SETTINGS[level]]}
