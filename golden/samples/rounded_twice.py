"""Results beside a midpoint of their type, so near that float32, or float64, rounds them onto it.

Code that computes in a wider type and converts twice then rounds the wrong way. The numbers are found, not drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice

from tiebreak.golden.elements import FLOAT_TYPES, FloatType, Real, decode, encode

SINGLE, DOUBLE = FLOAT_TYPES["float32"], FLOAT_TYPES["float64"]


def is_rounded_twice(value: Fraction, kind: FloatType) -> bool:
    """Whether float64, float32 and then the type give another result than the type alone."""
    return encode(Fraction(through(through(value, DOUBLE), SINGLE)), kind) != encode(value, kind)


def through(value: Real, kind: FloatType) -> Real:
    return decode(encode(Fraction(value), kind), kind)


def products(kind: FloatType, bits: int, most: int) -> list[tuple[int, int]]:
    """Differences of `bits` bits, each with an odd significand of a scale, whose product is rounded twice.

    In working precision the difference is rounded to the type first; that gives another result, too.
    """
    odd = range((1 << (kind.precision - 1)) + 1, 1 << kind.precision, 2)
    step = len(odd) // 4096 + 1  # odd, lest all significands end in the same bits
    found = (pair for significand in odd[::step] for pair in products_of(kind, bits, significand))
    return list(islice(found, most))


def products_of(kind: FloatType, bits: int, significand: int) -> Iterator[tuple[int, int]]:
    """The differences that serve one significand, by a scale of `unit` times it."""
    unit, largest = scale_unit(kind, bits), Fraction(decode(kind.largest_bits, kind))
    for low, error in itertools.product((bits, bits - 1), (-3, -2, -1, 1, 2, 3)):  # the lowest bits of the product
        difference = ((1 << (low - 1)) + error) * pow(significand, -1, 1 << low) % (1 << low)
        value = difference * significand * unit
        if difference and value < largest and is_wrong(value, in_steps(difference, significand * unit, kind), kind):
            yield difference, significand


def is_wrong(value: Fraction, stepwise: Real, kind: FloatType) -> bool:
    """Whether rounding twice gives neither the result of rounding once nor that in working precision."""
    twice = encode(Fraction(through(through(value, DOUBLE), SINGLE)), kind)
    return twice != encode(value, kind) and (isinstance(stepwise, float) or twice != encode(Fraction(stepwise), kind))


def scale_unit(kind: FloatType, bits: int) -> Fraction:
    """The power of two that makes all these products less than 1, if the type holds the scale then."""
    return Fraction(1, 1 << min(bits + kind.precision, kind.precision - 1 - kind.emin))


def in_steps(difference: int, scale: Fraction, kind: FloatType) -> Real:
    held = through(Fraction(difference), kind)
    return held if isinstance(held, float) else held * scale


def range_ends(
    kind: FloatType, counts: Iterable[int], most: int, *, same: bool
) -> Iterator[tuple[int, Fraction, list[int]]]:
    """Intervals and ends of output ranges from 0, each with inputs (bits) whose levels are rounded twice.

    Level k of n intervals gives k * end / n. Inputs are between 1/64 and 1. Their own range ends at 1, or, if it is the
    `same` as the output's, at `end`, between 1/2 and 1.
    """
    bits, first, last = kind.precision + 5, encode(Fraction(1, 64), kind), encode(Fraction(1), kind)
    inputs = {code: int(Fraction(decode(code, kind)) * 2**bits) for code in range(first, last)}
    odd = range((1 << kind.precision) - 1, 1 << (kind.precision - 1), -2)
    for intervals, significand in itertools.product(counts, odd):
        end = significand << (bits - kind.precision) if same else 1 << bits
        codes = [code for code, x in inputs.items() if x < end and serves(x, end, intervals, significand, kind)]
        if codes:
            yield intervals, Fraction(significand, 1 << kind.precision), codes[:most]


def serves(x: int, end: int, intervals: int, significand: int, kind: FloatType) -> bool:
    level = (2 * x * intervals + end) // (2 * end)
    near = level and is_near_midpoint(level * significand, intervals, kind)
    return bool(near) and is_rounded_twice(Fraction(level * significand, intervals << kind.precision), kind)


def is_near_midpoint(numerator: int, denominator: int, kind: FloatType) -> bool:
    """Whether the quotient lies within half a unit of float32 of a midpoint, but not on it."""
    shift = kind.precision + 1 - (numerator // denominator).bit_length()
    divisor = denominator << max(-shift, 0)
    halves, rest = divmod(numerator << max(shift, 0), divisor)
    rest = rest if halves % 2 else divisor - rest
    return 0 < rest << (SINGLE.precision - kind.precision) <= divisor
