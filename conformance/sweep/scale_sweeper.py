"""Runs the blocks of a sweep of every scale on one backend's worker, and asks again where thresholds have moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.adapters.process import MIB, TooMuchMemory, WorkerProcess
from tiebreak.adapters.replies import hello_of
from tiebreak.adapters.sweeping import BlockAnswer, ask_calls, block_answers
from tiebreak.conformance.sweep.digests import Digests
from tiebreak.conformance.sweep.scale_blocks import ScaleBlock
from tiebreak.conformance.sweep.scale_judging import NONE_MOVED, Moved, ScaleJudge
from tiebreak.conformance.sweep.scale_locating import locate
from tiebreak.conformance.sweep.sweeper import (
    BLOCK_LIMIT,
    MOST_FAULTS,
    attested,
    cores,
    ended_worker,
    idle_cores,
    on_other_cores,
)
from tiebreak.golden import kernel
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.problem import Array
from tiebreak.golden.scale_space import ScaleCall, ScaleSpace

BATCH = {8: 16, 16: 4}  # blocks that are judged before their moved thresholds are located, by the bits of the output
FAULTS = (TimeoutError, EOFError, OSError, BrokenFrame, TooMuchMemory)


class Unfinished(NamedTuple):
    """A judged block, what of it needs more questions, and what gives its checksum."""

    block: ScaleBlock
    moved: Moved
    digest: Callable[[], str]


@dataclass
class ScaleSweeper:
    """Runs blocks of one space on one backend; the limits are those of a Sweeper."""

    spec: str
    space: ScaleSpace
    time_limit: float = BLOCK_LIMIT
    memory_limit: int = MEMORY_LIMIT
    pinned: bool = True
    worker: WorkerProcess | None = None
    hello: dict[str, Any] = field(default_factory=dict)
    judge: ScaleJudge | None = None
    digests: Digests = field(default_factory=Digests)
    taken: bool = False  # whether a block had results: the backend accepts the node

    def start(self) -> None:
        """Start the worker. InvalidInput for a wrong spec, MachineryFailed if the backend can't be started."""
        kernel.refuse_flushing()
        if self.judge is None:
            self.judge = ScaleJudge(self.space)
        if self.pinned:
            self.digests.cores = idle_cores()
        worker = WorkerProcess(self.spec, self.memory_limit * MIB, cores()[1] if self.pinned else ())
        self.hello = hello_of(worker, self.spec)
        self.worker = worker

    def sweep(self, numbers: Sequence[int]) -> Iterator[ScaleBlock]:
        """Each block, in order.

        Unsupported if the backend refuses the node, MachineryFailed after too many faults, NotMonotone if results go
        back.
        """
        todo, faults = list(numbers), 0
        while todo:
            if self.worker is None:
                self.start()
            for block in self.batch(todo[: BATCH[self.space.result.bits]]):
                todo.remove(block.number)
                faults += bool(block.fault)
                yield block
                if faults >= MOST_FAULTS:
                    raise MachineryFailed(f"backend {self.spec!r}: given up after {faults} blocks: {block.fault}")

    def batch(self, numbers: Sequence[int]) -> list[ScaleBlock]:
        """The finished blocks: all of these, or if the worker ended, some and the one whose fault that is.

        Answers come in order. Blocks with moved thresholds need the worker once more, so they are not finished then.
        """
        assert self.worker is not None
        judged: list[Unfinished] = []
        finished: list[ScaleBlock] = []
        try:
            with on_other_cores() if self.pinned else nullcontext():
                for answer in block_answers(self.worker, self.space, numbers, self.time_limit):
                    judged.append(self.judged(answer))
                for one in judged:
                    finished.append(self.finished(one))
        except FAULTS as error:
            finished += [self.finished(one) for one in judged[len(finished) :] if not one.moved.scales.size]
            known = {block.number for block in finished}
            unanswered = list(numbers[len(judged) :]) or [number for number in numbers if number not in known]
            finished.append(ScaleBlock(unanswered[0], fault=self.ended(error)))
        return finished

    def judged(self, answer: BlockAnswer) -> Unfinished:
        assert self.judge is not None
        if answer.status == "unsupported" and not self.taken:
            raise Unsupported(answer.message)
        if answer.status != "ok":
            fault = answer.message or "an error without a message"
            return Unfinished(ScaleBlock(answer.block, fault=fault), NONE_MOVED, str)
        self.taken = True
        found = self.judge.judge(answer)
        element = answer.element if found.telling is answer.output else ""
        return Unfinished(found.block, found.moved, self.digests.begun(found.telling, element))

    def finished(self, judged: Unfinished) -> ScaleBlock:
        """The block with its checksum and its moved thresholds."""
        asked: list[float] = []

        def ask(call: ScaleCall) -> Array:
            assert self.worker is not None
            answer = ask_calls(self.worker, self.space, call, self.time_limit)
            if answer.status != "ok":
                raise BrokenFrame(f"asked again, the backend gave no results: {answer.message}")
            asked.append(answer.seconds)
            return answer.output.reshape(call.x.shape).copy()

        block = locate(self.space, judged.block, judged.moved, ask)
        return replace(block, sha256=judged.digest(), seconds=block.seconds + sum(asked))

    def ended(self, error: BaseException) -> str:
        """End the worker after an error and return what went wrong."""
        worker, self.worker = self.worker, None
        assert worker is not None
        return ended_worker(worker, error, self.time_limit)

    def facts(self) -> dict[str, Any]:
        """As of a Sweeper: see `attested`."""
        if self.worker is None:
            self.start()
        assert self.worker is not None
        return attested(self.worker, self.spec, self.hello, self.space.node, self.ended)

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.finish()
        self.digests.close()
