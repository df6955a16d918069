"""torch.ops.quantized_decomposed: functions on plain tensors, as in exported quantized programs.

quant_min and quant_max are the ends of the quantized type. Importing the module below registers the operators.
"""

from __future__ import annotations

from typing import Any

from tiebreak.adapters.torch_calls import Argument, Call, linear_planners, number_argument, type_argument
from tiebreak.adapters.torch_linear import LinearArguments, planner
from tiebreak.golden.elements import SMALL_FLOAT_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

MODULE = "torch.ao.quantization.fx._decomposed"
DECOMPOSED = "ops.quantized_decomposed"


def decomposed_quantize(library: Any, node: Node, of: LinearArguments) -> Call:
    given, limits = (of.x, of.scale, of.zero), quantized_range(library, node.output_type)
    if of.axis is None:
        return Call(f"{DECOMPOSED}.quantize_per_tensor.{overload(of)}", (*given, *limits))
    return Call(f"{DECOMPOSED}.quantize_per_channel", (*given, number_argument(of.axis), *limits))


def decomposed_dequantize(library: Any, node: Node, of: LinearArguments) -> Call:
    limits, out = quantized_range(library, node.input_type), {"out_dtype": type_argument(library, node.output_type)}
    if of.axis is None:
        given = (of.x, of.scale, of.zero, *limits)
        return Call(f"{DECOMPOSED}.dequantize_per_tensor.{overload(of)}", given, out)
    given = (of.x, of.scale, of.zero_or_none, number_argument(of.axis), *limits)
    return Call(f"{DECOMPOSED}.dequantize_per_channel", given, out)


def overload(of: LinearArguments) -> str:
    return "default" if of.as_numbers else "tensor"


def quantized_range(library: Any, kind: str) -> tuple[Argument, ...]:
    """quant_min, quant_max and dtype: the whole range of the type."""
    argument = type_argument(library, kind)
    info = (library.finfo if argument.value.is_floating_point else library.iinfo)(argument.value)
    return number_argument(int(info.min)), number_argument(int(info.max)), argument


def refuse_floats(node: Node) -> None:
    """Raise Unsupported for a float output; for everything else that quantize_per_* refuses, it raises itself."""
    if node.output_type in SMALL_FLOAT_TYPES:
        raise Unsupported(f"torch rounds to an integer before the cast to {node.output_type}, {node.operator} does not")


def takes_all(node: Node) -> None:
    """Refuses nothing: dequantize_per_* raise for what they do not take."""


PLANNERS = linear_planners(
    planner(decomposed_quantize, refuse_floats, "quantized_decomposed.quantize_per_*", numbers=False),
    planner(decomposed_dequantize, takes_all, "quantized_decomposed.dequantize_*", numbers=False),
)
