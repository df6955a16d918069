"""Where two sides differed: pairs of results with the simplest scale that gave them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tiebreak.conformance.proving.scales import significant_bits, value_of
from tiebreak.golden.problem import Array

Inputs = tuple[int, ...]  # differences of codes and zero points, or the number of a decision


@dataclass(frozen=True)
class Differing:
    """DifferingGroup of both sides, with one scale out of `count` that gave them, and a float operand's bits if there is one."""

    inputs: Inputs
    left: int
    right: int
    count: int
    word: int
    operand: int
    bits: int


@dataclass(frozen=True)
class DifferingGroup:
    """DifferingGroup that differ, as arrays of one length: group, both results (int64), scale, and a float operand's bits.

    A group has the same `inputs`. Scales are given by bit patterns and by their places in the block.
    """

    inputs: Sequence[Inputs]
    groups: Array
    left: Array
    right: Array
    words: Array
    scales: Array
    operands: Array | None = None


@dataclass
class DifferingResults:
    """All pairs of results that differed, without regard to zero points; `real` is the scales' type."""

    real: str
    found: dict[tuple[Inputs, int, int], Differing] = field(default_factory=dict)
    touched: Array = field(default_factory=lambda: np.zeros(0, bool))  # scales of this block
    with_any: int = 0  # scales, of blocks that are done

    def begin_block(self, count: int) -> None:
        self.touched = np.zeros(count, bool)

    def end_block(self) -> None:
        self.with_any += int(np.count_nonzero(self.touched))

    def note(self, differing: DifferingGroup) -> None:
        """Take note of results that differ, those of one group, left and right together."""
        some = differing
        self.touched[some.scales] = True
        bits = significant_bits(some.words, self.real)
        order = np.lexsort((bits, some.right, some.left, some.groups))
        keys = np.stack([some.groups[order], some.left[order], some.right[order]])
        starts = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
        counts = np.diff(np.r_[starts, len(order)])
        for place, count in zip(order[starts], counts, strict=True):
            self.add(
                Differing(
                    some.inputs[int(some.groups[place])],
                    int(some.left[place]),
                    int(some.right[place]),
                    int(count),
                    int(some.words[place]),
                    int(some.operands[place]) if some.operands is not None else 0,
                    int(bits[place]),
                )
            )

    def add(self, one: Differing) -> None:
        key = one.inputs, one.left, one.right
        known = self.found.get(key)
        if known is None:
            self.found[key] = one
            return
        best = min(known, one, key=lambda each: (each.bits, abs(exponent(each.word, self.real)), each.word))
        self.found[key] = replace(best, count=known.count + one.count)

    def simplest(self) -> Iterator[Differing]:
        """The scale with the fewest bits first, then the operands nearest to zero."""

        def rank(one: Differing) -> tuple[int, int, int, Inputs]:
            return one.bits, abs(exponent(one.word, self.real)), sum(map(abs, one.inputs)), one.inputs

        yield from sorted(self.found.values(), key=rank)


def exponent(word: int, real: str) -> int:
    """The power of two that a scale is not below."""
    value = abs(value_of(word, real))
    return value.numerator.bit_length() - value.denominator.bit_length()


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in ascending order as text: 0–3, 7."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("–".join(map(str, part)) for part in parts)
