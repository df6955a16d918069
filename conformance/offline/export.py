"""`tiebreak vectors export`: cases with their expected results for a device elsewhere; see docs/offline.md.

Every layout has the same manifest.json. `tiebreak verify` reads only that file and the outputs brought back. A case
that the layout can't say is a line of unsupported.txt.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.cases.recipes import made_by
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline.exported import CaseToExport, Files, Numbered, case_to_export
from tiebreak.conformance.offline.layouts import LAYOUTS, CaseLayout
from tiebreak.conformance.running.journal import selection_row
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Case
from tiebreak.golden.places import check_empty, write_bytes_aside, write_text_aside
from tiebreak.reports.records import stored_case

MANIFEST, LEFT_OUT = "manifest.json", "unsupported.txt"


@dataclass
class Export:
    """The cases that were written, those that were not, and by id why."""

    layout: str
    kept: list[Numbered] = field(default_factory=list)
    left_out: list[Numbered] = field(default_factory=list)
    unsupported: dict[str, str] = field(default_factory=dict)


def export(selection: Selection, folder: Path, layout: str) -> tuple[int, int]:
    """Write the selected cases; return how many were written, and how many the layout can't express.

    Raises InvalidInput if the folder is not empty or can't be written, or if no case was written.
    """
    found = export_cases(plan(selection), folder, layout, selection)
    return len(found.kept), len(found.unsupported)


def export_cases(cases: Sequence[Case], folder: Path, layout: str, selection: Selection | None = None) -> Export:
    """Write these cases into an empty or new folder; they are all of the selection, if there is one.

    Raises InvalidInput as `export`.
    """
    fresh = not folder.exists()
    check_empty(folder)
    try:
        return write_cases(cases, folder, layout, selection)
    except BaseException:
        undo_export(folder, fresh)
        raise


def undo_export(folder: Path, fresh: bool) -> None:
    """Remove a partial export: the folder was empty or, if `fresh`, did not exist."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if fresh:
        folder.rmdir()


def write_cases(cases: Sequence[Case], folder: Path, name: str, selection: Selection | None) -> Export:
    layout, found = LAYOUTS[name], Export(name)
    for number, one in enumerate((case_to_export(case, truths_of(case)) for case in cases), start=1):
        reason = write_one(folder, layout, number, one)
        if reason:
            found.unsupported[one.case.id] = reason
            found.left_out.append((number, one))
        else:
            found.kept.append((number, one))
    if not found.kept:
        raise InvalidInput(f"none of the {len(cases)} cases has a form in the layout {name!r}: {commonest(found)}")
    write_files(folder, layout.of_all(found.kept))
    (folder / "outputs").mkdir(exist_ok=True)
    if found.unsupported:
        write_text_aside(folder / LEFT_OUT, "".join(lines_of(found)))
    write_manifest(folder, found, selection)
    return found


def write_one(folder: Path, layout: CaseLayout, number: int, one: CaseToExport) -> str:
    """Write a case's files; why it has none, or else nothing."""
    try:
        write_files(folder, layout.of_case(number, one))
    except Unsupported as reason:
        return " ".join(str(reason).split()) or "no form"
    return ""


def write_files(folder: Path, files: Files) -> None:
    for path, content in files.items():
        write_bytes_aside(folder / path, content)


def lines_of(found: Export) -> Iterator[str]:
    return (f"{case}: unsupported: {reason}\n" for case, reason in found.unsupported.items())


def commonest(found: Export) -> str:
    """The reason that most cases have; empty if there is no case."""
    reasons = list(found.unsupported.values())
    return max(reasons, key=reasons.count, default="")


def write_manifest(folder: Path, found: Export, selection: Selection | None) -> None:
    """Write the manifest, last of all files, so that a folder with a manifest is complete."""
    document: dict[str, Any] = {"format": "tiebreak-export", "version": 1, "layout": found.layout}
    if selection is not None:
        document |= {"selection": selection_row(selection), "made_by": made_by()}
    document["cases"] = [manifest_row(number, one) for number, one in found.kept]
    why = found.unsupported
    document["left_out"] = [manifest_row(n, one) | {"reason": why[one.case.id]} for n, one in found.left_out]
    write_text_aside(folder / MANIFEST, json.dumps(document, ensure_ascii=False) + "\n")


def manifest_row(number: int, one: CaseToExport) -> dict[str, Any]:
    case = one.case
    row: dict[str, Any] = {
        "number": number,
        **stored_case(case),
        "flags": list(case.flags),
        "clauses": list(case.clauses),
    }
    row["outputs"] = [{"name": o.name, "type": o.type, "shape": list(o.shape)} for o in one.outputs]
    return row
