"""What goes wrong while results are explained: it costs the explanation that was looked for, never a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tiebreak.adapters.answering import message_of, raised_at

T = TypeVar("T")
Instead = TypeVar("Instead")
MOST_KEPT = 1000  # different errors


@dataclass
class ExplanationErrors:
    """The errors, each with how often it came: by stage, what it was about, and text."""

    found: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def attempt(self, stage: str, about: str, explain: Callable[[], T], instead: Instead) -> T | Instead:
        """What `explain` returns; `instead` if it raises, which is noted. An interrupt goes through."""
        try:
            return explain()
        except Exception as error:
            self.note(stage, about, error)
            return instead

    def each(self, stage: str, about: str, items: Iterable[T]) -> Iterator[T]:
        """The items up to the first that raises while it is made, which is noted."""
        made = iter(items)
        while True:
            try:
                item = next(made)
            except StopIteration:
                return
            except Exception as error:
                self.note(stage, about, error)
                return
            yield item

    def note(self, stage: str, about: str, error: Exception) -> None:
        key = stage, about, message_of(error) + raised_at(error, "")
        if key in self.found or len(self.found) < MOST_KEPT:
            self.found[key] += 1

    def rows(self) -> list[dict[str, Any]]:
        """For run.json: the stage, the backend and kind of node that it was about, the error, and how often it came."""
        ordered = sorted(self.found.items(), key=lambda item: (-item[1], item[0]))
        return [{"stage": s, "about": about, "error": text, "times": n} for (s, about, text), n in ordered]
