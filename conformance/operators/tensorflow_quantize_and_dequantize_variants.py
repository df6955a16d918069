"""What can go wrong with QuantizeAndDequantizeV2, V3 and V4, as changes of their term, the likelier first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.operators.wrong_ranges import given_range, larger, misplaced_ranges
from tiebreak.conformance.operators.wrong_terms import (
    Wrong,
    likelier,
    mistakes_of,
    of_place,
    of_results,
    often,
    pairs_of,
)
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, inner, matched, of_operation
from tiebreak.conformance.variants.mutant import (
    Mutant,
    NodeCall,
    Output,
    at_once,
    changed,
    numbers_otherwise,
    posed,
    written,
)
from tiebreak.conformance.variants.number_changes import cut_to
from tiebreak.conformance.variants.places import Place
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import (
    AWAY,
    TOWARD_ZERO,
    UPWARD,
    Term,
    clamp,
    greatest,
    least,
    lifted,
    magnitude,
    rounded,
    step,
    where,
)
from tiebreak.golden.elements import FLOAT_TYPES, decode
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tensorflow_quantize_and_dequantize import measured, representable
from tiebreak.golden.problem import Array, Elementwise, along, array_of, flat
from tiebreak.golden.rounding import EVEN

Ends = tuple[Array, Array]
Scaling = Callable[[Term, Term], Term]  # of a number and the factor
Sides = tuple[Term, Term, Term]  # whether input_min decides, and the factors of input_min and input_max


# The input and its range.


def axes_of(node: Node) -> tuple[int, ...]:
    return tuple(axis for axis in (node.value("axis"),) if axis >= 0)


def of_x(change: to.Change) -> Mutant:
    """x is changed before its range is measured."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        x, *others = call.inputs
        with np.errstate(all="ignore"):
            (new,) = call.problems_with((change(x).astype(x.dtype), *others))
        return problem if np.array_equal(new.operands[0], problem.operands[0]) else new

    return posed(pose)


class RangeOfCall(NamedTuple):
    """The range that a call gives, whether it is to be used, and x, to measure it along the axis."""

    x: Array
    given: Ends
    is_given: bool
    axes: tuple[int, ...]

    @property
    def measured(self) -> Ends:
        return extremes(self.x, self.axes)

    @property
    def own(self) -> Ends:
        return self.given if self.is_given else self.measured

    def without(self, left_out: int) -> Ends:
        """Measured without the last elements, if there is one range for all."""
        count = self.x.size - left_out
        if self.is_given or self.axes or count < 1:
            return self.own
        return extremes(self.x.reshape(-1)[:count])


def extremes(x: Array, axes: tuple[int, ...] = ()) -> Ends:
    first, last = measured(x, axes)
    return first, last


def of_size(ends: Ends) -> Ends:
    size = np.maximum(*map(np.abs, ends))
    return -size, size


def ranged(ends: Callable[[RangeOfCall], Iterable[Array]]) -> Mutant:
    """Another range."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        x = array_of(problem.kinds[0].name, problem.shape, problem.operands[0])
        if not x.size:
            return problem
        _, low, high = call.inputs
        axes = axes_of(call.node)
        with np.errstate(all="ignore"):
            found = list(ends(RangeOfCall(x, (low, high), call.node.value("range_given"), axes)))
        spread = (flat(along(end, axes if end.ndim else (), x.shape), x.shape) for end in found)
        return replace(problem, operands=(problem.operands[0], *spread))

    return posed(pose)


def first_extremes(x: Array, axis: int) -> Ends:
    """The least and the greatest value of each slice, of equal ones (zeros of both signs) the first."""
    slices = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]) if axis >= 0 else x.reshape(-1, 1)
    wide, every = slices.astype(np.float64), np.arange(slices.shape[1])
    ends = (slices[find(wide, axis=0), every] for find in (np.argmin, np.argmax))
    first, last = (end if axis >= 0 else end.reshape(()) for end in ends)
    return first, last


def taken_from(places: dict[int, Place], *, only: str) -> Mutant:
    """Elements take these ends of the range, given or measured, from elsewhere along the axis."""

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        axes, shape = axes_of(call.node), problem.shape
        count = shape[axes[0]] if axes else 0
        if count < 2 or not problem.operands[0].size:
            return problem, term
        own = np.broadcast_to(along(np.arange(count), axes, shape), shape)
        operands = list(problem.operands)
        for number, place in places.items():
            ends = np.moveaxis(operands[number].reshape(shape), axes[0], 0).reshape(count, -1)[:, 0]
            operands[number] = ends[(place(own, count) % count).reshape(-1)]
        is_same = all(map(np.array_equal, operands, problem.operands))
        return problem if is_same else replace(problem, operands=tuple(operands)), term

    return Mutant((apply,))


# The integers.


def integers(*, more: int = 0, **changes: Any) -> Mutant:
    """Those of other attributes, or functions of all of them, and so many `more` at the upper end."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        signed, highest = problem.constants["signed"], problem.constants["highest"]
        own = {"signed_input": signed, "num_bits": highest.bit_length() + signed}
        own["narrow_range"] = call.node.value("narrow_range")
        new = representable(own | {name: make(own) if callable(make) else make for name, make in changes.items()})
        new["highest"] += more
        return problem if new == problem.constants else replace(problem, constants=new)

    return posed(pose)


def bit_less(own: Mapping[str, int]) -> int:
    return max(own["num_bits"] - 1, 1)


# The factor.


class RoundTripParts(NamedTuple):
    """What the factor is made of: the range, the integers at its ends, the factors of both, and which one decides."""

    low: Term
    high: Term
    first: Term
    last: Term
    of_low: Term
    of_high: Term
    by_low: Term

    def sides(self, change: Callable[[Term], Term]) -> Sides:
        return self.by_low, change(self.of_low), change(self.of_high)

    @property
    def size(self) -> Term:
        return larger(self.low, self.high)


def parts_of(p: Elementwise) -> RoundTripParts:
    low, high = given_range(p)
    low = low if p.constants["signed"] else lifted(0)
    first, last = (step(lifted(p.constants[end])) for end in ("lowest", "highest"))
    of_low, of_high = step(first / low), step(last / high)
    by_low = (low < 0) & (~(high > 0) | (of_low < of_high))
    return RoundTripParts(low, high, first, last, of_low, of_high, by_low)


def factor(make: Callable[[RoundTripParts], Sides]) -> Mutant:
    """Another factor, and the range updated by it."""

    def change(p: Elementwise) -> Change:
        k = parts_of(p)
        by_low, of_low, of_high = make(k)
        new = {
            "scale_factor": where(by_low, of_low, of_high),
            "the updated min": where(by_low, k.low, step(k.first / of_high)),
            "the updated max": where(by_low, step(k.last / of_low), k.high),
        }
        return numbers_otherwise(lambda numbers: new, p)

    return written(change)


def in_factor(conversion: Callable[[Term], Term]) -> Mutant:
    return factor(lambda k: k.sides(lambda one: step(conversion(one))))


def deciding(by_low: Callable[[RoundTripParts], Term]) -> Mutant:
    return factor(lambda k: (by_low(k), k.of_low, k.of_high))


def one_factor(by_low: Callable[[RoundTripParts], Term], make: Callable[[RoundTripParts], Term]) -> Mutant:
    """One factor, whichever side decides."""
    return factor(lambda k: (by_low(k), make(k), make(k)))


def of_magnitude(k: RoundTripParts) -> Term:
    return step(k.last / k.size)


# There and back.


def clamped(change: Callable[[Term, Term, Term], Term]) -> Mutant:
    return changed(of_operation("clamp", change))


def clamped_to(ends: Callable[[RoundTripParts], tuple[Term, Term]]) -> Mutant:
    def change(p: Elementwise) -> Change:
        return of_operation("clamp", lambda x, low, high: clamp(x, *ends(parts_of(p))))

    return written(change)


def if_measured(call: NodeCall, problem: Elementwise, term: Term) -> Output:
    """Nothing is clamped to a range that is measured."""
    return (problem, term) if call.node.value("range_given") else clamped(unclamped).changes[0](call, problem, term)


def unclamped(x: Term, low: Term, high: Term) -> Term:
    return x


def product(change: Scaling) -> Mutant:
    """Changes x * factor."""

    def found(one: Term) -> Term | None:
        parts = matched(one.args[0], "multiply") if one.name == "round" else ()
        return replace(one, args=(change(*parts),)) if parts else None

    return changed(found)


def rounds(rounding: by.Rounding, *, only: str = "") -> Mutant:
    return changed(lambda one: by.rounding(rounding)(one) if only in ("", one.constant) else None)


def back(change: Scaling) -> Mutant:
    """Changes integer / factor."""
    return back_by(lambda p: change)


def back_by(make: Callable[[Elementwise], Scaling]) -> Mutant:
    def change(p: Elementwise) -> Change:
        own = make(p)
        return lambda one: replace(one, args=(own(*one.args[0].args),)) if one.name == "to-float" else None

    return written(change)


def by_reciprocal(conversion: Callable[[Term], Term]) -> Mutant:
    return back(lambda level, factor: level * step(conversion(factor)))


def in_step(conversion: to.Conversion) -> Mutant:
    return by_reciprocal(lambda factor: conversion(step(1 / factor)))


def by_side(p: Elementwise, *, whole: Callable[[Term], Term] = lambda one: one) -> Scaling:
    """Times the deciding end over its integer; `whole` may leave the integer unrounded."""
    k = parts_of(p)
    sides = step(k.low / whole(k.first)), step(k.high / whole(k.last))
    return lambda level, factor: level * where(factor.args[0], *sides)


def quotient_cut_off(p: Elementwise) -> Scaling:
    kind = p.working.name
    cut = to.Conversion(f"cut to {kind}", to.as_is if p.working == DOUBLE else partial(cut_to, kind))
    return lambda level, factor: cut(step(level / factor, DOUBLE))


# Kernels: TensorFlow's own on the CPU, and what XLA makes of its graph. The range is not updated to 0 where integers
# are unsigned. A side without integers has the type's greatest number as its factor. So input_min decides where
# input_max's factor is infinite, and is divided by its integer, 0.


def kernel_result(
    p: Elementwise, x: Term, low: Term, high: Term, *, flushes: bool, by_inverse: bool, xla: bool, clamps: bool
) -> Term:
    """`by_inverse`: a side is multiplied by 1 / its integer. `xla`: what equals the least is the least."""
    flush = to.flushed_in(p.working)

    def held(number: Term) -> Term:
        return flush(number) if flushes else number

    def inverse(side: Term, whole: Term) -> Term:
        return step(side * step(1 / whole) if by_inverse else side / whole)

    x, low, high = map(held, (x, low, high))
    first, last = (step(lifted(p.constants[end])) for end in ("lowest", "highest"))
    none = lifted(Fraction(decode(p.working.largest_bits, p.working)))
    of_low, of_high = (where(whole * end > 0, step(whole / end), none) for whole, end in ((first, low), (last, high)))
    by_low = of_low < of_high
    unit = held(where(by_low, inverse(low, first), inverse(high, last)))
    if clamps:
        bottom = where(by_low, low, held(step(first * unit)))
        top = where(by_low, held(step(last * unit)), high)
        x = where(bottom < x, x, bottom) if xla else where(x < bottom, bottom, x)
        x = where(x > top, top, x)
    number = x * held(where(by_low, of_low, of_high))
    if p.mode == EVEN:
        whole = rounded(held(step(number)), EVEN)
    else:  # the compiler fuses the product and the half
        whole = by.floor_of_half_more(number if by_inverse and flushes else held(step(number)))
    return held(step(whole * unit))


def kernel(*, flushes: bool = True, by_inverse: bool = False, xla: bool = False) -> Mutant:
    make = partial(kernel_result, flushes=flushes, by_inverse=by_inverse, xla=xla)
    mutants = {is_given: by.result_of(partial(make, clamps=is_given)) for is_given in (False, True)}

    def first(x: Array, axes: tuple[int, ...]) -> Ends:
        held = to.flushed_in(FLOAT_TYPES[x.dtype.name]).function if flushes and xla else to.as_is
        return first_extremes(held(x), axes[0] if axes else -1)

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        return mutants[bool(call.node.value("range_given"))].changes[0](call, problem, term)

    return at_once(ranged(lambda r: r.given if r.is_given else first(r.x, r.axes)), Mutant((apply,)))


ONE_OVER_FACTOR = by_reciprocal(lambda factor: 1 / factor)
ROUND_TRIP_STEPS = (
    *of_place("x", *(Wrong(id_, "product", of_x(change), n < 2) for n, (id_, change) in enumerate(to.INPUTS.items()))),
    *of_place("axis", *misplaced_ranges({}, by=taken_from)),
    *of_place(
        "range",
        often("range-in-bfloat16", "scale", ranged(lambda r: map(to.in_bfloat16, r.own))),
        Wrong("range-in:float16", "scale", ranged(lambda r: map(to.in_float16, r.own))),
        often("measures-although-given", "range-given", ranged(lambda r: r.measured)),
        often(
            "takes-although-not-given",
            "measured",
            ranged(lambda r: r.given if r.given[0].size == r.measured[0].size else r.measured),
        ),
        often("one-for-all:range", "axis", ranged(lambda r: r.given if r.is_given else extremes(r.x))),
        Wrong("measures-all-but:the tail of a loop of 8", "measured", ranged(lambda r: r.without(r.x.size % 8))),
        Wrong("measures-all-but:the tail of a loop of 4", "measured", ranged(lambda r: r.without(r.x.size % 4))),
        Wrong("measures-all-but:the tail of a loop of 16", "measured", ranged(lambda r: r.without(r.x.size % 16))),
        Wrong("measures-all-but:the last element", "measured", ranged(lambda r: r.without(1))),
        Wrong("measures-magnitude", "measured", ranged(lambda r: r.own if r.is_given else of_size(r.own))),
        Wrong("widest-range-for-all", "axis", ranged(lambda r: map(np.asarray, (r.own[0].min(), r.own[1].max())))),
    ),
    *of_place(
        "integers",
        often("ignores:narrow_range", "narrow", integers(narrow_range=False)),
        often("narrow-range", "narrow", integers(narrow_range=True)),
        Wrong("inverts:narrow_range", "narrow", integers(narrow_range=lambda own: not own["narrow_range"])),
        often("ignores:signed_input", "signed", integers(signed_input=True)),
        Wrong("always-unsigned", "signed", integers(signed_input=False)),
        often("ignores:num_bits", "signed", integers(num_bits=8)),
        Wrong("at-most:8 bits", "signed", integers(num_bits=lambda own: min(own["num_bits"], 8))),
        Wrong("one-bit-more", "signed", integers(num_bits=lambda own: own["num_bits"] + 1)),
        Wrong("one-bit-less", "signed", integers(num_bits=bit_less)),
        Wrong(
            "one-bit-less-than:unsigned",
            "signed",
            integers(num_bits=lambda own: own["num_bits"] if own["signed_input"] else bit_less(own)),
        ),
        Wrong("one-integer-more", "signed", integers(more=1)),
    ),
    *of_place(
        "factor",
        often("factor-in:float16", "scale", in_factor(to.FLOAT16)),
        often("factor-in-bfloat16", "scale", in_factor(to.BFLOAT16)),
        Wrong("factor-cut-off-to-bfloat16", "scale", in_factor(to.Conversion("cut to 8 bits", to.cut_to_bfloat16))),
        often("factor-of-digits:6", "scale", in_factor(to.SIX_DIGITS)),
        Wrong("factor-to-power-of-two-below", "scale", in_factor(to.POWER_BELOW)),
        often("greater-factor", "scale", deciding(lambda k: (k.low < 0) & (~(k.high > 0) | (k.of_high < k.of_low)))),
        often("one-end-alone:input_max", "side", deciding(lambda k: (k.low < 0) & ~(k.high > 0))),
        often("one-end-alone:input_min", "side", deciding(lambda k: k.low < 0)),
        often(
            "one-size-for-both-sides",
            "side",
            one_factor(lambda k: magnitude(k.high) < magnitude(k.low), of_magnitude),
        ),
        Wrong(
            "one-size-for-both-sides:clamps to both ends",
            "side",
            one_factor(lambda k: k.by_low, of_magnitude) + clamped_to(lambda k: (-1 * k.size, k.size)),
        ),
        Wrong(
            "one-size-for-both-sides + ignores:narrow_range",
            "side",
            at_once(
                integers(narrow_range=False),
                one_factor(lambda k: k.by_low, of_magnitude),
            ),
        ),
        Wrong(
            "steps-over-width",
            "scale",
            one_factor(lambda k: k.by_low, lambda k: step(step(k.last - k.first) / step(k.high - k.low))),
        ),
    ),
    *of_place(
        "clamp",
        often("does-not-clamp", "clamp", clamped(unclamped)),
        Wrong("clamps-given-only", "clamp", Mutant((if_measured,))),
        Wrong("clamps-before-update", "clamp", clamped_to(lambda k: (k.low, k.high))),
        Wrong("does-not-clamp-below", "clamp", clamped(lambda x, low, high: least(x, high))),
        Wrong("does-not-clamp-above", "clamp", clamped(lambda x, low, high: greatest(x, low))),
        Wrong("clamps-symmetrically", "clamp", clamped(lambda x, low, high: clamp(x, -1 * high, high))),
    ),
    *of_place(
        "product",
        often("divides-by-step", "product", product(by.divided_by_inverse)),
        Wrong("product-in:float16", "product", product(lambda x, factor: step(to.FLOAT16(step(x * factor))))),
        Wrong("product-in:bfloat16", "product", product(lambda x, factor: step(to.BFLOAT16(step(x * factor))))),
    ),
    *of_place(
        "rounding",
        often("ties-away", "product", rounds(by.in_mode(AWAY))),
        often("truncates", "product", rounds(by.in_mode(TOWARD_ZERO))),
        often("floor-of-half-more", "half-up", rounds(by.floor_of_half_more)),
        Wrong("floor-of-half-more:for HALF_UP alone", "half-up", rounds(by.floor_of_half_more, only=UPWARD)),
        Wrong("ties-toward-zero", "product", rounds(by.in_mode("ROUND_NEAREST_TOWARD_ZERO"))),
        often("ties-upward-always", "half-to-even", rounds(by.in_mode(UPWARD))),
        often("ties-even-always", "half-up", rounds(by.in_mode(EVEN))),
        Wrong("adds-half-and-truncates", "half-up", rounds(by.trunc_of_half_more)),
        Wrong("half-added-to-magnitude", "half-up", rounds(by.trunc_of_signed_half_more)),
    ),
    *of_place(
        "quotient",
        often("one-over-factor", "quotient", ONE_OVER_FACTOR),
        often("side-over-integer", "quotient", back_by(by_side)),
        Wrong("side-over-unrounded-integer", "quotient", back_by(partial(by_side, whole=inner))),
        Wrong("reciprocal-of-bits:12", "quotient", by_reciprocal(to.ESTIMATE)),
        Wrong("step-in:float16", "quotient", in_step(to.FLOAT16)),
        Wrong("step-in:bfloat16", "quotient", in_step(to.BFLOAT16)),
        Wrong("step-of-digits:6", "quotient", in_step(to.SIX_DIGITS)),
        Wrong("cuts-off", "quotient", back_by(quotient_cut_off)),
        Wrong("ignores-scale", "quotient", back(lambda level, factor: level)),
    ),
    *of_place("result", *of_results("quotient"), Wrong("flushes-outputs", "quotient", by.flushes("to-float"))),
)
KERNELS = (
    Wrong("side-over-integer-measured + flushes", "quotient", kernel()),
    Wrong("side-times-inverse-of-integer + flushes", "quotient", kernel(by_inverse=True, xla=True)),
    Wrong("side-times-inverse-measured", "quotient", kernel(flushes=False, by_inverse=True, xla=True)),
    Wrong("side-over-integer-measured:the least for what equals it + flushes", "quotient", kernel(xla=True)),
)
ALONE = (
    Wrong("side-over-integer-measured", "quotient", kernel(flushes=False)),
    *KERNELS,
    Wrong("one-over-factor + ties-away", "quotient", ONE_OVER_FACTOR + rounds(by.in_mode(AWAY))),
    *(
        Wrong(f"computes-in:{kind}", "type", by.all_steps_in(FLOAT_TYPES[kind], operands=True))
        for kind in ("float32", "float16", "bfloat16", "float64")
    ),
)
LIKELY = (
    *(one.id for one in ALONE[:5]),
    "side-over-integer",
    "one-over-factor",
    "ties-away",
    "ties-upward-always",
    "ties-even-always",
    "floor-of-half-more:for HALF_UP alone",
    "truncates",
    "clamps-before-update",
    "clamps-given-only",
    "does-not-clamp",
    "ignores:narrow_range",
    "narrow-range",
    "greater-factor",
    "one-end-alone:input_max",
    "one-end-alone:input_min",
    "one-size-for-both-sides:clamps to both ends",
    "ignores:signed_input",
    "ignores:num_bits",
    "one-integer-more",
    "measures-although-given",
    "takes-although-not-given",
    "one-for-all:range",
    "widest-range-for-all",
    "computes-in:float32",
    "floor-of-half-more",
    "divides-by-step",
    "one-over-factor + ties-away",
    "does-not-clamp-below",
    "does-not-clamp-above",
    "one-size-for-both-sides",
    "one-size-for-both-sides + ignores:narrow_range",
    "one-bit-less",
    "flushes-outputs",
    "one-for-all:first range",
    "ranges-along:the first axis",
    "computes-in:float16",
    "computes-in:bfloat16",
    "computes-in:float64",
)
BY_STEP = "divides-by-step"  # alone it is about the quotient
SINGLE = (replace(one, role="quotient") if one.id == BY_STEP else one for one in ROUND_TRIP_STEPS)
MISTAKES, PAIRS = mistakes_of(likelier(LIKELY, (*ALONE, *SINGLE))), pairs_of(ROUND_TRIP_STEPS)
