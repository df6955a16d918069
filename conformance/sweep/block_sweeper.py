"""What every sweeper has: a backend's worker, which it starts, attests and ends."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tiebreak.adapters.claims import parsed_claims
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.adapters.libraries import libraries_of
from tiebreak.adapters.process import MIB, TooMuchMemory, WorkerProcess
from tiebreak.adapters.replies import START_LIMIT, hello_of
from tiebreak.adapters.sweeping import AnySpace
from tiebreak.conformance.sweep.digests import Digests
from tiebreak.golden import kernel
from tiebreak.golden.errors import Unsupported

BLOCK_LIMIT = 300.0  # seconds
MOST_FAULTS = 8  # blocks without results, after which no more are tried
FAULTS = (TimeoutError, EOFError, OSError, BrokenFrame, TooMuchMemory)  # of a worker that answers no more
Swept = TypeVar("Swept", bound=AnySpace)


@dataclass
class BlockSweeper(ABC, Generic[Swept]):
    """Runs blocks of one space on one backend. `time_limit` is in seconds for a block, `memory_limit` in MiB.

    With `pinned` the backend and the judge stay on separate cores; several sweepers on one machine must not do that.
    """

    spec: str
    space: Swept
    time_limit: float = BLOCK_LIMIT
    memory_limit: int = MEMORY_LIMIT
    pinned: bool = True
    worker: WorkerProcess | None = None
    hello: dict[str, Any] = field(default_factory=dict)
    digests: Digests = field(default_factory=Digests)
    taken: bool = False  # whether a block had results: the backend accepts the node

    @abstractmethod
    def prepare(self) -> None:
        """Get ready to judge, before the worker is started."""

    @abstractmethod
    def sweep(self, numbers: Sequence[int]) -> Iterator[Any]:
        """The blocks with these numbers, each with its checksum.

        Unsupported if the backend refuses the node, MachineryFailed after too many faults.
        """

    def start(self) -> None:
        """Start the worker. InvalidInput for a wrong spec, MachineryFailed if the backend can't be started."""
        kernel.refuse_flushing()
        self.prepare()
        if self.pinned:
            self.digests.cores = idle_cores()
        worker = WorkerProcess(self.spec, self.memory_limit * MIB, cores()[1] if self.pinned else ())
        self.hello = hello_of(worker, self.spec)
        self.worker = worker

    def running(self) -> WorkerProcess:
        """The worker, started if it is not."""
        if self.worker is None:
            self.start()
        assert self.worker is not None
        return self.worker

    def apart(self) -> AbstractContextManager[None]:
        """Keep the judge on a core of its own meanwhile."""
        return on_other_cores() if self.pinned else nullcontext()

    def fault_of(self, status: str, message: str) -> str:
        """Why an answer has no results; empty if it has some. Unsupported if the backend refuses the node."""
        if status == "unsupported" and not self.taken:
            raise Unsupported(message)
        if status != "ok":
            return message or "an error without a message"
        self.taken = True
        return ""

    def ended(self, error: BaseException) -> str:
        """End the worker after an error and return what went wrong."""
        worker, self.worker = self.worker, None
        assert worker is not None
        if isinstance(error, TimeoutError):
            worker.kill()
            worker.close()
            return f"no results within {self.time_limit:g} s"
        told = worker.end()
        return told if isinstance(error, OSError) else str(error) or told

    def facts(self) -> dict[str, Any]:
        """Name, version, spec and attestation of the backend, and the checksums of its library's files.

        `document` says whether it claims the operator.
        """
        worker, node = self.running(), self.space.node
        try:
            worker.send({"request": "attest", "nodes": [node.key]}, time.monotonic() + START_LIMIT)
            told = dict(worker.read_line(time.monotonic() + START_LIMIT)["attestation"])
        except (EOFError, OSError, BrokenFrame, TooMuchMemory, KeyError, TypeError, ValueError) as error:
            told = {"attestation failed": self.ended(error)}
        libraries = {} if self.worker is None else libraries_of(worker.process.pid)
        named = {"name": self.hello["name"], "version": self.hello["version"], "spec": self.spec}
        named["document"] = parsed_claims(self.hello).document(node.operator)
        return named | {"attestation": {str(k): str(v) for k, v in told.items()}, "libraries": libraries}

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.finish()
        self.digests.close()


def cores() -> tuple[list[int], list[int]]:
    """The cores for the judge and for the backend: one for the judge; no pinning (empty lists) on a single core."""
    found = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return (found[:1], found[1:]) if len(found) > 1 else ([], [])


def idle_cores() -> list[int]:
    """Cores that the judge leaves idle where the backend has one, too: those beyond two."""
    return cores()[1][1:]


@contextmanager
def on_other_cores() -> Iterator[None]:
    """Keep this thread off the backend's cores."""
    own, _ = cores()
    if not own:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, own)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
