"""A sweep on a Dask cluster: groups of blocks as tasks, results as they come, one certificate as on one machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tiebreak.conformance.dask import tasks
from tiebreak.conformance.dask.scheduler import Cluster, dask, raise_problem
from tiebreak.conformance.sweep.blocks import Block, block_from
from tiebreak.conformance.sweep.intervals import Interval, as_list
from tiebreak.conformance.sweep.job import Progress, SweepLimits, carry_out
from tiebreak.conformance.sweep.sweeper import MOST_FAULTS
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.space import Space

TASK_SECONDS = 1.0  # that a group of blocks is to take: long beside a task's own cost, short to lose
WAITING = 2  # tasks for each worker, so that none is idle while a result travels
GROWTH = 4  # a group over the one before it, at most


def sweep_on(
    cluster: Cluster,
    spec: str,
    space: Space,
    certificate: Path,
    how: SweepLimits,
    *,
    resume: bool = False,
    progress: Progress = lambda done, of: None,
) -> dict[str, Any]:
    """`job.sweep_job` on a cluster: the same certificate, with the machines that took part. Raises as that does."""
    return carry_out(Crew(cluster, spec, space, how), space, certificate, how, resume=resume, progress=progress)


@dataclass
class Crew:
    """The workers of a cluster, busy with the blocks of one sweep. All must have the same backend."""

    cluster: Cluster
    spec: str
    space: Space
    how: SweepLimits
    todo: deque[int] = field(default_factory=deque)
    running: list[Any] = field(default_factory=list)  # tasks
    arrived: list[dict[str, Any]] = field(default_factory=list)  # results that came before anybody asked
    facts: dict[str, Any] = field(default_factory=dict)
    size: int = 1  # blocks of a group
    completed: Any = None
    seconds: float = 0.0

    def begin(self, numbers: Sequence[int], known: Mapping[str, Any]) -> dict[str, Any]:
        """Send the first groups and wait for one of them; the backend's facts."""
        self.todo.extend(numbers)
        self.facts = dict(known)
        self.completed = dask().as_completed([], loop=self.cluster.client.loop)
        if not numbers:  # the facts are wanted all the same
            self.send([])
        self.fill()
        self.arrived.append(self.next_result())
        return self.facts

    def done(self) -> Iterator[tuple[Block, dict[str, Any]]]:
        faults = 0
        while self.arrived or self.running:
            found = self.arrived.pop() if self.arrived else self.next_result()
            for row in found["blocks"]:
                block = block_from(row)
                yield block, self.machine(found)
                faults += bool(block.fault)
                if faults >= MOST_FAULTS:
                    raise MachineryFailed(f"backend {self.spec!r}: given up after {faults} blocks: {block.fault}")
            raise_problem(found)

    def next_result(self) -> dict[str, Any]:
        """The next task's result, checked; another task goes in its place."""
        task = next(self.completed)
        self.running.remove(task)
        found = self.cluster.result(task)
        if found["backend"] is None:
            raise_problem(found)
        self.check(found)
        self.seconds += found["seconds"]
        self.adapt(len(found["blocks"]), found["seconds"])
        self.fill()
        return found

    def fill(self) -> None:
        """Send as many groups as the workers, of which there may be more or fewer by now, can take."""
        workers = self.cluster.size()
        while self.todo and len(self.running) < WAITING * workers:
            size = max(1, min(self.size, len(self.todo) // (WAITING * workers)))
            self.send([self.todo.popleft() for _ in range(size)])

    def send(self, numbers: Sequence[int]) -> None:
        how = self.how
        limits = [how.time_limit, how.memory_limit]
        wanted = self.spec, self.space.described(), limits, how.all_modes, list(numbers)
        task = self.cluster.submit(tasks.sweep_blocks, *wanted)
        self.running.append(task)
        self.completed.add(task)

    def adapt(self, blocks: int, seconds: float) -> None:
        """Have the next groups take about TASK_SECONDS."""
        if blocks:
            self.size = max(1, min(GROWTH * blocks, int(blocks * TASK_SECONDS / max(seconds, 1e-6))))

    def check(self, found: Mapping[str, Any]) -> None:
        """MachineryFailed if this worker's backend is not the one that the others have."""
        now, then = identity(found["backend"]), identity(self.facts or found["backend"])
        for name in {**then, **now}:
            if now.get(name) != then.get(name):
                was, is_ = (str(side.get(name, "absent"))[:80] for side in (then, now))
                raise MachineryFailed(
                    f"{found['worker']}: backend {self.spec!r}: {name} is {is_}, elsewhere it is {was}: "
                    "all workers need the same"
                )
        self.facts = self.facts or dict(found["backend"])

    def machine(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The machine of a result, with what its backend says of itself otherwise than the first one's did."""
        says = found["backend"]["attestation"]
        other = {key: value for key, value in says.items() if self.facts["attestation"].get(key) != value}
        return {**found["machine"], **({"attestation": other} if other else {})}

    def causes(self, intervals: Sequence[Interval]) -> dict[int, str]:
        rows = [as_list(interval) for interval in intervals]
        wanted = self.spec, self.space.described(), rows, self.how.memory_limit
        return dict(self.cluster.call(tasks.explain, *wanted)["causes"])

    def close(self) -> None:
        """Nothing more is wanted of the tasks that are still there."""
        self.cluster.cancel(self.running)
        self.running.clear()
        self.todo.clear()


def identity(backend: Mapping[str, Any]) -> dict[str, str]:
    """What must be the same on all machines: name, version, and the library's files wherever they lie."""
    files = {f"the SHA-256 of {Path(name).name}": digest for name, digest in backend["libraries"].items()}
    return {"its name": backend["name"], "its version": backend["version"], **dict(sorted(files.items()))}
