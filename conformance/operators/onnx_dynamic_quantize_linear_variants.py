"""What can go wrong with `onnx.DynamicQuantizeLinear`, as changes of its terms.

Each mistake has two forms: all steps in float32, or in float64 but for what the mistake rounds and for y_scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.operators.wrong_terms import Wrong, as_read, mistakes_of, of_place, of_role, often, pairs_of
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, matched, operands_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, changed, posed, written
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    UP,
    Numeric,
    Term,
    clamp,
    greatest,
    held,
    is_negative,
    lifted,
    magnitude,
    or_else,
    rounded,
    step,
    to_integer,
    where,
    wrapped,
)
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.operators.onnx_dynamic_quantize_linear import UINT8, range_of
from tiebreak.golden.problem import Array, Elementwise, codes_of
from tiebreak.golden.rounding import EVEN

SCALE, POINT, QUOTIENT, RANGE = "scale", "zero-point", "round-first", "range"  # roles
FLOAT32 = FLOAT_TYPES["float32"]
WIDE = "the rest in float64"


class Known(NamedTuple):
    """What a step may be made of. `point` is the zero point, a whole number."""

    x: Term
    low: Term
    high: Term
    scale: Term
    point: Term

    @property
    def width(self) -> Term:
        return step(self.high - self.low)

    @property
    def quotient(self) -> Term:
        return step(self.x / self.scale)

    @property
    def whole(self) -> Term:
        return nearest(self.quotient)


Make = Callable[[Known], Numeric]


def nearest(number: Term) -> Term:
    return rounded(number, EVEN)


def single(number: Numeric) -> Term:
    """A step's number in float32, whatever type the others have."""
    return step(step(number), FLOAT32)


def of_scale(make: Callable[[Term, Term, Term], Numeric]) -> Mutant:
    """Another y_scale, made of both ends and the width."""

    def change(p: Elementwise) -> Change:
        *_, low, high = operands_of(p).values()
        new = put_out(make(low, high, step(high - low)))
        return lambda one: new if one.name == "held" else None

    return written(change)


def put_out(scale: Numeric) -> Term:
    return held(lifted(scale), FLOAT32).named("y_scale")


def scale_then(conversion: to.Conversion) -> Mutant:
    """The right y_scale is converted."""
    return changed(lambda one: put_out(conversion(one)) if one.name == "held" else None)


def of_point(make: Make) -> Mutant:
    """Another zero point before it is saturated, a whole number."""

    def change(p: Elementwise) -> Change:
        *_, low, high = operands_of(p).values()

        def found(one: Term) -> Term | None:
            if one.name != "round" or one.label != "y_zero_point":
                return None
            _, quotient = by.as_written(one.args[0].args[0]).args
            *_, scale = matched(quotient, "divide")
            return saturated(lifted(make(Known(low, low, high, scale, one)))).named("y_zero_point")

        return found

    return written(change)


def saturated(number: Term) -> Term:
    """As uint8, in which NaN is 0."""
    return clamp(or_else(number, lifted(0)), UINT8.lowest, UINT8.highest)


def of_y(make: Make) -> Mutant:
    """Another y before it is saturated, a whole number."""

    def change(p: Elementwise) -> Change:
        *_, low, high = operands_of(p).values()

        def found(one: Term) -> Term | None:
            if one.name != "to-ends":
                return None
            whole, point = one.args[0].args
            x, scale = matched(whole.args[0], "divide")
            return replace(one, args=(lifted(make(Known(x, low, high, scale, point))),))

        return found

    return written(change)


def quotient_by(rounding: Callable[[Term], Term]) -> Mutant:
    return of_y(lambda k: rounding(k.quotient) + k.point)


def ended(end: Callable[[Term], Term]) -> Mutant:
    """Another uint8 of y."""
    return changed(lambda one: end(one.args[0]) if one.name == "to-ends" else None)


def measured(measure: Callable[[Array], tuple[Array, Array]]) -> Mutant:
    """The range has other ends: codes, measured in the input."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        *others, low, high = problem.operands
        ends = (np.full_like(own, end[0]) for own, end in zip((low, high), measure(*call.inputs), strict=True))
        return replace(problem, operands=(*others, *ends))

    return posed(pose)


def bare_range(x: Array) -> tuple[Array, Array]:
    low, high = (codes_of(np.asarray(end(x)).reshape(1)) for end in (np.min, np.max))
    return low, high


def range_of_some(some: Callable[[Array], Array]) -> Mutant:
    """The range of some elements of the flat input; ValueError where that is all of them, or none."""

    def measure(x: Array) -> tuple[Array, Array]:
        chosen = some(x.reshape(-1))
        if chosen.size in (0, x.size):
            raise ValueError("there is nothing to mistake")
        return range_of(chosen)

    return measured(measure)


def without_tail(width: int) -> Mutant:
    return range_of_some(lambda flat: flat[: flat.size // width * width])


def of_first(count: int) -> Mutant:
    return range_of_some(lambda flat: flat[:count])


def symmetric(p: Elementwise) -> Change:
    *_, low, high = operands_of(p).values()
    end = greatest(magnitude(low), high)
    return {low: 0 - end, high: end}.get


def in_double(one: Term) -> Term | None:
    if one.name == "held":
        return replace(one, args=(step(one.args[0], DOUBLE),))
    return replace(one, constant=DOUBLE) if one.name == "step" and one.constant is None else None


def nan_is_zero(one: Term) -> Term | None:
    return replace(one, args=(saturated(one.args[0].args[0]),)) if one.label == "y_zero_point" else None


def real_quotient(number: Term, k: Known) -> Term:
    """A number over the real scale, in float64."""
    return nearest(step(step(number * 255, DOUBLE) / step(k.high - k.low, DOUBLE), DOUBLE))


def one_ulp(end: float) -> to.Conversion:
    return to.Conversion(
        f"one ulp toward {end}", lambda scale: np.nextafter(scale.astype(np.float32), np.float32(end)).astype(float)
    )


def half_added(number: Term) -> Term:
    return rounded(step(single(number) + by.HALF, FLOAT32), TOWARD_ZERO)


def half_more(number: Term) -> Term:
    return rounded(step(single(number) + by.HALF, FLOAT32), DOWN)


def half_to_magnitude(number: Term) -> Term:
    half = where(is_negative(number), -by.HALF, by.HALF)
    return rounded(step(single(number) + half, FLOAT32), TOWARD_ZERO)


CUT_TO_8_BITS = to.Conversion("cut to 8 bits", to.cut_to_bfloat16)
RAISED = to.Conversion("at least 2^-23", lambda scale: np.maximum(scale, to.EPSILON))
WRAPS = ended(lambda y: to_integer(wrapped(y, UINT8), UINT8))
CLAMPED_FIRST = of_y(lambda k: clamp(k.whole, UINT8.lowest, UINT8.highest) + k.point)
FLUSHED_X, FLUSHED_SCALE = by.operands(to.FLUSH, "x", "low", "high"), scale_then(to.FLUSH)
FLUSHED_QUOTIENT = quotient_by(lambda quotient: nearest(to.FLUSH(quotient)))
SCALES: Mapping[str, Mutant] = {
    "range-over-steps-by-reciprocal": of_scale(lambda low, high, width: width * step(lifted(1) / 255, FLOAT32)),
    "reciprocal-of-steps-over-range": of_scale(lambda low, high, width: 1 / single(255 / width)),
    "ends-divided-apart": of_scale(lambda low, high, width: step(high / 255) - step(low / 255)),
    "levels-as-steps": of_scale(lambda low, high, width: width / 256),
    "counts-one-step-less": of_scale(lambda low, high, width: width / 254),
    "narrower-by-one-bit": of_scale(lambda low, high, width: width / 127),
    "scale-in:bfloat16": scale_then(to.BFLOAT16),
    "scale-in:float16": scale_then(to.FLOAT16),
    "scale-cut-off-to:bfloat16": scale_then(CUT_TO_8_BITS),
    "scale-to-power-of-two-above": scale_then(to.POWER_ABOVE),
    "scale-raised": scale_then(RAISED),
    "flushes-scales": FLUSHED_SCALE,
    "scale-one-ulp:less": scale_then(one_ulp(0)),
    "scale-one-ulp:more": scale_then(one_ulp(np.inf)),
}
POINTS: Mapping[str, Mutant] = {
    "zero-point-rounds:ties away from zero": of_point(lambda k: rounded(0 - step(k.low / k.scale), AWAY)),
    "zero-point-rounds:down": of_point(lambda k: rounded(0 - step(k.low / k.scale), DOWN)),
    "zero-point-rounds:up": of_point(lambda k: rounded(0 - step(k.low / k.scale), UP)),
    "zero-point-by-reciprocal": of_point(lambda k: nearest(0 - step(k.low * single(1 / k.scale)))),
    "zero-point-of-real-scale": of_point(lambda k: real_quotient(0 - k.low, k)),
    "zero-point-of-steps-over-range": of_point(lambda k: nearest(step((0 - k.low) * single(255 / k.width)))),
    "zero-point-after-width": of_point(lambda k: nearest(0 - step(step(k.low / k.width) * 255))),
    "zero-point-from-max": of_point(lambda k: nearest(step(255 - step(k.high / k.scale)))),
    "ignores-zero-point": of_point(lambda k: 0),
    "zero-point-in-the-middle": of_point(lambda k: 128),
}
RESULTS: Mapping[str, Mutant] = {
    "zero-point-first": of_y(lambda k: nearest(step(k.quotient + k.point))),
    "own-reciprocal": of_y(lambda k: nearest(step(k.x * single(1 / k.scale))) + k.point),
    "steps-over-range": of_y(lambda k: nearest(step(k.x * single(255 / k.width))) + k.point),
    "steps-before-width": of_y(lambda k: nearest(step(step(k.x * 255) / k.width)) + k.point),
    "steps-before-reciprocal-of-width": of_y(lambda k: nearest(step(step(k.x * 255) * single(1 / k.width))) + k.point),
    "steps-after-width": of_y(lambda k: nearest(step(step(k.x / k.width) * 255)) + k.point),
    "divides-by-real-scale": of_y(lambda k: real_quotient(k.x, k) + k.point),
    "y-rounds:ties away from zero": quotient_by(by.in_mode(AWAY)),
    "y-rounds:toward zero": quotient_by(by.in_mode(TOWARD_ZERO)),
    "y-rounds:down": quotient_by(by.in_mode(DOWN)),
    "y-rounds:up": quotient_by(by.in_mode(UP)),
    "adds-half-and-truncates": quotient_by(half_added),
    "floor-of-half-more": quotient_by(half_more),
    "half-added-to-magnitude": quotient_by(half_to_magnitude),
    "reciprocal-plus-zero-point": of_y(lambda k: nearest(step(step(k.x * single(1 / k.scale)) + k.point))),
    "reciprocal-plus-zero-point-fused": of_y(lambda k: nearest(step(k.x * single(1 / k.scale) + k.point, FLOAT32))),
    "zero-point-not-rounded": of_y(lambda k: nearest(step(k.quotient - step(k.low / k.scale)))),
    "counts-from-min": of_y(lambda k: nearest(step(step(k.x - k.low) / k.scale))),
    "range-formula": of_y(lambda k: nearest(step(step(step(k.x - k.low) / k.width) * 255))),
    "clamps-before-zero-point": CLAMPED_FIRST,
    "clamps-before-zero-point-and-wraps": CLAMPED_FIRST + WRAPS,
    "ignores-zero-point:in y alone": of_y(lambda k: k.whole),
    "quotient-in:bfloat16": quotient_by(lambda quotient: nearest(to.BFLOAT16(quotient))),
    "quotient-in:float16": quotient_by(lambda quotient: nearest(to.FLOAT16(quotient))),
    "flushes-quotients": FLUSHED_QUOTIENT,
    "subtracts-zero-point": of_y(lambda k: k.whole - k.point),
}
SELDOM = ("clamps-before-zero-point-and-wraps", "ignores-zero-point:in y alone")  # in no pairs
INPUTS: Mapping[str, Mutant] = {
    "x-in:bfloat16": by.operands(to.BFLOAT16, "x", "low", "high"),
    "x-in:float16": by.operands(to.FLOAT16, "x", "low", "high"),
    "flushes-inputs": FLUSHED_X,
}
RANGES: Mapping[str, Mutant] = {  # likely alone, so in no pairs
    "range-stays": measured(bare_range),
    "range-made-symmetric": written(symmetric),
    "range-in:bfloat16": by.operands(to.BFLOAT16, "low", "high"),
    "range-in:float16": by.operands(to.FLOAT16, "low", "high"),
    "measures-all-but:the first": range_of_some(lambda flat: flat[1:]),
    "measures-all-but:the last": range_of_some(lambda flat: flat[:-1]),
    **{f"measures-all-but:the tail of a vector loop of {n}": without_tail(n) for n in (4, 8, 16, 32, 64)},
    **{f"measures-only-first:{n}": of_first(n) for n in (1, 4, 8, 16, 32, 64)},
}
ENDS: Mapping[str, Mutant] = {
    "wraps": WRAPS,
    "highest-never": ended(lambda y: to_integer(clamp(y, 0, 254), UINT8)),
    "highest-of-signed": ended(lambda y: to_integer(clamp(y, 0, 127), UINT8)),
}
STEPS: tuple[Wrong, ...] = (
    *of_place("scale", *(often(id_, SCALE, mutant) for id_, mutant in SCALES.items())),
    *of_place("point", *(often(id_, POINT, mutant) for id_, mutant in POINTS.items())),
    *of_place("y", *(Wrong(id_, QUOTIENT, mutant, id_ not in SELDOM) for id_, mutant in RESULTS.items())),
    *of_place("x", *(often(id_, RANGE, mutant) for id_, mutant in INPUTS.items())),
    *of_role(RANGE, RANGES),
    *of_role("saturate", ENDS),
    Wrong("flushes-all", SCALE, FLUSHED_SCALE + FLUSHED_QUOTIENT + FLUSHED_X),
)

# In float64 these are others of the table, or their sentences have no place for a form.
IN_FLOAT32_ALONE = (
    *("steps-before-width", "steps-after-width", "zero-point-after-width", "zero-point-not-rounded"),
    *("x-in", "range-in", "scale-in", "quotient-in"),
)


def in_float64() -> Iterator[Wrong]:
    for one in STEPS:
        if not one.id.startswith(IN_FLOAT32_ALONE):
            yield replace(one, id=in_form(one.id), mutant=one.mutant + changed(in_double))


def in_form(id_: str, form: str = WIDE) -> str:
    """The id in a form of the formulas: behind the colon, or behind the parameter that is there."""
    return f"{id_}, {form}" if ":" in id_ else f"{id_}:{form}"


(NAN_IS_ZERO,) = changed(nan_is_zero).changes


def in_arrays(call: NodeCall, problem: Elementwise, term: Term) -> Output:
    """A scalar is its own minimum and maximum, so what divides by the width has another expression to simplify."""
    if not call.inputs[0].ndim:
        raise ValueError("there is nothing to mistake")
    return NAN_IS_ZERO(call, problem, term)


# What compilers make of divisions by a scale that is itself a product; the last in arrays alone.
COMPILED = (
    ("zero-point-by-reciprocal", "own-reciprocal", NAN_IS_ZERO),
    ("zero-point-by-reciprocal", "steps-over-range", NAN_IS_ZERO),
    ("zero-point-by-reciprocal", "steps-before-width", NAN_IS_ZERO),
    ("zero-point-by-reciprocal", "steps-before-reciprocal-of-width", NAN_IS_ZERO),
    ("zero-point-after-width", "steps-after-width", in_arrays),
)


def three_at_once() -> Iterator[Wrong]:
    scale = "range-over-steps-by-reciprocal"
    for point, result, reading in COMPILED:
        whole = SCALES[scale] + POINTS[point] + RESULTS[result]
        yield Wrong(JOINT.join((scale, point, result)), SCALE, replace(whole, reading=reading))


MISTAKES = mistakes_of(as_read(NAN_IS_ZERO, (*STEPS, *in_float64())))
PAIRS = (*mistakes_of(list(three_at_once())), *pairs_of(as_read(NAN_IS_ZERO, STEPS)))
