"""A run's backend on the workers of a Dask cluster: batches of cases are tasks, outcomes come in the run's order.

Each batch is answered as if it were the first. The consequences of earlier faults for later cases (the backend is given
up, a node is not compiled again) are decided here, in order. So the records equal those of a run on one machine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tiebreak.adapters.claims import Claims, parsed_claims
from tiebreak.adapters.faults import Faults
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.isolation import Abandoned, IsolatedBackend, Keep, refusal
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.dask import tasks
from tiebreak.conformance.dask.scheduler import Cluster, raise_problem
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.nodes import Case

WAITING = 4  # batches for each worker
TASK_SECONDS = 0.5  # aim for a part of a batch, so that workers with a slow backend end together


@dataclass
class ClusterBackend:
    """A Runner on a Dask cluster, as IsolatedBackend is on this machine. A higher `priority` is served first."""

    cluster: Cluster
    spec: str
    time_limit: float
    memory_limit: int
    priority: int = 0
    name: str = ""
    version: str = ""
    operators: frozenset[str] | None = None
    claims: Claims = field(default_factory=Claims)
    always_constant: frozenset[str] = frozenset()
    faults: Faults = field(default_factory=Faults)
    refused: dict[str, Outcome] = field(default_factory=dict)
    expected: deque[Sequence[Case]] = field(default_factory=deque)
    sent: deque[tuple[Sequence[Case], list[Any]]] = field(default_factory=deque)  # a task for each part
    pace: float = 0.0  # seconds for a case, as last seen; 0 before the first answer
    said: dict[str, Any] = field(default_factory=dict)  # the first worker's hello
    abandoned: bool = False

    @property
    def limits(self) -> list[float]:
        return [self.time_limit, self.memory_limit]

    def start(self) -> None:
        """Ask a worker what the backend is. InvalidInput for a wrong spec, MachineryFailed if it can't be started."""
        self.said = self.cluster.call(tasks.backend_hello, self.spec, self.limits)["hello"]
        self.name, self.version = self.said["name"], self.said["version"]
        self.claims = parsed_claims(self.said)
        self.operators = self.claims.operators
        self.always_constant = frozenset(self.said["always_constant"])

    def expect(self, batches: Iterable[Sequence[Case]]) -> None:
        """Announce the batches that `run_batch` will get, in order, so that workers can start on them."""
        self.expected.extend(batch for batch in batches if batch)
        self.send()

    def send(self) -> None:
        """Send batches until each worker has enough; only one before it is known how long a case takes."""
        most = WAITING * self.cluster.size() if self.pace else 1
        while self.expected and len(self.sent) < most:
            batch = self.expected.popleft()
            self.sent.append((batch, self.tasks(batch)))

    def tasks(self, batch: Sequence[Case]) -> list[Any]:
        """A task for each part of a batch; one for each worker before it is known how long a case takes."""
        size = int(TASK_SECONDS / self.pace) if self.pace else len(batch) // self.cluster.size()
        size = max(1, size)
        return [self.task(batch[start : start + size]) for start in range(0, len(batch), size)]

    def task(self, batch: Sequence[Case]) -> Any:
        wanted = self.spec, self.limits, tasks.encode_cases(batch)
        return self.cluster.submit(tasks.answer_batch, *wanted, priority=self.priority)

    def run_batch(self, cases: Sequence[Case], keep: Keep = lambda case, outcome: None) -> list[Outcome]:
        """An outcome for each case, in order; `keep` is called with each."""
        if not cases:
            return []
        answered, refused = self.answers(cases)
        found = []
        for case, outcome in zip(cases, answered, strict=True):
            if self.faults.too_many(self.time_limit):
                outcome = self.given_up()
            else:
                outcome = self.refused.get(case.node.key, outcome)
            if (known := refusal(outcome)) is not None:
                self.refused[case.node.key] = known
            self.faults.note(outcome, case.node.key)
            keep(case, outcome)
            found.append(outcome)
        self.refused = {**refused, **self.refused}
        return found

    def answers(self, cases: Sequence[Case]) -> tuple[list[Outcome], dict[str, Outcome]]:
        """A worker's outcomes of the batch, regardless of earlier batches, and the nodes that it refused."""
        if self.faults.too_many(self.time_limit):  # do not wait for results that nobody needs
            self.drop()
            return [self.given_up()] * len(cases), {}
        ids = [case.id for case in cases]
        if not self.sent or [case.id for case in self.sent[0][0]] != ids:
            self.drop()  # other batches than expected
            self.sent.append((cases, self.tasks(cases)))
        outcomes: list[Outcome] = []
        refused: dict[str, Outcome] = {}
        for task in self.sent[0][1]:
            part, also = self.outcomes_of(task)
            outcomes += part
            refused |= also
        self.sent.popleft()
        if len(outcomes) != len(cases):
            raise MachineryFailed(f"backend {self.spec!r}: {len(outcomes)} outcomes of {len(cases)} cases")
        self.pace = max(1e-6, 2 * sum(outcome.seconds for outcome in outcomes) / len(cases))  # each runs twice
        self.send()
        return outcomes, refused

    def outcomes_of(self, task: Any) -> tuple[list[Outcome], dict[str, Outcome]]:
        """What a task brought. MachineryFailed if it is something else."""
        found = self.received(task)
        try:
            return tasks.decode_outcomes(found["frame"])
        except (BrokenFrame, KeyError, TypeError, ValueError) as error:
            raise MachineryFailed(f"{found['worker']}: not outcomes: {error}") from None

    def received(self, task: Any) -> dict[str, Any]:
        """A task's result. MachineryFailed if the worker's backend is not the first worker's."""
        try:
            found = self.cluster.result(task)
            raise_problem(found)
        except MachineryFailed:
            if self.abandoned:
                raise Abandoned from None
            raise
        if found["hello"] != self.said:
            now, then = (" ".join((told["name"], told["version"]))[:100] for told in (found["hello"], self.said))
            raise MachineryFailed(f"{found['worker']}: backend {self.spec!r} is {now}, elsewhere it is {then}")
        return found

    def given_up(self) -> Outcome:
        return IsolatedBackend(self.spec, self.time_limit, faults=self.faults).given_up()

    def attestation(self, nodes: Sequence[str]) -> dict[str, str]:
        try:
            told = self.cluster.call(tasks.attest, self.spec, self.limits, list(nodes))["attestation"]
        except MachineryFailed as error:
            return {"attestation failed": str(error)}
        return dict(told)

    def recall(self, node: str, outcome: Outcome) -> None:
        """Take over an outcome from the journal, as if it had just happened."""
        self.faults.note(outcome, node)
        if (known := refusal(outcome)) is not None:
            self.refused[node] = known

    def drop(self) -> None:
        """Cancel all batches that were sent or announced."""
        self.cluster.cancel(task for _, parts in self.sent for task in parts)
        self.sent.clear()
        self.expected.clear()

    def abandon(self) -> None:
        self.abandoned = True
        self.drop()

    def close(self) -> None:
        self.drop()
