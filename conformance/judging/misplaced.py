"""Which parameter an element gets from a kernel that misplaces them: usual mistakes, by the ids of their causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tiebreak.golden.problem import Array

# Of the right index of each element's parameter in the flat parameters, and their number.
Misplace = Callable[[Array, int], Array]


def along(axis: int) -> Misplace:
    """Parameters go along another axis of the input; where it is longer, they begin again."""

    def misplace(index: Array, count: int) -> Array:
        sizes = [-1 if i == axis % index.ndim else 1 for i in range(index.ndim)]
        return np.broadcast_to(np.arange(index.shape[axis]).reshape(sizes) % count, index.shape)

    return misplace


def along_flat_array(index: Array, count: int) -> Array:
    return np.asarray(np.arange(index.size) % count).reshape(index.shape)


def in_flat_runs(index: Array, count: int) -> Array:
    """The flat array is dealt in equal runs among the parameters."""
    return np.asarray(np.arange(index.size) // max(-(-index.size // count), 1)).reshape(index.shape)


def in_place(index: Array, count: int) -> Array:
    return index


def of_next(index: Array, count: int) -> Array:
    return (index + 1) % count


def pairs_exchanged(index: Array, count: int) -> Array:
    return np.where(index ^ 1 < count, index ^ 1, index)


MISPLACED: tuple[tuple[str, Misplace], ...] = (
    ("wrong-axis:the last", along(-1)),
    ("wrong-axis:the first", along(0)),
    ("next-channel", of_next),
    ("channels-reversed", lambda index, count: count - 1 - index),
    ("flat-modulo", along_flat_array),
    ("previous-channel", lambda index, count: (index - 1) % count),
    ("channel-pairs", lambda index, count: index // 2 * 2),
    ("four-lanes", lambda index, count: index % 4),
    ("last-for-all", lambda index, count: np.full_like(index, count - 1)),
    ("flat-runs", in_flat_runs),
)
OF_SCALES = (("next-scale", of_next), ("scale-pairs-exchanged", pairs_exchanged))  # zero points are right
OF_ZERO_POINTS = (("next-zero-point", of_next), ("zero-point-pairs-exchanged", pairs_exchanged))  # scales are right
ALL_MISPLACED: tuple[tuple[str, Misplace, Misplace], ...] = (  # what becomes of scales and of zero points
    *((key, misplace, misplace) for key, misplace in MISPLACED),
    *((key, misplace, in_place) for key, misplace in OF_SCALES),
    *((key, in_place, misplace) for key, misplace in OF_ZERO_POINTS),
)


def misplaced(index: Array, count: int) -> Iterator[tuple[str, Array, Array]]:
    """The wrong indices of scales and zero points of which one differs from the right one."""
    if count < 2 or not index.size:
        return
    for key, of_scale, of_zero_point in ALL_MISPLACED:
        scales, zero_points = of_scale(index, count), of_zero_point(index, count)
        if not (np.array_equal(scales, index) and np.array_equal(zero_points, index)):
            yield key, scales, zero_points
