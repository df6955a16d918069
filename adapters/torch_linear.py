"""What torch's classic and decomposed functions share: which nodes they can mean, and the inputs as their arguments.

A scale that is a constant of the node goes to the overload with Python numbers, one that is an input to the overload
with tensors. Zero points are int64, as torch's own observers make them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.adapters.torch_calls import TYPES, Argument, Call, Plan, number, tensor_argument
from tiebreak.golden.elements import FLOAT_TYPES, SMALL_FLOAT_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_linear import DEFAULT_AXIS, is_one_for_all
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN


@dataclass(frozen=True)
class LinearArguments:
    """The inputs of one node as arguments. `axis` is None for one scale for all; only then `as_numbers` may hold."""

    x: Argument
    scale: Argument
    zero: Argument  # of a node without a zero point, 0 in the form of the scale
    zero_or_none: Argument
    axis: int | None
    as_numbers: bool


Build = Callable[[Any, Node, LinearArguments], Call]


def planner(build: Build, refuse: Callable[[Node], None], ways: str, *, numbers: bool) -> Callable[[Any, Node], Plan]:
    """A maker of plans. `numbers`: one scale for all is a Python float, whether it is a constant or not."""

    def plan(library: Any, node: Node) -> Plan:
        check(node)
        refuse(node)
        as_numbers = numbers or node.inputs[1].name in node.constants
        fixed = tensors_of(library, node, node.constants)

        def call(*inputs: Array) -> Call:
            return build(library, node, operands_of(library, node, inputs, fixed, as_numbers))

        probe = build(library, node, operands_of(library, node, smallest(node), {}, as_numbers))
        return Plan(call, probe, f"{ways}, scale {'a number' if as_numbers else 'a tensor'}")

    return plan


def check(node: Node) -> None:
    """Unsupported for a node that is no affine quantization to nearest even with one scale or one axis of them."""
    if node.operator == "ngraph.Quantize" and node.round_mode != EVEN:
        raise Unsupported(f"torch has no {node.round_mode}, only round to nearest even")
    if len(node.attributes.get("axes", ())) > 1:
        raise Unsupported("torch has one axis of scales at most")
    known = {"axis", "axes", "round_mode", "type", "output_dtype"}
    for name, value in node.attributes.items():
        if name not in known and value not in (0, "") and not (name == "saturate" and value is True):
            raise Unsupported(f"torch has no {name}")
        if name == "saturate" and value is False and node.output_type in SMALL_FLOAT_TYPES:
            raise Unsupported("torch clamps to quant_min and quant_max: it has no saturate=False")
    unknown = [kind for kind in kinds_of(node) if kind not in TYPES]
    if unknown:
        raise Unsupported(f"torch makes no tensor of {unknown[0]}")
    if len({kind for kind in kinds_of(node) if kind in FLOAT_TYPES or kind == "float8_e8m0fnu"}) > 1:
        raise Unsupported("torch does not say in which type it computes where the scale has a type of its own")


def kinds_of(node: Node) -> list[str]:
    return [str(tensor.dtype.name) for tensor in (*node.inputs, *node.outputs)]


def operands_of(
    library: Any, node: Node, inputs: tuple[Array, ...], fixed: Mapping[str, Argument], as_numbers: bool
) -> LinearArguments:
    """`fixed` has the tensors that were made when the node was compiled."""
    given = dict(zip((tensor.name for tensor in node.inputs), inputs, strict=False))
    x, scale, *zero_point = given
    for name in zero_point:
        check_integral(given[name])
    axis = axis_of(node, given[x], given[scale])
    as_numbers = as_numbers and axis is None
    by_value = {scale, *zero_point} if as_numbers else set()
    free = {name: array for name, array in given.items() if name not in fixed and name not in by_value}
    made = {**fixed, **tensors_of(library, node, free)}
    if as_numbers:
        made[scale] = Argument(float(given[scale].item()), f"float({scale}.item())")
        made |= {name: Argument(int(given[name].item()), f"int({name}.item())") for name in zero_point}
    absent = number(0) if as_numbers else zeros(library, given[scale].shape)
    zero, zero_or_none = (made[name] for name in zero_point * 2) if zero_point else (absent, number(None))
    return LinearArguments(made[x], made[scale], zero, zero_or_none, axis, as_numbers)


def zeros(library: Any, shape: tuple[int, ...]) -> Argument:
    return Argument(library.zeros(shape, dtype=library.int64), f"torch.zeros({shape}, dtype=torch.int64)")


def tensors_of(library: Any, node: Node, arrays: Mapping[str, Array]) -> dict[str, Argument]:
    """Arguments by the names of inputs; a zero point becomes int64."""
    kinds = {tensor.name: "int64" for tensor in node.inputs[2:]}
    return {name: tensor_argument(library, name, array, kinds.get(name, "")) for name, array in arrays.items()}


def check_integral(zero_point: Array) -> None:
    values = zero_point.astype(np.float64)  # which holds every integer of 32 bits and every small float
    if not np.all(np.isfinite(values) & (values == np.trunc(values))):
        raise Unsupported("torch's zero_point is an integer")


def axis_of(node: Node, x: Array, scale: Array) -> int | None:
    """The axis, counted from the front, on which the scale varies; None for one scale for all."""
    if node.operator.startswith("ngraph."):
        axes = node.attributes.get("axes", ())
        return int(axes[0]) if axes else None
    if is_one_for_all(node.attributes, x.shape, scale.shape):
        return None
    axis = int(node.attributes.get("axis", DEFAULT_AXIS))
    if not -x.ndim <= axis < x.ndim or scale.ndim != 1:
        raise Unsupported("torch takes one scale or one for each index of an axis")
    return axis % x.ndim


def smallest(node: Node) -> tuple[Array, ...]:
    """Inputs of one element each: x and the zero point 0, the scale 1."""
    axes = node.attributes.get("axes", ())
    x, scale, *zero_point = (tensor.dtype for tensor in node.inputs)
    shape = (1,) if axes else ()
    zeros = [np.zeros(shape).astype(dtype) for dtype in zero_point]
    return np.zeros((1,) * (axes[0] + 1 if axes else 1)).astype(x), np.ones(shape).astype(scale), *zeros
