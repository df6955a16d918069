"""Products and sums in every order: which of their values is the least and which the greatest.

A product may be formed in any grouping of its factors, a divisor may divide any part of it, or be inverted first. A sum
may be formed in any order of its terms. A part with several orders has one pair of ends, those of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tiebreak.golden.elements import FloatType
from tiebreak.golden.orders.ends import OrderSteps, StepEnds, hull, point

Parts = dict[int, StepEnds]  # by the set of its members, a bit for each


def product(steps: OrderSteps, above: Sequence[StepEnds], below: Sequence[StepEnds] = ()) -> StepEnds:
    """The product of the factors `above` divided by those `below`, which are not 0."""
    factors = [factor.magnitude for factor in (*above, *below)]
    if steps.coarse:
        return signed(bound_of_product(steps.kind, factors[: len(above)], factors[len(above) :]), [*above, *below])
    found, inverse = Parts(), Parts()
    for number, factor in enumerate(factors):
        if number < len(above):
            found[1 << number] = factor
        else:
            inverse[1 << number] = factor
            found[1 << number] = steps.divide(point(np.ones_like(factor.low)), factor)
    for whole in sets_of(len(factors)):
        for parts, others in ((found, inverse), (inverse, found)):
            ways = list(ways_to(steps, whole, parts, others))
            if ways:
                parts[whole] = hull(ways)
    return signed(found[(1 << len(factors)) - 1], [*above, *below])


def ways_to(steps: OrderSteps, whole: int, parts: Parts, inverse: Parts) -> Iterator[StepEnds]:
    """A set of factors as product of two of its parts, or as one divided by the other's inverse."""
    for one in parts_of(whole):
        other = whole ^ one
        if one in parts and other in parts and one < other:
            yield steps.multiply(parts[one], parts[other])
        if one in parts and other in inverse:
            yield steps.divide(parts[one], inverse[other])


def signed(magnitude: StepEnds, factors: Sequence[StepEnds]) -> StepEnds:
    """A product with the sign that its factors give it; where one of them crosses 0, with either."""
    negative, either = (np.zeros(magnitude.low.shape, bool) for _ in range(2))
    for factor in factors:
        negative ^= factor.high + factor.low < 0
        either |= (factor.low < 0) & (factor.high > 0)
    found = (-magnitude).where(negative, magnitude)
    return StepEnds(np.where(either, -magnitude.high, found.low), np.where(either, magnitude.high, found.high))


def total(steps: OrderSteps, terms: Sequence[StepEnds]) -> StepEnds:
    """The sum of the terms."""
    if steps.coarse:
        return bound_of_sum(steps.kind, terms)
    found: Parts = {1 << number: term for number, term in enumerate(terms)}
    for whole in sets_of(len(terms)):
        pairs = ((one, whole ^ one) for one in parts_of(whole) if one < whole ^ one)
        found[whole] = hull([steps.add(found[one], found[other]) for one, other in pairs])
    return found[(1 << len(terms)) - 1]


def bound_of_product(kind: FloatType, above: Sequence[StepEnds], below: Sequence[StepEnds]) -> StepEnds:
    """What no order leaves: each of its steps, and each inverse, changes a magnitude by half a unit at most."""
    ends = [StepEnds(factor.low, factor.high) for factor in above] + [
        StepEnds(1 / one.high, 1 / one.low) for one in below
    ]
    low, high, least, greatest = (np.ones_like(ends[0].low) for _ in range(4))
    for end in ends:
        low, high, greatest = low * end.low, high * end.high, greatest * np.maximum(end.high, 1)
        least = least * np.where(end.high > 0, np.minimum(end.low, 1), 1)
    error = len(ends) * 2.0 ** (2 - kind.precision)
    inside = (greatest < 2.0**kind.emax) & (least > 2.0**kind.emin)
    return StepEnds(np.where(inside, low * (1 - error), 0.0), np.where(inside, high * (1 + error), np.inf))


def bound_of_sum(kind: FloatType, terms: Sequence[StepEnds]) -> StepEnds:
    """What no order leaves: each of its steps changes a sum by half a unit of all magnitudes at most."""
    low, high, size = (sum(getattr(one, name) for one in terms) for name in ("low", "high", "size"))
    error = len(terms) * 2.0 ** (2 - kind.precision) * size
    inside = size < 2.0**kind.emax
    return StepEnds(np.where(inside, low - error, -np.inf), np.where(inside, high + error, np.inf))


def sets_of(count: int) -> list[int]:
    """The sets of two members and more, the small ones first."""
    return sorted((one for one in range(1, 1 << count) if one & (one - 1)), key=int.bit_count)


def parts_of(whole: int) -> Iterator[int]:
    """The sets within a set but for it and the empty one."""
    part = (whole - 1) & whole
    while part:
        yield part
        part = (part - 1) & whole
