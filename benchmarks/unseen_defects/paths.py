"""The paths of the second set: vector loops of other widths, lanes, ends and halves of arrays."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects import paths as known
from benchmarks.known_defects.paths import Place, all_if, body_of, row_tail_of, tail_of


def position(condition: object) -> Place:
    return lambda node, inputs: condition(np.arange(inputs[0].size), inputs[0].size)  # type: ignore[operator]


PATHS: dict[str, Place] = known.PATHS | {
    "tail2": tail_of(2),
    "tail64": tail_of(64),
    "body2": body_of(2),
    "body32": body_of(32),
    "body64": body_of(64),
    "row-tail4": row_tail_of(4),
    "row-tail16": row_tail_of(16),
    "odd": position(lambda at, size: at % 2 == 1),
    "last-lane-of-4": position(lambda at, size: at % 4 == 3),
    "first-element": position(lambda at, size: (at == 0) & (size > 1)),
    "last-element": position(lambda at, size: (at == size - 1) & (size > 1)),
    "second-half": position(lambda at, size: at >= (size + 1) // 2),
    "after-4096": position(lambda at, size: at >= 4096),
    "very-large": all_if(lambda node, inputs: inputs[0].size > 10000),
    "small": all_if(lambda node, inputs: inputs[0].size < 8),
    "rank-1": all_if(lambda node, inputs: inputs[0].ndim == 1),
}
SENTENCES: dict[str, str] = known.SENTENCES | {
    "tail2": "in the tail of a vector loop of 2",
    "tail64": "in the tail of a vector loop of 64",
    "body2": "in the body of a vector loop of 2",
    "body32": "in the body of a vector loop of 32",
    "body64": "in the body of a vector loop of 64",
    "row-tail4": "in the tail of each row of a vector loop of 4",
    "row-tail16": "in the tail of each row of a vector loop of 16",
    "odd": "at odd positions",
    "last-lane-of-4": "in the last of four lanes",
    "first-element": "for the first element of several",
    "last-element": "for the last element of several",
    "second-half": "in the second half of the array",
    "after-4096": "after the first 4096 elements",
    "very-large": "in arrays of more than 10000 elements",
    "small": "in arrays of fewer than 8 elements",
    "rank-1": "in arrays of rank 1",
}
