"""How long each stage of a run took, for run.json."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass
class Stages:
    """Wall-clock seconds by stage, in the order in which the stages began. Threads may share one."""

    seconds: dict[str, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside, and add it to the stage."""
        self.add(name, 0.0)
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - begun)

    @contextmanager
    def around(self, name: str, context: AbstractContextManager[T]) -> Iterator[T]:
        """Enter a context, and time that."""
        with ExitStack() as stack:
            with self.stage(name):
                entered = stack.enter_context(context)
            yield entered

    def add(self, name: str, seconds: float) -> None:
        with self.lock:
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def rows(self) -> list[dict[str, Any]]:
        """The rows of run.json: the stage's name and its seconds, to the millisecond."""
        return [{"stage": name, "seconds": round(seconds, 3)} for name, seconds in self.seconds.items()]


def timed(stages: Stages, name: str, make: Callable[[], T]) -> T:
    """Make something, and time that as a stage."""
    with stages.stage(name):
        return make()
