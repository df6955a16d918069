"""Chooses a sweep's judge: the kernel's fast loops for a plain quantization, else the judge that solves any node.

Both judge as `run` does; a sweep starts by comparing them on a sample.
"""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.judging.truths import kernel_truth
from tiebreak.conformance.operators import onnx_quantize_linear
from tiebreak.conformance.sweep.fast import FastJudge
from tiebreak.conformance.sweep.look import Judge, PieceGrades
from tiebreak.conformance.sweep.solving import SolvingJudge
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.problem import Elementwise, Problem, Quantization
from tiebreak.golden.space import Space


def plain_quantization(problem: Problem) -> bool:
    """Whether the problem is round(x / scale) + zero_point with one scale, and one type for x, scale and division."""
    if isinstance(problem, Quantization):
        return problem.scale.size == 1 and problem.zero_point.size == 1 and problem.real.bits <= 32
    return (
        isinstance(problem, Elementwise)
        and problem.formula == onnx_quantize_linear.TESTED.id
        and isinstance(problem.result, IntegerType)
        and problem.constants["division"]
        and problem.kinds[0] == problem.kinds[1] == problem.working
        and problem.working.bits <= 32
        and problem.operands[1].min() == problem.operands[1].max()
        and problem.operands[2].min() == problem.operands[2].max()
    )


def judge_for(space: Space) -> Judge:
    """The fastest judge for the space; the fast one must agree with the slow one on a sample."""
    solving = SolvingJudge(space)
    _, problem = solving.case_and_problem(0, min(space.piece, 16))
    if not plain_quantization(problem):
        return solving
    fast = FastJudge(space)
    for at in np.linspace(0, space.inputs - space.piece, 5).astype(int) // space.piece * space.piece:
        check_agreement(fast, solving, int(at), space)
    return fast


def check_agreement(fast: Judge, solving: SolvingJudge, at: int, space: Space) -> None:
    """MachineryFailed if the two judges differ, on right results or on the same results reversed."""
    size = min(space.piece, 4096)
    case, problem = solving.case_and_problem(at, size)
    right = kernel_truth(case, [problem], case.node.modes[0]).exact.astype(space.node.outputs[0].dtype)
    for output in (right, right[::-1].copy()):
        one, other = PieceGrades(), PieceGrades()
        fast.look(at, output, one)
        solving.look_at_piece(at, output, other)
        if not np.array_equal(one.counts, other.counts):
            raise MachineryFailed(f"{space.node.operator}: two ways to judge a sweep disagree; one of them is wrong")
