"""The facet `scaling` of round(x / scale) + zero_point: how the argument of round comes about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.places import as_type, fused_multiply_add
from tiebreak.conformance.semantics.precisions import Precision
from tiebreak.conformance.semantics.subnormals import Subnormals
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array


class Unscaled(NamedTuple):
    """What is scaled, in a working precision: x, and scale and the integer to be added before rounding (or 0).

    The latter two are scalars, or as long as x. Subnormal operands are flushed already, if they are.
    """

    x: Array
    scale: Array
    added: Array
    precision: Precision
    subnormals: Subnormals
    quantized: IntegerType

    def step(self, values: Array) -> Array:
        """The result of a step, rounded to the working precision."""
        return as_type(values, self.precision.dtype)

    def operands(self) -> tuple[Array, Array]:
        return as_type(self.x, self.precision.dtype), as_type(self.scale, self.precision.dtype)

    def plus_added(self, quotient: Array) -> Array:
        """A quotient, flushed if it is, plus what is added before rounding."""
        quotient = self.subnormals.quotient(quotient, self.precision.type.emin)
        return self.step(quotient + self.added.astype(self.precision.dtype)) if self.added.any() else quotient


@dataclass(frozen=True, eq=False)
class Scaling:
    """`argument` gives the argument of round in the working precision.

    `of_range`: it counts steps from the end of the range. `fused`: its last product and sum are rounded once.
    """

    id: str
    sentence: str
    argument: Callable[[Unscaled], Array]
    cause: str = ""
    of_range: bool = False
    fused: bool = False

    @property
    def adds_zero_point(self) -> bool:
        """Whether the zero point is a part of it, so that it is added before rounding."""
        return self.fused or self.of_range


def divided(o: Unscaled) -> Array:
    x, scale = o.operands()
    return o.plus_added(o.step(x / scale))


def times_reciprocal(o: Unscaled) -> Array:
    x, scale = o.operands()
    return o.plus_added(o.step(x * reciprocal(o, scale)))


def times_narrow_reciprocal(o: Unscaled) -> Array:
    inverse = as_type(np.ones((), o.x.dtype) / o.scale.astype(o.x.dtype), o.x.dtype)
    return o.plus_added(o.step(o.operands()[0] * inverse.astype(o.precision.dtype)))


def times_reciprocal_fused(o: Unscaled) -> Array:
    """All three operands of a fused step have its type: a zero point of int32 is rounded first."""
    x, scale = o.operands()
    added = as_type(o.added, o.precision.dtype).astype(np.float64)
    return fused_multiply_add(x, reciprocal(o, scale), added, o.precision.dtype)


def reciprocal(o: Unscaled, scale: Array) -> Array:
    return o.step(np.ones((), o.precision.dtype) / scale)


def of_range(inside: Callable[[Unscaled, Array, Array, Array, Array], Array]) -> Callable[[Unscaled], Array]:
    """The number of steps from the lowest value, as FakeQuantize counts them; `inside` counts those within the range.

    It takes x, what the type's lowest value stands for, the range's width and the number of all steps.
    """

    def argument(o: Unscaled) -> Array:
        (x, scale), dtype = o.operands(), o.precision.dtype
        ends = (np.asarray(end - o.added).astype(dtype) for end in (o.quantized.lowest, o.quantized.highest))
        low, high = (o.step(scale * end) for end in ends)
        steps = np.asarray(o.quantized.highest - o.quantized.lowest).astype(dtype)
        below, above = x <= np.minimum(low, high), x > np.maximum(low, high)  # a negative scale swaps the ends
        found, nothing = inside(o, x, low, o.step(high - low), steps), np.zeros((), dtype)
        # NumPy 1 has no common type of an integer and a bfloat16: hence the typed zero.
        return np.asarray(np.where(below, nothing, np.where(above, steps, found)).astype(dtype))

    return argument


def range_divided(o: Unscaled, x: Array, low: Array, width: Array, steps: Array) -> Array:
    return o.step(o.step(x - low) / width) * steps


def range_multiplied(o: Unscaled, x: Array, low: Array, width: Array, steps: Array) -> Array:
    factor = o.step(steps / width)
    return o.step(x * factor) + o.step(-low * factor)


def range_fused(o: Unscaled, x: Array, low: Array, width: Array, steps: Array) -> Array:
    factor = o.step(steps / width)
    return fused_multiply_add(x, factor, o.step(-low * factor).astype(np.float64), o.precision.dtype)


DIVIDE = Scaling("divide", "x / scale", divided, "divides-by-scale")
RECIPROCAL = Scaling(
    "reciprocal",
    "x times 1 / scale, which is rounded to the working precision",
    times_reciprocal,
    "own-reciprocal",
)
NARROW = Scaling(
    "narrow-reciprocal",
    "x times 1 / scale, which is rounded to x's type, narrower than the working precision",
    times_narrow_reciprocal,
    "own-reciprocal",
)
FUSED = Scaling(
    "fused",
    "x times the rounded 1 / scale plus the zero point, rounded once (fma)",
    times_reciprocal_fused,
    "reciprocal-plus-zero-point-fused",
    fused=True,
)
RANGE = Scaling(
    "range",
    "(x - low) / (high - low) times the number of steps, low and high being what the type's ends "
    "stand for: a FakeQuantize",
    of_range(range_divided),
    "range-formula",
    of_range=True,
)
RANGE_MULTIPLIED = Scaling(
    "range-multiplied",
    "x * f - low * f, f being the number of steps / (high - low)",
    of_range(range_multiplied),
    "factor-and-shift",
    of_range=True,
)
RANGE_FUSED = Scaling(
    "range-fused",
    "the same, the product and the sum rounded once (fma)",
    of_range(range_fused),
    "factor-and-shift-fused",
    of_range=True,
    fused=True,
)
EVERY = (DIVIDE, RECIPROCAL, NARROW, FUSED, RANGE, RANGE_MULTIPLIED, RANGE_FUSED)
