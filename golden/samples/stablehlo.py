"""Numbers that the golden vectors of StableHLO's two operators share."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode
from tiebreak.golden.samples.model import Tensor, bits, reals

SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((), -1),
    ((7,), 0),
    ((2, 3), 0),
    ((2, 3), 1),
    ((3, 2, 3), 1),
    ((2, 2, 3, 2), 2),
    ((2, 2, 2, 3), 3),
    ((0,), -1),
    ((2, 0, 3), 2),
    ((67,), -1),
    ((3, 67), 0),
)


def nearest(value: Fraction, kind: str) -> Fraction:
    """The number of a type that is nearest."""
    found = decode(encode(value, FLOAT_TYPES[kind]), FLOAT_TYPES[kind])
    assert isinstance(found, Fraction)
    return found


def storage(least: int, greatest: int) -> dict[str, Any]:
    """Both ends as attributes."""
    return {"storage_min": least, "storage_max": greatest}


def quantized_with(
    expressed: str, kind: str, scales: Sequence[Fraction], points: Sequence[int], axis: int = -1
) -> tuple[Tensor, Tensor]:
    """scales and zero_points of a type: scalars without an axis. Scales are rounded to the expressed type."""
    shape = () if axis < 0 else (len(scales),)
    return reals(expressed, scales, shape), bits(kind, points, shape)


def middle(kind: str) -> int:
    """0, or half of an unsigned type."""
    own = INTEGER_TYPES[kind]
    return (own.lowest + own.highest + 1) // 2


def dimension(axis: int, prefix: str = "") -> dict[str, int]:
    return {} if axis < 0 else {f"{prefix}quantization_dimension": axis}
