"""Numbers whose products and means lie so near a midpoint of a type that a wider type rounds them onto it.

They solve a congruence, so that few steps find them, and are checked in fractions. `rounded_twice.py` beside this file
searches products of a difference and a scale of the output's own type.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import islice

from tiebreak.golden.elements import FloatType, encode, exponent_of, scaled
from tiebreak.golden.samples.rounded_twice import DOUBLE, through

RESTS = (-1, 1, -2, 2, -3, 3)


def odd_significands(kind: FloatType) -> range:
    """From the largest downward."""
    return range((1 << kind.precision) - 1, 1 << (kind.precision - 1), -2)


def changes(value: Fraction, kind: FloatType, wide: FloatType) -> bool:
    """Whether rounding to `wide` and then to the type is not rounding once, if no exponent is too large or small."""
    value = value * scaled(1, -exponent_of(value))
    return encode(Fraction(through(value, wide)), kind) != encode(value, kind)


def factors(
    known: Iterable[int], kind: FloatType, wide: FloatType, *, bits: int, divisor: int = 1
) -> Iterator[tuple[int, int]]:
    """Odd numbers of `known`, each with one of at most `bits` bits; their product over `divisor` changes by `wide`."""
    for first in known:
        most = first.bit_length() + bits - divisor.bit_length() - kind.precision
        for shift in (most - 1, most - 2):
            if shift >= 0 and math.gcd(divisor, first) == 1:
                found = beside(divisor << shift, first, 1 << kind.precision)
                yield from (
                    (first, number // first)
                    for number in found
                    if not number // first >> bits and changes(Fraction(number, divisor), kind, wide)
                )


def one_each(
    known: Iterable[int], kind: FloatType, wide: FloatType, *, bits: int, divisor: int = 1
) -> Iterator[tuple[int, int]]:
    """The first of `factors` for each number of `known` that has one."""
    for first in known:
        yield from islice(factors((first,), kind, wide, bits=bits, divisor=divisor), 1)


def beside(unit: int, factor: int, least: int) -> Iterator[int]:
    """Multiples of the odd `factor` next to odd multiples, from `least` to twice that, of `unit`."""
    inverse = pow(unit, -1, factor)
    for rest in RESTS:
        first = first_odd(-rest * inverse % factor, factor, least)
        yield from (unit * middle + rest for middle in range(first, 2 * least, 2 * factor))


def first_odd(start: int, step: int, least: int) -> int:
    """The first odd number from `least` on of start, start + step, …; the step is odd."""
    found = start + max(0, -(-(least - start) // step)) * step
    return found if found % 2 else found + step


def means(intervals: int, levels: Iterable[int], kind: FloatType) -> Iterator[tuple[int, Fraction, Fraction]]:
    """Levels k of n, each with two numbers of the type whose mean ((n - k) * low + k * high) / n changes by float64."""
    for level in levels:
        if (intervals - level) % 2 and math.gcd(intervals, level) == 1:
            yield from islice(((level, low, high) for low, high in ends(intervals, level, kind)), 1)


def ends(intervals: int, level: int, kind: FloatType) -> Iterator[tuple[Fraction, Fraction]]:
    """With m odd and of a bit more than the type: n * m = k * high + t, (n - k) * low = t + rest / 2^shift."""
    others, unit = intervals - level, 1 << (kind.precision + 1)
    least = max(1, DOUBLE.precision - kind.precision - intervals.bit_length())
    for shift, rest in itertools.product(range(least, kind.precision), RESTS):
        term = first_odd(-rest * pow(1 << shift, -1, others) % others, others, 1)
        low, high = Fraction((term << shift) + rest, others << shift), high_end(intervals, level, term, unit // 2)
        value = (others * low + level * high) / intervals
        if all(through(end, kind) == end for end in (low, high)) and changes(value, kind, DOUBLE):
            yield low / unit, high / unit


def high_end(intervals: int, level: int, term: int, least: int) -> Fraction:
    """(intervals * m - term) / level, an even number, for the first m from `least` on."""
    step = 2 * level
    middle = term * pow(intervals, -1, step) % step
    middle += max(0, -(-(least - middle) // step)) * step
    return Fraction(intervals * middle - term, level)
