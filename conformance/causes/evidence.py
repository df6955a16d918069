"""A backend's deviating elements with the candidate causes of each, and the evidence against each cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from tiebreak.conformance.causes import explanations
from tiebreak.conformance.causes.broken import Exercised, every_clause
from tiebreak.conformance.causes.parting import KnownPartings
from tiebreak.conformance.causes.placed import Unexplained
from tiebreak.conformance.causes.places import bits_of_elements, layout_of_input
from tiebreak.conformance.judging.deviating import DeviatingElements
from tiebreak.conformance.judging.rows import (
    Group,
    Kind,
    detailed_group_of,
    group_of,
    kind_of_node,
    layout_of,
)
from tiebreak.conformance.operators.model import Cause
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import output_slices, problems_of

Element = tuple[str, str, int]  # a case's id, an output's name, an index in it
# Among all elements of a group (True), or all but pathological; only at the place with this number, if there is one.
Contradicted = Callable[[Group, bool, Cause, int | None], bool]
# Which elements of a case, by its number, a cause gives; None if it contradicts one that conforms.
GivenBy = Callable[[int, Cause], Array | None]
Pairs = Counter[tuple[int, int]]  # deviating elements by their case's number and their candidates' number


@dataclass(frozen=True)
class Evidence:
    """A backend's cases, its deviating elements, the candidate causes of each, and the evidence against each cause.

    `sizes` are the numbers of elements of the cases. `candidates` has for each deviating element a number: its place in
    `distinct`. `against` counts the conforming elements that contradict a cause, by group: among all (True) or among
    those that are not pathological. `third` counts the deviating elements to which a cause gives a third result.
    `places` has the bits of the places of vector loops in which they are. `against_modes` counts the conforming
    elements that contradict a rounding mode, in all cases. `contradicted` says whether a conforming element of a case
    that `against` leaves out, since nothing deviates there, contradicts a cause. `needs` has by pair of mistakes those
    that change an element. `given_by` tries a cause in a case. `exercised` says which clauses can be broken in a case.
    """

    cases: Sequence[Case]
    sizes: Sequence[int]
    deviating: DeviatingElements
    candidates: Array
    distinct: Sequence[explanations.Explanation]
    against: Mapping[tuple[Group, bool], Counter[Cause]]
    third: Mapping[tuple[Group, bool], Counter[Cause]]
    places: Mapping[tuple[Group, bool], Mapping[Cause, int]]
    against_modes: Mapping[Group, Counter[str]]
    needs: Mapping[Group, Mapping[Cause, Set[str]]] = field(default_factory=dict)
    contradicted: Contradicted = lambda group, every, cause, place: False
    given_by: GivenBy = lambda case, cause: None
    about: str = ""  # the backend
    always_constant: frozenset[str] = frozenset()  # the operators whose parameters it always builds in
    exercised: Exercised = every_clause
    partings: KnownPartings = field(default_factory=KnownPartings)  # that backends share
    in_detail: bool = False  # whether the groups are detailed, and each is a layout of its own

    @cached_property
    def known_clauses(self) -> dict[int, Collection[str]]:
        return {}

    def exercised_in(self, case: int) -> Collection[str]:
        """The ids of the clauses whose conditions hold in a case, by its number."""
        if case not in self.known_clauses:
            self.known_clauses[case] = self.exercised(self.cases[case])
        return self.known_clauses[case]

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kind of node of each case."""
        return [kind_of_node(case.node) for case in self.cases]

    @cached_property
    def groups(self) -> list[Group]:
        """The kind of node and the path of each case."""
        return [(detailed_group_of if self.in_detail else group_of)(case) for case in self.cases]

    @cached_property
    def layouts(self) -> list[Group]:
        """The kind of node of each case, and how its parameters are laid out."""
        if self.in_detail:
            return self.groups
        return [(kind, layout_of(case)) for kind, case in zip(self.kinds, self.cases, strict=True)]

    @cached_property
    def pairs(self) -> Pairs:
        return Counter(zip(self.deviating.case.tolist(), self.candidates.tolist(), strict=True))

    def only(self, places: Array) -> Evidence:
        """The evidence with some of the deviating elements."""
        columns = {column.name: getattr(self.deviating, column.name)[places] for column in fields(self.deviating)}
        return replace(self, deviating=DeviatingElements(**columns), candidates=self.candidates[places])

    def is_built_in(self, case: int) -> bool:
        """Whether all parameters of a case are constants when the backend compiles its node."""
        node = self.cases[case].node
        return node.operator in self.always_constant or len(node.baked) == len(node.inputs) - 1

    def group_of(self, place: int) -> Group:
        return self.groups[int(self.deviating.case[place])]

    def has_one_output(self, place: int) -> bool:
        case = int(self.deviating.case[place])
        return self.sizes[case] == self.cases[case].size

    @cached_property
    def positions(self) -> Array:
        """The place of each deviating element among all elements of its case, output by output."""
        found = self.deviating
        begins = {key: begin for case in np.unique(found.case).tolist() for key, begin in self.begins_in(case)}
        keys = zip(found.case.tolist(), found.output.tolist(), strict=True)
        return np.asarray(found.index + np.array([begins.get(key, 0) for key in keys], np.int64))

    def begins_in(self, case: int) -> Iterator[tuple[tuple[int, str], int]]:
        """Where each output of a case begins among all of its elements; nothing for a case with one output."""
        if len(self.cases[case].node.outputs) > 1:
            problems = problems_of(self.cases[case])
            for problem, own in zip(problems, output_slices(problems), strict=True):
                yield (case, problem.output), own.start

    def may_be_placed(self, place: int) -> bool:
        """Whether an element is in an output with a place for each of the input's elements."""
        node = self.cases[int(self.deviating.case[place])].node
        return self.deviating.output[place] == node.outputs[0].name and (
            len(node.outputs) > 1 or self.has_one_output(place)
        )

    def unexplained(self, place: int) -> Unexplained:
        layout = layout_of_input(self.cases[int(self.deviating.case[place])])
        bits = int(bits_of_elements(layout)[int(self.deviating.index[place])])
        return Unexplained(bits, self.distinct[int(self.candidates[place])].matching, self.deviating.operands[place])

    def element(self, place: int) -> Element:
        found = self.deviating
        return self.cases[int(found.case[place])].id, found.output[place], int(found.index[place])
