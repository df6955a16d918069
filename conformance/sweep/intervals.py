"""Folds mismatches into intervals of consecutive bit patterns, so that any number of them needs little memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tiebreak.conformance.sweep.look import WrongRuns
from tiebreak.golden.elements import FloatType
from tiebreak.golden.problem import Array
from tiebreak.golden.space import Space

MOST_KEPT = 1000


@dataclass(frozen=True)
class Interval:
    """Consecutive inputs, number `first` to `last`, that all deviate; with codes got and expected at both ends."""

    first: int
    last: int
    first_got: int
    first_expected: int
    last_got: int
    last_expected: int
    cause: str = ""

    @property
    def inputs(self) -> int:
        return self.last - self.first + 1


@dataclass
class Folded:
    """`count` intervals, the first MOST_KEPT of them, and the last one, which the next interval may continue."""

    count: int = 0
    kept: list[Interval] = field(default_factory=list)
    last: Interval | None = None

    def add(self, interval: Interval, joined: bool) -> None:
        """Add the next interval in order; `joined` if it continues the last one."""
        if joined and self.last is not None:
            whole = replace(
                self.last, last=interval.last, last_got=interval.last_got, last_expected=interval.last_expected
            )
            if len(self.kept) == self.count:
                self.kept[-1] = whole
            self.last = whole
            return
        self.count += 1
        self.last = interval
        if len(self.kept) < MOST_KEPT:
            self.kept.append(interval)

    def described(self) -> dict[str, Any]:
        last = None if self.last is None else as_list(self.last)
        return {"count": self.count, "kept": [as_list(interval) for interval in self.kept], "last": last}


def as_list(interval: Interval) -> list[int]:
    codes = interval.first_got, interval.first_expected, interval.last_got, interval.last_expected
    return [interval.first, interval.last, *codes]


def folded_from(data: Any) -> Folded:
    """Intervals from what `Folded.described` wrote. TypeError, KeyError or ValueError for anything else."""
    last = None if data["last"] is None else interval_from(data["last"])
    return Folded(int(data["count"]), [interval_from(row) for row in data["kept"]], last)


def interval_from(row: Any) -> Interval:
    first, last, *codes = map(int, row)
    first_got, first_expected, last_got, last_expected = codes
    return Interval(first, last, first_got, first_expected, last_got, last_expected)


def fold(space: Space, wrong: Sequence[WrongRuns]) -> Folded:
    """The intervals of a block's deviating inputs."""
    found = Folded()
    if not sum(runs.first.size for runs in wrong):
        return found
    joined = [np.concatenate(arrays) for arrays in zip(*wrong, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    runs = WrongRuns(*(array[order] for array in joined))
    apart = (runs.first[1:] - runs.last[:-1] != 1) | (np.diff(families(space, runs.first)) != 0)
    starts = np.flatnonzero(np.concatenate([[True], apart]))
    ends = np.concatenate([starts[1:] - 1, [runs.first.size - 1]])
    found.count = starts.size

    def interval(i: int) -> Interval:
        a, b = int(starts[i]), int(ends[i])
        codes = int(runs.got[a]), int(runs.expected[a]), int(runs.got[b]), int(runs.expected[b])
        return Interval(int(runs.first[a]), int(runs.last[b]), *codes)

    found.kept = [interval(i) for i in range(min(MOST_KEPT, starts.size))]
    found.last = interval(starts.size - 1)
    return found


def families(space: Space, numbers: Array) -> Array:
    """A label for each input; no interval crosses from one label to another.

    The label changes with the scale, the sign, and from finite numbers to infinity to NaN.
    """
    patterns = numbers % space.patterns
    scale = numbers // space.patterns
    if not isinstance(space.first, FloatType):
        return np.asarray(scale)
    half = space.patterns // 2
    magnitude = patterns % half if space.first.specials != "e8m0" else patterns
    kind = (magnitude >= space.first.infinity_bits).astype(np.int64)
    kind += (magnitude > space.first.infinity_bits) & (space.first.specials == "ieee")
    return np.asarray(scale * 8 + (patterns >= half) * 4 + kind)


def join_folded(space: Space, parts: Iterable[Folded]) -> Folded:
    """The intervals of consecutive blocks, given in order, as one."""
    whole = Folded()
    for part in parts:
        if not part.count:
            continue
        begins = part.kept[0]
        meets = whole.last is not None and whole.last.last + 1 == begins.first
        if meets and whole.last is not None:
            both = families(space, np.array([whole.last.last, begins.first]))
            meets = bool(both[0] == both[1])
        whole.add(begins, meets)
        for interval in part.kept[1:]:
            whole.add(interval, False)
        if part.count > len(part.kept) and part.last is not None:
            whole.count += part.count - len(part.kept)
            whole.last = part.last
    return whole
