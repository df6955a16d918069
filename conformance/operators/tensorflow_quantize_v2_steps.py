"""Wrong steps of QuantizeV2: one of them, or two at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.tensorflow_ranges import RangedIntegers, ranges_of_elements
from tiebreak.conformance.operators.wrong_steps import frequent, step
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

F32 = np.float32
LARGEST = np.finfo(np.float32).max
Ends = tuple[Array, Array]
Round = Callable[[Array], Array]  # to whole numbers, as float64


@dataclass(frozen=True)
class Ranged(RangedIntegers):
    """With the ends of the type that are in use, and how the node rounds."""

    lowest: int
    highest: int
    rounded: Round

    @property
    def ratio(self) -> Array:
        return np.asarray(self.steps / self.width)

    @property
    def offset(self) -> float:
        return -float(self.kind.lowest)


def to_even(values: Array) -> Array:
    return np.rint(values.astype(np.float64))


def half_away(values: Array) -> Array:
    return ws.away(values.astype(np.float64))


def in_use(kind: IntegerType, narrow: bool, scaled: bool) -> tuple[int, int]:
    return kind.lowest + (narrow and scaled), kind.highest


def sides(o: Ranged) -> Ends:
    least, most = F32(o.lowest), F32(o.highest)
    from_low = np.where(least * o.low > 0, least / o.low, LARGEST)
    return from_low, np.where(most * o.high > 0, most / o.high, LARGEST)


def both_count(o: Ranged) -> Array:
    return np.asarray((F32(o.lowest) * o.low > 0) & (F32(o.highest) * o.high > 0))


def smaller(o: Ranged) -> Array:
    return np.minimum(*sides(o))


def first_scale(o: Ranged) -> Array:
    count = float(o.steps) + 1 if o.kind.bits < 32 else 2.0**o.kind.bits
    return np.asarray(F32(count) / (o.width * F32(count / (count - 1))))


def apart(x: Array, o: Ranged, scale: Array) -> Array:
    return o.rounded(x * scale) - o.rounded(o.low * scale)


def clipped(x: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(x, low), high)


def clamped(sums: Array, o: Ranged) -> Array:
    return np.asarray(np.clip(np.nan_to_num(sums, nan=0.0), o.lowest, o.highest))


def range_used(o: Ranged, factor: Array | None) -> Ends:
    return (o.low, o.high) if factor is None else (F32(o.lowest) / factor, F32(o.highest) / factor)


@dataclass(frozen=True)
class QuantizeV2Steps:
    """The document's steps, each rounded to float32. A field that is not as here is a wrong step."""

    mode: str = ""
    x: Callable[[Array], Array] = lambda x: x
    places: tuple[ws.Place | None, ws.Place | None] | None = None
    range: Callable[[Array, Array], Ends] = lambda low, high: (low, high)
    bits: Callable[[IntegerType, bool, bool], tuple[int, int]] = in_use
    fraction: Callable[[Array, Ranged], Array] = lambda x, o: (x - o.low) * o.steps / o.width
    offset: Callable[[Array, Ranged], Array] = lambda found, o: o.rounded(found - F32(o.offset))
    scale: Callable[[Ranged], Array] = first_scale
    apart: Callable[[Array, Ranged, Array], Array] = apart
    least: Callable[[Ranged], int] = lambda o: o.kind.lowest
    factor: Callable[[Ranged], Array] = smaller
    product: Callable[[Array, Array], Array] = lambda x, factor: x * factor
    clip: Callable[[Array, Array, Array], Array] = clipped
    rounded: Round | None = None
    clamp: Callable[[Array, Ranged], Array] = clamped
    ends: Callable[[Ranged, Array | None], Ends] = range_used

    def __call__(self, node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        mode = str(node.attributes.get("mode", "MIN_COMBINED"))
        if self.mode not in ("", mode):
            raise ValueError("another mode's step")
        kind, narrow = INTEGER_TYPES[node.output_type], bool(node.attributes.get("narrow_range", False))
        bounds = self.bits(kind, narrow, mode == "SCALED")
        even = node.attributes.get("round_mode") == "HALF_TO_EVEN"
        own_rounding = to_even if even else half_away
        rounded = self.rounded or own_rounding
        if self.rounded is own_rounding or (
            self.bits is not in_use and bounds == in_use(kind, narrow, mode == "SCALED")
        ):
            raise ValueError("there is nothing to mistake")
        with np.errstate(all="ignore"):
            spread = self.range(*ranges_of_elements(node.attributes, x, low, high, self.places))
            own = Ranged(*spread, kind, *bounds, rounded)
            codes = self.clamp(self.finite_sums(mode, self.x(x), own), own)
            given = Ranged(*self.range(low, high), kind, *bounds, rounded)
            factor = np.asarray(self.factor(given)).astype(F32) if mode == "SCALED" else None
            ends = (np.asarray(end, F32) for end in self.ends(given, factor))
            return (np.asarray(codes.astype(node.output_type)).reshape(x.shape), *ends)

    def finite_sums(self, mode: str, x: Array, o: Ranged) -> Array:
        """The sums; where a step overflows so that nothing is left, those of steps that do not."""
        found = self.sums(mode, x, o)
        lost = np.isnan(found) & ~np.isnan(x)
        if not lost.any():
            return found
        wide = replace(o, low=o.low.astype(np.float64), high=o.high.astype(np.float64))
        return np.where(lost, self.sums(mode, x.astype(np.float64), wide), found)

    def sums(self, mode: str, x: Array, o: Ranged) -> Array:
        if mode == "MIN_COMBINED":
            found = np.asarray(self.fraction(self.clip(x, o.low, o.high), o)).astype(x.dtype)
            return self.offset(found, o)
        if mode == "MIN_FIRST":
            scale = np.asarray(self.scale(o)).astype(x.dtype)
            return np.asarray(self.apart(self.clip(x, o.low, o.high), o, scale) + self.least(o))
        factor = np.asarray(self.factor(o)).astype(x.dtype)
        kept = self.clip(x, F32(o.lowest) / factor, F32(o.highest) / factor)
        return o.rounded(np.asarray(self.product(kept, factor)))


def as_float64(rounded: Callable[[Array], Array]) -> Round:
    """Rounding to whole numbers as the type of the values does it, as float64."""
    return lambda values: np.asarray(rounded(values)).astype(np.float64)


def wrapped(sums: Array, o: Ranged) -> Array:
    kept = np.clip(np.nan_to_num(sums, nan=0.0), -(2.0**62), 2.0**62)
    return np.asarray(np.mod(kept - o.kind.lowest, 2.0**o.kind.bits) + o.kind.lowest)


def overflowing(sums: Array, o: Ranged) -> Array:
    found = clamped(sums, o)
    return np.where(found.astype(F32).astype(np.float64) > o.highest, o.lowest, found)


def minimum_by(rounded: Callable[[Array], Array]) -> Callable[[Array, Ranged, Array], Array]:
    return lambda x, o, scale: o.rounded(x * scale) - rounded((o.low * scale).astype(np.float64))


def divided_apart(x: Array, o: Ranged, scale: Array) -> Array:
    step = F32(1) / scale
    return o.rounded(x / step) - o.rounded(o.low / step)


def exact_products(x: Array, o: Ranged, scale: Array) -> Array:
    wide = scale.astype(np.float64)
    return o.rounded(x * wide) - o.rounded(o.low * wide)


def by_reciprocal(o: Ranged, factor: Array | None) -> Ends:
    if factor is None:
        return o.low, o.high
    inverse = F32(1) / factor
    return F32(o.lowest) * inverse, F32(o.highest) * inverse


def ends_held(change: ws.Change) -> Callable[[Ranged, Array | None], Ends]:
    def found(o: Ranged, factor: Array | None) -> Ends:
        low, high = range_used(o, factor)
        return change(low), change(high)

    return found


def reciprocal_of_step(o: Ranged) -> Array:
    from_low = np.where(F32(o.lowest) * o.low > 0, o.low / F32(o.lowest), F32(0))
    from_high = np.where(F32(o.highest) * o.high > 0, o.high / F32(o.highest), F32(0))
    return np.asarray(F32(1) / np.maximum(from_low, from_high))


def at_least(width: Callable[[Array, Array], Any]) -> Callable[[Array, Array], Ends]:
    return lambda low, high: (low, np.maximum(high, low + width(low, high)))


def hundredth(low: Array, high: Array) -> Array:
    return F32(0.01) * np.maximum(F32(1), np.maximum(np.abs(low), np.abs(high)))


STEPS: tuple[ws.WrongStep, ...] = (
    *ws.of_input("clip"),
    *ws.of_places("axis", {"one-for-all:first range": "one-for-all:range"}),
    frequent("range-in-bfloat16", "adjusted-range", range=lambda a, b: (ws.in_bfloat16(a), ws.in_bfloat16(b))),
    frequent("range-in:float16", "adjusted-range", range=lambda a, b: (ws.in_float16(a), ws.in_float16(b))),
    step(
        "range-made-symmetric",
        "adjusted-range",
        range=lambda a, b: (-np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(a), np.abs(b))),
    ),
    step("range-extended-to-zero", "adjusted-range", range=lambda a, b: (np.minimum(a, F32(0)), np.maximum(b, F32(0)))),
    step("range-at-least:a hundredth of its magnitude", "least-range", range=at_least(hundredth)),
    step("range-at-least:1", "least-range", range=at_least(lambda low, high: F32(1))),
    *ws.in_mode(
        "MIN_COMBINED",
        frequent("range-ratio-first", "combined", fraction=lambda x, o: (x - o.low) * o.ratio),
        frequent("divides-before-steps", "combined", fraction=lambda x, o: (x - o.low) / o.width * o.steps),
        frequent("step-first", "combined", fraction=lambda x, o: (x - o.low) / (o.width / o.steps)),
        frequent("reciprocal-of-width", "combined", fraction=lambda x, o: (x - o.low) * o.steps * (F32(1) / o.width)),
        frequent("multiplies-ratio-apart", "combined", fraction=lambda x, o: x * o.ratio - o.low * o.ratio),
        frequent("multiplies-ratio-fused", "combined", fraction=lambda x, o: ws.fused(x, o.ratio, -(o.low * o.ratio))),
        frequent("counts-values", "range-of-T", fraction=lambda x, o: (x - o.low) * (o.steps + F32(1)) / o.width),
        frequent(
            "counts-one-step-less", "range-of-T", fraction=lambda x, o: (x - o.low) * (o.steps - F32(1)) / o.width
        ),
        frequent("ratio-in:float16", "combined", fraction=lambda x, o: (x - o.low) * ws.in_float16(o.ratio)),
        frequent("ratio-in:bfloat16", "combined", fraction=lambda x, o: (x - o.low) * ws.in_bfloat16(o.ratio)),
        frequent("counts-from-max", "combined", fraction=lambda x, o: o.steps - (o.high - x) * o.steps / o.width),
        step("divides-by-max", "combined", fraction=lambda x, o: (x - o.low) * o.steps / o.high),
        step("no-minimum", "combined", fraction=lambda x, o: x * o.steps / o.width),
        frequent("offset-on-other-side", "offset", offset=lambda q, o: o.rounded(q) - o.offset),
        frequent("no-offset", "offset", offset=lambda q, o: o.rounded(q)),
        frequent(
            "offset-of-one-less", "offset", offset=lambda q, o: o.rounded(q - F32(o.offset - 1.0 * o.kind.signed))
        ),
        frequent(
            "offset-of-half-less", "offset", offset=lambda q, o: o.rounded(q - F32(o.offset - 0.5 * o.kind.signed))
        ),
    ),
    *ws.in_mode(
        "MIN_FIRST",
        frequent("one-division", "range-scale", scale=lambda o: o.ratio),
        frequent("no-range-adjust", "range-scale", scale=lambda o: (o.steps + F32(1)) / o.width),
        frequent(
            "adjusts-before-width",
            "range-scale",
            scale=lambda o: (o.steps + F32(1)) / ((o.steps + F32(1)) / o.steps) / o.width,
        ),
        frequent("range-scale-in:float16", "range-scale", scale=lambda o: ws.in_float16(o.ratio)),
        frequent("range-scale-in:bfloat16", "range-scale", scale=lambda o: ws.in_bfloat16(o.ratio)),
        step("range-scale-of-digits:6", "range-scale", scale=lambda o: ws.of_six_digits(o.ratio)),
        frequent("rounds-once", "round-both", apart=lambda x, o, k: o.rounded((x - o.low) * k)),
        frequent("rounds-difference", "round-both", apart=lambda x, o, k: o.rounded(x * k - o.low * k)),
        frequent("truncates-minimum", "round-both", apart=minimum_by(np.trunc)),
        frequent("floors-minimum", "round-both", apart=minimum_by(np.floor)),
        step("ceils-minimum", "round-both", apart=minimum_by(np.ceil)),
        step("minimum-to-even", "round-both", apart=minimum_by(np.rint)),
        step(
            "minimum-not-rounded",
            "round-both",
            apart=lambda x, o, k: np.trunc((o.rounded(x * k) - o.low * k).astype(F32)).astype(np.float64),
        ),
        step("divides-by-step", "round-both", apart=divided_apart),
        step("exact-products", "round-both", apart=exact_products),
        frequent("no-lowest", "add-lowest", least=lambda o: 0),
        frequent("lowest-one-more", "add-lowest", least=lambda o: o.kind.lowest + 1),
    ),
    *ws.in_mode(
        "SCALED",
        frequent("ignores:narrow_range", "narrow", bits=lambda kind, narrow, scaled: (kind.lowest, kind.highest)),
        frequent("narrow-range", "narrow", bits=lambda kind, narrow, scaled: (kind.lowest + 1, kind.highest)),
        step(
            "inverts:narrow_range",
            "narrow",
            bits=lambda kind, narrow, scaled: (kind.lowest + (not narrow), kind.highest),
        ),
        step(
            "narrow-at-both-ends",
            "narrow",
            bits=lambda kind, narrow, scaled: (kind.lowest + narrow, kind.highest - narrow),
        ),
        frequent(
            "greater-factor",
            "scale-factor",
            factor=lambda o: np.where(both_count(o), np.maximum(*sides(o)), smaller(o)),
        ),
        frequent(
            "one-end-alone:min_range",
            "scale-factor",
            factor=lambda o: np.where(F32(o.lowest) * o.low > 0, *sides(o)),
        ),
        frequent(
            "one-end-alone:max_range",
            "scale-factor",
            factor=lambda o: np.where(F32(o.highest) * o.high > 0, *sides(o)[::-1]),
        ),
        step(
            "mean-of-factors",
            "scale-factor",
            factor=lambda o: np.where(both_count(o), sum(sides(o)) / F32(2), smaller(o)),
        ),
        frequent(
            "one-scale-for-both-sides",
            "scale-factor",
            factor=lambda o: F32(o.highest) / o.magnitude,
        ),
        frequent("one-scale-of-half-the-values", "scale-factor", factor=lambda o: F32(o.highest + 1.0) / o.magnitude),
        frequent("width-over-steps", "scale-factor", factor=lambda o: F32(o.highest - o.lowest) / o.width),
        frequent("factor-in:float16", "scale-factor", factor=lambda o: ws.in_float16(smaller(o))),
        frequent("factor-in-bfloat16", "scale-factor", factor=lambda o: ws.in_bfloat16(smaller(o))),
        frequent("factor-cut-off-to-bfloat16", "scale-factor", factor=lambda o: ws.cut_to_bfloat16(smaller(o))),
        frequent("factor-of-digits:6", "scale-factor", factor=lambda o: ws.of_six_digits(smaller(o))),
        step("factor-to-power-of-two-below", "scale-factor", factor=lambda o: ws.to_power_of_two_below(smaller(o))),
        step("factor-as-reciprocal-of-step", "scale-factor", factor=reciprocal_of_step),
        frequent("divides-by-step", "scaled", product=lambda x, k: x / (F32(1) / k)),
        step("exact-products", "scaled", product=lambda x, k: x.astype(np.float64) * k),
        step("product-in:float16", "scaled", product=lambda x, k: ws.in_float16(x * k)),
        step("product-in:bfloat16", "scaled", product=lambda x, k: ws.in_bfloat16(x * k)),
        step("product-cut-off", "scaled", product=lambda x, k: ws.cut_off(x.astype(np.float64) * k, F32)),
        frequent("returns-given-range", "range-outputs", ends=lambda o, k: (o.low, o.high)),
        step("returns-by-reciprocal", "range-outputs", ends=by_reciprocal),
    ),
    frequent("does-not-clamp", "clip", clip=lambda x, low, high: x),
    step("does-not-clamp-below", "clip", clip=lambda x, low, high: np.minimum(x, high)),
    step("does-not-clamp-above", "clip", clip=lambda x, low, high: np.maximum(x, low)),
    step("clips-at-zero", "clip", clip=lambda x, low, high: clipped(np.maximum(x, F32(0)), low, high)),
    frequent("truncates", "scaled", rounded=lambda values: np.trunc(values.astype(np.float64))),
    frequent("ties-even-always", "scaled", rounded=to_even),
    frequent("ties-away", "scaled", rounded=half_away),
    frequent("rounds:UP", "scaled", rounded=as_float64(np.ceil)),
    frequent("rounds:DOWN", "scaled", rounded=as_float64(np.floor)),
    step("rounds:TOWARD_INFINITY", "scaled", rounded=as_float64(ws.from_zero)),
    step("ties-upward-always", "scaled", rounded=lambda values: ws.upward(values.astype(np.float64))),
    step("ties:NEAREST_DOWNWARD", "scaled", rounded=lambda values: ws.downward(values.astype(np.float64))),
    step("ties-toward-zero", "scaled", rounded=lambda values: ws.toward_zero(values.astype(np.float64))),
    frequent("floor-of-half-more", "scaled", rounded=as_float64(ws.floor_of_half_more)),
    frequent("adds-half-and-truncates", "scaled", rounded=as_float64(ws.trunc_of_half_more)),
    step("half-added-to-magnitude", "scaled", rounded=as_float64(ws.trunc_of_signed_half_more)),
    frequent("wraps", "clamp", clamp=wrapped),
    step("highest-overflows:to the lowest in use", "clamp", clamp=overflowing),
    step("highest-never", "clamp", clamp=lambda t, o: np.clip(np.nan_to_num(t, nan=0.0), o.lowest, o.highest - 1)),
    step(
        "lowest-never",
        "clamp",
        clamp=lambda t, o: np.clip(np.nan_to_num(t, nan=0.0), -o.highest if o.kind.signed else 0, o.highest),
    ),
    step("outputs-exchanged", "range-outputs", ends=lambda o, k: range_used(o, k)[::-1]),
    step("outputs-in:float16", "range-outputs", ends=ends_held(ws.in_float16)),
    step(
        "outputs-are-integers",
        "range-outputs",
        ends=lambda o, k: (np.full_like(o.low, o.lowest), np.full_like(o.high, o.highest)),
    ),
)


def in_type(kind: Any) -> Mistake:
    """Every step from the range on rounded to a type; x, the range and the range outputs stay float32."""

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        def s(values: Any) -> Array:
            return np.asarray(np.asarray(values, np.float64).astype(kind).astype(np.float64))

        mode, plain = str(node.attributes.get("mode", "MIN_COMBINED")), QuantizeV2Steps()
        integer, narrow = INTEGER_TYPES[node.output_type], bool(node.attributes.get("narrow_range", False))
        lowest, highest = in_use(integer, narrow, mode == "SCALED")
        rounded = to_even if node.attributes.get("round_mode") == "HALF_TO_EVEN" else half_away
        with np.errstate(all="ignore"):
            a, b = (end.astype(np.float64) for end in ranges_of_elements(node.attributes, x, low, high, None))
            wide, steps = x.astype(np.float64), float(integer.highest - integer.lowest)
            if mode == "MIN_COMBINED":
                sums = s(s(s(clipped(wide, a, b) - a) * steps) / s(b - a))
                sums = rounded(s(sums + integer.lowest) if integer.signed else sums)
            elif mode == "MIN_FIRST":
                scale = s((steps + 1) / s(s(b - a) * s((steps + 1) / steps)))
                sums = rounded(s(clipped(wide, a, b) * scale)) - rounded(s(a * scale)) + integer.lowest
            else:
                factor = factor_in(s, a, b, lowest, highest)
                kept = clipped(wide, s(s(float(lowest)) / factor), s(s(float(highest)) / factor))
                sums = rounded(s(kept * factor))
                own = factor_in(s, low.astype(np.float64), high.astype(np.float64), lowest, highest)
                low, high = (s(s(float(end)) / own).astype(F32) for end in (lowest, highest))
            own_range = Ranged(a, b, integer, lowest, highest, rounded)
            codes = plain.clamp(sums, own_range)
            return (np.asarray(codes.astype(node.output_type)).reshape(x.shape), np.asarray(low), np.asarray(high))

    return run


def factor_in(s: Callable[[Any], Array], low: Array, high: Array, lowest: int, highest: int) -> Array:
    from_low = np.where(lowest * low > 0, s(s(float(lowest)) / low), float(LARGEST))
    return np.minimum(from_low, np.where(highest * high > 0, s(s(float(highest)) / high), float(LARGEST)))


MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    *ws.single_steps(QuantizeV2Steps, STEPS),
    *((Cause(f"computes-in:{kind.__name__}", "combined"), in_type(kind)) for kind in (np.float16, ml_dtypes.bfloat16)),
)
PAIRS: tuple[tuple[Cause, Mistake], ...] = ws.pairs_of_steps(QuantizeV2Steps, STEPS)
