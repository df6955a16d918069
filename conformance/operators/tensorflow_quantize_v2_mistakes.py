"""Usual mistakes of `tensorflow.QuantizeV2` as small NumPy backends, in float32 unless one says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators import tensorflow_quantize_v2_steps as shared
from tiebreak.conformance.operators import wrong_steps as ws
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
        finite = np.nan_to_num(np.asarray(values, np.float64), nan=0.0)  # float32 lacks int32's highest value
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
    returns_all: bool = False,
    matters: Callable[[QuantizeV2Operands], bool] = lambda own: True,
) -> Mistake:
    """A backend whose formulas, range outputs (`ends`) or operands (`change`) are wrong; the rest is right.

    With `one_range` the first range serves all slices; with `returns_all` the range outputs are right even so.

    It raises ValueError where there is nothing to mistake (`matters`, another mode), so that it is no candidate there.
    """

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        attributes = node.attributes
        all_of_them = low, high
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
            if given.mode not in (formulas or RIGHT) or not matters(given):
                raise ValueError("there is nothing to mistake")
            own = change(given)
            low, high = all_of_them if returns_all else (low, high)
            own_range = change(QuantizeV2Operands(low, low, high, *facts))
            output = (RIGHT | (formulas or {}))[own.mode](own)
            return np.asarray(output), *(np.asarray(end, np.float32) for end in ends(own_range))

    return run


def one_division(o: QuantizeV2Operands) -> Array:
    return np.asarray(((2.0**o.kind.bits - 1) / (o.high - o.low).astype(np.float64)).astype(np.float32))


def float_sums(o: QuantizeV2Operands) -> Array:
    """As in TensorFlow's kernel: the subtraction and the ends of the clamp are in float32; NaN is the lowest value."""
    return sums_with(o, one_division(o))


def sums_with(o: QuantizeV2Operands, scale: Array) -> Array:
    top = np.float32(o.kind.highest)
    if float(top) > o.kind.highest:
        top = np.nextafter(top, np.float32(0))
    shift = o.rounded(o.low * scale).astype(np.float32) - np.float32(o.kind.lowest)
    values = o.rounded(o.x * scale).astype(np.float32) - shift
    return o.integers(np.minimum(np.fmax(values, np.float32(o.kind.lowest)), top).astype(np.float64))


def rounded_once(o: QuantizeV2Operands) -> Array:
    return o.integers(o.rounded(o.x * one_division(o) - o.low * one_division(o)) + o.kind.lowest)


def rounded_once_to_even(o: QuantizeV2Operands) -> Array:
    return o.integers(np.rint((o.x - o.low) * (np.float32(o.range_t) / (o.high - o.low))) + o.kind.lowest)


def products_rounded_once(o: QuantizeV2Operands) -> Array:
    """As in oneDNN: x and min_range are scaled apart, the difference is rounded once, ties to even; NaN is 255."""
    scale = np.float32(o.range_t) / flush_float32(o.high - o.low)
    values = np.rint(flush_float32(o.x * scale) - flush_float32(o.low * scale)) + o.kind.lowest
    return o.integers(np.nan_to_num(values, nan=float(o.kind.highest)))


def top_overflows(o: QuantizeV2Operands) -> Array:
    """A cast to int32 turns 2^31 into the lowest value, as on x86, even with narrow_range."""
    values = np.nan_to_num(scaled_by(o, scale_factor(o)), nan=0.0)
    beyond = (values > o.kind.highest) | (values < o.kind.lowest)
    return np.asarray(np.where(beyond, o.kind.lowest, values).astype(o.kind.name))


def larger_end(o: QuantizeV2Operands) -> Array:
    """As in oneDNN: one factor for both sides of zero, from half of the values of a signed type."""
    count = np.float32((o.range_t - o.narrow) / 2 if o.kind.signed else o.range_t)
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


def widens(o: QuantizeV2Operands) -> bool:
    """Whether widening makes a difference."""
    other = widened(o)
    return bool(((other.low != o.low) | (other.high != o.high)).any())


def without_subnormals(o: QuantizeV2Operands) -> QuantizeV2Operands:
    return replace(o, x=flush_float32(o.x), low=flush_float32(o.low), high=flush_float32(o.high))


def flushed_range(o: QuantizeV2Operands) -> tuple[Array, Array]:
    low, high = range_used(o)
    return flush_float32(low), flush_float32(high)


def flushed_ratio(o: QuantizeV2Operands) -> Array:
    """As in TensorFlow's kernel: a float32 factor; unsigned results add 1/2 and truncate.

    A product that is infinite or NaN becomes the lowest value.
    """
    return flushed_ratio_with(o, np.full(o.x.shape, o.kind.lowest))


def flushed_ratio_with_tail(o: QuantizeV2Operands) -> Array:
    """As flushed_ratio, but with 8 bits the tail of a vector loop of 16 gives 0 where a product is NaN."""
    at = np.arange(o.x.size).reshape(o.x.shape)
    in_tail = (at >= o.x.size - o.x.size % 16) & (o.kind.bits == 8)
    return flushed_ratio_with(o, np.where(in_tail, 0, o.kind.lowest))


def flushed_ratio_with(o: QuantizeV2Operands, instead: Array) -> Array:
    product = flush_float32(
        flush_float32(np.clip(o.x, o.low, o.high) - o.low)
        * flush_float32(np.float32(o.range_t) / flush_float32(o.high - o.low))
    )
    whole = o.rounded(product - np.float32(o.offset)) if o.kind.signed else np.trunc(product + np.float32(0.5))
    return o.integers(np.where(np.isfinite(product), whole, instead))


def flushed_sums(o: QuantizeV2Operands) -> Array:
    """As float_sums, but a range of width 0 gives the lowest value."""
    return sums_with(o, np.where(flush_float32(o.high - o.low) == 0, np.float32(0), one_division(o)))


def flushed_combined(o: QuantizeV2Operands) -> Array:
    difference, width = flush_float32(np.clip(o.x, o.low, o.high) - o.low), flush_float32(o.high - o.low)
    return o.integers(o.rounded(difference * np.float32(o.range_t) / width - np.float32(o.offset)))


def flushed_first(o: QuantizeV2Operands) -> Array:
    return np.where(flush_float32(o.high - o.low) == 0, o.integers(np.full(o.x.shape, o.kind.lowest)), first(o))


def flushed_scaled(o: QuantizeV2Operands) -> Array:
    """A NaN becomes the lowest value."""
    factor = scale_factor(o)
    low, high = (flush_float32(bound / factor) for bound in o.bounds)
    values = o.rounded(np.minimum(high, np.maximum(low, o.x)) * factor)
    return o.integers(np.nan_to_num(values, nan=float(o.kind.lowest)))


def flushed_overflow(o: QuantizeV2Operands) -> Array:
    return np.where(np.isfinite(scale_factor(o)) & (o.kind.bits == 32), top_overflows(o), flushed_scaled(o))


def no_offset(o: QuantizeV2Operands) -> Array:
    difference = np.clip(o.x, o.low, o.high) - o.low
    return o.wrapped(o.rounded(difference * np.float32(o.range_t) / (o.high - o.low)))


def unclipped(o: QuantizeV2Operands) -> Array:
    return o.wrapped(o.rounded((o.x - o.low) * np.float32(o.range_t) / (o.high - o.low) - np.float32(o.offset)))


def unclamped(o: QuantizeV2Operands) -> Array:
    scale = first_scale(o)
    return o.wrapped(o.rounded(o.x * scale) - o.rounded(o.low * scale) + o.kind.lowest)


def unclipped_scaled(o: QuantizeV2Operands) -> Array:
    return o.wrapped(o.rounded(o.x * scale_factor(o)))


@dataclass(frozen=True)
class QuantizeSteps:
    """The document's three formulas, each step rounded to one type. A field says what is wrong."""

    scaling: str = ""
    dtype: Any = np.float32
    rounded: Callable[[QuantizeV2Operands, Array], Array] = lambda o, values: o.rounded(values)
    factor: Callable[[QuantizeV2Operands], Array] | None = None
    clips: str = ""

    def formulas(self) -> dict[str, Formula]:
        return {"MIN_COMBINED": self.combined, "MIN_FIRST": self.first, "SCALED": self.scaled}

    def __call__(self, *modes: str) -> dict[str, Formula]:
        return {mode: formula for mode, formula in self.formulas().items() if mode in modes or not modes}

    def operands(self, o: QuantizeV2Operands) -> tuple[Array, Array, Array]:
        x, low, high = (np.asarray(a).astype(self.dtype) for a in (o.x, o.low, o.high))
        return np.asarray(np.clip(x, low, high)), low, high

    def combined(self, o: QuantizeV2Operands) -> Array:
        x, low, high = self.operands(o)
        steps, width = np.asarray(o.range_t).astype(self.dtype), high - low
        found = (x - low) * (steps / width) if self.scaling == "factor" else (x - low) * steps / width
        offset = np.asarray(o.offset).astype(self.dtype)
        return o.integers(self.rounded(o, (found - offset).astype(self.dtype)))

    def first(self, o: QuantizeV2Operands) -> Array:
        x, low, high = self.operands(o)
        count = 2.0**o.kind.bits
        adjust = np.asarray(count / (count - 1)).astype(self.dtype)
        scale = np.asarray(count).astype(self.dtype) / ((high - low) * adjust)
        if self.scaling == "once":
            return o.integers(self.rounded(o, (x - low) * scale) + o.kind.lowest)
        return o.integers(self.rounded(o, x * scale) - o.rounded(low * scale) + o.kind.lowest)

    def scaled(self, o: QuantizeV2Operands) -> Array:
        factor = (self.factor or scale_factor)(o).astype(self.dtype)
        low, high = (np.asarray(bound).astype(self.dtype) / factor for bound in o.bounds)
        low, high = (o.low, o.high) if self.clips == "given" else (low, high)
        x = np.minimum(high, np.maximum(low, o.x.astype(self.dtype)))
        one = np.asarray(1).astype(self.dtype)
        return o.integers(self.rounded(o, x / (one / factor) if self.scaling == "inverse" else x * factor))


def range_of(factor: Callable[[QuantizeV2Operands], Array]) -> Ends:
    def ends(o: QuantizeV2Operands) -> tuple[Array, Array]:
        if o.mode != "SCALED":
            return o.low, o.high
        return o.bounds[0] / factor(o), o.bounds[1] / factor(o)

    return ends


def sides(o: QuantizeV2Operands, every: bool = False) -> tuple[Array, Array]:
    """The factors of both sides; one whose end has the wrong sign is the largest float, unless `every` side counts."""
    (min_t, max_t), largest = o.bounds, np.finfo(np.float32).max
    from_min = np.where((min_t * o.low > 0) | every, min_t / o.low, largest)
    return from_min, np.where((max_t * o.high > 0) | every, max_t / o.high, largest)


def with_factor(factor: Callable[[QuantizeV2Operands], Array]) -> Mistake:
    return mistake(QuantizeSteps(factor=factor)("SCALED"), range_of(factor))


def truncated(o: QuantizeV2Operands, values: Array) -> Array:
    return np.trunc(np.asarray(values, np.float64))


def to_even(o: QuantizeV2Operands, values: Array) -> Array:
    return np.rint(np.asarray(values, np.float64))


def away(o: QuantizeV2Operands, values: Array) -> Array:
    wide = np.asarray(values, np.float64)
    return np.trunc(wide + np.copysign(nearest_half(wide), wide))


def upward(o: QuantizeV2Operands, values: Array) -> Array:
    wide = np.asarray(values, np.float64)
    return np.asarray(np.floor(wide) + (wide - np.floor(wide) >= 0.5))


def toward_zero(o: QuantizeV2Operands, values: Array) -> Array:
    wide = np.asarray(values, np.float64)
    return np.copysign(np.ceil(np.abs(wide) - 0.5), wide)


def signed_half(o: QuantizeV2Operands, values: Array) -> Array:
    return np.asarray(np.trunc(values + np.copysign(np.asarray(0.5).astype(values.dtype), values)), np.float64)


ROUNDINGS = {"truncates": truncated, "ties-even-always": to_even, "ties-away": away, "ties-upward-always": upward} | {
    "half-added-to-magnitude": signed_half,
    "ties-toward-zero": toward_zero,
}
SHARED_PAIRS = frozenset(cause.id for cause, _ in shared.PAIRS)
step = ws.entries_of(shared.MISTAKES, shared.PAIRS)


def divided_by_step(name: str, rounded: Callable[[QuantizeV2Operands, Array], Array]) -> tuple[Cause, Mistake]:
    id_ = f"divides-by-step + {name}"
    if id_ in SHARED_PAIRS:
        return step(id_, "scaled")
    return Cause(id_, "scaled"), mistake(QuantizeSteps("inverse", rounded=rounded)("SCALED"))


STEPS: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("factor-first", "combined"), mistake(QuantizeSteps("factor")("MIN_COMBINED"))),
    step("step-first", "combined"),
    step("no-range-adjust", "range-scale"),
    step("rounds-once", "round-both"),
    (Cause("rounds-once-to-even", "round-both"), mistake(QuantizeSteps("once", rounded=to_even)("MIN_FIRST"))),
    step("floors-minimum", "round-both"),
    step("no-lowest", "round-both"),
    step("offset-of-half-less", "offset"),
    (
        Cause("greater-factor:also of a side that does not count", "scale-factor"),
        with_factor(lambda o: np.maximum(*sides(o))),
    ),
    (
        Cause("one-end-alone:min_range, also of a side that does not count", "scale-factor"),
        with_factor(lambda o: sides(o)[0]),
    ),
    (
        Cause("one-end-alone:max_range, also of a side that does not count", "scale-factor"),
        with_factor(lambda o: sides(o)[1]),
    ),
    (Cause("every-side-counts", "scale-factor"), with_factor(lambda o: np.minimum(*sides(o, True)))),
    step("one-scale-for-both-sides", "scale-factor"),
    step("factor-in-bfloat16", "scale-factor"),
    (Cause("clamps-to-given", "clip"), mistake(QuantizeSteps(clips="given")("SCALED"))),
    step("narrow-range", "narrow"),
    step("no-offset", "offset"),
    (Cause("computes-in:float64", "combined"), mistake(QuantizeSteps(dtype=np.float64)())),
    step("one-for-all:range", "axis"),
    *(step(name, "scaled") for name in ROUNDINGS),
    *(
        (Cause(f"{name}:x * scale alone", "scaled"), mistake(QuantizeSteps(rounded=rounded)("MIN_FIRST")))
        for name, rounded in ROUNDINGS.items()
    ),
    *(
        entry
        for name, rounded in ROUNDINGS.items()
        for entry in (
            (
                Cause(f"factor-first + {name}", "scaled"),
                mistake(QuantizeSteps("factor", rounded=rounded)("MIN_COMBINED")),
            ),
            divided_by_step(name, rounded),
        )
    ),
)


def always(o: QuantizeV2Operands) -> bool:
    return True


def is_wide(o: QuantizeV2Operands) -> bool:
    return not o.narrow


def has_32_bits(o: QuantizeV2Operands) -> bool:
    return o.kind.bits == 32


def is_signed(o: QuantizeV2Operands) -> bool:
    return bool(o.kind.signed)


def is_unsigned(o: QuantizeV2Operands) -> bool:
    return not o.kind.signed


def has_one_range(o: QuantizeV2Operands) -> bool:
    return not o.low.size or bool(((o.low == o.low.flat[0]) & (o.high == o.high.flat[0])).all())


def as_a_kernel(
    cause: str, formulas: dict[str, Formula], ends: Ends, used: Callable[[QuantizeV2Operands], bool]
) -> tuple[tuple[Cause, Mistake], ...]:
    """A kernel's arithmetic where subnormals are flushed, and where the range is widened by its magnitude."""

    def changed(o: QuantizeV2Operands) -> QuantizeV2Operands:
        return widened(without_subnormals(o))

    return (
        (
            Cause(f"{cause} + flushes", "adjusted-range"),
            mistake(formulas, ends=ends, change=changed, matters=lambda o: used(o) and not widens(o)),
        ),
        (
            Cause(f"{cause} + widens-by-magnitude", "least-range"),
            mistake(formulas, ends=ends, change=changed, matters=lambda o: used(o) and widens(o)),
        ),
    )


RATIO_AND_HALF = "range-ratio-first + adds-half-and-truncates"
KERNELS: tuple[tuple[str, dict[str, Formula], Ends, Callable[[QuantizeV2Operands], bool]], ...] = (
    ("range-ratio-first", {"MIN_COMBINED": flushed_ratio}, flushed_range, is_signed),
    (
        "range-ratio-first:NaN to 0 in the tail of 16",
        {"MIN_COMBINED": flushed_ratio_with_tail},
        flushed_range,
        is_signed,
    ),
    (RATIO_AND_HALF, {"MIN_COMBINED": flushed_ratio}, flushed_range, is_unsigned),
    (
        f"{RATIO_AND_HALF}:NaN to 0 in the tail of 16",
        {"MIN_COMBINED": flushed_ratio_with_tail},
        flushed_range,
        is_unsigned,
    ),
    ("one-division-float-sums", {"MIN_FIRST": flushed_sums}, flushed_range, always),
    ("products-rounded-once-to-even", {"MIN_FIRST": products_rounded_once}, flushed_range, is_wide),
    ("highest-overflows", {"SCALED": flushed_overflow}, flushed_range, has_32_bits),
    ("one-scale-for-both-sides:of half the steps", {"SCALED": larger_end}, larger_ends, has_one_range),
)
LIKELY: tuple[tuple[Cause, Mistake], ...] = (
    step("range-ratio-first", "combined"),
    step(RATIO_AND_HALF, "combined"),
    (
        Cause("one-division:in float64", "range-scale"),
        mistake({"MIN_FIRST": lambda o: first_with(o, one_division(o))}),
    ),
    (Cause("one-division-float-sums", "clamp"), mistake({"MIN_FIRST": float_sums})),
    (
        Cause("rounds-once:x * scale and min_range * scale apart", "round-both"),
        mistake({"MIN_FIRST": rounded_once}),
    ),
    (
        Cause("one-division + rounds-once-to-even", "round-both"),
        mistake({"MIN_FIRST": rounded_once_to_even}),
    ),
    (Cause("highest-overflows", "scaled"), mistake({"SCALED": top_overflows})),
    (
        Cause("one-scale-for-both-sides:of half the steps", "scale-factor"),
        mistake({"SCALED": larger_end}, larger_ends),
    ),
    (Cause("widens-by-magnitude", "least-range"), mistake(change=widened, matters=widens)),
    (
        Cause("flushes", "adjusted-range"),
        mistake(
            {"MIN_COMBINED": flushed_combined, "MIN_FIRST": flushed_first, "SCALED": flushed_scaled},
            ends=flushed_range,
            change=without_subnormals,
        ),
    ),
    *(row for kernel in KERNELS for row in as_a_kernel(*kernel)),
    step("divides-by-step", "scaled"),
    (Cause("flushes-inputs", "adjusted-range"), mistake(change=lambda o: replace(o, x=flush_float32(o.x)))),
    step("ignores:narrow_range", "narrow"),
    (Cause("no-offset:wraps", "offset"), mistake({"MIN_COMBINED": no_offset})),
    step("counts-values", "range-of-T"),
    (
        Cause("does-not-clip-and-wraps", "clip"),
        mistake({"MIN_COMBINED": unclipped, "MIN_FIRST": unclamped, "SCALED": unclipped_scaled}),
    ),
    (Cause("one-for-all:range, outputs too", "axis"), mistake(one_range=True)),
    step("returns-given-range", "range-outputs"),
    step("outputs-exchanged", "range-outputs"),
    *STEPS,
)
MISTAKES = (*LIKELY, *ws.not_in(LIKELY, shared.MISTAKES))
PAIRS = shared.PAIRS
