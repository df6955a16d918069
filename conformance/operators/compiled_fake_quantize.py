"""FakeQuantize as a compiler's kernels compute it in float32, whatever the element type, with its usual mistakes.

Every function takes the number of levels, x and the four limits, of x's type and of shapes that broadcast to x's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.golden.problem import Array

LARGEST = np.finfo(np.float32).max
STEPS = {15: 255, 16: 15, 255: 255, 256: 255}  # by number of levels: the steps of the type that limits are rebuilt for
SIGNED = {16: (-8, 7), 255: (-127, 127), 256: (-128, 127)}  # its least and greatest code if it is signed
NEAR_ZERO, MOST_ASYMMETRIC = np.float32(1e-6), np.float32(0.002)
LEAST_SCALE, GREATEST_SCALE = np.float32(1e-32), np.float32(1e32)


@dataclass(frozen=True)
class Compiled:
    """A kernel between two conversions: to float32 and back to x's type, which saturate where x has float64.

    `odd` rounds the result to bfloat16 by rounded_if_odd. For types other than `only`, where something simpler gives
    the same, a call raises ValueError.
    """

    kernel: Callable[..., Array]
    only: tuple[str, ...] = ()
    odd: bool = False

    def __call__(self, levels: int, x: Array, *limits: Array) -> Array:
        if self.only and x.dtype.name not in self.only:
            raise ValueError(f"nothing else than without it for {x.dtype.name}")
        found = self.kernel(levels, *(to_single(operand) for operand in (x, *limits)))
        if self.odd:
            return rounded_if_odd(found)
        kept = np.clip(found, -LARGEST, LARGEST) if x.dtype == np.float64 else found
        return np.asarray(kept.astype(x.dtype))


def to_single(values: Array) -> Array:
    """In float32; what it cannot hold becomes its largest number of that sign."""
    if values.dtype != np.float64:
        return values.astype(np.float32)
    return np.clip(values, -float(LARGEST), float(LARGEST)).astype(np.float32)


def rounded_if_odd(values: Array) -> Array:
    """float32 in bfloat16: half a unit is added if the last bit kept is odd, and the rest is cut off."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    upper: Array = (bits + ((bits & np.uint32(0x10000)) >> np.uint32(1))) >> np.uint32(16)
    return np.asarray(upper.astype(np.uint16).view(ml_dtypes.bfloat16)).reshape(values.shape)


def without_subnormals(values: Array) -> Array:
    """float32 values, with a 0 of their sign for subnormal ones."""
    return np.where(np.abs(values) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), values), values)


def stepwise(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """The document's formula, each step in float32."""
    n = np.float32(levels - 1)
    inside = np.rint((x - low) / (high - low) * n) / n * (last - first) + first
    above = np.where(x > np.maximum(low, high), last, inside)
    return np.where(x <= np.minimum(low, high), first, above)


def clipped_high_first(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """x is clipped to high, then to low; both products and sums are fused."""
    n = np.float32(levels - 1)
    scale, step = n / (high - low), (last - first) / n
    level = np.rint(ws.fused(np.maximum(np.minimum(x, high), low), scale, -low * n / (high - low)))
    return ws.fused(level, step, first)


def factors_in_bfloat16(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Scale, shift and step are computed in float32 and brought to bfloat16 by rounded_if_odd."""
    n = np.float32(levels - 1)
    factors = n / (high - low), -low * n / (high - low), (last - first) / n
    scale, shift, step = (rounded_if_odd(factor).astype(np.float32) for factor in factors)
    return np.asarray(np.rint(np.maximum(np.minimum(x, high), low) * scale + shift) * step + first)


@dataclass(frozen=True)
class Codes:
    """The type of codes that a compiler chooses for output limits: its least and greatest code."""

    least: np.float32
    greatest: np.float32
    zero_point: bool  # whether the limits keep a zero point; those near enough to symmetric, or to 0, lose it


def codes_for(levels: int, first: Array, last: Array) -> Codes:
    """The codes for all output limits of a node together, for one of the numbers of levels in STEPS."""
    unsigned = Codes(np.float32(0), np.float32(STEPS[levels]), zero_point=False)
    with_zero_point = replace(unsigned, zero_point=True)
    if levels not in SIGNED:
        return with_zero_point
    least, greatest = SIGNED[levels]
    signed = Codes(np.float32(least), np.float32(greatest), zero_point=False)
    first, last = (np.ravel(limit) for limit in np.broadcast_arrays(first, last))
    large = (np.abs(first) >= NEAR_ZERO) | (np.abs(last) >= NEAR_ZERO)
    if not large.any():
        return signed if (first < 0).any() else unsigned
    first, last = first[large], last[large]
    from_zero = np.abs(first) < NEAR_ZERO
    of_both_signs = (np.signbit(first) != np.signbit(last)) & ~from_zero
    symmetric = np.float32(-1) if levels == 255 else -np.float32(levels) / np.float32(levels - 2)
    ratio = first / last
    asymmetric = np.abs((ratio - symmetric) / np.minimum(ratio, symmetric)) > MOST_ASYMMETRIC
    if np.where(of_both_signs, (last == 0) | asymmetric, ~from_zero).any():
        return with_zero_point
    if of_both_signs.all():
        return signed
    return with_zero_point if of_both_signs.any() else unsigned


def rebuilt_limits(levels: int, first: Array, last: Array) -> tuple[Array, Array]:
    """The output limits of the least and the greatest code, by a zero point and a scale, for the levels in STEPS."""
    if levels not in STEPS:
        return first, last
    codes, equal = codes_for(levels, first, last), first == last
    scale = (last - first) / (codes.greatest - codes.least)
    point = (codes.least * last - codes.greatest * first) / (last - first) if codes.zero_point else np.zeros_like(scale)
    bounded = np.copysign(np.clip(np.abs(scale), LEAST_SCALE, GREATEST_SCALE), scale)
    bounded = np.where(np.abs(scale) < LEAST_SCALE, LEAST_SCALE, bounded)
    point, bounded = np.where(equal, np.float32(0), point), np.where(equal, np.float32(1), bounded)
    code = np.where((last >= 0) & (last <= codes.greatest), np.rint(last), 0)  # a cast of what is out of range gives 0
    low, high = (np.where(equal, code, end).astype(np.float32) for end in (codes.least, codes.greatest))
    return (low - point) * bounded, (high - point) * bounded


def folded_rebuilt(
    levels: int,
    x: Array,
    low: Array,
    high: Array,
    first: Array,
    last: Array,
    *,
    fuses: bool = True,
    flushes: bool = False,
) -> Array:
    """Rebuilt output limits, then x * scale - low * scale.

    A compiler leaves a node with reversed limits, or two levels and equal ones, to another kernel. That clips to high
    first if the limits vary along axis 0 or 1 only; else it is the document's formula. `flushes` takes subnormal
    numbers as 0; of the formula only in the limits.
    """
    if flushes:
        low, high, first, last = (without_subnormals(limit) for limit in (low, high, first, last))
    first, last = rebuilt_limits(levels, first, last)
    if levels in STEPS and np.array_equal(first, last):  # a constant, also of infinite limits
        return np.broadcast_to(first, x.shape)
    if (low > high).any() or (levels == 2 and (low == high).any()):
        if not vary_along_one_axis(x.ndim, low, high, first, last):
            return stepwise(levels, x, low, high, first, last)
        found = clipped_high_first(levels, without_subnormals(x) if flushes else x, low, high, first, last)
    else:
        n, clipped = np.float32(levels - 1), np.maximum(np.minimum(without_subnormals(x) if flushes else x, high), low)
        scale, step = n / (high - low), (last - first) / n
        level = np.rint(clipped * scale - low * scale)
        found = ws.fused(level, step, first) if fuses else np.asarray(level * step + first)
    return without_subnormals(found) if flushes else found


def vary_along_one_axis(rank: int, *limits: Array) -> bool:
    """Whether no limit varies, or all that do along the same axis, 0 or 1, of an array of this rank, at least 2."""
    lengths = [(rank - limit.ndim + axis, length) for limit in limits for axis, length in enumerate(limit.shape)]
    return rank > 1 and {axis for axis, length in lengths if length > 1} in (set(), {0}, {1})


def dequantized(
    levels: int, x: Array, low: Array, high: Array, first: Array, last: Array, *, whole: bool = False
) -> Array:
    """(code - zero_point) * scale with the zero point and the scale of rebuilt limits; a code is a rounded level.

    With `whole` the zero point is rounded, too.
    """
    n, steps = np.float32(levels - 1), np.float32(STEPS.get(levels, levels - 1))
    scale, point = (last - first) / steps, (-steps * first) / (last - first)
    level = np.rint(np.maximum(np.minimum(x, high), low) * (n / (high - low)) - low * (n / (high - low)))
    kept = np.rint(point) if whole else point
    return np.where(first == last, np.rint(last), (np.rint(level * (steps / n)) - kept) * scale)


def output_high_misplaced(levels: int, x: Array, *limits: Array) -> Array:
    """Each output_high is read at output_low's place."""
    return Compiled(stepwise)(levels, x, *misplaced(*limits))


def misplaced_rebuilt(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """As output_high_misplaced, and the limits are rebuilt."""
    if levels not in STEPS:
        raise ValueError("limits are not rebuilt")
    return folded_rebuilt(levels, x, *misplaced(low, high, first, last))


def misplaced(low: Array, high: Array, first: Array, last: Array) -> tuple[Array, ...]:
    """The limits with each output_high at output_low's place."""
    if first.shape == last.shape:
        raise ValueError("each output_high is at output_low's place")
    if first.size > last.size:
        raise IndexError("output_high has fewer values than output_low")
    return low, high, first, last.reshape(-1)[: first.size].reshape(first.shape)


def output_high_overrun(levels: int, x: Array, *limits: Array) -> Array:
    """output_high is read at output_low's places, as 0 where it has no value. The limits are as given."""
    *others, first, last = limits
    places = np.broadcast_to(np.arange(first.size).reshape(first.shape), x.shape)
    if first.size <= last.size:
        raise ValueError("output_high has a value for each of output_low")
    beyond = np.concatenate([last.reshape(-1), np.zeros(first.size - last.size, last.dtype)])
    spread = [np.broadcast_to(limit, x.shape) for limit in (*others, first)]
    return Compiled(dequantized)(levels, x, *spread, beyond[places])


Row = tuple[str, str, Compiled]  # a cause's id and role, and what gives its results
KERNELS: tuple[Row, ...] = (
    ("folded-rebuilt", "quotient", Compiled(folded_rebuilt)),
    ("folded-rebuilt-unfused", "quotient", Compiled(partial(folded_rebuilt, fuses=False))),
    ("folded-rebuilt + flushes", "quotient", Compiled(partial(folded_rebuilt, flushes=True))),
    ("folded-rebuilt-unfused + flushes", "quotient", Compiled(partial(folded_rebuilt, fuses=False, flushes=True))),
    ("computes-in:float32 + overflow-to-largest", "quotient", Compiled(stepwise, ("float64",))),
    ("computes-in:float32 + half-for-odd-bfloat16", "quotient", Compiled(stepwise, ("bfloat16",), odd=True)),
    ("folded-fused:both products, in float32", "quotient", Compiled(clipped_high_first)),
    ("folded-wide:with half a unit for odd numbers", "quotient", Compiled(factors_in_bfloat16, ("bfloat16",))),
    ("quantize-and-dequantize:codes rounded, in float32", "sum", Compiled(dequantized)),
    (
        "quantize-and-dequantize:codes and zero point rounded, in float32",
        "sum",
        Compiled(partial(dequantized, whole=True)),
    ),
    ("folded-rebuilt + output-high-at-output-low", "projection", Compiled(misplaced_rebuilt)),
)
