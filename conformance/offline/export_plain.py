"""The plainest layouts: JSON's text and NumPy's archives, with both results and each element's status."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping

import numpy as np

from tiebreak.conformance.offline.exported import CaseToExport, Files
from tiebreak.golden.problem import Array, codes_of
from tiebreak.golden.vector_text import tensor_entry


def json_files(number: int, one: CaseToExport) -> Files:
    """cases/NNNNNN.json: everything as text, floats as bits and decimals."""
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
    return {f"cases/{number:06d}.json": (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()}


def npz_files(number: int, one: CaseToExport) -> Files:
    """cases/NNNNNN.npz: inputs, both results and each element's status; types that NumPy lacks as bits."""
    arrays: dict[str, Array] = {f"input_{i}": as_numpy_array(array) for i, array in enumerate(one.case.inputs)}
    for k, output in enumerate(one.outputs):
        arrays[f"exact_{k}"] = as_numpy_array(output.array("exact"))
        arrays[f"working_{k}"] = as_numpy_array(output.array("working"))
        arrays[f"status_{k}"] = output.status.reshape(output.shape)
    return {f"cases/{number:06d}.npz": npz_bytes(arrays)}


def npz_bytes(arrays: Mapping[str, Array]) -> bytes:
    """The bytes of an archive of NumPy's."""
    found = io.BytesIO()
    np.savez(found, **arrays)  # type: ignore[arg-type]
    return found.getvalue()


def as_numpy_array(array: Array) -> Array:
    """The array itself, or its bits (an unsigned byte or word per element) if NumPy lacks the type.

    Integers of fewer than 8 bits keep their values, in the 8-bit type of the same sign.
    """
    if array.dtype.kind in "iuf" and array.dtype.isbuiltin == 1:
        return array
    if array.dtype.name in ("int2", "int4", "uint2", "uint4"):
        return array.astype(np.int8 if array.dtype.name.startswith("int") else np.uint8)
    return codes_of(array)
