"""x / scale and what round(x / scale) + zero_point makes of it, by which plain quantizations' inputs are chosen."""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.arithmetic.real import in_type
from tiebreak.golden.arithmetic.results import Result, between_ends
from tiebreak.golden.elements import FloatType, IntegerType, Real, decode
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.rounding import ROUND_MODES


def quotient(x: int, scale: int, real: FloatType, *, working: bool) -> Real | None:
    """x / scale of two bit patterns, exact or rounded to their type; None if it is undefined."""
    numerator, denominator = decode(x, real), decode(scale, real)
    if not isinstance(numerator, Fraction) or not isinstance(denominator, Fraction) or denominator == 0:
        return None
    return in_type(numerator / denominator, real) if working else numerator / denominator


def quantize_quotient(q: Real | None, zero_point: int, mode: str, quantized: IntegerType) -> Result:
    """Code and state of round(q) + zero_point; an infinite q stays infinite."""
    if q is None:
        return 0, UNDEFINED
    rounded = q if isinstance(q, float) else Fraction(ROUND_MODES[mode](Fraction(q)))
    return between_ends(rounded + zero_point, (quantized.lowest, quantized.highest))
