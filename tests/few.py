"""`@pytest.mark.few(COUNT)`: of a test's sets of parameters, COUNT are in the default run, and all others are slow.

They are spread evenly over the list, so that a list which grows makes the default run no longer. `of="name"` counts
them for each value of the parameter `name` by itself, `of="name.attribute"` for each value of its attribute.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pytest


def left_to_slow(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """The items that are not among the few of their test."""
    groups: dict[tuple[Any, ...], list[pytest.Item]] = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("few")
        if mark and isinstance(item, pytest.Function) and not item.get_closest_marker("slow"):
            groups[item.parent, item.originalname, group_of(item, mark.kwargs.get("of", "")), *mark.args].append(item)
    for (*_, count), members in groups.items():
        kept = {place * len(members) // count for place in range(count)}
        yield from (member for place, member in enumerate(members) if place not in kept)


def group_of(item: pytest.Function, of: str) -> Any:
    name, _, attribute = of.partition(".")
    value = item.callspec.params[name] if name else None
    return getattr(value, attribute) if attribute else value
