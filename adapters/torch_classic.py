"""torch's classic functions, which make quantized tensors: quantize_per_tensor and _per_channel, Tensor.dequantize.

torch has no public function that makes a quantized tensor from given integers. Its own code uses
_make_per_tensor_quantized_tensor and _make_per_channel_quantized_tensor, and so does this module.
"""

from __future__ import annotations

from typing import Any

from tiebreak.adapters.torch_calls import Call, linear_planners, number_argument, type_argument
from tiebreak.adapters.torch_linear import LinearArguments, planner
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

QUANTIZED = {"int8": "qint8", "uint8": "quint8", "int32": "qint32"}


def classic_quantize(library: Any, node: Node, of: LinearArguments) -> Call:
    kind, given = type_argument(library, QUANTIZED[node.output_type]), (of.x, of.scale, of.zero)
    if of.axis is None:
        return Call("quantize_per_tensor", (*given, kind), then="int_repr")
    return Call("quantize_per_channel", (*given, number_argument(of.axis), kind), then="int_repr")


def refuse_quantize(node: Node) -> None:
    check_quantized(node.output_type)


def check_quantized(kind: str) -> None:
    if kind not in QUANTIZED:
        raise Unsupported(f"torch's quantized dtypes are {', '.join(QUANTIZED.values())}, not {kind}")


def classic_dequantize(library: Any, node: Node, of: LinearArguments) -> Call:
    given = (of.x, of.scale, of.zero)
    if of.axis is None:
        return Call("_make_per_tensor_quantized_tensor", given, then="dequantize")
    return Call("_make_per_channel_quantized_tensor", (*given, number_argument(of.axis)), then="dequantize")


def refuse_dequantize(node: Node) -> None:
    if node.output_type != "float32":
        raise Unsupported(f"dequantize returns an fp32 Tensor, not {node.output_type}")
    check_quantized(node.input_type)


PLANNERS = linear_planners(
    planner(classic_quantize, refuse_quantize, "quantize_per_tensor and _per_channel", numbers=False),
    planner(classic_dequantize, refuse_dequantize, "Tensor.dequantize", numbers=True),
)
