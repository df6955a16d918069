"""Compares what known mistakes predict for a case with a backend's outputs: a table, a row for each prediction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tiebreak.conformance.causes.places import Layout, bits_of_masks, may_be_placed
from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.truths import Truth
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT, environment_of, without_forms
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DEVIATES, WORKING

MOST_AT_ONCE = 1 << 21  # elements of a table

Predicted = Sequence[tuple[Cause, Array]]


@dataclass
class ComparedCase:
    """What each cause explains of a case, and what contradicts it.

    `layout` is the input's; `strange` masks the pathological elements. `numbers` has each cause's place in `matching`,
    the deviating elements that it predicts, and in `consistent`, those of them that it predicts without contradicting
    an element that counts.
    `against` and `third` are under True for all elements, under False for those that are not pathological.
    """

    judgement: Judgement
    truth: Truth
    strange: Array
    layout: Layout
    numbers: dict[Cause, int] = field(default_factory=dict)
    matching: list[Array] = field(default_factory=list)
    consistent: list[Array] = field(default_factory=list)
    against: Mapping[bool, dict[Cause, int]] = field(default_factory=lambda: {False: {}, True: {}})
    third: Mapping[bool, dict[Cause, int]] = field(default_factory=lambda: {False: {}, True: {}})
    places: Mapping[bool, list[tuple[Cause, int]]] = field(default_factory=lambda: {False: [], True: []})
    rows: list[tuple[Sequence[Cause], Array]] = field(default_factory=list)  # and which elements they predict
    needs: dict[Cause, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        self.wrong = self.judgement.grades == DEVIATES
        self.right = ~self.wrong & (self.judgement.grades <= WORKING)  # another order of steps is evidence of nothing
        self.judged = self.right | self.wrong

    @property
    def explains_all(self) -> bool:
        """Whether one cause predicts every deviating element, and contradicts none."""
        return any(found.all() for found in self.consistent)

    def add(self, predicted: Predicted) -> None:
        """Compare some predictions (int64 codes of all elements)."""
        for some in in_parts(predicted, self.wrong.size):
            causes, codes = [cause for cause, _ in some], np.stack([one for _, one in some])
            match = codes == self.judgement.values
            whole = match[:, self.judged].all(axis=1)
            kept = [
                n
                for n, cause in enumerate(causes)
                if not cause.by_position or (self.wrong.size >= 2 * cause.width and whole[n])
            ]
            if kept:
                self.add_rows([causes[n] for n in kept], codes[kept], match[kept])

    def add_rows(self, causes: Sequence[Cause], codes: Array, match: Array) -> None:
        allowed = (codes == self.truth.exact) | (codes == self.truth.working)
        other = self.wrong & ~match & ~allowed
        places = [self.place_of(cause) for cause in causes]
        for place, one in zip(places, match[:, self.wrong], strict=True):
            self.matching[place] |= one
        # That subnormal numbers are flushed is not refuted where nothing is flushed: a node may be right there by its
        # exact result, and the mistake by the one in the working precision, or the other way round.
        idle = allowed & np.array([[bool(environment_of(cause.id))] for cause in causes])
        for every, inside in ((False, ~self.strange), (True, self.strange | ~idle)):
            contradicted = self.right & ~match & inside
            for counts, mask in ((self.against[every], contradicted), (self.third[every], other & inside)):
                for cause, count in zip(causes, np.count_nonzero(mask, axis=1).tolist(), strict=True):
                    counts[cause] = min(count, counts.get(cause, count))
            free = (match & (self.strange == every))[:, self.wrong]
            for number, here in enumerate(contradicted.any(axis=1).tolist()):
                if not here:
                    self.consistent[places[number]] |= free[number]
            self.note_places(every, causes, contradicted)
        self.rows.append((causes, match))

    def add_pairs(self, predicted: Predicted) -> None:
        """As add, of two mistakes at once; `needs` has those of both that change an element."""
        given = dict[str, Array]()
        for causes, match in self.rows:
            for cause, one in zip(causes, match, strict=True):
                given[without_forms(cause.id)] = given.get(without_forms(cause.id), False) | one
        so_far = len(self.rows)
        self.add(predicted)
        for causes, match in self.rows[so_far:]:
            for cause, one in zip(causes, match, strict=True):
                id_ = without_forms(cause.id)
                self.needs[cause] |= needed_of_pair(id_, one & self.judged, given)
                given[id_] = given.get(id_, False) | one

    def note_places(self, every: bool, causes: Sequence[Cause], contradicted: Array) -> None:
        """Where each cause is contradicted. Nothing for one that once was not; see contradicted_places."""
        rows = [n for n, cause in enumerate(causes) if self.against[every][cause] and may_be_placed(cause)]
        if rows:
            bits = bits_of_masks(contradicted[rows], self.layout)
            self.places[every].extend(zip([causes[n] for n in rows], bits, strict=True))

    def place_of(self, cause: Cause) -> int:
        place = self.numbers.setdefault(cause, len(self.numbers))
        if place == len(self.matching):
            for column in (self.matching, self.consistent):
                column.append(np.zeros(np.count_nonzero(self.wrong), bool))
        return place


def needed_of_pair(id_: str, match: Array, given: Mapping[str, Array]) -> set[str]:
    """Which of two mistakes change an element that both together give (a mask), by what single ones give.

    One of which nothing is known alone counts as needed. The forms of formulas make no difference.
    """
    first, *others = id_.split(JOINT)
    second = JOINT.join(others)
    needed = {one for one, other in ((first, second), (second, first)) if (match & ~given.get(other, False)).any()}
    return needed | {one for one in (first, second) if one not in given and match.any()}


def in_parts(predicted: Predicted, size: int) -> Iterator[Predicted]:
    """The predictions, so many at once that a table of them is not large."""
    step = max(1, MOST_AT_ONCE // max(1, size))
    return (predicted[first : first + step] for first in range(0, len(predicted), step))
