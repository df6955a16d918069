"""Reads the runs one after the other, the newest first, and keeps little of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.reports.records import Run, read_info, read_run
from tiebreak.reports.report_data import Members, judged_exponents, key_of, plots_of, root_cause_places
from tiebreak.reports.run_folders import date_of, run_folders
from tiebreak.reports.site.addresses import CauseKey
from tiebreak.reports.site.agreement import check_agreement
from tiebreak.reports.site.renames import Renames
from tiebreak.reports.site.run_facts import RunFacts, Sighting, facts_of_run, slim


@dataclass(frozen=True)
class NewestSighting:
    """A root cause as the newest run has it, with the plots of its elements as SVG."""

    sighting: Sighting
    plots: tuple[str, ...]


@dataclass(frozen=True)
class SiteFacts:
    """All runs, the newest first; each cause by its newest sighting; the folders that are no whole run; new names."""

    runs: tuple[RunFacts, ...]
    newest: Mapping[CauseKey, NewestSighting]
    skipped: tuple[tuple[str, str], ...]
    renames: Renames = field(default_factory=Renames)


def collect(folder: Path, each: Callable[[RunFacts, Run], None]) -> SiteFacts:
    """The facts of the runs in a folder; `each` sees every run once, while its tables are in memory.

    InvalidInput if the folder holds no run. A run that can't be read or trusted is skipped, with the reason.
    """
    dated, skipped = dated_folders(folder)
    runs: list[RunFacts] = []
    newest: dict[CauseKey, NewestSighting] = {}
    renames = Renames()
    for created, path in dated:
        try:
            run = read_run(path)
            facts = checked_facts(path, created, run)
            each(facts, run)
        except InvalidInput as error:
            skipped[path.name] = reason(error)
            continue
        renames.see(facts, run)
        newest |= newest_sightings(run, [one for one in facts.sightings if one.key not in newest])
        runs.append(replace(facts, sightings=tuple(replace(one, row=slim(one.row)) for one in facts.sightings)))
    return SiteFacts(tuple(runs), newest, tuple(sorted(skipped.items())), renames)


def checked_facts(path: Path, created: str, run: Run) -> RunFacts:
    """The facts of a run whose records agree. DamagedFile if they do not, or are no run's."""
    try:
        check_agreement(path, run)
        return facts_of_run(path.name, created, run)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise DamagedFile(f"{path}: damaged run: {type(error).__name__} in its records: {error}") from error


def dated_folders(folder: Path) -> tuple[list[tuple[str, Path]], dict[str, str]]:
    """The run folders with their dates, the newest first, and those without one with the reason."""
    dated: list[tuple[str, Path]] = []
    skipped: dict[str, str] = {}
    for path in run_folders(folder):
        try:
            dated.append((date_of(path, read_info(path)), path))
        except InvalidInput as error:
            skipped[path.name] = reason(error)
    return sorted(dated, key=lambda one: (one[0], one[1].name), reverse=True), skipped


def reason(error: InvalidInput) -> str:
    return " ".join(str(error).split())[:400]


def newest_sightings(run: Run, sightings: Sequence[Sighting]) -> dict[CauseKey, NewestSighting]:
    """The sightings that no newer run has; of configurations that share a cause that with most elements."""
    chosen: dict[CauseKey, Sighting] = {}
    for one in sightings:
        if one.key not in chosen or one.elements > chosen[one.key].elements:
            chosen[one.key] = one
    if not chosen:
        return {}
    places, judged = root_cause_places(run.discrepancies), judged_exponents(run)
    found = {}
    for key, one in chosen.items():
        at = key_of(one.row)
        members = Members(run.discrepancies, places[at]) if at in places else None
        plots = plots_of(members, judged.get(at[:2], {})) if members else []
        found[key] = NewestSighting(one, tuple(plot for plot in plots if plot))
    return found
