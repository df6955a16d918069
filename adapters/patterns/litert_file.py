"""The bytes of a .tflite file of a graph, written with the schema module that ai-edge-litert ships."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from tiebreak.adapters.litert_schema import VERSION, bytes_of, schema_object, schema_tensor
from tiebreak.adapters.patterns.litert_graph import Graph, Held, LiteRtOperator

VALID = 1  # padding: none
WINDOW = {"padding": VALID, "strideW": 1, "strideH": 1}
POOL = {**WINDOW, "filterWidth": 2, "filterHeight": 1}
# The class of an operator's options, and the options that are not the schema's defaults.
OPTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "ADD": ("AddOptions", {"potScaleInt16": False}),  # any scale, not powers of two alone
    "SUB": ("SubOptions", {"potScaleInt16": False}),
    "MUL": ("MulOptions", {}),
    "MINIMUM": ("MaximumMinimumOptions", {}),
    "MAXIMUM": ("MaximumMinimumOptions", {}),
    "MAX_POOL_2D": ("Pool2DOptions", POOL),
    "AVERAGE_POOL_2D": ("Pool2DOptions", POOL),
    "MEAN": ("ReducerOptions", {"keepDims": True}),
    "CONCATENATION": ("ConcatenationOptions", {}),
    "RESIZE_BILINEAR": ("ResizeBilinearOptions", {"halfPixelCenters": True}),
    "RESIZE_NEAREST_NEIGHBOR": ("ResizeNearestNeighborOptions", {"halfPixelCenters": True}),
    "SOFTMAX": ("SoftmaxOptions", {"beta": 1.0}),
    "FULLY_CONNECTED": ("FullyConnectedOptions", {}),
    "BATCH_MATMUL": ("BatchMatMulOptions", {}),
    "CONV_2D": ("Conv2DOptions", {**WINDOW, "dilationWFactor": 1, "dilationHFactor": 1}),
}


def packed(graph: Graph) -> bytes:
    """The file. Unsupported if the schema lacks an element type."""
    import flatbuffers

    schema = import_module("ai_edge_litert.schema_py_generated")
    places = {name: place for place, name in enumerate(graph.tensors)}
    names = list(dict.fromkeys(operator.name for operator in graph.operators))
    subgraph = schema_object(
        schema.SubGraphT,
        tensors=[tensor(schema, held, place + 1) for place, held in enumerate(graph.tensors.values())],
        operators=[operator_of(schema, one, graph, names.index(one.name), places) for one in graph.operators],
        inputs=[places[name] for name in graph.inputs],
        outputs=[places[graph.output]],
    )
    buffers = [schema.BufferT(), *(buffer(schema, held) for held in graph.tensors.values())]
    codes = [code(schema, name) for name in names]
    model = schema_object(schema.ModelT, version=3, operatorCodes=codes, subgraphs=[subgraph], buffers=buffers)
    builder = flatbuffers.Builder(4096)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def code(schema: Any, name: str) -> Any:
    number = getattr(schema.BuiltinOperator, name)  # fits the byte of the older field too
    return schema_object(schema.OperatorCodeT, builtinCode=number, deprecatedBuiltinCode=number, version=VERSION)


def tensor(schema: Any, held: Held, place: int) -> Any:
    """A tensor with a buffer of its own, empty unless it is a constant."""
    parameters = None
    if held.pair is not None:
        scale, zero_point = np.array([held.pair.scale], np.float32), np.array([held.pair.zero_point], np.int64)
        parameters = schema_object(schema.QuantizationParametersT, scale=scale, zeroPoint=zero_point)
    made = schema_tensor(schema, held.type, held.shape, parameters)
    made.buffer = place
    return made


def buffer(schema: Any, held: Held) -> Any:
    return schema.BufferT() if held.constant is None else schema_object(schema.BufferT, data=bytes_of(held.constant))


def operator_of(schema: Any, one: LiteRtOperator, graph: Graph, number: int, places: Mapping[str, int]) -> Any:
    inputs, outputs = [places[name] for name in one.inputs], [places[one.output]]
    made = schema_object(schema.OperatorT, opcodeIndex=number, inputs=inputs, outputs=outputs)
    if one.name in OPTIONS:
        kind, fields = OPTIONS[one.name]
        made.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        made.builtinOptions = schema_object(getattr(schema, f"{kind}T"), **fields)
        if one.name == "CONCATENATION":
            made.builtinOptions.axis = graph.axis
        if one.activation != "NONE":
            made.builtinOptions.fusedActivationFunction = getattr(schema.ActivationFunctionType, one.activation)
    return made
