"""What TensorFlow's uniform quantized operators share: attributes, parameters of one value or one for each slice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators.model import Attribute, parse_integer
from tiebreak.golden.operators.tensorflow_ranges import parse_axis
from tiebreak.golden.problem import Array, along, flat

WORD = INTEGER_TYPES["int32"]  # of zero points, and of the attributes' values


def parse_int32(value: Any) -> int:
    """An integer that int32 holds, which is how TensorFlow reads these attributes."""
    number = parse_integer(value)
    if not WORD.lowest <= number <= WORD.highest:
        raise ValueError(f"{value!r} is no int32")
    return number


def range_attributes(prefix: str = "", whose: str = "the output") -> tuple[Attribute, ...]:
    """quantization_min_val and quantization_max_val, under the operator's own names."""
    return (
        Attribute(f"{prefix}quantization_min_val", f"the least integer of {whose}", parse_int32, required=True),
        Attribute(f"{prefix}quantization_max_val", f"the greatest integer of {whose}", parse_int32, required=True),
    )


def axis_attribute(prefix: str = "") -> Attribute:
    text = "the dimension whose slices have scales and zero points of their own; -1 for none"
    return Attribute(f"{prefix}quantization_axis", text, parse_axis, default=-1)


def along_axis(operator: str, axis: int, shape: tuple[int, ...], parameters: Mapping[str, Array]) -> tuple[Array, ...]:
    """The codes of parameters for every element of an input of a shape, flat. InvalidInput where shapes don't fit."""
    if axis >= len(shape):
        raise InvalidInput(f"{operator}: axis {axis} outside an input of rank {len(shape)}")
    wanted = () if axis < 0 else (shape[axis],)
    for name, found in parameters.items():
        if found.shape != wanted:
            raise InvalidInput(
                f"{operator}: {name} has shape {list(found.shape)}; an input of shape {list(shape)} with axis {axis} "
                f"needs {list(wanted)}"
            )
    axes = () if axis < 0 else (axis,)
    return tuple(flat(along(found, axes, shape), shape) for found in parameters.values())


def is_range_of(kind: IntegerType, least: int, greatest: int) -> bool:
    """Whether all integers between two ends are of a type, and there is one."""
    return kind.lowest <= least <= greatest <= kind.highest
