"""Runs a space's blocks on one backend's worker while the results are judged on another core."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tiebreak.adapters.sweeping import BlockAnswer, block_answers
from tiebreak.conformance.sweep.block_sweeper import FAULTS, MOST_FAULTS, BlockSweeper
from tiebreak.conformance.sweep.blocks import Block, judge_block
from tiebreak.conformance.sweep.choosing import judge_for
from tiebreak.conformance.sweep.digests import settled_results
from tiebreak.conformance.sweep.look import Judge
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.space import Space

APART = 32  # blocks


@dataclass
class Sweeper(BlockSweeper[Space]):
    """Tries every input of a space; `all_modes` also counts the mismatches with each rounding mode."""

    all_modes: bool = False
    judge: Judge | None = None
    # Blocks without their checksums, and what gives these.
    unfinished: deque[tuple[Block, Callable[[], str], Callable[[], str]]] = field(default_factory=deque)
    judging: float = 0.0  # seconds

    def prepare(self) -> None:
        if self.judge is None:
            self.judge = judge_for(self.space)

    def sweep(self, numbers: Sequence[int]) -> Iterator[Block]:
        """Each block, neighbours far apart.

        Unsupported if the backend refuses the node, MachineryFailed after too many faults.
        """
        todo, faults = far_apart(numbers), 0
        while todo:
            worker = self.running()
            try:
                with self.apart():
                    for answer in block_answers(worker, self.space, list(todo), self.time_limit):
                        self.unfinished.append(self.judged(answer))
                        todo.pop(0)
                        yield from self.finished(self.digests.ahead)
                        faults += answer.status != "ok"
                        if faults >= MOST_FAULTS:
                            yield from self.finished()
                            raise MachineryFailed(
                                f"backend {self.spec!r}: given up after {faults} blocks: {answer.message}"
                            )
            except FAULTS as error:
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
            block, digest, finite = self.unfinished.popleft()
            yield replace(block, sha256=digest(), finite=finite())

    def judged(self, answer: BlockAnswer) -> tuple[Block, Callable[[], str], Callable[[], str]]:
        assert self.judge is not None and self.worker is not None
        if fault := self.fault_of(answer.status, answer.message):
            return Block(answer.block, fault=fault), str, str
        started = time.perf_counter()
        digest = self.digests.begun(answer.output, answer.element)
        finite = self.digests.begun_settled(settled_results(self.space, answer.block, answer.output))
        found = judge_block(self.space, self.judge, answer, all_modes=self.all_modes)
        self.judging += time.perf_counter() - started
        return found, digest, finite


def far_apart(numbers: Sequence[int]) -> list[int]:
    """Every so-many-th number, then those beside them.

    Blocks with many different results are neighbours, and the judge takes longer for them than the backend: one after
    the other they would make it wait.
    """
    return [number for first in range(APART) for number in numbers[first::APART]]
