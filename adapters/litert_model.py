"""LiteRT models of one operator: .tflite flatbuffers, written with the schema module that ai-edge-litert ships.

In a model the scale, the zero point and the axis are constants of a tensor, its quantization. The limits of FAKE_QUANT
are constants too, options of the operator. So a model serves one set of them and one shape.

LiteRT's 8-bit quantization specification says real = (q - zero_point) * scale, per tensor or along one
quantized_dimension. It names no rounding rule for QUANTIZE. Sources: "LiteRT 8-bit quantization specification", and the
MLIR dialect 'tfl', operations quantize, dequantize and fake_quant.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

OPERATIONS = {
    "onnx.QuantizeLinear": "QUANTIZE",
    "onnx.DequantizeLinear": "DEQUANTIZE",
    "ngraph.Quantize": "QUANTIZE",
    "ngraph.Dequantize": "DEQUANTIZE",
    "tensorflow.FakeQuantWithMinMaxVars": "FAKE_QUANT",
}
# Why each is the same operation. LiteRT claims none of these documents: it has a specification of its own.
MAPS = {
    "onnx.QuantizeLinear": "QUANTIZE: by LiteRT's specification real = (q - zero_point) * scale; no rounding is named",
    "onnx.DequantizeLinear": "DEQUANTIZE: by LiteRT's specification real = (q - zero_point) * scale",
    "ngraph.Quantize": "QUANTIZE: by LiteRT's specification real = (q - zero_point) * scale; no rounding is named",
    "ngraph.Dequantize": "DEQUANTIZE: by LiteRT's specification real = (q - zero_point) * scale",
    "tensorflow.FakeQuantWithMinMaxVars": "FAKE_QUANT: what LiteRT's converter makes of this TensorFlow operator",
}
# `saturate` is for float8 types, which QUANTIZE lacks; the type attributes repeat the output's type.
UNDERSTOOD = ("axis", "axes", "round_mode", "saturate", "type", "output_dtype", "num_bits", "narrow_range")
SCALES = ("float32", "float16", "bfloat16", "float8_e8m0fnu")  # float32 holds every value of these
CARRIERS = {"int4": "int8", "uint4": "uint8"}  # the array types in which LiteRT's API holds 4-bit types
INTEGERS_IN = ("int8", "uint8", "int16", "uint16", "int32")
VERSION = 1  # of the operator; the runtime has one kernel for all versions


def refuse_node(node: Node) -> None:
    """Raise Unsupported for a node that is not exactly one of the three operators, whatever its inputs."""
    name = operation(node)
    unknown = [key for key, value in node.attributes.items() if key not in UNDERSTOOD and value]
    if unknown:
        raise Unsupported(f"{name} has no {', '.join(unknown)}")
    if node.round_mode not in ("", EVEN):
        raise Unsupported(f"{name} has no {node.round_mode}: no rule is documented, ties to even are expected")
    if len(node.attributes.get("axes", ())) > 1:
        raise Unsupported(f"{name} has one quantized_dimension at most")
    if name == "QUANTIZE" and node.input_type in INTEGERS_IN:
        raise Unsupported("QUANTIZE of an integer tensor is another operation: it rescales")
    if name != "FAKE_QUANT" and node.inputs[1].dtype.name not in SCALES:
        raise Unsupported(f"a scale is float32, which doesn't hold every {node.inputs[1].dtype.name}")
    if node.inputs[0].name in node.constants:
        raise Unsupported(f"{name} of a constant {node.inputs[0].name}: only its parameters are constants here")


def operation(node: Node) -> str:
    """The operator's name in LiteRT's schema."""
    if node.operator not in OPERATIONS:
        raise Unsupported(f"LiteRT has no {node.operator}; what it is run for: {', '.join(sorted(OPERATIONS))}")
    return OPERATIONS[node.operator]


def tflite_model(node: Node, shape: Sequence[int], parameters: Sequence[Array]) -> bytes:
    """The bytes of a model of the node, for a first input of this shape; `parameters` become constants."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    name = operation(node)
    fake = name == "FAKE_QUANT"
    quantization = None if fake else quantization_parameters(schema, node, len(shape), parameters)
    x = schema_tensor(schema, node.input_type, shape, quantization if name == "DEQUANTIZE" else None)
    y = schema_tensor(schema, node.output_type, shape, quantization if name == "QUANTIZE" else None)
    number = getattr(schema.BuiltinOperator, name)  # fits the byte of the older field too
    code = schema_object(schema.OperatorCodeT, builtinCode=number, deprecatedBuiltinCode=number, version=VERSION)
    operator = schema_object(schema.OperatorT, inputs=[0], outputs=[1])
    if fake:
        operator.builtinOptionsType = schema.BuiltinOptions.FakeQuantOptions
        operator.builtinOptions = fake_quant_options(schema, node, parameters)
    graph = schema_object(schema.SubGraphT, tensors=[x, y], inputs=[0], outputs=[1], operators=[operator])
    model = schema_object(schema.ModelT, version=3, operatorCodes=[code], subgraphs=[graph], buffers=[schema.BufferT()])
    builder = flatbuffers.Builder(512)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def quantization_parameters(schema: Any, node: Node, rank: int, parameters: Sequence[Array]) -> Any:
    """Scale, zero point (0 if the node has none) and, unless the scale is a scalar, the axis counted from the front."""
    scale = parameters[0]
    zero_point = parameters[1] if len(parameters) > 1 else np.zeros(scale.shape)
    axis = next(iter(node.attributes.get("axes", ())), node.attributes.get("axis", 1))
    return schema_object(
        schema.QuantizationParametersT,
        scale=scale.astype(np.float32).reshape(-1),
        zeroPoint=zero_point.astype(np.int64).reshape(-1),
        quantizedDimension=int(axis) % rank if scale.ndim and rank else 0,
    )


def fake_quant_options(schema: Any, node: Node, limits: Sequence[Array]) -> Any:
    return schema_object(
        schema.FakeQuantOptionsT,
        min=float(limits[0]),
        max=float(limits[1]),
        numBits=int(node.attributes.get("num_bits", 8)),
        narrowRange=bool(node.attributes.get("narrow_range", False)),
    )


def schema_tensor(schema: Any, element_type: str, shape: Sequence[int], quantization: Any) -> Any:
    number = getattr(schema.TensorType, element_type.upper(), None)
    if number is None:
        raise Unsupported(f"LiteRT's schema has no {element_type}")
    return schema_object(schema.TensorT, shape=list(shape), type=number, hasRank=True, quantization=quantization)


def schema_object(kind: Any, **fields: Any) -> Any:
    """A schema object with these fields. Older releases take no fields in the constructor."""
    new = kind()
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def model_run_source(node: Node, inputs: Sequence[Array], resolver: str, threads: int) -> str:
    """Python source that runs the node's model on the array bound to its first input's name, and assigns `outputs`."""
    model = base64.b64encode(tflite_model(node, inputs[0].shape, inputs[1:])).decode()
    name, output = node.inputs[0].name, node.output_type
    return SOURCE.format(
        imports="import ml_dtypes\n" if output in CARRIERS else "",
        what=f"{operation(node)}, {node.input_type} {list(inputs[0].shape)} to {output}",
        inside=", ".join(tensor.name for tensor in node.inputs[1:]),
        model="\n".join(f'    "{line}"' for line in textwrap.wrap(model, 100)),
        x=name + (f'.astype("{CARRIERS[node.input_type]}")' if node.input_type in CARRIERS else ""),
        typed=f".astype(ml_dtypes.{output})" if output in CARRIERS else "",
        resolver=resolver,
        threads=threads,
    )


SOURCE = """
import base64

import ai_edge_litert
{imports}from ai_edge_litert.interpreter import Interpreter, OpResolverType

# A .tflite file: {what}. Constants of it are: {inside}.
model = base64.b64decode(
{model}
)
resolver = OpResolverType.{resolver}
interpreter = Interpreter(model_content=model, num_threads={threads}, experimental_op_resolver_type=resolver)
interpreter.allocate_tensors()
interpreter.set_tensor(0, {x})
interpreter.invoke()
outputs = (interpreter.get_tensor(1){typed},)
library = f"ai-edge-litert {{ai_edge_litert.__version__}}, OpResolverType.{resolver}"
"""
