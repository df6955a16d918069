"""The fewest sets that cover all elements: reduced, then searched by branch and bound, so that a minimum is proved.

A set is a Python integer with a bit for each element. Reductions keep a minimum: a set inside another is not needed, an
element that whoever covers another covers as well needs no thought, and an element in one set alone forces that set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

MOST_STEPS = 200_000  # of the search; then the best that was found is only known to be few


@dataclass(frozen=True)
class Cover:
    """Places of the sets that together cover everything, in order, and a number of sets that no cover goes below."""

    places: tuple[int, ...]
    at_least: int

    @property
    def is_fewest(self) -> bool:
        return len(self.places) == self.at_least


@dataclass
class CoverProblem:
    """What is left of a problem: the sets by place, cut to the elements left; and what is chosen already."""

    sets: dict[int, int]
    left: int
    chosen: list[int] = field(default_factory=list)

    def reduce(self) -> None:
        """Apply the reductions until none changes anything."""
        before = None
        while self.left and before != (self.left, len(self.sets)):
            before = self.left, len(self.sets)
            self.sets = without_contained({place: one & self.left for place, one in self.sets.items()})
            holders = without_implied(holders_of(self.sets, self.left))
            self.left = sum(1 << element for element in holders)
            for places in holders.values():
                if len(places) == 1 and self.left:
                    self.take(next(iter(places)))

    def take(self, place: int) -> None:
        if self.sets.get(place, 0) & self.left:
            self.chosen.append(place)
            self.left &= ~self.sets[place]

    def with_set(self, place: int) -> CoverProblem:
        return CoverProblem(dict(self.sets), self.left & ~self.sets[place], [*self.chosen, place])


def fewest_cover(sets: Sequence[int], most_steps: int = MOST_STEPS) -> Cover:
    """A smallest choice of `sets` that covers all that they cover together; of equal sets the earlier one is chosen."""
    everything = 0
    for one in sets:
        everything |= one
    root = CoverProblem(dict(enumerate(sets)), everything)
    root.reduce()
    best, steps, open_ = greedy(root), 0, [root]
    at_least = len(root.chosen) + fewest_needed(root)
    while open_ and len(best) > at_least:
        steps += 1
        if steps > most_steps:
            return Cover(tuple(sorted(best)), at_least)
        search = open_.pop()
        if not search.left:
            best = min(best, search.chosen, key=len)
        elif len(search.chosen) + fewest_needed(search) < len(best):
            open_.extend(branches(search))
    return Cover(tuple(sorted(best)), len(best))


def branches(search: CoverProblem) -> Iterator[CoverProblem]:
    """One for each set that holds the element in the fewest sets, the largest set last: it is searched first."""
    holders = holders_of(search.sets, search.left)
    places = min(holders.values(), key=len)
    for place in sorted(places, key=lambda place: search.sets[place].bit_count()):
        branch = search.with_set(place)
        branch.reduce()
        yield branch


def greedy(search: CoverProblem) -> list[int]:
    """A cover that takes what covers the most of the rest, again and again."""
    chosen, left = list(search.chosen), search.left
    while left:
        place = max(search.sets, key=lambda place: ((search.sets[place] & left).bit_count(), -place))
        chosen.append(place)
        left &= ~search.sets[place]
    return chosen


def fewest_needed(search: CoverProblem) -> int:
    """A lower bound: so many elements of which no two are in one set."""
    holders, used, count = holders_of(search.sets, search.left), set[int](), 0
    for places in sorted(holders.values(), key=len):
        if used.isdisjoint(places):
            used |= places
            count += 1
    return count


def holders_of(sets: dict[int, int], elements: int) -> dict[int, frozenset[int]]:
    """By element, the places of the sets that hold it."""
    found: dict[int, set[int]] = {element: set() for element in bits(elements)}
    for place, one in sets.items():
        for element in bits(one & elements):
            found[element].add(place)
    return {element: frozenset(places) for element, places in found.items()}


def without_contained(sets: dict[int, int]) -> dict[int, int]:
    """Without sets that are empty or inside another one; of equal ones the earliest stays."""
    kept: dict[int, int] = {}
    for place, one in sorted(sets.items(), key=lambda item: (-item[1].bit_count(), item[0])):
        if one and not any(one & other == one for other in kept.values()):
            kept[place] = one
    return kept


def without_implied(holders: dict[int, frozenset[int]]) -> dict[int, frozenset[int]]:
    """Without elements that are in every set that holds another element; of equal ones the first stays."""
    kept: dict[int, frozenset[int]] = {}
    for element, places in sorted(holders.items(), key=lambda item: (len(item[1]), item[0])):
        if not any(other <= places for other in kept.values()):
            kept[element] = places
    return kept


def bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set, from the lowest."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
