"""A sweep on a Dask cluster: groups of blocks are tasks, and the certificate is the same as on one machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tiebreak.adapters.sweeping import AnySpace
from tiebreak.conformance.dask import tasks
from tiebreak.conformance.dask.scheduler import Cluster, distributed_package, raise_problem
from tiebreak.conformance.sweep.block_sweeper import MOST_FAULTS
from tiebreak.conformance.sweep.blocks import block_from
from tiebreak.conformance.sweep.intervals import Interval, as_list
from tiebreak.conformance.sweep.job import carry_out
from tiebreak.conformance.sweep.scale_blocks import scale_block_from
from tiebreak.conformance.sweep.scale_job import MakeRunner
from tiebreak.conformance.sweep.session import BlockRunner, Progress, SweepLimits
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.scale_space import ScaleSpace
from tiebreak.golden.space import Space

TASK_SECONDS = 1.0  # aim for a group of blocks: much more than a task's overhead, little to lose
WAITING = 2  # tasks for each worker, so that none is idle while a result travels
GROWTH = 4  # a group has at most this many times the blocks of the one before


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
    """`sweep_job` on a Dask cluster: the same certificate, with the machines that took part, and the same errors."""
    return carry_out(
        ClusterBlocks(cluster, spec, space, how), space, certificate, how, resume=resume, progress=progress
    )


def scales_on(cluster: Cluster) -> MakeRunner:
    """What runs a sweep of every scale on the cluster; see `every_scale_job`."""

    def runner(spec: str, space: ScaleSpace, how: SweepLimits) -> BlockRunner:
        return ClusterBlocks(cluster, spec, space, how, scale_block_from)

    return runner


@dataclass
class ClusterBlocks:
    """Runs the blocks of a sweep on the workers of a Dask cluster, which must all have the same backend.

    `parse` makes a block of what its `described` wrote.
    """

    cluster: Cluster
    spec: str
    space: AnySpace
    how: SweepLimits
    parse: Callable[[Mapping[str, Any]], Any] = block_from
    todo: deque[int] = field(default_factory=deque)
    running: list[Any] = field(default_factory=list)  # tasks
    arrived: list[dict[str, Any]] = field(default_factory=list)  # results not yet handed out
    facts: dict[str, Any] = field(default_factory=dict)
    size: int = 1  # blocks in the next group
    completed: Any = None
    seconds: float = 0.0

    def begin(self, numbers: Sequence[int], known: Mapping[str, Any]) -> dict[str, Any]:
        """Send the first groups, wait for one of them and return the backend's facts."""
        self.todo.extend(numbers)
        self.facts = dict(known)
        self.completed = distributed_package().as_completed([], loop=self.cluster.client.loop)
        if not numbers:  # an empty task still returns the facts
            self.send([])
        self.fill()
        self.arrived.append(self.next_result())
        return self.facts

    def finished_blocks(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        faults = 0
        while self.arrived or self.running:
            found = self.arrived.pop() if self.arrived else self.next_result()
            for row in found["blocks"]:
                block = self.parse(row)
                yield block, self.machine(found)
                faults += bool(block.fault)
                if faults >= MOST_FAULTS:
                    raise MachineryFailed(f"backend {self.spec!r}: given up after {faults} blocks: {block.fault}")
            raise_problem(found)

    def next_result(self) -> dict[str, Any]:
        """The result of the next finished task, checked; another task is sent in its place."""
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
        """Send groups until each worker has enough; the number of workers may have changed."""
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
        """Set the size of the next groups so that each takes about TASK_SECONDS."""
        if blocks:
            self.size = max(1, min(GROWTH * blocks, int(blocks * TASK_SECONDS / max(seconds, 1e-6))))

    def check(self, found: Mapping[str, Any]) -> None:
        """MachineryFailed if this worker's backend differs from the others'."""
        now, then = backend_identity(found["backend"]), backend_identity(self.facts or found["backend"])
        for name in {**then, **now}:
            if now.get(name) != then.get(name):
                was, is_ = (str(side.get(name, "absent"))[:80] for side in (then, now))
                raise MachineryFailed(
                    f"{found['worker']}: backend {self.spec!r}: {name} is {is_}, elsewhere it is {was}: "
                    "all workers need the same"
                )
        self.facts = self.facts or dict(found["backend"])

    def machine(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The machine of a result, with the parts of its attestation that differ from the first worker's."""
        says = found["backend"]["attestation"]
        other = {key: value for key, value in says.items() if self.facts["attestation"].get(key) != value}
        return {**found["machine"], **({"attestation": other} if other else {})}

    def causes(self, intervals: Sequence[Interval]) -> dict[int, str]:
        rows = [as_list(interval) for interval in intervals]
        wanted = self.spec, self.space.described(), rows, self.how.memory_limit
        return dict(self.cluster.call(tasks.explain, *wanted)["causes"])

    def close(self) -> None:
        """Cancel the tasks that are left."""
        self.cluster.cancel(self.running)
        self.running.clear()
        self.todo.clear()


def backend_identity(backend: Mapping[str, Any]) -> dict[str, str]:
    """The facts that must be equal on all machines: name, version, and checksums of the library's files by name."""
    files = {f"the SHA-256 of {Path(name).name}": digest for name, digest in backend["libraries"].items()}
    return {"its name": backend["name"], "its version": backend["version"], **dict(sorted(files.items()))}
