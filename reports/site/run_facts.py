"""What the site keeps of one run: a cell for each backend's operator, and its root causes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tiebreak.golden.verdicts import FAILED, FOREIGN, RAN
from tiebreak.reports.libraries import library_of, plain_name, release_order
from tiebreak.reports.records import JUDGED, Run
from tiebreak.reports.report_data import cause_name
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.rows import rows_by_key
from tiebreak.reports.site.addresses import CauseKey
from tiebreak.reports.site.finding_counts import Place, causes_of, finding_counts, hazard_counts
from tiebreak.reports.summary import shown_counts
from tiebreak.reports.verdict_matrix import folded_groups

SUMS = {
    "as_written": "working_precision",
    "other_order": "other_order",
    "judged_calibrated": "judged_calibrated",
    "deviating_calibrated": "deviates_calibrated",
    "deviating": "deviates",
}
DROPPED = ("examples", "picture", "theorems")  # what a page needs of the newest sighting only
Row = Mapping[str, Any]


@dataclass(frozen=True)
class SiteCell:
    """What one run says of a backend's operator. `counts` are cases by verdict, `equal` who gave equal bits there.

    `cases` and `ran_cases` are digests of the ids of its cases, and of those that ran. The rest counts elements,
    findings and hazards.
    """

    run: str
    created: str
    library: str
    backend: str
    release: str
    operator: str
    counts: Mapping[str, int]
    equal: tuple[str, ...]
    foreign: bool
    judged: int
    as_written: int
    other_order: int
    judged_calibrated: int
    deviating_calibrated: int
    deviating: int
    findings: int
    hazards: int
    cases: str
    ran_cases: str

    @property
    def ran(self) -> int:
        return sum(count for verdict, count in self.counts.items() if verdict not in (*FAILED, "unsupported"))

    @property
    def failures(self) -> int:
        return sum(self.counts.get(verdict, 0) for verdict in FAILED)


@dataclass(frozen=True)
class Sighting:
    """A root cause of one backend in one run; `row` is that of run.json, `spec` what the backend was called by."""

    run: str
    created: str
    key: CauseKey
    backend: str
    release: str
    spec: str
    row: Row

    @property
    def text(self) -> str:
        return root_of(str(self.row["cause"]))

    @property
    def foreign(self) -> bool:
        return bool(self.row.get("document") == FOREIGN)

    @property
    def elements(self) -> int:
        return int(self.row["elements"])

    @property
    def calibrated(self) -> int:
        return int(self.row.get("domains", {}).get("calibrated", {"elements": 0})["elements"])


@dataclass(frozen=True)
class RunFacts:
    """A run, called by the name of its folder."""

    name: str
    created: str
    level: str
    machine: str
    exit: int
    cells: tuple[SiteCell, ...]
    sightings: tuple[Sighting, ...]


def facts_of_run(name: str, created: str, run: Run) -> RunFacts:
    """The facts of a run that was read from the folder `name`."""
    info = run.info
    return RunFacts(
        name,
        created,
        str(info["level"]),
        str(info["machine"]),
        int(info["exit"]),
        tuple(cells_of_run(name, created, run)),
        tuple(sightings_of_run(name, created, run)),
    )


def cells_of_run(name: str, created: str, run: Run) -> Iterator[SiteCell]:
    backends = {str(one["name"]): one for one in run.info["backends"]}
    counts, sums = shown_counts(run.results), sums_of_run(run)
    findings, hazards = finding_counts(run), hazard_counts(run)
    digests = digests_of_cases(run)
    equal = {one: tuple(map(plain_name, group)) for group in folded_groups(run.info, counts) for one in group}
    foreign = foreign_places(run)
    for (backend, operator), verdicts in counts.items():
        one, key = backends[backend], (backend, operator)
        yield SiteCell(
            name, created, library_of(one), plain_name(backend), str(one["version"]), operator, verdicts,
            equal[backend], key in foreign, findings=findings[key], hazards=hazards[key], cases=digests[key][0],
            ran_cases=digests[key][1], **sums[key],
        )  # fmt: skip


def sums_of_run(run: Run) -> dict[Place, dict[str, int]]:
    """The judged and the deviating elements, in all and of the calibrated domain."""
    columns = list(dict.fromkeys((*JUDGED, *SUMS.values())))
    sums = rows_by_key(run.results.groupby(["backend", "operator"], observed=True)[columns].sum())
    return {
        (str(backend), str(operator)): {name: int(row[column]) for name, column in SUMS.items()}
        | {"judged": sum(int(row[name]) for name in JUDGED)}
        for (backend, operator), row in sums.items()
    }


def digests_of_cases(run: Run) -> dict[Place, tuple[str, str]]:
    """Digests of the ids of a backend's cases, and of those that ran. The id of a generated case has its inputs'."""
    columns = ["case", "verdict"]
    groups = run.results.groupby(["backend", "operator"], observed=True)[columns]
    found = {}
    for key, rows in groups:
        backend, operator = map(str, key if isinstance(key, tuple) else (key,))
        ran = rows["case"][rows["verdict"].isin(RAN)]
        found[backend, operator] = digest_of(rows["case"]), digest_of(ran)
    return found


def digest_of(ids: Iterable[object]) -> str:
    return hashlib.sha256("\0".join(sorted(map(str, ids))).encode()).hexdigest()[:16]


def places_of_run(info: Mapping[str, Any]) -> dict[str, tuple[str, str, str]]:
    """By what the run calls a backend: its library, its name and its release; the newest release first."""
    rows = sorted(info["backends"], key=lambda one: release_order(str(one["version"])), reverse=True)
    return {str(one["name"]): (library_of(one), plain_name(str(one["name"])), str(one["version"])) for one in rows}


def foreign_places(run: Run) -> set[Place]:
    """Operators of backends that do not claim the document."""
    rows = run.results[run.results["document"] == FOREIGN]
    return set(zip(rows["backend"].astype(str), rows["operator"].astype(str), strict=True))


def sightings_of_run(name: str, created: str, run: Run) -> Iterator[Sighting]:
    backends = {str(one["name"]): one for one in run.info["backends"]}
    for row in causes_of(run):
        one = backends.get(str(row["backend"]))
        if one is not None:
            key = CauseKey(library_of(one), str(row["operator"]), root_of(cause_name(row)))
            spec, release = str(one.get("spec", "")), str(one["version"])
            yield Sighting(name, created, key, plain_name(str(one["name"])), release, spec, row)


def slim(row: Row) -> Row:
    """A root cause without what only its picture and its examples need."""
    return {name: value for name, value in row.items() if name not in DROPPED}
