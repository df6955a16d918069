"""How far an element lies from the nearest decision boundary: the point where rounding goes the other way."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from tiebreak.golden.elements import FloatType, Real, ulp
from tiebreak.golden.oracle import results_of
from tiebreak.golden.problem import OUT_OF_RANGE, Problem
from tiebreak.golden.rounding import ROUND_MODES, is_nearest

UNKNOWN, SATURATES = 3, 2  # in place of a neighbour's side: nothing is known to be rounded; the result is an end


@dataclass(frozen=True)
class RoundedNumber:
    """How an element's exact result is made of the number that is rounded to an integer.

    `distance`: see `distance_of`. `side`: where the number lies, seen from the integer to which it is rounded: above
    (1), below (-1) or on it (0). It is SATURATES where the result is an end of the range, UNKNOWN where it is not made
    so.
    """

    distance: float
    side: int


NOT_ROUNDED = RoundedNumber(math.nan, UNKNOWN)


def heard_in_formula(problem: Problem, mode: str) -> Callable[[tuple[int, ...]], tuple[list[Real], int]]:
    """What gives the numbers that a formula rounds to integers, and the result's state, for operands by their codes."""
    heard: list[Real] = []
    result = results_of(replace(problem, mode=mode), working=False, hear=heard.append)

    def of(codes: tuple[int, ...]) -> tuple[list[Real], int]:
        heard.clear()
        _, state = result(codes)
        return list(heard), state

    return of


def rounded_in_formula(problem: Problem, mode: str) -> Callable[[tuple[int, ...]], RoundedNumber]:
    """What is known of the number that a document's formula rounds, for operands with these codes.

    NOT_ROUNDED if the formula rounds no number to an integer, or more than one.
    """
    hear = heard_in_formula(problem, mode)

    @lru_cache(maxsize=1 << 14)
    def of(codes: tuple[int, ...]) -> RoundedNumber:
        heard, state = hear(codes)
        if len(set(heard)) != 1:
            return NOT_ROUNDED
        side = SATURATES if state == OUT_OF_RANGE else side_of(heard[0], mode)
        return RoundedNumber(distance_of(heard[0], problem.working, mode), side)

    return of


def side_of(q: Real, mode: str) -> int:
    """Whether q lies above (1) or below (-1) the integer to which the mode rounds it; UNKNOWN for no number."""
    if not isinstance(q, Fraction):
        return UNKNOWN
    whole = ROUND_MODES[mode](q)
    return (q > whole) - (q < whole)


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
