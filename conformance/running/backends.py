"""Run every case on every backend, the backends side by side, and judge and record the outcomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tiebreak.adapters.in_process import InProcessBackend
from tiebreak.adapters.isolation import MEMORY_LIMIT, IsolatedBackend
from tiebreak.conformance.judging.chunk import Chunks, chunks_of
from tiebreak.conformance.running.assembling import assemble
from tiebreak.conformance.running.journal import Journal
from tiebreak.conformance.running.outcomes import Runner, outcomes_of
from tiebreak.conformance.running.recording import BackendRecords, record_chunk
from tiebreak.conformance.running.stages import Stages
from tiebreak.conformance.running.watching import Unwatched, Watch
from tiebreak.golden.errors import TiebreakError
from tiebreak.golden.nodes import Case
from tiebreak.golden.verdicts import shown_verdict
from tiebreak.reports.records import RunRecords

STARTED_AT_ONCE = 4
Part = tuple[Case, ...]  # a chunk of cases
JUDGING = "of it judging, seconds of CPU"


def run_cases(
    specs: Sequence[str],
    cases: Sequence[Case],
    *,
    time_limit: float,
    facts: dict[str, Any],
    memory_limit: int = MEMORY_LIMIT,
    in_process: bool = False,
) -> RunRecords:
    """Run the cases on the backends side by side. `facts` are the keys of run.json that say how it was started.

    `time_limit` is in seconds for a case, `memory_limit` in MiB for a worker. Raises InvalidInput or MachineryFailed,
    before any case runs, if a backend can't be started.
    """
    with running_backends(specs, time_limit=time_limit, memory_limit=memory_limit, in_process=in_process) as backends:
        return assemble(run_all(backends, cases), cases, facts)


@contextmanager
def running_backends(
    specs: Sequence[str],
    *,
    time_limit: float,
    memory_limit: int,
    in_process: bool,
    only_installed: bool = False,
    elsewhere: Sequence[Runner] = (),
    watch: Watch | None = None,
) -> Iterator[list[Runner]]:
    """Start the backends and close them afterwards. The error of one that does not load is raised.

    With `only_installed` such a backend is left out instead. The backends are the runners given as `elsewhere`, if
    any; otherwise each runs in a process of its own, or in ours with `in_process`.
    """
    backends: list[Runner] = list(elsewhere) or [
        InProcessBackend(spec) if in_process else IsolatedBackend(spec, time_limit, memory_limit) for spec in specs
    ]
    try:
        problems = start_all(backends, watch or Unwatched())
        for problem in problems:
            if problem is not None and not only_installed:
                raise problem
        yield [backend for backend, problem in zip(backends, problems, strict=True) if problem is None]
    finally:
        for backend in backends:
            backend.close()


def start_all(backends: Sequence[Runner], watch: Watch) -> list[TiebreakError | None]:
    """Start the backends, a few at a time since libraries load slowly, and number equal names.

    Returns the error of each backend, or None.
    """
    watch.starting([backend.spec for backend in backends])
    with ThreadPoolExecutor(STARTED_AT_ONCE) as pool:
        try:
            problems = list(pool.map(partial(problem_of_start, watch=watch), backends))
        except BaseException:  # on an interrupt, do not wait for libraries to load
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


def problem_of_start(backend: Runner, watch: Watch | None = None) -> TiebreakError | None:
    problem = None
    try:
        backend.start()
    except TiebreakError as error:
        problem = error
    (watch or Unwatched()).started(backend.spec, there=problem is None)
    return problem


def run_all(
    backends: Sequence[Runner],
    cases: Sequence[Case],
    journals: Path | None = None,
    watch: Watch | None = None,
    *,
    later: Callable[[], Sequence[Case]] = lambda: (),
    stages: Stages | None = None,
) -> list[BackendRecords]:
    """Run each backend in a thread of its own; an interrupt ends all of them at once.

    `journals` is a folder. Outcomes found in it are not run again; new ones are added to it. `later` gives further
    cases, to run after the others; it is called once, beside the backends. The time that judging takes, summed over
    the backends, is added to the `stages`.
    """
    chunks, watch = Chunks(), watch or Unwatched()

    def expected_parts(some: Sequence[Case]) -> list[Part]:
        found = list(chunks_of(some))
        for backend in backends:
            chunks.expect(claimed_parts(backend, found))
        return found

    parts = expected_parts(cases)
    with ThreadPoolExecutor(len(backends) + 1) as pool:
        try:
            kept = [Journal(journals / f"{number}.frames") if journals else None for number in range(len(backends))]
            rest = pool.submit(lambda: expected_parts(later()))
            futures = [
                pool.submit(run_backend, backend, parts, watch, chunks, journal, later=rest.result, stages=stages)
                for backend, journal in zip(backends, kept, strict=True)
            ]
            every: list[Future[Any]] = [rest, *futures]
            wait(every, return_when=FIRST_EXCEPTION)
            rest.result()
            return [future.result() for future in futures]
        except BaseException:
            abandon_all(backends)
            raise


def run_backend(
    backend: Runner,
    parts: Sequence[Part],
    watch: Watch,
    chunks: Chunks,
    journal: Journal | None = None,
    *,
    later: Callable[[], Sequence[Part]] = lambda: (),
    stages: Stages | None = None,
) -> BackendRecords:
    """Run and judge those chunks of cases whose operator the backend claims, then those that come `later`."""
    own = claimed_parts(backend, parts)
    facts: dict[str, Any] = {"name": backend.name, "version": backend.version, "spec": backend.spec}
    facts |= {"always_constant": sorted(backend.always_constant), **backend.claims.header()}
    records = BackendRecords(facts)
    if journal is not None:
        journal.begin(records.facts)
    run_parts(backend, own, records, watch, chunks, journal, stages or Stages())
    run_parts(backend, claimed_parts(backend, later()), records, watch, chunks, journal, stages or Stages())
    watch.finished(backend.name)
    records.facts["claimed"] = records.facts["operators"]
    records.facts["operators"] = sorted({case.node.operator for case in records.cases})
    pairs = zip(records.cases, records.outcomes, strict=True)
    nodes = dict.fromkeys(case.node.key for case, outcome in pairs if outcome.status == "ok")
    none = {"attestation failed": "it raised here: see explanation_errors"}
    attest = partial(backend.attestation, list(nodes))
    records.facts["attestation"] = records.errors.attempt("attestation", backend.name, attest, none)
    return records


def claimed_parts(backend: Runner, parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if backend.operators is None or part[0].node.operator in backend.operators]


def run_parts(
    backend: Runner,
    parts: Sequence[Part],
    records: BackendRecords,
    watch: Watch,
    chunks: Chunks,
    journal: Journal | None,
    stages: Stages,
) -> None:
    """Run chunks of cases and judge each as soon as all its cases have run."""
    if not parts:
        return
    before, planned = len(records.cases), len(records.cases) + sum(map(len, parts))
    outcomes = outcomes_of(backend, [case for part in parts for case in part], journal)
    for part in parts:
        found = []
        for _, outcome in islice(outcomes, len(part)):
            found.append(outcome)
            before += 1
            watch.ran(backend.name, before, planned)
        begun = time.thread_time()
        record_chunk(records, part, found, chunks)
        chunks.done(part)
        stages.add(JUDGING, time.thread_time() - begun)
        shown = [shown_verdict(v, records.document_of(part[0].node.operator)) for v in records.verdicts[-len(part) :]]
        watch.judged(backend.name, part[0].node.operator, shown)
