"""Blocks of scales in several threads: compiled loops, NumPy and hashlib work without Python's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Found = TypeVar("Found")


def in_threads(function: Callable[[Item], Found], items: Iterable[Item], workers: int) -> Iterator[Found]:
    """What a function makes of each item, in order; an interrupt waits for those that have begun."""
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        try:
            yield from pool.map(function, items)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
