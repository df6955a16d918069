"""Usual mistakes of FakeQuantWithMinMaxVars and its per-channel form, as small NumPy backends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import tensorflow_fake_quant_steps as steps
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.scale_and_zero_point import by_scale_and_zero_point
from tiebreak.conformance.operators.tensorflow_fake_quant_steps import (
    FakeQuantSteps,
    StepGrid,
    all_in,
    moved,
    zero_included,
)
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Arrays are float32 and of the input's shape.
Float = np.float32


@dataclass(frozen=True)
class FakeQuant:
    """The arithmetic of a backend. The default is the document's, in working precision, with ties upward."""

    divisor: Callable[[Node], int] = lambda node: highest_of(node) - lowest_of(node)
    nudge: Callable[[Array], Array] = ws.upward
    quantize: Callable[[Array], Array] = ws.upward
    dtype: Any = np.float32
    shifted: bool = True  # a range without 0 is moved to 0
    adjusted: bool = True  # min and max are moved onto the grid
    clamp_to_given: bool = False
    reciprocal: bool = False
    adds_min: bool = False  # dequantizes by q * scale + min_adj, as a backend must if min_adj is no multiple of scale
    saturates: bool = True


def lowest_of(node: Node) -> int:
    return int(node.attributes.get("narrow_range", False))


def highest_of(node: Node) -> int:
    return (1 << int(node.attributes.get("num_bits", 8))) - 1


def run_fake_quant(fake: FakeQuant, node: Node, x: Array, low: Array, high: Array) -> Array:
    kind = fake.dtype
    x, low, high = (np.asarray(a, kind) for a in (x, low, high))
    scale = np.asarray((high - low) / kind(fake.divisor(node)), kind)
    first = np.where(low > 0, 0, np.where(high < 0, -fake.divisor(node), fake.nudge(np.asarray(low / scale))))
    least, greatest = adjusted_ends(fake, low, high, scale)
    clamped = np.clip(x, low, high) if fake.clamp_to_given else np.clip(x, least, greatest) if fake.saturates else x
    shifted = np.asarray(clamped - least, kind)
    q = np.asarray(shifted * (kind(1) / scale) if fake.reciprocal else shifted / scale, kind)
    steps = fake.quantize(q)
    if fake.adds_min:
        return np.asarray(np.asarray(steps * scale, kind) + least)
    return np.asarray(np.asarray(steps + first, kind) * scale)


def adjusted_ends(fake: FakeQuant, low: Array, high: Array, scale: Array) -> tuple[Array, Array]:
    zero = np.zeros_like(low)
    if not fake.adjusted:
        return low, high
    least = np.asarray(scale * fake.nudge(np.asarray(low / scale)))
    greatest = np.asarray((high + least) - low)
    if not fake.shifted:
        return np.where((low > 0) | (high < 0), low, least), np.where((low > 0) | (high < 0), high, greatest)
    least = np.where(low > 0, zero, np.where(high < 0, low - high, least))
    return least, np.where(low > 0, high - low, np.where(high < 0, zero, greatest))


def mistake(fake: FakeQuant) -> Mistake:
    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (np.asarray(run_fake_quant(fake, node, x, low, high), Float),)

    return run


def flush_keeping_sign(values: Array) -> Array:
    return np.where(np.abs(values) < Float(2.0**-126), np.copysign(Float(0), values), values)


def tensorflow_kernel(*, inverse: bool, flush: bool = False) -> Mistake:
    """The arithmetic of TensorFlow's CPU kernel in float32: a nudged zero point, floor(q + 0.5), (q - zero) * scale.

    `inverse`: quotients are products with n / (max - min), as in the per-channel kernel.
    """

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            kept = flush_keeping_sign if flush else np.asarray
            x, low, high = kept(x), kept(low), kept(high)
            least, greatest = Float(lowest_of(node)), Float(highest_of(node))
            scale = kept((high - low) / (greatest - least))
            factor = kept((greatest - least) / (high - low))
            zero_point = np.clip(ws.away(least - low / scale), least, greatest)
            bottom, top = kept((least - zero_point) * scale), kept((greatest - zero_point) * scale)
            zero = np.floor(-bottom * factor + Float(0.5))
            shifted = kept(np.maximum(np.minimum(x, top), bottom) - bottom)
            q = shifted * factor if inverse else shifted / scale
            result = kept(np.floor(q - zero + Float(0.5)) * scale)
            return (np.asarray(np.where((low == 0) & (high == 0), Float(0), result), Float),)

    return run


def lite_kernel(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """The arithmetic of TensorFlow Lite's kernel in float32: round((x - low) * (1 / scale)) * scale + low, low nudged.

    Ties go away from zero, also those of the zero point.
    """
    with np.errstate(all="ignore"):
        least, greatest = Float(lowest_of(node)), Float(highest_of(node))
        scale = (high - low) / (greatest - least)
        zero_point = np.clip(ws.away(least - low / scale), least, greatest)
        bottom, top = (least - zero_point) * scale, (greatest - zero_point) * scale
        steps = ws.away((np.minimum(np.maximum(x, bottom), top) - bottom) * (Float(1) / scale))
        return (np.asarray(steps * scale + bottom, Float),)


def by_parameters(**how: Any) -> Mistake:
    """A scale and an integer zero point."""

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        low, high = (np.broadcast_to(limit, x.shape) for limit in (low, high))
        with np.errstate(all="ignore"):
            return (by_scale_and_zero_point(x, low, high, (lowest_of(node), highest_of(node)), **how),)

    return run


def cast_first(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Casts levels to int64 before clamping: those beyond 2^63 either way become the lowest. The rest is right."""
    with np.errstate(all="ignore"):
        (right,) = mistake(PLAIN)(node, x, low, high)
        scale = np.asarray((high - low) / Float(PLAIN.divisor(node)), Float)
        least, _ = adjusted_ends(PLAIN, low, high, scale)
        beyond = np.abs(x / scale) >= Float(2.0**63)
        return (np.asarray(np.where(beyond & np.isfinite(x), least, right), Float),)


def with_attributes(run: Mistake, **changed: Any) -> Mistake:
    def changed_run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        return run(replace(node, attributes={**node.attributes, **changed}), *inputs)

    return changed_run


never_narrow = partial(with_attributes, narrow_range=False)

# Wrong steps, each step rounded to float32 and ties to even. Those of the shared table stand here for their places.

Ends = tuple[Array, Array, Array]


def as_given(low: Array, high: Array, scale: Array, count: Any, nudge: Any) -> Ends:
    return low / scale, low, high


def off_grid(low: Array, high: Array, scale: Array, count: Any, nudge: Any) -> Ends:
    return zero_included(low, high, count, low / scale, low, high)


def positive_stays(low: Array, high: Array, scale: Array, count: Any, nudge: Any) -> Ends:
    return zero_included(low, high, count, *moved(low, high, scale, nudge), positive=False)


def negative_stays(low: Array, high: Array, scale: Array, count: Any, nudge: Any) -> Ends:
    return zero_included(low, high, count, *moved(low, high, scale, nudge), negative=False)


def exact_sum(level: Array, grid: StepGrid) -> Array:
    """(q + min / scale) * scale, rounded once."""
    wide = (level.astype(np.float64) + grid.start.astype(np.float64)) * grid.scale.astype(np.float64)
    return np.asarray(wide.astype(level.dtype))


def over_levels(node: Node, width: Array, count: Any) -> Array:
    return np.asarray(width / Float(highest_of(node) + 1))


step = ws.entries_of(steps.MISTAKES, steps.PAIRS)


def own_step(id: str, role: str, **fields: Any) -> tuple[Cause, Mistake]:
    return Cause(id, role, 4), FakeQuantSteps(**fields)


WRONG_STEPS: tuple[tuple[Cause, Mistake], ...] = (
    step("floor-of-half-more", "levels"),
    step("truncates", "levels"),
    step("ties-away", "levels"),
    step("reciprocal-of-scale", "levels"),
    step("steps-over-range", "levels"),
    step("divides-apart", "levels"),
    step("adds-min", "dequantize"),
    step("adds-min-fused", "dequantize"),
    step("multiplies-apart", "dequantize"),
    own_step("not-on-grid:ranges without 0 are moved", "nudge-min", ends=off_grid),
    step("floors-min", "nudge-min"),
    step("ceils-min", "nudge-min"),
    step("max-stays", "nudge-min"),
    own_step("positive-range-stays", "positive-range", ends=positive_stays),
    own_step("negative-range-stays", "positive-range", ends=negative_stays),
    step("range-extended-to-zero", "positive-range"),
    step("clamps-to-given", "clamp"),
    step("does-not-clamp", "clamp"),
    step("narrow-range", "narrow"),
    step("ignores:narrow_range", "narrow"),
    step("ignores:num_bits", "num-bits"),
    step("narrow-scale-of-all", "scale"),
    own_step("levels-as-steps:whatever narrow_range says", "scale", scale=over_levels),
    step("computes-in:float64", "type"),
    (Cause("computes-in:bfloat16, inputs too", "type", 4), all_in(ml_dtypes.bfloat16, inputs=True)),
    (Cause("computes-in:float16, inputs too", "type", 4), all_in(np.float16, inputs=True)),
    step("floor-of-half-more + steps-over-range", "levels", "steps-over-range + floor-of-half-more"),
    (
        Cause("not-on-grid:ranges without 0 are moved + ignores:narrow_range", "nudge-min", 4),
        never_narrow(FakeQuantSteps(ends=off_grid)),
    ),
    step("truncates + adds-min", "levels"),
    own_step("not-on-grid:sum rounded once", "nudge-min", ends=as_given, result=exact_sum),
    own_step("not-on-grid:ranges without 0 are moved, sum rounded once", "nudge-min", ends=off_grid, result=exact_sum),
    (
        Cause("not-on-grid:ranges without 0 are moved, sum rounded once + ignores:narrow_range", "nudge-min", 4),
        never_narrow(FakeQuantSteps(ends=off_grid, result=exact_sum)),
    ),
)


PLAIN = FakeQuant()
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    (
        Cause("kernel-sums", "levels"),
        tensorflow_kernel(inverse=False),
    ),
    (
        Cause("kernel-factor-sums", "levels", 1),
        tensorflow_kernel(inverse=True),
    ),
    (
        Cause("kernel-sums + flushes", "levels", 2),
        tensorflow_kernel(inverse=False, flush=True),
    ),
    (
        Cause("kernel-factor-sums + flushes", "levels", 3),
        tensorflow_kernel(inverse=True, flush=True),
    ),
    (Cause("reciprocal-of-scale + adds-min:ties away", "dequantize", 4), lite_kernel),
    (Cause("scale-and-zero-point-in:float32", "levels", 4), by_parameters()),
    (
        Cause("scale-and-zero-point-in:float64 + casts-to-int64", "levels", 4),
        by_parameters(product=np.float64, casts=True),
    ),
    (Cause("adds-min:ties upward", "dequantize", 4), mistake(FakeQuant(adds_min=True))),
    (Cause("reciprocal-of-scale:ties upward", "levels", 4), mistake(FakeQuant(reciprocal=True))),
    (Cause("floor-of-half-more:ties upward", "levels", 4), mistake(FakeQuant(quantize=ws.floor_of_half_more))),
    (Cause("truncates:ties upward", "levels", 4), mistake(FakeQuant(quantize=np.trunc))),
    (Cause("rounds-level-up:ties upward", "levels", 4), mistake(FakeQuant(quantize=np.ceil))),
    (Cause("truncates-min:ties upward", "nudge-min", 4), mistake(FakeQuant(nudge=np.trunc))),
    (
        Cause("not-on-grid:adds min, ties upward", "nudge-min", 4),
        mistake(FakeQuant(adjusted=False, adds_min=True)),
    ),
    (Cause("clamps-to-given:ties upward", "clamp", 4), mistake(FakeQuant(clamp_to_given=True))),
    (Cause("does-not-clamp:ties upward", "clamp", 4), mistake(FakeQuant(saturates=False))),
    (Cause("casts-to-int64", "clamp", 4), cast_first),
    (
        Cause("range-stays", "positive-range", 4),
        mistake(FakeQuant(shifted=False, adds_min=True)),
    ),
    (Cause("ignores:narrow_range, ties upward", "narrow", 4), never_narrow(mistake(PLAIN))),
    (Cause("narrow-range:ties upward", "narrow", 4), with_attributes(mistake(PLAIN), narrow_range=True)),
    (
        Cause("narrow-scale-of-all:ties upward", "scale", 4),
        mistake(FakeQuant(divisor=highest_of)),
    ),
    (
        Cause("levels-as-steps:ties upward", "scale", 4),
        mistake(FakeQuant(divisor=lambda node: highest_of(node) - lowest_of(node) + 1)),
    ),
    (Cause("ignores:num_bits, ties upward", "num-bits", 4), with_attributes(mistake(PLAIN), num_bits=8)),
    (Cause("computes-in:float16, ties upward", "type", 4), mistake(FakeQuant(dtype=np.float16))),
    *WRONG_STEPS,
    *ws.not_in(WRONG_STEPS, steps.MISTAKES),
)
