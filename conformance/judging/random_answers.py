"""Answers at random: no arithmetic is at work where a library leaves its output's memory as it was."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

from tiebreak.conformance.judging.deviating import DeviatingElements
from tiebreak.golden.problem import Array

MOST = 2  # answers to the same operands in a case: those of a vector loop and its tail


def at_random(deviating: DeviatingElements, places: Array) -> list[bool]:
    """Whether the operands of some elements (places) have more answers in their case than a loop and its tail give."""
    columns = deviating.case, deviating.output, deviating.operands
    operands = list(zip(*(column[places].tolist() for column in columns), strict=True))
    answers: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for one, bits in zip(operands, deviating.got_bits[places].tolist(), strict=True):
        answers[one].add(bits)
    return [len(answers[one]) > MOST for one in operands]


def cases_at_random(deviating: DeviatingElements) -> list[int]:
    """The numbers of the cases with such elements, in order.

    The first operand alone is looked at first: of all operands there is a text, which takes far longer.
    """
    columns = {"case": deviating.case, "input": deviating.input_bits, "got": deviating.got_bits}
    answers = pd.DataFrame(columns).groupby(["case", "input"], sort=False)["got"].transform("nunique")
    places = np.flatnonzero(answers.to_numpy() > MOST)
    numbers: list[int] = np.unique(deviating.case[places[np.asarray(at_random(deviating, places), bool)]]).tolist()
    return numbers
