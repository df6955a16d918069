"""An ONNX model as Python source that makes it with onnx.helper: for scripts that the runtimes' maintainers read."""

from __future__ import annotations

import re
from typing import Any

MODULES = ("ml_dtypes", "onnx", "onnxruntime", "openvino")
TYPE_ATTRIBUTES = ("to", "output_dtype", "precision")


def with_imports(source: str) -> str:
    """The source after the imports that it needs; the script has numpy already."""
    used = [f"import {name}" for name in MODULES if re.search(rf"\b{name}\.", source)]
    parts = [name for name in ("TensorProto", "helper", "numpy_helper") if re.search(rf"\b{name}\.", source)]
    used += [f"from onnx import {', '.join(parts)}"] if parts else []
    used += ["from onnx.reference import ReferenceEvaluator"] if "ReferenceEvaluator(" in source else []
    return "\n".join((*used, "", source))


def model_source(model: Any) -> str:
    """Source that assigns `model` an onnx.ModelProto equal to this one.

    An initializer is the array bound to its name, so that the script can bind it as it binds the inputs.
    """
    graph, opset = model.graph, model.opset_import[0].version
    constants = [f"numpy_helper.from_array({tensor.name}, {tensor.name!r})" for tensor in graph.initializer]
    return "\n".join(
        (
            listed("nodes", [node_source(node) for node in graph.node]),
            listed("inputs", [value_source(value) for value in graph.input]),
            listed("results", [value_source(value) for value in graph.output]),
            listed("constants", constants),
            f"graph = helper.make_graph(nodes, {graph.name!r}, inputs, results, constants)",
            f"opsets = [helper.make_opsetid('', {opset})]",
            f"model = helper.make_model(graph, opset_imports=opsets, ir_version={model.ir_version})",
        )
    ).replace("'", '"')


def listed(name: str, items: list[str]) -> str:
    """`name = [...]`, one item a line."""
    return f"{name} = [\n" + "".join(f"    {item},\n" for item in items) + "]" if items else f"{name} = []"


def fed_source(name: str, feeds: list[tuple[str, str]]) -> str:
    """`name = {...}`, arrays by the names of a model's inputs."""
    return f"{name} = {{\n" + "".join(f'    "{key}": {value},\n' for key, value in feeds) + "}"


def node_source(node: Any) -> str:
    from onnx import helper

    values = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    given = [f", {name}={attribute_source(name, value)}" for name, value in values.items()]
    return f"helper.make_node({node.op_type!r}, {list(node.input)}, {list(node.output)}{''.join(given)})"


def attribute_source(name: str, value: Any) -> str:
    return type_source(value) if name in TYPE_ATTRIBUTES and value else repr(value)


def value_source(value: Any) -> str:
    """A graph's input or output, its shape None where it is free."""
    kind = value.type.tensor_type
    shape = [size.dim_value for size in kind.shape.dim] if kind.HasField("shape") else None
    return f"helper.make_tensor_value_info({value.name!r}, {type_source(kind.elem_type)}, {shape})"


def type_source(number: int) -> str:
    from onnx import TensorProto

    return f"TensorProto.{TensorProto.DataType.Name(number)}"
