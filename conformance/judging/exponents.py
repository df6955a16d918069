"""Judged elements counted by the exponent of their first operand: the denominators of shares by exponent."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.truths import Truths
from tiebreak.golden.elements import FloatType, numpy_dtype
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.verdicts import UNSPECIFIED

NONE = 1 << 20  # stands for the exponent of zeros, infinities and NaN


def judged_by_exponent(truths: Truths, judgement: Judgement) -> Counter[int]:
    """The number of judged elements by exponent (4.0 to 7.9 have exponent 2); zeros and specials do not count."""
    every = np.concatenate([exponents(problem) for problem in truths.problems])
    found, counts = np.unique(every[(judgement.grades != UNSPECIFIED) & (every != NONE)], return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def exponents(problem: Problem) -> Array:
    """The exponent (int64, flat) of each element's first operand."""
    codes, kind = problem.operands[0], problem.kinds[0]
    values = codes.astype(np.float64)
    if isinstance(kind, FloatType):
        with np.errstate(invalid="ignore"):  # signalling NaNs
            words = np.asarray(codes).astype(np.uint64).astype(f"uint{8 * numpy_dtype(kind.name).itemsize}")
            values = words.view(numpy_dtype(kind.name)).astype(np.float64)
    found = np.frexp(np.where(np.isfinite(values), values, 0.0))[1].astype(np.int64) - 1
    return np.where(np.isfinite(values) & (values != 0), found, NONE)
