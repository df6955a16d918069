"""Finds the cause of each deviating element: known mistakes first, then the audit's engine, then code paths.

Everything here may fail. The records exist already, and a step that raises costs only the causes that it would have
found. What known mistakes predict for a case is computed once for all backends, and compared once with equal outputs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from itertools import pairwise

import numpy as np

from tiebreak.conformance.audit.covering import Covers
from tiebreak.conformance.audit.recorded_causes import CausesBySemantics
from tiebreak.conformance.cases.situations import exercised_clauses
from tiebreak.conformance.causes.batches import Run, runs_of
from tiebreak.conformance.causes.changed_steps import CausesByChange
from tiebreak.conformance.causes.evidence import Element, Evidence
from tiebreak.conformance.causes.explanations import CaseExplanations, Explanation, explanations, no_explanations
from tiebreak.conformance.causes.parting import KnownPartings
from tiebreak.conformance.causes.predictions import STAGE, predictions, predictions_of_chain, predictions_of_pairs
from tiebreak.conformance.causes.settling import Settled, settle_causes
from tiebreak.conformance.judging.chunk import Chunk, chunks_of
from tiebreak.conformance.judging.deviating import DTYPES, DeviatingElements
from tiebreak.conformance.judging.domains import PATHOLOGICAL
from tiebreak.conformance.judging.rows import Group, Kind, detailed_group_of, group_of
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.running.agreeing import AgreeingElements, KeptChunks
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.conformance.running.watching import Unwatched, Watch, each_told
from tiebreak.golden.nodes import Case

ByOutputs = Mapping[tuple[str, bytes], CaseExplanations]  # by a case's id and a backend's outputs


@dataclass(frozen=True)
class Shared:
    """What is found for one backend and serves the others: many of them are configurations of one library."""

    covers: Covers = field(default_factory=Covers)
    partings: KnownPartings = field(default_factory=KnownPartings)
    chunks: KeptChunks = field(default_factory=KeptChunks)
    clauses: dict[str, Collection[str]] = field(default_factory=dict)  # that can be broken in a case, by its id

    def exercised(self, case: Case) -> Collection[str]:
        if case.id not in self.clauses:
            self.clauses[case.id] = exercised_clauses(case)
        return self.clauses[case.id]


def causes_of_backend(
    records: BackendRecords,
    deviating: DeviatingElements,
    by_path: Mapping[Element, str],
    known: ByOutputs,
    shared: Shared,
) -> Settled:
    """The causes and clauses of a backend's deviating elements."""
    own = {case.id: case for case in records.cases if case.id in records.outputs}
    engine = CausesBySemantics(own, records.outputs, records.errors, records.name, shared.covers)
    changes = CausesByChange(records.cases, records.outputs, records.grades, records.errors, records.name)

    def refine(elements: Mapping[Kind, Sequence[Element]], named: Sequence[Sequence[Cause]]) -> list[list[Cause]]:
        return changes.refine(elements, engine.refine(elements, named))

    return settle_causes(evidence_of(records, deviating, known, shared), by_path, refine, records.errors)


def all_deviating(records: BackendRecords) -> DeviatingElements:
    """The columns of all deviating elements of a backend."""
    columns = {
        column.name: np.concatenate(
            [np.empty(0, DTYPES[column.name]), *(getattr(one, column.name) for one in records.deviating)]
        )
        for column in fields(DeviatingElements)
    }
    return DeviatingElements(**columns)


def explained_cases(done: Sequence[BackendRecords], watch: Watch | None = None) -> ByOutputs:
    """What known mistakes say of each deviating case, for each of the outputs that backends gave."""
    backends: dict[str, list[BackendRecords]] = defaultdict(list)
    cases: dict[str, Case] = {}
    for records in done:
        for number in dict.fromkeys(case for found in records.deviating for case in found.case.tolist()):
            case = records.cases[number]
            cases[case.id] = case
            backends[case.id].append(records)
    found: dict[tuple[str, bytes], CaseExplanations] = {}
    every = sorted(cases.values(), key=lambda case: case.node.operator)
    told = each_told(every, watch or Unwatched(), about_known_mistakes)
    for own in chunks_of(every):
        explain = partial(explain_chunk, own, backends, found, told)
        backends[own[0].id][0].errors.attempt(STAGE, own[0].node.operator, explain, None)
    return found


def about_known_mistakes(case: Case) -> str:
    return f"looking for causes: known mistakes of {case.node.operator}"


def explain_chunk(
    cases: tuple[Case, ...],
    backends: Mapping[str, Sequence[BackendRecords]],
    found: dict[tuple[str, bytes], CaseExplanations],
    told: Iterator[Case],
) -> None:
    """Add to `found` what known mistakes say of each case and each of its outputs; a step of `told` tells of one."""
    chunk = Chunk(cases)
    for number, (case, run) in enumerate(zip(cases, runs_of(cases, chunk.problems), strict=True)):
        next(told, None)
        first = backends[case.id][0]
        explain = partial(explain_case, chunk, number, run, backends[case.id], found)
        first.errors.attempt(STAGE, f"{first.name}, {case.node.operator}", explain, None)


def explain_case(
    chunk: Chunk,
    number: int,
    run: Run | None,
    backends: Sequence[BackendRecords],
    found: dict[tuple[str, bytes], CaseExplanations],
) -> None:
    case, truths = chunk.cases[number], chunk.truths_of(number)
    first = backends[0]
    strange = chunk.domains[chunk.of_case(number)] == PATHOLOGICAL
    about = f"{first.name}, {case.node.operator}"
    predicted = predictions(case, truths, first.errors, about, run=run)
    pairs = cache(partial(predictions_of_pairs, case, truths, first.errors, about))
    for records in backends:
        judged = records.judgement_of(case.id)
        key = case.id, judged.values.tobytes()
        if key not in found:
            chain = first.errors.attempt(STAGE, about, partial(predictions_of_chain, case, truths, judged.values), [])
            found[key] = explanations(case, judged, truths.judged_by, [*predicted, *chain], strange, pairs)


def evidence_of(
    records: BackendRecords, deviating: DeviatingElements, known: ByOutputs, shared: Shared | None = None
) -> Evidence:
    """What known mistakes predict for each deviating element, and how often conforming elements contradict them."""
    shared = shared or Shared()
    numbers: dict[Explanation, int] = {}
    candidates = np.zeros(len(deviating), np.int64)
    against, third = (defaultdict[tuple[Group, bool], Counter[Cause]](Counter) for _ in range(2))
    contradicted = defaultdict[tuple[Group, bool], dict[Cause, int]](dict)
    needs = defaultdict[Group, dict[Cause, set[str]]](dict)
    begins = np.flatnonzero(np.diff(deviating.case, prepend=-1))
    for begin, end in pairwise([*begins.tolist(), len(deviating)]):  # no pair where nothing deviates
        case = records.cases[int(deviating.case[begin])]
        own = known.get((case.id, records.outputs[case.id].tobytes()))
        if own is None or len(own.numbers) != end - begin:
            own = no_explanations(end - begin)
        places = [numbers.setdefault(one, len(numbers)) for one in own.distinct]
        candidates[begin:end] = np.array(places)[own.numbers]
        for counters, counted in ((against, own.against), (third, own.third)):
            for every, counts in counted.items():
                for group in (group_of(case), detailed_group_of(case)):
                    counters[group, every].update(counts)
        for group in (group_of(case), detailed_group_of(case)):
            for cause, some in own.needs.items():
                needs[group].setdefault(cause, set()).update(some)
        for every, bits in own.places.items():
            so_far = contradicted[group_of(case), every]
            for cause, one in bits.items():
                so_far[cause] = so_far.get(cause, 0) | one
    evidence = records.cases, records.elements, deviating, candidates, list(numbers)
    agreeing, constant = AgreeingElements(records, shared.chunks), frozenset(records.facts.get("always_constant", ()))
    refuting = against, third, contradicted, records.against_modes
    tried = needs, agreeing.contradict, agreeing.given_by
    return Evidence(*evidence, *refuting, *tried, records.name, constant, shared.exercised, shared.partings)
