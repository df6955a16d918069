"""Wrong steps of FakeQuantize: one of them, or two at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.wrong_steps import frequent, step
from tiebreak.conformance.semantics.fake_quantize_facets import (
    NUDGED,
    NUDGED_TO_EVEN,
    POSITIONS,
    RESULTS,
    Position,
    Range,
    Result,
    RoundedStep,
)
from tiebreak.conformance.variants import conversions
from tiebreak.conformance.variants.places import PLACES, Place
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Four = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class ScaledLimits:
    """What one call's expression takes: arrays of one type and x's shape."""

    low: Array
    high: Array
    first: Array
    last: Array
    n: Any  # levels - 1

    @property
    def width(self) -> Array:
        return np.asarray(self.high - self.low)

    @property
    def span(self) -> Array:
        return np.asarray(self.last - self.first)

    @property
    def one(self) -> Any:
        return np.asarray(1).astype(self.low.dtype)[()]


Inside = Callable[[Array], Array]  # the expression for values of x
Branches = Callable[[Array, Four, Inside], Array]


def document(x: Array, limits: Four, inside: Inside) -> Array:
    low, high, first, last = limits
    return np.where(x <= np.minimum(low, high), first, np.where(x > np.maximum(low, high), last, inside(x)))


def as_given(levels: int) -> int:
    return levels


@dataclass(frozen=True)
class FakeQuantizeSteps:
    """The document's steps, each rounded to x's type. A field that is not as here is a wrong step."""

    x: Callable[[Array], Array] = conversions.as_is
    lay: Callable[[int, Array], Array] = lambda which, limit: limit
    limits: Callable[..., Sequence[Array]] = lambda a, b, p, q, n: (a, b, p, q)
    levels: Callable[[int], int] = as_given
    branches: Branches = document
    position: Callable[[Array, ScaledLimits], Array] = lambda x, o: (x - o.low) / o.width * o.n
    rounded: Callable[[Array], Array] = np.rint
    result: Callable[[Array, ScaledLimits], Array] = lambda level, o: level / o.n * o.span + o.first
    out: Callable[[Array], Array] = conversions.as_is
    whole: Callable[[Array, ScaledLimits], Array] | None = None  # the position, the rounding and the result

    def __call__(self, node: Node, x: Array, *given: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            ws.check_conversions(x.dtype, self.x, self.out)
            x = self.x(x)
            levels = self.levels(int(node.attributes["levels"]))
            if self.levels is not as_given and levels == node.attributes["levels"]:
                raise ValueError("there is nothing to mistake")
            n = np.asarray(float(levels - 1)).astype(x.dtype)[()]
            spread = [
                np.broadcast_to(self.lay(i, limit) if limit.size > 1 else limit, x.shape)
                for i, limit in enumerate(given)
            ]
            low, high, first, last = self.limits(*spread, n)
            of_all = ScaledLimits(low, high, first, last, n)
            found = self.branches(x, (low, high, first, last), lambda values: self.inside(values, of_all))
            return (np.asarray(self.out(np.asarray(found).astype(x.dtype))).reshape(x.shape),)

    def inside(self, x: Array, o: ScaledLimits) -> Array:
        if self.whole is not None:
            return np.asarray(self.whole(x, o)).astype(x.dtype)
        level = self.rounded(np.asarray(self.position(x, o)).astype(x.dtype))
        return np.asarray(self.result(level, o)).astype(x.dtype)


# Branches


def clipped(x: Array, limits: Four) -> Array:
    low, high = np.minimum(*limits[:2]), np.maximum(*limits[:2])
    return np.asarray(np.minimum(np.maximum(x, low), high))


def computed(x: Array, limits: Four, inside: Inside) -> Array:
    return inside(clipped(x, limits))


def computed_above(x: Array, limits: Four, inside: Inside) -> Array:
    return np.where(x <= np.minimum(*limits[:2]), limits[2], inside(clipped(x, limits)))


def computed_below(x: Array, limits: Four, inside: Inside) -> Array:
    return np.where(x > np.maximum(*limits[:2]), limits[3], inside(clipped(x, limits)))


def not_clipped(x: Array, limits: Four, inside: Inside) -> Array:
    return inside(x)


def not_clipped_below(x: Array, limits: Four, inside: Inside) -> Array:
    return np.where(x > np.maximum(*limits[:2]), limits[3], inside(x))


def not_clipped_above(x: Array, limits: Four, inside: Inside) -> Array:
    return np.where(x <= np.minimum(*limits[:2]), limits[2], inside(x))


def exchanged(x: Array, limits: Four, inside: Inside) -> Array:
    low, high, first, last = limits
    return np.where(x <= np.minimum(low, high), last, np.where(x > np.maximum(low, high), first, inside(x)))


def passed(x: Array, limits: Four, inside: Inside) -> Array:
    return np.where((x <= np.minimum(*limits[:2])) | (x > np.maximum(*limits[:2])), x, inside(x))


def unordered(x: Array, limits: Four, inside: Inside) -> Array:
    low, high, first, last = limits
    return np.where(x <= low, first, np.where(x > high, last, inside(x)))


# Limits


def in_order(a: Array, b: Array, p: Array, q: Array, n: Any) -> Four:
    """Both pairs are exchanged where the input's are reversed."""
    falls = a > b
    return np.where(falls, b, a), np.where(falls, a, b), np.where(falls, q, p), np.where(falls, p, q)


def moved_to_grid(a: Array, b: Array, p: Array, q: Array, n: Any) -> Four:
    """The input range is moved so that zero is on the grid, even if it then is outside of the range."""
    scale = (b - a) / n
    by = np.rint(a / scale) * scale - a
    by = np.where(np.isfinite(by), by, np.zeros_like(by))
    return a + by, b + by, p, q


def held(change: conversions.Change, places: str) -> Callable[[Array, Array, Array, Array, Any], Sequence[Array]]:
    """The limits whose places are 1 go through a conversion."""
    return lambda a, b, p, q, n: tuple(
        change(limit) if place == "1" else limit for limit, place in zip((a, b, p, q), places, strict=True)
    )


def zero_of(values: Array) -> Any:
    return np.zeros((), values.dtype)[()]


# Places. The limits are as given, of several values.


def moved(place: Place, which: Sequence[int], number: int, limit: Array) -> Array:
    """A limit's values at other places along its flat array."""
    if number not in which:
        return limit
    flat = limit.reshape(-1)
    return np.asarray(flat[place(np.arange(flat.size), flat.size) % flat.size].reshape(limit.shape))


ALL, INPUTS, OUTPUTS = range(4), range(2), range(2, 4)
FIRST = PLACES["one-for-all:first range"]


def laid(id: str, place: Place, which: Sequence[int], often: bool = False) -> ws.WrongStep:
    return ws.WrongStep(id, "projection", {"lay": partial(moved, place, which)}, often)


# The expression


def in_steps_of(kind: Any, x: Array, o: ScaledLimits) -> Array:
    """The position with every step in a type; levels - 1 is as it is."""
    x, low, width = (values.astype(kind).astype(np.float64) for values in (x, o.low, o.width))
    shifted = (x - low).astype(kind).astype(np.float64)
    return np.asarray(((shifted / width).astype(kind).astype(np.float64) * float(o.n)).astype(kind))


def quantized_and_dequantized(x: Array, o: ScaledLimits) -> Array:
    """(clamp(round(x / step) + zero_point) - zero_point') * step', with zero points that are integers."""
    step, step_out = o.width / o.n, o.span / o.n
    zero, zero_out = np.rint(-o.low / step), np.rint(-o.first / step_out)
    code = np.minimum(np.maximum(np.rint(x / step) + zero, 0 * o.one), o.n)
    return np.asarray((code - zero_out) * step_out)


def power_of_two_below(levels: int) -> int:
    return 1 << (levels.bit_length() - 1)


def step_in(values: Array, *, fused: bool) -> RoundedStep:
    if fused and values.dtype == np.float64:
        raise ValueError("no exact products of float64")
    return RoundedStep(values.dtype)


def position_of(one: Position) -> Callable[[Array, ScaledLimits], Array]:
    """The position that a facet of the audit has."""
    return lambda x, o: one.of(step_in(x, fused=one.fused), x, o.low, o.high, o.n)


def result_of(one: Result) -> Callable[[Array, ScaledLimits], Array]:
    return lambda level, o: one.of(step_in(level, fused=one.fused), level, o.first, o.last, o.n)


def range_of(one: Range) -> Callable[..., Four]:
    return lambda a, b, p, q, n: (*one.limits(RoundedStep(a.dtype), a, b, n), p, q)


def mixed(level: Array, o: ScaledLimits) -> Array:
    share = level / o.n
    return np.asarray((o.one - share) * o.first + share * o.last)


STEPS: tuple[ws.WrongStep, ...] = (
    *ws.of_input("quotient"),
    step("x-in:float32", "quotient", x=conversions.in_float32),
    frequent("one-for-all:limit", "projection", lay=partial(moved, FIRST, ALL)),
    laid("one-for-all:input limits", FIRST, INPUTS),
    laid("one-for-all:output limit", FIRST, OUTPUTS, often=True),
    *(
        laid(f"one-for-all:{name}", FIRST, (number,))
        for number, name in enumerate(("input_low", "input_high", "output_low", "output_high"))
    ),
    laid("one-for-all:last limits", PLACES["one-for-all:last range"], ALL),
    laid("previous-limits", PLACES["previous-range"], ALL, often=True),
    laid("next-limits", PLACES["next-range"], ALL, often=True),
    laid("limits-reversed", PLACES["ranges-reversed"], ALL),
    laid("limits-in-pairs", PLACES["ranges-in-pairs"], ALL),
    frequent("output-limits-exchanged", "product", limits=lambda a, b, p, q, n: (a, b, q, p)),
    frequent("takes-input-limits-for-output", "product", limits=lambda a, b, p, q, n: (a, b, a, b)),
    step("takes-output-limits-for-input", "quotient", limits=lambda a, b, p, q, n: (p, q, p, q)),
    step("both-limits-in-order", "reversed", limits=in_order),
    frequent("sorts-input-limits", "reversed", limits=lambda a, b, p, q, n: (np.minimum(a, b), np.maximum(a, b), p, q)),
    step("sorts-output-limits", "falling", limits=lambda a, b, p, q, n: (a, b, np.minimum(p, q), np.maximum(p, q))),
    step("low-is-minus-high", "quotient", limits=lambda a, b, p, q, n: (-b, b, p, q)),
    *(step(one.cause, "quotient", limits=range_of(one)) for one in (NUDGED, NUDGED_TO_EVEN)),
    step("moves-range-to-grid", "quotient", limits=moved_to_grid),
    frequent(
        "limits-extended-to-zero",
        "quotient",
        limits=lambda a, b, p, q, n: (np.minimum(a, zero_of(a)), np.maximum(b, zero_of(b)), p, q),
    ),
    *(
        one
        for name, change in (("bfloat16", conversions.in_bfloat16), ("float16", conversions.in_float16))
        for one in (
            step(f"input-limits-in:{name}", "quotient", limits=held(change, "1100")),
            step(
                "output-limits-in-bfloat16" if name == "bfloat16" else f"output-limits-in:{name}",
                "product",
                limits=held(change, "0011"),
            ),
            step(f"limits-in:{name}", "quotient", limits=held(change, "1111")),
        )
    ),
    step("limits-in:float32", "quotient", limits=held(conversions.in_float32, "1111")),
    frequent("levels-not-steps", "levels", levels=lambda levels: levels + 1),
    frequent("one-level-fewer", "levels", levels=lambda levels: max(levels - 1, 2)),
    frequent("at-most:256 levels", "levels", levels=lambda levels: min(levels, 256)),
    frequent("255-levels-for-256", "levels", levels=lambda levels: 255 if levels == 256 else levels),
    step("at-least:16 levels", "levels", levels=lambda levels: max(levels, 16)),
    step("even-levels", "levels", levels=lambda levels: levels + levels % 2),
    step("power-of-two-levels-below", "levels", levels=power_of_two_below),
    frequent("clamped-goes-through", "above", branches=computed),
    step("clamped-goes-through-above", "above", branches=computed_above),
    step("clamped-goes-through-below", "below", branches=computed_below),
    frequent("does-not-clamp", "above", branches=not_clipped),
    step("does-not-clamp-above", "above", branches=not_clipped_above),
    step("does-not-clamp-below", "below", branches=not_clipped_below),
    frequent("ends-exchanged", "above", branches=exchanged),
    step("x-outside-is-result", "above", branches=passed),
    step("clips-unordered", "reversed", branches=unordered),
    *(frequent(one.cause, "quotient", position=position_of(one)) for one in POSITIONS if one.cause),
    frequent("position:reciprocal of range", "quotient", position=lambda x, o: (x - o.low) * (o.one / o.width) * o.n),
    step("position:two quotients", "quotient", position=lambda x, o: x / (o.width / o.n) - o.low / (o.width / o.n)),
    step(
        "position:estimate of 12 bits",
        "quotient",
        position=lambda x, o: (x - o.low) * conversions.estimate(o.width) * o.n,
    ),
    step("position:from input_high", "quotient", position=lambda x, o: o.n - (o.low + o.width - x) / o.width * o.n),
    step("position:without input_low", "quotient", position=lambda x, o: x / o.width * o.n),
    step("position:magnitude of input_low", "quotient", position=lambda x, o: (x + np.abs(o.low)) / o.width * o.n),
    step("position-in:float16", "quotient", position=partial(in_steps_of, np.float16)),
    step("position-in:bfloat16", "quotient", position=partial(in_steps_of, ml_dtypes.bfloat16)),
    frequent("truncates", "nearest", rounded=np.trunc),
    frequent("rounds:UP", "nearest", rounded=np.ceil),
    step("rounds:DOWN", "nearest", rounded=np.floor),
    frequent("ties-away", "nearest", rounded=ws.away),
    frequent("floor-of-half-more", "nearest", rounded=ws.floor_of_half_more),
    step("ties:NEAREST_DOWNWARD", "nearest", rounded=ws.downward),
    step("ties:NEAREST_UPWARD", "nearest", rounded=ws.upward),
    step("adds-half-and-truncates", "nearest", rounded=ws.trunc_of_half_more),
    step("rounds:TOWARD_INFINITY", "nearest", rounded=ws.from_zero),
    *(frequent(one.cause, "product", result=result_of(one)) for one in RESULTS if one.cause),
    frequent("result:reciprocal of steps", "product", result=lambda level, o: level * (o.one / o.n) * o.span + o.first),
    frequent("result:quotient first, fused", "product", result=lambda level, o: ws.fused(level / o.n, o.span, o.first)),
    frequent("result:between the limits", "product", result=mixed),
    step("result:from output_high", "product", result=lambda level, o: o.last - (o.n - level) / o.n * o.span),
    step("result:two products", "product", result=lambda level, o: (level + o.first / (o.span / o.n)) * (o.span / o.n)),
    step(
        "output-step-in:float16",
        "product",
        result=lambda level, o: level * conversions.in_float16(o.span / o.n) + o.first,
    ),
    step(
        "output-step-in:bfloat16",
        "product",
        result=lambda level, o: level * conversions.in_bfloat16(o.span / o.n) + o.first,
    ),
    step("result:without output_low", "product", result=lambda level, o: level / o.n * o.span),
    step("result:with output_high", "product", result=lambda level, o: level / o.n * o.span + o.last),
    step("result:from the other end", "product", result=lambda level, o: (o.n - level) / o.n * o.span + o.first),
    frequent("quantize-and-dequantize-whole", "sum", whole=quantized_and_dequantized),
    *ws.of_result("sum"),
)
MISTAKES: tuple[tuple[Cause, Mistake], ...] = ws.single_steps(FakeQuantizeSteps, STEPS)
PAIRS: tuple[tuple[Cause, Mistake], ...] = ws.pairs_of_steps(FakeQuantizeSteps, STEPS)
