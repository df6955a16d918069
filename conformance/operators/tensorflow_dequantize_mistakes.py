"""Usual mistakes of Dequantize, the likelier first. Their arithmetic is in float32 unless it says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import tensorflow_dequantize_steps as steps
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.tensorflow_ranges import flush_float32, ranges_over_input
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class DequantizeOperands:
    """A case's operands, all of x's shape: x (int64) and the ends of its range (float32); and its attributes."""

    x: Array
    low: Array
    high: Array
    kind: IntegerType
    mode: str
    narrow: bool

    @property
    def range_t(self) -> int:
        return self.kind.highest - self.kind.lowest

    @property
    def offset_input(self) -> Array:
        """input - lowest, from 0 up."""
        return np.asarray((self.x - self.kind.lowest).astype(np.float64))


Formula = Callable[[DequantizeOperands], Array]


def combined(o: DequantizeOperands) -> Array:
    product = o.offset_input.astype(np.float32) * (o.high - o.low)
    return np.asarray(o.low + product / np.float32(o.range_t))


def first_scale(o: DequantizeOperands) -> Array:
    count = 2.0**o.kind.bits
    return np.asarray((o.high - o.low) * np.float32(count / (count - 1)) / np.float32(count))


def first(o: DequantizeOperands) -> Array:
    return np.asarray(o.low.astype(np.float64) + o.offset_input * first_scale(o).astype(np.float64))


def factors(o: DequantizeOperands) -> tuple[Array, Array]:
    """The factors of min_range and max_range; the first counts only for signed types."""
    lowest = np.float32(o.kind.lowest + o.narrow)
    return o.low / lowest, o.high / np.float32(o.kind.highest)


def scaled_by(o: DequantizeOperands, factor: Array) -> Array:
    return np.asarray(o.x.astype(np.float32) * factor)


def factor(o: DequantizeOperands) -> Array:
    from_min, from_max = factors(o)
    return np.maximum(from_min, from_max) if o.kind.signed else from_max


def scaled(o: DequantizeOperands) -> Array:
    return scaled_by(o, factor(o))


RIGHT: dict[str, Formula] = {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}


def mistake(
    formulas: dict[str, Formula] | None = None,
    change: Callable[[DequantizeOperands], DequantizeOperands] = lambda own: own,
    finish: Callable[[Array], Array] = lambda values: values,
    matters: Callable[[DequantizeOperands], bool] = lambda own: True,
) -> Mistake:
    """A backend whose formulas, operands (`change`) or last step (`finish`) are wrong; the rest is right.

    It raises ValueError where there is nothing to mistake (`matters`, another mode), so that it is no candidate there.
    """

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        attributes, kind = node.attributes, INTEGER_TYPES[node.input_type]
        mode, narrow = attributes.get("mode", "MIN_COMBINED"), attributes.get("narrow_range", False)
        with np.errstate(all="ignore"):
            given = DequantizeOperands(
                x.astype(np.int64), *ranges_over_input(attributes, x, low, high), kind, mode, narrow
            )
            if mode not in (formulas or RIGHT) or not matters(given):
                raise ValueError("there is nothing to mistake")
            own = change(given)
            values = (RIGHT | (formulas or {}))[mode](own).astype(np.float32)
            return (np.asarray(finish(values)).astype(node.outputs[0].dtype),)

    return run


def ratio_first(o: DequantizeOperands) -> Array:
    """As in TensorFlow's kernel: the range ratio is rounded before the product."""
    return np.asarray(o.offset_input.astype(np.float32) * ((o.high - o.low) / np.float32(o.range_t)) + o.low)


def ratio_flushed(o: DequantizeOperands) -> Array:
    ratio = flush_float32((o.high - o.low) / np.float32(o.range_t))
    return np.asarray(flush_float32(o.offset_input.astype(np.float32) * ratio) + o.low)


def rounded_minimum(o: DequantizeOperands) -> Array:
    """As in TensorFlow's kernel: min_range moves to the nearest multiple of the scale, all in float32."""
    return moved_minimum(o, ((o.high - o.low).astype(np.float64) / o.range_t).astype(np.float32))


def rounded_minimum_flushed(o: DequantizeOperands) -> Array:
    return moved_minimum(o, flush_float32(((o.high - o.low).astype(np.float64) / o.range_t).astype(np.float32)))


def moved_minimum(o: DequantizeOperands, scale: Array) -> Array:
    multiple = (o.low / scale).astype(np.float64)
    whole = np.trunc(multiple) + np.copysign(np.abs(multiple - np.trunc(multiple)) >= 0.5, multiple)
    start = np.where(o.low == o.high, o.low, whole.astype(np.float32) * scale)
    return np.asarray(o.x.astype(np.float32) * scale + (start - np.float32(o.kind.lowest) * scale))


def scaled_flushed(o: DequantizeOperands) -> Array:
    """Both sides' factors are flushed before the greater one is taken, the first of two zeros."""
    from_min, from_max = map(flush_float32, factors(o))
    return scaled_by(o, np.where(from_min < from_max, from_max, from_min) if o.kind.signed else from_max)


def top_overflows(o: DequantizeOperands) -> Array:
    """int32 values that float32 rounds up to 2^31 become the lowest value, as in a cast on x86."""
    wide = o.x.astype(np.float32).astype(np.float64)
    return np.asarray(np.where(wide > o.kind.highest, o.kind.lowest, wide).astype(np.float32) * factor(o))


def narrow_unsigned(o: DequantizeOperands) -> Array:
    """As in TensorFlow's kernel: with narrow_range the lowest value of an unsigned type is 1, so min_range counts."""
    return scaled_by(o, np.maximum(o.low, o.high / np.float32(o.kind.highest)))


def without_subnormals(o: DequantizeOperands) -> DequantizeOperands:
    return replace(o, low=flush_float32(o.low), high=flush_float32(o.high))


def is_narrow_unsigned(o: DequantizeOperands) -> bool:
    return o.narrow and not o.kind.signed


def truncated_to_bfloat16(values: Array) -> Array:
    """Float32 values with the bits dropped that a bfloat16 does not have."""
    return (np.asarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def in_type(kind: Any, operands: bool = True) -> dict[str, Formula]:
    """All formulas with each step rounded to another type, and the range too unless `operands` is false."""

    def step(values: Array) -> Array:
        return np.asarray(np.asarray(values, np.float64).astype(kind).astype(np.float64))

    def held(values: Array) -> Array:
        return step(values) if operands else np.asarray(values, np.float64)

    def combined(o: DequantizeOperands) -> Array:
        low, high = held(o.low), held(o.high)
        return step(low + step(step(o.offset_input * step(high - low)) / o.range_t))

    def first(o: DequantizeOperands) -> Array:
        low, high, count = held(o.low), held(o.high), 2.0**o.kind.bits
        scale = step(step(step(high - low) * step(np.asarray(count / (count - 1)))) / count)
        return step(low + step(o.offset_input * scale))

    def scaled(o: DequantizeOperands) -> Array:
        lowest, highest = (step(np.asarray(float(end))) for end in (o.kind.lowest + o.narrow, o.kind.highest))
        from_min, from_max = step(held(o.low) / lowest), step(held(o.high) / highest)
        return step(step(o.x) * (np.maximum(from_min, from_max) if o.kind.signed else from_max))

    return {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}


def last_axis(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Ranges along the last axis, repeated or cut off to its size."""
    if low.ndim == 0 or not low.size:
        raise ValueError("there is nothing to mistake")
    low, high = (np.resize(end, x.shape[-1]) for end in (low, high))
    return mistake()(replace(node, attributes={**node.attributes, "axis": x.ndim - 1}), x, low, high)


step = ws.entries_of(steps.MISTAKES, steps.PAIRS)
LIKELY: tuple[tuple[Cause, Mistake], ...] = (
    step("range-ratio-first", "combined"),
    (Cause("moves-minimum:to the nearest multiple in float32", "min-first"), mistake({"MIN_FIRST": rounded_minimum})),
    step("min-first-in-float32", "double-steps"),
    (Cause("highest-overflows", "scaled"), mistake({"SCALED": top_overflows})),
    (
        Cause("flushes", "scaled"),
        mistake(RIGHT | {"SCALED": scaled_flushed}, change=without_subnormals, finish=flush_float32),
    ),
    (
        Cause("range-ratio-first + flushes", "combined"),
        mistake({"MIN_COMBINED": ratio_flushed}, change=without_subnormals, finish=flush_float32),
    ),
    (
        Cause("moves-minimum + flushes", "min-first"),
        mistake({"MIN_FIRST": rounded_minimum_flushed}, change=without_subnormals, finish=flush_float32),
    ),
    (
        Cause("narrow-for-unsigned + flushes", "unsigned-factor"),
        mistake(
            {"SCALED": narrow_unsigned}, change=without_subnormals, finish=flush_float32, matters=is_narrow_unsigned
        ),
    ),
    step("ignores:narrow_range", "narrow"),
    (Cause("narrow-for-unsigned", "unsigned-factor"), mistake({"SCALED": narrow_unsigned}, matters=is_narrow_unsigned)),
    step("no-offset", "offset"),
    step("counts-values", "range-of-T"),
    step("no-range-adjust", "range-scale"),
    step("max-side-alone", "signed-factor"),
    step("smaller-factor", "signed-factor"),
    step("one-for-all:range", "axis"),
    step("range-in-bfloat16", "range-type"),
    step("truncates-to-bfloat16", "output-type"),
    step("result:fused", "combined"),
    step("no-minimum", "combined"),
    step("offset-of-half-less", "offset"),
    (
        Cause("range-ratio-first + no-offset", "offset"),
        mistake(
            {"MIN_COMBINED": lambda o: ratio_first(replace(o, x=o.x + o.kind.lowest))}, matters=lambda o: o.kind.signed
        ),
    ),
    step("no-lowest", "min-first"),
    step("moves-minimum", "min-first"),
    step("moves-minimum + no-range-adjust", "min-first", "no-range-adjust + moves-minimum"),
    step("divides-by-step", "scaled"),
    step("factor-in-bfloat16", "scaled"),
    step("one-end-alone:min_range", "signed-factor"),
    step("narrow-range", "narrow"),
    step("unsigned-as-signed", "combined"),
    (Cause("wrong-axis", "axis"), last_axis),
    (Cause("flushes-outputs", "scaled"), mistake(finish=flush_float32)),
    (
        Cause("range-ratio-first + truncates-to-bfloat16", "output-type"),
        mistake({"MIN_COMBINED": ratio_first}, finish=truncated_to_bfloat16),
    ),
    (Cause("computes-in:float16", "combined"), mistake(in_type(np.float16))),
    (Cause("computes-in:bfloat16", "combined"), mistake(in_type(ml_dtypes.bfloat16))),
    (Cause("computes-in:float16, inputs as they are", "combined"), mistake(in_type(np.float16, operands=False))),
    (
        Cause("computes-in:bfloat16, inputs as they are", "combined"),
        mistake(in_type(ml_dtypes.bfloat16, operands=False)),
    ),
    (Cause("computes-in:float32", "combined"), mistake(in_type(np.float32))),
    (Cause("computes-in:float64", "combined"), mistake(in_type(np.float64))),
)
MISTAKES = (*LIKELY, *ws.not_in(LIKELY, steps.MISTAKES))
PAIRS = steps.PAIRS
