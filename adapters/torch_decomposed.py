"""torch.ops.quantized_decomposed: plain tensors in and out, the form in which quantized programs are exported.

quant_min and quant_max are the ends of the quantized type. Importing the module below registers the operators.
"""

from __future__ import annotations

from typing import Any

from tiebreak.adapters.torch_calls import Argument, Call, linear_planners, number, type_argument
from tiebreak.adapters.torch_linear import LinearArguments, planner
from tiebreak.golden.elements import SMALL_FLOAT_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

MODULE = "torch.ao.quantization.fx._decomposed"
DECOMPOSED = "ops.quantized_decomposed"


def quantize(library: Any, node: Node, of: LinearArguments) -> Call:
    given, limits = (of.x, of.scale, of.zero), limits_of(library, node.output_type)
    if of.axis is None:
        return Call(f"{DECOMPOSED}.quantize_per_tensor.{overload(of)}", (*given, *limits))
    return Call(f"{DECOMPOSED}.quantize_per_channel", (*given, number(of.axis), *limits))


def dequantize(library: Any, node: Node, of: LinearArguments) -> Call:
    limits, out = limits_of(library, node.input_type), {"out_dtype": type_argument(library, node.output_type)}
    if of.axis is None:
        given = (of.x, of.scale, of.zero, *limits)
        return Call(f"{DECOMPOSED}.dequantize_per_tensor.{overload(of)}", given, out)
    given = (of.x, of.scale, of.zero_or_none, number(of.axis), *limits)
    return Call(f"{DECOMPOSED}.dequantize_per_channel", given, out)


def overload(of: LinearArguments) -> str:
    return "default" if of.as_numbers else "tensor"


def limits_of(library: Any, kind: str) -> tuple[Argument, ...]:
    """quant_min, quant_max and dtype: the whole range of the type."""
    argument = type_argument(library, kind)
    info = (library.finfo if argument.value.is_floating_point else library.iinfo)(argument.value)
    return number(int(info.min)), number(int(info.max)), argument


def refuse_floats(node: Node) -> None:
    """Unsupported for a float output; what else quantize_per_* does not take it says itself."""
    if node.output_type in SMALL_FLOAT_TYPES:
        raise Unsupported(f"torch rounds to an integer before the cast to {node.output_type}, {node.operator} does not")


def takes_all(node: Node) -> None:
    """dequantize_per_* say themselves what they do not take."""


PLANNERS = linear_planners(
    planner(quantize, refuse_floats, "quantized_decomposed.quantize_per_*", numbers=False),
    planner(dequantize, takes_all, "quantized_decomposed.dequantize_*", numbers=False),
)
