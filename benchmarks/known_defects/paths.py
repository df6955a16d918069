"""Where a defect holds: everywhere, or on one path through a kernel only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.known_defects.numbers import Array
from tiebreak.golden.nodes import Node

Place = Callable[[Node, tuple[Array, ...]], Array]


def body_of(width: int) -> Place:
    """The elements that whole vectors of this width take, in the flat order."""
    return lambda node, inputs: np.arange(inputs[0].size) < inputs[0].size // width * width


def tail_of(width: int) -> Place:
    return lambda node, inputs: ~body_of(width)(node, inputs)


def row_tail_of(width: int) -> Place:
    """The elements that whole vectors leave over at the end of each row."""

    def found(node: Node, inputs: tuple[Array, ...]) -> Array:
        row = inputs[0].shape[-1] if inputs[0].ndim else 1
        return np.arange(inputs[0].size) % max(row, 1) >= row // width * width

    return found


def all_if(condition: Callable[[Node, tuple[Array, ...]], bool]) -> Place:
    return lambda node, inputs: np.full(inputs[0].size, condition(node, inputs))


PATHS: dict[str, Place] = {
    "": all_if(lambda node, inputs: True),
    "body4": body_of(4),
    "body8": body_of(8),
    "body16": body_of(16),
    "tail4": tail_of(4),
    "tail8": tail_of(8),
    "tail16": tail_of(16),
    "tail32": tail_of(32),
    "row-tail8": row_tail_of(8),
    "alone": all_if(lambda node, inputs: inputs[0].size == 1),
    "not-alone": all_if(lambda node, inputs: inputs[0].size > 1),
    "constants": all_if(lambda node, inputs: bool(node.constants)),
    "inputs": all_if(lambda node, inputs: not node.constants),
    "per-tensor": all_if(lambda node, inputs: inputs[1].ndim == 0),
    "per-axis": all_if(lambda node, inputs: inputs[1].ndim > 0 and not node.attributes.get("block_size")),
    "blocked": all_if(lambda node, inputs: bool(node.attributes.get("block_size"))),
    "large": all_if(lambda node, inputs: inputs[0].size > 64),
    "after-1024": lambda node, inputs: np.arange(inputs[0].size) >= 1024,
}
SENTENCES = {
    "body4": "in the body of a vector loop of 4",
    "body8": "in the body of a vector loop of 8",
    "body16": "in the body of a vector loop of 16",
    "tail4": "in the tail of a vector loop of 4",
    "tail8": "in the tail of a vector loop of 8",
    "tail16": "in the tail of a vector loop of 16",
    "tail32": "in the tail of a vector loop of 32",
    "row-tail8": "in the tail of each row of a vector loop of 8",
    "alone": "for one element alone",
    "not-alone": "for more than one element",
    "constants": "where parameters are constants",
    "inputs": "where parameters are inputs",
    "per-tensor": "per tensor",
    "per-axis": "per axis",
    "blocked": "in blocks",
    "large": "in arrays of more than 64 elements",
    "after-1024": "after the first 1024 elements",
}
