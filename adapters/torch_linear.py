"""What torch's classic and decomposed functions share: the nodes that they can express, and their arguments.

A scale that is a constant of the node goes to the overload that takes Python numbers; a scale that is an input goes to
the overload that takes tensors. Zero points are int64, as torch's own observers make them. Shapes and the axis are the
node's own, and torch judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import (
    check_axes_from_front,
    check_axis_in_operator_set,
    check_operator_set,
    check_output_type,
    check_zero_point_type,
)
from tiebreak.adapters.torch_calls import TYPES, Argument, Call, Plan, number_argument, tensor_argument
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_linear import is_one_for_all
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN


@dataclass(frozen=True)
class LinearArguments:
    """The inputs of a node as arguments. `axis` is None if the scale is per tensor; only then may `as_numbers` hold."""

    x: Argument
    scale: Argument
    zero: Argument  # 0 in the form of the scale, as ONNX says, if the node has no zero point: torch always wants one
    zero_or_none: Argument
    axis: int | None
    as_numbers: bool


QUANTIZE = "quantize_per_*: clamp(round(x / scale) + zero_point), ties to even"
DEQUANTIZE = "dequantize: (x - zero_point) * scale"
MAPS = {
    **dict.fromkeys(("onnx.QuantizeLinear", "ngraph.Quantize"), QUANTIZE),
    **dict.fromkeys(("onnx.DequantizeLinear", "ngraph.Dequantize"), DEQUANTIZE),
}
Build = Callable[[Any, Node, LinearArguments], Call]


def planner(
    build: Build, refuse: Callable[[Node], None], ways: str, *, numbers: bool, scale: str = ""
) -> Callable[[Any, Node], Plan]:
    """A planner. With `numbers`, a per-tensor scale is a Python float whether it is a constant or not.

    `scale` is the type of a scale's tensor if it is not the node's own; it must hold every value of that.
    The probe of an ONNX node has one scale.
    """

    def plan(library: Any, node: Node) -> Plan:
        check_affine(node)
        refuse(node)
        as_numbers = numbers or node.inputs[1].name in node.constants
        fixed = tensors_of(library, node, node.constants, scale)

        def call(*inputs: Array) -> Call:
            return build(library, node, operands_of(library, node, inputs, fixed, as_numbers, scale))

        probed = replace(node, attributes={k: v for k, v in node.attributes.items() if k != "axis"})
        probe = build(library, node, operands_of(library, probed, probe_inputs(node), {}, as_numbers, scale))
        return Plan(call, probe, f"{ways}, scale {'a number' if as_numbers else 'a tensor'}")

    return plan


def check_affine(node: Node) -> None:
    """Raise Unsupported unless the node rounds to nearest even with a per-tensor scale or one axis of scales."""
    if node.operator == "ngraph.Quantize" and node.round_mode != EVEN:
        raise Unsupported(f"torch has no {node.round_mode}, only round to nearest even")
    if unknown := set(node.attributes) - {"axis", "axes", "round_mode", "type", "output_dtype"}:
        raise Unsupported(f"torch has no {', '.join(sorted(unknown))}")
    for kind in kinds_of(node):
        if kind not in TYPES:
            raise Unsupported(f"torch makes no tensor of {kind}")
    check_operator_set(node, "torch")
    check_output_type(node, "torch")
    check_axes_from_front(node, "torch")
    check_zero_point_type(node, "torch")
    if len({kind for kind in kinds_of(node) if kind in FLOAT_TYPES or kind == "float8_e8m0fnu"}) > 1:
        raise Unsupported("torch does not say in which type it computes where the scale has a type of its own")


def kinds_of(node: Node) -> list[str]:
    return [str(tensor.dtype.name) for tensor in (*node.inputs, *node.outputs)]


def operands_of(
    library: Any,
    node: Node,
    inputs: tuple[Array, ...],
    fixed: Mapping[str, Argument],
    as_numbers: bool,
    kind: str,
) -> LinearArguments:
    """The inputs as torch's arguments; `fixed` holds the tensors made when the node was compiled.

    `kind` is the type of a scale's tensor, empty for the node's own.
    """
    given = dict(zip((tensor.name for tensor in node.inputs), inputs, strict=False))
    x, scale, *zero_point = given
    for name in zero_point:
        check_integral(given[name])
    axis = scale_axis(node, given[x], given[scale])
    as_numbers = as_numbers and axis is None
    by_value = {scale, *zero_point} if as_numbers else set()
    free = {name: array for name, array in given.items() if name not in fixed and name not in by_value}
    made = {**fixed, **tensors_of(library, node, free, kind)}
    if as_numbers:
        check_single(node, {name: given[name].shape for name in (scale, *zero_point)})
        made[scale] = Argument(float(given[scale].item()), f"float({scale}.item())")
        made |= {name: Argument(int(given[name].item()), f"int({name}.item())") for name in zero_point}
    absent = number_argument(0) if as_numbers else zeros(library, given[scale].shape)
    zero, zero_or_none = (made[name] for name in zero_point * 2) if zero_point else (absent, number_argument(None))
    return LinearArguments(made[x], made[scale], zero, zero_or_none, axis, as_numbers)


def check_single(node: Node, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise Unsupported for what is no number. In ONNX a shape of [1] may stand for one, in nGraph not."""
    numbers = ((), (1,)) if node.operator.startswith("onnx.") else ((),)
    for name, shape in shapes.items():
        if shape not in numbers:
            raise Unsupported(f"torch takes {name} as a number here, not in the shape {list(shape)}")


def zeros(library: Any, shape: tuple[int, ...]) -> Argument:
    return Argument(library.zeros(shape, dtype=library.int64), f"torch.zeros({shape}, dtype=torch.int64)")


def tensors_of(library: Any, node: Node, arrays: Mapping[str, Array], scale: str) -> dict[str, Argument]:
    """Tensor arguments by input name; a zero point becomes int64, a scale the type `scale` if one is named."""
    kinds = {node.inputs[1].name: scale} | {tensor.name: "int64" for tensor in node.inputs[2:]}
    return {name: tensor_argument(library, name, array, kinds.get(name, "")) for name, array in arrays.items()}


def check_integral(zero_point: Array) -> None:
    values = zero_point.astype(np.float64)  # which holds every integer of 32 bits and every small float
    if not np.all(np.isfinite(values) & (values == np.trunc(values))):
        raise Unsupported("torch's zero_point is an integer")


def scale_axis(node: Node, x: Array, scale: Array) -> int | None:
    """The axis along which the scale varies, as the node has it; None if it is per tensor."""
    if node.operator.startswith("ngraph."):
        axes = node.attributes.get("axes", ())
        return int(axes[0]) if axes else None
    if not is_one_for_all(node.attributes, x.shape, scale.shape):
        check_axis_in_operator_set(node, "torch")
        return int(node.value("axis"))
    if "axis" in node.attributes:
        raise Unsupported("torch has no axis for one scale")
    return None


def probe_inputs(node: Node) -> tuple[Array, ...]:
    """Inputs of one element each: x and zero point 0, scale 1."""
    axes = node.attributes.get("axes", ())
    x, scale, *zero_point = (tensor.dtype for tensor in node.inputs)
    shape = (1,) if axes else ()
    zeros = [np.zeros(shape).astype(dtype) for dtype in zero_point]
    return np.zeros((1,) * (axes[0] + 1 if axes else 1)).astype(x), np.ones(shape).astype(scale), *zeros
