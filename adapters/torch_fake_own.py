"""torch.fake_quantize_per_tensor_affine and torch.fake_quantize_per_channel_affine by their own docstrings.

A scale and a zero point that are constants of the node go to the overload of numbers, others to that of tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.torch_calls import Argument, Call, Plan, number_argument, tensor_argument
from tiebreak.adapters.torch_quantize import check_single
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import torch_fake_quantize_per_channel_affine, torch_fake_quantize_per_tensor_affine
from tiebreak.golden.problem import Array

ENDS = ("quant_min", "quant_max")


def per_tensor(library: Any, node: Node) -> Plan:
    check(node, set(ENDS))
    names = [tensor.name for tensor in node.inputs]
    numbers = set(names[1:]) <= set(node.constants)

    def call(x: Array, *parameters: Array) -> Call:
        given = tensors(library, names[:1], (x,))
        if numbers:
            check_single(names[1:], parameters)
            scale, zero_point = (array.item() for array in parameters)
            given += (
                Argument(float(scale), "float(scale.item())"),
                Argument(int(zero_point), "int(zero_point.item())"),
            )
        else:
            given += tensors(library, names[1:], parameters)
        return Call("fake_quantize_per_tensor_affine", (*given, *ends(node)))

    probe = call(np.zeros(1, node.inputs[0].dtype), *ones(node, ()))
    return Plan(call, probe, f"fake_quantize_per_tensor_affine, parameters as {'numbers' if numbers else 'tensors'}")


def per_channel(library: Any, node: Node) -> Plan:
    check(node, {"axis", "zero_point_type", *ENDS})
    axis, names = int(node.value("axis")), [tensor.name for tensor in node.inputs]

    def call(*inputs: Array) -> Call:
        given = (*tensors(library, names, inputs), number_argument(axis), *ends(node))
        return Call("fake_quantize_per_channel_affine", given)

    probe = call(np.zeros((1,) * (axis + 1), node.inputs[0].dtype), *ones(node, (1,)))
    return Plan(call, probe, "fake_quantize_per_channel_affine")


def check(node: Node, known: set[str]) -> None:
    if unknown := set(node.attributes) - known:
        raise Unsupported(f"torch's function has no {', '.join(sorted(unknown))}")
    if node.output_type != node.input_type:
        raise Unsupported(f"torch's function gives the type of its input, not {node.output_type}")


def ones(node: Node, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """A scale of 1, and the end of the domain that is next to 0 as the zero point."""
    low, high = (int(node.value(end)) for end in ENDS)
    point = min(max(0, low), high)
    scale, zero_point = (tensor.dtype for tensor in node.inputs[1:])
    return np.ones(shape, scale), np.full(shape, point).astype(zero_point)


def tensors(library: Any, names: list[str], arrays: tuple[Array, ...]) -> tuple[Argument, ...]:
    return tuple(tensor_argument(library, name, array) for name, array in zip(names, arrays, strict=True))


def ends(node: Node) -> tuple[Argument, ...]:
    return tuple(number_argument(int(node.value(end))) for end in ENDS)


PLANNERS = {
    torch_fake_quantize_per_tensor_affine.ID: per_tensor,
    torch_fake_quantize_per_channel_affine.ID: per_channel,
}
CLAIMS = {name: f"PyTorch's docstring of {name}, of the installed version" for name in PLANNERS}
