"""How far an element lies from the nearest decision boundary: the point where rounding goes the other way."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from tiebreak.golden.elements import FloatType, ulp
from tiebreak.golden.formulas.ngraph_quantize import quotient
from tiebreak.golden.rounding import is_nearest


@lru_cache(maxsize=1 << 16)
def distance_in_ulp(x: int, scale: int, real: FloatType, mode: str) -> float:
    """The exact quotient's distance from the nearest decision boundary in units in its last place, rounded up.

    Boundaries are the half-integers for the nearest modes and the integers for the others; 0 is on the boundary.
    Infinite where units in the last place exceed 1/2, so that "near" would say nothing; NaN without a quotient.
    """
    q = quotient(x, scale, real, working=False)
    if not isinstance(q, Fraction):
        return math.nan
    if ulp(q, real) > Fraction(1, 2):
        return math.inf
    shift = Fraction(1, 2) if is_nearest(mode) else Fraction(0)
    boundary = round(q - shift) + shift
    steps = math.ceil(abs(q - boundary) / ulp(q, real))
    return float(min(steps, 1 << 53))
