"""What a backend returns where its spec is silent: reported, never a failure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.operands import QuantizationOperands, operands_along, round_array
from tiebreak.conformance.judging.truths import Truths, is_nan
from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Problem, Quantization
from tiebreak.golden.rounding import short_mode
from tiebreak.golden.verdicts import UNSPECIFIED

Observation = tuple[str, str, str]  # operator, situation, what the backend returns


def observations(case: Case, judgement: Judgement, truths: Truths) -> Counter[Observation]:
    """Counts of (operator, situation, answer) over the case's unspecified elements."""
    silent = judgement.grades == UNSPECIFIED
    with np.errstate(all="ignore"):
        if isinstance(truths.problems[0], Quantization):
            own = operands_along(case, truths.problems[0], truths.problems[0].axes)
            situations, answers = quantize_situation(own), quantize_answer(own, judgement.values)
        else:
            tied = truths.open_between_modes
            situations, answers = situations_and_answers(truths.problems, judgement.values, tied)
            answers = np.where(tied, modes_that_agree(truths, judgement.values), answers)
    pairs = zip(situations[silent].tolist(), answers[silent].tolist(), strict=True)
    return Counter((case.node.operator, situation, answer) for situation, answer in pairs)


def situations_and_answers(problems: Sequence[Problem], values: Array, tied: Array) -> tuple[Array, Array]:
    """Situations and answers of the elements of every output, by the kind of their operands and of their result."""
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
    """For each element, the allowed rounding modes that give the backend's result."""
    text = np.full(values.shape, "", "U200")
    for mode in truths.allowed:
        agrees = truths.by_mode[mode].agrees(values)
        joined = np.char.add(np.where(text == "", "", np.char.add(text, ", ")), short_mode(mode))
        text = np.where(agrees, joined, text)
    return np.where(text == "", "none of the nearest modes", text)


def quantize_situation(o: QuantizationOperands) -> Array:
    """For each element, the situation that the spec leaves open; later entries of the list override earlier ones."""
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


def quantize_answer(o: QuantizationOperands, values: Array) -> Array:
    """For each element, a name of the backend's result; later entries of the list override earlier ones."""
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
