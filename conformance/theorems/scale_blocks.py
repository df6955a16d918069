"""Blocks of scales and what was counted in each: a line of a log, and of it the sums."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class CountedScales:
    """The counts of up to 2^16 scales, which are bit patterns.

    `differing` counts inputs over all scales, `without` scales without any. `worst_scale` is the first with the most
    inputs, `worst`; `simplest` is the first with the fewest significant bits of those with any, or None.

    `sha256` is that of the counts: little-endian uint32, one for each scale in ascending order.
    """

    block: int
    scales: int
    differing: int
    without: int
    worst: int
    worst_scale: int
    simplest: int | None
    sha256: str


def counted_block(block: int, real: FloatType, scales: Array, counts: Array) -> CountedScales:
    """A block's row. `scales` (bit patterns of `real`) and `counts` are uint32 arrays of the same length."""
    worst = int(np.argmax(counts))
    digest = hashlib.sha256(np.ascontiguousarray(counts, "<u4").tobytes()).hexdigest()
    some = scales[counts > 0]
    return CountedScales(
        block,
        scales.size,
        int(counts.sum(dtype=np.uint64)),
        scales.size - some.size,
        int(counts[worst]),
        int(scales[worst]),
        int(some[np.argmin(simplicity(some, real))]) if some.size else None,
        digest,
    )


def simplicity(patterns: Array, real: FloatType) -> Array:
    """A key to order positive scales (bit patterns): those from 1 to 2 first, fewest significant bits, nearest to 1."""
    exponents = np.abs((patterns.astype(np.int64) >> (real.precision - 1)) - real.bias)
    return np.asarray((exponents > 0) * (1 << 20) + significant_bits(patterns, real) * 1024 + exponents)


def significant_bits(patterns: Array, real: FloatType) -> Array:
    """From the highest to the lowest bit that is set in the significand of magnitudes (bit patterns); 0 for 0."""
    patterns, hidden = patterns.astype(np.int64), 1 << (real.precision - 1)
    significand = (patterns & (hidden - 1)) + np.where(patterns >= hidden, hidden, 0)
    lowest = significand & -significand
    return np.asarray(np.where(significand == 0, 0, bit_lengths(significand) - bit_lengths(lowest) + 1))


def bit_lengths(numbers: Array) -> Array:
    return np.asarray(np.frexp(numbers.astype(np.float64))[1])


def block_of_row(row: dict[str, Any]) -> CountedScales:
    """A block from a line of a log. TypeError or ValueError for anything else."""
    block = CountedScales(**row)
    numbers = [value for name, value in asdict(block).items() if name not in ("sha256", "simplest")]
    if not all(isinstance(number, int) and number >= 0 for number in numbers) or len(block.sha256) != 64:
        raise ValueError("no block")
    return block


def digest_of(blocks: Iterable[CountedScales]) -> str:
    """SHA-256 over the blocks' digests, as lines in the order of the blocks."""
    return hashlib.sha256("".join(f"{block.sha256}\n" for block in blocks).encode()).hexdigest()
