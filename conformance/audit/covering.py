"""Covers the deviating elements of some cases with as few semantics as will do."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tiebreak.conformance.audit.near_semantics import MOST_ELEMENTS, SameArithmetic
from tiebreak.conformance.audit.recorded_elements import PER
from tiebreak.conformance.audit.sentences import cause_of
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.model import ANYTHING
from tiebreak.golden.problem import Array

ROUNDS = 4  # searches for a semantics among the elements that are left
SPREAD = 500  # elements of a part that are compared first, where a semantics is to reproduce all
FEWEST = 6  # deviating elements that a semantics must explain to be named, unless it is named elsewhere
CONVINCING = 40  # elements: a semantics that gives all of them needs to explain one deviating element only


@dataclass(frozen=True)
class Covered:
    """The cause of some elements (indices). `whole`: its semantics also reproduces every other element."""

    cause: Cause
    at: Array
    whole: bool


@dataclass(frozen=True)
class PartToCover:
    """The elements of one arithmetic (indices) among which semantics are looked for.

    `left` masks those to explain. The other deviating elements have a cause already: no prediction is compared with
    them, except for real results at a place, where few elements fit many semantics by chance. `place` says where alone
    the causes hold.
    """

    group: SameArithmetic
    at: Array
    left: Array
    place: str

    @cached_property
    def key(self) -> bytes:
        """Equal for parts with equal elements and outputs."""
        text = repr((self.group.elements.digest, self.group.most, self.place)).encode()
        return hashlib.blake2b(text + self.at.tobytes() + np.packbits(self.left).tobytes()).digest()

    @property
    def outputs(self) -> Array:
        found = self.group.elements
        if self.group.is_real and self.place:
            return found.outputs[self.at]
        return np.where(found.deviating[self.at] & ~self.left, ANYTHING, found.outputs[self.at])

    @property
    def may_be_familiar(self) -> bool:
        """Whether a known cause may explain few elements: there are so many parts that one may fit by chance."""
        return self.place in ("", *PER)

    def unexplained(self, left: Array) -> Array:
        """A mask of all elements of the group: those of the part that are left."""
        found = np.zeros(self.group.elements.owners.size, bool)
        found[self.at] = left
        return found


def part_to_cover(group: SameArithmetic, inside: Array, left: Array, place: str) -> PartToCover:
    """The part of the elements that a mask selects, at most about MOST_ELEMENTS of them.

    Cases with elements that are left come first, small ones before large ones.
    """
    found = group.elements
    counts, wanted = found.count_by_case(inside), found.count_by_case(inside & left)
    at = found.first_cases(inside, np.lexsort((counts, wanted == 0)), MOST_ELEMENTS)
    return PartToCover(group, at, left[at], place)


# The causes of a part. Takes the ids of causes that are named already, and adds to a set each one looked up there.
Search = Callable[[PartToCover, Set[str], set[str]], list[Covered]]


@dataclass
class Covers:
    """Covers parts with semantics, and remembers what it found for parts with equal outputs.

    Many backends are configurations of one library and give the same in most cases. What is found also depends on which
    of the causes in question are named elsewhere; `kept` has these causes and the others that were in question.
    """

    kept: dict[tuple[Search, bytes], list[tuple[Set[str], Set[str], list[Covered]]]] = field(default_factory=dict)

    def of(self, part: PartToCover, known: Set[str]) -> list[Covered]:
        """The causes of a part's elements, given the ids of causes that are named already."""
        return self.found_by(covering_semantics, part, known)

    def of_whole(self, part: PartToCover, known: Set[str]) -> Cause | None:
        """The first of these causes, if its semantics reproduces every element."""
        return next((one.cause for one in self.found_by(whole_semantics, part, known)), None)

    def found_by(self, search: Search, part: PartToCover, known: Set[str]) -> list[Covered]:
        key = search, part.key
        for named, not_named, found in self.kept.get(key, []):
            if named <= known and not not_named & known:
                return found
        asked = set[str]()
        found = search(part, known, asked)
        self.kept.setdefault(key, []).append((asked & known, asked - known, found))
        return found


def whole_semantics(part: PartToCover, known: Set[str], asked: set[str]) -> list[Covered]:
    """What covering_semantics names first if that reproduces every element, else nothing.

    The few elements of the sample, and some of all, rule most semantics out before any is compared with all elements.
    """
    group, sampled, unexplained = part.group, part.group.sample, part.unexplained(part.left)
    compared = unexplained[sampled] & (group.elements.outputs[sampled] != ANYTHING)
    likely = [number for number in group.likeliest(unexplained) if group.gives[number, compared].all()]
    likely = without_wrong(part, likely, np.arange(0, part.at.size, -(-part.at.size // SPREAD)))
    if not likely:
        return []
    differs, _ = differences(part, np.zeros(1, np.int64), likely)
    fits = [number for number, wrong in zip(likely, differs, strict=True) if not wrong.any()]
    causes = {number: cause_of(group.arithmetic, group.near.every[number]) for number in fits}
    asked.update(cause.id for cause in causes.values())
    familiar = {n for n in fits if part.may_be_familiar and (part.at.size >= CONVINCING or causes[n].id in known)}
    possible = familiar if np.count_nonzero(part.left) < FEWEST else fits
    best = min(possible, key=lambda n: (n not in familiar, group.near.distances[n], n), default=None)
    return [] if best is None else [Covered(causes[best], part.at[part.left], True)]


def without_wrong(part: PartToCover, likely: Sequence[int], some: Array) -> list[int]:
    """Those semantics that get none of some elements of a part (indices among its own) wrong."""
    group, outputs = part.group, part.outputs[some]
    every = [group.near.every[number] for number in likely]
    predictions = group.arithmetic.predict(group.elements.probe_at(part.at[some]), every)
    return [
        number
        for number, codes in zip(likely, predictions, strict=True)
        if not are_wrong(codes, outputs, part.left[some]).any()
    ]


def covering_semantics(part: PartToCover, known: Set[str], asked: set[str]) -> list[Covered]:
    """Semantics with the elements that each explains, the best first. Adds to `asked` each id looked up in `known`.

    A semantics explains a case if it reproduces every element. One that fits all cases comes first. Of the others none
    is named that gets an element wrong in a case that conforms or is explained already, or that gives many elements a
    third result, neither the output nor the document's. For real results only semantics that fit all cases are named:
    small cases fit many semantics by chance.

    Between equals, one that is known from elsewhere comes first, then the one that differs from the document's in
    fewer facets.
    """
    group, known_here, found = part.group, set(known), list[Covered]()
    owners = group.elements.owners[part.at]
    begins = np.flatnonzero(np.diff(owners, prepend=-1))
    case_of = np.cumsum(np.diff(owners, prepend=-1) != 0) - 1
    wrong = np.add.reduceat(part.left, begins, dtype=np.int64)
    left = wrong > 0
    for _ in range(ROUNDS):
        likely = group.likeliest(part.unexplained(part.left & left[case_of]))
        differs, third = differences(part, begins, likely)
        causes = [cause_of(group.arithmetic, group.near.every[number]) for number in likely]
        asked.update(cause.id for cause in causes)
        familiar = np.array([cause.id in known_here for cause in causes], bool)
        if part.at.size >= CONVINCING:
            familiar |= (differs == 0).all(axis=1)
        familiar &= part.may_be_familiar
        distances, some = group.near.distances[likely], False
        while (best := best_semantics(distances, differs, third, wrong, left, familiar)) is not None:
            fits = differs[best] == 0
            if fits.all() or not group.is_real:
                at = part.at[part.left & (left & fits)[case_of]]
                found.append(Covered(causes[best], at, bool(fits.all())))
                known_here.add(causes[best].id)
            left, some = left & ~fits, True
        if not some or not left.any():
            break
    return found


def best_semantics(
    distances: Array, differs: Array, third: Array, wrong: Array, left: Array, familiar: Array
) -> int | None:
    """The place of the semantics to name next, or None if none explains enough without a contradiction.

    `distances` say in how many facets each semantics differs from the document's. `differs` and `third` are the tables
    of `differences`, `wrong` the number of deviating elements of each case. `left` masks the cases that are left,
    `familiar` the semantics that are known from elsewhere.
    """
    if not distances.size or not left.any():
        return None
    fits = differs == 0
    explained = (fits[:, left] * wrong[left]).sum(axis=1)
    contradicted = differs[:, ~left].any(axis=1) | (10 * third.sum(axis=1) > explained)
    possible = (explained >= np.where(familiar, 1, FEWEST)) & ~contradicted
    best = int(np.lexsort((distances, ~familiar, -explained, ~fits.all(axis=1), ~possible))[0])
    return best if possible[best] else None


def differences(part: PartToCover, begins: Array, likely: Sequence[int]) -> tuple[Array, Array]:
    """The number of elements of each case (columns) that each semantics (rows) gets wrong, in two tables.

    The second has those to which it gives a third result, neither the output nor the document's. `begins` are the
    places of each case's first element. No prediction for an element to explain counts as wrong.
    """
    outputs = part.outputs
    documented = part.group.documented(part.at)
    found, third = (np.empty((len(likely), begins.size), np.int64) for _ in range(2))
    for row, other, predicted in zip(found, third, part.group.predictions(part.at, likely), strict=True):
        wrong = are_wrong(predicted, outputs, part.left)
        np.add.reduceat(wrong, begins, dtype=np.int64, out=row)
        bites = wrong & (predicted != documented) & (predicted != ANYTHING) & (documented != ANYTHING)
        np.add.reduceat(bites, begins, dtype=np.int64, out=other)
    return found, third


def are_wrong(predicted: Array, outputs: Array, left: Array) -> Array:
    """Which predictions are wrong (a mask): none where nothing is compared. No prediction is, where one is `left`."""
    return np.asarray((predicted != outputs) & (outputs != ANYTHING) & (left | (predicted != ANYTHING)))
