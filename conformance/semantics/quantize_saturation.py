"""The facet `saturation`: how a rounded quotient and a zero point become a code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array


@dataclass(frozen=True, eq=False)
class Saturation:
    """A way that _steps.pyx knows by the same id.

    `through`: the bits of the integer type that a rounded quotient passes through first; its lowest value stands for
    all that it can't hold. `of_sum`: the sum passes through it, not the quotient, and is made in float64. `wider`: the
    sum that follows has room. `wraps`: the low bits of the sum. `clamps_first`: the rounded quotient is clamped.
    `single`: the sum is a float32. `of_ranges`: it is also meant where x is clamped to a range, so that no result
    leaves it.
    """

    id: str
    sentence: str
    cause: str = ""
    through: int = 0
    of_sum: bool = False
    wider: bool = False
    wraps: bool = False
    clamps_first: bool = False
    single: bool = False
    of_ranges: bool = False

    def finish(self, quantized: IntegerType, whole: Array, zero_point: Array) -> tuple[Array, Array]:
        """The codes of rounded quotients, without a meaning where the quotient is NaN or infinite; and their stages.

        The stage of model.Arithmetic.staged is a sum of terms, each of which never falls as the rounded quotient grows.
        One term is the quotient, clipped to where the code changes. The others count the bounds that it has reached,
        among them both infinities, since infinite quotients have codes of their own (special_ends.py).
        """
        added = np.ascontiguousarray(zero_point, np.int64).reshape(-1)
        kind = _steps.SATURATIONS[self.id]
        return _steps.saturated(whole, added, quantized.lowest, quantized.highest, quantized.bits, kind)

    def sums(self, quantized: IntegerType, whole: Array, zero_point: Array) -> Array:
        """What is clamped in the end (float64), whether the clamp is this one or a mistake in its place."""
        added = np.ascontiguousarray(zero_point, np.int64).reshape(-1)
        return _steps.sums(whole, added, quantized.lowest, quantized.highest, _steps.SATURATIONS[self.id])


SATURATE = Saturation("saturate", "the sum is clamped to the type's range", of_ranges=True)
WRAP = Saturation("wrap", "the low bits of the sum", "wraps", wraps=True)
NARROW_RANGE = Saturation(
    "narrow-range", "clamped to the range without its lowest value", "narrow-range", of_ranges=True
)
CLAMP_FIRST = Saturation(
    "clamp-first", "the rounded quotient is clamped, then the sum is", "clamps-before-zero-point", clamps_first=True
)
CLAMP_FIRST_WRAP = Saturation(
    "clamp-first-then-wrap",
    "the rounded quotient is clamped; the low bits of the sum",
    "clamps-before-zero-point-and-wraps",
    clamps_first=True,
    wraps=True,
)
INT32 = Saturation(
    "int32",
    "the rounded quotient passes through int32, whose lowest value stands for all that it can't hold; "
    "then the sum is clamped",
    "casts-to-int32",
    through=32,
)
INT32_WRAP = Saturation(
    "int32-then-wrap", "as int32, but then the low bits of the sum", "casts-to-int32-and-wraps", through=32, wraps=True
)
INT32_WIDER = Saturation(
    "int32-then-wider-sum",
    "as int32, but the sum has room and is clamped",
    "casts-to-int32-then-wider-sum",
    through=32,
    wider=True,
)
INT64 = Saturation(
    "int64",
    "the rounded quotient and the sum pass through int64 in the same way; then the sum is clamped",
    "casts-to-int64",
    through=64,
)
INT64_WIDER = Saturation(
    "int64-then-wider-sum",
    "as int64, but the sum has room and is clamped",
    "casts-to-int64-then-wider-sum",
    through=64,
    wider=True,
)
SINGLE = Saturation("float32", "the sum is computed in float32, then clamped", "sum-in:float32", single=True)
CAST = Saturation(
    "float32-then-cast",
    "the sum is computed in float32 and clamped there, to 2^31 or 2^32 since float32 has no number just "
    "below; the cast to the type makes its lowest value of that",
    "sum-and-clamp-in-float32",
    single=True,
)
SUM_INT32_WRAP = Saturation(
    "sum-int32-then-wrap",
    "the sum is computed in float64 and passes through int32, whose lowest value stands for all that it can't hold; "
    "the low bits of that",
    "casts-sum-to-int32-and-wraps",
    through=32,
    of_sum=True,
    wraps=True,
)
SUM_INT64_WRAP = Saturation(
    "sum-int64-then-wrap",
    "the same with int64",
    "wraps:through int64",
    through=64,
    of_sum=True,
    wraps=True,
)
EVERY = (
    *(SATURATE, WRAP, NARROW_RANGE, CLAMP_FIRST, CLAMP_FIRST_WRAP),
    *(INT32, INT32_WRAP, INT32_WIDER, INT64, INT64_WIDER, SINGLE, CAST),
    *(SUM_INT32_WRAP, SUM_INT64_WRAP),
)
