"""The main job: every case on every backend, judged, with causes, as records."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.in_process import InProcessBackend
from tiebreak.adapters.isolation import MEMORY_LIMIT, IsolatedBackend
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.conformance import causes
from tiebreak.conformance.by_semantics import Engine
from tiebreak.conformance.clusters import cluster_rows
from tiebreak.conformance.exponents import judged_by_exponent
from tiebreak.conformance.journal import Journal
from tiebreak.conformance.judge import DEVIATES, FAILURES, UNSPECIFIED, Judgement, judge_outputs
from tiebreak.conformance.naming import Element, Evidence, with_causes
from tiebreak.conformance.observe import observations
from tiebreak.conformance.outcomes import Runner, outcomes_of
from tiebreak.conformance.paths import causes_by_path, path_rows
from tiebreak.conformance.relations import relation_rows
from tiebreak.conformance.rows import (
    Kind,
    case_row,
    contradictions,
    counts,
    discrepancy_rows,
    element_operands,
    kind_of,
    mode_counts,
    text_of,
)
from tiebreak.conformance.suite.layout import Cause
from tiebreak.conformance.truths import TruthCache, Truths
from tiebreak.golden import oracle
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.errors import (
    EXIT_CONFORMS,
    EXIT_DISCREPANCIES,
    EXIT_FAILED,
    EXIT_NOTHING_RAN,
    MachineryFailed,
    TiebreakError,
)
from tiebreak.golden.kernel import spread
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Elementwise, Problem
from tiebreak.reports.records import RunRecords

STARTED_AT_ONCE = 4
Progress = Callable[[str, int, int], None]  # backend, cases done, cases planned


@dataclass
class BackendRecords:
    """What one backend did: a row for each case, a row for each differing element, and its outputs by case id."""

    facts: dict[str, Any]
    results: list[dict[str, Any]] = field(default_factory=list)
    discrepancies: list[dict[str, Any]] = field(default_factory=list)
    candidates: list[causes.Explanation] = field(default_factory=list)
    against: dict[Kind, Counter[Cause]] = field(default_factory=lambda: defaultdict(Counter))
    against_modes: dict[Kind, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    outputs: dict[str, Array] = field(default_factory=dict)
    observed: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    judged: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # by operator and exponent


def run_cases(
    specs: Sequence[str],
    cases: Sequence[Case],
    *,
    time_limit: float,
    facts: dict[str, Any],
    memory_limit: int = MEMORY_LIMIT,
    in_process: bool = False,
) -> RunRecords:
    """Run the cases on the backends side by side. `facts` is what the run record says of how it was started.

    `time_limit` is in seconds for a case, `memory_limit` in MiB for a worker. Raises InvalidInput or MachineryFailed if
    a backend can't be had at all, before any case runs.
    """
    with started(specs, time_limit=time_limit, memory_limit=memory_limit, in_process=in_process) as backends:
        return assemble(run_all(backends, cases), cases, facts)


@contextmanager
def started(
    specs: Sequence[str],
    *,
    time_limit: float,
    memory_limit: int,
    in_process: bool,
    only_installed: bool = False,
    elsewhere: Sequence[Runner] = (),
) -> Iterator[list[Runner]]:
    """The backends, started; of those that don't load none with `only_installed`, else their error is raised.

    They are those `elsewhere`, if any, or each in a process of its own, or `in_process`.
    """
    backends: list[Runner] = list(elsewhere) or [
        InProcessBackend(spec) if in_process else IsolatedBackend(spec, time_limit, memory_limit) for spec in specs
    ]
    try:
        problems = start_all(backends)
        for problem in problems:
            if problem is not None and not only_installed:
                raise problem
        yield [backend for backend, problem in zip(backends, problems, strict=True) if problem is None]
    finally:
        for backend in backends:
            backend.close()


def start_all(backends: Sequence[Runner]) -> list[TiebreakError | None]:
    """Start every worker, a few at a time since libraries load slowly, and give equal names a number; what failed."""
    with ThreadPoolExecutor(STARTED_AT_ONCE) as pool:
        try:
            problems = list(pool.map(problem_of_start, backends))
        except BaseException:  # an interrupt: nobody need wait for a library to load
            abandon_all(backends)
            raise
    taken: set[str] = set()
    for backend in backends:
        name, number = backend.name, 1
        while backend.name in taken:
            number += 1
            backend.name = f"{name} ({number})"
        taken.add(backend.name)
    return problems


def abandon_all(backends: Sequence[Runner]) -> None:
    for backend in backends:
        backend.abandon()


def problem_of_start(backend: Runner) -> TiebreakError | None:
    try:
        backend.start()
    except TiebreakError as error:
        return error
    return None


def run_all(
    backends: Sequence[Runner],
    cases: Sequence[Case],
    journals: Path | None = None,
    progress: Progress = lambda name, done, planned: None,
) -> list[BackendRecords]:
    """Each backend in a thread of its own; what interrupts us ends all of them at once.

    Outcomes that `journals` (a folder) holds are taken from there, new ones are kept in it.
    """
    truths = TruthCache()
    with ThreadPoolExecutor(max(1, len(backends))) as pool:
        try:
            kept = [Journal(journals / f"{number}.frames") if journals else None for number in range(len(backends))]
            futures = [
                pool.submit(run_backend, backend, cases, progress, truths, journal)
                for backend, journal in zip(backends, kept, strict=True)
            ]
            wait(futures, return_when=FIRST_EXCEPTION)
            return [future.result() for future in futures]
        except BaseException:
            abandon_all(backends)
            raise


def run_backend(
    backend: Runner, cases: Sequence[Case], progress: Progress, truths: TruthCache, journal: Journal | None = None
) -> BackendRecords:
    claimed = [case for case in cases if backend.operators is None or case.node.operator in backend.operators]
    facts: dict[str, Any] = {"name": backend.name, "version": backend.version, "spec": backend.spec}
    facts["always_constant"] = sorted(backend.always_constant)
    records = BackendRecords(facts | {"operators": sorted({case.node.operator for case in claimed})})
    if journal is not None:
        journal.begin(records.facts)
    nodes: dict[str, None] = {}
    for done, (case, outcome) in enumerate(outcomes_of(backend, claimed, journal), start=1):
        record(records, case, outcome, truths)
        if outcome.status == "ok":
            nodes.setdefault(case.node.key)
        progress(backend.name, done, len(claimed))
    records.facts["attestation"] = backend.attestation(list(nodes))
    return records


def record(records: BackendRecords, case: Case, outcome: Outcome, cache: TruthCache) -> None:
    """Add one case's rows."""
    row = case_row(records.facts, case, outcome)
    if outcome.status != "ok":
        records.results.append(row | {"verdict": outcome.status})
        return
    truths = cache.of(case)
    judgement = judge_outputs(outcome.outputs, truths)
    row |= {"verdict": judgement.verdict, "elements": judgement.grades.size}
    records.results.append(row | counts(judgement) | mode_counts(judgement, truths))
    records.outputs[case.id] = judgement.values
    records.judged[case.node.operator].update(judged_by_exponent(truths, judgement))
    records.against_modes[kind_of(row)].update(contradictions(judgement, truths))
    if judgement.count(UNSPECIFIED):
        records.observed.update(observations(case, judgement, truths))
    if judgement.verdict == "deviates":
        confirm(case, truths, judgement)
        explanations, against = causes.explanations(case, truths, judgement)
        records.candidates += explanations
        records.against[kind_of(row)].update(against)
        records.discrepancies += discrepancy_rows(records.facts["name"], case, judgement, truths)


def confirm(case: Case, truths: Truths, judgement: Judgement) -> None:
    """Ask the oracle before an element of a generated or typed case is called a discrepancy.

    Vectors hold the oracle's results already.
    """
    if case.expected is not None:
        return
    truth, mode, start = truths.by_mode[truths.allowed[0]], truths.allowed[0], 0
    for problem in truths.problems:
        size = math.prod(problem.shape)
        at = np.flatnonzero(judgement.grades[start : start + size] == DEVIATES)
        part = some_of(problem, at)
        for working, codes in ((False, truth.exact), (True, truth.working)):
            if not np.array_equal(oracle.solve(part, working=working, mode=mode)[0], codes[start + at]):
                raise MachineryFailed(f"{case.id}: the kernel and the oracle disagree; one of them is wrong")
        start += size


def some_of(problem: Problem, at: Array) -> Problem:
    """The problem of some elements only (flat indices), each with its own parameters."""
    if isinstance(problem, Elementwise):
        return replace(problem, shape=(at.size,), operands=tuple(operand[at] for operand in problem.operands))
    parameters = (spread(array, problem.axes, problem.shape) for array in (problem.scale, problem.zero_point))
    scale, zero_point = (np.broadcast_to(array, problem.x.size)[at] for array in parameters)
    return replace(problem, axes=(0,), x=problem.x.reshape(-1)[at], scale=scale, zero_point=zero_point)


def evidence_of(records: BackendRecords) -> Evidence:
    return Evidence(records.results, records.discrepancies, records.candidates, records.against, records.against_modes)


def named_rows(records: BackendRecords, cases: Sequence[Case], by_path: Mapping[Element, str]) -> list[dict[str, Any]]:
    engine = Engine({case.id: case for case in cases if case.id in records.outputs}, records.outputs)
    return with_causes(evidence_of(records), by_path, engine.rename)


def assemble(done: Sequence[BackendRecords], cases: Sequence[Case], facts: dict[str, Any]) -> RunRecords:
    """The records of the whole run, causes settled for each backend and operator, ids assigned in order."""
    results = [row for records in done for row in records.results]
    paths = [
        path_rows(r.facts["name"], r.outputs, cases, always_constant=frozenset(r.facts.get("always_constant", ())))
        for r in done
    ]
    discrepancies = [
        row
        for records, rows in zip(done, paths, strict=True)
        for row in named_rows(records, cases, causes_by_path(rows, cases, records.discrepancies))
    ]
    for number, row in enumerate(discrepancies, start=1):
        row["id"] = f"D{number:06d}"
    info = {
        "format": "tiebreak-run",
        "version": 1,
        **facts,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "instruction_sets": instruction_sets(),
        "backends": [records.facts | {"judged": records.judged} for records in done],
        "typed": [row for case in cases if case.origin == "typed" for row in typed_rows(case, done)],
        "observed": [row for records in done for row in observed_rows(records)],
        "paths": [row for rows in paths for row in rows],
        "relations": [row for records in done for row in relation_rows(records.facts["name"], records.outputs)],
        "pairs": [pair for a, b in combinations(done, 2) for pair in pair_rows(a, b, cases)],
        "exit": exit_code([row["verdict"] for row in results]),
    }
    versions = {str(records.facts["name"]): str(records.facts["version"]) for records in done}
    info["clusters"] = cluster_rows(discrepancies, results, versions)
    generated = [case for case in cases if case.origin != "vector"]
    return RunRecords(info, results, discrepancies, generated)


def pair_rows(a: BackendRecords, b: BackendRecords, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """For each operator, on how many elements of the cases that both ran the two outputs differ."""
    rows: dict[str, dict[str, Any]] = {}
    for case in cases:
        if case.id in a.outputs and case.id in b.outputs:
            operator = case.node.operator
            start = {"a": a.facts["name"], "b": b.facts["name"], "operator": operator}
            row = rows.setdefault(operator, start | {"cases": 0, "elements": 0, "differ": 0})
            row["cases"] += 1
            row["elements"] += case.size
            row["differ"] += int(np.count_nonzero(a.outputs[case.id] != b.outputs[case.id]))
    return list(rows.values())


def typed_rows(case: Case, done: Sequence[BackendRecords]) -> list[dict[str, Any]]:
    """A typed case element by element, as text: operands, what is expected, what each backend gave."""
    truths = TruthCache().of(case)
    truth, tied, rows, at = truths.own, truths.open_between_modes, [], 0
    for problem in truths.problems:
        for i in range(math.prod(problem.shape)):
            found = element_operands(problem, case.node, i)
            (bits, text), kind = text_of(*found[0][1:]), problem.result
            either = dict.fromkeys(text_of(int(codes[at]), kind)[1] for codes in (truth.exact, truth.working))
            got = {r.facts["name"]: shown(r.outputs.get(case.id), at, kind) for r in done}
            if tied[at]:
                either = dict.fromkeys(text_of(code, kind)[1] for code in truths.allowed_codes(at))
            expected = " or ".join(either) if truth.specified[at] or tied[at] else "unspecified"
            name = "" if len(truths.problems) == 1 else problem.output
            rows.append({"output": name, "input": text, "bits": bits, "expected": expected, "got": got})
            at += 1
    return rows


def shown(codes: Array | None, at: int, kind: FloatType | IntegerType) -> str:
    return "–" if codes is None else text_of(int(codes[at]), kind)[1]


def observed_rows(records: BackendRecords) -> list[dict[str, Any]]:
    """What the backend gave where its spec is silent: counts of elements, the most first."""
    return [
        {"backend": records.facts["name"], "operator": operator, "situation": situation, "gives": gives, "elements": n}
        for (operator, situation, gives), n in records.observed.most_common()
    ]


def exit_code(verdicts: Sequence[str]) -> int:
    """By the contract's table. A discrepancy is proven whatever else failed, so it outranks a failure."""
    if "deviates" in verdicts:
        return EXIT_DISCREPANCIES
    if any(verdict in FAILURES for verdict in verdicts):
        return EXIT_FAILED
    return EXIT_CONFORMS if any(verdict != "unsupported" for verdict in verdicts) else EXIT_NOTHING_RAN
