"""Shared testing of QuantizeLinear and DequantizeLinear: generated cases, mistakes and forbidden calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.conformance.judging.misplaced import ALL_MISPLACED, Misplace
from tiebreak.conformance.operators.forbidden_call import INT8, M22, M24, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import Axis, Cause
from tiebreak.conformance.operators.strategies import composite, st
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_linear import Version, problem_with
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, bits

Shape = tuple[int, ...]
AXIS = Axis("axis", block_attribute="block_size")


@composite
def scale_layouts(draw: st.DrawFn, rank: int | None) -> tuple[Shape, Shape, dict[str, Any]]:
    """Shapes of input and scale, and the attributes that spread the scale over the input."""
    low, high = (0, 4) if rank is None else (rank, rank)
    shape = tuple(draw(st.lists(st.integers(0, 5), min_size=low, max_size=high)))
    kind = draw(st.sampled_from(("tensor", "axis", "blocks"))) if shape else "tensor"
    if kind == "tensor":
        return shape, (), {}
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    attributes = {} if axis == 1 and draw(st.booleans()) else {"axis": axis}
    if kind == "axis":
        return shape, (shape[axis],), attributes
    size = draw(st.integers(1, 4))
    blocked = list(shape)
    blocked[axis] = -(-shape[axis] // size)
    return shape, tuple(blocked), attributes | {"block_size": size}


def opset_choice(usable: Sequence[int]) -> st.SearchStrategy[int]:
    """One of the usable opsets; older ones, which few nodes can have, are drawn more often."""
    return st.sampled_from([*usable, *(opset for opset in usable if opset < 19 for _ in range(8))])


def usable_opsets(
    versions: Mapping[int, Version], types: tuple[str, str, str], attributes: Mapping[str, Any], scale: Shape
) -> list[int]:
    """The opsets that allow a node of these types with a scale of this shape."""
    return [
        opset
        for opset, version in versions.items()
        if not problem_with(version, opset, *types, attributes) and (opset >= 13 or scale == ())
    ]


def parameter(draw: st.DrawFn, kind: str, codes: st.SearchStrategy[int], shape: Shape) -> Tensor:
    """A tensor that repeats a few drawn codes in turn."""
    drawn = draw(st.lists(codes, min_size=1, max_size=4))
    return bits(kind, [drawn[i % len(drawn)] for i in range(math.prod(shape))], shape)


def any_code(name: str, *, specials: bool) -> st.SearchStrategy[int]:
    """Codes of an element type, often the ends of its range; NaN and infinities only with `specials`."""
    kind = ELEMENT_TYPES[name]
    if isinstance(kind, IntegerType):
        ends = st.sampled_from((kind.lowest, kind.highest, max(0, kind.lowest)))
        return st.one_of(ends, st.integers(kind.lowest, kind.highest))
    every = st.integers(0, (1 << kind.bits) - 1)
    return every if specials else every.filter(lambda code: is_finite(code, kind))


def is_finite(code: int, kind: FloatType) -> bool:
    magnitude = code if kind.specials == "e8m0" else code & ~(1 << (kind.bits - 1))
    return not kind.is_nan(code) and magnitude <= kind.largest_bits


def scale_codes(name: str, *, specials: bool) -> st.SearchStrategy[int]:
    """Codes of a scale: mostly of moderate size, sometimes arbitrary."""
    kind = ELEMENT_TYPES[name]
    if isinstance(kind, IntegerType):
        return st.one_of(st.integers(1, 9), any_code(name, specials=specials))
    if kind.specials == "e8m0":
        return st.one_of(st.integers(kind.bias - 8, kind.bias + 8), any_code(name, specials=specials))
    top = 1 << (kind.precision - 1)
    moderate = st.tuples(st.integers(-8, 8), st.integers(0, top - 1)).map(lambda p: (p[0] + kind.bias) * top + p[1])
    simple = st.sampled_from(
        (kind.bias * top, (kind.bias + 1) * top, (kind.bias - 1) * top, kind.bias * top + top // 2)
    )
    return st.one_of(simple, moderate, any_code(name, specials=specials))


# How mistakes spread parameters over the input.


def spread_over_input(node: Node, parameter: Array, shape: Shape, how: str = "") -> Array:
    """A parameter in the input's shape. `how` is a mistake: "first" (for all), "axis" (another), a key of BLOCKS or
    the number of an entry of HOW_MISPLACED.

    NotImplementedError where the mistake makes no difference.
    """
    if parameter.size == 1 or how == "first":
        return np.broadcast_to(parameter.reshape(-1)[:1].reshape(()), shape)
    if not how.isdecimal():
        return spread_along(node, parameter, shape, how)
    index = spread_along(node, np.arange(parameter.size).reshape(parameter.shape), shape, "")
    return parameter.reshape(-1)[HOW_MISPLACED[int(how)](index, parameter.size)]


def spread_along(node: Node, parameter: Array, shape: Shape, how: str) -> Array:
    axis = int(node.attributes.get("axis", 1)) % len(shape)
    size = int(node.attributes.get("block_size", 0))
    if how == "axis":
        axis = (axis + 1) % len(shape)
    if not size:
        if how in BLOCKS:
            raise NotImplementedError
        kept = [length if i == axis else 1 for i, length in enumerate(shape)]
        return np.broadcast_to(parameter.reshape(kept), shape)
    count = parameter.shape[axis]
    index = BLOCKS.get(how, block_of)(np.arange(shape[axis]), size, count)
    if index.max(initial=0) >= count:  # beyond the last block there are zeros
        parameter = np.concatenate([parameter, np.zeros_like(parameter.take([0], axis=axis))], axis=axis)
    return np.broadcast_to(parameter.take(np.minimum(index, count), axis=axis), shape)


def block_of(at: Array, size: int, count: int) -> Array:
    return np.asarray(at // size)


# The block of each place along the axis, of its size and their number, as usual mistakes have it.
BLOCKS: dict[str, Callable[[Array, int, int], Array]] = {
    "blocks-in-turn": lambda at, size, count: at % count,
    "blocks-one-longer": lambda at, size, count: at // (size + 1),
    "last-block-joined": lambda at, size, count: np.minimum(at // size, max(at.size // size - 1, 0)),
    "blocks-even": lambda at, size, count: at // max(at.size // count, 1) % count,
    "blocks-start-early": lambda at, size, count: np.clip((at + 1) // size, 0, count - 1),
    "blocks-start-late": lambda at, size, count: np.clip((at - 1) // size, 0, count - 1),
    "blocks-one-shorter": lambda at, size, count: np.clip(at // max(size - 1, 1), 0, count - 1),
    "previous-block": lambda at, size, count: np.clip(at // size - 1, 0, count - 1),
    "last-block-never": lambda at, size, count: np.minimum(at // size, max(count - 2, 0)),
    "first-block-for-all": lambda at, size, count: 0 * at,
    "short-last-block-makes-all-one": lambda at, size, count: at if at.size % size else at // size,
}
HOW_MISPLACED: tuple[Misplace, ...] = tuple(place for _, *places in ALL_MISPLACED for place in places)
# Causes with the mistakes that they make with the scale and with the zero point.
PARAMETER_MISTAKES: tuple[tuple[Cause, str, str], ...] = (
    *((Cause(key, "blocks"), key, key) for key in BLOCKS),
    (Cause("one-for-all:scale and zero point", "projection"), "first", "first"),
    (Cause("one-for-all:scale", "projection"), "first", ""),
    (Cause("one-for-all:zero point", "projection"), "", "first"),
    (Cause("scale-on-another-axis", "axis"), "axis", "axis"),
    *((Cause(key, "projection"), str(2 * n), str(2 * n + 1)) for n, (key, *_) in enumerate(ALL_MISPLACED)),
)


def forbidden_linear_calls(prefix: str) -> tuple[ForbiddenCall, ...]:
    """The calls that both documents forbid; `prefix` is that of the operator's clause ids."""

    def node(**attributes: Any) -> dict[str, Any]:
        return {**INT8, "attributes": attributes}

    old = {"quantized": "int4", "attributes": {"axis": 0}}
    blocks = (M24, (2, 3), (2, 3))
    short_of_one, sizes = (M24, (2, 1), (2, 1)), (M24, (2, 2), (2, 2))
    return (
        ForbiddenCall(f"{prefix}-B1", "a scalar scale with block_size 2", (M24, S, S), node(axis=1, block_size=2)),
        ForbiddenCall(f"{prefix}-B1", "a 1-D scale with block_size 2", (M24, V2, V2), node(axis=1, block_size=2)),
        ForbiddenCall(f"{prefix}-B1", "1 block of 2 in an axis of size 4", short_of_one, node(axis=1, block_size=2)),
        ForbiddenCall(
            f"{prefix}-B1", "block_size -1", sizes, node(axis=1, block_size=2), {"block_size": -1, "axis": 1}
        ),
        ForbiddenCall(f"{prefix}-B1", "blocks in two axes", (M24, (1, 2), (1, 2)), node(axis=1, block_size=2)),
        ForbiddenCall(f"{prefix}-A1", "blocks in axis 2 of an input with two", sizes, node(axis=2, block_size=2)),
        ForbiddenCall(f"{prefix}-A1", "blocks in axis -3 of an input with two", sizes, node(axis=-3, block_size=2)),
        ForbiddenCall(f"{prefix}-G2", "1 scale for an axis of size 2", (M22, (1,), (1,)), node(axis=0)),
        ForbiddenCall(f"{prefix}-G1", "a 2 by 2 scale without block_size", (M22, M22, M22), node(axis=0)),
        ForbiddenCall(f"{prefix}-A1", "axis 2 of an input with two axes", (M22, V2, V2), node(axis=2)),
        ForbiddenCall(f"{prefix}-A1", "axis -3 of an input with two axes", (M22, V2, V2), node(axis=-3)),
        ForbiddenCall(f"{prefix}-G2", "3 scales for an axis of size 2", (M22, V3, V3), node(axis=0)),
        ForbiddenCall(f"{prefix}-G3", "2 scales and one zero point", (M22, V2, S), node(axis=0)),
        ForbiddenCall(f"{prefix}-G3", "one scale and 2 zero points", (M22, S, V2), node(axis=0)),
        ForbiddenCall(f"{prefix}-B1", "3 blocks of 2 in an axis of size 4", blocks, node(axis=1, block_size=2)),
        ForbiddenCall(f"{prefix}-V1", "int4 before operator set 21", (M22, S, S), old, opset=13),
    )
