"""The exponents of elements' first operands: judged elements are counted by them, as denominators of shares."""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.judging.codes import values_of_codes
from tiebreak.golden.problem import Array, Problem

NONE = 1 << 20  # stands for the exponent of zeros, infinities and NaN


def exponents(problem: Problem) -> Array:
    """The exponent (int64, flat) of each element's first operand."""
    values = values_of_codes(problem.operands[0], problem.kinds[0])
    found = np.frexp(np.where(np.isfinite(values), values, 0.0))[1].astype(np.int64) - 1
    return np.where(np.isfinite(values) & (values != 0), found, NONE)
