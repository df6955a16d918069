"""What each block of scales gave, as a chain of SHA-256: a block's digest covers the digest before it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.conformance.proving.records import Differences, ZeroPoints
from tiebreak.conformance.proving.scales import ScaleSpan, significant_bits
from tiebreak.conformance.theorems.threads import in_threads
from tiebreak.golden.problem import Array

START = hashlib.sha256(b"tiebreak-proof").digest()
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
    """Blocks in order, and for each the digest of the results that it gave."""

    digests: list[tuple[ScaleSpan, bytes]] = field(default_factory=list)
    last: bytes = START

    def add(self, block: BlockResults) -> None:
        content = block.digest.digest()
        self.digests.append((block.span, content))
        self.last = hashlib.sha256(self.last + content).digest()

    def described(self) -> Mapping[str, Any]:
        """First bit pattern, number of scales and digest of each block, and the chain's last digest."""
        return {
            "blocks": [[block.first, block.count, digest.hex()] for block, digest in self.digests],
            "chain": self.last.hex(),
        }


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
