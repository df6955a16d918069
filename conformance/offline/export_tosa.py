"""Writes tests as TOSA's runner takes them: desc.json, a serialized graph of one RESCALE, and tensors as .npy files.

Keys as in tosa-tools, runner/tosa_test_runner.py: the result must equal expected_result_file.
"""

from __future__ import annotations

import io
import json
from functools import cache
from typing import Any

import numpy as np

from tiebreak.adapters.tosa_reference_model import TosaReferenceModel, refuse, signed
from tiebreak.conformance.offline.exported import CaseToExport, Files, check_plain
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.problem import Array


def tosa_files(number: int, one: CaseToExport) -> Files:
    """cases/tiebreak_NNNNNN/ with desc.json, test.tosa and the tensors; Unsupported for what RESCALE can't say."""
    check_plain(one)
    case, place = one.case, f"cases/tiebreak_{number:06d}"
    if case.node.operator not in TosaReferenceModel.operators:
        raise Unsupported(f"TOSA has no {case.node.operator}")
    library = loaded()
    refuse(case.node, library.serializer)
    graph, output = library.graph(case.node, case.inputs[0].shape, case.inputs[1:])
    description = {
        "tosa_file": "test.tosa",
        "ifm_name": ["input"],
        "ifm_file": ["input.npy"],
        "ofm_name": [output],
        "ofm_file": ["result.npy"],
        "expected_result_file": ["expected.npy"],
        "expected_failure": False,
    }
    return {
        f"{place}/desc.json": (json.dumps(description, indent=2) + "\n").encode(),
        f"{place}/test.tosa": graph,
        f"{place}/input.npy": npy(held(case.inputs[0])),
        f"{place}/expected.npy": npy(held(one.outputs[0].array("exact"))),
    }


@cache
def loaded() -> Any:
    try:
        return TosaReferenceModel()
    except ModuleNotFoundError:
        raise InvalidInput(
            "the layout tosa needs tosa-tools beside Tiebreak: pip install 'tiebreak[tosa-reference-model]' "
            "(not in an environment of its own)"
        ) from None


def held(array: Array) -> Array:
    """The same bits in the signed type: TOSA's tensors have no sign. 48 bits are held in 64."""
    return array if array.dtype == np.int64 else signed(array)


def npy(array: Array) -> bytes:
    found = io.BytesIO()
    np.save(found, array, allow_pickle=False)
    return found.getvalue()
