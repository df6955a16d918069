"""What each block of scales gave, as a chain of SHA-256: a block's digest covers the digest before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.conformance.proving.records import Differences, ZeroPoints
from tiebreak.conformance.proving.scales import ScaleSpan, significant_bits
from tiebreak.conformance.theorems.threads import in_threads
from tiebreak.golden.problem import Array

START = hashlib.sha256(b"tiebreak-proof").hexdigest()
Progress = Callable[[int, int], None]


class BlockResults:
    """The results of one block of scales: their digest, and those that differ."""

    def __init__(self, span: ScaleSpan, real: str, zero_points: ZeroPoints) -> None:
        self.span, self.scales = span, span.scales(real)
        self.words = self.scales.view(f"u{self.scales.itemsize}")
        self.bits = significant_bits(self.words, real)
        self.digest, self.differing = hashlib.sha256(), Differences(zero_points)
        self.touched = np.zeros(span.count, bool)

    def add(self, results: Array) -> None:
        """Results in the order in which they are computed: little-endian, rows after each other."""
        self.digest.update(results.data)


@dataclass
class BlockChain:
    """Blocks in order: their digests, and of how many scales results differ, from which distance of codes on."""

    blocks: list[list[Any]] = field(default_factory=list)

    def add(self, block: BlockResults) -> None:
        differing = int(np.count_nonzero(block.touched))
        self.blocks.append([block.digest.hexdigest(), differing, block.differing.least])

    @property
    def differing(self) -> int:
        return sum(block[1] for block in self.blocks)

    def described(self) -> Mapping[str, Any]:
        return {"blocks": self.blocks, "chain": chained(self.blocks)}


def chained(blocks: Sequence[Sequence[Any]]) -> str:
    """SHA-256 over all blocks in order, each with what stands before it: its words as JSON, behind the last digest."""
    last = START
    for block in blocks:
        last = hashlib.sha256((last + json.dumps(block)).encode()).hexdigest()
    return last


def try_blocks(
    spans: Sequence[ScaleSpan], results_of: Callable[[ScaleSpan], BlockResults], progress: Progress, workers: int
) -> Iterator[BlockResults]:
    """The results of each block, in order, from so many threads."""
    progress(0, len(spans))
    for number, found in enumerate(in_threads(results_of, spans, workers), 1):
        progress(number, len(spans))
        yield found


def total(blocks: Sequence[ScaleSpan]) -> int:
    return sum(block.count for block in blocks)
