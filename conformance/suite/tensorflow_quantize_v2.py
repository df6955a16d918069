"""Generated `tensorflow.QuantizeV2`: any mode, type, axis and range; and the mistakes that are usual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tiebreak.conformance.suite.layout import Cause, Mistake, Suite, Wanted
from tiebreak.conformance.suite.tensorflow_ranges import (
    F32,
    draw_ranges,
    end_tensors,
    flushed,
    laid_over,
    one_for_all,
    shapes,
)
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType, decode, encode, neighbour
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tensorflow_quantize_v2 import LEAST
from tiebreak.golden.operators.tensorflow_ranges import QUANTIZED_TYPES, RANGE_MODES
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, bits
from tiebreak.golden.samples.tensorflow_quantize_v2 import place, span

EVEN = "ROUND_NEAREST_TOWARD_EVEN"


def draw(draw: st.DrawFn, wanted: Wanted) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    quantized = wanted.quantized or draw(st.sampled_from(QUANTIZED_TYPES))
    shape = draw(shapes(wanted.rank))
    attributes = draw_attributes(draw, quantized, wanted.round_mode, len(shape))
    axis = attributes.get("axis", -1)
    ranges = draw_ranges(draw, wanted, shape, axis)
    x = aimed(draw, INTEGER_TYPES[quantized], attributes.get("mode", "MIN_COMBINED"), shape, axis, ranges, wanted)
    tensors = bits("float32", x, shape), *end_tensors(ranges, axis)
    return {"quantized": quantized, "attributes": attributes}, tensors


def draw_attributes(draw: st.DrawFn, quantized: str, round_mode: str, rank: int) -> dict[str, Any]:
    """For a node of an input's rank; MIN_COMBINED is rarer where the document leaves it open."""
    even = round_mode == EVEN or (not round_mode and draw(st.booleans()))
    telling = RANGE_MODES[1:] * 2 if quantized in ("int16", "int32") else ()
    mode = "SCALED" if even else draw(st.sampled_from(RANGE_MODES + telling))
    found: dict[str, Any] = {"mode": mode} if mode != "MIN_COMBINED" or draw(st.booleans()) else {}
    if even:
        found["round_mode"] = "HALF_TO_EVEN"
    if draw(st.booleans()):
        found["narrow_range"] = draw(st.booleans())
    if draw(st.integers(0, 5)):
        found["ensure_minimum_range"] = draw(st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.01, 0.5, 2.0]))
    if rank and draw(st.booleans()):
        found["axis"] = draw(st.integers(0, rank - 1))
    return found


def aimed(
    draw: st.DrawFn,
    kind: IntegerType,
    mode: str,
    shape: tuple[int, ...],
    axis: int,
    ranges: list[tuple[int, int]],
    wanted: Wanted,
) -> list[int]:
    """Bits of inputs on ties and integers of their own range, a few units beside them, at its ends, and any at all."""
    anything = st.integers(0, (1 << 32) - 1)
    if not wanted.specials:
        anything = anything.filter(lambda b: b & 0x7FFFFFFF < F32.infinity_bits)
    aims = draw(
        st.lists(
            st.one_of(
                st.tuples(st.integers(0, 1 << 12), st.sampled_from([0, 1]), st.integers(-2, 2)),
                st.tuples(st.just(-1), st.sampled_from([0, 1]), st.integers(-2, 2)),
                st.tuples(st.just(-2), anything, st.just(0)),
            ),
            min_size=1,
            max_size=10,
        )
    )
    kept = [size if place_ == axis else 1 for place_, size in enumerate(shape)]
    owners = np.broadcast_to(np.arange(len(ranges)).reshape(kept if axis >= 0 else [1] * len(shape)), shape)
    return [
        aim_at(kind, mode, ranges[owner], *aims[i % len(aims)]) for i, owner in enumerate(owners.reshape(-1).tolist())
    ]


def aim_at(kind: IntegerType, mode: str, ends: tuple[int, int], which: int, half: int, steps: int) -> int:
    """Bits of the input that lies `which` integers into the range, plus a half; -1: at an end; -2: `half` itself."""
    low, high = (decode(end, F32) for end in ends)
    if which == -2 or not isinstance(low, Fraction) or not isinstance(high, Fraction) or low >= high:
        return half if which == -2 else neighbour(ends[half], F32, steps)
    if which == -1:
        return neighbour(ends[half], F32, steps)
    first, last = span(kind, mode, low, high)
    q = first - 2 + which % (last - first + 4) + Fraction(half, 2)
    return neighbour(encode(place(kind, mode, low, high, q), F32), F32, steps)


# The arithmetic of usual mistakes, in float32 unless it says otherwise.


@dataclass(frozen=True)
class Own:
    """A case's operands: x and the ends of its range, float32 and of one shape; and what the attributes say."""

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
    """1 where |wide| is to be rounded away from zero, else 0: no sum that could round."""
    return np.asarray((np.abs(wide - np.trunc(wide)) >= 0.5).astype(np.float64))


Formula = Callable[[Own], Array]
Ends = Callable[[Own], tuple[Array, Array]]


def combined(o: Own) -> Array:
    difference = np.clip(o.x, o.low, o.high) - o.low
    return o.integers(o.rounded(difference * np.float32(o.range_t) / (o.high - o.low) - np.float32(o.offset)))


def first_scale(o: Own) -> Array:
    count = 2.0**o.kind.bits
    return np.asarray(np.float32(count) / ((o.high - o.low) * np.float32(count / (count - 1))))


def first_with(o: Own, scale: Array) -> Array:
    return o.integers(o.rounded(o.x * scale) - o.rounded(o.low * scale) + o.kind.lowest)


def first(o: Own) -> Array:
    return first_with(with_range(o, np.clip(o.x, o.low, o.high), o.low, o.high), first_scale(o))


def scale_factor(o: Own) -> Array:
    (min_t, max_t), largest = o.bounds, np.finfo(np.float32).max
    from_min = np.where(min_t * o.low > 0, min_t / o.low, largest)
    from_max = np.where(max_t * o.high > 0, max_t / o.high, largest)
    return np.minimum(from_min, from_max)


def scaled_by(o: Own, factor: Array) -> Array:
    low, high = (bound / factor for bound in o.bounds)
    return o.rounded(np.minimum(high, np.maximum(low, o.x)) * factor)


def scaled(o: Own) -> Array:
    return o.integers(scaled_by(o, scale_factor(o)))


def range_used(o: Own) -> tuple[Array, Array]:
    if o.mode != "SCALED":
        return o.low, o.high
    factor = scale_factor(o)
    return o.bounds[0] / factor, o.bounds[1] / factor


RIGHT: dict[str, Formula] = {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}


def mistake(
    formulas: dict[str, Formula] | None = None,
    ends: Ends = range_used,
    change: Callable[[Own], Own] = lambda own: own,
    one_range: bool = False,
) -> Mistake:
    """A backend whose formulas, outputs of the range, or operands (`change`) are wrong; the rest is right."""

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        attributes = node.attributes
        low, high = one_for_all(low, high) if one_range else (low, high)
        facts: tuple[Any, ...] = (
            INTEGER_TYPES[node.output_type],
            attributes.get("mode", "MIN_COMBINED"),
            attributes.get("round_mode") == "HALF_TO_EVEN",
            attributes.get("narrow_range", False),
            attributes.get("ensure_minimum_range", LEAST),
        )
        with np.errstate(all="ignore"):
            own = change(Own(x, *laid_over(attributes, x, low, high), *facts))
            own_range = change(Own(low, low, high, *facts))
            output = (RIGHT | (formulas or {}))[own.mode](own)
            return np.asarray(output), *(np.asarray(end, np.float32) for end in ends(own_range))

    return run


def ratio_first(o: Own) -> Array:
    """As TensorFlow's kernel: a float32 factor; unsigned results by adding a half and truncating."""
    factor = (np.float32(o.range_t) / (o.high - o.low)).astype(np.float32)
    product = (np.clip(o.x, o.low, o.high) - o.low) * factor
    if o.kind.signed:
        return o.integers(o.rounded(product - np.float32(o.offset)))
    return o.integers(np.trunc(product + np.float32(0.5)))


def one_division(o: Own) -> Array:
    return np.asarray(((2.0**o.kind.bits - 1) / (o.high - o.low).astype(np.float64)).astype(np.float32))


def float_sums(o: Own) -> Array:
    """As TensorFlow's kernel: the subtraction and the ends of the clamp in float32."""
    scale, top = one_division(o), np.float32(o.kind.highest)
    if float(top) > o.kind.highest:
        top = np.nextafter(top, np.float32(0))
    shift = o.rounded(o.low * scale).astype(np.float32) - np.float32(o.kind.lowest)
    values = o.rounded(o.x * scale).astype(np.float32) - shift
    return o.integers(np.minimum(np.maximum(values, np.float32(o.kind.lowest)), top).astype(np.float64))


def rounded_once(o: Own) -> Array:
    return o.integers(o.rounded(o.x * one_division(o) - o.low * one_division(o)) + o.kind.lowest)


def rounded_once_to_even(o: Own) -> Array:
    """As oneDNN."""
    scale = np.float32(o.range_t) / (o.high - o.low)
    return o.integers(np.rint((o.x - o.low) * scale) + o.kind.lowest)


def top_overflows(o: Own) -> Array:
    """A cast to int32 that gives the lowest value for 2^31, as x86's does; with narrow_range, too."""
    values = np.nan_to_num(scaled_by(o, scale_factor(o)), nan=0.0)
    beyond = (values > o.kind.highest) | (values < o.kind.lowest)
    return np.asarray(np.where(beyond, o.kind.lowest, values).astype(o.kind.name))


def larger_end(o: Own) -> Array:
    """As oneDNN: one factor for both sides, from half of all values of a signed type."""
    count = np.float32((o.range_t - o.narrow) / (2 if o.kind.signed else 1))
    return o.integers(o.rounded(o.x * (count / np.maximum(np.abs(o.low), np.abs(o.high)))))


def larger_ends(o: Own) -> tuple[Array, Array]:
    if o.mode != "SCALED":
        return o.low, o.high
    end = np.maximum(np.abs(o.low), np.abs(o.high))
    return -end if o.kind.signed else np.zeros_like(end), end


def widened(o: Own) -> Own:
    """As TensorFlow's kernel: ensure_minimum_range times the range's magnitude, at least 1; and zero inside."""
    low = np.minimum(o.low, np.float32(0))
    magnitude = np.maximum(np.float32(1), np.maximum(np.abs(o.low), np.abs(o.high)))
    high = np.maximum(np.maximum(o.high, low + magnitude * np.float32(o.least)), np.float32(0))
    return with_range(o, o.x, low, high)


def with_range(o: Own, x: Array, low: Array, high: Array, **facts: Any) -> Own:
    kept = {name: getattr(o, name) for name in ("kind", "mode", "even", "narrow", "least")}
    return Own(x, low, high, **(kept | facts))


def flushed_combined(o: Own) -> Array:
    difference, width = flushed(np.clip(o.x, o.low, o.high) - o.low), flushed(o.high - o.low)
    return o.integers(o.rounded(difference * np.float32(o.range_t) / width - np.float32(o.offset)))


def flushed_scaled(o: Own) -> Array:
    factor = scale_factor(o)
    low, high = (flushed(bound / factor) for bound in o.bounds)
    return o.integers(o.rounded(np.minimum(high, np.maximum(low, o.x)) * factor))


def divides_by_step(o: Own) -> Array:
    factor = scale_factor(o)
    low, high = (bound / factor for bound in o.bounds)
    return o.integers(o.rounded(np.minimum(high, np.maximum(low, o.x)) / (np.float32(1) / factor)))


def no_offset(o: Own) -> Array:
    difference = np.clip(o.x, o.low, o.high) - o.low
    return o.wrapped(o.rounded(difference * np.float32(o.range_t) / (o.high - o.low)))


def counted_values(o: Own) -> Array:
    difference = np.clip(o.x, o.low, o.high) - o.low
    return o.integers(o.rounded(difference * np.float32(o.range_t + 1) / (o.high - o.low) - np.float32(o.offset)))


def unclipped(o: Own) -> Array:
    return o.wrapped(o.rounded((o.x - o.low) * np.float32(o.range_t) / (o.high - o.low) - np.float32(o.offset)))


def unclamped(o: Own) -> Array:
    scale = first_scale(o)
    return o.wrapped(o.rounded(o.x * scale) - o.rounded(o.low * scale) + o.kind.lowest)


def unclipped_scaled(o: Own) -> Array:
    return o.wrapped(o.rounded(o.x * scale_factor(o)))


MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("multiplies by a range ratio rounded first", "combined"), mistake({"MIN_COMBINED": ratio_first})),
    (
        Cause("range_scale in one division", "range-scale"),
        mistake({"MIN_FIRST": lambda o: first_with(o, one_division(o))}),
    ),
    (Cause("range_scale in one division, sums and clamp in float32", "clamp"), mistake({"MIN_FIRST": float_sums})),
    (Cause("rounds once, after the subtraction", "round-both"), mistake({"MIN_FIRST": rounded_once})),
    (
        Cause("rounds once, after the subtraction, ties to even", "round-both"),
        mistake({"MIN_FIRST": rounded_once_to_even}),
    ),
    (Cause("the highest value overflows in the cast", "scaled"), mistake({"SCALED": top_overflows})),
    (
        Cause("one scale for both sides, from the end further from zero", "scale-factor"),
        mistake({"SCALED": larger_end}, larger_ends),
    ),
    (
        Cause("ensure_minimum_range times the range's magnitude", "least-range"),
        mistake({"MIN_COMBINED": ratio_first, "MIN_FIRST": float_sums}, change=widened),
    ),
    (
        Cause("flushes subnormals to zero", "adjusted-range"),
        mistake(
            {"MIN_COMBINED": flushed_combined, "SCALED": flushed_scaled},
            ends=lambda o: (flushed(range_used(o)[0]), flushed(range_used(o)[1])),
            change=lambda o: with_range(o, flushed(o.x), flushed(o.low), flushed(o.high)),
        ),
    ),
    (Cause("divides by the step instead of multiplying", "scaled"), mistake({"SCALED": divides_by_step})),
    (
        Cause("ignores narrow_range", "narrow"),
        mistake(change=lambda o: with_range(o, o.x, o.low, o.high, narrow=False)),
    ),
    (Cause("subtracts no offset for int8", "offset"), mistake({"MIN_COMBINED": no_offset})),
    (Cause("range(T) counts the values of T", "range-of-T"), mistake({"MIN_COMBINED": counted_values})),
    (
        Cause("does not clip, and wraps around", "clip"),
        mistake({"MIN_COMBINED": unclipped, "MIN_FIRST": unclamped, "SCALED": unclipped_scaled}),
    ),
    (Cause("one range for all slices", "axis"), mistake(one_range=True)),
    (Cause("returns the range as it was given", "range-outputs"), mistake(ends=lambda o: (o.low, o.high))),
    (
        Cause("output_min and output_max exchanged", "range-outputs"),
        mistake(ends=lambda o: (range_used(o)[1], range_used(o)[0])),
    ),
)
SUITE = Suite(draw, MISTAKES)
