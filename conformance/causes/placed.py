"""Causes that hold at some places only: in the body or in the tail of a vector loop, at odd ones, in small arrays.

A library may compute most of an array by vectors and what is left one by one, each in its own way. A mistake that is
contradicted, but only ever outside of such a place, is named there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from tiebreak.conformance.causes.places import EVERYWHERE, LOOPS, PLACES, may_be_placed, numbers_of
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import at_place

NOT_LOOPS = EVERYWHERE & ~((1 << len(LOOPS)) - 1)  # modes in vector loops are causes of their own
FEWEST = 30  # elements that a cause must explain at a place
FEWEST_OF_KNOWN = 3  # elements, of a cause that is named at this place elsewhere
FEWEST_OPERANDS = 8  # different ones among them: few fit something by chance
FEWEST_OUTSIDE = 10  # conforming elements that contradict it, all of them outside of the place

Placed = tuple[Cause, int]  # a cause, and the number of its place
Refuted = Callable[[Cause, int], bool]  # whether a conforming element at a place contradicts a cause


@dataclass(frozen=True)
class Unexplained:
    """An element without a cause: the bits of its places, the causes that predict it there, and its operands."""

    places: int
    matching: frozenset[Cause]
    operands: str


@dataclass(frozen=True)
class Against:
    """What speaks against causes: conforming elements, deviating ones with a third result, and where the former are.

    `refuted` asks the cases in which nothing deviates, which the counts leave out.
    """

    conforming: Mapping[Cause, int]
    third: Mapping[Cause, int]
    places: Mapping[Cause, int]
    refuted: Refuted


def placed_causes(
    elements: Sequence[Unexplained], against: Against, known: Set[tuple[str, int]] = frozenset()
) -> list[Placed | None]:
    """The cause and the place of each element of one kind of node and path, None where none is found.

    What explains the most comes first, then what is known, then the wider place. `known` are the ids with the places
    that have been found for other elements: they may explain fewer.
    """
    found: list[Placed | None] = [None] * len(elements)
    left = Left(elements, against)
    for _ in range(left.counts.total()):  # each turn takes one of them away, at least
        best = left.most_explaining(known)
        if best is None:
            break
        if against.refuted(*best):
            left.counts.pop(best)
            continue
        for number in left.take(best):
            found[number] = best
    return found


class Left:
    """The elements without a cause, and how many of them each cause explains at each place where it is free to hold."""

    def __init__(self, elements: Sequence[Unexplained], against: Against) -> None:
        self.elements, self.against = elements, against
        self.alike: dict[tuple[int, frozenset[Cause]], list[int]] = defaultdict(list)
        for number, one in enumerate(elements):
            self.alike[one.places, one.matching].append(number)
        self.free = {
            cause: (NOT_LOOPS if cause.mode else EVERYWHERE) & ~against.places.get(cause, 0)
            for cause in frozenset[Cause]().union(*(matching for _, matching in self.alike))
            if may_be_placed(cause) and against.conforming.get(cause, 0) >= FEWEST_OUTSIDE
        }
        self.counts = Counter[Placed]()
        for key, numbers in self.alike.items():
            for placed in self.possible(*key):
                self.counts[placed] += len(numbers)

    def possible(self, places: int, matching: frozenset[Cause]) -> Iterator[Placed]:
        for cause in matching & self.free.keys():
            for place in numbers_of(self.free[cause] & places):
                yield cause, place

    def most_explaining(self, known: Set[tuple[str, int]]) -> Placed | None:
        """The cause and the place that explain the most elements, if these are enough."""

        def order(one: Placed) -> tuple[Any, ...]:
            cause, place = one
            return -self.counts[one], (cause.id, place) not in known, cause.rank, cause.id, place

        enough = (one for one in self.counts if self.is_enough(one, known))
        return next((one for one in sorted(enough, key=order) if self.has_operands(one, known)), None)

    def is_enough(self, placed: Placed, known: Set[tuple[str, int]]) -> bool:
        cause, place = placed
        fewest = FEWEST_OF_KNOWN if (cause.id, place) in known else FEWEST
        return self.counts[placed] >= max(fewest, 10 * self.against.third.get(cause, 0))

    def has_operands(self, placed: Placed, known: Set[tuple[str, int]]) -> bool:
        """Whether a cause explains enough different operands."""
        cause, place = placed
        own = {self.elements[number].operands for key in self.with_one(placed) for number in self.alike[key]}
        return len(own) >= FEWEST_OPERANDS or (cause.id, place) in known

    def with_one(self, placed: Placed) -> list[tuple[int, frozenset[Cause]]]:
        cause, place = placed
        return [one for one in self.alike if cause in one[1] and one[0] >> place & 1]

    def take(self, placed: Placed) -> list[int]:
        """The elements that a cause explains at a place, which are left no more."""
        taken = []
        for key in self.with_one(placed):
            numbers = self.alike.pop(key)
            taken += numbers
            for other in self.possible(*key):
                self.counts[other] -= len(numbers)
        return taken


def with_place(placed: Placed, prefix: str) -> Cause:
    """The cause with the place in its id; `prefix` begins the place's key."""
    cause, place = placed
    return replace(cause, id=at_place(cause.id, f"{prefix}{key_of_place(place)}"))


def key_of_place(place: int) -> str:
    name, parameter = PLACES[place]
    return f"{name}:{parameter}" if parameter else name


NUMBERS = {key_of_place(place): place for place in range(len(PLACES))}
