"""The steps of a formula: in real arithmetic they are exact, in working precision each of them rounds.

A formula is written once, in its document's own order, with s(…) around each step:

    s(s(x - low) / s(high - low))

Exactly, s changes nothing. In working precision s rounds to the operator's own type (IEEE 754, ties to even). A step
that overflows gives an infinity, and later steps do with it what IEEE 754 does. Infinities and NaN are Python floats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tiebreak.golden.elements import FloatType, IntegerType, Real, decode, encode
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, ZERO
from tiebreak.golden.rounding import ROUND_MODES

Result = tuple[int, int]  # code and state, see golden/problem.py


class UndefinedResult(Exception):  # noqa: N818 - a result, not an error
    """The document defines no result for these operands: a zero divisor, for instance, or NaN for an integer."""


class Steps:
    """`kind` is the type that each step is rounded to, None for real arithmetic. `mode` is the mode of round()."""

    def __init__(self, kind: FloatType | None, mode: str) -> None:
        self.kind, self.mode = kind, mode

    def __call__(self, value: Real) -> Real:
        """The value after a step: unchanged in real arithmetic, else rounded to the operator's type."""
        return value if self.kind is None else self.in_type(value, self.kind)

    def in_type(self, value: Real, kind: FloatType) -> Real:
        """The value after a step that rounds to another type, `kind`; unchanged in real arithmetic."""
        if self.kind is None:
            return value
        if isinstance(value, float):  # an infinity or NaN stays; a finite float is 0, a number divided by an infinity
            return value if not math.isfinite(value) else Fraction(value)
        return decode(encode(Fraction(value), kind), kind)

    def round(self, value: Real) -> Real:
        """The value rounded to an integer by the node's mode; an infinity or NaN stays what it is."""
        return value if isinstance(value, float) else Fraction(ROUND_MODES[self.mode](Fraction(value)))


def finite(*values: Real) -> tuple[Fraction, ...]:
    """The values, if all are finite; UndefinedResult otherwise."""
    if any(isinstance(value, float) for value in values):
        raise UndefinedResult
    return tuple(Fraction(value) for value in values)


def stays_within(kind: IntegerType, terms: Sequence[Fraction]) -> bool:
    """Whether a sum never leaves a type's range, in whichever order the terms are added."""
    positive = sum(term for term in terms if term > 0)
    return positive <= kind.highest and sum(terms) - positive >= kind.lowest


def divide(numerator: Real, denominator: Real) -> Real:
    """The quotient; UndefinedResult for a zero divisor, even if a step rounded it to zero: its sign is lost."""
    if not denominator:
        raise UndefinedResult
    return numerator / denominator


def to_integer(value: Real, kind: IntegerType, *, lowest: int | None = None) -> Result:
    """An integer result; outside the type's range, or infinite, it saturates. UndefinedResult for NaN."""
    return to_ends(value, kind.lowest if lowest is None else lowest, kind.highest)


def to_ends(value: Real, least: int, greatest: int) -> Result:
    """An integer result between two ends; beyond them it is the nearer one. UndefinedResult for NaN."""
    clamped = clamp(value, Fraction(least), Fraction(greatest))
    return int(clamped), IN_RANGE if clamped == value else OUT_OF_RANGE


def clamp(value: Real, low: Real, high: Real) -> Real:
    """`value` limited to low … high; UndefinedResult for NaN, which no document orders among numbers."""
    if value != value:
        raise UndefinedResult
    return min(max(value, low), high)


def to_real(value: Real, kind: FloatType) -> Result:
    """A real result, rounded once to its type; beyond the largest value it is infinite (IEEE 754-2019, 4.3.1).

    Real numbers have one zero. So either zero is right, also where a number is so small that it rounds to zero.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return special(value, kind), IN_RANGE
    code = encode(Fraction(value), kind)
    return (code, IN_RANGE) if decode(code, kind) else (0, ZERO)


def special(value: float, kind: FloatType) -> int:
    """The bits of an infinity, or of NaN: always the same pattern, which stands for every NaN."""
    assert kind.nan_bits is not None
    if math.isnan(value):
        return kind.nan_bits
    return kind.infinity_bits | (1 << (kind.bits - 1) if value < 0 else 0)
