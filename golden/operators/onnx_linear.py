"""What QuantizeLinear and DequantizeLinear share: types and attributes by operator set, and the three granularities.

The tables are those of the operator schemas; types go by their ml_dtypes names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import Array, codes_of

DEFAULT_AXIS = 1
SAME = ("the other real type",)  # the scale's types, where the schema gives it the type of x or y

# The numbers that TensorProto gives to element types.
NUMBERS = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    10: "float16",
    11: "float64",
    12: "uint32",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
    27: "float6_e2m3fn",
    28: "float6_e3m2fn",
}


@dataclass(frozen=True)
class Version:
    """What one version of an operator allows: types of the wide side, the scale and the narrow side; attributes."""

    wide: tuple[str, ...]
    scale: tuple[str, ...]
    narrow: tuple[str, ...]
    attributes: tuple[str, ...]


def parse_type(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    """An element type by its ml_dtypes name or TensorProto's number, as its name."""

    def parse(value: Any) -> str:
        if value in (0, "") and not isinstance(value, bool):
            return ""  # the schema's default: not supplied
        name = NUMBERS.get(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if name not in allowed:
            raise ValueError(f"{value!r} is not one of {', '.join(allowed)}")
        return str(name)

    return parse


def parse_block_size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) < 1 << 63:
        raise ValueError(f"{value!r} is not a block size (1, 2, …; 0 for none)")
    return int(value)


def problem_with(
    version: Version, opset: int, wide: str, scale: str, narrow: str, attributes: Mapping[str, Any]
) -> str:
    """What a version does not allow, in one line; empty if it allows everything."""
    for name in attributes:
        if name not in version.attributes:
            return f"opset {opset} has no attribute {name!r}"
    for what, name, allowed in (("real", wide, version.wide), ("quantized", narrow, version.narrow)):
        if name not in allowed:
            return f"opset {opset} has no {what} type {name}; it has {', '.join(allowed)}"
    if version.scale == SAME and scale != wide:
        return f"opset {opset} wants a scale of type {wide}, not {scale}"
    if version.scale != SAME and scale not in version.scale:
        return f"opset {opset} has no scale of type {scale}; it has {', '.join(version.scale)}"
    return ""


def check_version(operator: str, versions: Mapping[int, Version], opset: int, *asked: Any) -> None:
    """InvalidInput unless the version of this operator set allows what is asked (see problem_with)."""
    if opset not in versions:
        known = ", ".join(map(str, versions))
        raise InvalidInput(f"{operator}: opset {opset} is none of its versions {known}")
    problem = problem_with(versions[opset], opset, *asked)
    if problem:
        raise InvalidInput(f"{operator}: {problem}")


def first_version(versions: Mapping[int, Version], *asked: Any) -> int:
    """The first operator set from 21 on that allows what is asked; the last one if none does."""
    recent = [opset for opset in versions if opset >= 21]
    return next((opset for opset in recent if not problem_with(versions[opset], opset, *asked)), recent[-1])


def check_axis(operator: str, axis: int, rank: int) -> int:
    """The axis counted from the front."""
    if not -rank <= axis < rank:
        raise InvalidInput(
            f"{operator}: the attribute axis is {axis}, but the first input's axes are {-rank} to {rank - 1}"
        )
    return axis % rank


def spread(operator: str, attributes: Mapping[str, Any], x: tuple[int, ...], scale: Array, zero_point: Array | None,
           opset: int) -> tuple[Array, Array | None]:  # fmt: skip
    """Codes of scale and zero point for every element of an input of shape `x`, flat.

    InvalidInput unless the scale is a scalar, has one axis' length, or one element for every block.
    """
    check_zero_point(operator, scale.shape, None if zero_point is None else zero_point.shape)
    own = scale.shape
    place = placed(operator, attributes, x, own, opset)
    if zero_point is None:
        return place(codes_of(scale)), None
    return place(codes_of(scale)), place(codes_of(zero_point).reshape(own))


def check_zero_point(operator: str, scale: tuple[int, ...], zero_point: tuple[int, ...] | None) -> None:
    """InvalidInput unless the zero point has the scale's shape.

    Beside a scalar scale, a zero point of shape [1] passes: ONNX's own node tests have such zero points.
    """
    if zero_point is not None and zero_point != scale and not (scale == () and zero_point == (1,)):
        raise InvalidInput(f"{operator}: zero point of shape {list(zero_point)}, scale {list(scale)}")


def is_one_for_all(attributes: Mapping[str, Any], x: tuple[int, ...], scale: tuple[int, ...]) -> bool:
    """Whether a scale of this shape serves the whole input: a scalar, or one element beside a 1-D input.

    With rank 1 per-tensor quantization is applied (axis attribute's text); ONNX Runtime's own tests have such scales.
    A node that names an axis, or blocks, is excluded (contested). `attributes` must hold no default values.
    """
    return scale == () or (scale == (1,) and len(x) == 1 and not {"axis", "block_size"} & set(attributes))


def placed(
    operator: str, attributes: Mapping[str, Any], x: tuple[int, ...], scale: tuple[int, ...], opset: int
) -> Callable[[Array], Array]:
    """The function that lays a parameter of shape `scale` over an input of shape `x`, flat."""
    block, axis = attributes.get("block_size", 0), attributes.get("axis", DEFAULT_AXIS)
    if is_one_for_all(attributes, x, scale):
        return lambda parameter: np.ascontiguousarray(np.broadcast_to(parameter.reshape(()), x)).reshape(-1)
    if opset < 13:
        raise InvalidInput(f"{operator}: scale of shape {list(scale)}; opset {opset} wants a scalar")
    if block:
        return in_blocks(operator, block, check_axis(operator, axis, len(x)), x, scale)
    if len(scale) != 1:
        raise InvalidInput(f"{operator}: scale of shape {list(scale)} without block_size; it needs [] or one axis")
    axis = check_axis(operator, axis, len(x))
    if scale != (x[axis],):
        raise InvalidInput(
            f"{operator}: scale of shape {list(scale)}; an input of shape {list(x)} with axis {axis} needs [] or "
            f"[{x[axis]}]"
        )
    kept = [size if i == axis else 1 for i, size in enumerate(x)]
    return lambda parameter: np.ascontiguousarray(np.broadcast_to(parameter.reshape(kept), x)).reshape(-1)


def in_blocks(
    operator: str, block: int, axis: int, x: tuple[int, ...], scale: tuple[int, ...]
) -> Callable[[Array], Array]:
    """Like `placed`, where each scale serves `block` neighbours along the axis, and the last one what is left."""
    wanted = tuple(-(-size // block) if i == axis else size for i, size in enumerate(x))
    if scale != wanted:
        raise InvalidInput(
            f"{operator}: scale of shape {list(scale)}; an input of shape {list(x)} in blocks of {block} along axis "
            f"{axis} needs {list(wanted)}"
        )
    index = np.arange(x[axis]) // min(block, max(x[axis], 1))
    return lambda parameter: np.ascontiguousarray(parameter.take(index, axis=axis)).reshape(-1)


def kind_named(name: str) -> Any:
    return ELEMENT_TYPES[name]
