"""Wrong ranges of TensorFlow's operators, and parameters from wrong places, as changes of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tiebreak.conformance.operators.wrong_terms import Wrong, often
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import Change, operands_of
from tiebreak.conformance.variants.mutant import Mutant, written
from tiebreak.conformance.variants.places import ENDS, FREQUENT_PLACES, PLACES, Place, misplaced
from tiebreak.golden.arithmetic.term import Numeric, Term, greatest, least, lifted, magnitude
from tiebreak.golden.problem import Elementwise

RANGE_NAMES = {"one-for-all:first range": "one-for-all:range"}
End = Callable[[Term, Term], Numeric]  # from min_range and max_range


def given_range(p: Elementwise) -> tuple[Term, Term]:
    """The last two operands: its ends."""
    low, high = list(operands_of(p).values())[-2:]
    return low, high


def of_range(low: End, high: End) -> Mutant:
    def change(p: Elementwise) -> Change:
        ends = given_range(p)
        return dict(zip(ends, (lifted(end(*ends)) for end in (low, high)), strict=True)).get

    return written(change)


def converted_range(conversion: to.Conversion) -> Mutant:
    return of_range(lambda low, high: conversion(low), lambda low, high: conversion(high))


def larger(low: Term, high: Term) -> Term:
    return greatest(magnitude(low), magnitude(high))


def with_zero() -> Mutant:
    return of_range(lambda low, high: least(low, 0), lambda low, high: greatest(high, 0))


def wrong_ranges(types: str, ends: str) -> Iterator[Wrong]:
    """`types` and `ends` are the roles of the range's type and of its ends."""
    yield often("range-in-bfloat16", types, converted_range(to.BFLOAT16))
    yield often("range-in:float16", types, converted_range(to.FLOAT16))
    yield Wrong("range-made-symmetric", ends, of_range(lambda low, high: -1 * larger(low, high), larger))
    yield Wrong("range-extended-to-zero", ends, with_zero())


def taken_from(place: Place, output: str) -> Mutant:
    """The elements of an output take both ends of the range from elsewhere."""
    return misplaced({1: place, 2: place}, only=output)


def misplaced_ranges(
    names: Mapping[str, str] = RANGE_NAMES, role: str = "axis", output: str = "output"
) -> Iterator[Wrong]:
    """The two inputs after the first from wrong places; `names` has other ids than those of the places."""
    frequent = (*FREQUENT_PLACES, "one-for-all:min", "one-for-all:max")
    for name, places in {**{name: (place, place) for name, place in PLACES.items()}, **ENDS}.items():
        ends = {number: place for number, place in enumerate(places, start=1) if place}
        yield Wrong(names.get(name, name), role, misplaced(ends, only=output), name in frequent)
