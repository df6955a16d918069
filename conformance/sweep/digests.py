"""SHA-256 of a block's results, taken on idle cores where there are some.

A checksum takes longer than the judge. Where a device makes the results, it would take most of a sweep's time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.problem import Array, bits_of
from tiebreak.golden.space import Space, patterns_as

MOST_THREADS = 8  # more would wait for memory
AHEAD = 2  # results that each thread may have to do


@dataclass
class Digests:
    """Checksums, cached for blocks with a single result throughout, as most blocks of a sweep are.

    With `cores`, threads on these take the others; without, the caller does.
    """

    cores: Sequence[int] = ()
    known: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def threads(self) -> int:
        return min(len(self.cores), MOST_THREADS)

    @property
    def ahead(self) -> int:
        """How many checksums may be unfinished at once; each holds its results in memory."""
        return AHEAD * self.threads

    def begun(self, results: Array, element: str) -> Callable[[], str]:
        """What gives the checksum of `results`, whose memory may be reused from now on.

        `element` is their single value as hexadecimal bytes, empty if they differ.
        """
        key = element, results.size
        if key in self.known:
            found = self.known[key]
        elif not element and self.threads:
            return self.pool.submit(sha256, results.copy()).result
        else:
            found = sha256(results)
            if element:
                self.known[key] = found
        return lambda: found

    def begun_settled(self, kept: Array | None) -> Callable[[], str]:
        """What gives the checksum of what `settled_results` found; empty for None."""
        if kept is not None and self.threads:
            return self.pool.submit(sha256, kept).result
        found = "" if kept is None else sha256(kept)
        return lambda: found

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, "sha256", stay_on, (self.cores,))

    def close(self) -> None:
        if self.threads:
            self.pool.shutdown(cancel_futures=True)


def sha256(results: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(results).view(np.uint8).data).hexdigest()


def of_finite(space: Space, block: int, results: Array) -> str:
    """The checksum of `settled_results`; empty where there are none of their own."""
    kept = settled_results(space, block, results)
    return "" if kept is None else sha256(kept)


def settled_results(space: Space, block: int, results: Array) -> Array | None:
    """A copy of a block's results that a document can settle; None if these are all of them, bit by bit.

    They are those of finite inputs, with one bit pattern for every NaN. What NaN and infinite inputs give is often
    open, so that the reference can't compute it.
    """
    starts, flat = space.pieces(block), results.reshape(-1)
    parts = [settled(space, at, flat[n * space.piece : (n + 1) * space.piece]) for n, at in enumerate(starts)]
    return None if all(whole for _, whole in parts) else np.concatenate([kept for kept, _ in parts])


def settled(space: Space, at: int, results: Array) -> tuple[Array, bool]:
    """The results of the finite inputs from number `at` on, with one NaN; and whether that changes nothing."""
    finite, kind = finite_inputs(space, at, results.size), ELEMENT_TYPES[space.node.output_type]
    kept = results if finite is None else results[finite]
    if isinstance(kind, FloatType) and kind.nan_bits is not None:
        nans = np.asarray(kept != kept)
        if nans.any():
            words = bits_of(kept)
            return np.where(nans, np.array(kind.nan_bits, words.dtype), words).view(kept.dtype), False
    return kept, kept.size == results.size


def finite_inputs(space: Space, at: int, size: int) -> Array | None:
    """Which of the inputs of a piece, or of a part of one, from number `at` on are finite; None if all are."""
    kind = space.first
    if not isinstance(kind, FloatType):
        return None
    half = 1 << (kind.bits - 1)  # the patterns of one sign
    if at % half + size - 1 <= kind.largest_bits and kind.bits >= 16:
        return None
    return finite_patterns(kind, at % space.patterns, size)


@lru_cache(maxsize=4)  # of 16 bits: the same for every scale
def finite_patterns(kind: FloatType, first: int, size: int) -> Array | None:
    with np.errstate(all="ignore"):
        finite = np.isfinite(patterns_as(kind, first, size).astype(np.float64))
    return None if finite.all() else finite


def stay_on(cores: Sequence[int]) -> None:
    """Keep this thread on the cores; it would stay on those of the thread that started it."""
    os.sched_setaffinity(0, cores)
