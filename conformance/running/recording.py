"""Judges outcomes and records them as columns, chunk by chunk. Nothing here looks for a cause."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tiebreak.adapters.answering import message_of
from tiebreak.adapters.outcome import NOT_JUDGED, WRONG_OUTPUT, Outcome
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.judging.chunk import Chunks
from tiebreak.conformance.judging.chunk_judgement import (
    COUNTED,
    DOMAIN_COUNTS,
    ChunkJudgement,
    judge_chunk,
    worst_grades,
)
from tiebreak.conformance.judging.deviating import DeviatingElements, add_rounded, deviating_elements
from tiebreak.conformance.judging.judge import Judgement, output_problem
from tiebreak.conformance.judging.narrow import NarrowCodes, narrow
from tiebreak.conformance.judging.observations import observations
from tiebreak.conformance.judging.rows import Group, detailed_group_of, group_of
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.golden.verdicts import DOMAINS, FOREIGN, GRADES, NO_DOCUMENT, OWN, UNSPECIFIED

MODE_COUNTS = tuple(f"{what}_{short_mode(mode)}" for mode in ROUND_MODES for what in ("compared", "differs"))
COUNTS = (*COUNTED, *DOMAIN_COUNTS, *MODE_COUNTS)
NO_DOMAIN = len(DOMAINS)  # of a case that a backend can't run, or that can't be judged


@dataclass
class BackendRecords:
    """The records of one backend: its cases in order with their verdicts, and columns of its deviating elements.

    `counts`, `domains` and `digests` have an array for each chunk of cases: a row for each of COUNTS, in a narrow type;
    the domain of each case (uint8), NO_DOMAIN where it is not known. The digests (uint64) are of each case's outputs.
    `outputs` are codes by case id (flat, output by output), and `grades` (uint8) are theirs. `against_modes`,
    `observed` and `judged` are counts for causes and plots, taken while a case's truths are at hand. `unwritten` says
    by case id which elements (bool, of all outputs) are memory that nobody wrote.
    """

    facts: dict[str, Any]
    cases: list[Case] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)  # without their outputs
    elements: list[int] = field(default_factory=list)
    counts: list[Array] = field(default_factory=list)
    domains: list[Array] = field(default_factory=list)
    digests: list[Array] = field(default_factory=list)
    deviating: list[DeviatingElements] = field(default_factory=list)
    outputs: NarrowCodes = field(default_factory=NarrowCodes)
    grades: dict[str, Array] = field(default_factory=dict)
    against_modes: dict[Group, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    observed: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    judged: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # by operator and exponent
    errors: ExplanationErrors = field(default_factory=ExplanationErrors)
    unwritten: Mapping[str, Array] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    def document_of(self, operator: str) -> str:
        """Whose document judges the operator's cases."""
        return FOREIGN if operator in self.facts.get("maps", ()) else OWN

    @property
    def at_random(self) -> list[int]:
        """The numbers of the cases in which the same operands have many answers."""
        return sorted({number for one in self.deviating for number in one.case[one.random].tolist()})

    def judgement_of(self, case_id: str) -> Judgement:
        return Judgement(self.grades[case_id], self.outputs[case_id])

    @property
    def documents(self) -> list[str]:
        """Whose document each case's verdict is about; nobody's where the document is silent."""
        pairs = zip(self.cases, self.verdicts, strict=True)
        return [NO_DOCUMENT if v == GRADES[UNSPECIFIED] else self.document_of(case.node.operator) for case, v in pairs]


def record(records: BackendRecords, case: Case, outcome: Outcome) -> None:
    """Add one case."""
    record_chunk(records, (case,), [outcome], Chunks())


def record_chunk(records: BackendRecords, cases: tuple[Case, ...], outcomes: Sequence[Outcome], chunks: Chunks) -> None:
    """Add the cases of a chunk. One that can't be judged is recorded as Tiebreak's own error, and the run goes on."""
    if all(outcome.status == "unsupported" for outcome in outcomes):
        add_cases(records, cases, outcomes, [outcome.status for outcome in outcomes], no_counts(cases))
        return
    try:
        chunk = chunks.of(cases)
        outcomes = [with_right_outputs(*each) for each in zip(cases, outcomes, chunk.problems, strict=True)]
        judged = judge_chunk(
            chunk, {i: outcome.outputs for i, outcome in enumerate(outcomes) if outcome.status == "ok"}
        )
        found = judged.counts()
        counts = np.array([found.get(name, no_counts(cases)[0]) for name in COUNTS])
        deviating = deviating_elements(chunk, judged.deviating, judged.judgement.values, len(records.cases))
    except Exception as error:
        if len(cases) > 1:
            for case, outcome in zip(cases, outcomes, strict=True):
                record(records, case, outcome)
            return
        message = f"Tiebreak could not judge this: {message_of(error)}"
        unjudged = [replace(outcome, fault=NOT_JUDGED, message=message) for outcome in outcomes]
        add_cases(records, cases, unjudged, ["error"], no_counts(cases))
        return
    add_judged(records, outcomes, judged, counts, deviating)


def with_right_outputs(case: Case, outcome: Outcome, problems: Sequence[Problem]) -> Outcome:
    """The outcome, or an error in its place if the outputs' number, types or shapes are not those of the node."""
    problem = output_problem(case, outcome.outputs, problems) if outcome.status == "ok" else ""
    return Outcome("error", message=problem, seconds=outcome.seconds, fault=WRONG_OUTPUT) if problem else outcome


def no_counts(cases: Sequence[Case]) -> Array:
    return np.zeros((len(COUNTS), len(cases)), np.int64)


def add_cases(
    records: BackendRecords,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    verdicts: Sequence[str],
    counts: Array,
    elements: Sequence[int] = (),
    domains: Array | None = None,
    digests: Array | None = None,
) -> None:
    records.cases += cases
    records.verdicts += verdicts
    records.outcomes += [replace(outcome, outputs=()) if outcome.outputs else outcome for outcome in outcomes]
    records.elements += elements or [case.size for case in cases]
    records.counts.append(narrow(counts))
    records.domains.append(np.full(len(cases), NO_DOMAIN, np.uint8) if domains is None else domains)
    records.digests.append(np.zeros(len(cases), np.uint64) if digests is None else digests)


def add_judged(
    records: BackendRecords,
    outcomes: Sequence[Outcome],
    judged: ChunkJudgement,
    counts: Array,
    deviating: DeviatingElements,
) -> None:
    """Add the cases of a judged chunk, then what is counted about them, which may fail."""
    chunk, ran = judged.chunk, judged.ran
    worst = worst_grades(counts)
    verdicts = [GRADES[w] if ok else o.status for w, ok, o in zip(worst, ran, outcomes, strict=True)]
    sizes = [int(size) if ok else case.size for size, ok, case in zip(chunk.sizes, ran, chunk.cases, strict=True)]
    add_cases(records, chunk.cases, outcomes, verdicts, counts, sizes, chunk.case_domains, judged.digests())
    records.deviating.append(deviating)
    for number in np.flatnonzero(ran).tolist():
        case, own = chunk.cases[number].id, chunk.of_case(number)
        records.outputs[case], records.grades[case] = judged.judgement.values[own], judged.judgement.grades[own]
    about = f"{records.name}, {chunk.operator}"
    for stage, add in (
        ("distances from decision boundaries", lambda: add_rounded(deviating, chunk, judged.deviating)),
        ("counts", lambda: count(records, judged)),
    ):
        records.errors.attempt(stage, about, add, None)


def count(records: BackendRecords, judged: ChunkJudgement) -> None:
    """Update the counts: contradicted modes, judged elements by exponent, observations where the document is silent."""
    chunk = judged.chunk
    found = judged.contradictions()
    groups: dict[Group, list[int]] = defaultdict(list)
    for number in np.flatnonzero(judged.ran).tolist() if found else ():
        for group in (group_of(chunk.cases[number]), detailed_group_of(chunk.cases[number])):
            groups[group].append(number)
    for group, own in groups.items():
        records.against_modes[group].update({mode: int(column[own].sum()) for mode, column in found.items()})
    records.judged[chunk.operator].update(judged.judged_by_exponent())
    if np.any(judged.elements_that_ran & (judged.judgement.grades == UNSPECIFIED)):
        records.observed.update(observations(chunk, judged.judgement, judged.ran))
