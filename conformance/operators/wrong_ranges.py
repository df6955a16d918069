"""Wrong ranges of fake quantizers and TensorFlow's operators, and parameters from wrong places, as changes of terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tiebreak.conformance.operators.wrong_terms import Wrong, often
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import Change, operands_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, at_once, posed, written
from tiebreak.conformance.variants.places import ENDS, FREQUENT_PLACES, PLACES, Place, misplaced
from tiebreak.conformance.variants.rewrites import result_of
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Numeric, Term, clamp, greatest, least, lifted, magnitude, rounded, step
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

FLOAT32 = FLOAT_TYPES["float32"]
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


Ends = Callable[[Elementwise], tuple[int, int]]  # the first level and the last one


def by_parameters(ends: Ends, convert: Callable[[Term], Term], product: str) -> Mutant:
    """A float32 scale and an integer zero point, each from an exact quotient, as frameworks for training have them.

    Levels are float32, or float64 if x is; their last product is of the type `product`.
    """

    def kernel(p: Elementwise, x: Term, low: Term, high: Term, *output: Term) -> Term:
        (first, last), kind = ends(p), p.working if p.working == DOUBLE else FLOAT32
        scale = step((high - low) / (last - first), FLOAT32)
        zero_point = rounded(first - low * (last - first) / (high - low), EVEN)
        inverse = step(1 / scale, FLOAT32)
        level = convert(step(rounded(step(x * inverse, kind), EVEN) + step(zero_point, kind), kind))
        own = FLOAT_TYPES[product]
        return step(step(clamp(level, first, last) - zero_point, own) * scale, own)

    def checked(call: NodeCall, problem: Elementwise) -> Elementwise:
        (first, last), (low, high, *output) = ends(problem), (values.astype(np.float64) for values in call.inputs[1:])
        if not all((one == other).all() for one, other in zip((low, high), output, strict=False)):
            raise ValueError("one scale for limits that differ")
        scale = ((high - low) / (last - first)).astype(np.float32)
        if not (np.isfinite(scale) & (scale > 0) & (low <= 0) & (high >= 0)).all():
            raise ValueError("no scale: the limits are not finite, out of order, or leave out 0")
        return problem

    return at_once(posed(checked), result_of(kernel))


def taken_from(place: Place, output: str) -> Mutant:
    """The elements of an output take both ends of the range from elsewhere."""
    return misplaced({1: place, 2: place}, only=output)


def misplaced_ranges(
    names: Mapping[str, str] = RANGE_NAMES,
    role: str = "axis",
    output: str = "output",
    by: Callable[..., Mutant] = misplaced,
) -> Iterator[Wrong]:
    """The two inputs after the first from wrong places; `names` has other ids than those of the places."""
    frequent = (*FREQUENT_PLACES, "one-for-all:min", "one-for-all:max")
    for name, places in {**{name: (place, place) for name, place in PLACES.items()}, **ENDS}.items():
        ends = {number: place for number, place in enumerate(places, start=1) if place}
        yield Wrong(names.get(name, name), role, by(ends, only=output), name in frequent)
