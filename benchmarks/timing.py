"""Times measured side by side: the contenders take turns within each round, and the shortest of all rounds counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

Repeat = Callable[[int], object]  # does its work so many times
Key = TypeVar("Key")


def best_times(contenders: Mapping[Key, Repeat], rounds: int, least: float, rest: float = 0.0) -> dict[Key, float]:
    """Shortest seconds of one repetition for each contender; a sample takes `least` seconds or more.

    Who is first changes from round to round. Before each sample nothing runs for `rest` seconds: threads of the one
    before may still wait for work, and keep a core busy with it.
    """
    repetitions = {key: enough(repeat, least) for key, repeat in contenders.items()}
    best = dict.fromkeys(contenders, float("inf"))
    order = list(contenders)
    for number in range(rounds):
        turn = number % max(1, len(order))
        for key in order[turn:] + order[:turn]:
            time.sleep(rest)
            seconds = sample(contenders[key], repetitions[key])
            best[key] = min(best[key], seconds / repetitions[key])
    return best


def enough(repeat: Repeat, least: float) -> int:
    """How many repetitions a sample needs; finding that out also warms up."""
    repetitions = 1
    while sample(repeat, repetitions) < least:
        repetitions *= 2
    return repetitions


def sample(repeat: Repeat, repetitions: int) -> float:
    started = time.perf_counter()
    repeat(repetitions)
    return time.perf_counter() - started


@dataclass
class Stopwatch:
    """Rows of stage and seconds."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.rows.append({"stage": name, "seconds": time.perf_counter() - started})
