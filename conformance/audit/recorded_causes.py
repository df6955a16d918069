"""The audit's engine on a run's records: one semantics for what a backend gave of a kind of node, where there is one.

It names what the table of hypotheses leaves unexplained, and what has several names there though it is one arithmetic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

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
MOST_ELEMENTS = 20_000  # of a kind
ROUNDS = 4
FEWEST = 6  # deviating elements that a semantics must explain to be named, if it is not named elsewhere
CONVINCING = 40  # elements: if it gives all of them, a single deviating one will do
NEAREST, FARTHEST = 2, 4  # facets of a semantics that are not the document's own: first, and if need be
AGAINST = 50  # a semantics is not named if more than one in so many elements speaks against it

Element = tuple[str, str, int]  # a case's id, an output's name, an index in it


@dataclass
class SameArithmetic:
    """Cases whose nodes have the same arithmetic, and all semantics of it but the document's own."""

    cases: list[RecordedCase]
    most: int = NEAREST  # facets of a semantics that are not the document's own

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """Of the node with one set of parameters for all: a kind's cases differ in how theirs are laid out."""
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
        """Deviating elements, at most so many."""
        wrong = [one.only(one.deviating) for one in self.cases if one.deviating.any()]
        return up_to(sorted(wrong, key=lambda one: one.outputs.size), MOST_SAMPLED)

    @cached_property
    def gives(self) -> Array:
        """Which of the sample's elements (columns) each semantics (rows) gives as they came."""
        probe, came = all_operands(self.sample), np.concatenate([one.outputs for one in self.sample])
        found = np.empty((len(self.semantics), came.size), bool)
        for row, predicted in zip(found, self.arithmetic.predict(probe, self.semantics), strict=True):
            row[:] = predicted == came
        return found

    def likeliest(self, left: Set[tuple[str, int]]) -> list[Semantics]:
        """Those that give the most of the sample's elements that are left, by case id and index."""
        columns = [(one.case.id, int(i)) in left for one in self.sample for i in one.places]
        given = self.gives[:, np.array(columns, bool)].sum(axis=1)
        distance = [facets_unlike(self.arithmetic, one) for one in self.semantics]
        order = np.lexsort((np.array(distance), -given))[:MOST_LIKELY]
        return [self.semantics[i] for i in np.sort(order[given[order] > 0])]  # neighbours share facets


@dataclass
class CausesBySemantics:
    """Of one backend: its cases by id, and its outputs (codes, flat) by case id."""

    cases: Mapping[str, Case]
    outputs: Mapping[str, Array]
    errors: ExplanationErrors = field(default_factory=ExplanationErrors)
    about: str = ""  # the backend
    known: set[str] = field(default_factory=set)  # causes that are named already
    answered: dict[Kind, list[list[RecordedCase]]] = field(default_factory=dict)
    families: dict[tuple[Kind, int], list[SameArithmetic]] = field(default_factory=dict)

    @cached_property
    def by_kind(self) -> dict[Kind, list[Case]]:
        found: dict[Kind, list[Case]] = defaultdict(list)
        for case in map(self.cases.__getitem__, self.outputs):
            node = case.node
            if case.size:
                found[node.operator, node.round_mode, node.input_type, node.output_type].append(case)
        return found

    def refine(
        self, rows: Mapping[Kind, Sequence[Mapping[str, Any]]], named: Sequence[Sequence[Cause]]
    ) -> list[list[Cause]]:
        """The causes of each kind's rows, with those of the engine where they are missing, or several for one thing."""
        found: list[dict[Element, Cause]] = [{} for _ in rows]
        with np.errstate(all="ignore"):
            for _ in range(2):  # the second time with what is known from other kinds
                for own, (kind, of_kind), old in zip(found, rows.items(), named, strict=True):
                    if any(cause.text == UNEXPLAINED for cause in old) or len(set(old)) > 1:
                        about = f"{self.about}, {' '.join(kind)}"
                        self.errors.attempt(STAGE, about, partial(self.explain, kind, of_kind, old, own), None)
        return [
            [own.get(element_of(row), cause) for row, cause in zip(of_kind, old, strict=True)]
            for own, of_kind, old in zip(found, rows.values(), named, strict=True)
        ]

    def explain(
        self, kind: Kind, rows: Sequence[Mapping[str, Any]], named: Sequence[Cause], found: dict[Element, Cause]
    ) -> None:
        """Add a cause for each element that a semantics explains.

        One that gives all of a case may have another name already; what is still without one is looked for in those
        parts of the cases that a kernel may well treat apart.
        """
        pairs = zip(rows, named, strict=True)
        nameless = {element_of(row) for row, cause in pairs if cause.text == UNEXPLAINED}
        for most in (NEAREST, FARTHEST):
            if most == NEAREST or nameless - found.keys():
                self.explain_by(self.families_of(kind, rows, most), nameless, found)

    def families_of(self, kind: Kind, rows: Sequence[Mapping[str, Any]], most: int) -> list[SameArithmetic]:
        if (kind, most) not in self.families:
            if kind not in self.answered:
                self.answered[kind] = self.of_one_text(kind, rows)
            self.families[kind, most] = [SameArithmetic(cases, most) for cases in self.answered[kind]]
        return self.families[kind, most]

    def explain_by(
        self, families: Sequence[SameArithmetic], nameless: Set[Element], found: dict[Element, Cause]
    ) -> None:
        for family in families:
            for where, part in parts_by_path(family.cases):
                left = [without_named(one, found, nameless if where else None) for one in part]
                if any(one.deviating.any() for one in left):
                    cover = partial(self.cover, family, sample_of(left), where, nameless, found)
                    self.errors.attempt(STAGE, f"{self.about}, {family.cases[0].case.node.operator}", cover, None)

    def cover(
        self,
        family: SameArithmetic,
        cases: Sequence[RecordedCase],
        where: str,
        nameless: Set[Element],
        found: dict[Element, Cause],
    ) -> None:
        """Where elements have names, only a semantics that gives everything else as it came, too, says more.

        Of real results none else is named, and no name of the table is replaced: it knows more of such formulas, and
        small cases fit many by chance.
        """
        real = not isinstance(ELEMENT_TYPES[cases[0].case.node.output_type], IntegerType)
        for semantics, explained, whole in covering_semantics(family, cases, where, self.known):
            if real and not whole:
                continue
            cause = cause_of(family.arithmetic, semantics)
            self.known.add(cause.text)
            cause = replace(cause, text=cause.text + where)
            elements = {(one.case.id, family.output, int(i)) for one in explained for i in one.places[one.deviating]}
            found |= dict.fromkeys(elements if whole and not real else elements & nameless, cause)

    def of_one_text(self, kind: Kind, rows: Sequence[Mapping[str, Any]]) -> list[list[RecordedCase]]:
        """The backend's cases of that kind, those together whose nodes have the same arithmetic."""
        wrong: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            if row["output"] == first_output_name(self.cases[row["case"]]):
                wrong[row["case"]].append(int(row["index"]))
        groups: dict[str, list[RecordedCase]] = defaultdict(list)
        for case in self.by_kind[kind]:
            answer = partial(recorded_case, case, self.outputs[case.id], wrong.get(case.id, []))
            answered = self.errors.attempt(STAGE, f"{self.about}, {case.id}", answer, None)
            if answered is not None:
                groups[arithmetic_key(case.node)].append(answered)
        return [group for group in groups.values() if any(one.deviating.any() for one in group)]


def element_of(row: Mapping[str, Any]) -> Element:
    return row["case"], row["output"], row["index"]


def without_named(one: RecordedCase, found: Mapping[Element, Cause], nameless: Set[Element] | None) -> RecordedCase:
    """Nothing is held to what is explained already, or has a name if only the `nameless` are asked for."""
    output = first_output_name(one.case)
    known = np.zeros(one.deviating.size, bool)
    for place in np.flatnonzero(one.deviating):
        element = one.case.id, output, int(one.places[place])
        known[place] = element in found or (nameless is not None and element not in nameless)
    return replace(one, outputs=np.where(known, ANYTHING, one.outputs), deviating=one.deviating & ~known)


def sample_of(cases: Sequence[RecordedCase]) -> list[RecordedCase]:
    """Those that deviate first, the small ones before, then others."""
    return up_to(sorted(cases, key=lambda one: (not one.deviating.any(), one.outputs.size)), MOST_ELEMENTS)


def up_to(cases: Sequence[RecordedCase], most: int) -> list[RecordedCase]:
    """The first of them, with about so many elements."""
    ends = np.cumsum([one.outputs.size for one in cases])
    return list(cases[: 1 + int(np.count_nonzero(ends < most))])


def covering_semantics(
    family: SameArithmetic, cases: Sequence[RecordedCase], where: str, known: Set[str]
) -> Iterator[tuple[Semantics, list[RecordedCase], bool]]:
    """Semantics that give every element of the cases they are named for: the one that explains the most first.

    One that fits all cases is named before any other, and each comes with whether it does. Else what speaks against
    one, the elements that it gets wrong in cases that do not deviate or are explained already, is weighed with what it
    explains: a kernel may well take several paths. Between equals, one that is known from elsewhere, then the one with
    fewer facets that are not the document's.
    """
    arithmetic = family.arithmetic
    wrong = np.array([np.count_nonzero(one.deviating) for one in cases])
    left = wrong > 0
    for _ in range(ROUNDS):
        unexplained = [one for one, is_left in zip(cases, left, strict=True) if is_left]
        likely = family.likeliest({(one.case.id, int(i)) for one in unexplained for i in one.places[one.deviating]})
        differs = differences(arithmetic, cases, likely)
        familiar = np.array([cause_of(arithmetic, one).text in known for one in likely], bool)
        if sum(one.outputs.size for one in cases) >= CONVINCING:
            familiar |= (differs == 0).all(axis=1)
        familiar &= where in ("", *PER)  # parts by place, or sign, are so many that one of them may fit by chance
        found = False
        while (best := best_semantics(arithmetic, likely, differs, wrong, left, familiar)) is not None:
            fits = differs[best] == 0
            explained = [one for one, taken in zip(cases, left & fits, strict=True) if taken]
            yield likely[best], explained, bool(fits.all())
            left, found = left & ~fits, True
        if not found or not left.any():
            return


def best_semantics(
    arithmetic: Arithmetic, semantics: Sequence[Semantics], differs: Array, wrong: Array, left: Array, known: Array
) -> int | None:
    if not semantics or not left.any():
        return None
    fits = differs == 0
    explained = (fits[:, left] * wrong[left]).sum(axis=1)
    worth = explained - AGAINST * differs[:, ~left].sum(axis=1)
    possible = (explained >= np.where(known, 1, FEWEST)) & (worth >= 0)
    distance = [facets_unlike(arithmetic, one) for one in semantics]
    best = int(np.lexsort((np.array(distance), ~known, -worth, ~fits.all(axis=1), ~possible))[0])
    return best if possible[best] else None


def facets_unlike(arithmetic: Arithmetic, semantics: Semantics) -> int:
    return sum(a != b for a, b in zip(semantics, arithmetic.documented, strict=True))


def differences(arithmetic: Arithmetic, cases: Sequence[RecordedCase], semantics: Sequence[Semantics]) -> Array:
    """For each semantics (rows) the number of elements of each case (columns) that it gets wrong, or is silent on
    though they deviate."""
    probe = all_operands(cases)
    begins = np.concatenate([[0], np.cumsum([one.outputs.size for one in cases])[:-1]])
    came, wrong = (np.concatenate(each) for each in ([c.outputs for c in cases], [c.deviating for c in cases]))
    asked = came != ANYTHING
    found = np.empty((len(semantics), len(cases)), np.int64)
    for row, predicted in zip(found, arithmetic.predict(probe, semantics), strict=True):
        row[:] = np.add.reduceat((predicted != came) & asked & (wrong | (predicted != ANYTHING)), begins)
    return found
