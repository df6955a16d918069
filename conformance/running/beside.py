"""Does one thing in a thread beside another, such as asking backends, which wait, beside looking for causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def beside(make: Callable[[], T], give_up: Callable[[], None]) -> Iterator[Callable[[], T]]:
    """Begin to `make` something in a thread; yields what waits for it, returns it and raises what it raised.

    If the block raises, as when it is interrupted, `give_up` is called, which must end `make` soon.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(make)
        try:
            yield future.result
        except BaseException:
            give_up()
            raise
