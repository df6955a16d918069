"""Layouts of scales for the two ONNX operators: per tensor, per axis and in blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True)
class ScaleLayout:
    """The shapes of an input and its scale, and the attributes that say how the scale applies to the input."""

    name: str
    shape: Shape
    scale: Shape
    attributes: dict[str, Any]
    flags: tuple[str, ...]
    roles: tuple[str, ...]

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def scales(self) -> int:
        return math.prod(self.scale)


def per_axis(shape: Shape, axis: int | None) -> ScaleLayout:
    name = f"axis-{'x'.join(map(str, shape))}-{'default' if axis is None else axis}"
    position = 1 if axis is None else axis
    flags = ("PerAxis",) if math.prod(shape) else ("PerAxis", "Empty")
    attributes = {} if axis is None else {"axis": axis}
    return ScaleLayout(
        name, shape, (shape[position],), attributes, flags, ("projection", "axis", "granularity", "shape")
    )


def blocked(shape: Shape, axis: int | None, size: int) -> ScaleLayout:
    position = (1 if axis is None else axis) % len(shape)
    scale = tuple(-(-length // size) if i == position else length for i, length in enumerate(shape))
    name = f"blocks-{'x'.join(map(str, shape))}-{'default' if axis is None else axis}-of-{size}"
    attributes = {"block_size": size} | ({} if axis is None else {"axis": axis})
    roles = ("blocks", "granularity", "shape", *(("last-block",) if shape[position] % size else ()))
    flags: tuple[str, ...] = ("Blocked",) if math.prod(shape) else ("Blocked", "Empty")
    flags += ("LargeBlock",) if size >= 64 else ()
    return ScaleLayout(name, shape, scale, attributes, flags, roles)


def per_tensor(shape: Shape) -> ScaleLayout:
    name = f"tensor-{'x'.join(map(str, shape)) or 'scalar'}"
    flags = ("Scalar",) if shape == () else () if math.prod(shape) else ("Empty",)
    return ScaleLayout(name, shape, (), {}, flags, ("per-tensor", "shape"))


def one_element(shape: Shape) -> ScaleLayout:
    """A 1-D input without an axis and a scale of shape [1]: per tensor; see the page of contested questions."""
    return ScaleLayout(f"tensor-{shape[0]}-scale-1", shape, (1,), {}, (), ("per-tensor", "axis", "shape"))


AXES = (
    per_axis((3, 3), 0),
    per_axis((3, 3), None),
    per_axis((2, 3, 4), -1),
    per_axis((2, 70), 1),
    per_axis((2, 1, 3, 2, 2), 2),
    per_axis((2, 1, 2, 1, 3, 2), -2),
    per_axis((2, 3, 2, 2), None),
    per_axis((2, 2, 2, 2), -2),
    per_axis((4, 2, 3), 0),
    per_axis((5,), 0),
    per_axis((2, 0, 3), 0),
    per_axis((3, 1), 1),
)
TENSORS = (per_tensor(()), per_tensor((2, 3, 4)), per_tensor((0,)), per_tensor((1,)), per_tensor((1031,)))
RANK_1 = (one_element((5,)), one_element((67,)))
BLOCKS = (
    blocked((2, 6), 1, 3),
    blocked((2, 7), None, 3),
    blocked((5, 2), 0, 2),
    blocked((4, 4), -2, 2),
    blocked((2, 3, 4), -1, 2),
    blocked((2, 5, 2), 1, 4),
    blocked((7,), 0, 3),
    blocked((2, 3), 1, 1),
    blocked((2, 5), None, 8),
    blocked((1, 2, 3, 5), 3, 2),
    blocked((0, 4), 1, 2),
)
LARGE_BLOCKS = (blocked((2, 300), 1, 128), blocked((600,), 0, 256), blocked((67, 3), 0, 64))
SOME = (
    AXES[1],
    AXES[2],
    AXES[3],
    TENSORS[-1],
    BLOCKS[1],
    BLOCKS[4],
    BLOCKS[6],
)  # where the types have a fuller file elsewhere
