"""Cases that are exported to the forms of other suites, and why one has no form there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.offline.export import Export, export_cases
from tiebreak.conformance.offline.exported import case_to_export
from tiebreak.conformance.offline.layouts import LAYOUTS
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case

Array = np.ndarray[Any, Any]
QUANTIZE, DEQUANTIZE = "onnx.QuantizeLinear", "onnx.DequantizeLinear"
STABLEHLO, RESCALE = "stablehlo.uniform_quantize", "tosa.RESCALE"


def some(operator: str, step: int, **chosen: Any) -> list[Case]:
    return plan(Selection((operator,), level="", **chosen))[::step]


def written(cases: list[Case], folder: Path, layout: str) -> Export:
    """The export, whose unsupported cases each have a reason in the list."""
    found = export_cases(cases, folder, layout)
    listed = folder / "unsupported.txt"
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    assert len(lines) == len(found.unsupported) == len(cases) - len(found.kept)
    assert all(re.fullmatch(r"\S+: unsupported: \S.*", line) for line in lines)
    return found


def reason(layout: str, operator: str, *inputs: Any, **node: Any) -> str:
    """Why a case of this node has no form in a layout."""
    made = make_node(operator, **node)
    arrays = tuple(np.array(one).astype(kind.dtype) for one, kind in zip(inputs, made.inputs, strict=True))
    case = Case("typed", made, arrays)
    with pytest.raises(Unsupported) as found:
        LAYOUTS[layout].of_case(1, case_to_export(case, truths_of(case)))
    return str(found.value)
