"""Chooses a sweep's judge: the kernel's fast loops for a plain quantization, else one by what the right answers do.

All judge as `run` does; a sweep starts by comparing its judge on a sample with the one that solves any node.
"""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.operators import TESTED, onnx_quantize_linear
from tiebreak.conformance.sweep.fast import FastJudge
from tiebreak.conformance.sweep.look import Judge, PieceGrades
from tiebreak.conformance.sweep.repeating import RepeatingJudge
from tiebreak.conformance.sweep.solving import SolvingJudge
from tiebreak.conformance.sweep.steps import StepJudge
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.problem import Elementwise, Problem, Quantization, array_of
from tiebreak.golden.space import Space

FEW_BITS = 16  # of a first input whose values are solved one by one in a moment


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


def in_steps(problem: Problem, space: Space) -> bool:
    """Whether there are so many inputs that their right answers are best found by halving, and are monotone."""
    tested = TESTED[space.node.operator]
    return space.first.bits > FEW_BITS and isinstance(problem, Elementwise) and tested.monotone(problem)


def repeating(problem: Problem, space: Space) -> bool:
    """Whether there are many inputs, and every piece of them has the same right answers."""
    tested = TESTED[space.node.operator]
    period = tested.period(problem) if isinstance(problem, Elementwise) else 0
    return space.first.bits > FEW_BITS and period > 0 and space.piece % period == 0


def fast_judge(space: Space, solving: SolvingJudge) -> Judge | None:
    _, problem = solving.case_and_problem(np.arange(min(space.piece, 16)))
    if plain_quantization(problem):
        return FastJudge(space)
    if in_steps(problem, space):
        return StepJudge(space, solving)
    return RepeatingJudge(space, solving) if repeating(problem, space) else None


def judge_for(space: Space) -> Judge:
    """The fastest judge for the space; it must agree with the one that solves any node on a sample."""
    solving = SolvingJudge(space)
    found = fast_judge(space, solving)
    if found is None:
        return solving
    for at in np.linspace(0, space.inputs - space.piece, 5).astype(int) // space.piece * space.piece:
        check_agreement(found, solving, int(at))
    return found


def check_agreement(found: Judge, solving: SolvingJudge, at: int) -> None:
    """MachineryFailed if the two judges differ, on right results or on the same results reversed."""
    space = solving.space
    numbers = np.arange(at, at + min(space.piece, 4096))
    codes = solving.truths(numbers, solving.modes[:1]).judged_by.exact
    right = array_of(space.node.output_type, codes.shape, codes)
    for output in (right, right[::-1].copy()):
        one, other = PieceGrades(), PieceGrades()
        found.look(at, output, one)
        solving.look_at_piece(at, output, other)
        if not np.array_equal(one.counts, other.counts):
            raise MachineryFailed(f"{space.node.operator}: two ways to judge a sweep disagree; one of them is wrong")
