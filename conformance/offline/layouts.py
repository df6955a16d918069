"""The layouts of exported cases: each says what files a case is, or raises Unsupported with the reason why it has none.

A layout has an entry in the table below and, for all but the smallest, a file of its own beside this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tiebreak.conformance.offline import (
    export_c,
    export_iree,
    export_onnx,
    export_onnx_node,
    export_openvino,
    export_optester,
    export_plain,
    export_stablehlo,
    export_tflite,
    export_tosa,
    export_wpt,
)
from tiebreak.conformance.offline.exported import CaseToExport, Files, Numbered


def no_files(cases: Sequence[Numbered]) -> Files:
    return {}


@dataclass(frozen=True)
class CaseLayout:
    """`of_case` gives the files of one case, by their paths in the export's folder; Unsupported if it has no form.

    `of_all` gives the files about all cases that have one. `says` is a line for people.
    """

    says: str
    of_case: Callable[[int, CaseToExport], Files]
    of_all: Callable[[Sequence[Numbered]], Files] = no_files


LAYOUTS: Mapping[str, CaseLayout] = {
    "json": CaseLayout("text, floats as bits and decimals", export_plain.json_files),
    "npz": CaseLayout("NumPy's archives", export_plain.npz_files),
    "onnx": CaseLayout("ONNX backend tests: a model and its tensors", export_onnx.onnx_files),
    "onnx-node": CaseLayout(
        "ONNX node tests in Python", export_onnx_node.onnx_node_case, export_onnx_node.onnx_node_files
    ),
    "c": CaseLayout("one table in C99", export_c.any_case, export_c.c_files),
    "tflite": CaseLayout(".tflite models, and tensors in NumPy's archives", export_tflite.tflite_files),
    "wpt": CaseLayout("lists of WebNN tests in JavaScript", export_wpt.wpt_case, export_wpt.wpt_files),
    "optester": CaseLayout(
        "onnxruntime's OpTester in C++", export_optester.optester_case, export_optester.optester_files
    ),
    "openvino": CaseLayout(
        "OpenVINO's TestCase in C++", export_openvino.openvino_files, export_openvino.openvino_tests
    ),
    "stablehlo": CaseLayout("StableHLO programs that check themselves", export_stablehlo.stablehlo_files),
    "iree": CaseLayout("MLIR and raw tensors for iree-run-module", export_iree.iree_files),
    "tosa": CaseLayout("desc.json of TOSA's test runner", export_tosa.tosa_files),
}
