"""How far an element lies from the nearest decision boundary: the point where rounding goes the other way."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache

from tiebreak.golden.elements import FloatType, Real, ulp
from tiebreak.golden.formulas import FORMULAS
from tiebreak.golden.formulas.ngraph_quantize import quotient
from tiebreak.golden.formulas.steps import Steps, UndefinedResult
from tiebreak.golden.oracle import signed_value_of, value_of
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import is_nearest


class Listening(Steps):
    """Real arithmetic that remembers which numbers a formula rounds to integers."""

    def __init__(self, mode: str) -> None:
        super().__init__(None, mode)
        self.heard: set[Real] = set()

    def round(self, value: Real) -> Real:
        self.heard.add(value)
        return super().round(value)


@lru_cache(maxsize=1 << 16)
def distance_in_ulp(x: int, scale: int, real: FloatType, mode: str) -> float:
    """The distance of the exact quotient of two bit patterns; see `distance_of`."""
    return distance_of(quotient(x, scale, real, working=False), real, mode)


def distance_in_formula(problem: Elementwise, codes: tuple[int, ...], mode: str) -> float:
    """The distance of the number that a document's formula rounds, for operands with these codes; see `distance_of`.

    NaN if the formula rounds no number to an integer, or more than one.
    """
    steps, read = Listening(mode), signed_value_of if problem.signed_zeros else value_of
    with suppress(UndefinedResult):
        FORMULAS[problem.formula](steps, problem, *map(read, codes, problem.kinds))
    return distance_of(steps.heard.pop(), problem.working, mode) if len(steps.heard) == 1 else math.nan


def distance_of(q: Real | None, real: FloatType, mode: str) -> float:
    """The distance of q from the nearest decision boundary in units in its last place of a type, rounded up.

    Boundaries are the half-integers for the nearest modes and the integers for the others; 0 is on the boundary.
    Infinite where units in the last place exceed 1/2, so that "near" would say nothing; NaN without a quotient.
    """
    if not isinstance(q, Fraction):
        return math.nan
    if ulp(q, real) > Fraction(1, 2):
        return math.inf
    shift = Fraction(1, 2) if is_nearest(mode) else Fraction(0)
    boundary = round(q - shift) + shift
    steps = math.ceil(abs(q - boundary) / ulp(q, real))
    return float(min(steps, 1 << 53))
