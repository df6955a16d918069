"""The slow judge of a sweep, for any node: it solves each piece as a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.judging.judge import Judgement, judge_outputs
from tiebreak.conformance.judging.truths import ENDS, Truths, kernel_truth
from tiebreak.conformance.sweep.look import PieceGrades
from tiebreak.golden import kernel
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.problems import problems_of
from tiebreak.golden.space import Space
from tiebreak.golden.verdicts import DEVIATES, GRADES

MOST_AT_ONCE = 1 << 18  # inputs: the general solver needs many times their memory


@dataclass(frozen=True)
class SolvingJudge:
    """Judges each piece as a case, with the kernel's general solver."""

    space: Space

    def look(self, at: int, output: Array, found: PieceGrades) -> None:
        for start, part in self.parts(at, output):
            self.look_at_piece(start, part, found)

    def look_at_piece(self, at: int, output: Array, found: PieceGrades) -> None:
        truths = self.truths(np.arange(at, at + output.size), self.modes, bounded=self.space.node.is_bounded)
        judgement = judged(output, truths)
        found.counts += np.bincount(judgement.grades, minlength=len(GRADES))
        where = np.flatnonzero(judgement.grades == DEVIATES)
        found.add_wrong(at + where, judgement.values[where], truths.judged_by.exact[where])

    def look_at_modes(self, at: int, output: Array, found: PieceGrades) -> None:
        for start, part in self.parts(at, output) if self.space.node.modes else ():
            numbers = np.arange(start, start + part.size)
            for place, mode in enumerate(kernel.MODES):
                found.differ[place] += judged(part, self.truths(numbers, (mode,))).count(DEVIATES)

    def parts(self, at: int, output: Array) -> Iterator[tuple[int, Array]]:
        """Parts of one scale that can be solved at once, each with the number of its first input."""
        size = min(self.space.piece, MOST_AT_ONCE)
        for start in range(0, output.size, size):
            yield at + start, output[start : start + size]

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that the node's document allows; the empty text where nothing is rounded to an integer."""
        return self.space.node.modes or ("",)

    def truths(self, numbers: Array, modes: Sequence[str], *, bounded: bool = False) -> Truths:
        """What is right in these modes for the inputs of these numbers, all of one scale; `bounded`: or between."""
        case, problem = self.case_and_problem(numbers)
        wanted = dict.fromkeys((*modes, *(ENDS if bounded else ())))
        by_mode = {mode: kernel_truth(case, [problem], mode) for mode in wanted}
        return Truths(by_mode, tuple(modes), (problem,), bounded)

    def case_and_problem(self, numbers: Array) -> tuple[Case, Problem]:
        """The case of the inputs of these numbers, and the problem of its first output."""
        inputs = self.space.first_inputs(numbers), *self.space.other_inputs(int(numbers[0]))
        case = Case("sweep", self.space.node, inputs)
        return case, problems_of(case)[0]


def judged(output: Array, truths: Truths) -> Judgement:
    return judge_outputs([output.reshape(truths.problems[0].shape)], truths)
