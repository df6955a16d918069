"""One-node ONNX models, for the runtimes that take them."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

OPSET = 21  # the first that has 4- and 16-bit outputs, whose text the clauses follow
IR_VERSION = 10


def linear_axis(node: Node, rank: int) -> int | None:
    """QuantizeLinear's axis for a node, None if its scale is a scalar.

    An ngraph.Quantize node is QuantizeLinear exactly if it rounds to nearest even and has at most one axis.
    """
    if node.operator == "onnx.QuantizeLinear":
        return int(node.attributes.get("axis", 1))
    if node.round_mode != "ROUND_NEAREST_TOWARD_EVEN":
        raise Unsupported(f"QuantizeLinear has no {node.round_mode}, only round to nearest even")
    axes = node.attributes.get("axes", ())
    if len(axes) > 1:
        raise Unsupported("QuantizeLinear has one axis at most")
    return int(axes[0]) if axes else None


def quantize_linear_model(node: Node, *, carrier: str | None, ranks: tuple[int, ...] = ()) -> Any:
    """An onnx.ModelProto with inputs x, scale and perhaps zero_point, output y, shapes free but for the ranks given.

    `carrier` names an 8-bit type in which a 4-bit zero point enters and y leaves, by a Cast node on either side.
    """
    import onnx
    from onnx import helper

    real, quantized = (onnx_type(dtype.name) for dtype in (node.inputs[0].dtype, node.outputs[0].dtype))
    outer = onnx_type(carrier) if carrier else quantized
    names = ["x", "scale", "zero_point"][: len(node.inputs)]
    axis = linear_axis(node, 0)
    attributes = (
        {} if axis is None or ("axis" not in node.attributes and "axes" not in node.attributes) else {"axis": axis}
    )
    inner = [name if name != "zero_point" or not carrier else "zero_point_inner" for name in names]
    nodes = [helper.make_node("QuantizeLinear", inner, ["y_inner" if carrier else "y"], **attributes)]
    if carrier:
        nodes.insert(0, helper.make_node("Cast", ["zero_point"], ["zero_point_inner"], to=quantized))
        nodes.append(helper.make_node("Cast", ["y_inner"], ["y"], to=outer))
    types = [real, real, outer][: len(names)]
    shapes: list[list[None] | None] = [[None] * rank for rank in ranks] or [None] * len(names)
    inputs = [helper.make_tensor_value_info(*value) for value in zip(names, types, shapes, strict=True)]
    output = helper.make_tensor_value_info("y", outer, shapes[0])
    graph = helper.make_graph(nodes, "tiebreak", inputs, [output])
    opsets = [helper.make_opsetid("", OPSET)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    return model


def onnx_type(name: str) -> int:
    """TensorProto's number of an element type; Unsupported if QuantizeLinear takes no such type."""
    from onnx import TensorProto

    numbers = {"float32": "FLOAT", "float16": "FLOAT16", "bfloat16": "BFLOAT16"}
    numbers |= {n: n.upper() for n in ("int4", "uint4", "int8", "uint8", "int16", "uint16")}
    if name not in numbers:
        raise Unsupported(f"QuantizeLinear takes no {name}")
    return int(TensorProto.DataType.Value(numbers[name]))
