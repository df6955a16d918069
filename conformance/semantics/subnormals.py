"""The facet `subnormals` of round(x / scale) + zero_point: which operands and results count as 0 where subnormal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.semantics.places import flush_subnormals
from tiebreak.golden.problem import Array


@dataclass(frozen=True, eq=False)
class Subnormals:
    """What is flushed to zero; the exponents are those of the smallest normal number."""

    id: str
    sentence: str
    cause: str = ""
    of_x: bool = False
    of_scale: bool = False
    of_quotient: bool = False
    keeps_factors: bool = False

    def operands(self, x: Array, scale: Array, emin: int) -> tuple[Array, Array]:
        flushed_x = flush_subnormals(x, emin) if self.of_x else x
        if not self.of_scale:
            return flushed_x, scale
        flushed = flush_subnormals(scale, emin)
        return flushed_x, with_factors(scale, flushed, emin) if self.keeps_factors else flushed

    def quotient(self, quotient: Array, emin: int) -> Array:
        return flush_subnormals(quotient, emin) if self.of_quotient else quotient


def with_factors(scale: Array, flushed: Array, emin: int) -> Array:
    """The flushed scales, but the subnormal ones whose reciprocal is a normal number and exact: half the least normal.

    A compiler that knows the scale multiplies by that reciprocal, which is no subnormal number.
    """
    is_factor = np.abs(scale.astype(np.float64)) == 2.0 ** (emin - 1)
    return np.asarray(np.where(is_factor, scale, flushed)).astype(scale.dtype)


KEPT = Subnormals("kept", "subnormal numbers are numbers")
INPUTS = Subnormals("inputs-flushed", "a subnormal x counts as 0", "flushes-inputs", of_x=True)
SCALES = Subnormals("scales-flushed", "a subnormal scale counts as 0", "flushes-scales", of_scale=True)
OPERANDS = Subnormals(
    "inputs-and-scales-flushed",
    "a subnormal x or scale counts as 0",
    "flushes-inputs-and-scales",
    of_x=True,
    of_scale=True,
)
FACTORS = Subnormals(
    "operands-but-factors-flushed",
    "a subnormal x or scale counts as 0, but where 1 / scale is exact x is multiplied by that",
    "flushes-inputs-and-scales-but-factors",
    of_x=True,
    of_scale=True,
    keeps_factors=True,
)
QUOTIENTS = Subnormals("quotients-flushed", "a subnormal quotient becomes 0", "flushes-quotients", of_quotient=True)
ALL = Subnormals(
    "all-flushed",
    "subnormal operands and quotients count as 0",
    "flushes-all",
    of_x=True,
    of_scale=True,
    of_quotient=True,
)
EVERY = (KEPT, INPUTS, SCALES, OPERANDS, FACTORS, QUOTIENTS, ALL)
