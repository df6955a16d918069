"""The steps of `onnx.DynamicQuantizeLinear`, right and wrong, and the pipeline that they make.

A step takes what is known before it. Numbers have the type that the pipeline computes in; y_scale is a float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.semantics.places import flush_subnormals
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

STEPS, F = np.float32(255), np.float32
EMIN = -126  # of float32
Change = Callable[[Array], Array]


@dataclass(frozen=True)
class Known:
    """x, both ends of its range, the scale and the zero point; arrays of one type, all but x of rank 0."""

    x: Array
    low: Array
    high: Array
    scale: Array
    point: Array

    @property
    def width(self) -> Array:
        return np.asarray(self.high - self.low)


Step = Callable[[Known], Array]


def as_it_is(values: Array) -> Array:
    return values


def range_with_zero(x: Array) -> tuple[Array, Array]:
    return np.min(x, initial=x.dtype.type(0)), np.max(x, initial=x.dtype.type(0))


def width_over_steps(known: Known) -> Array:
    return np.asarray(known.width / STEPS)


def point_by_quotient(known: Known) -> Array:
    return np.rint(-(known.low / known.scale))


def quotient_first(known: Known) -> Array:
    return np.rint(known.x / known.scale) + known.point


def saturated(values: Array) -> Array:
    """As uint8; NaN becomes 0."""
    return np.asarray(np.minimum(np.fmax(values, 0), STEPS).astype(np.uint8))


@dataclass(frozen=True)
class Pipeline:
    """Steps in order, the right ones unless given; `real` is the type that they compute in.

    `x` changes the input, `range` measures it, `point` gives a zero point that is saturated, `finish` makes uint8 of
    what `y` gives. With `any_rank` scalars are as other inputs; else they are none of the mistake's.
    """

    x: Change = as_it_is
    range: Callable[[Array], tuple[Array, Array]] = range_with_zero
    scale: Step = width_over_steps
    point: Step = point_by_quotient
    y: Step = quotient_first
    finish: Change = saturated
    real: Any = F
    any_rank: bool = True

    def __call__(self, node: Node, x: Array) -> tuple[Array, ...]:
        if not x.ndim and not self.any_rank:
            raise ValueError("there is nothing to mistake")
        with np.errstate(all="ignore"):
            changed, zero = self.x(x), np.zeros((), self.real)
            low, high = (np.asarray(end, self.real) for end in self.range(changed))
            known = Known(changed.astype(self.real), low, high, zero, zero)
            scale = np.asarray(self.scale(known)).astype(F).reshape(())
            known = replace(known, scale=scale.astype(self.real))
            point = saturated(np.asarray(self.point(known)))
            y = self.finish(np.asarray(self.y(replace(known, point=point.astype(self.real)))))
        return y.reshape(x.shape), scale, point.reshape(())


def pipeline(**steps: Any) -> Mistake:
    return Pipeline(**steps)


# Conversions and roundings


flushed: Change = partial(flush_subnormals, emin=EMIN)


def single(values: Any) -> Array:
    """Rounded to float32."""
    rounded: Array = np.asarray(values).astype(F)
    return rounded


def half_added(values: Array) -> Array:
    return ws.trunc_of_half_more(single(values))


def half_more(values: Array) -> Array:
    return ws.floor_of_half_more(single(values))


def half_to_magnitude(values: Array) -> Array:
    return ws.trunc_of_signed_half_more(single(values))


# The range


def bare_range(x: Array) -> tuple[Array, Array]:
    return np.min(x), np.max(x)


def symmetric_range(x: Array) -> tuple[Array, Array]:
    greatest = np.max(np.abs(x), initial=x.dtype.type(0))
    return -greatest, greatest


def range_of(some: Change) -> Callable[[Array], tuple[Array, Array]]:
    """The range of some elements of the flat input; ValueError where that is all of them, or none."""

    def found(x: Array) -> tuple[Array, Array]:
        flat = x.reshape(-1)
        chosen = some(flat)
        if chosen.size in (0, flat.size):
            raise ValueError("there is nothing to mistake")
        return range_with_zero(chosen)

    return found


def whole_vectors(width: int) -> Change:
    return lambda flat: flat[: flat.size // width * width]


def first(count: int) -> Change:
    return lambda flat: flat[:count]


def range_in(change: Change) -> Callable[[Array], tuple[Array, Array]]:
    def found(x: Array) -> tuple[Array, Array]:
        low, high = (change(np.asarray(end)) for end in range_with_zero(x))
        return low, high

    return found


# The scale


def over(steps: int) -> Step:
    return lambda known: np.asarray(known.width / F(steps))


def by_reciprocal_of_steps(known: Known) -> Array:
    return np.asarray(known.width * F(1 / STEPS))


def reciprocal_of_quotient(known: Known) -> Array:
    return np.asarray(1 / single(STEPS / known.width))


def ends_divided_apart(known: Known) -> Array:
    return np.asarray(known.high / STEPS - known.low / STEPS)


def then(change: Change) -> Step:
    """The right scale, changed."""
    return lambda known: change(single(width_over_steps(known)))


def power_of_two_above(scale: Array) -> Array:
    return np.exp2(np.ceil(np.log2(scale.astype(np.float64))))


def toward(end: float) -> Change:
    return lambda scale: np.nextafter(scale, F(end))


# The zero point


def point_by(whole: Change) -> Step:
    return lambda known: whole(np.asarray(-(known.low / known.scale)))


def point_by_reciprocal(known: Known) -> Array:
    return np.asarray(np.rint(-(known.low * single(1 / known.scale))))


def point_of_real_scale(known: Known) -> Array:
    return np.rint(-known.low.astype(np.float64) * 255 / real_width(known))


def point_of_steps_over_range(known: Known) -> Array:
    return np.asarray(np.rint(-known.low * single(STEPS / known.width)))


def point_after_width(known: Known) -> Array:
    return np.rint(-(known.low / known.width * STEPS))


def point_from_max(known: Known) -> Array:
    return np.rint(STEPS - known.high / known.scale)


def always(point: int) -> Step:
    return lambda known: np.asarray(F(point))


def real_width(known: Known) -> Array:
    return np.asarray(known.high.astype(np.float64) - known.low.astype(np.float64))


# y


def sum_first(known: Known) -> Array:
    return np.rint(known.x / known.scale + known.point)


def sum_of_unrounded(known: Known) -> Array:
    return np.rint(known.x / known.scale + -(known.low / known.scale))


def from_min(known: Known) -> Array:
    return np.rint((known.x - known.low) / known.scale)


def levels_from_min(known: Known) -> Array:
    """A FakeQuantize of the range: the level counted from its lower end."""
    return np.rint((known.x - known.low) / known.width * STEPS)


def by_reciprocal(known: Known) -> Array:
    return np.asarray(np.rint(known.x * single(1 / known.scale)) + known.point)


def reciprocal_and_sum_first(known: Known) -> Array:
    return np.asarray(np.rint(known.x * single(1 / known.scale) + known.point))


def reciprocal_and_fused_sum(known: Known) -> Array:
    return np.rint(ws.fused(single(known.x), single(1 / known.scale), single(known.point)))


def by_steps_over_range(known: Known) -> Array:
    return np.asarray(np.rint(known.x * single(STEPS / known.width)) + known.point)


def product_first(known: Known) -> Array:
    return np.rint(known.x * STEPS / known.width) + known.point


def width_first(known: Known) -> Array:
    return np.rint(known.x / known.width * STEPS) + known.point


def by_reciprocal_of_width(known: Known) -> Array:
    return np.rint(known.x * STEPS * single(1 / known.width)) + known.point


def by_real_scale(known: Known) -> Array:
    return np.rint(known.x.astype(np.float64) * 255 / real_width(known)) + known.point


def quotient_by(whole: Change) -> Step:
    return lambda known: whole(known.x / known.scale) + known.point


def quotient_in(change: Change) -> Step:
    return lambda known: np.rint(change(known.x / known.scale)) + known.point


def quotient_alone(known: Known) -> Array:
    return np.rint(known.x / known.scale)


def clamped_first(known: Known) -> Array:
    return np.clip(np.rint(known.x / known.scale), 0, STEPS) + known.point


def point_subtracted(known: Known) -> Array:
    return np.rint(known.x / known.scale) - known.point


# The end


def wrapped(values: Array) -> Array:
    return np.nan_to_num(values, nan=0.0, posinf=0, neginf=0).astype(np.int64).astype(np.uint8)


def at_most(highest: int) -> Change:
    return lambda values: np.minimum(saturated(values), np.uint8(highest))
