"""The outcomes of a backend's cases, in order: from the journal of a stopped run, else by running them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from tiebreak.adapters.batches import batches
from tiebreak.adapters.claims import Claims
from tiebreak.adapters.faults import Faults
from tiebreak.adapters.isolation import Keep
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.running.journal import Journal
from tiebreak.golden.nodes import Case

SAMPLE = 16  # cases spread over the plan that run first


class Runner(Protocol):
    """A backend as a run needs it: isolated, in our own process, or on a Dask cluster."""

    spec: str
    name: str
    version: str
    operators: frozenset[str] | None
    claims: Claims
    always_constant: frozenset[str]
    faults: Faults

    def start(self) -> None: ...
    def run_batch(self, cases: Sequence[Case], keep: Keep) -> list[Outcome]: ...
    def recall(self, node: str, outcome: Outcome) -> None: ...
    def attestation(self, nodes: Sequence[str]) -> dict[str, str]: ...
    def abandon(self) -> None: ...
    def close(self) -> None: ...


@runtime_checkable
class WorksAhead(Protocol):
    """A runner that can start on batches before `run_batch` asks for them."""

    def expect(self, batches: Iterable[Sequence[Case]]) -> None: ...


def outcomes_of(backend: Runner, cases: Sequence[Case], journal: Journal | None) -> Iterator[tuple[Case, Outcome]]:
    """Every case with its outcome, in order: from the journal if it is there, else from the backend.

    A sample of all cases runs first, so that a backend is not given up because of a fault of the first few cases.
    """
    known = dict(journal.outcomes) if journal is not None else {}
    nodes = {case.id: case.node.key for case in cases} if known else {}
    for case_id, outcome in journal.added if journal is not None else ():
        if case_id in nodes:
            backend.recall(nodes[case_id], outcome)
    found: dict[str, Outcome] = {}

    def keep(case: Case, outcome: Outcome) -> None:
        found[case.id] = outcome
        if journal is not None:
            journal.add(case, outcome)

    first = [case for case in sample_of(cases) if case.id not in known]
    taken = {*known, *(case.id for case in first)}
    parts = [(batch, [case for case in batch if case.id not in taken]) for batch in batches(cases)]
    if isinstance(backend, WorksAhead):
        backend.expect([first, *(left for _, left in parts)])
    backend.run_batch(first, keep)
    known |= found
    for batch, left in parts:
        found.clear()
        backend.run_batch(left, keep)
        yield from ((case, found[case.id] if case.id in found else known[case.id]) for case in batch)


def sample_of(cases: Sequence[Case]) -> list[Case]:
    """A few of the cases, evenly spread from the first to the last."""
    return [cases[i * (len(cases) - 1) // (SAMPLE - 1)] for i in range(SAMPLE)] if len(cases) > SAMPLE else list(cases)
