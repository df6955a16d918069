"""onnx.Cast as `tensor.to(dtype)`.

torch documents no rule, and the method takes no attributes: each type has one conversion. Beyond the largest value it
gives NaN or, in float8_e5m2, an infinity. To float8_e8m0fnu it goes to the nearest power of two, halfway up, of the
magnitude; beyond the largest it gives NaN. So the nodes are run that say so: saturate 0, and round_mode nearest. That
zero becomes 2^-127 there, no attributes say. To float8_e4m3fn torch 2.13 saturates, infinities too; a release that does
not gives NaN. So the library is asked which node it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import UNSATURATED, check_cast
from tiebreak.adapters.torch_calls import TYPES, Call, Plan, Planner, tensor_argument, type_argument
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import onnx_cast
from tiebreak.golden.problem import Array

EITHER = "float8_e4m3fn"  # which saturates in some releases
BEYOND = 1e4


def cast(library: Any, node: Node) -> Plan:
    for kind in (node.input_type, node.output_type):
        if kind not in TYPES:
            raise Unsupported(f"torch makes no tensor of {kind}")
    check_cast(node, "torch", meaning(library))

    def call(x: Array) -> Call:
        given = tensor_argument(library, node.inputs[0].name, x)
        return Call("Tensor.to", (given, type_argument(library, node.output_type)))

    return Plan(call, call(np.zeros(1).astype(node.inputs[0].dtype)), "Tensor.to")


def meaning(library: Any) -> Mapping[str, Mapping[str, Any]]:
    """By type, the attributes that say what the conversion to it does in this release."""
    saturates = not library.tensor(BEYOND).to(getattr(library, EITHER)).float().isnan()
    return {**UNSATURATED, EITHER: {}} if saturates else UNSATURATED


PLANNERS: Mapping[str, Planner] = {onnx_cast.ID: cast}
MAPS = {onnx_cast.ID: "Tensor.to: each number rounded to the type; float8_e4m3fn saturates, the others do not"}
