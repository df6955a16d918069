"""What a run tells whoever watches it, from the threads of all its backends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Watch(Protocol):
    """Each call is quick and raises nothing: the run does not wait for a screen."""

    def starting(self, specs: Sequence[str]) -> None:
        """These backends are being started."""
        ...

    def started(self, spec: str, *, there: bool) -> None:
        """One of them has been, or is not there."""
        ...

    def ran(self, name: str, done: int, planned: int) -> None:
        """A backend has answered that many of the cases planned for it so far."""
        ...

    def judged(self, name: str, operator: str, verdicts: Sequence[str]) -> None:
        """Further cases of a backend have these verdicts."""
        ...

    def finished(self, name: str) -> None:
        """A backend has answered all its cases, and they are judged."""
        ...

    def stage(self, what: str) -> None:
        """All backends have; now the run does something else."""
        ...

    def close(self) -> None:
        """Nothing more is shown: the summary comes, or an error. A second call does nothing."""
        ...


class Unwatched:
    """A Watch that shows nothing."""

    def starting(self, specs: Sequence[str]) -> None: ...
    def started(self, spec: str, *, there: bool) -> None: ...
    def ran(self, name: str, done: int, planned: int) -> None: ...
    def judged(self, name: str, operator: str, verdicts: Sequence[str]) -> None: ...
    def finished(self, name: str) -> None: ...
    def stage(self, what: str) -> None: ...
    def close(self) -> None: ...


def each_told(items: Iterable[T], watch: Watch, what: Callable[[T], str]) -> Iterator[T]:
    """The items; of each, the watch is told `what` it is about and which of how many it is."""
    every = list(items)
    for number, item in enumerate(every, start=1):
        watch.stage(f"{what(item)} ({number:,} of {len(every):,})")
        yield item
