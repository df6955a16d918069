"""`tiebreak vectors export`: cases with their expected results for a device elsewhere; see docs/offline.md.

Every layout has the same manifest.json. `tiebreak verify` reads only that file and the outputs brought back.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline import export_c, export_onnx
from tiebreak.conformance.offline.exported import CaseToExport, case_to_export
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.places import check_empty, write_text_aside
from tiebreak.golden.problem import Array, codes_of
from tiebreak.golden.vector_text import tensor_entry
from tiebreak.reports.records import stored_case

MANIFEST = "manifest.json"


def export(selection: Selection, folder: Path, layout: str) -> tuple[int, int]:
    """Write the selected cases; return how many were written, and how many the layout can't express.

    Raises InvalidInput if the folder is not empty or can't be written, or if no case was written.
    """
    fresh = not folder.exists()
    check_empty(folder)
    try:
        return write_cases(selection, folder, layout)
    except BaseException:
        undo_export(folder, fresh)
        raise


def undo_export(folder: Path, fresh: bool) -> None:
    """Remove a partial export: the folder was empty or, if `fresh`, did not exist."""
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if fresh:
        folder.rmdir()


def write_cases(selection: Selection, folder: Path, layout: str) -> tuple[int, int]:
    cases = plan(selection)
    numbered = enumerate((case_to_export(case, truths_of(case)) for case in cases), start=1)
    if layout == "c":
        kept = list(numbered)
        export_c.write_c_files(folder, [one for _, one in kept])
    else:
        write_one = {"json": write_json, "npz": write_npz, "onnx": export_onnx.write_onnx_case}[layout]
        kept = [(number, one) for number, one in numbered if write_one(folder, number, one)]
    if not kept:
        raise InvalidInput(f"none of the {len(cases)} cases has a form in the layout {layout!r}")
    (folder / "outputs").mkdir(exist_ok=True)
    write_manifest(folder, layout, kept)
    return len(kept), len(cases) - len(kept)


def write_manifest(folder: Path, layout: str, kept: Sequence[tuple[int, CaseToExport]]) -> None:
    """Write the manifest, last of all files, so that a folder with a manifest is complete."""
    document = {
        "format": "tiebreak-export",
        "version": 1,
        "layout": layout,
        "cases": [manifest_row(number, one) for number, one in kept],
    }
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


def write_json(folder: Path, number: int, one: CaseToExport) -> bool:
    """Write cases/NNNNNN.json: everything as text, floats as bits and decimals."""
    node = one.case.node
    document = {
        "id": one.case.id,
        "operator": node.operator,
        **({"opset": node.opset} if node.opset else {}),
        "attributes": dict(node.attributes),
        "inputs": [tensor_entry(t.name, array) for t, array in zip(node.inputs, one.case.inputs, strict=True)],
        "outputs": [
            {
                "name": o.name,
                "type": o.type,
                "shape": list(o.shape),
                "exact": o.text("exact"),
                "working": o.text("working"),
            }
            for o in one.outputs
        ],
    }
    write_text_aside(folder / "cases" / f"{number:06d}.json", json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return True


def write_npz(folder: Path, number: int, one: CaseToExport) -> bool:
    """Write cases/NNNNNN.npz: inputs, both results and each element's status; types that NumPy lacks as bits."""
    arrays: dict[str, Array] = {f"input_{i}": as_numpy_array(array) for i, array in enumerate(one.case.inputs)}
    for k, output in enumerate(one.outputs):
        arrays[f"exact_{k}"] = as_numpy_array(output.array("exact"))
        arrays[f"working_{k}"] = as_numpy_array(output.array("working"))
        arrays[f"status_{k}"] = output.status.reshape(output.shape)
    path = folder / "cases" / f"{number:06d}.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return True


def as_numpy_array(array: Array) -> Array:
    """The array itself, or its bits (an unsigned byte or word per element) if NumPy lacks the type.

    Integers of fewer than 8 bits keep their values, in the 8-bit type of the same sign.
    """
    if array.dtype.kind in "iuf" and array.dtype.isbuiltin == 1:
        return array
    if array.dtype.name in ("int2", "int4", "uint2", "uint4"):
        return array.astype(np.int8 if array.dtype.name.startswith("int") else np.uint8)
    return codes_of(array)
