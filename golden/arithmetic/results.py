"""How the numbers of real and working arithmetic become codes: the ends of terms.

A result is a code and a state; see golden/problem.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.arithmetic.term import FloatEnd
from tiebreak.golden.elements import FloatType, Real, decode, encode, encode_saturated, exponent_of, scaled
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, ZERO

Result = tuple[int, int]


class UndefinedResult(Exception):  # noqa: N818 - a result, not an error
    """The document defines no result for these operands: a zero divisor, for instance, or NaN for an integer."""


def is_number(value: Real) -> bool:
    """Whether a value is neither an infinity nor NaN."""
    return isinstance(value, Fraction) or math.isfinite(value)


def is_negative(value: Real) -> bool:
    """Whether a value has a minus sign, as the negative zero has."""
    return math.copysign(1, value) < 0 if isinstance(value, float) else value < 0


def clamped(value: Real, low: Real, high: Real) -> Real:
    if value != value:
        raise UndefinedResult
    return min(max(value, low), high)


def between_ends(value: Real, ends: tuple[int, int]) -> Result:
    found = clamped(value, Fraction(ends[0]), Fraction(ends[1]))
    return int(found), IN_RANGE if found == value else OUT_OF_RANGE


def float_code(value: Real, end: FloatEnd) -> Result:
    """A number's code. UndefinedResult for NaN in a type that has none."""
    kind, saturates = end.kind, end.beyond != "ieee"
    if not is_number(value):
        return special_code(value, kind, saturates), IN_RANGE
    if end.zero == "signed" and value == 0:
        return 1 << (kind.bits - 1) if is_negative(value) and kind.specials != "fnuz" else 0, IN_RANGE
    number = Fraction(value)
    code = (encode_saturated if saturates else encode)(number, kind)
    if end.beyond == "open" and number and abs(to_precision(number, kind)) > Fraction(decode(kind.largest_bits, kind)):
        return code, OUT_OF_RANGE
    either = decode(code, kind) == 0 if end.zero == "any" else end.zero == "exact" and not number
    return (0, ZERO) if either else (code, IN_RANGE)


def special_code(value: Real, kind: FloatType, saturates: bool) -> int:
    """The bits of an infinity or of NaN, which has the same pattern always: it stands for every NaN."""
    if kind.specials == "none" or (saturates and math.isinf(value)):
        if math.isnan(value):
            raise UndefinedResult
        return kind.largest_bits | sign_bit(value, kind)
    if kind.specials == "ieee" and math.isinf(value):
        return kind.infinity_bits | sign_bit(value, kind)
    assert kind.nan_bits is not None
    return kind.nan_bits


def sign_bit(value: Real, kind: FloatType) -> int:
    return 1 << (kind.bits - 1) if value < 0 else 0


def to_precision(value: Fraction, kind: FloatType) -> Fraction:
    """A number rounded to a type's precision, ties to even, whatever the type's range."""
    unit = scaled(1, exponent_of(abs(value)) - (kind.precision - 1))
    return round(value / unit) * unit
