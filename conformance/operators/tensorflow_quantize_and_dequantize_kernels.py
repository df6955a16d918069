"""The arithmetics of QuantizeAndDequantize in TensorFlow's kernel on the CPU, and in what XLA makes of its graph.

The range is not updated to 0 where integers are unsigned. A side without integers has the type's greatest number as
its factor. So input_min decides where input_max's factor is infinite, and is divided by its integer, 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.semantics.places import fused_multiply_add
from tiebreak.golden.elements import FLOAT_TYPES, decode
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, along

Ends = tuple[Array, Array]
Clamp = Callable[[Array, Array, Array], Array]  # x, the least and the greatest


def integers_of(attributes: Any) -> tuple[int, int]:
    width, signed = attributes.get("num_bits", 8), attributes.get("signed_input", True)
    highest = (1 << (width - bool(signed))) - 1
    return (-highest - (not attributes.get("narrow_range", False)) if signed else 0), highest


def rounded(q: Array, mode: str) -> Array:
    wide = q.astype(np.float64)
    whole = np.rint(wide) if mode == "HALF_TO_EVEN" else np.floor(wide) + (wide - np.floor(wide) >= 0.5)
    return np.asarray(whole, q.dtype)


def half_up_in_type(q: Array, mode: str) -> Array:
    if mode == "HALF_TO_EVEN":
        return rounded(q, mode)
    return np.asarray(np.floor((q + np.asarray(0.5, q.dtype)).astype(q.dtype)), q.dtype)


def as_is(values: Array) -> Array:
    return values


def without_subnormals(values: Array) -> Array:
    """Values with subnormal ones as 0 of the same sign."""
    tiny = np.asarray(2.0 ** FLOAT_TYPES[values.dtype.name].emin, values.dtype)
    return np.where(np.abs(values) < tiny, np.copysign(np.zeros_like(values), values), values)


# The range


def range_as_given(node: Node, x: Array, low: Array, high: Array) -> Ends:
    """The ends of the range, given or measured, as they broadcast to x."""
    axis = int(node.attributes.get("axis", -1))
    if not node.attributes.get("range_given", False):
        low, high = first_extremes(x, axis)
    axes = (axis,) if axis >= 0 else ()
    low, high = (along(np.asarray(end), axes, x.shape) for end in (low, high))
    return low, high


def first_extremes(x: Array, axis: int) -> Ends:
    """The least and the greatest value of each slice, of equal ones (zeros of both signs) the first."""
    slices = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]) if axis >= 0 else x.reshape(-1, 1)
    wide, every = slices.astype(np.float64), np.arange(slices.shape[1])
    return slices[np.argmin(wide, axis=0), every], slices[np.argmax(wide, axis=0), every]


def x_first(x: Array, least: Array, most: Array) -> Array:
    """x clamped, and x itself where it equals an end: a zero keeps its sign, NaN stays."""
    x = np.where(x < least, least, x)
    return np.where(x > most, most, x)


def least_first(x: Array, least: Array, most: Array) -> Array:
    """x clamped, and the least where x equals it or is NaN."""
    x = np.where(least < x, x, least)
    return np.where(x > most, most, x)


# The inverse of the factor


def over_integer(side: Array, whole: Array) -> Array:
    return np.asarray(side / whole)


def times_inverse(side: Array, whole: Array) -> Array:
    return np.asarray(side * (side.dtype.type(1) / whole))


# Rounding


def product_first(kernel: RoundTripKernel, x: Array, factor: Array, mode: str) -> Array:
    return half_up_in_type(kernel.held(np.asarray(x * factor, x.dtype)), mode)


def half_fused(kernel: RoundTripKernel, x: Array, factor: Array, mode: str) -> Array:
    """The floor of x * factor + 0.5, rounded once; of float64 in an extended float, which rounds twice in one of 2,000.

    It is the compiler's way of HALF_UP.
    """
    if mode == "HALF_TO_EVEN":
        return product_first(kernel, x, factor, mode)
    x, factor = np.broadcast_arrays(x, factor)
    if x.dtype != np.float64:
        return np.asarray(np.floor(fused_multiply_add(x, factor, 0.5, x.dtype)))
    return np.asarray(np.floor((x.astype(np.longdouble) * factor + np.longdouble(0.5)).astype(np.float64)))


@dataclass(frozen=True)
class RoundTripKernel:
    """One kernel's arithmetic: TensorFlow's own on the CPU unless other steps are given."""

    held: Callable[[Array], Array] = without_subnormals  # what becomes of operands and results of each step
    inverse: Callable[[Array, Array], Array] = over_integer
    clamp: Clamp = x_first
    whole: Callable[[RoundTripKernel, Array, Array, str], Array] = product_first
    measures_held: bool = False  # whether x is held before its range is measured: then the first of zeros is both ends

    def __call__(self, node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        if not x.size:
            return (x,)
        with np.errstate(all="ignore"):
            measured = self.held(x) if self.measures_held else x
            low, high = (self.held(end) for end in range_as_given(node, measured, low, high))
            x = self.held(x)
            ends = tuple(np.asarray(end, x.dtype) for end in integers_of(node.attributes))
            by_min, factor = self.factor(low, high, *ends)
            sides = (self.inverse(end, whole) for end, whole in zip((low, high), ends, strict=True))
            inverse = self.held(np.where(by_min, *sides).astype(x.dtype))
            if node.attributes.get("range_given", False):
                least, most = (self.held(np.asarray(end * inverse, x.dtype)) for end in ends)
                x = self.clamp(x, np.where(by_min, low, least), np.where(by_min, most, high))
            steps = self.whole(self, x, factor, str(node.attributes.get("round_mode", "HALF_TO_EVEN")))
            return (np.asarray(self.held(np.asarray(steps * inverse, x.dtype)), node.outputs[0].dtype),)

    def factor(self, low: Array, high: Array, lowest: Array, highest: Array) -> Ends:
        """Whether input_min decides, and the smaller factor; that of a side without integers is the greatest number."""
        real = FLOAT_TYPES[low.dtype.name]
        none = float(decode(real.largest_bits, real))
        from_min = np.where(lowest * low > 0, lowest / low, none).astype(low.dtype)
        from_max = np.where(highest * high > 0, highest / high, none).astype(low.dtype)
        by_min = from_min < from_max
        return by_min, self.held(np.where(by_min, from_min, from_max))


KERNELS: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("side-over-integer-measured + flushes", "quotient"), RoundTripKernel()),
    (
        Cause("side-times-inverse-of-integer + flushes", "quotient"),
        RoundTripKernel(inverse=times_inverse, clamp=least_first, whole=half_fused, measures_held=True),
    ),
    (
        Cause("side-times-inverse-measured", "quotient", 1),
        RoundTripKernel(held=as_is, inverse=times_inverse, clamp=least_first),
    ),
    (
        Cause("side-over-integer-measured:the least for what equals it + flushes", "quotient", 1),
        RoundTripKernel(clamp=least_first, measures_held=True),
    ),
)
