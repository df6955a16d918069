"""The slow judge of a sweep, for any node: it solves each piece as a case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import Truths, kernel_truth
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
        size = min(self.space.piece, MOST_AT_ONCE)
        for start in range(0, output.size, size):
            self.look_at_piece(at + start, output[start : start + size], found)

    def look_at_piece(self, at: int, output: Array, found: PieceGrades) -> None:
        case, problem = self.case_and_problem(at, output.size)
        modes = case.node.modes or ("",)
        truths = Truths({mode: kernel_truth(case, [problem], mode) for mode in modes}, modes, (problem,))
        judgement = judge_outputs([output.reshape(problem.shape)], truths)
        found.counts += np.bincount(judgement.grades, minlength=len(GRADES))
        where = np.flatnonzero(judgement.grades == DEVIATES)
        if where.size:
            found.wrong.append((at + where, judgement.values[where], truths.judged_by.exact[where]))

    def look_at_modes(self, at: int, output: Array, found: PieceGrades) -> None:
        size = min(self.space.piece, MOST_AT_ONCE)
        for start in range(0, output.size, size):
            part = output[start : start + size]
            case, problem = self.case_and_problem(at + start, part.size)
            if not case.node.modes:
                return
            for number, mode in enumerate(kernel.MODES):
                truths = Truths({mode: kernel_truth(case, [problem], mode)}, (mode,), (problem,))
                grades = judge_outputs([part.reshape(problem.shape)], truths).grades
                found.differ[number] += np.count_nonzero(grades == DEVIATES)

    def case_and_problem(self, at: int, size: int) -> tuple[Case, Problem]:
        """The case of `size` inputs from number `at` on, and the problem of its first output."""
        inputs = self.space.first_input(at, size), *self.space.other_inputs(at)
        case = Case("sweep", self.space.node, inputs)
        return case, problems_of(case)[0]
