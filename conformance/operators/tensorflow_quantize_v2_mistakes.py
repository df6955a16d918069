"""Usual mistakes of `tensorflow.QuantizeV2` as small NumPy backends, in float32 unless one says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.tensorflow_ranges import first_range_for_all, flush_float32, ranges_over_input
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tensorflow_quantize_v2 import LEAST
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class QuantizeV2Operands:
    """A case's operands, float32 and of x's shape: x and the ends of its range; and its attributes."""

    x: Array
    low: Array
    high: Array
    kind: IntegerType
    mode: str
    even: bool
    narrow: bool
    least: float

    @property
    def bounds(self) -> tuple[np.float32, np.float32]:
        """min_T and max_T."""
        return np.float32(self.lowest), np.float32(self.kind.highest)

    @property
    def lowest(self) -> int:
        """The lowest value in use."""
        return self.kind.lowest + (self.narrow and self.mode == "SCALED")

    @property
    def range_t(self) -> int:
        return self.kind.highest - self.kind.lowest

    @property
    def offset(self) -> float:
        return (self.range_t + 1) / 2 if self.kind.signed else 0.0

    def rounded(self, values: Array) -> Array:
        wide = np.asarray(values, np.float64)
        return np.rint(wide) if self.even else np.trunc(wide + np.copysign(nearest_half(wide), wide))

    def integers(self, values: Array) -> Array:
        finite = np.nan_to_num(values, nan=0.0)
        return np.asarray(np.clip(finite, self.lowest, self.kind.highest).astype(self.kind.name))

    def wrapped(self, values: Array) -> Array:
        finite = np.clip(np.nan_to_num(values, nan=0.0), -(2.0**62), 2.0**62).astype(np.int64)
        wide = np.mod(finite - self.kind.lowest, 1 << self.kind.bits) + self.kind.lowest
        return np.asarray(wide).astype(self.kind.name)


def nearest_half(wide: Array) -> Array:
    """1 where |wide| is to be rounded away from zero, else 0; computed without a sum that could round."""
    return np.asarray((np.abs(wide - np.trunc(wide)) >= 0.5).astype(np.float64))


Formula = Callable[[QuantizeV2Operands], Array]
Ends = Callable[[QuantizeV2Operands], tuple[Array, Array]]


def combined(o: QuantizeV2Operands) -> Array:
    difference = np.clip(o.x, o.low, o.high) - o.low
    return o.integers(o.rounded(difference * np.float32(o.range_t) / (o.high - o.low) - np.float32(o.offset)))


def first_scale(o: QuantizeV2Operands) -> Array:
    count = 2.0**o.kind.bits
    return np.asarray(np.float32(count) / ((o.high - o.low) * np.float32(count / (count - 1))))


def first_with(o: QuantizeV2Operands, scale: Array) -> Array:
    return o.integers(o.rounded(o.x * scale) - o.rounded(o.low * scale) + o.kind.lowest)


def first(o: QuantizeV2Operands) -> Array:
    return first_with(replace(o, x=np.clip(o.x, o.low, o.high)), first_scale(o))


def scale_factor(o: QuantizeV2Operands) -> Array:
    (min_t, max_t), largest = o.bounds, np.finfo(np.float32).max
    from_min = np.where(min_t * o.low > 0, min_t / o.low, largest)
    from_max = np.where(max_t * o.high > 0, max_t / o.high, largest)
    return np.minimum(from_min, from_max)


def scaled_by(o: QuantizeV2Operands, factor: Array) -> Array:
    low, high = (bound / factor for bound in o.bounds)
    return o.rounded(np.minimum(high, np.maximum(low, o.x)) * factor)


def scaled(o: QuantizeV2Operands) -> Array:
    return o.integers(scaled_by(o, scale_factor(o)))


def range_used(o: QuantizeV2Operands) -> tuple[Array, Array]:
    if o.mode != "SCALED":
        return o.low, o.high
    factor = scale_factor(o)
    return o.bounds[0] / factor, o.bounds[1] / factor


RIGHT: dict[str, Formula] = {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}


def mistake(
    formulas: dict[str, Formula] | None = None,
    ends: Ends = range_used,
    change: Callable[[QuantizeV2Operands], QuantizeV2Operands] = lambda own: own,
    one_range: bool = False,
    matters: Callable[[QuantizeV2Operands], bool] = lambda own: True,
) -> Mistake:
    """A backend whose formulas, range outputs (`ends`) or operands (`change`) are wrong; the rest is right.

    It raises ValueError where the mistake makes no difference (`matters`), so that it is no candidate there.
    """

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        attributes = node.attributes
        low, high = first_range_for_all(low, high) if one_range else (low, high)
        facts: tuple[Any, ...] = (
            INTEGER_TYPES[node.output_type],
            attributes.get("mode", "MIN_COMBINED"),
            attributes.get("round_mode") == "HALF_TO_EVEN",
            attributes.get("narrow_range", False),
            attributes.get("ensure_minimum_range", LEAST),
        )
        with np.errstate(all="ignore"):
            given = QuantizeV2Operands(x, *ranges_over_input(attributes, x, low, high), *facts)
            if not matters(given):
                raise ValueError("there is nothing to mistake")
            own = change(given)
            own_range = change(QuantizeV2Operands(low, low, high, *facts))
            output = (RIGHT | (formulas or {}))[own.mode](own)
            return np.asarray(output), *(np.asarray(end, np.float32) for end in ends(own_range))

    return run


def ratio_first(o: QuantizeV2Operands) -> Array:
    """As in TensorFlow's kernel: a float32 factor; unsigned results add 1/2 and truncate."""
    factor = (np.float32(o.range_t) / (o.high - o.low)).astype(np.float32)
    product = (np.clip(o.x, o.low, o.high) - o.low) * factor
    if o.kind.signed:
        return o.integers(o.rounded(product - np.float32(o.offset)))
    return o.integers(np.trunc(product + np.float32(0.5)))


def one_division(o: QuantizeV2Operands) -> Array:
    return np.asarray(((2.0**o.kind.bits - 1) / (o.high - o.low).astype(np.float64)).astype(np.float32))


def float_sums(o: QuantizeV2Operands) -> Array:
    """As in TensorFlow's kernel: the subtraction and the ends of the clamp are in float32."""
    scale, top = one_division(o), np.float32(o.kind.highest)
    if float(top) > o.kind.highest:
        top = np.nextafter(top, np.float32(0))
    shift = o.rounded(o.low * scale).astype(np.float32) - np.float32(o.kind.lowest)
    values = o.rounded(o.x * scale).astype(np.float32) - shift
    return o.integers(np.minimum(np.maximum(values, np.float32(o.kind.lowest)), top).astype(np.float64))


def rounded_once(o: QuantizeV2Operands) -> Array:
    return o.integers(o.rounded(o.x * one_division(o) - o.low * one_division(o)) + o.kind.lowest)


def rounded_once_to_even(o: QuantizeV2Operands) -> Array:
    """As in oneDNN: the difference is scaled and rounded once, ties to even."""
    scale = np.float32(o.range_t) / (o.high - o.low)
    return o.integers(np.rint((o.x - o.low) * scale) + o.kind.lowest)


def top_overflows(o: QuantizeV2Operands) -> Array:
    """A cast to int32 turns 2^31 into the lowest value, as on x86, even with narrow_range."""
    values = np.nan_to_num(scaled_by(o, scale_factor(o)), nan=0.0)
    beyond = (values > o.kind.highest) | (values < o.kind.lowest)
    return np.asarray(np.where(beyond, o.kind.lowest, values).astype(o.kind.name))


def larger_end(o: QuantizeV2Operands) -> Array:
    """As in oneDNN: one factor for both sides of zero, from half of the values of a signed type."""
    count = np.float32((o.range_t - o.narrow) / (2 if o.kind.signed else 1))
    return o.integers(o.rounded(o.x * (count / np.maximum(np.abs(o.low), np.abs(o.high)))))


def larger_ends(o: QuantizeV2Operands) -> tuple[Array, Array]:
    if o.mode != "SCALED":
        return o.low, o.high
    end = np.maximum(np.abs(o.low), np.abs(o.high))
    return -end if o.kind.signed else np.zeros_like(end), end


def widened(o: QuantizeV2Operands) -> QuantizeV2Operands:
    """As in TensorFlow's kernel: the range includes 0 and is at least ensure_minimum_range times its magnitude wide.

    The magnitude counts as at least 1.
    """
    low = np.minimum(o.low, np.float32(0))
    magnitude = np.maximum(np.float32(1), np.maximum(np.abs(o.low), np.abs(o.high)))
    high = np.maximum(np.maximum(o.high, low + magnitude * np.float32(o.least)), np.float32(0))
    return replace(o, low=low, high=high)


def has_subnormals(o: QuantizeV2Operands) -> bool:
    return any((flush_float32(values) != values).any() for values in (o.x, o.low, o.high, o.high - o.low))


def without_subnormals(o: QuantizeV2Operands) -> QuantizeV2Operands:
    return replace(o, x=flush_float32(o.x), low=flush_float32(o.low), high=flush_float32(o.high))


def flushed_range(o: QuantizeV2Operands) -> tuple[Array, Array]:
    low, high = range_used(o)
    return flush_float32(low), flush_float32(high)


def flushed_ratio(o: QuantizeV2Operands) -> Array:
    """As ratio_first, but a product that is infinite or NaN becomes the lowest value."""
    product = flush_float32(np.clip(o.x, o.low, o.high) - o.low) * (
        np.float32(o.range_t) / flush_float32(o.high - o.low)
    )
    whole = o.rounded(product - np.float32(o.offset)) if o.kind.signed else np.trunc(product + np.float32(0.5))
    return o.integers(np.where(np.isfinite(product), whole, o.kind.lowest))


def flushed_sums(o: QuantizeV2Operands) -> Array:
    """As float_sums, but a range of width 0 gives the lowest value."""
    width = flush_float32(o.high - o.low)
    return np.where(width == 0, o.integers(np.full(o.x.shape, o.kind.lowest)), float_sums(o))


def flushed_combined(o: QuantizeV2Operands) -> Array:
    difference, width = flush_float32(np.clip(o.x, o.low, o.high) - o.low), flush_float32(o.high - o.low)
    return o.integers(o.rounded(difference * np.float32(o.range_t) / width - np.float32(o.offset)))


def flushed_scaled(o: QuantizeV2Operands) -> Array:
    factor = scale_factor(o)
    low, high = (flush_float32(bound / factor) for bound in o.bounds)
    return o.integers(o.rounded(np.minimum(high, np.maximum(low, o.x)) * factor))


def divides_by_step(o: QuantizeV2Operands) -> Array:
    factor = scale_factor(o)
    low, high = (bound / factor for bound in o.bounds)
    return o.integers(o.rounded(np.minimum(high, np.maximum(low, o.x)) / (np.float32(1) / factor)))


def no_offset(o: QuantizeV2Operands) -> Array:
    difference = np.clip(o.x, o.low, o.high) - o.low
    return o.wrapped(o.rounded(difference * np.float32(o.range_t) / (o.high - o.low)))


def counted_values(o: QuantizeV2Operands) -> Array:
    difference = np.clip(o.x, o.low, o.high) - o.low
    return o.integers(o.rounded(difference * np.float32(o.range_t + 1) / (o.high - o.low) - np.float32(o.offset)))


def unclipped(o: QuantizeV2Operands) -> Array:
    return o.wrapped(o.rounded((o.x - o.low) * np.float32(o.range_t) / (o.high - o.low) - np.float32(o.offset)))


def unclamped(o: QuantizeV2Operands) -> Array:
    scale = first_scale(o)
    return o.wrapped(o.rounded(o.x * scale) - o.rounded(o.low * scale) + o.kind.lowest)


def unclipped_scaled(o: QuantizeV2Operands) -> Array:
    return o.wrapped(o.rounded(o.x * scale_factor(o)))


MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("range-ratio-first", "combined"), mistake({"MIN_COMBINED": ratio_first})),
    (
        Cause("one-division", "range-scale"),
        mistake({"MIN_FIRST": lambda o: first_with(o, one_division(o))}),
    ),
    (Cause("one-division-float-sums", "clamp"), mistake({"MIN_FIRST": float_sums})),
    (Cause("rounds-once", "round-both"), mistake({"MIN_FIRST": rounded_once})),
    (
        Cause("rounds-once-to-even", "round-both"),
        mistake({"MIN_FIRST": rounded_once_to_even}),
    ),
    (Cause("highest-overflows", "scaled"), mistake({"SCALED": top_overflows})),
    (
        Cause("one-scale-for-both-sides", "scale-factor"),
        mistake({"SCALED": larger_end}, larger_ends),
    ),
    (
        Cause("widens-by-magnitude", "least-range"),
        mistake({"MIN_COMBINED": ratio_first, "MIN_FIRST": float_sums}, change=widened),
    ),
    (
        Cause("flushes", "adjusted-range"),
        mistake(
            {"MIN_COMBINED": flushed_combined, "SCALED": flushed_scaled},
            ends=flushed_range,
            change=without_subnormals,
        ),
    ),
    (
        Cause("range-ratio-first + flushes", "adjusted-range"),
        mistake(
            {"MIN_COMBINED": flushed_ratio, "MIN_FIRST": flushed_sums, "SCALED": flushed_scaled},
            ends=flushed_range,
            change=without_subnormals,
            matters=has_subnormals,
        ),
    ),
    (Cause("divides-by-step", "scaled"), mistake({"SCALED": divides_by_step})),
    (Cause("ignores:narrow_range", "narrow"), mistake(change=lambda o: replace(o, narrow=False))),
    (Cause("no-offset", "offset"), mistake({"MIN_COMBINED": no_offset})),
    (Cause("counts-values", "range-of-T"), mistake({"MIN_COMBINED": counted_values})),
    (
        Cause("does-not-clip-and-wraps", "clip"),
        mistake({"MIN_COMBINED": unclipped, "MIN_FIRST": unclamped, "SCALED": unclipped_scaled}),
    ),
    (Cause("one-for-all:range", "axis"), mistake(one_range=True)),
    (Cause("returns-given-range", "range-outputs"), mistake(ends=lambda o: (o.low, o.high))),
    (
        Cause("outputs-exchanged", "range-outputs"),
        mistake(ends=lambda o: (range_used(o)[1], range_used(o)[0])),
    ),
)
