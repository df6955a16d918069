"""Wrong steps of QuantizeAndDequantizeV2, V3 and V4: one of them, or two at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.wrong_steps import frequent, step
from tiebreak.conformance.variants import conversions
from tiebreak.conformance.variants.places import Place
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, along

Ends = tuple[Array, Array]
RANK = 2


@dataclass(frozen=True)
class Scaled:
    """What one call's steps share: arrays of x's type and shape, the ends of the integers, the node's rounding."""

    low: Array
    high: Array
    lowest: Any
    highest: Any
    factor: Array
    by_low: Array  # whether input_min decides
    mode: str
    whole: tuple[int, int]  # the ends of the integers, which x's type may not hold

    @property
    def one(self) -> Any:
        return self.factor.dtype.type(1)

    @property
    def updated(self) -> Ends:
        """The range that the factor belongs to."""
        low = np.where(self.by_low, self.low, self.lowest / self.factor)
        return low, np.where(self.by_low, self.highest / self.factor, self.high)

    @property
    def side(self) -> Array:
        """The deciding end divided by its integer."""
        from_low = self.low / self.lowest if self.lowest else self.low
        return np.asarray(np.where(self.by_low, from_low, self.high / self.highest)).astype(self.factor.dtype)

    @property
    def side_over_whole(self) -> Array:
        """The same with the integer unrounded. A quotient in float64 is rounded as if once: it has twice the bits."""
        (low, high), (lowest, highest) = (end.astype(np.float64) for end in (self.low, self.high)), self.whole
        from_low = low / lowest if lowest else low
        return np.asarray(np.where(self.by_low, from_low, high / highest)).astype(self.factor.dtype)


def integers(signed: bool, bits: int, narrow: bool) -> tuple[bool, int, int]:
    highest = (1 << (bits - signed)) - 1
    return signed, (-highest - (not narrow) if signed else 0), highest


def axes_of(node: Node) -> tuple[int, ...]:
    axis = int(node.attributes.get("axis", -1))
    return () if axis < 0 else (axis,)


def measured(x: Array, axes: tuple[int, ...]) -> Ends:
    others = tuple(axis for axis in range(x.ndim) if axis not in axes)
    return np.asarray(np.min(x, axis=others)), np.asarray(np.max(x, axis=others))


def range_of(node: Node, x: Array, low: Array, high: Array) -> Ends:
    return (low, high) if node.attributes.get("range_given", False) else measured(x, axes_of(node))


def both_factors(low: Array, high: Array, lowest: Any, highest: Any) -> tuple[Array, Array, Array]:
    """The factors of both sides, infinite where a side has none, and whether that of input_min is taken."""
    none = np.asarray(np.inf, low.dtype)
    from_low = np.where(low < 0, lowest / low, none).astype(low.dtype)
    from_high = np.where(high > 0, highest / high, none).astype(low.dtype)
    return from_low, from_high, (low < 0) & ((from_low < from_high) | ~(high > 0))


def smaller(low: Array, high: Array, lowest: Any, highest: Any) -> Ends:
    from_low, from_high, by_low = both_factors(low, high, lowest, highest)
    return np.where(by_low, from_low, from_high), by_low


def updated_clamp(x: Array, o: Scaled) -> Array:
    least, most = o.updated
    return np.minimum(np.maximum(x, least), most)


def by_mode(values: Array, mode: str) -> Array:
    if mode == "HALF_TO_EVEN":
        return np.rint(values)
    wide = values.astype(np.float64)
    return np.asarray(np.floor(wide) + (wide - np.floor(wide) >= 0.5)).astype(values.dtype)


@dataclass(frozen=True)
class RoundTripSteps:
    """The document's steps, each rounded to x's type. A field that is not as here is a wrong step."""

    x: Callable[[Array], Array] = conversions.as_is
    range: Callable[[Node, Array, Array, Array], Ends] = range_of
    places: tuple[Place | None, Place | None] | None = None
    bits: Callable[[bool, int, bool], tuple[bool, int, int]] = integers
    factor: Callable[[Array, Array, Any, Any], Ends] = smaller
    clamp: Callable[[Array, Scaled], Array] = updated_clamp
    product: Callable[[Array, Scaled], Array] = lambda x, o: x * o.factor
    rounded: Callable[[Array, str], Array] = by_mode
    result: Callable[[Array, Scaled], Array] = lambda level, o: level / o.factor
    out: Callable[[Array], Array] = conversions.as_is

    def __call__(self, node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        if not x.size:
            return (x,)
        with np.errstate(all="ignore"):
            ws.check_conversions(x.dtype, self.x, self.out)
            kind, x = x.dtype, self.x(x)
            o = self.scaled(node, x, *self.spread(node, x, *self.range(node, x, low, high)))
            product = np.asarray(self.product(np.asarray(self.clamp(x, o)), o)).astype(kind)
            level = np.asarray(self.rounded(product, o.mode)).astype(kind)
            return (np.asarray(self.out(np.asarray(self.result(level, o)).astype(kind))).reshape(x.shape),)

    def spread(self, node: Node, x: Array, low: Array, high: Array) -> Ends:
        axes, shape = axes_of(node), x.shape
        if self.places is not None:
            at = np.broadcast_to(along(np.arange(low.size).reshape(low.shape), axes, shape), shape)
            return ws.taken_from(self.places, at, low, high)
        if not low.ndim:
            axes = ()
        first, last = (np.broadcast_to(along(np.asarray(end), axes, shape), shape) for end in (low, high))
        return first, last

    def scaled(self, node: Node, x: Array, low: Array, high: Array) -> Scaled:
        given = node.attributes
        signed, narrow = bool(given.get("signed_input", True)), bool(given.get("narrow_range", False))
        right = integers(signed, int(given.get("num_bits", 8)), narrow)
        signed, lowest, highest = self.bits(signed, int(given.get("num_bits", 8)), narrow)
        if self.bits is not integers and (signed, lowest, highest) == right:
            raise ValueError("there is nothing to mistake")
        low = low if signed else np.zeros_like(low)
        ends = (np.asarray(float(end)).astype(x.dtype)[()] for end in (lowest, highest))
        least, most = ends
        factor, by_low = self.factor(low, high, least, most)
        mode = str(given.get("round_mode", "HALF_TO_EVEN"))
        return Scaled(low, high, least, most, np.asarray(factor).astype(x.dtype), by_low, mode, (lowest, highest))


# Ranges


def always_measured(node: Node, x: Array, low: Array, high: Array) -> Ends:
    return measured(x, axes_of(node))


def always_given(node: Node, x: Array, low: Array, high: Array) -> Ends:
    found = measured(x, axes_of(node))
    return (low, high) if low.size == found[0].size else found


def measured_together(node: Node, x: Array, low: Array, high: Array) -> Ends:
    return (low, high) if node.attributes.get("range_given", False) else measured(x, ())


def measured_without(left_out: Callable[[int], int], *, least: int) -> Callable[[Node, Array, Array, Array], Ends]:
    """The last elements, so many of a number of them, are not looked at where a range is measured."""

    def found(node: Node, x: Array, low: Array, high: Array) -> Ends:
        if node.attributes.get("range_given", False) or axes_of(node) or x.size < least:
            return range_of(node, x, low, high)
        return measured(x.reshape(-1)[: x.size - left_out(x.size)], ())

    return found


def measured_magnitude(node: Node, x: Array, low: Array, high: Array) -> Ends:
    if node.attributes.get("range_given", False):
        return low, high
    first, last = measured(x, axes_of(node))
    size = np.maximum(np.abs(first), np.abs(last))
    return -size, size


def range_held(change: conversions.Change) -> Callable[[Node, Array, Array, Array], Ends]:
    def found(node: Node, x: Array, low: Array, high: Array) -> Ends:
        first, last = range_of(node, x, low, high)
        return change(first), change(last)

    return found


# Factors


def factor_held(change: conversions.Change) -> Callable[[Array, Array, Any, Any], Ends]:
    def found(low: Array, high: Array, lowest: Any, highest: Any) -> Ends:
        factor, by_low = smaller(low, high, lowest, highest)
        return change(np.asarray(factor)), by_low

    return found


def side_chosen(choose: Callable[[Array], Array]) -> Callable[[Array, Array, Any, Any], Ends]:
    """A factor for ranges that have both sides."""

    def found(low: Array, high: Array, lowest: Any, highest: Any) -> Ends:
        from_low, from_high, by_low = both_factors(low, high, lowest, highest)
        by_low = np.where((low < 0) & (high > 0), choose(by_low), by_low)
        return np.where(by_low, from_low, from_high), by_low

    return found


def of_magnitude(low: Array, high: Array, lowest: Any, highest: Any) -> Ends:
    return highest / np.maximum(np.abs(low), np.abs(high)), np.abs(low) > np.abs(high)


def of_width(low: Array, high: Array, lowest: Any, highest: Any) -> Ends:
    return (highest - lowest) / (high - low), both_factors(low, high, lowest, highest)[2]


def symmetric_clamp(x: Array, o: Scaled) -> Array:
    most = o.updated[1]
    return np.minimum(np.maximum(x, -most), most)


def in_mode(rounded: Callable[[Array], Array]) -> Callable[[Array, str], Array]:
    return lambda values, mode: rounded(values)


def unscaled(level: Array, o: Scaled) -> Array:
    if not np.isfinite(level).all():
        raise ValueError("no integers")
    return level


def quotient_cut_off(level: Array, o: Scaled) -> Array:
    if level.dtype == np.float64:
        raise ValueError("no wider type")
    return conversions.cut_off(level.astype(np.float64) / o.factor.astype(np.float64), level.dtype)


STEPS: tuple[ws.WrongStep, ...] = (
    *ws.of_input("product"),
    *ws.of_places("axis"),
    frequent("range-in-bfloat16", "scale", range=range_held(conversions.in_bfloat16)),
    step("range-in:float16", "scale", range=range_held(conversions.in_float16)),
    frequent("measures-although-given", "range-given", range=always_measured),
    frequent("takes-although-not-given", "measured", range=always_given),
    frequent("one-for-all:range", "axis", range=measured_together),
    step("measures-all-but:the tail of a loop of 8", "measured", range=measured_without(lambda n: n % 8, least=9)),
    step("measures-all-but:the tail of a loop of 4", "measured", range=measured_without(lambda n: n % 4, least=5)),
    step("measures-all-but:the tail of a loop of 16", "measured", range=measured_without(lambda n: n % 16, least=17)),
    step("measures-all-but:the last element", "measured", range=measured_without(lambda n: 1, least=2)),
    step("measures-magnitude", "measured", range=measured_magnitude),
    frequent("ignores:narrow_range", "narrow", bits=lambda s, n, narrow: integers(s, n, False)),
    frequent("narrow-range", "narrow", bits=lambda s, n, narrow: integers(s, n, True)),
    step("inverts:narrow_range", "narrow", bits=lambda s, n, narrow: integers(s, n, not narrow)),
    frequent("ignores:signed_input", "signed", bits=lambda s, n, narrow: integers(True, n, narrow)),
    step("always-unsigned", "signed", bits=lambda s, n, narrow: integers(False, n, narrow)),
    frequent("ignores:num_bits", "signed", bits=lambda s, n, narrow: integers(s, 8, narrow)),
    step("at-most:8 bits", "signed", bits=lambda s, n, narrow: integers(s, min(n, 8), narrow)),
    step("one-bit-more", "signed", bits=lambda s, n, narrow: integers(s, n + 1, narrow)),
    step(
        "one-bit-less-than:unsigned", "signed", bits=lambda s, n, narrow: integers(s, n if s else max(n - 1, 1), narrow)
    ),
    step(
        "one-integer-more",
        "signed",
        bits=lambda s, n, narrow: (*integers(s, n, narrow)[:2], integers(s, n, narrow)[2] + 1),
    ),
    frequent("factor-in:float16", "scale", factor=factor_held(conversions.in_float16)),
    frequent("factor-in-bfloat16", "scale", factor=factor_held(conversions.in_bfloat16)),
    step("factor-cut-off-to-bfloat16", "scale", factor=factor_held(conversions.cut_to_bfloat16)),
    frequent("factor-of-digits:6", "scale", factor=factor_held(conversions.of_six_digits)),
    step("factor-to-power-of-two-below", "scale", factor=factor_held(conversions.to_power_of_two_below)),
    frequent("greater-factor", "scale", factor=side_chosen(lambda by_low: ~by_low)),
    frequent("one-end-alone:input_max", "side", factor=side_chosen(np.zeros_like)),
    frequent("one-end-alone:input_min", "side", factor=side_chosen(np.ones_like)),
    frequent("one-size-for-both-sides", "side", factor=of_magnitude),
    step("steps-over-width", "scale", factor=of_width),
    frequent("does-not-clamp", "clamp", clamp=lambda x, o: x),
    step("clamps-before-update", "clamp", clamp=lambda x, o: np.minimum(np.maximum(x, o.low), o.high)),
    step("does-not-clamp-below", "clamp", clamp=lambda x, o: np.minimum(x, o.updated[1])),
    step("does-not-clamp-above", "clamp", clamp=lambda x, o: np.maximum(x, o.updated[0])),
    step("clamps-symmetrically", "clamp", clamp=symmetric_clamp),
    frequent("divides-by-step", "product", product=lambda x, o: x / (o.one / o.factor)),
    step("product-in:float16", "product", product=lambda x, o: conversions.in_float16(x * o.factor)),
    step("product-in:bfloat16", "product", product=lambda x, o: conversions.in_bfloat16(x * o.factor)),
    frequent("ties-away", "product", rounded=in_mode(ws.away)),
    frequent("truncates", "product", rounded=in_mode(np.trunc)),
    frequent("floor-of-half-more", "half-up", rounded=in_mode(ws.floor_of_half_more)),
    step("rounds:UP", "product", rounded=in_mode(np.ceil)),
    step("rounds:DOWN", "product", rounded=in_mode(np.floor)),
    step("rounds:TOWARD_INFINITY", "product", rounded=in_mode(ws.from_zero)),
    step("ties-toward-zero", "product", rounded=in_mode(ws.toward_zero)),
    step("ties:NEAREST_DOWNWARD", "product", rounded=in_mode(ws.downward)),
    frequent("ties-upward-always", "half-to-even", rounded=in_mode(ws.upward)),
    frequent("ties-even-always", "half-up", rounded=in_mode(np.rint)),
    step("adds-half-and-truncates", "half-up", rounded=in_mode(ws.trunc_of_half_more)),
    step("half-added-to-magnitude", "half-up", rounded=in_mode(ws.trunc_of_signed_half_more)),
    frequent("one-over-factor", "quotient", result=lambda level, o: level * (o.one / o.factor)),
    frequent("side-over-integer", "quotient", result=lambda level, o: level * o.side),
    step("side-over-unrounded-integer", "quotient", result=lambda level, o: level * o.side_over_whole),
    step("reciprocal-of-bits:12", "quotient", result=lambda level, o: level * conversions.estimate(o.factor)),
    step("step-in:float16", "quotient", result=lambda level, o: level * conversions.in_float16(o.one / o.factor)),
    step("step-in:bfloat16", "quotient", result=lambda level, o: level * conversions.in_bfloat16(o.one / o.factor)),
    step("step-of-digits:6", "quotient", result=lambda level, o: level * conversions.of_six_digits(o.one / o.factor)),
    step("cuts-off", "quotient", result=quotient_cut_off),
    step("ignores-scale", "quotient", result=unscaled),
    *ws.of_result("quotient"),
)
MISTAKES: tuple[tuple[Cause, Mistake], ...] = ws.single_steps(RoundTripSteps, STEPS, RANK)
PAIRS: tuple[tuple[Cause, Mistake], ...] = ws.pairs_of_steps(RoundTripSteps, STEPS)
