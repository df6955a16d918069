"""Arithmetic for the formulas: in real numbers, or in working precision with every step rounded.

A formula is written once, in its document's own order, with s(…) around each step:

    s(s(x - low) / s(high - low))

Exactly, s changes nothing. In working precision it rounds to the operator's own type (IEEE 754, ties to even); a step
that overflows gives an infinity there, and what comes of it is carried on as IEEE 754 has it, as a float inf or NaN.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import FloatType, IntegerType, Real, decode, encode
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, ZERO
from tiebreak.golden.rounding import ROUND_MODES

Result = tuple[int, int]  # code and state


class UndefinedResult(Exception):  # noqa: N818 - a result, not an error
    """The document says nothing of these operands, or of what they lead to: a zero divisor, NaN for an integer."""


class Steps:
    """`kind` is the type that each step is rounded to; None for real arithmetic. `mode` is what round() does."""

    def __init__(self, kind: FloatType | None, mode: str) -> None:
        self.kind, self.mode = kind, mode

    def __call__(self, value: Real) -> Real:
        return value if self.kind is None else self.in_type(value, self.kind)

    def in_type(self, value: Real, kind: FloatType) -> Real:
        """A step that is rounded to a type of its own; still not in real arithmetic."""
        if self.kind is None:
            return value
        if isinstance(value, float):  # of an infinity or NaN: the same, or 0 for a quotient by an infinity
            return value if not math.isfinite(value) else Fraction(value)
        return decode(encode(value, kind), kind)

    def round(self, value: Real) -> Real:
        """To an integer, by the node's mode; an infinity or NaN stays what it is."""
        return value if isinstance(value, float) else Fraction(ROUND_MODES[self.mode](value))


def finite(*values: Real) -> tuple[Fraction, ...]:
    """The values, if all are finite; UndefinedResult otherwise."""
    if any(isinstance(value, float) for value in values):
        raise UndefinedResult
    return tuple(Fraction(value) for value in values)


def divide(numerator: Real, denominator: Real) -> Real:
    """The quotient; UndefinedResult for a zero divisor, even one that a step rounded to zero: it has lost its sign."""
    if not denominator:
        raise UndefinedResult
    return numerator / denominator


def to_integer(value: Real, kind: IntegerType, *, lowest: int | None = None) -> Result:
    """An integer result; the nearer end of the range if it is outside, and so for an infinity; not of NaN."""
    low = kind.lowest if lowest is None else lowest
    clamped = clamp(value, Fraction(low), Fraction(kind.highest))
    return int(clamped), IN_RANGE if clamped == value else OUT_OF_RANGE


def clamp(value: Real, low: Real, high: Real) -> Real:
    """`value` limited to low … high; UndefinedResult for NaN, whose place among numbers no document tells."""
    if value != value:
        raise UndefinedResult
    return min(max(value, low), high)


def to_real(value: Real, kind: FloatType) -> Result:
    """A real result, rounded once to its type; beyond the largest value it is infinite (IEEE 754-2019, 4.3.1)."""
    if isinstance(value, float) and not math.isfinite(value):
        return special(value, kind), IN_RANGE
    value = Fraction(value)
    return (encode(value, kind), IN_RANGE) if value else (0, ZERO)


def special(value: float, kind: FloatType) -> int:
    """The bits of a NaN (the one that stands for all) or of an infinity."""
    assert kind.nan_bits is not None
    if math.isnan(value):
        return kind.nan_bits
    return kind.infinity_bits | (1 << (kind.bits - 1) if value < 0 else 0)
