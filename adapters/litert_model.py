"""LiteRT models of one operator: .tflite flatbuffers, written with the schema module that ai-edge-litert ships.

In a model the scale, the zero point and the axis are constants of a tensor, its quantization. The limits of FAKE_QUANT
are constants too, options of the operator. So a model serves one set of them and one shape.

CAST takes no attributes. From a float it truncates to an integer of 2 or 4 bits and clamps; of float 8 types the schema
has two and the kernel none.

LiteRT's 8-bit quantization specification says real = (q - zero_point) * scale, per tensor or along one
quantized_dimension. It names no rounding rule for QUANTIZE. Sources: "LiteRT 8-bit quantization specification", and the
MLIR dialect 'tfl', operations quantize, dequantize, fake_quant and cast.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import (
    UNSATURATED,
    check_axes_from_front,
    check_axis_in_operator_set,
    check_cast,
    check_operator_set,
    check_output_type,
    check_scale_has_axes,
    check_zero_point_type,
)
from tiebreak.adapters.litert_requantize import SAME, model_shape
from tiebreak.adapters.litert_requantize import packed as packed_requantization
from tiebreak.adapters.litert_requantize import refuse as refuse_requantization
from tiebreak.adapters.litert_schema import one_operator, schema_object, schema_tensor
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import onnx_cast, tflite_requantize
from tiebreak.golden.operators.onnx_linear import is_one_for_all
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

OPERATIONS = {
    "onnx.QuantizeLinear": "QUANTIZE",
    "onnx.DequantizeLinear": "DEQUANTIZE",
    "ngraph.Quantize": "QUANTIZE",
    "ngraph.Dequantize": "DEQUANTIZE",
    "tensorflow.FakeQuantWithMinMaxVars": "FAKE_QUANT",
    onnx_cast.ID: "CAST",
    tflite_requantize.ID: "QUANTIZE",  # or what its attribute `through` says
}
# Why each is the same operation. LiteRT claims none of these documents: it has a specification of its own.
MAPS = {
    "onnx.QuantizeLinear": "QUANTIZE: by LiteRT's specification real = (q - zero_point) * scale; no rounding is named",
    "onnx.DequantizeLinear": "DEQUANTIZE: by LiteRT's specification real = (q - zero_point) * scale",
    "ngraph.Quantize": "QUANTIZE: by LiteRT's specification real = (q - zero_point) * scale; no rounding is named",
    "ngraph.Dequantize": "DEQUANTIZE: by LiteRT's specification real = (q - zero_point) * scale",
    "tensorflow.FakeQuantWithMinMaxVars": "FAKE_QUANT: what LiteRT's converter makes of this TensorFlow operator",
    onnx_cast.ID: "CAST: each number converted to the type; no rounding is named",
    tflite_requantize.ID: SAME,
}
# The type attributes repeat the output's type.
UNDERSTOOD = ("axis", "axes", "round_mode", "type", "output_dtype", "num_bits", "narrow_range")
QUANTIZED = ("QUANTIZE", "DEQUANTIZE")  # operators whose parameters are a tensor's quantization
SCALES = ("float32", "float16", "bfloat16")  # float32 holds every value of these
CARRIERS = {"int4": "int8", "uint4": "uint8", "int2": "int8"}  # the array types in which LiteRT's API holds these
INTEGERS_IN = ("int8", "uint8", "int16", "uint16", "int32")


def refuse_node(node: Node) -> None:
    """Raise Unsupported for a node that is not exactly one of the operators, whatever its inputs."""
    if operation(node) == "CAST":
        check_cast(node, "LiteRT", UNSATURATED)
    elif node.operator == tflite_requantize.ID:
        refuse_requantization(node)
    else:
        refuse_quantization(node)
    if node.inputs[0].name in node.constants:
        raise Unsupported(f"{operation(node)} of a constant {node.inputs[0].name}: only its parameters are constants")


def refuse_quantization(node: Node) -> None:
    """The same for the three operators that have parameters."""
    name = operation(node)
    if unknown := [key for key in node.attributes if key not in UNDERSTOOD]:
        raise Unsupported(f"{name} has no {', '.join(unknown)}")
    if node.round_mode not in ("", EVEN):
        raise Unsupported(f"{name} has no {node.round_mode}: no rule is documented, ties to even are expected")
    if name == "QUANTIZE" and node.input_type in INTEGERS_IN:
        raise Unsupported("QUANTIZE of an integer tensor is another operation: it rescales")
    if name != "FAKE_QUANT":
        refuse_parameters(node)


def refuse_parameters(node: Node) -> None:
    """Raise Unsupported for a scale, zero point, axis or type that a tensor's quantization can't hold."""
    check_operator_set(node, "LiteRT")
    check_output_type(node, "LiteRT")
    check_axes_from_front(node, "LiteRT")
    check_zero_point_type(node, "LiteRT")
    real = node.inputs[0] if operation(node) == "QUANTIZE" else node.outputs[0]
    scale = str(node.inputs[1].dtype.name)
    if scale not in SCALES:
        raise Unsupported(f"a scale is float32, which doesn't hold every {scale}")
    if scale != real.dtype.name:
        raise Unsupported(f"a scale has no type of its own in LiteRT: {scale} beside {real.dtype.name}")


def operation(node: Node) -> str:
    """The operator's name in LiteRT's schema."""
    if node.operator not in OPERATIONS:
        raise Unsupported(f"LiteRT has no {node.operator}; what it is run for: {', '.join(sorted(OPERATIONS))}")
    return str(node.value("through")) if node.operator == tflite_requantize.ID else OPERATIONS[node.operator]


def has_axis(node: Node) -> bool:
    """Whether its parameters may lie along an axis."""
    return operation(node) in QUANTIZED and node.operator != tflite_requantize.ID


def tflite_model(
    node: Node, shape: Sequence[int], parameters: Sequence[Array], schema: str = "ai_edge_litert.schema_py_generated"
) -> bytes:
    """The bytes of a model of the node, for a first input of this shape; `parameters` become constants.

    `schema` names the module of the classes that are written.
    """
    return packed(import_module(schema), node, shape, parameters)


def packed(schema: Any, node: Node, shape: Sequence[int], parameters: Sequence[Array]) -> bytes:
    if node.operator == tflite_requantize.ID:
        return packed_requantization(schema, node, shape, parameters)
    name = operation(node)
    quantization = quantization_parameters(schema, node, shape, parameters) if name in QUANTIZED else None
    x = schema_tensor(schema, node.input_type, shape, quantization if name == "DEQUANTIZE" else None)
    y = schema_tensor(schema, node.output_type, shape, quantization if name == "QUANTIZE" else None)
    operator = schema_object(schema.OperatorT)
    if name == "FAKE_QUANT":
        operator.builtinOptionsType = schema.BuiltinOptions.FakeQuantOptions
        operator.builtinOptions = fake_quant_options(schema, node, parameters)
    if name == "CAST":
        operator.builtinOptionsType = schema.BuiltinOptions.CastOptions
        operator.builtinOptions = schema_object(schema.CastOptionsT, inDataType=x.type, outDataType=y.type)
    return one_operator(schema, name, [x, y], operator)


def quantization_parameters(schema: Any, node: Node, shape: Sequence[int], parameters: Sequence[Array]) -> Any:
    """Scale, zero point and the axis as the node has it, which the runtime judges.

    The runtime refuses a scale without zero point, so one that is left off is 0, as its document says.
    """
    scale = parameters[0]
    zero_point = parameters[1] if len(parameters) > 1 else np.zeros(scale.shape, np.int64)
    refuse_shapes(node, tuple(shape), scale.shape, zero_point.shape)
    axis = axis_of(node, tuple(shape), scale.shape)
    return schema_object(
        schema.QuantizationParametersT,
        scale=scale.astype(np.float32).reshape(-1),
        zeroPoint=zero_point.astype(np.int64).reshape(-1),
        **({} if axis is None else {"quantizedDimension": axis}),
    )


def axis_of(node: Node, shape: tuple[int, ...], scale: tuple[int, ...]) -> int | None:
    """The node's axis; None if it has none and its scale is for the whole tensor."""
    if node.operator.startswith("ngraph."):
        axes = node.attributes.get("axes", ())
        return int(axes[0]) if axes else None
    if "axis" not in node.attributes and is_one_for_all(node.attributes, shape, scale):
        return None
    check_axis_in_operator_set(node, "LiteRT")
    return int(node.value("axis"))


def refuse_shapes(node: Node, shape: tuple[int, ...], scale: tuple[int, ...], zero_point: tuple[int, ...]) -> None:
    """Raise Unsupported for shapes that are lost in LiteRT's lists of scales and zero points.

    A list of one scale is for the whole tensor, whatever the axis.
    """
    check_scale_has_axes(node, scale, "LiteRT")
    if len(scale) > 1 or len(zero_point) > 1:
        both = f"{list(scale)} and {list(zero_point)}"
        raise Unsupported(f"LiteRT has lists of scales and zero points, not shapes {both}")
    if (scale, zero_point) == ((1,), ()):
        raise Unsupported("LiteRT can't be told of one scale in a list beside one zero point in none")
    axis = axis_of(node, shape, scale) if scale == (1,) else None
    if axis is not None and -len(shape) <= axis < len(shape) and shape[axis] != 1:
        raise Unsupported(f"in LiteRT one scale is for the whole tensor, not for an axis of size {shape[axis]}")


def fake_quant_options(schema: Any, node: Node, limits: Sequence[Array]) -> Any:
    """The limits and attributes. The schema's own num_bits is 0, so one that is left out is 8, as its document says."""
    if any(limit.shape for limit in limits):
        raise Unsupported(f"FAKE_QUANT has one min and one max, not shapes {[list(limit.shape) for limit in limits]}")
    narrow = {"narrowRange": node.attributes["narrow_range"]} if "narrow_range" in node.attributes else {}
    return schema_object(
        schema.FakeQuantOptionsT,
        min=float(limits[0]),
        max=float(limits[1]),
        numBits=node.value("num_bits"),
        **narrow,
    )


def model_source(node: Node, model: bytes, shape: Sequence[int]) -> str:
    """Python source that assigns `model` the bytes of a .tflite file."""
    lines = textwrap.wrap(base64.b64encode(model).decode(), 100)
    return MODEL.format(
        what=f"{operation(node)}, {node.input_type} {list(shape)} to {node.output_type}",
        inside=", ".join(tensor.name for tensor in node.inputs[1:]) or "none",
        model="\n".join(f'    "{line}"' for line in lines),
    )


def model_run_source(node: Node, inputs: Sequence[Array], resolver: str, threads: int) -> str:
    """Python source that runs the node's model on the array bound to its first input's name, and assigns `outputs`."""
    model = tflite_model(node, inputs[0].shape, inputs[1:])
    name, output, shape = node.inputs[0].name, node.output_type, inputs[0].shape
    reshaped = model_shape(node, shape) != shape
    return SOURCE.format(
        imports="import ml_dtypes\n" if output in CARRIERS else "",
        model=model_source(node, model, inputs[0].shape),
        x=given(node, name, shape),
        typed=f".astype(ml_dtypes.{output})" if output in CARRIERS else f".reshape({shape})" if reshaped else "",
        resolver=resolver,
        threads=threads,
    )


def given(node: Node, name: str, shape: tuple[int, ...]) -> str:
    """The array of this name as the interpreter takes it."""
    carried = f'.astype("{CARRIERS[node.input_type]}")' if node.input_type in CARRIERS else ""
    held = model_shape(node, shape)
    return name + carried + (f".reshape({held})" if held != shape else "")


MODEL = """\
# A .tflite file: {what}. Constants of it are: {inside}.
model = base64.b64decode(
{model}
)
"""
SOURCE = """
import base64

import ai_edge_litert
{imports}from ai_edge_litert.interpreter import Interpreter, OpResolverType

{model}resolver = OpResolverType.{resolver}
interpreter = Interpreter(model_content=model, num_threads={threads}, experimental_op_resolver_type=resolver)
interpreter.allocate_tensors()
# The call.
interpreter.set_tensor(0, {x})
interpreter.invoke()
outputs = (interpreter.get_tensor(1){typed},)
library = f"ai-edge-litert {{ai_edge_litert.__version__}}, OpResolverType.{resolver}"
"""
