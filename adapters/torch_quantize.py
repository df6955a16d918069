"""torch.quantize_per_tensor and torch.quantize_per_channel by their own document: the integers of int_repr.

A scale and a zero point that are constants of the node go to the overload of numbers, others to that of tensors. Zero
points are int64, as torch's own observers make them, unless they are floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.torch_calls import Argument, Call, Plan, number_argument, tensor_argument, type_argument
from tiebreak.adapters.torch_classic import QUANTIZED, check_quantized
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import torch_quantize_per_channel, torch_quantize_per_tensor
from tiebreak.golden.problem import Array


def per_tensor(library: Any, node: Node) -> Plan:
    check(node, set())
    numbers = {tensor.name for tensor in node.inputs[1:]} <= set(node.constants)

    def call(x: Array, scale: Array, zero_point: Array) -> Call:
        given = arguments(library, node, (x, scale, zero_point), numbers=numbers)
        return Call("quantize_per_tensor", (*given, dtype(library, node)), then="int_repr")

    probe = call(*(np.ones((), tensor.dtype) for tensor in node.inputs))
    return Plan(call, probe, f"quantize_per_tensor, scale {'a number' if numbers else 'a tensor'}")


def per_channel(library: Any, node: Node) -> Plan:
    check(node, {"axis", "zero_point_type"})
    axis = int(node.value("axis"))

    def call(x: Array, scales: Array, zero_points: Array) -> Call:
        given = arguments(library, node, (x, scales, zero_points), numbers=False)
        return Call("quantize_per_channel", (*given, number_argument(axis), dtype(library, node)), then="int_repr")

    x = np.ones((1,) * (axis + 1), node.inputs[0].dtype)
    probe = call(x, *(np.ones(1, tensor.dtype) for tensor in node.inputs[1:]))
    return Plan(call, probe, "quantize_per_channel")


def check(node: Node, known: set[str]) -> None:
    if unknown := set(node.attributes) - known:
        raise Unsupported(f"torch's function has no {', '.join(sorted(unknown))}")
    check_quantized(node.output_type)


def dtype(library: Any, node: Node) -> Argument:
    return type_argument(library, QUANTIZED[node.output_type])


def arguments(library: Any, node: Node, inputs: tuple[Array, ...], *, numbers: bool) -> tuple[Argument, ...]:
    names = [tensor.name for tensor in node.inputs]
    x = tensor_argument(library, names[0], inputs[0])
    if numbers:
        check_single(names[1:], inputs[1:])
        scale, zero_point = (array.item() for array in inputs[1:])
        return (
            x,
            Argument(float(scale), f"float({names[1]}.item())"),
            Argument(int(zero_point), f"int({names[2]}.item())"),
        )
    kind = "" if inputs[2].dtype.kind == "f" else "int64"
    return x, tensor_argument(library, names[1], inputs[1]), tensor_argument(library, names[2], inputs[2], kind)


def check_single(names: list[str], arrays: tuple[Array, ...]) -> None:
    for name, array in zip(names, arrays, strict=True):
        if array.shape:
            raise Unsupported(f"torch takes {name} as a number here, not in the shape {list(array.shape)}")


PLANNERS = {torch_quantize_per_tensor.ID: per_tensor, torch_quantize_per_channel.ID: per_channel}
CLAIMS = {
    name: f"PyTorch's docstring of {name} and its header ATen/quantized/Quantizer.h, of the installed version"
    for name in PLANNERS
}
