"""What QuantizeV2 and Dequantize share: documents, types, modes, and the ranges of a tensor's slices."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Answer, Contest
from tiebreak.golden.problem import Array, along, flat

QUANTIZE_API = "TensorFlow API documentation, QuantizeV2"
KERNEL = "TensorFlow 2.21, CPU kernel"
QUANTIZED_TYPES = ("int8", "uint8", "int16", "uint16", "int32")
RANGE_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


def laid_over(node: Node, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
    """Codes of the input and of its range's ends for every element, flat. InvalidInput for shapes that do not fit."""
    x, low, high = inputs
    axis = node.attributes.get("axis", -1)
    check_ranges(node.operator, axis, x.shape, {"min_range": low.shape, "max_range": high.shape})
    axes = () if axis < 0 else (axis,)
    return flat(x, x.shape), *(flat(along(end, axes, x.shape), x.shape) for end in (low, high))


def check_ranges(operator: str, axis: int, shape: tuple[int, ...], ranges: Mapping[str, tuple[int, ...]]) -> None:
    """InvalidInput unless the ranges are scalars without an axis, and of the axis's size with one."""
    if axis >= len(shape):
        raise InvalidInput(f"{operator}: axis {axis} outside an input of rank {len(shape)}")
    wanted = () if axis < 0 else (shape[axis],)
    for name, found in ranges.items():
        if found != wanted:
            raise InvalidInput(
                f"{operator}: {name} has shape {list(found)}; an input of shape {list(shape)} with axis {axis} "
                f"needs {list(wanted)}"
            )


def parse_axis(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < -1:
        raise ValueError(f"{value!r} is not an axis: 0, 1, … or -1 for none")
    return int(value)


def contest(
    id: str,
    question: str,
    clauses: tuple[str, ...],
    attributes: Mapping[str, Any],
    inputs: tuple[Any, ...],
    *answers: Answer,
    quantized: str = "uint8",
    **types: str,
) -> Contest:
    node = {**types, "quantized": quantized, "attributes": dict(attributes)}
    return Contest(id, question, clauses, node, inputs, answers)
