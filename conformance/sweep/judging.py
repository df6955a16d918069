"""What a piece of a sweep must give: by the kernel's fast loops where the node is a plain quantization, else by solving
the piece as a case. Both judge as `run` does; a sweep starts by comparing them with each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from tiebreak.conformance.judging.judge import DEVIATES, GRADES, judge_outputs
from tiebreak.conformance.judging.truths import Truths, kernel_truth
from tiebreak.golden import kernel
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Elementwise, Problem, Quantization
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.space import Space


@dataclass
class Look:
    """What a piece showed: elements by grade (see judge.GRADES), and those that deviate: numbers, codes got, expected.

    `differ` counts, for each of the nine modes, the elements that are neither of its two results.
    """

    counts: Array = field(default_factory=lambda: np.zeros(len(GRADES), np.int64))
    wrong: list[tuple[Array, Array, Array]] = field(default_factory=list)
    differ: Array = field(default_factory=lambda: np.zeros(len(ROUND_MODES), np.int64))


class Judge(Protocol):
    """Judges results of consecutive inputs, all of one scale."""

    def look(self, at: int, output: Array, found: Look) -> None: ...
    def look_at_modes(self, at: int, output: Array, found: Look) -> None: ...


@dataclass(frozen=True)
class SolvingJudge:
    """For any node: each piece is a case."""

    space: Space

    def look(self, at: int, output: Array, found: Look) -> None:
        size = self.space.piece
        for start in range(0, output.size, size):
            self.look_at_piece(at + start, output[start : start + size], found)

    def look_at_piece(self, at: int, output: Array, found: Look) -> None:
        case, problem = self.posed(at, output.size)
        modes = case.node.modes or ("",)
        truths = Truths({mode: kernel_truth(case, [problem], mode) for mode in modes}, modes, (problem,))
        judgement = judge_outputs([output.reshape(problem.shape)], truths)
        found.counts += np.bincount(judgement.grades, minlength=len(GRADES))
        where = np.flatnonzero(judgement.grades == DEVIATES)
        if where.size:
            found.wrong.append((at + where, judgement.values[where], truths.own.exact[where]))

    def look_at_modes(self, at: int, output: Array, found: Look) -> None:
        size = self.space.piece
        for start in range(0, output.size, size):
            part = output[start : start + size]
            case, problem = self.posed(at + start, part.size)
            if not case.node.modes:
                return
            for number, mode in enumerate(kernel.MODES):
                truths = Truths({mode: kernel_truth(case, [problem], mode)}, (mode,), (problem,))
                grades = judge_outputs([part.reshape(problem.shape)], truths).grades
                found.differ[number] += np.count_nonzero(grades == DEVIATES)

    def posed(self, at: int, size: int) -> tuple[Case, Problem]:
        """The case, and the problem of its first output."""
        inputs = self.space.first_input(at, size), *self.space.other_inputs(at)
        case = Case("sweep", self.space.node, inputs)
        return case, problems_of(case)[0]


def plain_quantization(problem: Problem) -> bool:
    """Whether a problem is round(x / scale) + zero_point with one type for x, scale and division, and one scale."""
    if isinstance(problem, Quantization):
        return problem.scale.size == 1 and problem.zero_point.size == 1 and problem.real.bits <= 32
    return (
        isinstance(problem, Elementwise)
        and problem.formula == "onnx.QuantizeLinear"
        and isinstance(problem.result, IntegerType)
        and problem.constants["division"]
        and problem.kinds[0] == problem.kinds[1] == problem.working
        and problem.working.bits <= 32
        and problem.operands[1].min() == problem.operands[1].max()
        and problem.operands[2].min() == problem.operands[2].max()
    )


def judge_for(space: Space) -> Judge:
    """The fastest judge there is for the space, which has agreed with the other one on a sample."""
    from tiebreak.conformance.sweep.fast import FastJudge

    solving = SolvingJudge(space)
    _, problem = solving.posed(0, min(space.piece, 16))
    if not plain_quantization(problem):
        return solving
    fast = FastJudge(space)
    for at in np.linspace(0, space.inputs - space.piece, 5).astype(int) // space.piece * space.piece:
        compare(fast, solving, int(at), space)
    return fast


def compare(fast: Judge, solving: SolvingJudge, at: int, space: Space) -> None:
    """MachineryFailed if the two judges differ on results that are right, and on others."""
    size = min(space.piece, 4096)
    case, problem = solving.posed(at, size)
    right = kernel_truth(case, [problem], case.node.modes[0]).exact.astype(space.node.outputs[0].dtype)
    for output in (right, right[::-1].copy()):
        one, other = Look(), Look()
        fast.look(at, output, one)
        solving.look_at_piece(at, output, other)
        if not np.array_equal(one.counts, other.counts):
            raise MachineryFailed(f"{space.node.operator}: two ways to judge a sweep disagree; one of them is wrong")
