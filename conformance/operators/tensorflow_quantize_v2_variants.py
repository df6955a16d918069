"""What can go wrong with `tensorflow.QuantizeV2`, as changes of its term, the likelier first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tiebreak.conformance.operators.wrong_terms import Wrong, in_mode, mistakes_of, often, pairs_of
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, at, matched, of_operation, operands_of
from tiebreak.conformance.variants.places import ENDS, FREQUENT_PLACES, PLACES, first_for_all, misplaced
from tiebreak.conformance.variants.variant import Question, Variant, changed, posed, written
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    UP,
    UPWARD,
    Numeric,
    Term,
    clamp,
    greatest,
    least,
    lifted,
    magnitude,
    rounded,
    step,
    to_ends,
    truncated,
    where,
    whole,
    wrapped,
)
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

RANGE, OUTPUTS = ("min_range", "max_range"), ("output_min", "output_max")
Convert = Callable[[Term], Term]
End = Callable[[Term, Term], Numeric]  # from min_range and max_range
Side = tuple[Term, Term, Term]  # of SCALED's range: whether it counts, its factor, and what stands for none
NOTHING = Variant(())


# The range, and what the attributes say.


def given_range(p: Elementwise) -> tuple[Term, Term]:
    every = operands_of(p)
    return every["min_range"], every["max_range"]


def of_range(low: End, high: End) -> Variant:
    def change(p: Elementwise) -> Change:
        ends = given_range(p)
        return dict(zip(ends, (lifted(end(*ends)) for end in (low, high)), strict=True)).get

    return written(change)


def converted_range(conversion: Convert) -> Variant:
    return of_range(lambda low, high: conversion(low), lambda low, high: conversion(high))


def of_x(conversion: Convert) -> Variant:
    return written(lambda p: lambda one: conversion(one) if one == operands_of(p).get("x") else None)


def larger(low: Term, high: Term) -> Term:
    return greatest(magnitude(low), magnitude(high))


def at_least(width: End) -> Variant:
    return of_range(lambda low, high: low, lambda low, high: greatest(high, step(low + width(low, high))))


def hundredth(low: Term, high: Term) -> Term:
    return step(Fraction(float(np.float32(0.01))) * greatest(1, larger(low, high)))


def widened(p: Elementwise) -> Change:
    """The range includes 0 and is at least ensure_minimum_range times its magnitude wide, which is at least 1."""
    low, high = given_range(p)
    first, width = least(low, 0), step(greatest(1, larger(low, high)) * Fraction(p.constants["least"]))
    return {low: first, high: greatest(high, step(first + width), 0)}.get


def bounds(lowest: Callable[[int], int], highest: Callable[[int], int] = lambda narrow: 0) -> Variant:
    """SCALED's bounds as so much more than T's lowest and highest value, from 1 for narrow_range or 0."""

    def pose(question: Question, problem: Elementwise) -> Elementwise:
        own, kind = problem.constants, problem.constants["T"]
        if own["mode"] != "SCALED":
            return problem
        narrow = own["lowest"] - kind.lowest
        new = {"lowest": kind.lowest + lowest(narrow), "highest": kind.highest + highest(narrow)}
        return replace(problem, constants={**own, **new}) if any(own[name] != new[name] for name in new) else problem

    return posed(pose)


def exchanged(question: Question, problem: Elementwise) -> Elementwise:
    if problem.output not in OUTPUTS:
        return problem
    return replace(problem, formula=f"{question.node.operator}:{OUTPUTS[problem.output == OUTPUTS[0]]}")


# The steps of MIN_COMBINED.


def ratio(change: Callable[[Term, Term, Term], Term]) -> Variant:
    """Of (x - min) * steps / width, from the difference, the steps and the width."""
    return changed(at("TFQ-C1", by.of_fraction(change)))


def apart(joined: Callable[[Term, Term], Term]) -> Variant:
    """The ratio times x and the ratio times min_range."""

    def change(difference: Term, steps: Term, width: Term) -> Term:
        (x, low), factor = matched(difference, "subtract"), step(steps / width)
        return joined(x * factor, step(low * factor))

    return ratio(change)


def in_ratio(conversion: Convert) -> Variant:
    return ratio(lambda difference, steps, width: step(difference * conversion(step(steps / width))))


def unshifted(difference: Term) -> Term:
    return matched(difference, "subtract")[0]


def from_max(p: Elementwise) -> Change:
    _, high = given_range(p)
    return at("TFQ-C1", by.of_fraction(lambda x, n, d: step(n - step(step(step(high - unshifted(x)) * n) / d))))


def over_max(p: Elementwise) -> Change:
    _, high = given_range(p)
    return at("TFQ-C1", by.of_fraction(lambda x, n, d: step(step(x * n) / high)))


def count_plus(number: int) -> Variant:
    return changed(at("TFQ-C2", lambda one: lifted(one.constant + number)))


def offset(change: Callable[[Term, Fraction], Term]) -> Variant:
    """Of the difference of the quotient and int8's 128."""
    return changed(at("TFQ-C3", lambda one: change(matched(one, "subtract")[0], matched(one, "subtract")[1].constant)))


def offset_after(one: Term) -> Term | None:
    if one.name != "round" or "TFQ-C3" not in one.args[0].clauses:
        return None
    quotient, count = matched(one.args[0], "subtract")
    return rounded(quotient, one.constant) - count


# The steps of MIN_FIRST.


def scale(change: Callable[[Term, Term, Term], Term]) -> Variant:
    """Of count / (width * adjust), from these."""

    def factor(one: Term) -> Term:
        count, adjusted = matched(one, "divide")
        return change(count, *matched(adjusted, "multiply"))

    return changed(at("TFQ-M1", by.of_factor(factor)))


def one_division(count: Term, width: Term, adjust: Term) -> Term:
    return step((count.constant - 1) / width)


def in_scale(conversion: Convert) -> Variant:
    return scale(lambda *parts: conversion(one_division(*parts)))


def both_rounded(change: Callable[[Term, Term], Term]) -> Variant:
    """Of the difference of two rounded products, from these."""
    return changed(at("TFQ-M3", lambda one: change(*one.args[0].args) + one.args[1]))


def once(mode: str = "") -> Variant:
    def change(x: Term, low: Term) -> Term:
        (value, factor), (bound, _) = (matched(one.args[0], "multiply") for one in (x, low))
        return rounded(step(step(value - bound) * factor), mode or x.constant)

    return both_rounded(change)


def difference_rounded(mode: str = "") -> Variant:
    return both_rounded(lambda x, low: rounded(step(x.args[0] - low.args[0]), mode or x.constant))


def minimum_by(mode: str) -> Variant:
    return both_rounded(lambda x, low: x - rounded(low.args[0], mode))


def x_by(rounding: by.Rounding) -> Variant:
    return both_rounded(lambda x, low: rounding(x.args[0]) - low)


def float_sums(p: Elementwise) -> Change:
    """The sums and the ends of the clamp are float32."""
    kind, top = p.constants["T"], np.float32(p.constants["highest"])
    top = top if float(top) <= kind.highest else np.nextafter(top, np.float32(0))

    def change(one: Term) -> Term | None:
        if "TFQ-M4" in one.clauses:
            return least(greatest(one.args[0], kind.lowest), Fraction(float(top)))
        x, low = one.args[0].args if "TFQ-M3" in one.clauses else (None, None)
        return x and low and step(step(x) - step(step(low) - kind.lowest)).by("TFQ-M3")

    return change


# The steps of SCALED.


def sides(change: Callable[[Side, Side], Numeric]) -> Variant:
    """Of the factor, from both sides."""
    return changed(at("TFQ-S1", lambda one: lifted(change(*(side.args for side in one.args)))))  # type: ignore[arg-type]


def if_both(change: Callable[[Term, Term], Term]) -> Variant:
    """Of the factor where both sides count."""
    return sides(lambda a, b: where(a[0] & b[0], change(a[1], b[1]), least(where(*a), where(*b))))


def reciprocal_of_step(below: Side, above: Side) -> Term:
    steps = [(counts, *matched(factor, "divide")) for counts, factor, _ in (below, above)]
    return step(1 / greatest(*(where(counts, step(end / bound), 0) for counts, bound, end in steps)))


def factor(conversion: Convert) -> Variant:
    return changed(at("TFQ-S1", conversion))


def new_factor(make: Callable[[int, int, Term, Term], Term]) -> Variant:
    """Another factor, from the bounds and the ends of the range."""

    def change(p: Elementwise) -> Change:
        found = make(p.constants["lowest"], p.constants["highest"], *given_range(p))
        return at("TFQ-S1", lambda one: found)

    return written(change)


def half_of_the_steps() -> Variant:
    """One factor for both sides of zero, from half of the values of a signed type; x is not clipped."""

    def count(p: Elementwise) -> Fraction:
        own = p.constants
        return Fraction(own["highest"] - own["lowest"], 2) if own["T"].signed else Fraction(own["highest"])

    def own(p: Elementwise) -> Change:
        return at("TFQ-S1", lambda one: step(step(count(p)) / larger(*given_range(p))))

    def ends(p: Elementwise) -> Change:
        sign = {"output_min": -1 if p.constants["T"].signed else 0}.get(p.output, 1)
        return at("TFQ-S3", lambda one: sign * larger(*given_range(p)))

    return written(own) + clip(lambda x, low, high: x) + written(ends, only=OUTPUTS)


def product(change: Callable[[Term, Term], Term]) -> Variant:
    """Of the number and the factor whose product is rounded, of MIN_FIRST and SCALED."""
    scaled = at("TFQ-S4", by.of_product(change))
    return changed(at("TFQ-M1", by.of_scaled(change)), scaled)


def scaled_product(change: Callable[[Term, Term], Term]) -> Variant:
    return changed(at("TFQ-S4", by.of_product(change)))


# The steps of all.


def clip(change: Callable[[Term, Term, Term], Numeric]) -> Variant:
    return changed(at("TFQ-K1", of_operation("clamp", change)))


def clip_to_given(p: Elementwise) -> Change:
    return at("TFQ-S4", of_operation("clamp", lambda x, low, high: clamp(x, *given_range(p))))


def rounds(rounding: by.Rounding) -> Variant:
    return changed(by.rounding(rounding), only=("output",))


def end(change: Callable[[Term, int, int], Term]) -> Variant:
    """Of what becomes an integer between two ends."""
    return changed(lambda one: change(one.args[0], *one.constant) if one.name == "to-ends" else None)


def wraps(p: Elementwise) -> Change:
    unclamped = at("TFQ-M4", of_operation("clamp", lambda number, low, high: number))
    wrap = of_operation("to-ends", lambda number: whole(wrapped(number, p.constants["T"])))
    return lambda one: wrap(one) or unclamped(one)


def overflows(number: Term, lowest: int, highest: int) -> Term:
    found = clamp(number, lowest, highest)
    return whole(where(step(found) > highest, lowest, found))


def cast(*conversions: Convert) -> Variant:
    """What becomes an integer is converted first; nothing else stands for a step that overflows."""

    def change(number: Term, lowest: int, highest: int) -> Term:
        number = by.as_written(number)
        for conversion in conversions:
            number = conversion(number)
        return to_ends(number, lowest, highest)

    return end(change)


def outputs(change: Callable[[Elementwise, Term], Numeric]) -> Variant:
    """Of the range that is put out."""

    def of_end(p: Elementwise) -> Change:
        return lambda one: replace(one, args=(lifted(change(p, one.args[0])),)) if one.name == "to-float" else None

    return written(of_end, only=OUTPUTS)


def end_given(p: Elementwise, used: Term) -> Term:
    return given_range(p)[OUTPUTS.index(p.output)]


def over_reciprocal(p: Elementwise, used: Term) -> Term:
    parts = matched(used, "divide")
    return step(parts[0] * step(1 / parts[1])) if parts else used


def bound_itself(p: Elementwise, used: Term) -> int:
    found: int = p.constants["lowest" if p.output == "output_min" else "highest"]
    return found


def ranges() -> Iterator[Wrong]:
    for name, place in PLACES.items():
        id_ = name.replace("one-for-all:first range", "one-for-all:range")
        yield Wrong(id_, "axis", misplaced({1: place, 2: place}, only="output"), name in FREQUENT_PLACES)
    for name, places in ENDS.items():
        ends = {number: place for number, place in enumerate(places, start=1) if place}
        yield Wrong(name, "axis", misplaced(ends, only="output"), name in ("one-for-all:min", "one-for-all:max"))


ROUNDINGS: Mapping[str, tuple[by.Rounding, bool]] = {
    "truncates": (by.in_mode(TOWARD_ZERO), True),
    "ties-even-always": (by.in_mode(EVEN), True),
    "ties-away": (by.in_mode(AWAY), True),
    "ties-upward-always": (by.in_mode(UPWARD), False),
    "ties-toward-zero": (by.in_mode("ROUND_NEAREST_TOWARD_ZERO"), False),
    "floor-of-half-more": (by.floor_of_half_more, True),
    "adds-half-and-truncates": (by.trunc_of_half_more, True),
    "half-added-to-magnitude": (by.trunc_of_signed_half_more, False),
}
RATIO_FIRST, HALF = ratio(by.factor_first), rounds(by.trunc_of_half_more)
TAIL = ":NaN to 0 in the tail of 16"
# What is put together in kernels of TensorFlow and oneDNN. Both flush subnormals, and widen the range.
KERNELS: tuple[tuple[str, Variant, Variant], ...] = (
    ("range-ratio-first", RATIO_FIRST, cast(to.X86_CAST)),
    (f"range-ratio-first{TAIL}", RATIO_FIRST, cast(to.NAN_IN_TAIL, to.X86_CAST)),
    ("range-ratio-first + adds-half-and-truncates", RATIO_FIRST + HALF, cast(to.X86_CAST)),
    (f"range-ratio-first + adds-half-and-truncates{TAIL}", RATIO_FIRST + HALF, cast(to.NAN_IN_TAIL, to.X86_CAST)),
    ("one-division-float-sums", scale(one_division) + written(float_sums), cast(to.NAN_TO_LEAST)),
    ("products-rounded-once-to-even", scale(one_division) + difference_rounded(EVEN), cast(to.NAN_TO_GREATEST)),
    ("highest-overflows", NOTHING, cast(to.X86_CAST)),
    ("one-scale-for-both-sides:of half the steps", half_of_the_steps(), NOTHING),
)


def kernels() -> Iterator[Wrong]:
    for id_, own, ends in KERNELS:
        yield Wrong(f"{id_} + flushes", "adjusted-range", own + changed(by.flushed) + ends)
        yield Wrong(f"{id_} + widens-by-magnitude", "least-range", own + changed(by.flushed) + written(widened) + ends)


LIKELY = (
    often("range-ratio-first", "combined", RATIO_FIRST),
    Wrong("range-ratio-first + adds-half-and-truncates", "combined", RATIO_FIRST + HALF),
    often("one-division", "range-scale", scale(one_division)),
    Wrong("one-division-float-sums", "clamp", scale(one_division) + written(float_sums)),
    Wrong(
        "rounds-once:x * scale and min_range * scale apart", "round-both", scale(one_division) + difference_rounded()
    ),
    Wrong("one-division + rounds-once-to-even", "round-both", scale(one_division) + once(EVEN)),
    Wrong("highest-overflows", "scaled", end(lambda number, low, high: to_ends(to.X86_CAST(number), low, high))),
    Wrong("one-scale-for-both-sides:of half the steps", "scale-factor", half_of_the_steps()),
    Wrong("widens-by-magnitude", "least-range", written(widened)),
    Wrong("flushes", "adjusted-range", changed(by.flushed) + cast(to.NAN_TO_LEAST)),
    *kernels(),
    often("divides-by-step", "scaled", product(by.divided_by_inverse)),
    Wrong("flushes-inputs", "adjusted-range", of_x(to.FLUSH)),
    often("ignores:narrow_range", "narrow", bounds(lambda narrow: 0)),
    Wrong("no-offset:wraps", "offset", offset(lambda quotient, count: quotient) + written(wraps)),
    often("counts-values", "range-of-T", count_plus(1)),
    Wrong("does-not-clip-and-wraps", "clip", clip(lambda x, low, high: x) + written(wraps)),
    Wrong("one-for-all:range, outputs too", "axis", first_for_all(1, 2)),
    often("returns-given-range", "range-outputs", outputs(end_given)),
    Wrong("outputs-exchanged", "range-outputs", posed(exchanged)),
)
RATIOS = in_mode(
    "MIN_COMBINED",
    often("divides-before-steps", "combined", ratio(by.quotient_first)),
    often("step-first", "combined", ratio(by.by_inverse_factor)),
    often("reciprocal-of-width", "combined", ratio(by.by_reciprocal)),
    often("multiplies-ratio-apart", "combined", apart(lambda x, low: step(step(x) - low))),
    often("multiplies-ratio-fused", "combined", apart(lambda x, low: step(x - low))),
    often("counts-one-step-less", "range-of-T", count_plus(-1)),
    often("ratio-in:float16", "combined", in_ratio(to.FLOAT16)),
    often("ratio-in:bfloat16", "combined", in_ratio(to.BFLOAT16)),
    often("counts-from-max", "combined", written(from_max)),
    Wrong("divides-by-max", "combined", written(over_max)),
    Wrong("no-minimum", "combined", ratio(lambda x, n, d: step(step(unshifted(x) * n) / d))),
    *(
        Wrong(f"range-ratio-first + {id_}", "scaled", RATIO_FIRST + rounds(rounding))
        for id_, (rounding, _) in ROUNDINGS.items()
        if id_ != "adds-half-and-truncates"
    ),
    often("offset-on-other-side", "offset", changed(offset_after)),
    often("no-offset", "offset", offset(lambda quotient, count: quotient)),
    often("offset-of-one-less", "offset", offset(lambda quotient, count: step(quotient - (count - 1)))),
    often("offset-of-half-less", "offset", offset(lambda quotient, count: step(quotient - (count - by.HALF)))),
)
FIRST = in_mode(
    "MIN_FIRST",
    often("no-range-adjust", "range-scale", scale(lambda count, width, adjust: step(count / width))),
    often("adjusts-before-width", "range-scale", scale(lambda n, width, adjust: step(step(n / adjust) / width))),
    often("range-scale-in:float16", "range-scale", in_scale(to.FLOAT16)),
    often("range-scale-in:bfloat16", "range-scale", in_scale(to.BFLOAT16)),
    Wrong("range-scale-of-digits:6", "range-scale", in_scale(lambda one: step(to.SIX_DIGITS(one)))),
    often("rounds-once", "round-both", once()),
    Wrong("rounds-once-to-even", "round-both", once(EVEN)),
    often("rounds-difference", "round-both", difference_rounded()),
    often("truncates-minimum", "round-both", minimum_by(TOWARD_ZERO)),
    often("floors-minimum", "round-both", minimum_by(DOWN)),
    Wrong("ceils-minimum", "round-both", minimum_by(UP)),
    Wrong("minimum-to-even", "round-both", minimum_by(EVEN)),
    Wrong("minimum-not-rounded", "round-both", both_rounded(lambda x, low: truncated(step(x - low.args[0])))),
    often("no-lowest", "add-lowest", changed(at("TFQ-M3", lambda one: one.args[0]))),
    often("lowest-one-more", "add-lowest", changed(at("TFQ-M3", lambda one: one + 1))),
    *(Wrong(f"{id_}:x * scale alone", "scaled", x_by(rounding)) for id_, (rounding, _) in ROUNDINGS.items()),
)
SCALED = in_mode(
    "SCALED",
    often("narrow-range", "narrow", bounds(lambda narrow: 1)),
    Wrong("inverts:narrow_range", "narrow", bounds(lambda narrow: 1 - narrow)),
    Wrong("narrow-at-both-ends", "narrow", bounds(lambda narrow: narrow, lambda narrow: -narrow)),
    often("greater-factor", "scale-factor", if_both(greatest)),
    Wrong(
        "greater-factor:also of a side that does not count",
        "scale-factor",
        sides(lambda a, b: greatest(where(*a), where(*b))),
    ),
    often("one-end-alone:min_range", "scale-factor", sides(lambda a, b: where(a[0], a[1], where(*b)))),
    often("one-end-alone:max_range", "scale-factor", sides(lambda a, b: where(b[0], b[1], where(*a)))),
    Wrong("one-end-alone:min_range, also of a side that does not count", "scale-factor", sides(lambda a, b: where(*a))),
    Wrong("one-end-alone:max_range, also of a side that does not count", "scale-factor", sides(lambda a, b: where(*b))),
    Wrong("every-side-counts", "scale-factor", sides(lambda a, b: least(a[1], b[1]))),
    Wrong("mean-of-factors", "scale-factor", if_both(lambda a, b: step(step(a + b) / 2))),
    often(
        "one-scale-for-both-sides",
        "scale-factor",
        new_factor(lambda lowest, highest, *ends: step(step(highest) / larger(*ends))),
    ),
    often(
        "one-scale-of-half-the-values",
        "scale-factor",
        new_factor(lambda lowest, highest, *ends: step(step(highest + 1) / larger(*ends))),
    ),
    often(
        "width-over-steps",
        "scale-factor",
        new_factor(lambda lowest, highest, low, high: step(step(highest - lowest) / step(high - low))),
    ),
    often("factor-in:float16", "scale-factor", factor(to.FLOAT16)),
    often("factor-in-bfloat16", "scale-factor", factor(to.BFLOAT16)),
    often("factor-cut-off-to-bfloat16", "scale-factor", factor(to.CUT_TO_BFLOAT16)),
    often("factor-of-digits:6", "scale-factor", factor(lambda one: step(to.SIX_DIGITS(one)))),
    Wrong("factor-to-power-of-two-below", "scale-factor", factor(to.POWER_BELOW)),
    Wrong("factor-as-reciprocal-of-step", "scale-factor", sides(reciprocal_of_step)),
    Wrong("product-in:float16", "scaled", scaled_product(lambda x, k: to.FLOAT16(step(x * k)))),
    Wrong("product-in:bfloat16", "scaled", scaled_product(lambda x, k: to.BFLOAT16(step(x * k)))),
    Wrong("product-cut-off", "scaled", scaled_product(lambda x, k: to.CUT_TO_FLOAT32(x * k))),
    Wrong("clamps-to-given", "clip", written(clip_to_given)),
    Wrong("returns-by-reciprocal", "range-outputs", outputs(over_reciprocal)),
)
OF_ALL = (
    *(
        Wrong(id_, "clip", of_x(to.Conversion(id_, function)), id_ in ("x-in:bfloat16", "x-in:float16"))
        for id_, function in to.INPUTS.items()
    ),
    *ranges(),
    often("range-in-bfloat16", "adjusted-range", converted_range(to.BFLOAT16)),
    often("range-in:float16", "adjusted-range", converted_range(to.FLOAT16)),
    Wrong("range-made-symmetric", "adjusted-range", of_range(lambda low, high: -1 * larger(low, high), larger)),
    Wrong(
        "range-extended-to-zero",
        "adjusted-range",
        of_range(lambda low, high: least(low, 0), lambda low, high: greatest(high, 0)),
    ),
    Wrong("range-at-least:a hundredth of its magnitude", "least-range", at_least(hundredth)),
    Wrong("range-at-least:1", "least-range", at_least(lambda low, high: 1)),
    Wrong("exact-products", "round-both", product(lambda x, factor: x * factor)),
    often("does-not-clamp", "clip", clip(lambda x, low, high: x)),
    Wrong("does-not-clamp-below", "clip", clip(lambda x, low, high: least(x, high))),
    Wrong("does-not-clamp-above", "clip", clip(lambda x, low, high: greatest(x, low))),
    Wrong("clips-at-zero", "clip", clip(lambda x, low, high: clamp(greatest(x, 0), low, high))),
    *(Wrong(id_, "scaled", rounds(rounding), frequent) for id_, (rounding, frequent) in ROUNDINGS.items()),
    *(
        Wrong(f"divides-by-step + {id_}", "scaled", scaled_product(by.divided_by_inverse) + rounds(rounding))
        for id_, (rounding, _) in ROUNDINGS.items()
    ),
    often("wraps", "clamp", written(wraps)),
    Wrong("highest-overflows:to the lowest in use", "clamp", end(overflows)),
    Wrong("highest-never", "clamp", end(lambda number, low, high: to_ends(number, low, high - 1))),
    Wrong("lowest-never", "clamp", end(lambda number, low, high: to_ends(number, -high if low else 0, high))),
    Wrong("outputs-in:float16", "range-outputs", outputs(lambda p, used: to.FLOAT16(step(used)))),
    Wrong("outputs-are-integers", "range-outputs", outputs(bound_itself)),
    *(
        Wrong(f"computes-in:{kind}", "combined", by.all_steps_in(FLOAT_TYPES[kind]))
        for kind in ("float64", "float16", "bfloat16")
    ),
)
STEPS = (*LIKELY, *RATIOS, *FIRST, *SCALED, *OF_ALL)
MISTAKES, PAIRS = mistakes_of(STEPS), pairs_of(STEPS)
