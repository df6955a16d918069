"""What a backend gives where its spec is silent: observed and reported, never a failure."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tiebreak.conformance.causes import Operands, operands, round_array
from tiebreak.conformance.judge import UNSPECIFIED, Judgement
from tiebreak.golden.nodes import Array, Case
from tiebreak.golden.quantization import quantization_of

Observation = tuple[str, str, str]  # operator, situation, what the backend gives


def observations(case: Case, judgement: Judgement) -> Counter[Observation]:
    """Counts of (operator, situation, answer) over the case's unspecified elements."""
    problem = quantization_of(case)
    own = operands(case, problem, problem.axes)
    silent = judgement.grades == UNSPECIFIED
    with np.errstate(all="ignore"):
        situations, answers = situation_of(own), answer_of(own, judgement.values)
    pairs = zip(situations[silent].tolist(), answers[silent].tolist(), strict=True)
    return Counter((case.node.operator, situation, answer) for situation, answer in pairs)


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
