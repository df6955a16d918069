"""Which parameter belongs to which element: as the documents say, and in the ways that go wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import Array
from tiebreak.golden.nodes import Node


def index_along(shape: Sequence[int], axes: Sequence[int]) -> Array:
    """For each element of a tensor the flat index of its parameter, whose shape is the tensor's projected onto axes."""
    index = np.zeros(tuple(shape), np.int64)
    for axis in axes:
        index = index * shape[axis] + coordinate(shape, axis)
    return index


def coordinate(shape: Sequence[int], axis: int) -> Array:
    across = [-1 if i == axis else 1 for i in range(len(shape))]
    return np.broadcast_to(np.arange(shape[axis]).reshape(across), tuple(shape))


def misplaced(index: Array, count: int, how: How) -> Array:
    """The index after the defect of this step; `count` parameters are there."""
    defect, shape, count = how.get("place", ""), index.shape, max(count, 1)
    if count == 1 or not index.size:
        return index
    if defect == "first-parameter":
        return np.zeros_like(index)
    if defect == "axis-last":
        return coordinate(shape, len(shape) - 1) % count
    if defect == "axis-first":
        return coordinate(shape, 0) % count
    if defect == "flat-modulo":
        return (np.arange(index.size) % count).reshape(shape)
    if defect == "next-channel":
        return (index + 1) % count
    return count - 1 - index if defect == "channels-reversed" else index


def onnx_index(node: Node, shape: Sequence[int], own: Sequence[int], how: How) -> Array:
    """The index for QuantizeLinear's and DequantizeLinear's three granularities."""
    block, axis = node.value("block_size") or 0, node.value("axis")
    one_for_all = not block and tuple(own) == (1,) and len(shape) == 1 and "axis" not in node.attributes
    if len(own) == 0 or one_for_all:
        return np.zeros(tuple(shape), np.int64)
    axis %= len(shape)
    if not block:
        return misplaced(index_along(shape, (axis,)), own[0], how)
    return blocked(shape, own, axis, block, how)


def blocked(shape: Sequence[int], own: Sequence[int], axis: int, block: int, how: How) -> Array:
    """The index where each parameter stands for `block` neighbours along the axis."""
    index = np.zeros(tuple(shape), np.int64)
    for i in range(len(shape)):
        at = coordinate(shape, i)
        index = index * own[i] + (block_of(at, own[i], block, shape[i], how) if i == axis else at)
    return np.zeros_like(index) if how.get("place") == "first-parameter" else index


def block_of(at: Array, count: int, block: int, size: int, how: How) -> Array:
    """The block's number along the axis, of `count`."""
    defect = how.get("place", "")
    if defect == "blocks-one-longer":
        return at // (block + 1)
    if defect == "blocks-interleaved":
        return at % max(count, 1)
    if defect == "last-block-joined":
        return np.minimum(at // block, max(size // block - 1, 0))
    if defect == "blocks-even":
        return at // max(size // max(count, 1), 1) % max(count, 1)
    return at // block


def zero_point_index(index: Array, how: How) -> Array:
    """The index of the zero point, if only that is misplaced."""
    return np.zeros_like(index) if how.get("place") == "first-zero-point" else index


def scale_index(index: Array, how: How) -> Array:
    return np.zeros_like(index) if how.get("place") == "first-scale" else index


def read_as(values: Array, how: How, step: str) -> Array:
    """Integers as int64, with the sign bit misread where the defect of the step says so."""
    bits = int(np.dtype(values.dtype).itemsize * 8 if values.dtype.kind in "iu" else name_bits(values.dtype))
    wide = values.astype(np.int64)
    if how.get(step, "").endswith("as-unsigned"):
        return wide & ((1 << bits) - 1)
    if how.get(step, "").endswith("as-signed"):
        return np.where(wide >= 1 << (bits - 1), wide - (1 << bits), wide)
    return wide


def name_bits(kind: np.dtype[Any]) -> int:
    """The bits of int4, uint4, int2 and uint2."""
    return int(kind.name[-1])
