"""Runs a space's blocks on one backend's worker while the results are judged on another core."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from tiebreak.adapters.claims import parsed_claims
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.adapters.libraries import libraries_of
from tiebreak.adapters.process import MIB, TooMuchMemory, WorkerProcess
from tiebreak.adapters.replies import START_LIMIT, hello_of
from tiebreak.adapters.sweeping import BlockAnswer, block_answers
from tiebreak.conformance.sweep.blocks import Block, judge_block
from tiebreak.conformance.sweep.choosing import judge_for
from tiebreak.conformance.sweep.digests import Digests
from tiebreak.conformance.sweep.look import Judge
from tiebreak.golden import kernel
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.space import Space

BLOCK_LIMIT = 300.0  # seconds
APART = 32  # blocks
MOST_FAULTS = 8  # blocks without results, after which no more are tried


@dataclass
class Sweeper:
    """Runs blocks of one space on one backend. `time_limit` is in seconds for a block, `memory_limit` in MiB.

    With `pinned` the backend and the judge stay on separate cores; several sweepers on one machine must not do that.
    """

    spec: str
    space: Space
    time_limit: float = BLOCK_LIMIT
    memory_limit: int = MEMORY_LIMIT
    all_modes: bool = False
    pinned: bool = True
    worker: WorkerProcess | None = None
    hello: dict[str, Any] = field(default_factory=dict)
    judge: Judge | None = None
    digests: Digests = field(default_factory=Digests)
    unfinished: deque[tuple[Block, Callable[[], str]]] = field(default_factory=deque)  # without their checksums
    judging: float = 0.0  # seconds
    taken: bool = False  # whether a block had results: the backend accepts the node

    def start(self) -> None:
        """Start the worker. InvalidInput for a wrong spec, MachineryFailed if the backend can't be started."""
        kernel.refuse_flushing()
        if self.judge is None:
            self.judge = judge_for(self.space)
        if self.pinned:
            self.digests.cores = idle_cores()
        worker = WorkerProcess(self.spec, self.memory_limit * MIB, cores()[1] if self.pinned else ())
        self.hello = hello_of(worker, self.spec)
        self.worker = worker

    def sweep(self, numbers: Sequence[int]) -> Iterator[Block]:
        """Each block, neighbours far apart.

        Unsupported if the backend refuses the node, MachineryFailed after too many faults.
        """
        todo, faults = far_apart(numbers), 0
        while todo:
            if self.worker is None:
                self.start()
            assert self.worker is not None
            try:
                with on_other_cores() if self.pinned else nullcontext():
                    for answer in block_answers(self.worker, self.space, list(todo), self.time_limit):
                        self.unfinished.append(self.judged(answer))
                        todo.pop(0)
                        yield from self.finished(self.digests.ahead)
                        faults += answer.status != "ok"
                        if faults >= MOST_FAULTS:
                            yield from self.finished()
                            raise MachineryFailed(
                                f"backend {self.spec!r}: given up after {faults} blocks: {answer.message}"
                            )
            except (TimeoutError, EOFError, OSError, BrokenFrame, TooMuchMemory) as error:
                yield from self.finished()
                fault = self.ended(error)
                faults += 1
                if faults >= MOST_FAULTS:
                    raise MachineryFailed(f"backend {self.spec!r}: given up after {faults} blocks: {fault}") from None
                yield Block(todo.pop(0), fault=fault)
        yield from self.finished()

    def finished(self, but: int = 0) -> Iterator[Block]:
        """The first blocks that are judged, with their checksums, but for the last so many."""
        while len(self.unfinished) > but:
            block, digest = self.unfinished.popleft()
            yield replace(block, sha256=digest())

    def judged(self, answer: BlockAnswer) -> tuple[Block, Callable[[], str]]:
        assert self.judge is not None and self.worker is not None
        if answer.status == "unsupported" and not self.taken:
            raise Unsupported(answer.message)
        if answer.status != "ok":
            return Block(answer.block, fault=answer.message or "an error without a message"), str
        self.taken = True
        started = time.perf_counter()
        digest = self.digests.begun(answer.output, answer.element)
        found = judge_block(self.space, self.judge, answer, all_modes=self.all_modes)
        self.judging += time.perf_counter() - started
        return found, digest

    def ended(self, error: BaseException) -> str:
        """End the worker after an error and return what went wrong."""
        worker, self.worker = self.worker, None
        assert worker is not None
        return ended_worker(worker, error, self.time_limit)

    def facts(self) -> dict[str, Any]:
        """Facts about the backend; see `attested`."""
        if self.worker is None:
            self.start()
        assert self.worker is not None
        return attested(self.worker, self.spec, self.hello, self.space.node, self.ended)

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.finish()
        self.digests.close()


def ended_worker(worker: WorkerProcess, error: BaseException, time_limit: float) -> str:
    """End a worker after an error and return what went wrong."""
    if isinstance(error, TimeoutError):
        worker.kill()
        worker.close()
        return f"no results within {time_limit:g} s"
    told = worker.end()
    return told if isinstance(error, OSError) else str(error) or told


def attested(
    worker: WorkerProcess, spec: str, hello: Mapping[str, Any], node: Node, ended: Callable[[BaseException], str]
) -> dict[str, Any]:
    """Name, version, spec and attestation of the backend, and the checksums of its library's files.

    `document` says whether it claims the operator. `ended` ends the worker if it fails.
    """
    libraries: dict[str, str] = {}
    try:
        worker.send({"request": "attest", "nodes": [node.key]}, time.monotonic() + START_LIMIT)
        told = dict(worker.read_line(time.monotonic() + START_LIMIT)["attestation"])
        libraries = libraries_of(worker.process.pid)
    except (EOFError, OSError, BrokenFrame, TooMuchMemory, KeyError, TypeError, ValueError) as error:
        told = {"attestation failed": ended(error)}
    document = parsed_claims(hello).document(node.operator)
    named = {"name": hello["name"], "version": hello["version"], "spec": spec, "document": document}
    return named | {"attestation": {str(k): str(v) for k, v in told.items()}, "libraries": libraries}


def far_apart(numbers: Sequence[int]) -> list[int]:
    """Every so-many-th number, then those beside them.

    Blocks with many different results are neighbours, and the judge takes longer for them than the backend: one after
    the other they would make it wait.
    """
    return [number for first in range(APART) for number in numbers[first::APART]]


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
