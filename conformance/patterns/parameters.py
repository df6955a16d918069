"""Scales and zero points that tell rewrites apart, chosen without chance.

Each set has a reason. A rewrite that merges scales is wrong where their ratio is nearly rational: there many exact
results lie on a tie, and the ratio that it rounds falls to one side of it. To these sets come, for each pattern, the
settings on both sides of each decision that looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from typing import TypeVar

import numpy as np

from tiebreak.conformance.patterns.decisions.derived import decided_settings
from tiebreak.conformance.patterns.pattern_setting import PatternSetting, distinct
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.patterns.graph import Pattern, ScalePair

T = TypeVar("T")
# Scales of the pairs in order of appearance; the last one is of the output, unless all pairs are shared.
SCALES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "near-rational ratios": (
        ("0.02", "0.03", "0.04"),
        ("0.1", "0.2", "0.3"),
        ("0.05", "0.15", "0.1"),
        ("0.07", "0.03", "0.05"),
    ),
    "decimals": (("0.0235", "0.0117", "0.0471"), ("0.0078", "0.0039", "0.0157"), ("0.5", "0.3", "0.7")),
    "powers of two": (("0.0625", "0.0625", "0.125"), ("1", "0.5", "2"), ("0.00390625", "0.0078125", "0.015625")),
    "one scale": (("0.1",), ("0.0125",), ("1",)),
    "neighbours and extremes": (
        ("0.1", "0.1", "0.0999999940"),
        ("0.1", "0.1000000089", "0.1"),
        ("0.001", "0.3", "0.02"),
    ),
}
ZERO_POINTS: Mapping[str, tuple[int, ...]] = {
    "lowest": (0,),
    "middle": (128,),
    "mixed": (128, 100, 3),
    "odd at the end": (128, 128, 127),  # a sum with it rounds ties the other way
    "highest": (255,),
}


def settings(pattern: Pattern, most: int) -> list[PatternSetting]:
    """At most so many of the sets, and those beside decisions; equal ones once."""
    return distinct([*chosen_from_sets(pattern)[:most], *decided_settings(pattern, base_of(pattern))])


def chosen_from_sets(pattern: Pattern) -> list[PatternSetting]:
    """First each list of scales with another choice of zero points than the last; equal ones once."""
    return distinct(diagonally(list(every_setting(pattern))))


def base_of(pattern: Pattern) -> dict[str, ScalePair]:
    """The pairs from which those beside decisions are made: an uneven ratio, and zero points in the middle."""
    return pairs_of(pattern, SCALES["near-rational ratios"][0], ZERO_POINTS["middle"])


def diagonally(every: list[PatternSetting]) -> Iterator[PatternSetting]:
    """In an order in which scales and zero points both change from one to the next."""
    width = len(ZERO_POINTS)
    for turn in range(width):
        for place in interleaved():
            yield every[width * place + (place + turn) % width]


def interleaved() -> list[int]:
    """The places of the lists of scales: the first of each reason, then the second of each."""
    starts = [sum(map(len, list(SCALES.values())[:k])) for k in range(len(SCALES))]
    longest = max(map(len, SCALES.values()))
    rounds = [
        [start + k for start, some in zip(starts, SCALES.values(), strict=True) if k < len(some)]
        for k in range(longest)
    ]
    return [place for one in rounds for place in one]


def every_setting(pattern: Pattern) -> Iterator[PatternSetting]:
    for reason, choices in SCALES.items():
        for scales in choices:
            for where, offsets in ZERO_POINTS.items():
                yield PatternSetting(pairs_of(pattern, scales, offsets), f"{reason}, zero points {where}")


def pairs_of(pattern: Pattern, scales: tuple[str, ...], offsets: tuple[int, ...]) -> dict[str, ScalePair]:
    numbers = zip(pattern.pairs.items(), spread(scales, pattern), spread(offsets, pattern), strict=True)
    return {name: pair(scale, offset, kind) for (name, kind), scale, offset in numbers}


def spread(values: tuple[T, ...], pattern: Pattern) -> list[T]:
    """A value for each pair; where there are fewer pairs than values, the last pair has the last value."""
    count = len(pattern.pairs)
    return [*islice(cycle(values), count - 1), values[-1]]


def pair(scale: str, offset: int, kind: str) -> ScalePair:
    """The zero point is `offset` 256ths of all codes above the lowest one."""
    ends = INTEGER_TYPES[kind]
    return ScalePair(np.float32(scale), ends.lowest + offset * (ends.highest - ends.lowest + 1) // 256, kind)
