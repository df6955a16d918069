"""The elements that agree with their documents, in cases where nothing deviates: they refute causes, too.

Two mistakes at once are not tried in each case that deviates. So what agrees there refutes them here as well.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tiebreak.conformance.causes.places import layout_of_input, mask_of_place
from tiebreak.conformance.causes.predictions import predictions_with_id
from tiebreak.conformance.judging.chunk import MOST_KEPT, Chunk, chunks_of
from tiebreak.conformance.judging.domains import PATHOLOGICAL
from tiebreak.conformance.judging.rows import Group, axes_of, detailed_group_of, group_of, without_details
from tiebreak.conformance.judging.truths import Truths
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.conformance.semantics.causes import JOINT, environment_of
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import WORKING

Place = tuple[tuple[int, ...], int]  # the axes of parameters, and the input's rank
PLACES = ("axis", "projection", "blocks")  # roles of causes that take parameters from a wrong place


@dataclass(frozen=True)
class AgreeingCase:
    """A case with its truths and outputs (codes), and masks: what agrees, and what of it is not pathological."""

    case: Case
    truths: Truths
    outputs: Array
    agrees: Array
    plain: Array


@dataclass
class KeptChunks:
    """The chunks of cases that were asked for last: groups come in any order, and backends have cases in common."""

    kept: OrderedDict[tuple[str, ...], Chunk] = field(default_factory=OrderedDict)

    def of(self, cases: tuple[Case, ...]) -> Chunk:
        key = tuple(case.id for case in cases)
        if key not in self.kept:
            self.kept[key] = Chunk(cases)
        self.kept.move_to_end(key)
        while sum(one.size for one in self.kept.values()) > MOST_KEPT and len(self.kept) > 1:
            self.kept.popitem(last=False)
        return self.kept[key]


@dataclass
class AgreeingElements:
    """What a backend gave, by kind of node and path: in the cases where nothing deviates, and in the others."""

    records: BackendRecords
    chunks: KeptChunks = field(default_factory=KeptChunks)
    last: dict[bool, tuple[Group, list[AgreeingCase]]] = field(default_factory=dict)
    known: dict[tuple[Group, bool, str, int | None], bool] = field(default_factory=dict)

    @cached_property
    def wrong(self) -> set[int]:
        """The numbers of the cases that deviate."""
        return {number for own in self.records.deviating for number in np.unique(own.case).tolist()}

    @cached_property
    def cases(self) -> Mapping[tuple[Group, bool], list[Case]]:
        """The cases by group, and whether they deviate."""
        records, found = self.records, defaultdict[tuple[Group, bool], list[Case]](list)
        for number, case in enumerate(records.cases):
            if case.size and case.id in records.outputs:
                found[group_of(case), number in self.wrong].append(case)
        return found

    def contradict(self, group: Group, every: bool, cause: Cause, place: int | None = None) -> bool:
        """Whether some element of a group contradicts a cause: among all, or among those that are not pathological.

        With the number of a place, only elements there count.
        """
        key = group, every, cause.id, place
        if key not in self.known:
            self.known[key] = any(
                self.contradicts(cause, every, one, place)
                for asked in self.groups_about(group, cause)
                for deviating in ((False, True) if JOINT in cause.id or cause.of_kind else (False,))
                for one in self.of(asked, deviating)
                if self.counts(cause, one)
            )
        return self.known[key]

    def groups_about(self, group: Group, cause: Cause) -> Sequence[Group]:
        """The group, and if the cause speaks of all nodes of its kind the others of the kind."""
        others = {asked for asked, _ in self.cases if asked[0] == group[0]} if cause.of_kind else set[Group]()
        return [group, *sorted(others - {group})]

    def counts(self, cause: Cause, one: AgreeingCase) -> bool:
        """Whether a case can contradict a cause: a wrong place shows with some axes, and others may be right."""
        return cause.role not in PLACES or where(one.case) in self.wrong_places[group_of(one.case)]

    @cached_property
    def wrong_places(self) -> Mapping[Group, set[Place]]:
        """The places of parameters in the cases that deviate."""
        found = defaultdict[Group, set[Place]](set)
        for number in self.wrong:
            case = self.records.cases[number]
            found[group_of(case)].add(where(case))
        return found

    def contradicts(self, cause: Cause, every: bool, one: AgreeingCase, place: int | None = None) -> bool:
        """Whether one case contradicts a cause: each prediction of it differs somewhere."""
        counted = one.agrees if every else one.plain
        if place is not None:
            counted = counted & mask_of_place(place, layout_of_input(one.case), counted.size)
        if not counted.any():
            return False
        about = f"{self.records.name}, {one.case.node.operator}"
        predicted = predictions_with_id(one.case, one.truths, self.records.errors, about, cause.id)
        idle = one.plain if every and environment_of(cause.id) else np.zeros(1, bool)  # as ComparedCase.add_rows has it
        right = one.truths.judged_by
        return bool(predicted) and all(
            ((codes != one.outputs) & counted & ~(idle & right.agrees(codes))).any() for codes in predicted
        )

    def given_by(self, number: int, cause: Cause) -> Array | None:
        """A mask of the elements of a case (by number) that a cause gives; None if it contradicts a conforming one.

        Of several arithmetics of a cause, the one that gives the most counts.
        """
        case = self.records.cases[number]
        for one in self.of(group_of(case), number in self.wrong):
            if one.case.id == case.id:
                about = f"{self.records.name}, {case.node.operator}"
                predicted = predictions_with_id(case, one.truths, self.records.errors, about, cause.id)
                fit = [codes == one.outputs for codes in predicted if not ((codes != one.outputs) & one.agrees).any()]
                return max(fit, key=np.count_nonzero) if fit else None
        return None

    def of(self, group: Group, deviating: bool) -> list[AgreeingCase]:
        whole = without_details(group)
        if deviating not in self.last or self.last[deviating][0] != whole:
            self.last[deviating] = whole, list(self.judged(whole, deviating))
        found = self.last[deviating][1]
        return found if group == whole else [one for one in found if group == detailed_group_of(one.case)]

    def judged(self, group: Group, deviating: bool) -> Iterator[AgreeingCase]:
        for cases in chunks_of(self.cases.get((group, deviating), [])):
            chunk = self.chunks.of(cases)
            for number, case in enumerate(cases):
                agrees = self.records.grades[case.id] <= WORKING
                plain = agrees & (chunk.domains[chunk.of_case(number)] != PATHOLOGICAL)
                yield AgreeingCase(case, chunk.truths_of(number), self.records.outputs[case.id], agrees, plain)


def where(case: Case) -> Place:
    return axes_of(case), case.inputs[0].ndim
