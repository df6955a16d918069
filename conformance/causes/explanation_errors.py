"""Errors while results are explained. Each costs the explanation that was being looked for, never a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tiebreak.adapters.answering import message_of, place_of

T = TypeVar("T")
Instead = TypeVar("Instead")
MOST_KEPT = 1000  # distinct errors


@dataclass
class ExplanationErrors:
    """Counts errors by stage, subject (`about`: a backend, a kind of node) and text."""

    found: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def attempt(self, stage: str, about: str, explain: Callable[[], T], instead: Instead) -> T | Instead:
        """What `explain` returns. If it raises an Exception, the error is noted and `instead` is returned."""
        try:
            return explain()
        except Exception as error:
            self.note(stage, about, error)
            return instead

    def each(self, stage: str, about: str, items: Iterable[T]) -> Iterator[T]:
        """The items, until making one raises an Exception; that is noted."""
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
        key = stage, about, message_of(error) + place_of(error, "")
        if key in self.found or len(self.found) < MOST_KEPT:
            self.found[key] += 1

    def rows(self) -> list[dict[str, Any]]:
        """The rows for run.json, the most frequent first: stage, subject, error text, and how often it was raised."""
        ordered = sorted(self.found.items(), key=lambda item: (-item[1], item[0]))
        return [{"stage": s, "about": about, "error": text, "times": n} for (s, about, text), n in ordered]
