"""Steps of a formula in every precision at once: the least and the greatest of the values that a step can have.

Each step is rounded correctly (IEEE 754, ties to even) to the operands' type or to a wider one. Sums, products and
quotients of magnitudes are monotone, and so is rounding. So the ends of what a step gives come from the ends of what it
is given. Both are results of some choice of types, no bounds. float64 takes no wider type that NumPy has; there
what is exact lies between two neighbours, which are then the ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.golden.arithmetic.doubles import DOUBLE, rounded, to_odd, two_product, two_quotient, two_sum
from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.problem import Array

WIDER = (FLOAT_TYPES["float32"], DOUBLE)


@dataclass(frozen=True)
class StepEnds:
    """The least and the greatest value (float64) of each element; NaN where a step has no number."""

    low: Array
    high: Array

    def __neg__(self) -> StepEnds:
        return StepEnds(-self.high, -self.low)

    def where(self, mask: Array, other: StepEnds) -> StepEnds:
        """These where the mask is true, else the other's."""
        return StepEnds(np.where(mask, self.low, other.low), np.where(mask, self.high, other.high))

    @property
    def size(self) -> Array:
        """The greatest magnitude."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def magnitude(self) -> StepEnds:
        ends = np.abs(self.low), np.abs(self.high)
        crosses = (self.low < 0) & (self.high > 0)
        return StepEnds(np.where(crosses, 0.0, np.minimum(*ends)), np.maximum(*ends))


def point(values: Array) -> StepEnds:
    """What is given, and so no step."""
    return StepEnds(values, values)


def hull(found: Sequence[StepEnds]) -> StepEnds:
    """The ends of what several orders give."""
    return StepEnds(
        np.fmin.reduce([one.low for one in found]),
        np.fmax.reduce([one.high for one in found]),
    )


@dataclass(frozen=True)
class OrderSteps:
    """The steps of operands of a type.

    `beyond`: also those that leave its normal numbers, by overflow or underflow. `coarse`: products and sums have
    bounds instead of ends, from the number of their steps; where a step might leave the normal numbers there is none.
    """

    kind: FloatType
    beyond: bool = False
    coarse: bool = False

    @cached_property
    def kinds(self) -> tuple[FloatType, ...]:
        """The type and all that are wider, up to float64."""
        return tuple(dict.fromkeys((self.kind, *(one for one in WIDER if one.precision >= self.kind.precision))))

    def held(self, value: StepEnds) -> StepEnds:
        """Values as they are, or rounded to the type: what an integer becomes."""
        exact = np.zeros_like(value.low)
        ends = ((self.narrowed(end, exact, kind) for end in (value.low, value.high)) for kind in self.kinds)
        return hull([value, *(StepEnds(low, high) for low, high in ends)])

    def add(self, one: StepEnds, other: StepEnds) -> StepEnds:
        low, high = (two_sum(*pair) for pair in ((one.low, other.low), (one.high, other.high)))
        return self.between(low, high)

    def subtract(self, one: StepEnds, other: StepEnds) -> StepEnds:
        return self.add(one, -other)

    def multiply(self, one: StepEnds, other: StepEnds) -> StepEnds:
        """The product of magnitudes: nothing is negative."""
        return self.between(two_product(one.low, other.low), two_product(one.high, other.high))

    def divide(self, one: StepEnds, other: StepEnds) -> StepEnds:
        """The quotient of magnitudes: nothing is negative."""
        return self.between(two_quotient(one.low, other.high), two_quotient(one.high, other.low))

    def between(self, low: tuple[Array, Array], high: tuple[Array, Array]) -> StepEnds:
        """The ends of a step in all types; of each end the float64 result, and what it lacks to the exact one."""
        found = [StepEnds(self.narrowed(*low, kind), self.narrowed(*high, kind)) for kind in self.kinds[:-1]]
        if self.kind == DOUBLE:
            found.append(StepEnds(outward(*low, -np.inf), outward(*high, np.inf)))
        return hull([*found, StepEnds(low[0], high[0])])

    def narrowed(self, value: Array, rest: Array, kind: FloatType) -> Array:
        """A step's result in a narrower type, or in float64 where the type has no normal number for it."""
        found = rounded(to_odd(value, rest), kind)
        if self.beyond:
            return found
        normal = np.isfinite(found) & ((np.abs(found) >= np.ldexp(1.0, kind.emin)) | (found == value))
        return np.where(normal, found, value)


def outward(value: Array, rest: Array, toward: float) -> Array:
    """The neighbour on the other side of the exact result, where that is further out."""
    return np.where((rest != 0) & ((rest > 0) == (toward > 0)), np.nextafter(value, toward), value)
