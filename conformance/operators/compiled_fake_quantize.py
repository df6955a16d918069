"""FakeQuantize as a compiler's kernels compute it in float32, whatever the element type, with its usual mistakes.

Every function takes the number of levels, x and the four limits, of x's shape and type, as those of
openvino_fake_quantize_mistakes.py do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.golden.problem import Array

LARGEST = np.finfo(np.float32).max
STEPS = {15: 255, 16: 15, 255: 255, 256: 255}  # by number of levels: the steps of the type that limits are rebuilt for
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


def rounded_to_float16(values: Array) -> Array:
    return values.astype(np.float16)


def rebuilt_limits(levels: int, first: Array, last: Array, stored: Callable[[Array], Array]) -> tuple[Array, Array]:
    """The output limits of a zero point, as it is stored, and a scale, for one of the numbers of levels in STEPS."""
    if levels not in STEPS or (levels == 255 and (first == -last).all()):
        return first, last
    steps, equal = np.float32(STEPS[levels]), first == last
    scale, point = (last - first) / steps, (-steps * first) / (last - first)
    bounded = np.copysign(np.clip(np.abs(scale), LEAST_SCALE, GREATEST_SCALE), scale)
    point, bounded = np.where(equal, np.float32(0), point), np.where(equal, np.float32(1), bounded)
    code = np.where((last >= 0) & (last <= steps), np.rint(last), 0)  # a cast of what is out of range gives 0
    low, high = (np.where(equal, code, end).astype(np.float32) for end in (np.float32(0), steps))
    kept = stored(point).astype(np.float32)
    low, high = (stored(end - kept).astype(np.float32) * bounded for end in (low, high))
    return low, high


def folded_rebuilt(stored: Callable[[Array], Array], *, fuses: bool) -> Callable[..., Array]:
    """Limits rebuilt with a zero point as it is stored, then x * scale + shift; the document's way if limits fall.

    Of 16 levels with a step that is too small, level 8 is 0.
    """

    def kernel(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
        small = (np.abs(last - first) < np.float32(15) * LEAST_SCALE) & (levels == 16) & (first != last)
        first, last = rebuilt_limits(levels, first, last, stored)
        if (first == last).all():
            return np.broadcast_to(first, x.shape)
        if x.size and ((low > high) | ((low == high) & (levels == 2))).all():
            return stepwise(levels, x, low, high, first, last)
        n = np.float32(levels - 1)
        scale, step = n / (high - low), (last - first) / n
        level = np.rint(np.maximum(np.minimum(x, high), low) * scale - low * scale)
        found = ws.fused(level, step, first) if fuses else level * step + first
        return np.where(small, (level - np.float32(8)) * LEAST_SCALE, found)

    return kernel


def stepwise_rebuilt(stored: Callable[[Array], Array]) -> Callable[..., Array]:
    """The document's formula with output limits rebuilt with a zero point as it is stored."""

    def kernel(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
        return stepwise(levels, x, low, high, *rebuilt_limits(levels, first, last, stored))

    return kernel


def dequantized(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """(code - zero_point) * scale with the zero point and the scale of rebuilt limits; a code is a rounded level."""
    n, steps = np.float32(levels - 1), np.float32(STEPS.get(levels, levels - 1))
    scale, point = (last - first) / steps, (-steps * first) / (last - first)
    level = np.rint(np.maximum(np.minimum(x, high), low) * (n / (high - low)) - low * (n / (high - low)))
    return np.where(first == last, np.rint(last), (np.rint(level * (steps / n)) - point) * scale)


def output_high_misplaced(levels: int, x: Array, *limits: Array) -> Array:
    """Each output_high is read at output_low's place. The limits are as given, not of x's shape."""
    *others, first, last = limits
    places = np.broadcast_to(np.arange(first.size).reshape(first.shape), x.shape)
    if places.max(initial=0) >= last.size:
        raise IndexError("output_high has fewer values than output_low")
    spread = [np.broadcast_to(limit, x.shape) for limit in (*others, first)]
    return Compiled(stepwise)(levels, x, *spread, last.reshape(-1)[places])


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
REBUILDING: tuple[Row, ...] = (
    ("folded-rebuilt:a compiler's exceptions", "quotient", Compiled(folded_rebuilt(to_single, fuses=True))),
    ("folded-rebuilt-unfused:a compiler's exceptions", "quotient", Compiled(folded_rebuilt(to_single, fuses=False))),
    (
        "folded-rebuilt:zero point in float16",
        "quotient",
        Compiled(folded_rebuilt(rounded_to_float16, fuses=True), ("float16",)),
    ),
    (
        "folded-rebuilt:zero point in bfloat16",
        "quotient",
        Compiled(folded_rebuilt(rounded_if_odd, fuses=True), ("bfloat16",)),
    ),
)
KERNELS: tuple[Row, ...] = (
    *REBUILDING,
    ("computes-in:float32 + overflow-to-largest", "quotient", Compiled(stepwise, ("float64",))),
    ("computes-in:float32 + half-for-odd-bfloat16", "quotient", Compiled(stepwise, ("bfloat16",), odd=True)),
    ("folded-fused:both products, in float32", "quotient", Compiled(clipped_high_first)),
    ("folded-wide:with half a unit for odd numbers", "quotient", Compiled(factors_in_bfloat16, ("bfloat16",))),
    ("computes-in:float32 + limits-rebuilt", "quotient", Compiled(stepwise_rebuilt(rounded_to_float16), ("float16",))),
    ("quantize-and-dequantize:codes rounded, in float32", "sum", Compiled(dequantized)),
)
