"""Standalone scripts that show that a graph as shipped and unfused give two answers, without Tiebreak."""

from __future__ import annotations

from collections.abc import Mapping

from tiebreak.adapters.onnx_source import model_source
from tiebreak.adapters.patterns.onnx_graph import limits, onnx_pattern, parameters, tensors
from tiebreak.adapters.patterns.runtimes import own_script, script_lines
from tiebreak.adapters.reproducer import FAILED, FILLED, array_source, safe_in_source
from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.problem import Array

HEAD = '''"""{title}

{text}
Exits with 1 while the two answers differ, with 0 once they are the same, with 2 if the library can't be run.
"""

import os
import sys

import numpy as np
'''
ONNX = """import onnx
from onnx import TensorProto, helper, numpy_helper
"""
TAIL = """
print(library)
print("as shipped:", shipped.ravel().tolist())
print("unfused:   ", unfused.ravel().tolist())
print("exact:     ", {exact})
sys.exit(0 if np.array_equal(shipped, unfused) else 1)
"""


def fused_script(
    backend: str, title: str, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array], exact: str
) -> str:
    """The script for these rows; `exact` is the exact truth's result, as text.

    ModuleNotFoundError without onnx, if the runtime takes ONNX models.
    """
    own = own_script(backend)
    imports = ONNX if own is None else ""
    lines = onnx_lines(backend, pattern, pairs, rows) if own is None else own(pattern, pairs, rows).strip()
    helper = f"\n\n{FILLED}\n\n" if "filled(" in lines else ""
    head = HEAD.format(title=safe_in_source(title), text=pattern.text) + f"{imports}\n\n{FAILED}\n\n{helper}"
    return head + "\n" + lines + TAIL.format(exact=repr(exact))


def onnx_lines(backend: str, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array]) -> str:
    """The model and its feeds, then the runtime's lines."""
    given = tensors(pattern, rows)
    fixed = {one.name: given[one.name] for one in pattern.operands if one.constant}
    fixed |= parameters(pattern, pairs) | limits(pattern.steps)
    bound = [f"{name} = {array_source(array)}" for name, array in fixed.items()]
    feeds = [f"{one.name} = {array_source(given[one.name])}" for one in pattern.inputs]
    fed = ", ".join(f'"{one.name}": {one.name}' for one in pattern.inputs)
    model = model_source(onnx_pattern(pattern, pairs, given))
    return "\n".join((*bound, *feeds, model, f"feeds = {{{fed}}}", script_lines(backend).rstrip()))
