"""What each block of scales gave, as a chain of SHA-256: a block's digest covers the digest before it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiebreak.conformance.proving.scales import ScaleSpan
from tiebreak.golden.problem import Array

START = hashlib.sha256(b"tiebreak-proof").digest()


@dataclass
class BlockChain:
    """Blocks in order, and for each the digest of the results that it gave."""

    digests: list[tuple[ScaleSpan, bytes]] = field(default_factory=list)
    last: bytes = START
    current: Any = None

    def begin(self) -> None:
        self.current = hashlib.sha256()

    def add(self, results: Array) -> None:
        """DifferingGroup in the order in which they are computed: little-endian, rows after each other."""
        self.current.update(results.data)

    def end(self, block: ScaleSpan) -> None:
        content = self.current.digest()
        self.digests.append((block, content))
        self.last = hashlib.sha256(self.last + content).digest()

    def described(self) -> Mapping[str, Any]:
        """First bit pattern, number of scales and digest of each block, and the chain's last digest."""
        return {
            "blocks": [[block.first, block.count, digest.hex()] for block, digest in self.digests],
            "chain": self.last.hex(),
        }


def total(blocks: Sequence[ScaleSpan]) -> int:
    return sum(block.count for block in blocks)
