"""Causes that hold at some places only: in the body or in the tail of a vector loop, at odd ones, in a half.

A library may compute most of an array by vectors and what is left one by one, each in its own way. A mistake that is
contradicted, but only ever outside of such a place, is named there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tiebreak.conformance.causes.places import PLACES, is_inside, may_be_placed
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import at_place

FEWEST = 30  # elements that a cause must explain at a place
FEWEST_OUTSIDE = 10  # conforming elements that contradict it, all of them outside of the place

Placed = tuple[Cause, int]  # a cause, and the number of its place


@dataclass(frozen=True)
class Unexplained:
    """An element without a cause: its index in an array of this size, and the causes that predict it there."""

    index: int
    size: int
    matching: frozenset[Cause]

    def candidates(self, possible: Mapping[Cause, Sequence[int]]) -> list[Placed]:
        inside = [is_inside(place, self.index, self.size) for place in range(len(PLACES))]
        return [(one, place) for one in self.matching for place in possible.get(one, ()) if inside[place]]


def placed_causes(
    elements: Sequence[Unexplained],
    against: Mapping[Cause, int],
    third: Mapping[Cause, int],
    contradicted: Mapping[Cause, int],
    prefix: str,
) -> list[Cause | None]:
    """The cause of each element of one kind of node and path, None where none is found.

    `against` and `third` count by cause the conforming elements that contradict it, and the deviating ones to which it
    gives a third result; `contradicted` has the bits of the places where they are. What explains the most comes first,
    then the wider place. `prefix` begins the key of each place.
    """
    matching = frozenset[Cause]().union(*(one.matching for one in elements))
    known = [cause for cause in matching if may_be_placed(cause) and against.get(cause, 0) >= FEWEST_OUTSIDE]
    possible = {cause: free_places(contradicted.get(cause, 0)) for cause in known}
    candidates = [one.candidates(possible) for one in elements]
    found: list[Cause | None] = [None] * len(elements)
    left = set(range(len(elements)))
    while left:
        counts = Counter(candidate for number in left for candidate in candidates[number])
        enough = [one for one, n in counts.items() if n >= FEWEST and 10 * third.get(one[0], 0) <= n]
        if not enough:
            break
        best = min(enough, key=lambda one: (-counts[one], one[0].rank, one[0].id, one[1]))
        cause = replace(best[0], id=at_place(best[0].id, f"{prefix}{key_of_place(best[1])}"))
        for number in [number for number in left if best in candidates[number]]:
            found[number] = cause
            left.remove(number)
    return found


def free_places(bits: int) -> list[int]:
    return [place for place in range(len(PLACES)) if not bits >> place & 1]


def key_of_place(place: int) -> str:
    name, width = PLACES[place]
    return f"{name}:{width}" if width else name
