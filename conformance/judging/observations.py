"""What a backend returns where its spec is silent: reported, never a failure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tiebreak.conformance.judging.chunk import Chunk, part_of_truth
from tiebreak.conformance.judging.families import parts
from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.judging.truths import is_nan
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.elements import FloatType, numpy_dtype
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, Problem, Quantization
from tiebreak.golden.rounding import short_mode
from tiebreak.golden.verdicts import UNSPECIFIED

ORDINARY = "ordinary operands"
Observation = tuple[str, str, str]  # operator, situation, what the backend returns


def observations(chunk: Chunk, judgement: Judgement, ran: Array) -> Counter[Observation]:
    """Counts of (operator, situation, answer) over the unspecified elements of the cases that `ran` (bool)."""
    silent = (judgement.grades == UNSPECIFIED) & np.repeat(ran, chunk.sizes)
    found: Counter[Observation] = Counter()
    with np.errstate(all="ignore"):
        for _, places, problem in parts(chunk.families, silent):
            values = judgement.values[places]
            if isinstance(problem, Quantization):
                situations, answers = of_quantization(chunk, problem, places, values)
            else:
                tied = chunk.open_between_modes[places]
                situations = np.where(tied, "a tie", situation_of(chunk, problem))
                answers = np.where(tied, modes_that_agree(chunk, places, values, tied), answer_by_kind(problem, values))
            pairs = zip(situations.tolist(), answers.tolist(), strict=True)
            found.update((chunk.operator, situation, answer) for situation, answer in pairs)
    return found


def of_quantization(chunk: Chunk, problem: Quantization, places: Array, values: Array) -> tuple[Array, Array]:
    """Situation and answer of each element, by the rounding mode of its own case."""
    dtype = numpy_dtype(problem.real.name)
    x, scale, zero_point = problem.x.view(dtype), problem.scale.view(dtype), problem.zero_point
    modes = np.array([case.node.round_mode for case in chunk.cases])[chunk.case_of[places]]
    situations, answers = np.empty(places.shape, "U32"), np.empty(places.shape, "U32")
    for mode in np.unique(modes):
        own = modes == mode
        ends = problem.quantized.lowest, problem.quantized.highest
        operands = QuantizationOperands(x[own], scale[own], zero_point[own], *ends, str(mode))
        situations[own], answers[own] = quantize_situation(operands), quantize_answer(operands, values[own])
    return situations, answers


def operand_names(chunk: Chunk, problem: Problem) -> Sequence[str]:
    """The names of the problem's operands, as the operator's document has them first."""
    form = get_operator(chunk.operator).forms[0]
    return problem.names(form, form)


def situation_of(chunk: Chunk, problem: Problem) -> Array:
    """For each element, what its operands are, or the operator's own name for finite ones that its document omits."""
    found = situation_by_operands(problem, operand_names(chunk, problem))
    for name, where in get_operator(chunk.operator).open_where(problem).items():
        found = np.where(where & (found == ORDINARY), name, found)
    return found


def situation_by_operands(problem: Problem, names: Sequence[str]) -> Array:
    """For each element, which of its operands are NaN; which are infinite, if none is NaN; or that all are ordinary."""
    nan, infinite = (np.full(math.prod(problem.shape), "", "U96") for _ in range(2))
    for name, operand, kind in zip(names, problem.operands, problem.kinds, strict=False):  # the last may have none
        if isinstance(kind, FloatType):
            note(nan, is_nan(operand.astype(np.uint64).view(np.int64), kind), name)
        if isinstance(kind, FloatType) and kind.specials == "ieee":
            magnitude = operand & np.array((1 << (kind.bits - 1)) - 1, operand.dtype)
            note(infinite, magnitude == kind.infinity_bits, name)
    found = np.where(infinite == "", ORDINARY, np.char.add("infinite: ", infinite))
    return np.where(nan == "", found, np.char.add("NaN: ", nan))


def note(names: Array, where: Array, name: str) -> None:
    """Adds the name to the texts at these places."""
    names[where] = np.char.add(np.where(names == "", "", np.char.add(names, ", ")), name)[where]


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


def modes_that_agree(chunk: Chunk, places: Array, values: Array, tied: Array) -> Array:
    """For each tied element, the allowed rounding modes that give the backend's result."""
    text = np.full(values.shape, "", "U200")
    if not tied.any():
        return text
    for truths, own in chunk.by_allowed:
        for mode in truths.allowed:
            agrees = own[places] & part_of_truth(truths.by_mode[mode], places).agrees(values)
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
        (np.isnan(x), "input NaN"),
        (np.isnan(scale), "scale NaN"),
        (np.isnan(x) & np.isnan(scale), "input and scale NaN"),
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
