"""Blocks of scales, each with a digest of what they gave: their chain, and what some of them give again."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.evaluation import FORMATS
from tiebreak.conformance.proof_checker.refusal import ProofUndecided, require

DRAWN = 2  # blocks of a step that are tried again at least
Span = tuple[int, int]


@dataclass
class BlockDraw:
    """Which blocks of a step are tried again: as many as time allows, in an order of chance, or all."""

    seconds: float
    is_whole: bool
    chance: random.Random

    def check(self, step: Mapping[str, Any], blocks: Sequence[Span], again: Callable[[Span], list[Any]]) -> str:
        """How many blocks were tried again. ProofRefused if one is missing, or gives something else than is said."""
        said, last = step["blocks"], hashlib.sha256(b"tiebreak-proof").hexdigest()
        require(len(said) == len(blocks), f"{len(said)} blocks of scales are listed: {len(blocks)} are needed")
        for row in said:
            last = hashlib.sha256((last + json.dumps(row)).encode()).hexdigest()
        require(last == step["chain"], "the chain of digests is broken: a block was changed, left out or moved")
        least = np.array([1], np.uint32).view(np.float32)
        if least / np.float32(0.5) <= least:
            raise ProofUndecided("this process flushes subnormal numbers: nothing can be tried in it")
        tried, end = 0, time.monotonic() + self.seconds
        for number in self.chance.sample(range(len(blocks)), len(blocks)):
            if self.is_whole or tried < DRAWN or time.monotonic() < end:
                found = again(blocks[number])
                require(found == said[number], f"block {number} of the scales gives other results: {found[1:]}")
                tried += 1
        return f"{tried} of {len(blocks)} blocks of scales tried again"


def exponents_spans(exponents: Sequence[int], real: str) -> list[Span]:
    """The bit patterns of the positive floats of exponents, first and end; emin - 1 is that of subnormal ones."""
    digits, emin, _ = FORMATS[real]
    firsts = [(e - emin + 1) << (digits - 1) for e in exponents]
    return [(max(first, 1), first + (1 << (digits - 1))) for first in firsts]


def blocks_of(spans: Sequence[Span], size: int) -> list[Span]:
    """Spans, cut at multiples of a size."""
    return [
        (max(start, first), min(start + size, end))
        for first, end in spans
        for start in range(first - first % size, end, size)
    ]
