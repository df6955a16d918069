"""Causes that only got another name: in two runs one after the other, the same elements with the same results.

A newer Tiebreak may call a cause otherwise, or tell two causes apart that were one. Names can't show that; elements do.
Only cases that ran in both runs are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import RAN
from tiebreak.reports.records import Run
from tiebreak.reports.report_data import cause_name
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.site.finding_counts import causes_of
from tiebreak.reports.site.run_facts import RunFacts, places_of_run

ELEMENT = ["case", "output", "index", "got_bits"]


class SitePlace(NamedTuple):
    """A backend's operator in one run's release."""

    run: str
    library: str
    release: str
    backend: str
    operator: str


@dataclass(frozen=True)
class Deviations:
    """The deviating elements of a place: a hash of each with its bits, one of its case, and the name of its cause.

    `ran` are the hashes of the cases that ran.
    """

    elements: Array
    cases: Array
    names: Array
    ran: Array


@dataclass(frozen=True)
class Renamed:
    """Names of a run and of the one before it: what a `gone` cause is called now, what a `new` one was called."""

    gone: Mapping[str, str]
    new: Mapping[str, str]


@dataclass
class Renames:
    """By place what was renamed since the last run before that asked the same; runs are seen the newest first."""

    found: dict[SitePlace, Renamed] = field(default_factory=dict)
    later: dict[tuple[str, str, str], tuple[SitePlace, Deviations]] = field(default_factory=dict)

    def see(self, facts: RunFacts, run: Run) -> None:
        for place, own in deviations_of(facts, run):
            key = place.library, place.backend, place.operator
            if key in self.later:
                newer, deviations = self.later[key]
                self.found[newer] = Renamed(renamed(own, deviations), renamed(deviations, own))
            self.later[key] = place, own


def renamed(one: Deviations, other: Deviations) -> dict[str, str]:
    """The causes of one run that the other does not have, though it has each of their elements: what it calls most."""
    here, there = np.isin(one.cases, other.ran), np.isin(other.cases, one.ran)
    calls = dict(zip(other.elements[there].tolist(), other.names[there].tolist(), strict=True))
    found = {}
    for name in set(one.names.tolist()) - set(other.names.tolist()):
        own = [calls.get(element) for element in one.elements[here & (one.names == name)].tolist()]
        if own and None not in own:
            found[name] = max(sorted({str(each) for each in own}), key=own.count)
    return found


def deviations_of(facts: RunFacts, run: Run) -> Iterator[tuple[SitePlace, Deviations]]:
    """Each place of a run with its deviations, the newest release of a backend first."""
    import pandas as pd

    rows, results = run.discrepancies, run.results
    elements = pd.util.hash_pandas_object(rows[ELEMENT], index=False).to_numpy()
    cases, asked = (pd.util.hash_pandas_object(frame["case"], index=False).to_numpy() for frame in (rows, results))
    names, ran = names_of(run), results["verdict"].isin(RAN).to_numpy()
    groups = [frame.groupby(["backend", "operator"], observed=True).indices for frame in (rows, results)]
    for backend, (library, plain, release) in places_of_run(run.info).items():
        for operator in dict.fromkeys(cell.operator for cell in facts.cells if cell.release == release):
            if (backend, operator) in groups[1]:
                at, of = groups[0].get((backend, operator), np.zeros(0, np.int64)), groups[1][backend, operator]
                place = SitePlace(facts.name, library, release, plain, operator)
                yield place, Deviations(elements[at], cases[at], names[at], asked[of][ran[of]])


def names_of(run: Run) -> Array:
    """What the cause of each discrepancy is known by, as in a CauseKey."""
    rows = run.discrepancies
    known = {(str(one["backend"]), str(one["operator"]), root_of(str(one["cause"]))): one for one in causes_of(run)}
    keys = zip(*(rows[name].astype(str) for name in ("backend", "operator", "cause")), strict=True)
    return np.array([name_in(known, key) for key in keys], object)


def name_in(known: Mapping[tuple[str, str, str], Mapping[str, Any]], key: tuple[str, str, str]) -> str:
    backend, operator, cause = key
    root = root_of(cause)
    return root_of(cause_name(known.get((backend, operator, root), {"cause": root})))
