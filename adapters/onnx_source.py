"""ONNX models as Python source that builds them with onnx.helper, for scripts that maintainers of runtimes read."""

from __future__ import annotations

import re
from typing import Any

from tiebreak.adapters.onnx_models import TYPE_ATTRIBUTES, OnnxNode

MODULES = ("ml_dtypes", "onnx", "onnxruntime", "openvino")


def with_imports(source: str) -> str:
    """The source with the imports that it needs; scripts import numpy themselves."""
    used = [f"import {name}" for name in MODULES if re.search(rf"\b{name}\.", source)]
    parts = [name for name in ("TensorProto", "helper", "numpy_helper") if re.search(rf"\b{name}\.", source)]
    used += [f"from onnx import {', '.join(parts)}"] if parts else []
    used += ["from onnx.reference import ReferenceEvaluator"] if "ReferenceEvaluator(" in source else []
    return "\n".join((*used, "", source))


def model_source(model: Any) -> str:
    """Source that assigns `model` an onnx.ModelProto equal to this one.

    Each initializer is the array bound to its name; the script binds it like an input.
    """
    graph = model.graph
    opsets = [f"helper.make_opsetid({opset.domain!r}, {opset.version})" for opset in model.opset_import]
    constants = [f"numpy_helper.from_array({tensor.name}, {tensor.name!r})" for tensor in graph.initializer]
    return "\n".join(
        (
            list_source("nodes", [node_source(node) for node in graph.node]),
            list_source("inputs", [value_info_source(value) for value in graph.input]),
            list_source("results", [value_info_source(value) for value in graph.output]),
            list_source("constants", constants),
            f"graph = helper.make_graph(nodes, {graph.name!r}, inputs, results, constants)",
            f"opsets = [{', '.join(opsets)}]",
            f"model = helper.make_model(graph, opset_imports=opsets, ir_version={model.ir_version})",
        )
    ).replace("'", '"')


def list_source(name: str, items: list[str]) -> str:
    """`name = [...]`, one item per line."""
    return f"{name} = [\n" + "".join(f"    {item},\n" for item in items) + "]" if items else f"{name} = []"


def names_source(written: OnnxNode) -> str:
    """The list of the outputs' names."""
    return str(written.outputs).replace("'", '"')


def fed_source(name: str, feeds: list[tuple[str, str]]) -> str:
    """`name = {...}`: arrays by the names of the model's inputs."""
    return f"{name} = {{\n" + "".join(f'    "{key}": {value},\n' for key, value in feeds) + "}"


def node_source(node: Any) -> str:
    from onnx import helper

    values = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    given = [f", {name}={attribute_source(name, value)}" for name, value in values.items()]
    given += [f", domain={node.domain!r}"] if node.domain else []
    return f"helper.make_node({node.op_type!r}, {list(node.input)}, {list(node.output)}{''.join(given)})"


def attribute_source(name: str, value: Any) -> str:
    if isinstance(value, bytes):
        return repr(value.decode())
    return type_source(value) if name in TYPE_ATTRIBUTES and value else repr(value)


def value_info_source(value: Any) -> str:
    """Source of a graph's input or output; a free shape, or a free size in one, is None."""
    kind = value.type.tensor_type
    sizes = [size.dim_value if size.HasField("dim_value") else None for size in kind.shape.dim]
    shape = sizes if kind.HasField("shape") else None
    return f"helper.make_tensor_value_info({value.name!r}, {type_source(kind.elem_type)}, {shape})"


def type_source(number: int) -> str:
    from onnx import TensorProto

    return f"TensorProto.{TensorProto.DataType.Name(number)}"
