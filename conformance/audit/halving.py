"""Halves intervals of inputs until no semantics changes inside: the loop of proof.py, with its arrays used again.

Arrays of a megabyte that are new for each step would take longer to get from the system than to fill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.conformance.semantics.model import Arithmetic, Probe, Semantics
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType
from tiebreak.golden.problem import Array

BLOCK = 1 << 13  # inputs that are predicted together: what they give stays in the processor's cache


class Intervals(NamedTuple):
    """Intervals between numbers counted as by from_ordinals (int64), and the stages at both ends (a row for each)."""

    low: Array
    high: Array
    below: Array
    above: Array

    def part(self, start: int, stop: int | None = None) -> Intervals:
        return Intervals(
            self.low[start:stop], self.high[start:stop], self.below[:, start:stop], self.above[:, start:stop]
        )

    def midpoints(self, out: Array) -> Array:
        """Written to `out`. The sum of two ends would exceed int64."""
        half = np.right_shift(np.subtract(self.high, self.low, out=out), 1, out=out)
        return np.add(half, self.low, out=out)

    def with_rows(self, rows: int) -> Intervals:
        """The same with so many rows of stages, if one stands for all."""
        if len(self.below) == rows:
            return self
        return self._replace(below=np.repeat(self.below, rows, axis=0), above=np.repeat(self.above, rows, axis=0))

    def open(self) -> Intervals:
        """Those that hold a number and at whose ends a stage differs."""
        kept = np.flatnonzero((self.below != self.above).any(axis=0) & (self.high - self.low > 1))
        below, above = (np.ascontiguousarray(stages[:, kept]) for stages in (self.below, self.above))
        return Intervals(self.low[kept], self.high[kept], below, above)


def room_for(rows: int, count: int) -> Intervals:
    """Memory for the halves of so many intervals; open_halves writes to one more, which never counts."""
    ends, stages = np.empty((2, 2 * count + 1), np.int64), np.empty((2, rows, 2 * count + 1))
    return Intervals(*ends, *stages)


class Step(NamedTuple):
    """Inputs that were looked at: whether all semantics agree on each, and whether no stage falls. Overwritten soon."""

    x: Array
    agree: bool
    never_falls: bool


class Predictions:
    """What the semantics that are left give for many inputs: their stages, and whether their codes are the same."""

    def __init__(self, arithmetic: Arithmetic, left: Sequence[Semantics], setting: Probe, room: int) -> None:
        keys = [arithmetic.stage_key(one) for one in left]
        self.arithmetic, self.left, self.others = arithmetic, left, setting.others
        self.rows = {keys.index(key): row for row, key in enumerate(dict.fromkeys(keys))}
        self.x = np.empty(room, arithmetic.node.inputs[0].dtype)
        self.stages = np.empty((len(self.rows), room))

    def at(self, ordinals: Array) -> tuple[bool, bool]:
        """Whether all codes agree, and whether all stages do, which `stages` then holds, as `x` does the inputs."""
        agree = alike = True
        for start in range(0, ordinals.size, BLOCK):
            part = slice(start, min(start + BLOCK, ordinals.size))
            self.x[part] = from_ordinals(ordinals[part], self.arithmetic)
            agree &= self.look_at(part)
            rows = self.stages[:, part].view(np.int64)
            alike = alike and all(_steps.same(rows[0], other) for other in rows[1:])
        return agree, alike

    def look_at(self, part: slice) -> bool:
        """Fills this part of `stages` for the inputs in `x`; whether all codes agree."""
        first, agree = None, True
        for number, (codes, stage) in enumerate(self.arithmetic.staged(Probe(self.x[part], self.others), self.left)):
            if number in self.rows:
                self.stages[self.rows[number], part] = stage
            first = codes if first is None else first
            agree = agree and (codes is first or _steps.same(first, codes))
        return agree


def halved(arithmetic: Arithmetic, left: Sequence[Semantics], setting: Probe, at_once: int) -> Iterator[Step]:
    """Looks at the ends of all finite numbers and both zeros; then amid at most `at_once` intervals in each step."""
    predictions = Predictions(arithmetic, left, setting, max(6, at_once))
    ends = first_ends(ELEMENT_TYPES[arithmetic.node.input_type])
    count = ends.size + 1
    predictions.x[:count] = from_ordinals(np.append(ends, 0), arithmetic)
    predictions.x[ends.size] *= -1  # the zero that is negative, if there is one
    agree = predictions.look_at(slice(0, count))
    stages = predictions.stages[:, : ends.size]
    yield Step(predictions.x[:count], agree, bool((stages[:, :-1] <= stages[:, 1:]).all()))
    stages = stages[:1] if (stages == stages[0]).all() else stages
    first = Intervals(ends[:-1], ends[1:], stages[:, :-1], stages[:, 1:])
    yield from halved_further(predictions, first.open(), at_once)


def first_ends(kind: FloatType | IntegerType) -> Array:
    """Ordinals between which no interval has numbers of both signs."""
    if isinstance(kind, IntegerType):
        return np.unique(np.array([kind.lowest, max(-1, kind.lowest), 0, 1, kind.highest]))
    most = kind.infinity_bits - 1
    return np.array([-most, -1, 0, 1, most])


def halved_further(predictions: Predictions, first: Intervals, at_once: int) -> Iterator[Step]:
    """Halves the intervals of which most is known first, so that few wait. One row of stages may stand for all."""
    every = len(predictions.rows)
    work, spare = [(first, first)] if first.low.size else [], list[Intervals]()
    middle = np.empty(at_once, np.int64)
    while work:
        intervals, held = work.pop()
        now, later = intervals.part(0, at_once), intervals.part(at_once)
        size = now.low.size
        agree, alike = predictions.at(now.midpoints(middle[:size]))
        rows = 1 if alike and len(now.below) == 1 else every
        now, stages = now.with_rows(rows), predictions.stages[:rows, :size]
        yield Step(predictions.x[:size], agree, never_falls(now.below, stages) and never_falls(stages, now.above))
        room = spare.pop() if spare else room_for(every, at_once)
        count = _steps.open_halves(*now, middle[:size], stages, *room)
        if later.low.size:
            work.append((later, held))
        elif held.low.size == room.low.size:
            spare.append(held)
        if count:
            work.append((Intervals(room.low, room.high, room.below[:rows], room.above[:rows]).part(0, count), room))
        else:
            spare.append(room)


def never_falls(below: Array, above: Array) -> bool:
    """Whether no stage falls from one to the other; false if one is NaN."""
    return all(_steps.never_falls(*both) for both in zip(below, above, strict=True))


def from_ordinals(ordinals: Array, arithmetic: Arithmetic) -> Array:
    """Numbers of the input's type, counted from 0 in both directions."""
    kind, dtype = ELEMENT_TYPES[arithmetic.node.input_type], arithmetic.node.inputs[0].dtype
    if isinstance(kind, IntegerType):
        return ordinals.astype(dtype)
    bits = kind.bits
    if bits == 32:
        return _steps.words32(ordinals).view(dtype)
    words = np.abs(ordinals).astype(np.uint64) | ((ordinals < 0).astype(np.uint64) << np.uint64(bits - 1))
    return words.astype(f"uint{bits}").view(dtype)
