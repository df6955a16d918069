"""The JSON beside the pages: plain data with the addresses of pages, relative to the site's root."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tiebreak.reports.site.addresses import CauseKey, cause_page, library_page, run_page
from tiebreak.reports.site.badges import Badge, badge_of
from tiebreak.reports.site.cause_history import CauseHistory
from tiebreak.reports.site.changes import LibraryChange
from tiebreak.reports.site.newest import ReleaseRow
from tiebreak.reports.site.run_facts import RunFacts, SiteCell

Row = dict[str, Any]


def run_json(run: RunFacts) -> Row:
    libraries = sorted({(cell.library, cell.release) for cell in run.cells})
    kept = {name: getattr(run, name) for name in ("created", "level", "machine", "exit")}
    return {"run": run.name, **kept, "libraries": libraries, "page": run_page(run.name)}


def row_json(row: ReleaseRow) -> Row:
    cells = {operator: cell_json(cell) for operator, cell in row.cells.items()}
    kept = {"library": row.library, "version": row.version, "backends": list(row.backends), "newest": not row.age}
    return {**kept, "page": library_page(row.library), "cells": cells}


def cell_json(cell: SiteCell) -> Row:
    kept = ("run", "created", "counts", "foreign", "judged", "deviating", "judged_calibrated", "deviating_calibrated")
    return {name: getattr(cell, name) for name in kept} | {"badge": badge_of(cell).message}


def key_json(key: CauseKey) -> Row:
    return {**key._asdict(), "page": cause_page(key)}


def history_json(one: CauseHistory) -> Row:
    """A cause in a list of causes."""
    own: Row = {"cause": one.sighting.text, "foreign": one.sighting.foreign, "there": one.there}
    own["now"] = key_json(one.now) if one.now else None
    return {**key_json(one.key), **own, "elements": one.sighting.elements, "run": one.sighting.run}


def change_json(one: LibraryChange) -> Row:
    kept = {name: getattr(one, name) for name in ("run", "created", "library", "version", "before")}
    causes = {
        status: [{**key_json(each.key), "elements": [each.before, each.after], **was_json(each.was)} for each in some]
        for status, some in one.causes.items()
    }
    counts = {"judged": list(one.judged), "failures": list(one.failures)}
    return {**kept, "causes": causes, **counts, "same_cases": one.same_cases}


def was_json(key: CauseKey | None) -> Row:
    return {"was": key_json(key)} if key else {}


def badge_json(badge: Badge) -> Row:
    own = {"backend": badge.cell.backend, "operator": badge.cell.operator, "version": badge.cell.release}
    return {**own, "message": badge.message, "image": f"{badge.name}.svg", "endpoint": f"{badge.name}.json"}


def cause_json(one: CauseHistory, more: Mapping[str, Any]) -> Row:
    """A cause's own page; `more` is what the page says beside it."""
    rows = [asdict(row) for row in one.rows]
    row = {name: value for name, value in one.sighting.row.items() if name != "examples"}
    return {**history_json(one), "root_cause": row, **more, "history": rows}


def cells_script(run: RunFacts) -> Row:
    """What the comparison reads of a run."""
    backends = list(dict.fromkeys((cell.backend, cell.library, cell.release) for cell in run.cells))
    at = {(backend, release): number for number, (backend, _, release) in enumerate(backends)}
    cells = [
        [at[one.backend, one.release], one.operator, one.counts, one.judged, one.ran, one.cases, one.ran_cases]
        for one in run.cells
    ]
    causes = [
        [at[one.backend, one.release], one.key.operator, cause_page(one.key), one.text, one.elements, one.foreign]
        for one in run.sightings
        if (one.backend, one.release) in at
    ]
    return {"name": run.name, "created": run.created, "backends": backends, "cells": cells, "causes": causes}
