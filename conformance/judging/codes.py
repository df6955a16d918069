"""Codes of results as bits and as values, as arrays."""

from __future__ import annotations

import numpy as np

from tiebreak.golden.elements import FloatType, IntegerType, numpy_dtype
from tiebreak.golden.problem import Array


def values_of_codes(codes: Array, kind: FloatType | IntegerType) -> Array:
    """The values of codes as float64; both zeros give 0.0."""
    if isinstance(kind, IntegerType):
        return codes.astype(np.float64)
    words = bits_of_codes(codes, kind).astype(f"uint{max(8, kind.bits)}")
    with np.errstate(invalid="ignore"):  # signalling NaN
        values = words.view(numpy_dtype(kind.name)).astype(np.float64)
        return np.where(np.isnan(values), np.nan, values + 0.0)


def bits_of_codes(codes: Array, kind: FloatType | IntegerType) -> Array:
    """Codes as unsigned bits (uint64)."""
    return np.asarray(codes.astype(np.int64).view(np.uint64) & np.uint64((1 << kind.bits) - 1))
