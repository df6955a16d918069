"""How far an element lies from the nearest decision boundary: the point where rounding goes the other way."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tiebreak.golden.elements import FloatType, Real, ulp
from tiebreak.golden.formulas import FORMULAS
from tiebreak.golden.formulas.ngraph_quantize import quotient
from tiebreak.golden.formulas.steps import Steps, UndefinedResult
from tiebreak.golden.oracle import signed_value_of, value_of
from tiebreak.golden.problem import OUT_OF_RANGE, Elementwise, Quantization
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


class Listening(Steps):
    """Real arithmetic that remembers which numbers a formula rounds to integers, in their order."""

    def __init__(self, mode: str) -> None:
        super().__init__(None, mode)
        self.heard: list[Real] = []

    def round(self, value: Real) -> Real:
        self.heard.append(value)
        return super().round(value)


def heard_in_formula(problem: Elementwise, codes: tuple[int, ...], mode: str) -> tuple[list[Real], int]:
    """The numbers that a document's formula rounds to integers, for operands with these codes, and the result's state.

    The state is 0 where the formula has no result.
    """
    steps, read = Listening(mode), signed_value_of if problem.signed_zeros else value_of
    state = 0
    with suppress(UndefinedResult):
        _, state = FORMULAS[problem.formula](steps, problem, *map(read, codes, problem.kinds))
    return steps.heard, state


@lru_cache(maxsize=1 << 16)
def rounded_quotient(x: int, scale: int, real: FloatType, mode: str) -> tuple[RoundedNumber, int]:
    """The exact quotient of two bit patterns, as it is rounded, and the integer that it becomes; 0 if there is none."""
    q = quotient(x, scale, real, working=False)
    if not isinstance(q, Fraction):
        return NOT_ROUNDED, 0
    return RoundedNumber(distance_of(q, real, mode), side_of(q, mode)), ROUND_MODES[mode](q)


def rounded_of_quantization(problem: Quantization, codes: tuple[int, ...], mode: str) -> RoundedNumber:
    """What is known of operands with these codes: x, scale and zero point."""
    found, whole = rounded_quotient(*codes[:2], problem.real, mode)
    kind = problem.quantized
    if found is NOT_ROUNDED or kind.lowest <= whole + codes[2] <= kind.highest:
        return found
    return RoundedNumber(found.distance, SATURATES)


def rounded_in_formula(problem: Elementwise, codes: tuple[int, ...], mode: str) -> RoundedNumber:
    """What is known of the number that a document's formula rounds, for operands with these codes.

    NOT_ROUNDED if the formula rounds no number to an integer, or more than one.
    """
    heard, state = heard_in_formula(problem, codes, mode)
    if len(set(heard)) != 1:
        return NOT_ROUNDED
    q = heard[0]
    side = SATURATES if state == OUT_OF_RANGE else side_of(q, mode)
    return RoundedNumber(distance_of(q, problem.working, mode), side)


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
