"""Applies the audit's search to a run's records: finds one semantics that reproduces all outputs of a kind of node.

It gives causes to what the known mistakes leave unexplained, and one cause to what has several though it is one
arithmetic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from tiebreak.conformance.audit.operators import arithmetic_of
from tiebreak.conformance.audit.recorded_elements import (
    PER,
    RecordedCase,
    all_operands,
    arithmetic_key,
    first_output_name,
    parts_by_path,
    per_tensor_node,
    recorded_case,
)
from tiebreak.conformance.audit.sentences import cause_of
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.judging.rows import Kind
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Candidates, Semantics
from tiebreak.golden.elements import ELEMENT_TYPES, IntegerType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED

STAGE = "the audit's engine"
MOST_SAMPLED = 800  # deviating elements of a kind of node that are compared with every semantics
MOST_LIKELY = 100  # semantics that are compared with all elements at a time
MOST_ELEMENTS = 20_000  # elements of a kind of node that are compared
ROUNDS = 4  # searches for a semantics among the elements that are left
FEWEST = 6  # deviating elements that a semantics must explain to be named, unless it is named elsewhere
CONVINCING = 40  # elements: a semantics that gives all of them needs to explain one deviating element only
NEAREST, FARTHEST = 2, 4  # facets that may differ from the document's: at first, and if that is not enough
AGAINST = 50  # weight of an element that contradicts a semantics: it must explain as many for each of them

Element = tuple[str, str, int]  # a case's id, an output's name, an index in it


@dataclass
class SameArithmetic:
    """Cases whose nodes have the same arithmetic, and its semantics near the document's own.

    `most`: the number of facets in which a semantics may differ from the document's.
    """

    cases: list[RecordedCase]
    most: int = NEAREST

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the per-tensor node: the cases differ in how their parameters are laid out."""
        return arithmetic_of(per_tensor_node(self.cases[0].case.node))

    @cached_property
    def output(self) -> str:
        return first_output_name(self.cases[0].case)

    @cached_property
    def semantics(self) -> list[Semantics]:
        everything = Candidates(self.arithmetic).all
        return [one for one in everything if 0 < facets_unlike(self.arithmetic, one) <= self.most]

    @cached_property
    def sample(self) -> list[RecordedCase]:
        """At most about MOST_SAMPLED deviating elements, those of small cases first."""
        wrong = [one.only(one.deviating) for one in self.cases if one.deviating.any()]
        return up_to(sorted(wrong, key=lambda one: one.outputs.size), MOST_SAMPLED)

    @cached_property
    def gives(self) -> Array:
        """A table of booleans: which of the sample's elements (columns) each semantics (rows) reproduces."""
        probe, outputs = all_operands(self.sample), np.concatenate([one.outputs for one in self.sample])
        found = np.empty((len(self.semantics), outputs.size), bool)
        for row, predicted in zip(found, self.arithmetic.predict(probe, self.semantics), strict=True):
            row[:] = predicted == outputs
        return found

    def likeliest(self, left: Set[tuple[str, int]]) -> list[Semantics]:
        """The semantics that reproduce the most of the sample's elements in `left` (case id, flat index)."""
        columns = [(one.case.id, int(i)) in left for one in self.sample for i in one.places]
        given = self.gives[:, np.array(columns, bool)].sum(axis=1)
        distance = [facets_unlike(self.arithmetic, one) for one in self.semantics]
        order = np.lexsort((np.array(distance), -given))[:MOST_LIKELY]
        return [self.semantics[i] for i in np.sort(order[given[order] > 0])]  # neighbours share facets


@dataclass
class CausesBySemantics:
    """Finds the semantics of one backend's nodes from its cases by id and its outputs (flat codes) by case id."""

    cases: Mapping[str, Case]
    outputs: Mapping[str, Array]
    errors: ExplanationErrors = field(default_factory=ExplanationErrors)
    about: str = ""  # the backend
    known: set[str] = field(default_factory=set)  # texts of causes that are named already
    recorded: dict[Kind, list[list[RecordedCase]]] = field(default_factory=dict)
    groups: dict[tuple[Kind, int], list[SameArithmetic]] = field(default_factory=dict)

    @cached_property
    def by_kind(self) -> dict[Kind, list[Case]]:
        found: dict[Kind, list[Case]] = defaultdict(list)
        for case in map(self.cases.__getitem__, self.outputs):
            node = case.node
            if case.size:
                found[node.operator, node.round_mode, node.input_type, node.output_type].append(case)
        return found

    def refine(self, elements: Mapping[Kind, Sequence[Element]], named: Sequence[Sequence[Cause]]) -> list[list[Cause]]:
        """The causes of each kind's elements. A semantics replaces missing ones, and several for one thing."""
        found: list[dict[Element, Cause]] = [{} for _ in elements]
        with np.errstate(all="ignore"):
            for _ in range(2):  # the second time with the causes known from other kinds
                for own, (kind, of_kind), old in zip(found, elements.items(), named, strict=True):
                    if any(cause.text == UNEXPLAINED for cause in old) or len(set(old)) > 1:
                        about = f"{self.about}, {' '.join(kind)}"
                        self.errors.attempt(STAGE, about, partial(self.explain, kind, of_kind, old, own), None)
        return [
            [own.get(element, cause) for element, cause in zip(of_kind, old, strict=True)]
            for own, of_kind, old in zip(found, elements.values(), named, strict=True)
        ]

    def explain(
        self, kind: Kind, elements: Sequence[Element], named: Sequence[Cause], found: dict[Element, Cause]
    ) -> None:
        """Adds to `found` a cause for each element that a semantics explains.

        Semantics far from the document's are tried only for elements that are still without a cause.
        """
        pairs = zip(elements, named, strict=True)
        nameless = {element for element, cause in pairs if cause.text == UNEXPLAINED}
        for most in (NEAREST, FARTHEST):
            if most == NEAREST or nameless - found.keys():
                self.explain_groups(self.groups_of(kind, elements, most), nameless, found)

    def groups_of(self, kind: Kind, elements: Sequence[Element], most: int) -> list[SameArithmetic]:
        if (kind, most) not in self.groups:
            if kind not in self.recorded:
                self.recorded[kind] = self.by_arithmetic(kind, elements)
            self.groups[kind, most] = [SameArithmetic(cases, most) for cases in self.recorded[kind]]
        return self.groups[kind, most]

    def explain_groups(
        self, groups: Sequence[SameArithmetic], nameless: Set[Element], found: dict[Element, Cause]
    ) -> None:
        """Tries to explain each group as a whole, then its parts; in parts only elements that had no cause before."""
        for group in groups:
            for suffix, part in parts_by_path(group.cases):
                left = [without_named(one, found, nameless if suffix else None) for one in part]
                if any(one.deviating.any() for one in left):
                    explain = partial(self.explain_part, group, limited_cases(left), suffix, nameless, found)
                    self.errors.attempt(STAGE, f"{self.about}, {group.cases[0].case.node.operator}", explain, None)

    def explain_part(
        self,
        group: SameArithmetic,
        cases: Sequence[RecordedCase],
        suffix: str,
        nameless: Set[Element],
        found: dict[Element, Cause],
    ) -> None:
        """Adds to `found` the causes of the elements of some cases.

        A cause already named is replaced only by a semantics that also reproduces every other element. For real
        results only such a semantics is named, and it replaces no cause: the known mistakes know these formulas better,
        and small cases fit many semantics by chance. `suffix` ends the text of the causes.
        """
        real = not isinstance(ELEMENT_TYPES[cases[0].case.node.output_type], IntegerType)
        for semantics, explained, whole in covering_semantics(group, cases, suffix, self.known):
            if real and not whole:
                continue
            cause = cause_of(group.arithmetic, semantics)
            self.known.add(cause.text)
            cause = replace(cause, text=cause.text + suffix)
            elements = {(one.case.id, group.output, int(i)) for one in explained for i in one.places[one.deviating]}
            found |= dict.fromkeys(elements if whole and not real else elements & nameless, cause)

    def by_arithmetic(self, kind: Kind, elements: Sequence[Element]) -> list[list[RecordedCase]]:
        """The backend's cases of a kind with deviating elements, grouped by the arithmetic of their nodes."""
        wrong: dict[str, list[int]] = defaultdict(list)
        for case_id, output, index in elements:
            if output == first_output_name(self.cases[case_id]):
                wrong[case_id].append(index)
        groups: dict[str, list[RecordedCase]] = defaultdict(list)
        for case in self.by_kind[kind]:
            make = partial(recorded_case, case, self.outputs[case.id], wrong.get(case.id, []))
            recorded = self.errors.attempt(STAGE, f"{self.about}, {case.id}", make, None)
            if recorded is not None:
                groups[arithmetic_key(case.node)].append(recorded)
        return [group for group in groups.values() if any(one.deviating.any() for one in group)]


def without_named(one: RecordedCase, found: Mapping[Element, Cause], nameless: Set[Element] | None) -> RecordedCase:
    """The case with fewer elements to explain: those without a cause in `found` that are `nameless` (None: any).

    The other deviating elements stay in the case, but no prediction is compared with them.
    """
    output = first_output_name(one.case)
    known = np.zeros(one.deviating.size, bool)
    for place in np.flatnonzero(one.deviating):
        element = one.case.id, output, int(one.places[place])
        known[place] = element in found or (nameless is not None and element not in nameless)
    return replace(one, outputs=np.where(known, ANYTHING, one.outputs), deviating=one.deviating & ~known)


def limited_cases(cases: Sequence[RecordedCase]) -> list[RecordedCase]:
    """At most about MOST_ELEMENTS elements: of deviating cases first, small cases before large ones."""
    return up_to(sorted(cases, key=lambda one: (not one.deviating.any(), one.outputs.size)), MOST_ELEMENTS)


def up_to(cases: Sequence[RecordedCase], most: int) -> list[RecordedCase]:
    """The first cases, with about `most` elements together."""
    ends = np.cumsum([one.outputs.size for one in cases])
    return list(cases[: 1 + int(np.count_nonzero(ends < most))])


def covering_semantics(
    group: SameArithmetic, cases: Sequence[RecordedCase], suffix: str, known: Set[str]
) -> Iterator[tuple[Semantics, list[RecordedCase], bool]]:
    """Semantics, the cases that each explains, and whether it fits all cases; the best first.

    A semantics explains a case if it reproduces every element. One that fits all cases comes first. Otherwise the
    deviating elements that it explains are weighed against those that it gets wrong in cases that conform or are
    explained already: a kernel may take several paths.

    Between equals, one that is known from elsewhere comes first, then the one that differs from the document's in
    fewer facets.
    """
    arithmetic = group.arithmetic
    wrong = np.array([np.count_nonzero(one.deviating) for one in cases])
    left = wrong > 0
    for _ in range(ROUNDS):
        unexplained = [one for one, is_left in zip(cases, left, strict=True) if is_left]
        likely = group.likeliest({(one.case.id, int(i)) for one in unexplained for i in one.places[one.deviating]})
        differs = differences(arithmetic, cases, likely)
        familiar = np.array([cause_of(arithmetic, one).text in known for one in likely], bool)
        if sum(one.outputs.size for one in cases) >= CONVINCING:
            familiar |= (differs == 0).all(axis=1)
        familiar &= suffix in ("", *PER)  # there are so many parts by place or sign that one may fit by chance
        found = False
        while (best := best_semantics(arithmetic, likely, differs, wrong, left, familiar)) is not None:
            fits = differs[best] == 0
            explained = [one for one, taken in zip(cases, left & fits, strict=True) if taken]
            yield likely[best], explained, bool(fits.all())
            left, found = left & ~fits, True
        if not found or not left.any():
            return


def best_semantics(
    arithmetic: Arithmetic, semantics: Sequence[Semantics], differs: Array, wrong: Array, left: Array, familiar: Array
) -> int | None:
    """The place of the semantics to name next, or None if none explains enough.

    `differs` is the table of `differences`, `wrong` the number of deviating elements of each case. `left` masks the
    cases that are left, `familiar` the semantics that are known from elsewhere.
    """
    if not semantics or not left.any():
        return None
    fits = differs == 0
    explained = (fits[:, left] * wrong[left]).sum(axis=1)
    worth = explained - AGAINST * differs[:, ~left].sum(axis=1)
    possible = (explained >= np.where(familiar, 1, FEWEST)) & (worth >= 0)
    distance = [facets_unlike(arithmetic, one) for one in semantics]
    best = int(np.lexsort((np.array(distance), ~familiar, -worth, ~fits.all(axis=1), ~possible))[0])
    return best if possible[best] else None


def facets_unlike(arithmetic: Arithmetic, semantics: Semantics) -> int:
    return sum(a != b for a, b in zip(semantics, arithmetic.documented, strict=True))


def differences(arithmetic: Arithmetic, cases: Sequence[RecordedCase], semantics: Sequence[Semantics]) -> Array:
    """The number of elements of each case (columns) that each semantics (rows) gets wrong.

    No prediction for a deviating element counts as wrong.
    """
    probe = all_operands(cases)
    begins = np.concatenate([[0], np.cumsum([one.outputs.size for one in cases])[:-1]])
    outputs, wrong = (np.concatenate(each) for each in ([c.outputs for c in cases], [c.deviating for c in cases]))
    compared = outputs != ANYTHING
    found = np.empty((len(semantics), len(cases)), np.int64)
    for row, predicted in zip(found, arithmetic.predict(probe, semantics), strict=True):
        row[:] = np.add.reduceat((predicted != outputs) & compared & (wrong | (predicted != ANYTHING)), begins)
    return found
