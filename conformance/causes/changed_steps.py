"""Finds the cause of elements that no table names: the one change of a step of the term that gives all of them.

The changes are those of variants/single_changes.py, the same for every operator. A change is a cause only if it gives
enough different elements of a kind of node, and if no element of the kind that conforms contradicts it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.predictions import FIRST_PAIR
from tiebreak.conformance.judging.chunk import Chunk, chunks_of
from tiebreak.conformance.judging.judge import negative_zero
from tiebreak.conformance.judging.rows import Kind, kind_of_node
from tiebreak.conformance.judging.truths import canonical
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.variants.changes import spoken
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.single_changes import single_changes
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Term, steps_of
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.problems import output_slices, problems_of
from tiebreak.golden.verdicts import DEVIATES, WORKING

Element = tuple[str, str, int]  # a case's id, an output's name, an index in it

COLUMNS = ("given", "right", "zero", "conforms", "numbers")
STAGE = "changes of a step"
ROLE = "a step"  # no operator's: the clause is told by the step at which the results part
FEWEST = 6  # different operands that a change must give
MOST_ASKED, MOST_CONFORMING = 64, 1024  # elements of a form with which changes are tried before all are
MOST_FORMS = 4  # of a kind, with which changes are tried before all are
MOST_TRIED = 12  # changes of a kind that all of its elements are asked about
MOST_STEPS = 400  # of a term whose changes are tried
ROUNDS = 2  # changes that one kind may show, one after the other
IN_FLOAT64 = ", the rest in float64"


@dataclass
class TermElements:
    """The elements of one term: operands, what the backend gave, what is right, and which of them are which.

    `numbers` are the places of deviating elements among the kind's, -1 of all others.
    """

    problem: Problem  # without its operands
    operands: tuple[Array, ...]
    given: Array
    right: Array  # a row each: the exact result, and that of working precision
    zero: Array  # where either zero is right
    conforms: Array
    numbers: Array

    @cached_property
    def term(self) -> Term:
        return spoken(oracle.term_of(self.problem, oracle.formula_of(self.problem)))

    @cached_property
    def changes(self) -> Mapping[str, Callable[[Term], Term]]:
        """The changes by their ids; none for a long term."""
        found: dict[str, Callable[[Term], Term]] = {}
        if len(list(steps_of(self.term))) <= MOST_STEPS:
            for id_, change in single_changes(self.term, self.problem):
                found.setdefault(id_, change)
        return found

    @cached_property
    def runs(self) -> Mapping[str, BackendEvaluation]:
        """What computes terms: in working precision, and with all other steps in float64."""
        own, read = (self.operands, self.problem.kinds), oracle.signed_value_of
        kinds = (("", self.problem.working), (IN_FLOAT64, DOUBLE))
        return {suffix: BackendEvaluation(*own, kind, read) for suffix, kind in kinds}

    def codes(self, suffix: str, term: Term) -> Array:
        """What a backend gives that computes a changed term, as comparable codes."""
        codes = canonical(self.runs[suffix].answer(term), self.problem)
        return np.where(self.zero & (codes == negative_zero(self.problem)), 0, codes)

    def some(self, at: Array) -> TermElements:
        operands = tuple(one[at] for one in self.operands)
        columns = (getattr(self, name)[..., at] for name in COLUMNS)
        return TermElements(self.problem, operands, *columns)

    def asked(self, left: Array) -> TermElements:
        """Some of the elements that are left (a mask by number)."""
        return self.some(spread(np.flatnonzero((self.numbers >= 0) & left[self.numbers]), MOST_ASKED))

    def conforming(self) -> TermElements:
        """Some of the elements that conform."""
        return self.some(spread(np.flatnonzero(self.conforms), MOST_CONFORMING))


def spread(places: Array, most: int) -> Array:
    return places[:: max(1, -(-places.size // most))]


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
            nameless = [number for number, cause in enumerate(old) if cause == NO_CAUSE]
            about = f"{self.about}, {' '.join(kind)}"
            new = list(old)
            if len(nameless) >= FEWEST or (len(old) >= FEWEST and any(JOINT in cause.id for cause in old)):
                find = partial(self.found, kind, of_kind, nameless)
                for number, cause in self.errors.attempt(STAGE, about, find, {}).items():
                    new[number] = cause
            refined.append(new)
        return refined

    def found(self, kind: Kind, elements: Sequence[Element], nameless: Sequence[int]) -> dict[int, Cause]:
        """A cause for each of a kind's elements if one change gives all; else for those nameless ones that it gives."""
        forms = self.forms(kind, elements)
        with np.errstate(all="ignore"):
            whole = best_change(forms, np.ones(len(elements), bool))
            if whole is not None and whole[1].size == len(elements):
                return dict.fromkeys(range(len(elements)), Cause(whole[0], ROLE, FIRST_PAIR))
            found, left = dict[int, Cause](), np.zeros(len(elements), bool)
            left[list(nameless)] = True
            for _ in range(ROUNDS):
                best = best_change(forms, left) if np.count_nonzero(left) >= FEWEST else None
                if best is None:
                    break
                id_, numbers = best
                left[numbers] = False
                found |= dict.fromkeys(numbers.tolist(), Cause(id_, ROLE, FIRST_PAIR))
        return found

    def forms(self, kind: Kind, elements: Sequence[Element]) -> list[TermElements]:
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
        forms = [joined(own) for own in parts.values() if any((one.numbers >= 0).any() for one in own)]
        return sorted(forms, key=lambda one: -int(np.count_nonzero(one.numbers >= 0)))

    def parts(
        self, chunk: Chunk, place: int, case: Case, deviating: Sequence[tuple[str, int, int]]
    ) -> Iterator[tuple[tuple[object, ...], TermElements]]:
        """The elements of each output of a case."""
        truth, outputs, grades = chunk.truths_of(place).judged_by, self.outputs[case.id], self.grades[case.id]
        problems = problems_of(case)
        for problem, own in zip(problems, output_slices(problems), strict=True):
            numbers = np.full(own.stop - own.start, -1)
            for output, index, number in deviating:
                if output == problem.output:
                    numbers[index] = number
            right = np.stack([truth.exact[own], truth.working[own]])
            conforms = (grades[own] <= WORKING) & (grades[own] != DEVIATES) & truth.specified[own]
            kept = (numbers >= 0) | conforms
            zero = np.broadcast_to(truth.zero, outputs.shape)[own]
            form = TermElements(problem, problem.operands, outputs[own], right, zero, conforms, numbers)
            yield key_of(problem), form.some(np.flatnonzero(kept))


def key_of(problem: Problem) -> tuple[object, ...]:
    """What problems with one term have in common."""
    constants = tuple(getattr(problem, "constants", {}).items())
    formula = getattr(problem, "formula", "")
    return formula, problem.output, problem.mode, problem.kinds, problem.result, problem.working, constants


def joined(forms: Sequence[TermElements]) -> TermElements:
    first = forms[0]
    operands = tuple(np.concatenate(each) for each in zip(*(one.operands for one in forms), strict=True))
    columns = (np.concatenate([getattr(one, name) for one in forms], axis=-1) for name in COLUMNS)
    return TermElements(first.problem, operands, *columns)


@dataclass
class Score:
    """How many elements a change gives, and its place among all changes."""

    given: int = 0
    rank: int = 0


def best_change(forms: Sequence[TermElements], left: Array) -> tuple[str, Array] | None:
    """The id of the change that gives the most of the elements left (a mask), and their numbers; None if none does."""
    scores, refuted = dict[str, Score](), set[str]()
    asked = [one for one in forms if left[one.numbers[one.numbers >= 0]].any()][:MOST_FORMS]
    for form in asked:
        screen(form, left, scores, refuted)
    likely = sorted(scores.keys() - refuted, key=lambda one: (-scores[one].given, scores[one].rank, one))
    for id_ in likely[:MOST_TRIED]:
        numbers = given_by(forms, id_, left)
        if numbers is not None:
            return id_, numbers
    return None


def screen(form: TermElements, left: Array, scores: dict[str, Score], refuted: set[str]) -> None:
    """Count for each change which elements left it gives; note those that a conforming element contradicts."""
    asked, conforming = form.asked(left), form.conforming()
    for rank, (name, change) in enumerate(form.changes.items()):
        term = change(form.term)
        for suffix in ("", IN_FLOAT64):
            id_ = name + suffix
            given = 0 if id_ in refuted else int(np.count_nonzero(asked.codes(suffix, term) == asked.given))
            if given and contradicts(conforming, conforming.codes(suffix, term)):
                refuted.add(id_)
            elif given:
                scores.setdefault(id_, Score(rank=rank)).given += given


def contradicts(form: TermElements, codes: Array) -> bool:
    """Whether a conforming element has another result than these codes, which are none of the right ones there."""
    other = form.conforms & (codes != form.given) & (codes != form.right).all(axis=0)
    return bool(other.any())


def given_by(forms: Sequence[TermElements], id_: str, left: Array) -> Array | None:
    """The numbers of the elements left that a change gives; None if they are few or some element contradicts it."""
    suffix = IN_FLOAT64 if id_.endswith(IN_FLOAT64) else ""
    found, different = list[int](), set[tuple[int, ...]]()
    for form in forms:
        change = form.changes.get(id_.removesuffix(suffix) if suffix else id_)
        if change is None:
            continue
        codes = replace(form).codes(suffix, change(form.term))  # a copy, since a form keeps all that it computes
        if contradicts(form, codes):
            return None
        at = np.flatnonzero((form.numbers >= 0) & left[form.numbers] & (codes == form.given))
        found += form.numbers[at].tolist()
        different |= set(zip(*(one[at].tolist() for one in form.operands), strict=True))
    return np.array(found, np.int64) if len(different) >= FEWEST else None
