"""LiteRT models that requantize: QUANTIZE of integers, or MUL, ADD or FULLY_CONNECTED that leaves the number as it is.

MUL multiplies by a quantized 1, ADD adds the quantized 0, FULLY_CONNECTED has one weight, 1. These are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.litert_schema import one_operator, schema_object, schema_tensor
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tflite_requantize import (
    ADD,
    DOUBLE,
    FULLY_CONNECTED,
    ID,
    MUL,
    QUANTIZE,
    REAL,
)
from tiebreak.golden.problem import Array

SAME = (
    "QUANTIZE of integers, MUL by 1, ADD of 0, FULLY_CONNECTED with weight 1: what LiteRT's specification says "
    "quantized numbers stand for; it does not promise bits"
)
OPTIONS = {ADD: "AddOptions", MUL: "MulOptions", FULLY_CONNECTED: "FullyConnectedOptions"}
PARAMETERS = 4  # two scales and two zero points


def refuse(node: Node) -> None:
    """Raise Unsupported for attributes that no model can hold."""
    name = node.value("through")
    if unknown := [key for key in node.attributes if key not in ("rounding", "through")]:
        raise Unsupported(f"{name} has no {', '.join(unknown)}")
    if name not in (QUANTIZE, *OPTIONS):
        raise Unsupported(f"no model requantizes through {name}")
    if (rounding := node.value("rounding")) not in (REAL, DOUBLE):
        raise Unsupported(f"{name} has no rounding {rounding}: a build of the kernels has one, {DOUBLE} by default")


def model_shape(node: Node, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of the model's input and output: a column for FULLY_CONNECTED."""
    if node.operator == ID and node.value("through") == FULLY_CONNECTED:
        return int(np.prod(shape)), 1
    return tuple(shape)


def packed(schema: Any, node: Node, shape: Sequence[int], parameters: Sequence[Array]) -> bytes:
    """The bytes of a model for an input of this shape."""
    if shapes := [list(one.shape) for one in parameters if one.shape]:
        raise Unsupported(f"LiteRT requantizes a whole tensor: one scale and zero point, not shape {shapes[0]}")
    if len(parameters) != PARAMETERS:
        raise Unsupported("LiteRT requantizes from a scale and zero point to a scale and zero point")
    name, held = node.value("through"), model_shape(node, shape)
    s_in, z_in, s_out, z_out = parameters
    x = schema_tensor(schema, node.input_type, held, quantization(schema, s_in, z_in))
    y = schema_tensor(schema, node.output_type, held, quantization(schema, s_out, z_out))
    operator = schema_object(schema.OperatorT)
    if name == QUANTIZE:
        return one_operator(schema, name, [x, y], operator)
    constant, scale, zero_point = second(node, s_in, z_in, len(held))
    other = schema_tensor(schema, constant.dtype.name, constant.shape, quantization(schema, scale, zero_point))
    operator.builtinOptionsType = getattr(schema.BuiltinOptions, OPTIONS[name])
    operator.builtinOptions = getattr(schema, f"{OPTIONS[name]}T")()
    if name == ADD:
        operator.builtinOptions.potScaleInt16 = False  # any scale, not powers of two alone
    return one_operator(schema, name, [x, y, other], operator, [constant])


def second(node: Node, scale: Array, zero_point: Array, rank: int) -> tuple[Array, Array, Array]:
    """The other operand, with its scale and zero point: 0 as the input has it, or 1."""
    through, own = node.value("through"), node.inputs[0].dtype
    if through == ADD:
        return np.full([1] * rank, zero_point, own), scale, zero_point
    kind = np.dtype(np.int8) if through == FULLY_CONNECTED and own == np.int16 else own
    return np.ones([1] * rank, kind), np.array(1, np.float32), np.array(0, np.int64)


def quantization(schema: Any, scale: Array, zero_point: Array) -> Any:
    return schema_object(
        schema.QuantizationParametersT,
        scale=scale.astype(np.float32).reshape(-1),
        zeroPoint=zero_point.astype(np.int64).reshape(-1),
    )
