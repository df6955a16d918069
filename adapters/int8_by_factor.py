"""Libraries that quantize to int8 by a factor, the reciprocal of a scale, without a zero point.

Such a library is told of a node only where the factor says the same: the scale's reciprocal is a float32 itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiebreak.adapters.inexpressible import check_operator_set, check_output_type, check_zero_point_type
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

ATTRIBUTES = {"axis", "axes", "round_mode", "type", "output_dtype"}


def check_by_factor(node: Node, library: str, types: Sequence[str]) -> None:
    """Raise Unsupported unless the node is of these input and output types, has no axis and may round as it likes."""
    if (node.input_type, node.output_type) != tuple(types):
        raise Unsupported(f"{library} makes {types[1]} of {types[0]}, not {node.output_type} of {node.input_type}")
    if unknown := set(node.attributes) - ATTRIBUTES:
        raise Unsupported(f"{library} has no {', '.join(sorted(unknown))}")
    if node.round_mode not in ("", EVEN):
        raise Unsupported(f"{library} has no {node.round_mode}")
    if "axis" in node.attributes or node.attributes.get("axes"):
        raise Unsupported(f"{library} is run with one scale, without an axis")
    if node.inputs[1].dtype != np.float32:
        raise Unsupported(f"{library}'s factor is float32, not {node.inputs[1].dtype.name}")
    check_operator_set(node, library)
    check_output_type(node, library)
    check_zero_point_type(node, library)


def scale_alone(node: Node, library: str, scale: Array, *zero_point: Array) -> np.float32:
    """The scale. Raises Unsupported if there are several, or if there is a zero point other than 0."""
    shapes = ((), (1,)) if node.operator.startswith("onnx.") else ((),)
    for array in (scale, *zero_point):
        if array.shape not in shapes:
            raise Unsupported(f"{library} is run with one scale, not of shape {list(array.shape)}")
    if any(np.any(array) for array in zero_point):
        raise Unsupported(f"{library} has no zero point")
    return np.float32(scale.reshape(()))


def factor_of(scale: np.float32, library: str) -> np.float32:
    """The scale's reciprocal. Raises Unsupported if it is no float32."""
    with np.errstate(all="ignore"):
        factor = np.float32(1) / scale
    exact = np.isfinite(factor) and factor != 0 and np.frexp(scale)[0] in (0.5, -0.5)
    if not exact:
        raise Unsupported(f"{library} multiplies by a factor: the reciprocal of the scale {scale} is no float32")
    return factor
