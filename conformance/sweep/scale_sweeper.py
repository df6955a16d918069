"""Runs the blocks of a sweep of every scale on one backend's worker, and asks again where thresholds have moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.sweeping import BlockAnswer, ask_calls, block_answers
from tiebreak.conformance.sweep.block_sweeper import FAULTS, MOST_FAULTS, BlockSweeper
from tiebreak.conformance.sweep.scale_blocks import ScaleBlock
from tiebreak.conformance.sweep.scale_judging import NONE_MOVED, Moved, ScaleJudge
from tiebreak.conformance.sweep.scale_locating import locate
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.problem import Array
from tiebreak.golden.scale_space import ScaleCall, ScaleSpace

BATCH = {8: 16, 16: 4}  # blocks that are judged before their moved thresholds are located, by the bits of the output


class Unfinished(NamedTuple):
    """A judged block, what of it needs more questions, and what gives its checksum."""

    block: ScaleBlock
    moved: Moved
    digest: Callable[[], str]


@dataclass
class ScaleSweeper(BlockSweeper[ScaleSpace]):
    """Tries every scale of a space."""

    judge: ScaleJudge | None = None

    def prepare(self) -> None:
        if self.judge is None:
            self.judge = ScaleJudge(self.space)

    def sweep(self, numbers: Sequence[int]) -> Iterator[ScaleBlock]:
        """Each block, in order.

        Unsupported if the backend refuses the node, MachineryFailed after too many faults, NotMonotone if results go
        back.
        """
        todo, faults = list(numbers), 0
        while todo:
            self.running()
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
            with self.apart():
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
        if fault := self.fault_of(answer.status, answer.message):
            return Unfinished(ScaleBlock(answer.block, fault=fault), NONE_MOVED, str)
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
