"""The inputs of a sweep: all bit patterns of a node's first input, with the other inputs fixed or with every scale.

Inputs are numbered: all patterns in order, for each scale in turn. A *piece* is the input of one call of a backend. A
*block* is the unit that has a checksum in a certificate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Constant, Node
from tiebreak.golden.problem import Array, codes_of, kind_of

try:
    from tiebreak.golden._kernel import fill_patterns
except ImportError:  # in a worker of another environment
    from tiebreak.golden.filling import fill_patterns

PIECE = 1 << 20  # patterns: few calls, whose own cost shows; with their results they fit the processor's caches
BLOCK = 1 << 22
MOST_BITS = 32
FEWEST_IN_BLOCK, MOST_IN_BLOCK = 1 << 16, 1 << 26
VECTOR, COLUMN, IMAGE = "vector", "column", "image"
AXES: Mapping[str, tuple[int, ...]] = {VECTOR: (-1,), COLUMN: (-1, 1), IMAGE: (1, 1, -1)}  # -1: the number of inputs
WORDS = {16: np.uint16, 32: np.uint32}


@dataclass(frozen=True)
class Space:
    """`others` are the inputs after the first. With `every_scale` the first of them, the scale, takes every value.

    `block` is the number of inputs of a block, a power of two of at least 2^16.
    """

    node: Node
    others: tuple[Array, ...]
    every_scale: bool = False
    shape: str = VECTOR  # of the first input: a key of AXES
    block: int = BLOCK

    @cached_property
    def first(self) -> FloatType | IntegerType:
        return ELEMENT_TYPES[self.node.input_type]

    @property
    def patterns(self) -> int:
        """The number of bit patterns of the first input."""
        return 1 << self.first.bits

    @cached_property
    def scales(self) -> int:
        """The number of scales: all positive finite ones of the type, or 1."""
        if not self.every_scale:
            return 1
        kind = ELEMENT_TYPES[self.node.inputs[1].dtype.name]
        assert isinstance(kind, FloatType)
        return kind.largest_bits

    @property
    def inputs(self) -> int:
        return self.patterns * self.scales

    @property
    def piece(self) -> int:
        return min(self.patterns, PIECE, self.block)

    @property
    def blocks(self) -> int:
        return -(-self.inputs // self.block)

    def pieces(self, block: int) -> range:
        """The number of the first input of each piece of a block."""
        return range(block * self.block, min((block + 1) * self.block, self.inputs), self.piece)

    def results_in(self, block: int) -> int:
        """The number of results of a block."""
        return self.piece * len(self.pieces(block))

    @property
    def most_results(self) -> int:
        """The most results that a block has."""
        return min(self.block, self.inputs)

    def scale_bits(self, at: int) -> int:
        """The bit pattern of the scale of input number `at`; 0 if there is only one scale."""
        return at // self.patterns + 1 if self.every_scale else 0

    def other_inputs(self, at: int) -> tuple[Array, ...]:
        if not self.every_scale:
            return self.others
        dtype = self.node.inputs[1].dtype
        scale = np.array(self.scale_bits(at), f"uint{8 * dtype.itemsize}").view(dtype)
        return scale, *self.others[1:]

    def first_input(self, at: int, size: int, into: Array | None = None) -> Array:
        """The first operand of inputs `at` to `at + size`, which share one scale. `into` is an array to reuse."""
        return shaped(patterns_as(self.first, at % self.patterns, size, into), AXES[self.shape])

    def first_inputs(self, numbers: Array) -> Array:
        """The first operand of the inputs of these numbers, all of one scale, in any order."""
        return shaped(as_type(self.first, numbers % self.patterns), AXES[self.shape])

    def described(self) -> dict[str, Any]:
        """The space as plain data, for a worker, a file or another machine."""
        inputs = [
            [kind.name, array.dtype.name, list(array.shape), codes_of(array).reshape(-1).tolist()]
            for kind, array in zip(self.node.inputs[1:], self.others, strict=True)
        ]
        return {
            "node": self.node.key,
            "inputs": inputs,
            "every_scale": self.every_scale,
            "column": self.shape == COLUMN,
            "block": self.block,
            **({IMAGE: True} if self.shape == IMAGE else {}),  # older files have no such key
        }


def space_from(data: Mapping[str, Any]) -> Space:
    """The space that `Space.described` wrote. InvalidInput for anything else."""
    try:
        node = node_from_key(str(data["node"]))
        arrays = [
            Constant(str(name), str(kind), tuple(map(int, shape)), tuple(map(int, codes))).array()
            for name, kind, shape, codes in data["inputs"]
        ]
        if [array.dtype for array in arrays] != [kind.dtype for kind in node.inputs[1:]]:
            raise ValueError("its inputs are not the node's")
        if data["column"] and data.get(IMAGE):
            raise ValueError("it is a column and an image")
        shape = COLUMN if data["column"] else IMAGE if data.get(IMAGE) else VECTOR
        return check_space(Space(node, tuple(arrays), bool(data["every_scale"]), shape, int(data["block"])))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"not the description of a sweep: {error!s:.200}") from None


def check_space(space: Space) -> Space:
    """The space, if it can be swept. InvalidInput if it is too large or has no scales to vary."""
    if not FEWEST_IN_BLOCK <= space.block <= MOST_IN_BLOCK or space.block & (space.block - 1):
        ends = f"{FEWEST_IN_BLOCK} to {MOST_IN_BLOCK}"
        raise InvalidInput(f"a block of {space.block} inputs: a power of two from {ends} is wanted")
    if space.first.bits > MOST_BITS:
        raise InvalidInput(f"{space.node.operator}: 2^{space.first.bits} {space.first.name} inputs are too many to try")
    if space.every_scale:
        kind = kind_of(space.others[0]) if space.others else None
        if not isinstance(kind, FloatType) or kind.bits > 16 or space.first.bits > 16:
            name = "no scale" if kind is None else kind.name
            raise InvalidInput(f"{space.node.operator}: every scale is for types of 16 bits and fewer, not {name}")
    return space


def patterns_as(kind: FloatType | IntegerType, first: int, size: int, into: Array | None = None) -> Array:
    """`size` consecutive bit patterns from `first` on, as an array of the type; smaller types take a byte per element.

    `into` may be an earlier result of the same size, which is overwritten.
    """
    if kind.bits >= 16:
        found = np.empty(size, numpy_dtype(kind.name)) if into is None else into
        fill_patterns(found.reshape(-1).view(WORDS[kind.bits]), first)
        return found.reshape(-1)
    return as_type(kind, np.arange(first, first + size, dtype=np.int64))


def as_type(kind: FloatType | IntegerType, patterns: Array) -> Array:
    """Bit patterns (int64) as an array of the type."""
    if kind.bits >= 16:
        return patterns.astype(WORDS[kind.bits]).view(numpy_dtype(kind.name))
    if isinstance(kind, IntegerType):
        values = np.where(patterns > kind.highest, patterns - (1 << kind.bits), patterns)
        return values.astype(numpy_dtype(kind.name))
    return patterns.astype(np.uint8).view(numpy_dtype(kind.name))


def shaped(array: Array, axes: tuple[int, ...]) -> Array:
    return array.reshape(axes) if len(axes) > 1 else array
