"""The manifest of exported cases as `tiebreak verify` reads it: the cases, and of what plan they are all.

It comes back from elsewhere, so nothing in it is trusted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tiebreak.conformance.cases.recipes import made_by
from tiebreak.conformance.offline.export import MANIFEST
from tiebreak.conformance.submissions.packing import vectors_named
from tiebreak.conformance.submissions.submission import MADE_BY_SCHEMA, SELECTION_SCHEMA
from tiebreak.golden.case_digests import case_digests
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.files import bounded_text, check_format
from tiebreak.golden.nodes import Case
from tiebreak.golden.problems import problems_of
from tiebreak.reports.records import parse_case

FORMAT = "tiebreak-export"
LARGEST_MANIFEST = 1 << 30
LONGEST_REASON = 2000
DAMAGES = (ValueError, TypeError, KeyError, OverflowError, RecursionError, AttributeError, InvalidInput)


@dataclass(frozen=True)
class ExportedCase:
    """A case of the manifest, the number in the names of its output files, and its outputs' shapes.

    `reason` says why the layout has no form for it, so that no output can come back; empty if it has one.
    """

    number: int
    case: Case
    shapes: tuple[tuple[int, ...], ...]
    reason: str = ""


@dataclass(frozen=True)
class ExportedCases:
    """The cases, in the order of their numbers, and what of run.json says which were planned: nothing if unknown."""

    cases: list[ExportedCase]
    planned: Mapping[str, Any] = field(default_factory=dict)


def read_manifest(folder: Path) -> ExportedCases:
    """The exported cases. InvalidInput if there are none, DamagedFile for a manifest that is none."""
    path = folder / MANIFEST
    if not path.exists():
        raise InvalidInput(f"{folder}: no exported cases here (no readable {MANIFEST})")
    try:
        data = json.loads(bounded_text(path, LARGEST_MANIFEST, "a manifest"))
        document = check_format(path, data, FORMAT, "manifest")
    except (ValueError, RecursionError) as error:
        raise DamagedFile(f"{path}: damaged manifest: {error}") from None
    try:
        rows = (*document["cases"], *document.get("left_out", ()))
        found = with_expected(exported_case_of(row) for row in rows)
    except DAMAGES as error:
        raise DamagedFile(f"{path}: damaged manifest: {error}") from None
    return ExportedCases(sorted(found, key=lambda one: one.number), planned_in(path, document))


def exported_case_of(row: Mapping[str, Any]) -> ExportedCase:
    case = parse_case(dict(row))
    case = replace(case, flags=tuple(map(str, row["flags"])), clauses=tuple(map(str, row["clauses"])))
    shapes = tuple(problem.shape for problem in problems_of(case))
    return ExportedCase(int(row["number"]), case, shapes, one_line_reason(row["reason"]) if "reason" in row else "")


def one_line_reason(text: str) -> str:
    return " ".join(text.split())[:LONGEST_REASON] or "no reason given"


def with_expected(found: Iterable[ExportedCase]) -> list[ExportedCase]:
    """The cases, golden vectors with their expected results; one that was edited on the way has none."""
    listed = list(found)
    vectors = [one.case for one in listed if one.case.origin == "vector"]
    own = {case.id: case for case in vectors_named((case.id for case in vectors), {c.node.operator for c in vectors})}
    told, known = case_digests(vectors), case_digests(replace(case, expected=None) for case in own.values())
    return [
        replace(one, case=own[one.case.id])
        if one.case.id in own and told.get(one.case.id) == known[one.case.id]
        else one
        for one in listed
    ]


def planned_in(path: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """The selection of which these are all cases, and by which versions; nothing if it was other sources than these."""
    import jsonschema

    if "selection" not in document:
        return {}
    found = {name: document.get(name) for name in ("selection", "made_by")}
    try:
        jsonschema.validate(found["selection"], SELECTION_SCHEMA)
        jsonschema.validate(found["made_by"], MADE_BY_SCHEMA)
    except jsonschema.ValidationError as error:
        raise DamagedFile(f"{path}: damaged manifest: {error.message[:200]}") from None
    told, own = found["made_by"] or {}, made_by()
    return found if all(told[name] == own[name] for name in ("tiebreak", "sources")) else {}
