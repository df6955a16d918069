"""The exponents of elements' first operands: judged elements are counted by them, as denominators of shares."""

from __future__ import annotations

import numpy as np

from tiebreak.golden.elements import FloatType, numpy_dtype
from tiebreak.golden.problem import Array, Problem

NONE = 1 << 20  # stands for the exponent of zeros, infinities and NaN


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
