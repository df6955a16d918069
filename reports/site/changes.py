"""What each run changed for a library: its root causes against the last run before it that asked for the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.reports.libraries import release, release_order
from tiebreak.reports.site.addresses import CauseKey
from tiebreak.reports.site.collection import SiteFacts
from tiebreak.reports.site.renames import Renamed, Renames, SitePlace
from tiebreak.reports.site.run_facts import RunFacts, SiteCell
from tiebreak.reports.trend import cause_changes, cause_counts

PART_OF = "has a part that is now called"
LINKS = {("gone", "new"): "is now called", ("gone",): "is now part of", ("new",): PART_OF}
STATUSES = ("new", "changed", "gone", "renamed")
Rows = dict[tuple[str, str], dict[str, Any]]  # of the trend, by backend and operator


@dataclass(frozen=True)
class ChangedSighting:
    """A root cause with its elements before and after; `was` is what a renamed one was called.

    Of a renamed one `link` says whether all elements of both have the same results, or those of one are a part.
    """

    key: CauseKey
    before: int
    after: int
    was: CauseKey | None = None
    link: str = ""


@dataclass(frozen=True)
class LibraryChange:
    """A run's news of a library's release. `before` is the release it is held against; empty in its first run.

    `judged` and `failures` are elements and cases before and after, of what ran in both. `same_cases` says whether the
    runs had the same cases there, whatever came of them.
    """

    run: str
    created: str
    library: str
    version: str
    before: str
    causes: Mapping[str, Sequence[ChangedSighting]]
    judged: tuple[int, int]
    failures: tuple[int, int]
    same_cases: bool

    @property
    def is_news(self) -> bool:
        """Whether the library changed; another name of a cause is Tiebreak's doing."""
        found = any(own for status, own in self.causes.items() if status != "renamed")
        return not self.before or found or self.failures[1] > self.failures[0]

    @property
    def counts(self) -> str:
        """In words: "2 new, 1 gone", or how many there are in the first run."""
        if not self.before:
            count = len(self.causes["new"])
            return f"first run, {count} {'cause' if count == 1 else 'causes'}"
        parts = [f"{len(self.causes[one])} {one}" for one in STATUSES if self.causes[one]]
        more = self.failures[1] - self.failures[0]
        parts += [f"{more:,} more {'case fails' if more == 1 else 'cases fail'}"] if more > 0 else []
        return ", ".join(parts)

    @property
    def releases(self) -> str:
        return " → ".join(dict.fromkeys(release(one) for one in (self.before, self.version) if one))


def changes_of(facts: SiteFacts) -> list[LibraryChange]:
    """What each run changed, news or not, the newest first."""
    found: list[LibraryChange] = []
    last: dict[str, Rows] = defaultdict(dict)  # by library
    for run in reversed(facts.runs):
        rows = trend_rows(run)
        for library, version in releases_in(run):
            own = rows[library, version]
            found.append(library_change(run, library, version, last[library], own, facts.renames))
            last[library].update(own)
    return found[::-1]


def releases_in(run: RunFacts) -> list[tuple[str, str]]:
    """The libraries of a run, each with its releases in their order."""
    pairs = {(cell.library, cell.release) for cell in run.cells}
    return sorted(pairs, key=lambda pair: (pair[0], release_order(pair[1])))


def library_change(
    run: RunFacts, library: str, version: str, before: Rows, after: Rows, renames: Renames
) -> LibraryChange:
    both = [key for key in after if key in before]
    changed = cause_changes(before, after)
    changed["new"] += first_causes(before, after)
    names = {key: renames.found.get(SitePlace(run.name, library, version, *key), Renamed({}, {})) for key in both}
    causes: dict[str, tuple[ChangedSighting, ...]] = {
        status: tuple(
            ChangedSighting(CauseKey(library, operator, name), old, new)
            for operator, name, old, new in rows
            if not new_name(status, operator, name, names, before, after)
        )
        for status, rows in changed.items()
    }
    causes["renamed"] = tuple(renamed_causes(library, changed, names, before, after))
    judged, failures = (
        (sum(before[key][name] for key in both), sum(after[key][name] for key in both))
        for name in ("judged", "failures")
    )
    versions = dict.fromkeys(str(before[key]["version"]) for key in both)
    same = all(before[key]["cases"] == after[key]["cases"] for key in both)
    return LibraryChange(run.name, run.created, library, version, ", ".join(versions), causes, judged, failures, same)


def new_name(
    status: str, operator: str, name: str, names: Mapping[tuple[str, str], Renamed], before: Rows, after: Rows
) -> str:
    """What the other run calls a cause that is new or gone, if every configuration has the same elements there."""
    if status not in ("new", "gone"):
        return ""
    here, there = (before, after) if status == "gone" else (after, before)
    places = [key for key in after if key[1] == operator and key in here and name in here[key]["causes"]]
    told = [getattr(names[key], status).get(name, "") if key in names else "" for key in places]
    known = all(other in there[key]["causes"] for key, other in zip(places, told, strict=True) if other)
    return told[0] if told and all(told) and known else ""


def renamed_causes(
    library: str,
    changed: Mapping[str, Sequence[tuple[str, str, int, int]]],
    names: Mapping[tuple[str, str], Renamed],
    before: Rows,
    after: Rows,
) -> Iterator[ChangedSighting]:
    """Each pair of names once: what a gone cause is called now, and what a new one was called."""
    old, new = (cause_counts(rows, list(names)) for rows in (before, after))
    pairs: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for status in ("gone", "new"):
        for operator, name, *_ in changed[status]:
            if other := new_name(status, operator, name, names, before, after):
                was, now = (name, other) if status == "gone" else (other, name)
                pairs[operator, was, now].append(status)
    for (operator, was, now), found in pairs.items():
        counts = old[operator, was], new[operator, now]
        of = CauseKey(library, operator, was)
        yield ChangedSighting(CauseKey(library, operator, now), *counts, of, LINKS[tuple(dict.fromkeys(found))])


def present_names(changes: Iterable[LibraryChange]) -> dict[CauseKey, CauseKey]:
    """By the former name of a cause its next one; `changes` are the newest first."""
    pairs = [
        (one.was, one.key) for change in changes for one in change.causes["renamed"] if one.was and one.link != PART_OF
    ]
    return dict(reversed(pairs))


def first_causes(before: Rows, after: Rows) -> list[tuple[str, str, int, int]]:
    """The causes of backends and operators that no run had before, but for those that an operator has already."""
    known = {(operator, name) for (_, operator), row in before.items() for name in row["causes"]}
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for (backend, operator), row in after.items():
        if (backend, operator) not in before:
            for name, elements in row["causes"].items():
                counts[operator, name] += elements
    return [(*key, 0, elements) for key, elements in counts.items() if key not in known]


def trend_rows(run: RunFacts) -> dict[tuple[str, str], Rows]:
    """By library and release the rows of the trend of a run, with causes by their names."""
    causes: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for one in run.sightings:
        causes[one.backend, one.release, one.key.operator][one.key.name] = one.elements
    found: dict[tuple[str, str], Rows] = defaultdict(dict)
    for cell in run.cells:
        own = causes[cell.backend, cell.release, cell.operator]
        found[cell.library, cell.release][cell.backend, cell.operator] = trend_row(cell, own)
    return found


def trend_row(cell: SiteCell, causes: Mapping[str, int]) -> dict[str, Any]:
    """A row as `tiebreak history` has it."""
    counts = {name: getattr(cell, name) for name in ("judged", "judged_calibrated", "deviating_calibrated", "ran")}
    where = {"run": cell.run, "created": cell.created, "library": cell.library, "backend": cell.backend}
    rest = {"version": cell.release, "operator": cell.operator, "is_foreign": cell.foreign, "failures": cell.failures}
    rest |= {"cases": cell.cases, "ran_cases": cell.ran_cases}
    return {**where, **counts, **rest, "causes": causes}
