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


MISPLACED: tuple[tuple[str, Misplace], ...] = (
    ("wrong-axis", along(-1)),
    ("wrong-axis", along(0)),
    ("next-channel", lambda index, count: (index + 1) % count),
    ("channels-reversed", lambda index, count: count - 1 - index),
    ("flat-modulo", along_flat_array),
)


def misplaced(index: Array, count: int) -> Iterator[tuple[str, Array]]:
    """The wrong indices that differ from the right one."""
    if count < 2 or not index.size:
        return
    for key, misplace in MISPLACED:
        other = misplace(index, count)
        if not np.array_equal(other, index):
            yield key, other
