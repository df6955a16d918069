"""Where two sides differed: for which zero points, and the simplest scale and operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class Differing:
    """Results of both sides, and the scale's bit pattern. `inputs` are differences of codes and the zero point.

    `operand` is the bit pattern of a float operand, `zeros` are the least and the greatest zero point that show it.
    """

    order: int  # of the scale: how simple it is
    distance: int  # of the inputs from zero
    word: int
    inputs: tuple[int, ...]
    operand: int
    left: int
    right: int
    zeros: tuple[int, int]


@dataclass(frozen=True)
class DifferingGroup:
    """Results that differ, as arrays of one length: both results, bit pattern and significant bits of the scale.

    There are either differences of codes and the zero point, [length, operands], or bit patterns of a float operand,
    which is next to the decision of that number.
    """

    left: Array
    right: Array
    words: Array
    bits: Array
    codes: Array | None = None
    operands: Array | None = None
    decision: int = 0

    def order(self, real: str) -> Array:
        """A key to order scales: fewest significant bits, then those nearest to 1."""
        kind = FLOAT_TYPES[real]
        exponents = (self.words.astype(np.int64) >> (kind.precision - 1)) & ((1 << kind.exponent_bits) - 1)
        return np.asarray(self.bits * 4096 + np.abs(exponents - kind.bias))

    def distances(self, places: Array) -> Array:
        """How far inputs are from zero, in steps."""
        if self.codes is None:
            return np.full(len(places), abs(self.decision))
        return np.asarray(np.abs(self.codes[places]).sum(axis=1))


@dataclass(frozen=True)
class ZeroPoints:
    """The zero points of a claim, in ascending order, of a type; `clamps` says that results are codes, not floats.

    `real` is the floats' type.
    """

    kind: str
    chosen: Sequence[int]
    clamps: bool
    real: str

    @property
    def ends(self) -> tuple[int, int]:
        return INTEGER_TYPES[self.kind].lowest, INTEGER_TYPES[self.kind].highest

    def are_nan(self, words: Array) -> Array:
        kind = FLOAT_TYPES[self.real]
        return np.asarray((words & ((1 << kind.bits - 1) - 1)) > kind.infinity_bits)

    def hide(self, left: Array, right: Array) -> bool:
        """Whether all results are clamped to one end for each chosen zero point; False if that takes a closer look."""
        lowest, highest = self.ends
        most, least = int(max(left.max(), right.max())), int(min(left.min(), right.min()))
        return self.clamps and (most + self.chosen[-1] <= lowest or least + self.chosen[0] >= highest)

    def showing(self, some: DifferingGroup) -> tuple[Array, Array]:
        """The least and the greatest zero point that show each result after clamping; none if they cross."""
        lowest, highest = self.ends
        low, high = np.full(len(some.left), lowest, np.int64), np.full(len(some.left), highest, np.int64)
        if self.clamps:
            least, most = np.minimum(some.left, some.right), np.maximum(some.left, some.right)
            # Both end at the same end of the type if the lesser reaches its highest code, or the greater its lowest.
            low, high = np.maximum(low, lowest - most + 1), np.minimum(high, highest - least - 1)
            high[least < lowest - highest - 1] = lowest - 1  # NaN: no document says what Q makes of it
        else:
            high[self.are_nan(some.left) | self.are_nan(some.right)] = lowest - 1
        if some.codes is not None:
            low, high = (
                np.maximum(low, lowest - some.codes.min(axis=1)),
                np.minimum(high, highest - some.codes.max(axis=1)),
            )
        return low, high


class Differences:
    """All results that differed, summed up; those that no zero point of the claim shows do not count."""

    def __init__(self, zero_points: ZeroPoints) -> None:
        self.zero_points = zero_points
        lowest, highest = zero_points.ends
        self.is_chosen = np.zeros(highest - lowest + 1, bool)
        self.is_chosen[np.asarray(zero_points.chosen, np.int64) - lowest] = True
        self.before = np.cumsum([0, *self.is_chosen])  # how many chosen zero points there are below each
        self.is_shown = np.zeros(highest - lowest + 1, bool)
        self.witnesses: list[Differing] = []  # together they show a difference for each zero point with one
        self.simplest: Differing | None = None
        self.least: int | None = None  # distance of codes from the zero point

    def note(self, some: DifferingGroup) -> Array:
        """Take note of results that differ; which of them count."""
        if self.zero_points.hide(some.left, some.right):
            return np.zeros(len(some.left), bool)
        low, high = self.zero_points.showing(some)
        lowest, last = self.zero_points.ends[0], len(self.is_chosen) - 1
        first, end = np.clip(low - lowest, 0, last), np.clip(high - lowest, -1, last)
        counts = (low <= high) & (self.before[end + 1] > self.before[first])
        if not counts.any():
            return np.asarray(counts)
        places = np.flatnonzero(counts)
        distances = some.distances(places)
        if some.codes is not None:
            least = int(distances.min())
            self.least = least if self.least is None else min(self.least, least)
        order = some.order(self.zero_points.real)[places]
        best = np.lexsort((some.words[places], distances, order))[0] if len(places) > 1 else 0
        self.take(self.differing(some, int(places[best]), int(distances[best]), (low, high)))
        self.witness(some, places, distances, (low, high))
        return np.asarray(counts)

    def witness(self, some: DifferingGroup, places: Array, distances: Array, zeros: tuple[Array, Array]) -> None:
        """Keep results that show zero points which no result has shown: the fewest, those of the widest spans."""
        if (self.is_shown | ~self.is_chosen).all():
            return
        lowest = self.zero_points.ends[0]
        first, last = zeros[0][places] - lowest, zeros[1][places] - lowest
        changes = np.zeros(len(self.is_chosen) + 1, np.int64)
        np.add.at(changes, first, 1)
        np.add.at(changes, last + 1, -1)
        missing = (np.cumsum(changes)[:-1] > 0) & self.is_chosen & ~self.is_shown
        while missing.any():
            zero = int(np.argmax(missing))
            widest = int(np.argmax(np.where((first <= zero) & (zero <= last), last, -1)))
            self.witnesses.append(self.differing(some, int(places[widest]), int(distances[widest]), zeros))
            shown = slice(int(first[widest]), int(last[widest]) + 1)
            self.is_shown[shown] |= self.is_chosen[shown]
            missing[shown] = False

    def differing(self, some: DifferingGroup, place: int, distance: int, zeros: tuple[Array, Array]) -> Differing:
        return Differing(
            int(some.order(self.zero_points.real)[place]),
            distance,
            int(some.words[place]),
            () if some.codes is None else tuple(int(code) for code in some.codes[place]),
            0 if some.operands is None else int(some.operands[place]),
            int(some.left[place]),
            int(some.right[place]),
            (int(zeros[0][place]), int(zeros[1][place])),
        )

    def take(self, one: Differing) -> None:
        def rank(each: Differing) -> tuple[int, int, int]:
            return each.order, each.distance, each.word

        if self.simplest is None or rank(one) < rank(self.simplest):
            self.simplest = one

    def join(self, other: Differences) -> None:
        """Take over what another block found."""
        lowest = self.zero_points.ends[0]
        for one in other.witnesses:
            shown = slice(one.zeros[0] - lowest, one.zeros[1] - lowest + 1)
            if (self.is_chosen & ~self.is_shown)[shown].any():
                self.witnesses.append(one)
                self.is_shown[shown] |= self.is_chosen[shown]
        if other.simplest is not None:
            self.take(other.simplest)
        if other.least is not None:
            self.least = other.least if self.least is None else min(self.least, other.least)

    def fewest_witnesses(self) -> list[Differing]:
        """The fewest witnesses that together show each zero point with a difference."""
        lowest = self.zero_points.ends[0]
        first, last = (np.array([one.zeros[end] - lowest for one in self.witnesses], np.int64) for end in (0, 1))
        missing, found = self.is_shown.copy(), []
        while missing.any():
            zero = int(np.argmax(missing))
            widest = int(np.argmax(np.where((first <= zero) & (zero <= last), last, -1)))
            found.append(self.witnesses[widest])
            missing[: int(last[widest]) + 1] = False
        return found

    def holds(self) -> list[int]:
        """The zero points of the claim that show no difference."""
        return [int(zero) + self.zero_points.ends[0] for zero in np.flatnonzero(self.is_chosen & ~self.is_shown)]
