"""A root cause over all runs: where it was seen, and where its operator ran without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tiebreak.reports.libraries import folded_name
from tiebreak.reports.site.addresses import CauseKey
from tiebreak.reports.site.collection import NewestSighting, SiteFacts
from tiebreak.reports.site.newest import newest_cells
from tiebreak.reports.site.run_facts import RunFacts, Sighting, SiteCell


@dataclass(frozen=True)
class CauseRow:
    """A release in a run that asked for the operator: the elements with the cause, of those judged."""

    run: str
    created: str
    release: str
    ids: tuple[str, ...]
    backends: tuple[str, ...]
    elements: int
    judged: int
    calibrated: int
    judged_calibrated: int

    @property
    def who(self) -> str:
        return folded_name(self.backends) if self.backends else "–"


@dataclass(frozen=True)
class CauseHistory:
    """A root cause with its rows, the newest first. `there` says whether the newest release still has it.

    `now` is what it is called since it was only renamed, `was` what it was called before.
    """

    key: CauseKey
    newest: NewestSighting
    rows: tuple[CauseRow, ...]
    there: bool
    now: CauseKey | None = None
    was: tuple[CauseKey, ...] = ()

    @property
    def sighting(self) -> Sighting:
        return self.newest.sighting

    @property
    def first(self) -> CauseRow:
        """The oldest row that has it."""
        return [row for row in self.rows if row.backends][-1]

    @property
    def last(self) -> CauseRow:
        return next(row for row in self.rows if row.backends)


def cause_histories(facts: SiteFacts, present: Mapping[CauseKey, CauseKey]) -> list[CauseHistory]:
    """All root causes: those that are still there first, by library and operator; those with most elements first."""
    cells: dict[tuple[str, str], list[tuple[RunFacts, SiteCell]]] = defaultdict(list)
    for run in facts.runs:
        for cell in run.cells:
            cells[cell.library, cell.operator].append((run, cell))
    seen = {(one.run, one.backend, one.release, one.key) for run in facts.runs for one in run.sightings}
    newest = newest_cells(facts.runs)
    by_run = {run.name: sightings_by_key(run) for run in facts.runs}
    found = []
    for key, sighting in facts.newest.items():
        own = [cell for (library, _, operator), cell in newest.items() if (library, operator) == key[:2]]
        there = any((cell.run, cell.backend, cell.release, key) in seen for cell in own)
        rows = tuple(cause_rows(key, cells[key.library, key.operator], by_run))
        was = tuple(old for old, new in present.items() if new == key and old != key)
        found.append(CauseHistory(key, sighting, rows, there, None if there else present.get(key), was))
    return sorted(found, key=order)


def order(one: CauseHistory) -> tuple[bool, str, bool, str, int, CauseKey]:
    own = one.sighting
    return not one.there, one.key.library.lower(), own.foreign, one.key.operator, -own.elements, one.key


def sightings_by_key(run: RunFacts) -> Mapping[tuple[CauseKey, str], list[Sighting]]:
    """By cause and release."""
    found: dict[tuple[CauseKey, str], list[Sighting]] = defaultdict(list)
    for one in run.sightings:
        found[one.key, one.release].append(one)
    return found


def cause_rows(
    key: CauseKey,
    cells: Sequence[tuple[RunFacts, SiteCell]],
    by_run: Mapping[str, Mapping[tuple[CauseKey, str], list[Sighting]]],
) -> Iterator[CauseRow]:
    """A row for each run and release in which the operator was judged."""
    groups: dict[tuple[str, str, str], list[SiteCell]] = defaultdict(list)
    for run, cell in cells:
        if cell.judged:
            groups[run.created, run.name, cell.release].append(cell)
    for (created, name, release), own in groups.items():
        sightings = by_run[name].get((key, release), [])
        names = {one.backend for one in sightings}
        of = [cell for cell in own if cell.backend in names] or own
        yield CauseRow(
            name,
            created,
            release,
            tuple(str(one.row.get("id", "")) for one in sightings),
            tuple(dict.fromkeys(one.backend for one in sightings)),
            sum(one.elements for one in sightings),
            sum(cell.judged for cell in of),
            sum(one.calibrated for one in sightings),
            sum(cell.judged_calibrated for cell in of),
        )
