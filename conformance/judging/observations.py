"""What a backend gives where its spec is silent: observed and reported, never a failure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.operands import Operands, operands, round_array
from tiebreak.conformance.judging.truths import Truths, is_nan
from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Problem, Quantization
from tiebreak.golden.rounding import short_mode
from tiebreak.golden.verdicts import UNSPECIFIED

Observation = tuple[str, str, str]  # operator, situation, what the backend gives


def observations(case: Case, judgement: Judgement, truths: Truths) -> Counter[Observation]:
    """Counts of (operator, situation, answer) over the case's unspecified elements."""
    silent = judgement.grades == UNSPECIFIED
    with np.errstate(all="ignore"):
        if isinstance(truths.problems[0], Quantization):
            own = operands(case, truths.problems[0], truths.problems[0].axes)
            situations, answers = situation_of(own), answer_of(own, judgement.values)
        else:
            tied = truths.open_between_modes
            situations, answers = elementwise(truths.problems, judgement.values, tied)
            answers = np.where(tied, modes_that_agree(truths, judgement.values), answers)
    pairs = zip(situations[silent].tolist(), answers[silent].tolist(), strict=True)
    return Counter((case.node.operator, situation, answer) for situation, answer in pairs)


def elementwise(problems: Sequence[Problem], values: Array, tied: Array) -> tuple[Array, Array]:
    """Situations and answers of every output's elements, by the kind of their operands and of what came."""
    situations = np.concatenate([situation_by_operands(problem) for problem in problems])
    situations = np.where(tied, "a tie", situations)
    ends = np.cumsum([math.prod(problem.shape) for problem in problems])[:-1]
    parts = zip(problems, np.split(values, ends), strict=True)
    return situations, np.concatenate([answer_by_kind(problem, codes) for problem, codes in parts])


def situation_by_operands(problem: Problem) -> Array:
    situation = np.full(math.prod(problem.shape), "another", "U48")
    for operand, kind in zip(problem.operands, problem.kinds, strict=True):
        if isinstance(kind, FloatType):
            codes = operand.astype(np.uint64).view(np.int64)
            situation[is_nan(codes, kind)] = "an operand is NaN"
            if kind.specials == "ieee":
                infinite = (operand & np.array((1 << (kind.bits - 1)) - 1, operand.dtype)) == kind.infinity_bits
                situation[infinite & (situation == "another")] = "an operand is infinite"
    situation[situation == "another"] = "ordinary operands"
    return situation


def answer_by_kind(problem: Problem, codes: Array) -> Array:
    kind = problem.result
    answer = np.full(codes.shape, "a number", "U48")
    if isinstance(kind, FloatType):
        answer[is_nan(codes, kind)] = "NaN"
        if kind.specials == "ieee":
            magnitude = codes & np.int64((1 << (kind.bits - 1)) - 1)
            answer[magnitude == kind.infinity_bits] = "infinity"
            answer[magnitude == 0] = "zero"
        return answer
    for value, text in ((0, "0"), (kind.lowest, "the lowest value"), (kind.highest, "the highest value")):
        answer[codes == value] = text
    return answer


def modes_that_agree(truths: Truths, values: Array) -> Array:
    """For each element, the allowed rounding modes that give what came."""
    text = np.full(values.shape, "", "U200")
    for mode in truths.allowed:
        agrees = truths.by_mode[mode].agrees(values)
        joined = np.char.add(np.where(text == "", "", np.char.add(text, ", ")), short_mode(mode))
        text = np.where(agrees, joined, text)
    return np.where(text == "", "none of the nearest modes", text)


def situation_of(o: Operands) -> Array:
    """For each element, what the spec does not speak of; later entries of the list win over earlier ones."""
    x, scale = o.x.astype(np.float64), o.scale.astype(np.float64)
    situation = np.where(x / scale > 0, "result above the range", "result below the range").astype("U32")
    for where, text in (
        (np.isposinf(x), "input +infinity"),
        (np.isneginf(x), "input -infinity"),
        (np.isinf(scale), "scale infinite"),
        (scale == 0, "scale zero"),
        (np.isnan(x) | np.isnan(scale), "input or scale NaN"),
    ):
        situation[where] = text
    return situation


def answer_of(o: Operands, values: Array) -> Array:
    """For each element, the name of the value that came; the first that fits."""
    wrapped = o.wrap(round_array(o.quotient(), o.mode) + o.zero_point)
    answer = np.full(values.shape, "something else", "U32")
    for where, text in (
        (values == wrapped, "wrapped around"),
        (values == o.zero_point, "the zero point"),
        (values == 0, "0"),
        (values == o.highest, "the highest value"),
        (values == o.lowest, "the lowest value"),
    ):
        answer[where] = text
    return answer
