"""Applies the audit's search to a run's records: finds one semantics that reproduces all outputs of a kind of node.

It gives causes to what the known mistakes leave unexplained, and one cause to what has several though it is one
arithmetic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from tiebreak.conformance.audit.covering import Covers, part_to_cover
from tiebreak.conformance.audit.near_semantics import SameArithmetic
from tiebreak.conformance.audit.recorded_elements import (
    RecordedCase,
    RecordedElements,
    arithmetic_key,
    first_output_name,
    is_in_loop,
    joined,
    parts_by_path,
    recorded_case,
)
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.predictions import FIRST_PAIR
from tiebreak.conformance.judging.rows import Kind, kind_of_node
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT, at_place, mistakes_of
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED

STAGE = "the audit's engine"
MODES = ("rounds:", "ties:")  # ids of causes that are another rounding mode
FEWEST_AT_PLACE = 30  # deviating elements that one semantics must reproduce to be named for a place in a vector loop
NEAREST, FARTHEST = 2, 4  # facets that may differ from the document's: at first, and if that is not enough

Element = tuple[str, str, int]  # a case's id, an output's name, an index in it


@dataclass
class FoundCauses:
    """The causes found for the elements of one kind of node; `numbers` has a place in `causes` for each, or -1.

    `nameless` masks the elements that had no cause before, `by_position` those that had one by position.
    """

    named: Sequence[Cause]
    nameless: Array
    by_position: Array
    numbers: Array
    before: Array  # of integers: equal where elements had the same cause before
    causes: list[Cause] = field(default_factory=list)

    @property
    def missing(self) -> Array:
        return np.asarray(self.numbers < 0)

    def doubted(self, elements: Array, keys: frozenset[str] = frozenset()) -> Array:
        """Those of the elements (indices) that have no cause, one by position, or a pair not both in `keys`."""
        doubt = (is_doubted(self.named[n], keys) and self.numbers[n] < 0 for n in elements.tolist())
        return np.asarray(elements[np.fromiter(doubt, bool, elements.size)])

    def is_settled(self, elements: Array) -> bool:
        """Whether these elements had one cause before, the same for all."""
        return not self.nameless[elements].any() and np.unique(self.before[elements]).size == 1

    def name(self, elements: Array, cause: Cause) -> None:
        self.numbers[elements] = len(self.causes)
        self.causes.append(cause)

    def result(self) -> list[Cause]:
        return [self.causes[n] if n >= 0 else old for n, old in zip(self.numbers.tolist(), self.named, strict=True)]


def found_so_far(named: Sequence[Cause]) -> FoundCauses:
    places = {cause.id: place for place, cause in enumerate(dict.fromkeys(named))}
    before = np.array([places[cause.id] for cause in named], np.int64)
    nameless = np.array([cause.id == UNEXPLAINED for cause in named], bool)
    by_position = np.array([cause.by_position for cause in named], bool)
    return FoundCauses(named, nameless, by_position, np.full(len(named), -1), before)


def is_doubted(cause: Cause, keys: frozenset[str]) -> bool:
    """Whether a semantics of all elements of a place, with these keys, is the better cause."""
    if cause.id == UNEXPLAINED or cause.by_position:
        return True
    return cause.rank >= FIRST_PAIR and not keys >= set(mistakes_of(cause.id))


@dataclass
class CausesBySemantics:
    """Finds the semantics of one backend's nodes from its cases by id and its outputs (flat codes) by case id."""

    cases: Mapping[str, Case]
    outputs: Mapping[str, Array]
    errors: ExplanationErrors = field(default_factory=ExplanationErrors)
    about: str = ""  # the backend
    covers: Covers = field(default_factory=Covers)  # that backends share
    known: set[str] = field(default_factory=set)  # ids of causes that are named already
    groups: dict[Kind, list[RecordedElements]] = field(default_factory=dict)

    @cached_property
    def by_kind(self) -> dict[Kind, list[Case]]:
        found: dict[Kind, list[Case]] = defaultdict(list)
        for case in map(self.cases.__getitem__, self.outputs):
            if case.size:
                found[kind_of_node(case.node)].append(case)
        return found

    def refine(self, elements: Mapping[Kind, Sequence[Element]], named: Sequence[Sequence[Cause]]) -> list[list[Cause]]:
        """The causes of each kind's elements. A semantics replaces missing ones, and several for one thing."""
        found = [found_so_far(old) for old in named]
        with np.errstate(all="ignore"):
            for _ in range(2):  # the second time with the causes known from other kinds
                for own, (kind, of_kind), old in zip(found, elements.items(), named, strict=True):
                    if own.nameless.any() or len(set(old)) > 1:
                        about = f"{self.about}, {' '.join(kind)}"
                        self.errors.attempt(STAGE, about, partial(self.explain, kind, of_kind, own), None)
        return [own.result() for own in found]

    def explain(self, kind: Kind, elements: Sequence[Element], found: FoundCauses) -> None:
        """Adds to `found` a cause for each element that a semantics explains.

        One semantics for all elements of an arithmetic comes first, however far from the document's, then one for all
        elements of a place. Parts are named only if there is none, and by semantics far from the document's only what
        is still without a cause.
        """
        if kind not in self.groups:
            self.groups[kind] = self.by_arithmetic(kind, elements)
        for group in self.groups[kind]:
            own = group.numbers[group.deviating]
            if found.is_settled(own):
                continue
            near, far = (SameArithmetic(group, most) for most in (NEAREST, FARTHEST))
            if self.explain_whole(near, found) or (found.nameless[own].any() and self.explain_whole(far, found)):
                continue
            for semantics in (near, far):
                self.explain_places(semantics, found)
            self.explain_group(near, found)
            if (found.nameless & found.missing)[own].any():
                self.explain_group(far, found)

    def explain_whole(self, group: SameArithmetic, found: FoundCauses) -> bool:
        """Whether one semantics reproduces all elements of a group, which it then names."""
        deviating, numbers = group.elements.deviating, group.elements.numbers
        nameless = found.nameless[numbers[deviating]]
        if group.is_real and not nameless.any():
            return False  # real results with a cause keep it
        part = part_to_cover(group, np.ones(deviating.size, bool), deviating, "")
        cause = self.covers.of_whole(part, self.known)
        if cause is None:
            return False
        self.known.add(cause.id)
        own = numbers[deviating]
        found.name(own[nameless] if group.is_real else own, cause)
        return True

    def explain_places(self, group: SameArithmetic, found: FoundCauses) -> None:
        """Names by one semantics each the places in vector loops of which it reproduces every element."""
        deviating, numbers = group.elements.deviating, group.elements.numbers
        if group.is_real:
            return
        for place, inside in parts_by_path(group.elements):
            left = deviating & inside
            enough = is_in_loop(place) and np.count_nonzero(left) >= FEWEST_AT_PLACE
            if enough and found.doubted(numbers[left]).size:
                part = part_to_cover(group, inside, left, place)
                cause = self.covers.of_whole(part, self.known)
                if cause is not None:
                    self.name_place(cause, place, numbers[left], found)

    def name_place(self, cause: Cause, place: str, elements: Array, found: FoundCauses) -> None:
        """What has a cause keeps it where another rounding mode is all that the semantics says.

        Several mistakes take what has none, and what has one by position: that is another rounding mode in a loop.
        """
        if JOINT in cause.id:
            elements = elements[found.nameless[elements] | found.by_position[elements]]
        elif cause.id.startswith(MODES):
            elements = elements[found.nameless[elements]]
        self.known.add(cause.id)
        doubted = found.doubted(elements, frozenset(mistakes_of(cause.id)))
        found.name(doubted, replace(cause, id=at_place(cause.id, place)))

    def explain_group(self, group: SameArithmetic, found: FoundCauses) -> None:
        """Tries to explain a group as a whole, then its parts; in parts only elements that had no cause before."""
        deviating, numbers = group.elements.deviating, group.elements.numbers
        if group.is_real and not (found.nameless & found.missing)[numbers[deviating]].any():
            return  # real results with a cause keep it
        for place, inside in parts_by_path(group.elements):
            wanted = found.missing & found.nameless if place else found.missing
            left = deviating & wanted[numbers]
            if place and not left.any():
                return  # parts are for nothing else
            left &= inside
            if left.any():
                explain = partial(self.explain_part, group, inside, left, place, found)
                about = f"{self.about}, {group.elements.cases[0].node.operator}"
                self.errors.attempt(STAGE, about, explain, None)

    def explain_part(self, group: SameArithmetic, inside: Array, left: Array, place: str, found: FoundCauses) -> None:
        """Adds to `found` the causes of some elements (two masks: those to look at, those of them to explain).

        A cause already named is replaced only by a semantics that also reproduces every other element. For real results
        it replaces no cause: the known mistakes know these formulas better.
        """
        part = part_to_cover(group, inside, left, place)
        for covered in self.covers.of(part, self.known):
            self.known.add(covered.cause.id)
            cause = replace(covered.cause, id=at_place(covered.cause.id, place))
            elements = group.elements.numbers[covered.at]
            if group.is_real or not covered.whole:
                elements = elements[found.nameless[elements]]
            found.name(elements, cause)

    def by_arithmetic(self, kind: Kind, elements: Sequence[Element]) -> list[RecordedElements]:
        """The elements of a kind by the arithmetic of their nodes. Groups without any to explain are left out."""
        wrong: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, (case_id, output, index) in enumerate(elements):
            if output == first_output_name(self.cases[case_id]):
                wrong[case_id].append((index, number))
        groups: dict[str, list[RecordedCase]] = defaultdict(list)
        for case in self.by_kind[kind]:
            make = partial(recorded_case, case, self.outputs[case.id], wrong.get(case.id, []))
            recorded = self.errors.attempt(STAGE, f"{self.about}, {case.id}", make, None)
            if recorded is not None:
                groups[arithmetic_key(case.node)].append(recorded)
        wanted = [group for group in groups.values() if any((one.numbers >= 0).any() for one in group)]
        about = f"{self.about}, {' '.join(kind)}"
        made = (self.errors.attempt(STAGE, about, partial(joined, group), None) for group in wanted)
        return [group for group in made if group is not None]
