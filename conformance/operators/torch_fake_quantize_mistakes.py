"""Usual mistakes of torch.fake_quantize_per_tensor_affine and …_per_channel_affine, as small NumPy backends.

The pipeline has five steps: the quotient, the level, the limits, the difference with the zero point and the product
with the scale. Quotients and results are float32, what is between them float64.
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
from tiebreak.conformance.operators.torch_quantize_mistakes import NAMES, by_reciprocal, divided, divided_in, multiplied
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.variants import conversions
from tiebreak.conformance.variants.places import Place
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, along

FLOAT = np.float32
Ends = tuple[int, int]


# The right steps


def rounded(quotient: Array, zero_point: Array) -> Array:
    """The rounded quotient plus the zero point."""
    return np.asarray(np.rint(quotient.astype(np.float64)) + zero_point.astype(np.float64))


def limited(level: Array, ends: Ends) -> Array:
    return np.fmin(np.fmax(level, ends[0]), ends[1])


def difference(level: Array, zero_point: Array) -> Array:
    return np.asarray(level - zero_point.astype(np.float64))


def product(whole: Array, scale: Array) -> Array:
    return np.asarray((whole * scale.astype(np.float64)).astype(FLOAT))


@dataclass(frozen=True)
class TorchFakeQuantizer:
    """Steps in order, the right ones unless given."""

    x: Callable[[Array], Array] = conversions.as_is
    zero: Callable[[Array], Array] = conversions.as_is
    places: tuple[Place | None, Place | None] = (None, None)
    quotient: Callable[[Array, Array], Array] = divided
    level: Callable[[Array, Array], Array] = rounded
    ends: Callable[[Ends], Ends] = lambda ends: ends
    limit: Callable[[Array, Ends], Array] = limited
    back: Callable[[Array, Array], Array] = difference
    product: Callable[[Array, Array], Array] = product
    out: Callable[[Array], Array] = conversions.as_is

    def __call__(self, node: Node, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
        ends = self.ends((node.attributes["quant_min"], node.attributes["quant_max"]))
        with np.errstate(all="ignore"):
            scale, zero_point = self.spread(node, x, scale, self.zero(zero_point))
            level = self.limit(self.level(self.quotient(self.x(x), scale), zero_point), ends)
            return (np.asarray(self.out(self.product(self.back(level, zero_point), scale)), FLOAT),)

    def spread(self, node: Node, x: Array, scale: Array, zero_point: Array) -> tuple[Array, Array]:
        """Scale and zero point of each element, each from its own place or a wrong one."""
        axes = (int(node.attributes["axis"]),) if "axis" in node.attributes else ()
        if self.places != (None, None):
            at = along(np.arange(scale.size), axes, x.shape) if axes else np.zeros((), np.int64)
            return ws.taken_from(self.places, np.broadcast_to(at, x.shape), scale, zero_point)
        scale, zero_point = (np.broadcast_to(along(a, axes, x.shape), x.shape) for a in (scale, zero_point))
        return scale, zero_point


def pipeline(**steps: Any) -> Mistake:
    return TorchFakeQuantizer(**steps)


QUOTIENTS = (
    frequent("own-reciprocal", "quotient", quotient=by_reciprocal),
    step("multiplies-by-scale", "quotient", quotient=multiplied),
    step("divides-in:float16", "quotient", quotient=partial(divided_in, np.float16)),
    step("divides-in:bfloat16", "quotient", quotient=partial(divided_in, ml_dtypes.bfloat16)),
)

# The level


def added_first(quotient: Array, zero_point: Array) -> Array:
    """The zero point is added to the quotient, in float32, before it is rounded."""
    return np.asarray(np.rint(quotient + zero_point.astype(FLOAT)), np.float64)


def added_first_if_float(quotient: Array, zero_point: Array) -> Array:
    """So only where zero points are floats."""
    if zero_point.dtype.kind == "i":
        raise ValueError("an integer is right")
    return added_first(quotient, zero_point)


def in_float32(quotient: Array, zero_point: Array) -> Array:
    return np.asarray((np.rint(quotient) + zero_point.astype(FLOAT)).astype(np.float64))


def by(whole: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda quotient, zero_point: np.asarray(whole(quotient.astype(np.float64)) + zero_point.astype(np.float64))


def cast_to(bits: int, quotient: Array, zero_point: Array) -> Array:
    """The quotient becomes an integer of so many bits; what is beyond becomes the lowest one."""
    whole = np.rint(quotient.astype(np.float64))
    held = np.abs(whole) < 2.0 ** (bits - 1)
    return np.asarray(np.where(held, whole, -(2.0 ** (bits - 1))) + zero_point.astype(np.float64))


def away(values: Array) -> Array:
    return np.asarray(np.copysign(np.floor(np.abs(values) + 0.5), values))


cast_to_int64, cast_to_int32 = (partial(cast_to, bits) for bits in (64, 32))
LEVELS = (
    frequent("zero-point-first", "add", level=added_first),
    frequent("zero-point-first:where it is a float", "add", level=added_first_if_float),
    frequent("sum-in:float32", "add", level=in_float32),
    step("ignores-zero-point", "add", level=lambda quotient, zero_point: np.rint(quotient).astype(np.float64)),
    frequent("casts-to-int64", "clamp", level=cast_to_int64),
    frequent("casts-to-int32", "clamp", level=cast_to_int32),
    frequent("ties-away", "nearest", level=by(away)),
    step("floor-of-half-more", "nearest", level=by(lambda q: np.floor((q + 0.5).astype(FLOAT)))),
    step("truncates", "nearest", level=by(np.trunc)),
)


def rounded_twice(whole: Array, scale: Array) -> Array:
    return np.asarray(whole.astype(FLOAT) * scale)


# torch's own arithmetic: integers are cast, floats are added first.
TOGETHER = (
    step("own-reciprocal + casts-to-int64", "quotient", quotient=by_reciprocal, level=cast_to_int64),
    step(
        "own-reciprocal + zero-point-first:where it is a float",
        "add",
        quotient=by_reciprocal,
        level=added_first_if_float,
    ),
    step(
        "own-reciprocal + sum-in:float32 + level-in:float32",
        "add",
        quotient=by_reciprocal,
        level=in_float32,
        product=rounded_twice,
    ),
)

# Limits, difference and product


def within(level: Array, ends: Ends) -> Array:
    """Nothing is limited."""
    return level


def below(level: Array, ends: Ends) -> Array:
    return np.fmin(level, ends[1])


def above(level: Array, ends: Ends) -> Array:
    return np.fmax(level, ends[0])


def limited_first(level: Array, zero_point: Array) -> Array:
    return level


def whole_zero(zero_point: Array) -> Array:
    """The zero point without its fraction."""
    if zero_point.dtype.kind == "i":
        raise ValueError("an integer has no fraction")
    return np.asarray(np.trunc(zero_point))


def nearest_zero(zero_point: Array) -> Array:
    if zero_point.dtype.kind == "i":
        raise ValueError("an integer has no fraction")
    return np.asarray(np.rint(zero_point))


def differs_in_float32(level: Array, zero_point: Array) -> Array:
    return np.asarray((level.astype(FLOAT) - zero_point.astype(FLOAT)).astype(np.float64))


def over_reciprocal(whole: Array, scale: Array) -> Array:
    return np.asarray(whole.astype(FLOAT) / (FLOAT(1) / scale))


OTHERS = (
    frequent("does-not-clamp", "clamp", limit=within),
    step("does-not-clamp-below", "clamp", limit=below),
    step("does-not-clamp-above", "clamp", limit=above),
    frequent("narrow-range", "clamp", ends=lambda ends: (ends[0] + 1, ends[1])),
    step("zero-point-stays", "subtract", back=limited_first),
    step("zero-point-cast-to:int32", "add", zero=whole_zero),
    step("rounds-zero-point", "add", zero=nearest_zero),
    frequent("difference-in:float32", "subtract", back=differs_in_float32),
    frequent("level-in:float32", "product", product=rounded_twice),
    step("divides-by-reciprocal", "product", product=over_reciprocal),
)
STEPS: tuple[WrongStep, ...] = (
    *QUOTIENTS,
    *TOGETHER,
    *LEVELS,
    *OTHERS,
    *ws.of_input("quotient"),
    *ws.of_result("product"),
)
CHANNELS: tuple[WrongStep, ...] = tuple(one for one in ws.of_places("axis", NAMES) if one.id in NAMES.values())
MISTAKES = single_steps(pipeline, STEPS)
CHANNEL_MISTAKES = single_steps(pipeline, CHANNELS)
PAIRS = pairs_of_steps(pipeline, STEPS)
