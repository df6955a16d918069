"""The main job: every case on every backend, judged, with causes, as records."""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import numpy as np

from tiebreak.adapters.isolation import IsolatedBackend, Outcome
from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.conformance import causes
from tiebreak.conformance.judge import FAILURES, UNSPECIFIED, judge_outputs, output_problem
from tiebreak.conformance.naming import Evidence, with_causes
from tiebreak.conformance.observe import observations
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
)
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.reports.records import RunRecords

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


def run_cases(
    specs: Sequence[str],
    cases: Sequence[Case],
    *,
    time_limit: float,
    facts: dict[str, Any],
    progress: Progress = lambda name, done, planned: None,
) -> RunRecords:
    """Run the cases on the backends side by side. `facts` is what the run record says of how it was started.

    Raises InvalidInput or MachineryFailed if a backend can't be had at all, before any case runs.
    """
    backends = [IsolatedBackend(spec, time_limit) for spec in specs]
    try:
        start_all(backends)
        with ThreadPoolExecutor(max(1, len(backends))) as pool:
            stop = threading.Event()
            futures = [pool.submit(run_backend, backend, cases, progress, stop) for backend in backends]
            try:
                done = [future.result() for future in futures]
            finally:
                stop.set()
    finally:
        for backend in backends:
            backend.close()
    return assemble(done, cases, facts)


def start_all(backends: Sequence[IsolatedBackend]) -> None:
    """Start every worker, side by side since libraries load slowly, and give equal names a number."""
    with ThreadPoolExecutor(max(1, len(backends))) as pool:
        list(pool.map(IsolatedBackend.start, backends))
    taken: set[str] = set()
    for backend in backends:
        name, number = backend.name, 1
        while backend.name in taken:
            number += 1
            backend.name = f"{name} ({number})"
        taken.add(backend.name)


def run_backend(
    backend: IsolatedBackend, cases: Sequence[Case], progress: Progress, stop: threading.Event
) -> BackendRecords:
    claimed = [case for case in cases if backend.operators is None or case.node.operator in backend.operators]
    facts = {"name": backend.name, "version": backend.version, "spec": backend.spec}
    records = BackendRecords(facts | {"operators": sorted({case.node.operator for case in claimed})})
    truths = TruthCache()
    for done, case in enumerate(claimed):
        if stop.is_set():
            break
        record(records, case, backend.run(case), truths)
        progress(backend.name, done + 1, len(claimed))
    records.facts["attestation"] = backend.attestation()
    return records


def record(records: BackendRecords, case: Case, outcome: Outcome, cache: TruthCache) -> None:
    """Add one case's rows."""
    row = case_row(records.facts, case, outcome)
    problem = ""
    if outcome.status == "ok":
        problem = output_problem(case, outcome.outputs)
    if outcome.status != "ok" or problem:
        status = "error" if problem else outcome.status
        records.results.append(row | {"verdict": status, "message": problem or outcome.message})
        return
    truths = cache.of(case)
    judgement = judge_outputs(outcome.outputs, truths)
    row |= {"verdict": judgement.verdict, "elements": judgement.grades.size}
    records.results.append(row | counts(judgement) | mode_counts(judgement, truths))
    records.outputs[case.id] = judgement.values
    records.against_modes[kind_of(row)].update(contradictions(judgement, truths))
    if judgement.count(UNSPECIFIED):
        records.observed.update(observations(case, judgement, truths))
    if judgement.verdict == "deviates":
        confirm(case, truths)
        explanations, against = causes.explanations(case, truths, judgement)
        records.candidates += explanations
        records.against[kind_of(row)].update(against)
        records.discrepancies += discrepancy_rows(records.facts["name"], case, judgement, truths)


def confirm(case: Case, truths: Truths) -> None:
    """Ask the oracle before a generated or typed case is called a discrepancy; vectors hold the oracle's results."""
    if case.expected is not None:
        return
    truth = truths.by_mode[truths.allowed[0]]
    for working, codes in ((False, truth.exact), (True, truth.working)):
        solved = [oracle.solve(p, working=working, mode=truths.allowed[0])[0] for p in truths.problems]
        if not np.array_equal(np.concatenate(solved), codes):
            raise MachineryFailed(f"{case.id}: the kernel and the oracle disagree; one of them is wrong")


def evidence_of(records: BackendRecords) -> Evidence:
    return Evidence(records.results, records.discrepancies, records.candidates, records.against, records.against_modes)


def assemble(done: Sequence[BackendRecords], cases: Sequence[Case], facts: dict[str, Any]) -> RunRecords:
    """The records of the whole run, causes settled for each backend and operator, ids assigned in order."""
    results = [row for records in done for row in records.results]
    discrepancies = [row for records in done for row in with_causes(evidence_of(records))]
    for number, row in enumerate(discrepancies, start=1):
        row["id"] = f"D{number:06d}"
    info = {
        "format": "tiebreak-run",
        "version": 1,
        **facts,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "instruction_sets": instruction_sets(),
        "backends": [records.facts for records in done],
        "typed": [row for case in cases if case.origin == "typed" for row in typed_rows(case, done)],
        "observed": [row for records in done for row in observed_rows(records)],
        "relations": [row for records in done for row in relation_rows(records.facts["name"], records.outputs)],
        "pairs": [pair for a, b in combinations(done, 2) for pair in pair_rows(a, b, cases)],
        "exit": exit_code([row["verdict"] for row in results]),
    }
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
    truth, tied, rows, at = truths.own, truths.open_between_modes(), [], 0
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
