"""Runs the blocks of a sweep of every scale on one backend's worker, and asks again where thresholds have moved."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
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

TOGETHER = {8: 10, 16: 1}  # blocks kept until their moved thresholds are located, by the bits of the output
AT_ONCE = 4096  # blocks that the worker is asked for in a row


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
        """Each block, in order but for faults.

        Unsupported if the backend refuses the node, MachineryFailed after too many faults, NotMonotone if results go
        back.
        """
        todo, faults = dict.fromkeys(numbers), 0
        while todo:
            self.running()
            for block in self.in_a_row(list(islice(todo, AT_ONCE))):
                del todo[block.number]
                faults += bool(block.fault)
                yield block
                if faults >= MOST_FAULTS:
                    raise MachineryFailed(f"backend {self.spec!r}: given up after {faults} blocks: {block.fault}")

    def in_a_row(self, numbers: Sequence[int]) -> Iterator[ScaleBlock]:
        """The finished blocks: all of these; or some, and if the worker ended, the one whose fault that is.

        Blocks with moved thresholds need the worker once more. It is asked for no further blocks once a few of them
        are kept, so that it has answered all by then.
        """
        assert self.worker is not None
        kept: deque[Unfinished] = deque()
        answered, is_asked = 0, True
        try:
            with self.apart():
                wanted = self.until_moved(numbers, kept)
                for answer in block_answers(self.worker, self.space, wanted, self.time_limit):
                    kept.append(self.judged(answer))
                    answered += 1
                    while len(kept) > self.digests.ahead and not kept[0].moved.scales.size:
                        yield self.finished(kept.popleft())
                is_asked = False
                while kept:
                    yield self.finished(kept[0])
                    kept.popleft()
        except FAULTS as error:
            guilty = numbers[answered] if is_asked else kept[0].block.number
            yield from [self.finished(one) for one in kept if not one.moved.scales.size]
            yield ScaleBlock(guilty, fault=self.ended(error))

    def until_moved(self, numbers: Sequence[int], kept: Sequence[Unfinished]) -> Iterator[int]:
        """These numbers, until enough blocks are kept because thresholds have moved."""
        for number in numbers:
            if len(kept) >= TOGETHER[self.space.result.bits] and any(one.moved.scales.size for one in kept):
                return
            yield number

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
