"""Finds the cause of elements that no table names: the one change that gives all of them, of a step or of the inputs.

The changes are those of variants/single_changes.py and input_changes.py, the same for every operator. A change is a
cause only if it gives enough different elements of a kind of node, and if no element of the kind that conforms
contradicts it. Another rounding mode may join it: fixed-point arithmetic rounds in its own way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.predictions import FIRST_PAIR
from tiebreak.conformance.judging.chunk import Chunk, chunks_of
from tiebreak.conformance.judging.domains import PATHOLOGICAL
from tiebreak.conformance.judging.judge import negative_zero
from tiebreak.conformance.judging.rows import Kind, kind_of_node
from tiebreak.conformance.judging.truths import canonical
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.facet_causes import mode_cause
from tiebreak.conformance.variants.changes import everywhere, spoken
from tiebreak.conformance.variants.evaluation import BackendEvaluation
from tiebreak.conformance.variants.input_changes import absent_inputs, input_changes
from tiebreak.conformance.variants.single_changes import changes_of_absent, single_changes
from tiebreak.golden import oracle
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Term, steps_of
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.problems import output_slices, problems_of
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.verdicts import WORKING

Element = tuple[str, str, int]  # a case's id, an output's name, an index in it
ChangeTerm = Callable[[Term], Term]

COLUMNS = ("given", "right", "zero", "conforms", "numbers", "case", "place")
STAGE = "changes of a step"
ROLE = "a step"  # no operator's: the clause is told by the step at which the results part
FEWEST = 6  # different operands that a change must give
LEAST_SHARE = 0.5  # of the elements without a name that a change must give
MOST_ASKED, MOST_CONFORMING = 64, 1024  # elements of a term with which changes are tried before all are
MOST_CASES = 6  # that deviate, and as many that do not, with which changes of inputs are tried before all are
MOST_FORMS = 4  # terms of a kind with which changes are tried before all are
MOST_TRIED = 12  # changes of a kind that all of its elements are asked about
MOST_JOINED = 16  # changes with which other rounding modes are tried
MOST_STEPS = 400  # of a term whose changes are tried
ROUNDS = 2  # changes that one kind may show, one after the other
IN_FLOAT64 = ", the rest in float64"


@dataclass(frozen=True)
class Candidate:
    """A change: of the inputs, or of a step by its id, in working precision or float64; and another rounding mode."""

    id: str
    of_inputs: bool = False
    suffix: str = ""
    mode: str = ""

    def name(self, wanted: str) -> str:
        """The id of the cause, where the document asks for a mode."""
        return f"{self.id}{self.suffix}" + (f"{JOINT}{mode_cause(wanted, self.mode).id}" if self.mode else "")


@dataclass(frozen=True)
class FoundChange:
    """A change that holds, and the numbers of those elements that were asked for and that it gives."""

    candidate: Candidate
    cause: Cause
    numbers: Array

    def of(self, terms: Sequence[TermElements], left: Array) -> Array:
        """The numbers of those other elements left (a mask) that it gives."""
        found = given_by(terms, self.candidate, left)
        return self.numbers if found is None else found


@dataclass
class TermElements:
    """The elements of one term: operands, what the backend gave, what is right, and which of them are which.

    `cases` are the cases with the number of the output. `numbers` are the places of deviating elements among the
    kind's, -1 of all others. `case` and `place` say where each element is.
    """

    problem: Problem  # without its operands
    cases: Sequence[tuple[Case, int]]
    operands: tuple[Array, ...]
    given: Array
    right: Array  # a row each: the exact result, and that of working precision
    zero: Array  # where either zero is right
    conforms: Array
    numbers: Array
    case: Array
    place: Array

    @cached_property
    def term(self) -> Term:
        return spoken(oracle.term_of(self.problem, oracle.formula_of(self.problem)))

    @cached_property
    def changes(self) -> Mapping[str, ChangeTerm]:
        """The changes of its steps by their ids; none for a long term."""
        found: dict[str, ChangeTerm] = {}
        if len(list(steps_of(self.term))) <= MOST_STEPS:
            node = self.cases[0][0].node
            names = self.problem.names([one.name for one in node.inputs], get_operator(node.operator).forms[0])
            missing = {name.rstrip("s") for name in absent_inputs(node)}
            absent = [place for place, name in enumerate(names) if name.rstrip("s") in missing]
            for id_, change in (*changes_of_absent(self.term, absent), *single_changes(self.term, self.problem)):
                found.setdefault(id_, change)
        return found

    def codes(self, candidate: Candidate) -> Array | None:
        """What a backend gives that makes the change, as comparable codes; None where it changes nothing."""
        if candidate.of_inputs:
            operands, term = self.operands_with(candidate.id), self.term
        elif candidate.id in self.changes:
            operands, term = self.operands, self.changes[candidate.id](self.term)
        else:
            return None
        if operands is None:
            return None
        if candidate.mode:
            term = everywhere(term, lambda one: replace(one, constant=candidate.mode) if one.name == "round" else None)
        return self.answer(self.evaluation(operands, candidate.suffix), term)

    def evaluation(self, operands: tuple[Array, ...], suffix: str) -> BackendEvaluation:
        kind = DOUBLE if suffix else self.problem.working
        return BackendEvaluation(operands, self.problem.kinds, kind, oracle.signed_value_of)

    def answer(self, evaluation: BackendEvaluation, term: Term) -> Array:
        codes = canonical(evaluation.answer(term), self.problem)
        return np.where(self.zero & (codes == negative_zero(self.problem)), 0, codes)

    def operands_with(self, id_: str) -> tuple[Array, ...] | None:
        """The operands after a change of the inputs; None if no case has it."""
        changed = tuple(one.copy() for one in self.operands)
        applies = False
        for number in np.unique(self.case).tolist():
            case, output = self.cases[number]
            inputs = dict(input_changes(case.node, case.inputs)).get(id_)
            if inputs is not None:
                problem = get_operator(case.node.operator).problems(case.node, inputs)[output]
                own = np.flatnonzero(self.case == number)
                for column, operand in zip(changed, problem.operands, strict=True):
                    column[own] = operand[self.place[own]]
                applies = True
        return changed if applies else None

    def some(self, at: Array) -> TermElements:
        operands = tuple(one[at] for one in self.operands)
        return TermElements(self.problem, self.cases, operands, *(getattr(self, name)[..., at] for name in COLUMNS))

    def asked(self, left: Array) -> TermElements:
        """Some of the elements that are left (a mask by number)."""
        return self.some(spread(np.flatnonzero(self.is_left(left)), MOST_ASKED))

    def is_left(self, left: Array) -> Array:
        return np.asarray((self.numbers >= 0) & left[self.numbers])

    def conforming(self) -> TermElements:
        """Some of the elements that conform."""
        return self.some(spread(np.flatnonzero(self.conforms), MOST_CONFORMING))

    def of_few_cases(self, wanted: Array) -> TermElements:
        """The wanted elements (a mask) of a few cases that have some."""
        chosen = spread(np.unique(self.case[wanted]), MOST_CASES)
        return self.some(np.flatnonzero(wanted & np.isin(self.case, chosen)))


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
                find = partial(self.found, kind, of_kind, old)
                for number, cause in self.errors.attempt(STAGE, about, find, {}).items():
                    new[number] = cause
            refined.append(new)
        return refined

    def found(self, kind: Kind, elements: Sequence[Element], old: Sequence[Cause]) -> dict[int, Cause]:
        """A cause for each of a kind's elements if one change gives all; else for those nameless ones that it gives.

        What has a rarer cause takes the change, too, if that gives it: the rarer cause then says nothing by itself.
        """
        terms = self.terms(kind, elements)
        with np.errstate(all="ignore"):
            every, found = np.ones(len(elements), bool), dict[int, Cause]()
            whole = best_change(terms, every, whole=True)
            if whole is not None:
                return dict.fromkeys(range(len(elements)), whole.cause)
            left, counts = np.array([cause == NO_CAUSE for cause in old]), Counter(old)
            for _ in range(ROUNDS):
                best = best_change(terms, left) if np.count_nonzero(left) >= FEWEST else None
                if best is None:
                    break
                left[best.numbers] = False
                rarer = (n for n in best.of(terms, every).tolist() if counts[old[n]] < best.numbers.size)
                for number in (*best.numbers.tolist(), *rarer):
                    found.setdefault(number, best.cause)
        return found

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
            yield (key_of(problem), absent), part.some(np.flatnonzero((numbers >= 0) | conforms))


def key_of(problem: Problem) -> tuple[object, ...]:
    """What problems with one term have in common."""
    constants = tuple(getattr(problem, "constants", {}).items())
    formula = getattr(problem, "formula", "")
    return formula, problem.output, problem.mode, problem.kinds, problem.result, problem.working, constants


def joined(parts: Sequence[TermElements]) -> TermElements:
    """The elements of several cases with one term."""
    numbered = [replace(one, case=one.case + number) for number, one in enumerate(parts)]
    operands = tuple(np.concatenate(each) for each in zip(*(one.operands for one in parts), strict=True))
    columns = (np.concatenate([getattr(one, name) for one in numbered], axis=-1) for name in COLUMNS)
    return TermElements(parts[0].problem, [one.cases[0] for one in parts], operands, *columns)


@dataclass
class Scores:
    """How many of the asked elements each change gives, in the order of the changes, and which are contradicted."""

    asked: int = 0
    given: dict[Candidate, int] = field(default_factory=dict)
    refuted: set[Candidate] = field(default_factory=set)

    def add(self, candidate: Candidate, given: int, contradicted: bool) -> None:
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


def best_change(terms: Sequence[TermElements], left: Array, *, whole: bool = False) -> FoundChange | None:
    """The change that gives the most of the elements left (a mask); None if none does.

    It must give half of them, all if `whole`.
    """
    asked = [one for one in terms if one.is_left(left).any()][:MOST_FORMS]
    wanted = terms[0].problem.mode
    scores = Scores()
    for one in asked:
        screen(one, left, scores)
    single = scores.likely(LEAST_SHARE, refuted=False)
    found = verified(terms, single[:MOST_TRIED], left, whole=whole)
    if wanted and (found is None or found[1].size < np.count_nonzero(left)):
        likely = [found[0]] if found else scores.likely(LEAST_SHARE, refuted=True)[:MOST_JOINED]
        joint = joint_scores(asked, likely, left, wanted)
        other = verified(terms, joint.likely(LEAST_SHARE, refuted=False)[:MOST_TRIED], left, whole=whole)
        if other and (found is None or other[1].size > found[1].size):
            found = other
    return found and FoundChange(found[0], Cause(found[0].name(wanted), ROLE, FIRST_PAIR), found[1])


def joint_scores(terms: Sequence[TermElements], candidates: Sequence[Candidate], left: Array, wanted: str) -> Scores:
    """How the candidates do together with another rounding mode than the wanted one."""
    scores = Scores()
    for elements in terms:
        both = {of_inputs: screened(elements, left, of_inputs) for of_inputs in {one.of_inputs for one in candidates}}
        scores.asked += elements.asked(left).given.size
        for candidate in candidates:
            for mode in ROUND_MODES:
                if mode != wanted:
                    share_of = elements.asked(left).given.size if candidate.of_inputs else 0
                    try_change(*both[candidate.of_inputs], replace(candidate, mode=mode), scores, share_of)
    return scores


def verified(
    terms: Sequence[TermElements], candidates: Sequence[Candidate], left: Array, *, whole: bool
) -> tuple[Candidate, Array] | None:
    """The first of some candidates that holds for all elements, and the numbers of those left that it gives."""
    least = (1.0 if whole else LEAST_SHARE) * np.count_nonzero(left)
    for candidate in candidates:
        numbers = given_by(terms, candidate, left)
        if numbers is not None and numbers.size >= least:
            return candidate, numbers
    return None


def screen(elements: TermElements, left: Array, scores: Scores) -> None:
    """Try each change of the steps and of the inputs with a few elements."""
    asked, conforming = screened(elements, left, of_inputs=False)
    scores.asked += asked.given.size
    runs = {
        suffix: [one.evaluation(one.operands, suffix) for one in (asked, conforming)] for suffix in ("", IN_FLOAT64)
    }
    for id_, change in elements.changes.items():
        term = change(elements.term)
        for suffix, (of_asked, of_conforming) in runs.items():
            given = int(np.count_nonzero(asked.answer(of_asked, term) == asked.given))
            if given:
                other = contradicts(conforming, conforming.answer(of_conforming, term))
                scores.add(Candidate(id_, suffix=suffix), given, other)
    both = screened(elements, left, of_inputs=True)
    cases = (elements.cases[number][0] for number in np.unique(both[0].case).tolist())
    for id_ in dict.fromkeys(id_ for case in cases for id_, _ in input_changes(case.node, case.inputs)):
        try_change(*both, Candidate(id_, of_inputs=True), scores, asked.given.size)


def screened(elements: TermElements, left: Array, of_inputs: bool) -> tuple[TermElements, TermElements]:
    """A few elements that are left, and a few that conform; of few cases, whose inputs are changed as a whole."""
    if of_inputs:
        return elements.of_few_cases(elements.is_left(left)), elements.of_few_cases(elements.conforms)
    return elements.asked(left), elements.conforming()


def try_change(
    asked: TermElements, conforming: TermElements, candidate: Candidate, scores: Scores, share_of: int = 0
) -> None:
    """Score a change; `share_of` elements are what all of those asked count for."""
    codes = asked.codes(candidate)
    if codes is None:
        return
    given = int(np.count_nonzero(codes == asked.given))
    if given:
        others = conforming.codes(candidate)
        contradicted = others is not None and contradicts(conforming, others)
        scores.add(candidate, given * share_of // asked.given.size if share_of else given, contradicted)


def contradicts(elements: TermElements, codes: Array) -> bool:
    """Whether a conforming element has another result than these codes, which are none of the right ones there."""
    other = elements.conforms & (codes != elements.given) & (codes != elements.right).all(axis=0)
    return bool(other.any())


def given_by(terms: Sequence[TermElements], candidate: Candidate, left: Array) -> Array | None:
    """The numbers of the elements left that a change gives; None if they are few or some element contradicts it."""
    found, different = list[int](), set[tuple[int, ...]]()
    for elements in terms:
        codes = elements.codes(candidate)
        if codes is None:
            continue
        if contradicts(elements, codes):
            return None
        at = np.flatnonzero(elements.is_left(left) & (codes == elements.given))
        found += elements.numbers[at].tolist()
        different |= set(zip(*(one[at].tolist() for one in elements.operands), strict=True))
    return np.array(found, np.int64) if len(different) >= FEWEST else None
