"""The inputs of a sweep of every scale: which scales, which inputs with each, and in which calls a backend gets them.

The space has *parts*. A part of thresholds has scales evenly apart, and with each scale the inputs next to all its
thresholds; see thresholds.py. A part of every input has one scale, and all x from one place to another. A *block* is
part of a part, and is the unit that has a checksum. Neighbouring blocks of a part of every input share one input, so
that results which go back show in one of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from tiebreak.golden.elements import IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.thresholds import INFINITE, LARGEST, asked_of, columns, patterns_between

CALL = 1 << 22  # inputs of one call, if a scale has not more by itself
CALLS = {8: 1, 16: 4}  # of a block, by the bits of the output: blocks of 16 bits are many
LINE = 1 << 22  # inputs of a block with one scale
MOST_PARTS, MOST_BLOCKS = 1000, 1 << 18  # the largest sweeps have less than half of them


class ScalePart(NamedTuple):
    """Scales `first`, `first + step`, … (bit patterns), `size` of them, with the inputs next to their thresholds."""

    name: str
    first: int
    step: int
    size: int


class LinePart(NamedTuple):
    """One scale (bit pattern) with all x from place `first` to place `last`, both included."""

    name: str
    scale: int
    first: int
    last: int


Part = ScalePart | LinePart


class ScaleCall(NamedTuple):
    """One call: the scales (bit patterns, uint32) of the rows of `x` (bit patterns, uint32, two axes)."""

    scales: Array
    x: Array


@dataclass(frozen=True)
class ScaleSpace:
    """The parts of a sweep of every scale of a node, with one zero point for all scales.

    With `along_axis` the node takes a scale for each row of x: its first axis. Else a call has one scale.
    """

    node: Node
    zero_point: int
    parts: tuple[Part, ...]
    along_axis: bool = True

    @property
    def result(self) -> IntegerType:
        return self.node.quantized

    @property
    def codes(self) -> int:
        """The number of codes of the output's type."""
        return self.result.highest - self.result.lowest + 1

    @property
    def first_step(self) -> int:
        """The rounded quotient that has the lowest code."""
        return self.result.lowest - self.zero_point

    @property
    def rows(self) -> int:
        """The number of scales of a block, and CALLS times that of a call."""
        return max(1, CALL // columns(self.codes)) * CALLS[self.result.bits]

    @cached_property
    def ends(self) -> list[int]:
        """The number of the first block after each part."""
        return list(accumulate(map(self.blocks_of, self.parts)))

    def blocks_of(self, part: Part) -> int:
        if isinstance(part, LinePart):
            return max(1, -(-(part.last - part.first) // LINE))
        return -(-part.size // self.rows)

    @property
    def blocks(self) -> int:
        return self.ends[-1] if self.ends else 0

    @property
    def inputs(self) -> int:
        """The number of inputs asked, without those between that locate a threshold of a backend's own."""
        return sum(map(self.inputs_of, self.parts))

    def inputs_of(self, part: Part) -> int:
        if isinstance(part, LinePart):
            return part.last - part.first + self.blocks_of(part)
        return part.size * columns(self.codes)

    def place_of(self, block: int) -> tuple[int, int]:
        """The part of a block (its number) and the block's number in it."""
        part = bisect_right(self.ends, block)
        return part, block - (self.ends[part - 1] if part else 0)

    def part_of(self, block: int) -> Part:
        return self.parts[self.place_of(block)[0]]

    def scales_in(self, block: int) -> Array:
        """The scales (bit patterns, uint32) of a block."""
        part, number = self.parts[(place := self.place_of(block))[0]], place[1]
        if isinstance(part, LinePart):
            return np.array([part.scale], np.uint32)
        first, last = number * self.rows, min((number + 1) * self.rows, part.size)
        return (part.first + part.step * np.arange(first, last, dtype=np.int64)).astype(np.uint32)

    def line_ends(self, block: int) -> tuple[int, int]:
        """The places of the first and the last input of a block with one scale."""
        part, number = self.parts[(place := self.place_of(block))[0]], place[1]
        assert isinstance(part, LinePart)
        first = part.first + number * LINE
        return first, min(first + LINE, part.last)

    def results_in(self, block: int) -> int:
        """The number of results of a block."""
        part, number = self.parts[(place := self.place_of(block))[0]], place[1]
        if isinstance(part, LinePart):
            first, last = self.line_ends(block)
            return last - first + 1
        return min(self.rows, part.size - number * self.rows) * columns(self.codes)

    @property
    def most_results(self) -> int:
        """The most results that a block has."""
        return max(self.rows * columns(self.codes), LINE + 1)

    def calls(self, block: int) -> Iterator[ScaleCall]:
        """The calls of a block, in order."""
        scales = self.scales_in(block)
        if isinstance(self.part_of(block), LinePart):
            yield ScaleCall(scales, patterns_between(*self.line_ends(block)).reshape(1, -1))
            return
        size = max(1, self.rows // CALLS[self.result.bits]) if self.along_axis else 1
        for first in range(0, scales.size, size):
            some = scales[first : first + size]
            yield ScaleCall(some, asked_of(some, self.first_step, self.codes))

    def arguments(self, call: ScaleCall) -> tuple[Array, ...]:
        """The node's inputs for a call."""
        shape = call.scales.shape if self.along_axis else ()
        x = call.x.view(np.float32)
        zero_points = (np.full(shape, self.zero_point, kind.dtype) for kind in self.node.inputs[2:])
        return x if self.along_axis else x.reshape(-1), call.scales.view(np.float32).reshape(shape), *zero_points

    def described(self) -> dict[str, Any]:
        """The space as plain data, for a worker, a file or another machine."""
        return {
            "node": self.node.key,
            "zero_point": self.zero_point,
            "along_axis": self.along_axis,
            "parts": [["line" if isinstance(part, LinePart) else "scales", *part] for part in self.parts],
        }


def scale_space_from(data: Mapping[str, Any]) -> ScaleSpace:
    """The space that `ScaleSpace.described` wrote. InvalidInput for anything else."""
    try:
        node = node_from_key(str(data["node"]))
        parts = tuple(part_from(row) for row in data["parts"])
        return check_scale_space(ScaleSpace(node, int(data["zero_point"]), parts, bool(data["along_axis"])))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"not the description of a sweep of every scale: {error!s:.200}") from None


def part_from(row: Sequence[Any]) -> Part:
    """A part from its row: its kind, its name and three numbers."""
    kind, name, *numbers = row
    one, two, three = map(int, numbers)
    kinds: dict[str, type[ScalePart] | type[LinePart]] = {"scales": ScalePart, "line": LinePart}
    return kinds[kind](str(name), one, two, three)


def check_scale_space(space: ScaleSpace) -> ScaleSpace:
    """The space if each scale is positive and finite, and each place that of a finite float32. InvalidInput if not."""
    for part in space.parts:
        if isinstance(part, ScalePart):
            inside = part.step > 0 < part.size and 0 < part.first <= part.first + part.step * (part.size - 1) < INFINITE
        else:
            inside = 0 < part.scale < INFINITE and -LARGEST <= part.first < part.last <= LARGEST
        if not inside:
            raise InvalidInput(f"part {part.name!r} of the sweep has scales or inputs that float32 has not")
    if space.node.input_type != "float32" or space.result.bits not in CALLS:
        raise InvalidInput(f"every scale is for float32 and results of 8 or 16 bits, not {space.node.output_type}")
    if len(space.parts) > MOST_PARTS or space.blocks > MOST_BLOCKS:
        raise InvalidInput(f"{len(space.parts):,} parts with {space.blocks:,} blocks are more than any sweep has")
    if not space.result.lowest <= space.zero_point <= space.result.highest:
        raise InvalidInput(f"the zero point {space.zero_point} is outside {space.result.name}")
    return space
