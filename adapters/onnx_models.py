"""One-node ONNX models, for the runtimes that take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.problem import Array

OPSET = 21  # for nodes of other operators: the first that has 4- and 16-bit types
IR_VERSIONS = {10: 5, 13: 7, 19: 9, 21: 10, 23: 11, 24: 12, 25: 13}
NAMES = ("x", "scale", "zero_point")
OPERATORS = frozenset({"onnx.QuantizeLinear", "onnx.DequantizeLinear", "ngraph.Quantize", "ngraph.Dequantize"})


@dataclass(frozen=True)
class Linear:
    """A QuantizeLinear or DequantizeLinear node: its name, attributes, element types and operator set."""

    operator: str
    attributes: dict[str, Any]
    inputs: tuple[str, ...]
    output: str
    opset: int


def linear_node(node: Node) -> Linear:
    """The node as ONNX has it; Unsupported for an nGraph node that is neither of the two exactly."""
    operator = node.operator.partition(".")[2].removesuffix("Linear") + "Linear"
    own = node.operator.startswith("onnx.")
    types = tuple(str(kind.dtype.name) for kind in node.inputs)
    attributes = onnx_attributes(node) if own else {} if axis_of(node) is None else {"axis": axis_of(node)}
    for name in (*types, node.output_type):
        onnx_type(name, operator)
    if "float64" in (*types, node.output_type):
        raise Unsupported(f"{operator} takes no float64")
    return Linear(operator, attributes, types, node.output_type, node.opset or OPSET)


def onnx_attributes(node: Node) -> dict[str, Any]:
    """Attributes as a model holds them: types by their numbers, truth as 0 or 1."""
    types = {name: onnx_type(value, name) for name, value in node.attributes.items() if isinstance(value, str)}
    return {name: types[name] if name in types else int(value) for name, value in node.attributes.items()}


def axis_of(node: Node) -> int | None:
    """The axis of an nGraph node, None if its scale is a scalar.

    ngraph.Quantize is QuantizeLinear exactly if it rounds to nearest even and has at most one axis, ngraph.Dequantize
    is DequantizeLinear if it has at most one.
    """
    operator = "QuantizeLinear" if node.operator == "ngraph.Quantize" else "DequantizeLinear"
    if operator == "QuantizeLinear" and node.round_mode != "ROUND_NEAREST_TOWARD_EVEN":
        raise Unsupported(f"QuantizeLinear has no {node.round_mode}, only round to nearest even")
    if operator == "QuantizeLinear" and "32" in node.output_type:
        raise Unsupported(f"QuantizeLinear takes no {node.output_type}")
    axes = node.attributes.get("axes", ())
    if len(axes) > 1:
        raise Unsupported(f"{operator} has one axis at most")
    return int(axes[0]) if axes else None


def check_inputs(node: Node, inputs: Sequence[Array]) -> None:
    """Unsupported for inputs with which an nGraph node is not the ONNX one."""
    if node.operator == "ngraph.Dequantize" and node.input_type == "int32" and np.any(inputs[2]):
        raise Unsupported("DequantizeLinear has no zero point for int32")


def linear_model(
    linear: Linear, carriers: Mapping[str, str] | None = None, shapes: Sequence[Sequence[int]] | None = None
) -> Any:
    """An onnx.ModelProto with inputs x, scale and perhaps zero_point, output y, shapes free unless given.

    `carriers` name the type in which tensors of another type enter and leave, by a Cast node on either side.
    """
    import onnx
    from onnx import helper

    carriers = carriers or {}
    names = NAMES[: len(linear.inputs)]
    inner = [f"{name}_inner" if kind in carriers else name for name, kind in zip(names, linear.inputs, strict=True)]
    out = "y_inner" if linear.output in carriers else "y"
    nodes = [
        helper.make_node("Cast", [name], [f"{name}_inner"], to=onnx_type(kind))
        for name, kind in zip(names, linear.inputs, strict=True)
        if kind in carriers
    ]
    nodes.append(helper.make_node(linear.operator, inner, [out], **linear.attributes))
    outer = [onnx_type(carriers.get(kind, kind)) for kind in (*linear.inputs, linear.output)]
    if linear.output in carriers:
        nodes.append(helper.make_node("Cast", [out], ["y"], to=outer[-1]))
    kept: Sequence[Sequence[int] | None] = shapes if shapes is not None else [None] * len(names)
    inputs = [helper.make_tensor_value_info(*value) for value in zip(names, outer, kept, strict=False)]
    output = helper.make_tensor_value_info("y", outer[-1], kept[0])
    graph = helper.make_graph(nodes, "tiebreak", inputs, [output])
    opsets = [helper.make_opsetid("", linear.opset)]
    version = IR_VERSIONS[linear.opset]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=version)
    return model


def onnx_type(name: str, operator: str = "ONNX") -> int:
    """TensorProto's number of an element type; Unsupported if there is none."""
    for number, known in NUMBERS.items():
        if known == name:
            return number
    raise Unsupported(f"{operator} takes no {name}")
