"""What Tiebreak costs for each case: passing it to a backend and back, and judging what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fresh import Failed, in_fresh_process

WIRE, CALLS = "to a worker and back", "the same calls, twice, in one process"
FIRST, FURTHER = "judging a backend", "judging a further backend on the same cases"
AT_ONCE = f"{Path(__file__).with_name('at_once.py')}:AtOnce"
PASSED: dict[str, Any] = {"level": "", "operators": ("ngraph.Quantize",)}
JUDGED: dict[str, Any] = {"level": "quick"}
JUDGED_BACKENDS = ("numpy-naive", "onnxruntime")


def measure(passed: dict[str, Any], judged: dict[str, Any], rounds: int) -> dict[str, Any]:
    """A row for each cost, the least of the rounds; both choices are arguments of Selection."""
    found: dict[str, Any] = {"rounds": rounds}
    try:
        tried = [[*in_fresh_process(passing, passed)[0], *in_fresh_process(judging, judged)[0]] for _ in range(rounds)]
    except Failed as error:
        return found | {"rows": [], "note": str(error)}
    return found | {"rows": [min(same, key=lambda row: float(row["seconds"])) for same in zip(*tried, strict=True)]}


def passing(choice: dict[str, Any]) -> list[dict[str, Any]]:
    """Every case through a worker, each called twice as in a run; and the calls alone."""
    from tiebreak.adapters.isolation import MEMORY_LIMIT
    from tiebreak.adapters.registry import load_backend
    from tiebreak.conformance.cases.plan import Selection, plan
    from tiebreak.conformance.running.backends import running_backends
    from tiebreak.conformance.running.outcomes import outcomes_of

    cases = plan(Selection(**choice))
    with running_backends([AT_ONCE], time_limit=60, memory_limit=MEMORY_LIMIT, in_process=False) as backends:
        through = timed(WIRE, len(cases), lambda: sum(1 for _ in outcomes_of(backends[0], cases, None)))
    backend = load_backend(AT_ONCE)
    calls = [(backend.compile(case.node), case.inputs) for case in cases]
    alone = timed(CALLS, len(cases), lambda: [(run(*inputs), run(*inputs)) for run, inputs in calls])
    return [through, alone]


def judging(choice: dict[str, Any]) -> list[dict[str, Any]]:
    """The outcomes of two backends, collected first; the second has the truths that were made for the first."""
    from tiebreak.adapters.isolation import MEMORY_LIMIT
    from tiebreak.conformance.cases.plan import Selection, plan
    from tiebreak.conformance.judging.chunk import Chunks, chunks_of
    from tiebreak.conformance.running.backends import claimed_parts, running_backends
    from tiebreak.conformance.running.outcomes import outcomes_of
    from tiebreak.conformance.running.recording import BackendRecords, record_chunk

    parts, collected = list(chunks_of(plan(Selection(**choice)))), []
    limits: dict[str, Any] = {"time_limit": 60, "memory_limit": MEMORY_LIMIT, "in_process": False}
    with running_backends(list(JUDGED_BACKENDS), **limits) as backends:
        for backend in backends:
            own = claimed_parts(backend, parts)
            outcomes = {case.id: one for part in own for case, one in outcomes_of(backend, list(part), None)}
            collected.append((own, outcomes))
    first, second = ({part[0].id for part in own} for own, _ in collected)
    common, chunks, rows = first & second, Chunks(), []
    for what, (own, outcomes) in zip((FIRST, FURTHER), collected, strict=True):
        mine = [part for part in own if part[0].id in common]
        records = BackendRecords({"name": "it", "version": "1"})

        def judge_all(mine: Sequence[Any] = mine, outcomes: Any = outcomes, records: Any = records) -> None:
            for part in mine:
                record_chunk(records, part, [outcomes[case.id] for case in part], chunks)

        rows.append(timed(what, sum(map(len, mine)), judge_all))
    return rows


def timed(what: str, cases: int, work: Callable[[], object]) -> dict[str, Any]:
    """Seconds, and processor time of this process."""
    used, begun = time.process_time(), time.perf_counter()
    work()
    seconds = time.perf_counter() - begun
    return {"what": what, "cases": cases, "seconds": seconds, "cpu_seconds": time.process_time() - used}
