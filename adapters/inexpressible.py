"""What a node can say and a library's interface can't. Each function raises Unsupported with the reason.

An adapter hands a library what the node says, or nothing: it repairs, drops and replaces no part of a call. A library
may call the same thing by another name. What it has no words for is not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0, FLOAT8
from tiebreak.golden.operators import (
    get_operator,
    nvidia_nvfp4_quantize,
    onnx_cast,
    onnx_dequantize_linear,
    onnx_quantize_linear,
)
from tiebreak.golden.operators.model import Types
from tiebreak.golden.operators.onnx_linear import Version, problem_with

VERSIONS: Mapping[str, Mapping[int, Version]] = {
    "onnx.QuantizeLinear": onnx_quantize_linear.VERSIONS,
    "onnx.DequantizeLinear": onnx_dequantize_linear.VERSIONS,
}
OUTPUT_TYPES = ("type", "output_dtype", "to")  # attributes that name the output's type
# By type, what a Cast says to which conversions without saturation are equal: to the nearest number, or power of two.
UNSATURATED: Mapping[str, Mapping[str, Any]] = {
    **{name: {"saturate": False} for name in FLOAT8},
    **{name: {"saturate": False, "round_mode": onnx_cast.NEAREST} for name in E8M0},
}


def check_operator_set(node: Node, library: str) -> None:
    """For a library without operator sets: refuse an ONNX node that its own operator set does not have."""
    find = operator_set_problem if node.operator in VERSIONS else cast_problem
    problem = find(node) if node.operator in (*VERSIONS, onnx_cast.ID) else ""
    if problem:
        raise Unsupported(f"{library} has no operator sets, so it can't be asked for this: {problem}")


def check_axis_in_operator_set(node: Node, library: str) -> None:
    """For a library without operator sets: refuse more than one scale where the node's operator set has no axis."""
    if node.operator in VERSIONS and "axis" not in VERSIONS[node.operator][node.opset].attributes:
        raise Unsupported(f"{library} has no operator sets, and opset {node.opset} has no scales along an axis")


def operator_set_problem(node: Node) -> str:
    """What the node's operator set does not allow of it, in one line; empty if it allows everything."""
    version = VERSIONS[node.operator].get(node.opset)
    if version is None:
        return f"there is no {node.operator} of opset {node.opset}"
    ends = node.output_type, node.input_type
    wide, narrow = ends if "Dequantize" in node.operator else ends[::-1]
    return problem_with(version, node.opset, wide, str(node.inputs[1].dtype.name), narrow, node.attributes)


def cast_problem(node: Node) -> str:
    """What the operator set of an onnx.Cast does not allow of it, in one line; empty if it allows everything."""
    if node.opset not in onnx_cast.OPSETS:
        return f"there is no {node.operator} of opset {node.opset}"
    try:
        onnx_cast.signature(Types(node.input_type, node.output_type, opset=node.opset), node.attributes)
    except InvalidInput as problem:
        return str(problem)
    return ""


def check_cast(node: Node, library: str, meaning: Mapping[str, Mapping[str, Any]]) -> None:
    """For a library with one conversion to each type: refuse a Cast whose attributes do not say that it is this one.

    `meaning` has by output type the attributes that do, without those that repeat their default; none if it is left
    off.
    """
    check_operator_set(node, library)
    check_output_type(node, library)
    said = {name: value for name, value in node.attributes.items() if name != "to"}
    own = dict(meaning.get(node.output_type, {}))
    if said != own:
        asked, meant = (", ".join(f"{k} {v}" for k, v in one.items()) or "the defaults" for one in (said, own))
        raise Unsupported(f"{library} has one conversion to {node.output_type}, which is that of {meant}, not {asked}")


def check_output_type(node: Node, library: str) -> None:
    """For a library that takes one type of output: refuse a node whose attribute names another than its output has."""
    for name in OUTPUT_TYPES:
        named = node.attributes.get(name, node.output_type)
        if named != node.output_type:
            raise Unsupported(f"{library} has one output type: {name} {named} is not {node.output_type}")


def check_blocks(node: Node, library: str) -> None:
    """For a library without attributes of its own: refuse a node of blocks that has others than its document."""
    check_output_type(node, library)
    known = {attribute.name for attribute in get_operator(node.operator).attributes}
    unknown = sorted(set(node.attributes) - known)
    if unknown:
        raise Unsupported(f"{library} can't be told of {', '.join(unknown)}")


def check_nvfp4(node: Node, library: str) -> None:
    """For a library that has nvidia.NVFP4Quantize and no type of its elements to choose: refuse another one."""
    if node.output_type != nvidia_nvfp4_quantize.ELEMENT_TYPE or node.input_type not in nvidia_nvfp4_quantize.REALS:
        raise Unsupported(f"{library} has no NVFP4 of {node.input_type} to {node.output_type}")


def check_zero_point_type(node: Node, library: str) -> None:
    """For a library whose zero point has no type of its own: refuse one of another type than the quantized tensor's."""
    quantized = node.inputs[0] if "Dequantize" in node.operator else node.outputs[0]
    for zero_point in node.inputs[2:]:
        if zero_point.dtype != quantized.dtype:
            both = f"{zero_point.dtype.name} beside {quantized.dtype.name}"
            raise Unsupported(f"a zero point has no type of its own in {library}: {both}")


def check_axes_from_front(node: Node, library: str) -> None:
    """For a library with one axis: refuse nGraph's sets of more. There a negative one may be another axis, or none."""
    axes = node.attributes.get("axes", ())
    if len(axes) > 1:
        raise Unsupported(f"{library} has one axis at most")
    if any(axis < 0 for axis in axes):
        raise Unsupported(f"nGraph's axes count from the front: {library} can't be told of axis {axes[0]}")


def check_scale_has_axes(node: Node, scale: tuple[int, ...], library: str) -> None:
    """For a library where the scale's shape says whether there is an axis: refuse nGraph's axes that say otherwise."""
    axes = node.attributes.get("axes", ())
    if node.operator.startswith("ngraph.") and len(scale) != len(axes):
        raise Unsupported(f"{library} can't be told of a scale of shape {list(scale)} for axes {list(axes)}")
