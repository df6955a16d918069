"""Usual mistakes of FakeQuantize, the likelier first: kernels, ways to clip and limits, then single wrong steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import openvino_fake_quantize_steps as steps
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.compiled_fake_quantize import (
    KERNELS,
    STEPS,
    output_high_misplaced,
    output_high_overrun,
)
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.openvino_fake_quantize_steps import FakeQuantizeSteps, Four, Inside
from tiebreak.conformance.operators.scale_and_zero_point import by_scale_and_zero_point
from tiebreak.conformance.semantics.fake_quantize_facets import STEPS_FLUSHED, divide_multiply, level_divided
from tiebreak.conformance.semantics.precisions import OF_TYPE
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Each arithmetic takes the number of levels, x and the four limits, of x's shape and type.

Arithmetic = Callable[..., Array]


def mistake(arithmetic: Arithmetic) -> Mistake:
    def run(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
        spread = (np.broadcast_to(p, x.shape) for p in limits)
        return (np.asarray(arithmetic(node.attributes["levels"], x, *spread)).astype(x.dtype).reshape(x.shape),)

    return run


def as_type_of(count: int, x: Array) -> Any:
    return np.asarray(float(count)).astype(x.dtype)[()]


def through(kind: Any, arithmetic: Arithmetic) -> Arithmetic:
    """The arithmetic in another type; the result is rounded to x's type."""
    return lambda levels, x, *limits: arithmetic(levels, x.astype(kind), *(p.astype(kind) for p in limits))


# The document's steps, in x's type


def unclipped(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    n = as_type_of(levels - 1, x)
    return np.asarray(np.rint((x - low) / (high - low) * n) / n * (last - first) + first)


def clipped(inside: Arithmetic) -> Arithmetic:
    """The document's branches: the output limits outside the input range, `inside` within it."""

    def run(levels: int, x: Array, *limits: Array) -> Array:
        low, high, first, last = limits
        found = np.asarray(inside(levels, x, *limits)).astype(x.dtype)
        return np.where(x <= np.minimum(low, high), first, np.where(x > np.maximum(low, high), last, found))

    return run


stepwise = clipped(unclipped)


def clipped_in(kind: Any) -> Arithmetic:
    """x is compared in its own type and the expression is in another."""
    return clipped(through(kind, unclipped))


# Scales and steps that are computed beforehand


def in_range(x: Array, low: Array, high: Array) -> Array:
    return np.asarray(np.minimum(np.maximum(x, low), high))


def folded(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array, *, fused: bool) -> Array:
    """x * scale - low * scale, rounded; then level * step + output_low, with a single rounding if fused."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    level = np.rint(in_range(x, low, high) * scale - low * scale)
    return ws.fused(level, step, first) if fused else np.asarray(level * step + first)


def always_rebuilt(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Output limits are converted to a zero point and a scale of 4 or 8 bits and back; equal ones become 0.

    Symmetric limits of 255 levels need no zero point. A compiler that leaves it out elsewhere stands beside this file.
    """
    if levels in STEPS:
        steps_of_type = as_type_of(STEPS[levels], first)
        width, zero = last - first, as_type_of(0, first)
        scale, point = width / steps_of_type, np.where(width == 0, zero, -steps_of_type * first / width)
        kept = (levels == 255) & (first == -last)
        first, last = np.where(kept, first, -point * scale), np.where(kept, last, (steps_of_type - point) * scale)
    return folded(levels, x, low, high, first, last, fused=True)


def folded_wide(
    levels: int, x: Array, low: Array, high: Array, first: Array, last: Array, *, rounds: bool = True
) -> Array:
    """Scale, shift and step are rounded to x's type and used in float32."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    wide = [v.astype(np.float32) for v in (in_range(x, low, high), scale, low * scale, step, first)]
    level = wide[0] * wide[1] - wide[2]
    return np.asarray((np.rint(level) if rounds else level) * wide[3] + wide[4])


def both_scales(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    n = as_type_of(levels - 1, x)
    return np.asarray(np.rint((x - low) * (n / (high - low))) * ((last - first) / n) + first)


def zero_point(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """An integer zero point: round(x / step) + round(-low / step)."""
    n = as_type_of(levels - 1, x)
    step, out_step = (high - low) / n, (last - first) / n
    level = np.rint(np.clip(x, np.minimum(low, high), np.maximum(low, high)) / step) - np.rint(low / step)
    return np.asarray(level * out_step + first)


def dequantized(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """A quantize and a dequantize: (level - zero_point) * step with zero_point = -output_low / step."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    level = np.rint(in_range(x, low, high) * scale - low * scale)
    return np.asarray((level - -first / step) * step)


def unshifted(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """A quantize and a dequantize without a zero point: round(x * s) * step."""
    n = as_type_of(levels - 1, x)
    scale, step = n / (high - low), (last - first) / n
    return np.asarray(np.rint(in_range(x, low, high) * scale) * step)


def by_parameters(levels: int, x: Array, *limits: Array, **how: Any) -> Array:
    """A scale and a zero point say the limits of the input and the output at once."""
    low, high, first, last = limits
    if not (np.array_equal(low, first) and np.array_equal(high, last)):
        raise ValueError("one scale for limits that differ")
    return by_scale_and_zero_point(x, low, high, (0, levels - 1), **how)


# Clipping, and limits that are equal or reversed


def always_divided(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """Clips x first, then evaluates the formula everywhere: equal limits are no special case."""
    return unclipped(levels, np.clip(x, np.minimum(low, high), np.maximum(low, high)), low, high, first, last)


def low_wins(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """max(min(x, input_high), input_low), then the formula: output_low everywhere if the limits are reversed."""
    return unclipped(levels, np.maximum(np.minimum(x, high), low), low, high, first, last)


def high_wins(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    return unclipped(levels, in_range(x, low, high), low, high, first, last)


def equal_limits_up(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    return np.where((x == low) & (low == high), last, stepwise(levels, x, low, high, first, last))


def high_included(x: Array, limits: Four, inside: Inside) -> Array:
    low, high, first, last = limits
    return np.where(x <= np.minimum(low, high), first, np.where(x >= np.maximum(low, high), last, inside(x)))


def low_excluded(x: Array, limits: Four, inside: Inside) -> Array:
    low, high, first, last = limits
    return np.where(x < np.minimum(low, high), first, np.where(x > np.maximum(low, high), last, inside(x)))


# Subnormals


def without_subnormals(values: Array) -> Array:
    tiny = 2.0 ** FLOAT_TYPES[values.dtype.name].emin
    return np.where(np.abs(values.astype(np.float64)) < tiny, np.zeros_like(values), values)


def flushing(arithmetic: Arithmetic) -> Arithmetic:
    """The inputs and the result."""
    return lambda levels, *inputs: without_subnormals(arithmetic(levels, *map(without_subnormals, inputs)))


def x_flushed(levels: int, x: Array, *limits: Array) -> Array:
    return stepwise(levels, without_subnormals(x), *limits)


def result_flushed(levels: int, x: Array, *limits: Array) -> Array:
    return without_subnormals(stepwise(levels, x, *limits))


def flushed_range(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """A subnormal width of the input range counts as 0."""
    width, n = without_subnormals(high - low), as_type_of(levels - 1, x)
    return np.asarray(np.rint((x - low) / width * n) / n * (last - first) + first)


# Places of limits. They take a node, x and the limits as given.


def repeated(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
    """Limits repeat along the flat array."""
    spread = (np.resize(limit.reshape(-1), x.shape) for limit in limits)
    return (np.asarray(stepwise(node.attributes["levels"], x, *spread)).astype(x.dtype).reshape(x.shape),)


def high_at_low(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
    """output_high is read at output_low's place."""
    if node.value("auto_broadcast") != "numpy":
        raise ValueError("limits have x's shape")
    return (output_high_misplaced(node.attributes["levels"], x, *limits),)


def high_overrun(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
    """output_high is read beyond its values."""
    if node.value("auto_broadcast") != "numpy":
        raise ValueError("limits have x's shape")
    return (output_high_overrun(node.attributes["levels"], x, *limits),)


def next_power_of_two(levels: int) -> int:
    return 1 << (levels - 1).bit_length()


def steps_flushed(levels: int, x: Array, low: Array, high: Array, first: Array, last: Array) -> Array:
    """The document's formula with each step's result flushed."""
    step, n = STEPS_FLUSHED.step_in(OF_TYPE[x.dtype.name]), as_type_of(levels - 1, x)
    level = np.rint(divide_multiply(step, x, low, high, n))
    return level_divided(step, level, first, last, n)


step = ws.entries_of(steps.MISTAKES, steps.PAIRS)


def formula(id: str, role: str, arithmetic: Arithmetic) -> tuple[Cause, Mistake]:
    return Cause(id, role), mistake(arithmetic)


def compiled(id: str, role: str, kernel: Arithmetic) -> tuple[Cause, Mistake]:
    """A row of a kernel that takes the limits as given."""

    def run(node: Node, x: Array, *limits: Array) -> tuple[Array, ...]:
        return (np.asarray(kernel(node.attributes["levels"], x, *limits)).astype(x.dtype).reshape(x.shape),)

    return Cause(id, role), run


LIKELY: tuple[tuple[Cause, Mistake], ...] = (
    formula("folded", "quotient", partial(folded, fused=False)),
    formula("folded-fused", "quotient", partial(folded, fused=True)),
    formula("folded-in-float32", "quotient", through(np.float32, partial(folded, fused=True))),
    formula("folded-wide", "quotient", folded_wide),
    *(compiled(*row) for row in KERNELS),
    formula("folded-rebuilt:whatever the limits", "quotient", through(np.float32, always_rebuilt)),
    formula("scale-and-zero-point-in:float32", "quotient", by_parameters),
    formula(
        "scale-and-zero-point-in:float64 + casts-to-int64",
        "quotient",
        partial(by_parameters, product=np.float64, casts=True),
    ),
    formula("does-not-round", "nearest", partial(folded_wide, rounds=False)),
    formula("quantize-and-dequantize", "sum", dequantized),
    formula("quantize-and-dequantize-unshifted", "sum", unshifted),
    formula("flushes-range", "quotient", clipped(flushed_range)),
    step("output-step-first", "fraction", "result:step"),
    step("input-scale-first", "quotient", "position:factor"),
    formula("scale-and-step-first", "quotient", clipped(both_scales)),
    formula("quantize-and-dequantize-in:float32", "sum", through(np.float32, dequantized)),
    formula("computes-in:float32", "quotient", through(np.float32, stepwise)),
    formula("computes-in:bfloat16", "quotient", through(ml_dtypes.bfloat16, stepwise)),
    formula("computes-in:float16", "quotient", through(np.float16, stepwise)),
    formula("flushes", "quotient", flushing(stepwise)),
    formula("flushes-every-step", "quotient", flushing(clipped(steps_flushed))),
    formula("divides-by-zero", "equal-limits", always_divided),
    formula("clips-low-last", "reversed", low_wins),
    formula("clips-high-last", "reversed", high_wins),
    step("clips-unordered", "reversed"),
    step("sorts-input-limits", "reversed"),
    step("sorts-output-limits", "falling"),
    step("one-for-all:limit", "projection"),
    step("levels-not-steps", "position"),
    step("does-not-clamp", "above"),
    step("floor-of-half-more", "nearest"),
    formula("rounds-zero-point", "quotient", clipped(zero_point)),
    step("position:factor and shift", "quotient"),
    step("position:fused", "quotient"),
    step("position:step", "quotient"),
    step("position:multiply, divide", "quotient"),
    step("position:reciprocal of range", "quotient"),
    step("position:without input_low", "quotient"),
    step("result:fused", "product"),
    step("result:multiply, divide", "product"),
    step("result:reciprocal of steps", "product"),
    step("result:quotient first, fused", "product"),
    step("result:between the limits", "product"),
    step("result:without output_low", "product"),
    step("one-level-fewer", "position"),
    (Cause("always-256-levels", "position"), FakeQuantizeSteps(levels=lambda levels: 256)),
    (Cause("power-of-two-levels", "position"), FakeQuantizeSteps(levels=next_power_of_two)),
    step("clamped-goes-through", "above"),
    (Cause("high-limit-is-above", "above"), FakeQuantizeSteps(branches=high_included)),
    (Cause("low-limit-is-inside", "below"), FakeQuantizeSteps(branches=low_excluded)),
    step("does-not-clamp-above", "above"),
    step("ends-exchanged", "above"),
    formula("equal-limits-go-up", "equal-limits", equal_limits_up),
    step("truncates", "nearest"),
    step("ties-away", "nearest"),
    step("truncates + one-level-fewer", "nearest", "one-level-fewer + truncates"),
    step("clamped-goes-through + result:quotient first, fused", "above"),
    formula("computes-in:float32, x compared in its own type", "quotient", clipped_in(np.float32)),
    formula("computes-in:float16, x compared in its own type", "quotient", clipped_in(np.float16)),
    formula("computes-in:bfloat16, x compared in its own type", "quotient", clipped_in(ml_dtypes.bfloat16)),
    formula("computes-in:float64, x compared in its own type", "quotient", clipped_in(np.float64)),
    formula("flushes-inputs", "quotient", x_flushed),
    formula("flushes-outputs", "quotient", result_flushed),
    step("takes-input-limits-for-output", "product"),
    step("output-limits-in-bfloat16", "product"),
    step("one-for-all:output limit", "projection"),
    (Cause("limits-repeat", "projection"), repeated),
    (Cause("output-high-at-output-low", "projection"), high_at_low),
    (Cause("output-high-beyond-its-values", "projection"), high_overrun),
)
MISTAKES = (*LIKELY, *ws.not_in(LIKELY, steps.MISTAKES))
PAIRS = steps.PAIRS
