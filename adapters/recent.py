"""Keeps what was made last: compiled models hold memory and threads, and a run needs thousands of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Recent:
    """At most `most` things by key; the one that was not used for the longest time is dropped first."""

    most: int = 64
    kept: OrderedDict[Hashable, Any] = field(default_factory=OrderedDict)

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The thing of this key, made if it is not kept."""
        if key not in self.kept:
            self.kept[key] = make()
            if len(self.kept) > self.most:
                self.kept.popitem(last=False)
        self.kept.move_to_end(key)
        return self.kept[key]
