"""Finds the cause of elements that no table names: the one change that gives all of them, of a step or of the inputs.

The changes are those of variants/single_changes.py and input_changes.py, the same for every operator. A change is a
cause only if it gives enough different elements of a kind of node, and if no element of the kind that conforms
contradicts it. Another rounding mode may join it: fixed-point arithmetic rounds in its own way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.predictions import FIRST_PAIR
from tiebreak.conformance.causes.term_elements import IN_FLOAT64, Candidate, TermElements, joined, key_of, spread
from tiebreak.conformance.judging.chunk import Chunk, chunks_of
from tiebreak.conformance.judging.domains import PATHOLOGICAL
from tiebreak.conformance.judging.rows import Kind, kind_of_node, path_of
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.variants.input_changes import absent_inputs, input_changes
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import output_slices, problems_of
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.verdicts import WORKING

Element = tuple[str, str, int]  # a case's id, an output's name, an index in it

STAGE = "changes of a step"
ROLE = "a step"  # no operator's: the clause is told by the step at which the results part
FEWEST = 6  # different operands that a change must give
FEW = 0.25  # of the elements asked so far: a change that gives fewer is not tried any more
LEAST_SHARE = 0.5  # of the elements without a name that a change must give
MOST_OF_CASE = 1 << 14  # elements of a layer that are looked at
MOST_FORMS = 4  # terms of a kind with which changes are tried before all are
MOST_TRIED = 12  # changes of a kind that all of its elements are asked about
MOST_JOINED = 16  # changes with which other rounding modes are tried
ROUNDS = 2  # changes that one kind may show, one after the other


@dataclass(frozen=True)
class FoundChange:
    """A change that holds, and the numbers of all elements of the kind that it gives."""

    candidate: Candidate
    cause: Cause
    numbers: Array


@dataclass
class CausesByChange:
    """The changes that a backend's nameless elements show, kind by kind.

    `outputs` are flat codes by case id, output by output, and `grades` are theirs.
    """

    cases: Sequence[Case]
    outputs: Mapping[str, Array]
    grades: Mapping[str, Array]
    errors: ExplanationErrors
    about: str  # the backend

    @cached_property
    def by_id(self) -> Mapping[str, Case]:
        return {case.id: case for case in self.cases}

    @cached_property
    def by_kind(self) -> Mapping[Kind, list[Case]]:
        found: dict[Kind, list[Case]] = defaultdict(list)
        for case in self.cases:
            if case.size and case.id in self.outputs:
                found[kind_of_node(case.node)].append(case)
        return found

    def refine(self, elements: Mapping[Kind, Sequence[Element]], named: Sequence[Sequence[Cause]]) -> list[list[Cause]]:
        """The causes of each kind's elements, with a change for those that had none."""
        refined = []
        for (kind, of_kind), old in zip(elements.items(), named, strict=True):
            new = list(old)
            if old.count(NO_CAUSE) >= FEWEST:
                find, about = partial(self.found, kind, of_kind, old), f"{self.about}, {' '.join(kind)}"
                for number, cause in self.errors.attempt(STAGE, about, find, {}).items():
                    new[number] = cause
            refined.append(new)
        return refined

    def found(self, kind: Kind, elements: Sequence[Element], old: Sequence[Cause]) -> dict[int, Cause]:
        """A cause for each of a kind's elements if one change gives all; else for those nameless ones that it gives.

        What has a rarer cause takes the change, too, if that gives it: the rarer cause then says nothing by itself. If
        the change does not give it, a cause that explains less of a path than had no name there is in doubt, as before.
        """
        search = ChangeSearch(self.terms(kind, elements))
        left, counts = np.array([cause == NO_CAUSE for cause in old]), Counter(old)
        found = dict[int, Cause]()
        with np.errstate(all="ignore"):
            for _ in range(ROUNDS):
                best = search.best(left) if np.count_nonzero(left) >= FEWEST else None
                if best is None:
                    break
                nameless, others = best.numbers[left[best.numbers]], best.numbers[~left[best.numbers]].tolist()
                is_whole = best.numbers.size == len(elements)
                rarer = [number for number in others if is_whole or counts[old[number]] < nameless.size]
                left[nameless] = False
                for number in (*nameless.tolist(), *rarer):
                    found.setdefault(number, best.cause)
        return dict.fromkeys(self.doubted(elements, old), NO_CAUSE) | found if found else {}

    def doubted(self, elements: Sequence[Element], old: Sequence[Cause]) -> list[int]:
        """The numbers of elements whose cause explains less of their path than has no name there."""
        paths = {case_id: path_of(self.by_id[case_id]) for case_id in {case_id for case_id, _, _ in elements}}
        keys = [(paths[case_id], cause) for (case_id, _, _), cause in zip(elements, old, strict=True)]
        counts = Counter(keys)
        return [number for number, key in enumerate(keys) if counts[key] < counts[key[0], NO_CAUSE]]

    def terms(self, kind: Kind, elements: Sequence[Element]) -> list[TermElements]:
        """The elements of a kind by their terms, the terms of most deviating elements first."""
        numbers: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        for number, (case_id, output, index) in enumerate(elements):
            numbers[case_id].append((output, index, number))
        parts: dict[tuple[object, ...], list[TermElements]] = defaultdict(list)
        for cases in chunks_of(self.by_kind[kind]):
            chunk = Chunk(cases)
            for place, case in enumerate(cases):
                for key, part in self.parts(chunk, place, case, numbers.get(case.id, ())):
                    parts[key].append(part)
        terms = [joined(own) for own in parts.values()]
        return sorted(terms, key=lambda one: -int(np.count_nonzero(one.numbers >= 0)))

    def parts(
        self, chunk: Chunk, number: int, case: Case, deviating: Sequence[tuple[str, int, int]]
    ) -> Iterator[tuple[tuple[object, ...], TermElements]]:
        """The elements of each output of a case."""
        truth, outputs, problems = chunk.truths_of(number).judged_by, self.outputs[case.id], problems_of(case)
        plain = (self.grades[case.id] <= WORKING) & (chunk.domains[chunk.of_case(number)] != PATHOLOGICAL)
        zero = np.broadcast_to(truth.zero, outputs.shape)
        for output, (problem, own) in enumerate(zip(problems, output_slices(problems), strict=True)):
            numbers = np.full(own.stop - own.start, -1)
            for name, index, place in deviating:
                if name == problem.output:
                    numbers[index] = place
            right = np.stack([truth.exact[own], truth.working[own]])
            conforms = plain[own] & truth.specified[own]
            where = np.zeros(numbers.size, np.int64), np.arange(numbers.size)
            columns = outputs[own], right, zero[own], conforms, numbers, *where
            part = TermElements(problem, [(case, output)], problem.operands, *columns)
            absent = tuple(absent_inputs(case.node))
            kept = np.flatnonzero(numbers >= 0), spread(np.flatnonzero(conforms), MOST_OF_CASE)
            yield (key_of(problem), absent), part.some(np.concatenate(kept))


@dataclass
class Scores:
    """How many of the asked elements each change gives, in the order of the changes, and which are contradicted."""

    asked: int = 0
    given: dict[Candidate, float] = field(default_factory=dict)
    refuted: set[Candidate] = field(default_factory=set)

    def add(self, candidate: Candidate, given: float, contradicted: bool) -> None:
        self.given[candidate] = self.given.get(candidate, 0) + given
        if contradicted:
            self.refuted.add(candidate)

    def likely(self, least: float, *, refuted: bool) -> list[Candidate]:
        """Those that give such a share of the elements, the most first; contradicted ones only if said so."""
        found = [
            one
            for one, given in self.given.items()
            if given >= least * self.asked and (refuted or one not in self.refuted)
        ]
        return sorted(found, key=lambda one: -self.given[one])  # of equal ones the earlier


@dataclass(frozen=True)
class ChangeSearch:
    """A search among the elements of a kind, by their terms."""

    terms: Sequence[TermElements]

    @property
    def mode(self) -> str:
        """The rounding mode that the document asks for; empty if nothing is rounded."""
        return self.terms[0].problem.mode

    def best(self, left: Array) -> FoundChange | None:
        """The change that gives the most of the elements left (a mask), half of them at least; None if none does."""
        asked = [one for one in self.terms if one.is_left(left).any()][:MOST_FORMS]
        scores = Scores()
        for one in asked:
            screen(one, left, scores)
        found = self.verified(scores.likely(LEAST_SHARE, refuted=False), left)
        if self.mode and (found is None or not set(np.flatnonzero(left).tolist()) <= set(found.numbers.tolist())):
            likely = [found.candidate] if found else scores.likely(LEAST_SHARE, refuted=True)[:MOST_JOINED]
            joint = self.verified(self.joint(asked, likely, left).likely(LEAST_SHARE, refuted=False), left)
            if joint and (found is None or joint.numbers.size > found.numbers.size):
                found = joint
        return found

    def joint(self, terms: Sequence[TermElements], candidates: Sequence[Candidate], left: Array) -> Scores:
        """How the candidates do together with another rounding mode than the document's."""
        scores = Scores()
        for elements in terms:
            both = {one: screened(elements, left, of_inputs=one) for one in {each.of_inputs for each in candidates}}
            scores.asked += elements.asked(left).given.size
            for candidate in candidates:
                for mode in ROUND_MODES:
                    if mode != self.mode:
                        joined_ = replace(candidate, mode=mode)
                        try_change(*both[candidate.of_inputs], joined_, scores, elements.asked(left).given.size)
        return scores

    def verified(self, candidates: Sequence[Candidate], left: Array) -> FoundChange | None:
        """The first of some candidates that no element of the kind contradicts, if it gives half of what is left."""
        for candidate in candidates[:MOST_TRIED]:
            numbers = given_by(self.terms, candidate)
            if numbers is not None and np.count_nonzero(left[numbers]) >= LEAST_SHARE * np.count_nonzero(left):
                return FoundChange(candidate, Cause(candidate.name(self.mode), ROLE, FIRST_PAIR), numbers)
        return None


def screen(elements: TermElements, left: Array, scores: Scores) -> None:
    """Try changes of the steps and of the inputs with a few elements: all at first, then those that gave enough."""
    (asked, conforming), known = screened(elements, left, of_inputs=False), set(scores.given)
    before, scores.asked = scores.asked, scores.asked + asked.given.size
    for suffix in ("", IN_FLOAT64):
        of_asked, of_conforming = (one.evaluation(one.operands, suffix) for one in (asked, conforming))
        for id_, change in elements.changes.items():
            one = Candidate(id_, suffix=suffix)
            if suffix and scores.given[Candidate(id_)] < FEW * scores.asked:
                continue
            if one in known and scores.given[one] < FEW * before:
                continue
            term = change(elements.term)
            given = int(np.count_nonzero(asked.answer(of_asked, term) == asked.given))
            scores.add(one, given, given > 0 and contradicts(conforming, conforming.answer(of_conforming, term)))
    both = screened(elements, left, of_inputs=True)
    cases = (elements.cases[number][0] for number in np.unique(both[0].case).tolist())
    for id_ in dict.fromkeys(id_ for case in cases for id_, _ in input_changes(case.node, case.inputs)):
        try_change(*both, Candidate(id_, of_inputs=True), scores, asked.given.size)


def screened(elements: TermElements, left: Array, *, of_inputs: bool) -> tuple[TermElements, TermElements]:
    """A few elements that are left, and a few that conform; of few cases, whose inputs are changed as a whole."""
    if of_inputs:
        return elements.of_few_cases(elements.is_left(left)), elements.of_few_cases(elements.conforms)
    return elements.asked(left), elements.conforming()


def try_change(
    asked: TermElements, conforming: TermElements, candidate: Candidate, scores: Scores, share_of: int
) -> None:
    """Score a change; `share_of` elements are what all of those asked count for."""
    codes = asked.codes(candidate)
    if codes is not None and (given := int(np.count_nonzero(codes == asked.given))):
        others = conforming.codes(candidate)
        contradicted = others is not None and contradicts(conforming, others)
        scores.add(candidate, given * share_of / asked.given.size, contradicted)


def contradicts(elements: TermElements, codes: Array) -> bool:
    """Whether a conforming element has another result than these codes, which are none of the right ones there."""
    other = elements.conforms & (codes != elements.given) & (codes != elements.right).all(axis=0)
    return bool(other.any())


def given_by(terms: Sequence[TermElements], candidate: Candidate) -> Array | None:
    """The numbers of the elements that a change gives; None if they are few or a conforming one contradicts it."""
    found, different = list[int](), set[tuple[int, ...]]()
    for elements in terms:
        codes = elements.codes(candidate)
        if codes is None:
            continue
        if contradicts(elements, codes):
            return None
        at = np.flatnonzero((elements.numbers >= 0) & (codes == elements.given))
        found += elements.numbers[at].tolist()
        some = spread(at, MOST_OF_CASE)
        different |= set(zip(*(one[some].tolist() for one in elements.operands), strict=True))
    return np.array(found, np.int64) if len(different) >= FEWEST else None
