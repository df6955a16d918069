"""Usual mistakes of torch.quantize_per_tensor and torch.quantize_per_channel, as small NumPy backends.

The pipeline has four steps: the quotient, the sum with the zero point, rounding, and the clamp. Numbers are float32
until they are rounded, then float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.variants import conversions
from tiebreak.conformance.variants.places import Place
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, along

FAR = 2.0**62
FLOAT = np.float32
Quotient = Callable[[Array, Array], Array]
Sum = Callable[[Array, Array], Array]
# What a NaN becomes: of which elements numbers give one, the output's type, and whether all have one scale.
OfNan = Callable[[Array, str, bool], int]


# The right steps


def divided(x: Array, scale: Array) -> Array:
    return np.asarray(x / scale)


def right_quotient(x: Array, scale: Array, zero_point: Array) -> Array:
    """Divided; with a zero point that is a float the product with the rounded inverse."""
    return by_reciprocal(x, scale) if zero_point.dtype.kind == "f" else divided(x, scale)


def added(quotient: Array, zero_point: Array) -> Array:
    return np.asarray(quotient + zero_point.astype(FLOAT))


def to_even(total: Array) -> Array:
    return np.asarray(np.rint(total.astype(np.float64)))


def clamped(kind: str, whole: Array) -> Array:
    own = INTEGER_TYPES[kind]
    return np.clip(whole, own.lowest, own.highest)


@dataclass(frozen=True)
class TorchQuantizer:
    """Steps in order, the right ones unless given. `whole`, if given, takes the place of the first three."""

    x: Callable[[Array], Array] = conversions.as_is
    places: tuple[Place | None, Place | None] = (None, None)
    zero: Callable[[Array], Array] = conversions.as_is
    quotient: Quotient | None = None
    total: Sum = added
    round: Callable[[Array], Array] = to_even
    whole: Callable[[Array, Array, Array], Array] | None = None
    nan: OfNan = lambda numbers, kind, per_tensor: 0
    out: Callable[[str, Array], Array] = clamped

    def __call__(self, node: Node, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
        axis = node.attributes.get("axis")
        axes = () if axis is None else (int(axis),)
        with np.errstate(all="ignore"):
            scale, zero_point = self.spread(x, axes, scale, self.zero(zero_point))
            if self.whole is not None:
                whole = self.whole(self.x(x), scale, zero_point)
            else:
                whole = self.round(self.total(self.quotient_of(self.x(x), scale, zero_point), zero_point))
            of_numbers = np.isnan(whole) & np.isfinite(x) & np.isfinite(scale)
            nan = self.nan(of_numbers, node.output_type, not axes)
            whole = np.clip(np.nan_to_num(whole.astype(np.float64), nan=nan), -FAR, FAR)
            found = self.out(node.output_type, whole)
            return (np.asarray(found).astype(np.int64).astype(node.outputs[0].dtype),)

    def quotient_of(self, x: Array, scale: Array, zero_point: Array) -> Array:
        return self.quotient(x, scale) if self.quotient else right_quotient(x, scale, zero_point)

    def spread(self, x: Array, axes: tuple[int, ...], scale: Array, zero_point: Array) -> tuple[Array, Array]:
        """Scale and zero point of each element, each from its own place or a wrong one."""
        if self.places != (None, None):
            at = np.arange(scale.size) if axes else np.zeros(0, np.int64)
            index = np.broadcast_to(along(at, axes, x.shape), x.shape) if axes else np.zeros(x.shape, np.int64)
            return ws.taken_from(self.places, index, scale, zero_point)
        scale, zero_point = (np.broadcast_to(along(a, axes, x.shape), x.shape) for a in (scale, zero_point))
        return scale, zero_point


def pipeline(**steps: Any) -> Mistake:
    return TorchQuantizer(**steps)


def lowest_word(of_numbers: Array, kind: str, per_tensor: bool) -> int:
    """NaN as an x86 processor makes an int32 of it, whose low byte is 0; per tensor 8 bits are clamped, to the highest.

    Only where numbers give NaN, as 0 times an infinite reciprocal does: what else gives it is open.
    """
    if not of_numbers.any():
        raise ValueError("there is nothing to mistake")
    own = INTEGER_TYPES[kind]
    if own.bits == 32:
        return own.lowest
    return own.highest if per_tensor else 0


def left_open(of_numbers: Array, kind: str, per_tensor: bool) -> int:
    """Nothing is predicted where numbers give NaN: see lowest_word."""
    if of_numbers.any():
        raise ValueError("another mistake says what NaN becomes")
    return 0


# The quotient


def by_reciprocal(x: Array, scale: Array) -> Array:
    return np.asarray(x * (FLOAT(1) / scale))


def multiplied(x: Array, scale: Array) -> Array:
    return np.asarray(x * scale)


def divided_in(kind: Any, x: Array, scale: Array) -> Array:
    return np.asarray((x.astype(kind) / scale.astype(kind)).astype(FLOAT))


QUOTIENTS = (
    step("own-reciprocal + nan-as-processor", "quotient", quotient=by_reciprocal, nan=lowest_word),
    frequent("own-reciprocal", "quotient", quotient=by_reciprocal, nan=left_open),
    step("multiplies-by-scale", "quotient", quotient=multiplied),
    step("divides-in:float16", "quotient", quotient=partial(divided_in, np.float16)),
    step("divides-in:bfloat16", "quotient", quotient=partial(divided_in, ml_dtypes.bfloat16)),
)

# The sum


def left_off(quotient: Array, zero_point: Array) -> Array:
    return quotient


def subtracted(quotient: Array, zero_point: Array) -> Array:
    return np.asarray(quotient - zero_point.astype(FLOAT))


SUMS = (
    frequent("ignores-zero-point", "zero-point", total=left_off),
    frequent("subtracts-zero-point", "zero-point", total=subtracted),
)

# Several steps at once


def fused(x: Array, scale: Array, zero_point: Array) -> Array:
    """x * fl(1 / scale) + zero_point, rounded once to float32."""
    return to_even(ws.fused(x, np.asarray(FLOAT(1) / scale), zero_point.astype(FLOAT)))


def reciprocal_first(x: Array, scale: Array, zero_point: Array) -> Array:
    """The product with the reciprocal is rounded to an integer before the zero point is added."""
    return np.asarray(np.rint(np.rint(by_reciprocal(x, scale)).astype(np.float64) + zero_point))


def reciprocal_first_in_float32(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.asarray(np.rint(np.rint(by_reciprocal(x, scale)) + zero_point.astype(FLOAT)))


def rounded_first(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.asarray(np.rint(np.rint(divided(x, scale)).astype(np.float64) + zero_point))


def in_int32(x: Array, scale: Array, zero_point: Array) -> Array:
    """fused, converted to int32, where what is beyond becomes the least value."""
    whole = fused(x, scale, zero_point)
    return np.where(np.abs(whole) < 2.0**31, whole, -(2.0**31))


# Zero points that are floats


def of_floats(run: Callable[..., Array]) -> Callable[..., Array]:
    """A mistake that only nodes with such zero points have; the others' cases have it not."""

    def of_node(*operands: Array) -> Array:
        if operands[-1].dtype.kind != "f":
            raise ValueError("an integer is right")
        return run(*operands)

    return of_node


def subtracted_from_input(x: Array, scale: Array, zero_point: Array) -> Array:
    """The zero point as a real number: (x - zero_point) * fl(1 / scale)."""
    return to_even(by_reciprocal(np.asarray(x - zero_point.astype(FLOAT)), scale))


def divided_first(x: Array, scale: Array, zero_point: Array) -> Array:
    return to_even(added(divided(x, scale), zero_point))


def low_word(whole: Array) -> Array:
    """Through int64, whose lowest value stands for all that it can't hold, and from that the low 32 bits."""
    held = np.where(np.abs(whole) < 2.0**63, whole, -(2.0**63)).astype(np.int64)
    return np.asarray(held.astype(np.int32).astype(np.float64))


def low_word_of_sum(x: Array, scale: Array, zero_point: Array) -> Array:
    return low_word(to_even(added(by_reciprocal(x, scale), zero_point)))


FLOAT_POINTS = (
    frequent("zero-point-in-input-units", "float-zero-point", whole=of_floats(subtracted_from_input)),
    frequent("divides-in-own-type", "inverse", whole=of_floats(divided_first)),
    step("low-word-of-int64", "clamp", whole=of_floats(low_word_of_sum)),
    frequent("rounds-zero-point", "float-zero-point", zero=of_floats(np.rint)),
    frequent("zero-point-rounds:toward zero", "float-zero-point", zero=of_floats(np.trunc)),
)
WHOLE = (
    step("reciprocal-plus-zero-point-fused + nan-as-processor", "quotient", whole=fused, nan=lowest_word),
    frequent("reciprocal-plus-zero-point-fused", "quotient", whole=fused, nan=left_open),
    frequent("zero-point-after:x * fl(1 / scale)", "zero-point", whole=reciprocal_first, nan=left_open),
    frequent(
        "zero-point-after:x * fl(1 / scale), sum in float32",
        "zero-point",
        whole=reciprocal_first_in_float32,
        nan=left_open,
    ),
    step("zero-point-after:x / scale", "zero-point", whole=rounded_first),
    step("casts-to-int32", "clamp", whole=in_int32),
)

# The clamp


def wraps(kind: str, whole: Array) -> Array:
    own = INTEGER_TYPES[kind]
    return np.asarray((whole.astype(np.int64) - own.lowest) % (1 << own.bits) + own.lowest)


def wraps_at(which: int, kind: str, whole: Array) -> Array:
    """The clamp at one end alone: 0 leaves the lower one off, 1 the upper."""
    own = INTEGER_TYPES[kind]
    return wraps(kind, np.minimum(whole, own.highest) if which == 0 else np.maximum(whole, own.lowest))


def narrowed(kind: str, whole: Array) -> Array:
    own = INTEGER_TYPES[kind]
    return np.clip(whole, own.lowest + 1, own.highest)


def of_seven_bits(kind: str, whole: Array) -> Array:
    """The upper end of half the range, as on processors whose products of 8 bits would overflow."""
    own = INTEGER_TYPES[kind]
    return np.clip(whole, own.lowest // 2, own.highest // 2)


CLAMPS = (
    frequent("wraps", "clamp", out=wraps),
    step("wraps-above", "clamp", out=partial(wraps_at, 1)),
    step("wraps-below", "clamp", out=partial(wraps_at, 0)),
    frequent("narrow-range", "clamp", out=narrowed),
    step("highest-of-signed", "clamp", out=of_seven_bits),
)
ROUNDS = (
    step("truncates", "nearest", round=lambda total: np.trunc(total.astype(np.float64))),
    step("floor-of-half-more", "nearest", round=lambda total: np.floor(total + FLOAT(0.5)).astype(np.float64)),
)
STEPS: tuple[WrongStep, ...] = (*WHOLE, *QUOTIENTS, *SUMS, *CLAMPS, *ROUNDS, *ws.of_input("quotient"))
MISTAKES = single_steps(pipeline, STEPS)
FLOAT_POINT_MISTAKES = single_steps(pipeline, FLOAT_POINTS)
PAIRS = pairs_of_steps(pipeline, STEPS)

# The places of scales and zero points

NAMES = {
    "one-for-all:first range": "one-for-all:scale and zero point",
    "previous-range": "previous-channel",
    "next-range": "next-channel",
    "one-for-all:last range": "last-for-all",
    "ranges-reversed": "channels-reversed",
    "ranges-in-pairs": "channel-pairs",
    "ranges-of-first:four channels": "four-lanes",
    "ranges-repeat": "flat-modulo",
    "ranges-in-runs": "flat-runs",
    "ranges-along:the last axis": "channels-along:the last axis",
    "ranges-along:the first axis": "channels-along:the first axis",
    "one-for-all:min": "one-for-all:scale",
    "one-for-all:max": "one-for-all:zero point",
    "next-min": "next-scale",
    "next-max": "next-zero-point",
}
CHANNELS: tuple[WrongStep, ...] = tuple(one for one in ws.of_places("axis", NAMES) if one.id in NAMES.values())
CHANNEL_MISTAKES = single_steps(pipeline, CHANNELS)
