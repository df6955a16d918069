"""SHA-256 of a block's results, taken on idle cores where there are some.

A checksum takes longer than the judge. Where a device makes the results, it would take most of a sweep's time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tiebreak.golden.problem import Array

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

    @cached_property
    def pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, "sha256", stay_on, (self.cores,))

    def close(self) -> None:
        if self.threads:
            self.pool.shutdown(cancel_futures=True)


def sha256(results: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(results).view(np.uint8).data).hexdigest()


def stay_on(cores: Sequence[int]) -> None:
    """Keep this thread on the cores; it would stay on those of the thread that started it."""
    os.sched_setaffinity(0, cores)
