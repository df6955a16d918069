"""Numbers that the golden vectors of TensorFlow's uniform operators share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode
from tiebreak.golden.samples.model import Tensor, bits, reals

SINGLE = FLOAT_TYPES["float32"]
HALF = Fraction(1, 2)
# Shapes with an axis, or -1 for one scale and one zero point.
SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((), -1),
    ((1,), -1),
    ((7,), 0),
    ((2, 3), 0),
    ((2, 3), 1),
    ((3, 3, 3), 1),
    ((2, 2, 3, 2), 2),
    ((2, 2, 2, 3), 3),
    ((2, 1, 3), 1),
    ((0,), -1),
    ((2, 0, 3), 1),
    ((3, 0), 0),
    ((67,), -1),
    ((3, 67), 0),
)


def of(text: str) -> Fraction:
    """The float32 nearest to a decimal."""
    value = decode(encode(Fraction(text), SINGLE), SINGLE)
    assert isinstance(value, Fraction)
    return value


def ends_of(name: str) -> tuple[int, int]:
    kind = INTEGER_TYPES[name]
    return kind.lowest, kind.highest


def range_of(least: int, greatest: int, prefix: str = "") -> dict[str, Any]:
    return {f"{prefix}quantization_min_val": least, f"{prefix}quantization_max_val": greatest}


def parameters(scales: Sequence[Fraction | float], points: Sequence[int], axis: int = -1) -> tuple[Tensor, Tensor]:
    """scales and zero_points: scalars without an axis."""
    shape = () if axis < 0 else (len(scales),)
    return reals("float32", scales, shape), bits("int32", points, shape)


def flag_of_shape(shape: tuple[int, ...], axis: int) -> str:
    if 0 in shape:
        return "Empty"
    if not shape:
        return "Scalar"
    return "PerAxis" if axis >= 0 else "Lane" if shape == (67,) else "Shape"
