"""Scales and zero points for a pattern's pairs, and why they were chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tiebreak.golden.patterns.graph import ScalePair


@dataclass(frozen=True)
class PatternSetting:
    """Pairs by name, and why they were chosen."""

    pairs: Mapping[str, ScalePair]
    reason: str

    def __str__(self) -> str:
        return ", ".join(f"{name} = {pair}" for name, pair in self.pairs.items())


def distinct(chosen: Iterable[PatternSetting]) -> list[PatternSetting]:
    """The first of those that have equal pairs."""
    found: dict[str, PatternSetting] = {}
    for setting in chosen:
        found.setdefault(str(setting), setting)
    return list(found.values())
