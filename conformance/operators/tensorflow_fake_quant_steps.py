"""Wrong steps of FakeQuantWithMinMaxVars and its per-channel form: one of them, or two at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.wrong_steps import frequent, step
from tiebreak.conformance.variants import conversions
from tiebreak.conformance.variants.places import Place
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Float = np.float32
RANK = 5


@dataclass(frozen=True)
class StepGrid:
    """The steps so far of one call; arrays of float32 and x's shape."""

    low: Array
    high: Array
    scale: Array
    start: Array  # min_adj in units of the scale
    least: Array  # min_adj
    most: Array  # max_adj
    count: Any  # of steps


Limits = tuple[Array, Array]


def steps_of_type(bits: int, narrow: bool) -> int:
    return (1 << bits) - 1 - narrow


@dataclass(frozen=True)
class FakeQuantSteps:
    """The document's steps, each rounded to float32. A field that is not as here is a wrong step."""

    x: Callable[[Array], Array] = lambda x: x
    places: tuple[Place | None, Place | None] | None = None
    range: Callable[[Array, Array], Limits] = lambda low, high: (low, high)
    bits: Callable[[int, bool], int] = steps_of_type
    scale: Callable[[Node, Array, Any], Array] = lambda node, width, count: width / count
    nudge: Callable[[Array], Array] = np.rint
    ends: Callable[[Array, Array, Array, Any, Callable[[Array], Array]], tuple[Array, Array, Array]] = (
        lambda low, high, scale, count, nudge: zero_included(low, high, count, *moved(low, high, scale, nudge))
    )
    clamp: Callable[[Array, StepGrid], Array] = lambda x, g: np.minimum(np.maximum(x, g.least), g.most)
    quotient: Callable[[Array, StepGrid], Array] = lambda x, g: (x - g.least) / g.scale
    rounded: Callable[[Array], Array] = np.rint
    result: Callable[[Array, StepGrid], Array] = lambda level, g: (level + g.start) * g.scale
    out: Callable[[Array], Array] = lambda y: y
    whole: Callable[[Array, StepGrid], Array] | None = None  # all from the clamp to the result

    def __call__(self, node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            x = self.x(x)
            low, high = self.spread(x, low, high)
            grid = self.grid(node, *self.range(low, high))
            if self.whole is not None:
                return (np.asarray(self.out(np.asarray(self.whole(x, grid), Float))),)
            level = self.rounded(np.asarray(self.quotient(self.clamp(x, grid), grid), Float))
            return (np.asarray(self.out(np.asarray(self.result(level, grid), Float))),)

    def spread(self, x: Array, low: Array, high: Array) -> Limits:
        if self.places is not None:
            return ws.taken_from(self.places, np.broadcast_to(np.arange(low.size), x.shape), low, high)
        return np.broadcast_to(low, x.shape), np.broadcast_to(high, x.shape)

    def grid(self, node: Node, low: Array, high: Array) -> StepGrid:
        narrow = bool(node.attributes.get("narrow_range", False))
        bits = int(node.attributes.get("num_bits", 8))
        count = Float(self.bits(bits, narrow))
        if self.bits is not steps_of_type and count == Float(steps_of_type(bits, narrow)):
            raise ValueError("there is nothing to mistake")
        scale = np.asarray(self.scale(node, high - low, count), Float)
        return StepGrid(low, high, scale, *self.ends(low, high, scale, count, self.nudge), count)


def moved(low: Array, high: Array, scale: Array, nudge: Callable[[Array], Array]) -> tuple[Array, Array, Array]:
    """min_adj in units of the scale, min_adj and max_adj of a range that includes 0."""
    start = nudge(low / scale)
    least = scale * start
    return start, least, (high + least) - low


def zero_included(
    low: Array,
    high: Array,
    count: Any,
    start: Array,
    least: Array,
    most: Array,
    *,
    positive: bool = True,
    negative: bool = True,
) -> tuple[Array, Array, Array]:
    """A range on one side of 0 is moved to it, unless ranges on that side are not."""
    above, below, zero = (low > 0) & positive, (high < 0) & negative, Float(0)
    return (
        np.where(above, zero, np.where(below, -count, start)),
        np.where(above, zero, np.where(below, low - high, least)),
        np.where(above, high - low, np.where(below, zero, most)),
    )


def max_on_grid(low: Array, high: Array, scale: Array, count: Any, nudge: Any) -> tuple[Array, Array, Array]:
    last = nudge(high / scale)
    return zero_included(low, high, count, last - count, (last - count) * scale, last * scale)


def max_stays(low: Array, high: Array, scale: Array, count: Any, nudge: Any) -> tuple[Array, Array, Array]:
    start = nudge(low / scale)
    return zero_included(low, high, count, start, scale * start, high)


def max_by_steps(low: Array, high: Array, scale: Array, count: Any, nudge: Any) -> tuple[Array, Array, Array]:
    start = nudge(low / scale)
    return zero_included(low, high, count, start, scale * start, (count + start) * scale)


def other_neighbour(ratio: Array) -> Array:
    return np.asarray(np.rint(ratio) + np.sign(ratio - np.rint(ratio)))


def up_to_power_of_two(width: Array, count: Any) -> Array:
    return np.asarray(np.exp2(np.ceil(np.log2(width.astype(np.float64) / count))))


def symmetric(low: Array, high: Array) -> Limits:
    size = np.maximum(np.abs(low), np.abs(high))
    return -size, size


def inverse(g: StepGrid) -> Array:
    return Float(1) / g.scale


def product_cut_off(level: Array, g: StepGrid) -> Array:
    return conversions.cut_off((level + g.start).astype(np.float64) * g.scale.astype(np.float64), Float)


def by_zero_point(x: Array, g: StepGrid) -> Array:
    """A quantize and a dequantize."""
    return np.asarray((np.clip(np.rint(x / g.scale) - g.start, 0, g.count) + g.start) * g.scale)


def scale_held(change: conversions.Change) -> Callable[[Node, Array, Any], Array]:
    return lambda node, width, count: change(width / count)


def range_held(change: conversions.Change) -> Callable[[Array, Array], Limits]:
    return lambda low, high: (change(low), change(high))


def all_in(kind: Any, *, inputs: bool = False) -> Mistake:
    """Every step from the range on rounded to a type; the `inputs` and the number of steps, too, or as they are."""

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        def s(values: Any) -> Array:
            return np.asarray(np.asarray(values, np.float64).astype(kind).astype(np.float64))

        given = s if inputs else wide
        x, low, high = given(x), *(np.broadcast_to(given(end), x.shape) for end in (low, high))
        count = given((1 << int(node.attributes.get("num_bits", 8))) - 1 - bool(node.attributes.get("narrow_range")))
        with np.errstate(all="ignore"):
            scale = s(s(high - low) / count)
            start = np.rint(s(low / scale))
            least = s(scale * start)
            above, below = low > 0, high < 0
            most = np.where(above, s(high - low), np.where(below, 0.0, s(s(high + least) - low)))
            least = np.where(above, 0.0, np.where(below, s(low - high), least))
            start = np.where(above, 0.0, np.where(below, -count, start))
            kept = np.minimum(np.maximum(x, least), most)
            level = np.rint(s(s(kept - least) / scale))
            return (np.asarray(s(given(level + start) * scale).astype(Float)),)

    return run


def wide(values: Any) -> Array:
    return np.asarray(values, np.float64)


STEPS: tuple[ws.WrongStep, ...] = (
    *ws.of_input("clamp"),
    frequent("range-in-bfloat16", "scale", range=range_held(conversions.in_bfloat16)),
    step("range-in:float16", "scale", range=range_held(conversions.in_float16)),
    frequent(
        "range-extended-to-zero",
        "positive-range",
        range=lambda low, high: (np.minimum(low, Float(0)), np.maximum(high, Float(0))),
    ),
    step("range-made-symmetric", "scale", range=symmetric),
    step(
        "max-is-greater-magnitude",
        "scale",
        range=lambda low, high: (low, np.maximum(np.abs(low), np.abs(high))),
    ),
    frequent("ignores:narrow_range", "narrow", bits=lambda bits, narrow: (1 << bits) - 1),
    frequent("narrow-range", "narrow", bits=lambda bits, narrow: (1 << bits) - 2),
    step("inverts:narrow_range", "narrow", bits=lambda bits, narrow: (1 << bits) - 1 - (not narrow)),
    frequent("ignores:num_bits", "num-bits", bits=lambda bits, narrow: 255 - narrow),
    frequent("at-most:8 bits", "num-bits", bits=lambda bits, narrow: (1 << min(bits, 8)) - 1 - narrow),
    step("one-bit-less", "num-bits", bits=lambda bits, narrow: max((1 << (bits - 1)) - 1 - narrow, 1)),
    step("one-bit-more", "num-bits", bits=lambda bits, narrow: (1 << (bits + 1)) - 1 - narrow),
    frequent(
        "narrow-scale-of-all",
        "scale",
        scale=lambda node, width, count: width / Float((1 << int(node.attributes.get("num_bits", 8))) - 1),
    ),
    frequent("levels-as-steps", "scale", scale=lambda node, width, count: width / (count + Float(1))),
    frequent("scale-in:float16", "scale", scale=scale_held(conversions.in_float16)),
    frequent("scale-in:bfloat16", "scale", scale=scale_held(conversions.in_bfloat16)),
    step("scale-in:TF32", "scale", scale=scale_held(conversions.in_tf32)),
    step("scale-of-digits:6", "scale", scale=scale_held(conversions.of_six_digits)),
    step("scale-cut-off-to-bfloat16", "scale", scale=scale_held(conversions.cut_to_bfloat16)),
    step("scale-to-power-of-two", "scale", scale=lambda node, width, count: up_to_power_of_two(width, count)),
    step("range-over-steps-by-reciprocal", "scale", scale=lambda node, width, count: width * (Float(1) / count)),
    step("reciprocal-of-steps-over-range", "scale", scale=lambda node, width, count: Float(1) / (count / width)),
    frequent("floors-min", "nudge-min", nudge=np.floor),
    frequent("ceils-min", "nudge-min", nudge=np.ceil),
    step("truncates-min", "nudge-min", nudge=np.trunc),
    step("adds-half-to-min-and-truncates", "nudge-min", nudge=ws.trunc_of_half_more),
    step("min-off-by-one:up", "nudge-min", nudge=lambda ratio: np.rint(ratio) + Float(1)),
    step("min-off-by-one:down", "nudge-min", nudge=lambda ratio: np.rint(ratio) - Float(1)),
    step("min-to-other-neighbour", "nudge-min", nudge=other_neighbour),
    frequent("not-on-grid", "nudge-min", ends=lambda low, high, scale, count, nudge: (low / scale, low, high)),
    step("max-onto-grid", "nudge-min", ends=max_on_grid),
    step("max-stays", "nudge-min", ends=max_stays),
    step("max-from-steps", "nudge-min", ends=max_by_steps),
    step(
        "range-moved-as-any",
        "positive-range",
        ends=lambda low, high, scale, count, nudge: moved(low, high, scale, nudge),
    ),
    frequent("does-not-clamp", "clamp", clamp=lambda x, g: x),
    step("clamps-to-given", "clamp", clamp=lambda x, g: np.minimum(np.maximum(x, g.low), g.high)),
    step("does-not-clamp-above", "clamp", clamp=lambda x, g: np.maximum(x, g.least)),
    step("does-not-clamp-below", "clamp", clamp=lambda x, g: np.minimum(x, g.most)),
    frequent("reciprocal-of-scale", "levels", quotient=lambda x, g: (x - g.least) * inverse(g)),
    frequent("steps-over-range", "levels", quotient=lambda x, g: (x - g.least) * (g.count / (g.high - g.low))),
    frequent("divides-apart", "levels", quotient=lambda x, g: x / g.scale - g.start),
    step("divides-both", "levels", quotient=lambda x, g: x / g.scale - g.least / g.scale),
    step("multiplies-both", "levels", quotient=lambda x, g: x * inverse(g) - g.least * inverse(g)),
    step("multiplies-both-fused", "levels", quotient=lambda x, g: ws.fused(x, inverse(g), -(g.least * inverse(g)))),
    step("divides-by-range", "levels", quotient=lambda x, g: (x - g.least) / (g.high - g.low) * g.count),
    step("reciprocal-of-bits:12", "levels", quotient=lambda x, g: (x - g.least) * conversions.estimate(g.scale)),
    step("quotient-in:float16", "levels", quotient=lambda x, g: conversions.in_float16((x - g.least) / g.scale)),
    step("quotient-in:bfloat16", "levels", quotient=lambda x, g: conversions.in_bfloat16((x - g.least) / g.scale)),
    frequent("truncates", "levels", rounded=np.trunc),
    frequent("rounds-level-up", "levels", rounded=np.ceil),
    frequent("ties-away", "levels", rounded=ws.away),
    frequent("floor-of-half-more", "levels", rounded=ws.floor_of_half_more),
    step("ties-toward-zero", "levels", rounded=ws.toward_zero),
    step("adds-half-and-truncates", "levels", rounded=ws.trunc_of_half_more),
    frequent("adds-min", "dequantize", result=lambda level, g: level * g.scale + g.least),
    frequent("adds-min-fused", "dequantize", result=lambda level, g: ws.fused(level, g.scale, g.least)),
    frequent("multiplies-apart", "dequantize", result=lambda level, g: level * g.scale + g.start * g.scale),
    frequent("divides-by-reciprocal", "dequantize", result=lambda level, g: (level + g.start) / inverse(g)),
    frequent(
        "step-in:float16", "dequantize", result=lambda level, g: (level + g.start) * conversions.in_float16(g.scale)
    ),
    frequent(
        "step-in:bfloat16", "dequantize", result=lambda level, g: (level + g.start) * conversions.in_bfloat16(g.scale)
    ),
    step("no-minimum", "dequantize", result=lambda level, g: level * g.scale),
    step("cuts-off", "dequantize", result=product_cut_off),
    frequent("quantize-and-dequantize", "levels", whole=by_zero_point),
    *ws.of_result("dequantize"),
)
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    *ws.single_steps(FakeQuantSteps, STEPS, RANK),
    *((Cause(f"computes-in:{np.dtype(kind).name}", "type", RANK), all_in(kind))
      for kind in (np.float16, ml_dtypes.bfloat16, np.float64)),
)  # fmt: skip
PAIRS = ws.pairs_of_steps(FakeQuantSteps, STEPS)
CHANNELS = ws.of_places("range", {"one-for-all:first range": "one-for-all:range"})
PER_CHANNEL = ws.single_steps(FakeQuantSteps, CHANNELS, RANK)
PER_CHANNEL_PAIRS = ws.pairs_of_steps(FakeQuantSteps, (*CHANNELS, *STEPS))
