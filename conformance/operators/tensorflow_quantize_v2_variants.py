"""What can go wrong with `tensorflow.QuantizeV2`, as changes of its term, the likelier first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tiebreak.conformance.operators.wrong_ranges import (
    End,
    given_range,
    larger,
    misplaced_ranges,
    of_range,
    with_zero,
    wrong_ranges,
)
from tiebreak.conformance.operators.wrong_terms import (
    Wrong,
    likelier,
    mistakes_of,
    of_inputs,
    of_place,
    often,
    pairs_of,
)
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, at, matched, of_operation
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, changed, posed, written
from tiebreak.conformance.variants.places import first_for_all
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
Side = tuple[Term, Term, Term]  # of SCALED's range: whether it counts, its factor, and what stands for none
NOTHING = Mutant(())


# The range, and what the attributes say.


def at_least(width: End) -> Mutant:
    return of_range(lambda low, high: low, lambda low, high: greatest(high, step(low + width(low, high))))


def hundredth(low: Term, high: Term) -> Term:
    return step(Fraction(float(np.float32(0.01))) * greatest(1, larger(low, high)))


def widened(p: Elementwise) -> Change:
    """The range includes 0 and is at least ensure_minimum_range times its magnitude wide, which is at least 1."""
    low, high = given_range(p)
    first, width = least(low, 0), step(greatest(1, larger(low, high)) * Fraction(p.constants["least"]))
    return {low: first, high: greatest(high, step(first + width), 0)}.get


def bounds(lowest: Callable[[int], int], highest: Callable[[int], int] = lambda narrow: 0) -> Mutant:
    """SCALED's bounds as so much more than T's lowest and highest value, from 1 for narrow_range or 0."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        own, kind = problem.constants, problem.constants["T"]
        if own["mode"] != "SCALED":
            return problem
        narrow = own["lowest"] - kind.lowest
        new = {"lowest": kind.lowest + lowest(narrow), "highest": kind.highest + highest(narrow)}
        return replace(problem, constants={**own, **new}) if any(own[name] != new[name] for name in new) else problem

    return posed(pose)


def exchanged(call: NodeCall, problem: Elementwise) -> Elementwise:
    if problem.output not in OUTPUTS:
        return problem
    return replace(problem, formula=f"{call.node.operator}:{OUTPUTS[problem.output == OUTPUTS[0]]}")


# The steps of MIN_COMBINED.


def ratio(change: Callable[[Term, Term, Term], Term]) -> Mutant:
    """Changes (x - min) * steps / width, given the difference, the steps and the width."""
    return changed(at("TFQ-C1", by.of_fraction(change)))


def apart(joined: Callable[[Term, Term], Term]) -> Mutant:
    """The ratio times x and the ratio times min_range."""

    def change(difference: Term, steps: Term, width: Term) -> Term:
        (x, low), factor = matched(difference, "subtract"), step(steps / width)
        return joined(x * factor, step(low * factor))

    return ratio(change)


def in_ratio(conversion: Convert) -> Mutant:
    return ratio(lambda difference, steps, width: step(difference * conversion(step(steps / width))))


def unshifted(difference: Term) -> Term:
    return matched(difference, "subtract")[0]


def from_max(p: Elementwise) -> Change:
    _, high = given_range(p)
    return at("TFQ-C1", by.of_fraction(lambda x, n, d: step(n - step(step(step(high - unshifted(x)) * n) / d))))


def over_max(p: Elementwise) -> Change:
    _, high = given_range(p)
    return at("TFQ-C1", by.of_fraction(lambda x, n, d: step(step(x * n) / high)))


def count_plus(number: int) -> Mutant:
    return changed(at("TFQ-C2", lambda one: lifted(one.constant + number)))


def offset(change: Callable[[Term, Fraction], Term]) -> Mutant:
    """Changes the difference of the quotient and int8's 128."""
    return changed(at("TFQ-C3", lambda one: change(matched(one, "subtract")[0], matched(one, "subtract")[1].constant)))


def offset_after(one: Term) -> Term | None:
    if one.name != "round" or "TFQ-C3" not in one.args[0].clauses:
        return None
    quotient, count = matched(one.args[0], "subtract")
    return rounded(quotient, one.constant) - count


# The steps of MIN_FIRST.


def scale(change: Callable[[Term, Term, Term], Term]) -> Mutant:
    """Changes count / (width * adjust), given these."""

    def factor(one: Term) -> Term:
        count, adjusted = matched(one, "divide")
        return change(count, *matched(adjusted, "multiply"))

    return changed(at("TFQ-M1", by.of_factor(factor)))


def one_division(count: Term, width: Term, adjust: Term) -> Term:
    return step(step(count.constant - 1) / width)


def without_adjust(factor: Term) -> Term:
    count, adjusted = matched(factor, "divide")
    return one_division(count, *matched(adjusted, "multiply"))


def in_scale(conversion: Convert) -> Mutant:
    return scale(lambda *parts: conversion(one_division(*parts)))


def both_rounded(change: Callable[[Term, Term], Term]) -> Mutant:
    """Changes the difference of two rounded products, given these."""
    return changed(at("TFQ-M3", lambda one: change(*one.args[0].args) + one.args[1]))


def once(mode: str = "") -> Mutant:
    def change(x: Term, low: Term) -> Term:
        (value, factor), (bound, _) = (matched(one.args[0], "multiply") for one in (x, low))
        return rounded(step(step(value - bound) * factor), mode or x.constant)

    return both_rounded(change)


def difference_rounded(mode: str = "") -> Mutant:
    return both_rounded(lambda x, low: rounded(step(x.args[0] - low.args[0]), mode or x.constant))


def minimum_by(mode: str) -> Mutant:
    return both_rounded(lambda x, low: x - rounded(low.args[0], mode))


def x_by(rounding: by.Rounding) -> Mutant:
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


def sides(change: Callable[[Side, Side], Numeric]) -> Mutant:
    """Changes the factor, given both sides."""
    return changed(at("TFQ-S1", lambda one: lifted(change(*(side.args for side in one.args)))))  # type: ignore[arg-type]


def if_both(change: Callable[[Term, Term], Term]) -> Mutant:
    """Changes the factor where both sides count."""
    return sides(lambda a, b: where(a[0] & b[0], change(a[1], b[1]), least(where(*a), where(*b))))


def reciprocal_of_step(below: Side, above: Side) -> Term:
    steps = [(counts, *matched(factor, "divide")) for counts, factor, _ in (below, above)]
    return step(1 / greatest(*(where(counts, step(end / bound), 0) for counts, bound, end in steps)))


def factor(conversion: Convert) -> Mutant:
    return changed(at("TFQ-S1", conversion))


def new_factor(make: Callable[[int, int, Term, Term], Term]) -> Mutant:
    """Another factor, from the bounds and the ends of the range."""

    def change(p: Elementwise) -> Change:
        found = make(p.constants["lowest"], p.constants["highest"], *given_range(p))
        return at("TFQ-S1", lambda one: found)

    return written(change)


def half_of_the_steps() -> Mutant:
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


def first_product(change: Callable[[Term, Term], Term]) -> Mutant:
    """Changes both products of MIN_FIRST, given the number and the factor."""
    return changed(at("TFQ-M1", by.of_scaled(change)))


def scaled_product(change: Callable[[Term, Term], Term]) -> Mutant:
    return changed(at("TFQ-S4", by.of_product(change)))


# The steps of all.


def clip(change: Callable[[Term, Term, Term], Numeric]) -> Mutant:
    return changed(at("TFQ-K1", of_operation("clamp", change)))


def clip_to_given(p: Elementwise) -> Change:
    return at("TFQ-S4", of_operation("clamp", lambda x, low, high: clamp(x, *given_range(p))))


def rounds(rounding: by.Rounding) -> Mutant:
    return changed(by.rounding(rounding), only=("output",))


def end(change: Callable[[Term, int, int], Term]) -> Mutant:
    """Changes what becomes an integer between two ends."""
    return changed(lambda one: change(one.args[0], *one.constant) if one.name == "to-ends" else None)


def wraps(p: Elementwise) -> Change:
    unclamped = at("TFQ-M4", of_operation("clamp", lambda number, low, high: number))
    wrap = of_operation("to-ends", lambda number: whole(wrapped(number, p.constants["T"])))
    return lambda one: wrap(one) or unclamped(one)


def overflows(number: Term, lowest: int, highest: int) -> Term:
    found = clamp(number, lowest, highest)
    return whole(where(step(found) > highest, lowest, found))


def cast(*conversions: Convert) -> Mutant:
    """What becomes an integer is converted first; nothing else stands for a step that overflows."""

    def change(number: Term, lowest: int, highest: int) -> Term:
        number = by.as_written(number)
        for conversion in conversions:
            number = conversion(number)
        return to_ends(number, lowest, highest)

    return end(change)


def outputs(change: Callable[[Elementwise, Term], Numeric]) -> Mutant:
    """Changes the range that is put out."""

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


ROUNDINGS: Mapping[str, by.Rounding] = {
    "truncates": by.in_mode(TOWARD_ZERO),
    "ties-even-always": by.in_mode(EVEN),
    "ties-away": by.in_mode(AWAY),
    "ties-upward-always": by.in_mode(UPWARD),
    "ties-toward-zero": by.in_mode("ROUND_NEAREST_TOWARD_ZERO"),
    "floor-of-half-more": by.floor_of_half_more,
    "adds-half-and-truncates": by.trunc_of_half_more,
    "half-added-to-magnitude": by.trunc_of_signed_half_more,
}
FREQUENT = ("truncates", "ties-even-always", "ties-away", "floor-of-half-more", "adds-half-and-truncates")
UNCOUNTED = "also of a side that does not count"
DIVIDED = scale(one_division)
RATIO_FIRST, HALF = ratio(by.factor_first), rounds(by.trunc_of_half_more)
TAIL = ":NaN to 0 in the tail of 16"
# What is put together in kernels of TensorFlow and oneDNN. Both flush subnormals, and widen the range.
KERNELS: tuple[tuple[str, Mutant, Mutant], ...] = (
    ("range-ratio-first", RATIO_FIRST, cast(to.X86_CAST)),
    (f"range-ratio-first{TAIL}", RATIO_FIRST, cast(to.NAN_IN_TAIL, to.X86_CAST)),
    ("range-ratio-first + adds-half-and-truncates", RATIO_FIRST + HALF, cast(to.X86_CAST)),
    (f"range-ratio-first + adds-half-and-truncates{TAIL}", RATIO_FIRST + HALF, cast(to.NAN_IN_TAIL, to.X86_CAST)),
    ("one-division-float-sums", DIVIDED + written(float_sums), cast(to.NAN_TO_LEAST)),
    ("products-rounded-once-to-even", DIVIDED + difference_rounded(EVEN), cast(to.NAN_TO_GREATEST)),
    ("highest-overflows", NOTHING, cast(to.X86_CAST)),
    ("one-scale-for-both-sides:of half the steps", half_of_the_steps(), NOTHING),
)


def kernels() -> Iterator[Wrong]:
    for id_, own, ends in KERNELS:
        flushed = by.flushes("operand", "step") + ends  # last: what the range becomes is made of flushed operands
        yield Wrong(f"{id_} + flushes", "adjusted-range", own + with_zero() + flushed)
        yield Wrong(f"{id_} + widens-by-magnitude", "least-range", own + written(widened) + flushed)


OF_X = of_place(
    "x",
    *of_inputs("x", "clip"),
    Wrong("flushes-inputs", "adjusted-range", by.operands(to.FLUSH, "x")),
)
OF_RANGE = of_place(
    "range",
    *wrong_ranges("adjusted-range", "adjusted-range"),
    Wrong("range-at-least:a hundredth of its magnitude", "least-range", at_least(hundredth)),
    Wrong("range-at-least:1", "least-range", at_least(lambda low, high: 1)),
    Wrong("widens-by-magnitude", "least-range", written(widened)),
    Wrong("one-for-all:range, outputs too", "axis", first_for_all(1, 2)),
)
OF_COMBINED = (
    *of_place(
        "fraction",
        often("range-ratio-first", "combined", RATIO_FIRST),
        often("divides-before-steps", "combined", ratio(by.quotient_first)),
        often("step-first", "combined", ratio(by.by_inverse_factor)),
        often("reciprocal-of-width", "combined", ratio(by.by_reciprocal)),
        often("multiplies-ratio-apart", "combined", apart(lambda x, low: step(step(x) - low))),
        often("multiplies-ratio-fused", "combined", apart(lambda x, low: step(x - low))),
        often("counts-values", "range-of-T", count_plus(1)),
        often("counts-one-step-less", "range-of-T", count_plus(-1)),
        often("ratio-in:float16", "combined", in_ratio(to.FLOAT16)),
        often("ratio-in:bfloat16", "combined", in_ratio(to.BFLOAT16)),
        often("counts-from-max", "combined", written(from_max)),
        Wrong("divides-by-max", "combined", written(over_max)),
        Wrong("no-minimum", "combined", ratio(lambda x, n, d: step(step(unshifted(x) * n) / d))),
        *(
            Wrong(f"range-ratio-first + {id_}", "combined", RATIO_FIRST + rounds(rounding))
            for id_, rounding in ROUNDINGS.items()
        ),
        mode="MIN_COMBINED",
    ),
    *of_place(
        "offset",
        often("offset-on-other-side", "offset", changed(offset_after)),
        often("no-offset", "offset", offset(lambda quotient, count: quotient)),
        often("offset-of-one-less", "offset", offset(lambda quotient, count: step(quotient - (count - 1)))),
        often("offset-of-half-less", "offset", offset(lambda quotient, count: step(quotient - (count - by.HALF)))),
        Wrong("no-offset:wraps", "offset", offset(lambda quotient, count: quotient) + written(wraps)),
        mode="MIN_COMBINED",
    ),
)
OF_FIRST = (
    *of_place(
        "scale",
        often("one-division", "range-scale", scale(one_division)),
        often("no-range-adjust", "range-scale", scale(lambda count, width, adjust: step(count / width))),
        often("adjusts-before-width", "range-scale", scale(lambda n, width, adjust: step(step(n / adjust) / width))),
        often("range-scale-in:float16", "range-scale", in_scale(to.FLOAT16)),
        often("range-scale-in:bfloat16", "range-scale", in_scale(to.BFLOAT16)),
        Wrong("range-scale-of-digits:6", "range-scale", in_scale(lambda one: step(to.SIX_DIGITS(one)))),
        mode="MIN_FIRST",
    ),
    *of_place(
        "apart",
        often("rounds-once", "round-both", once()),
        Wrong("rounds-once-to-even", "round-both", once(EVEN)),
        often("rounds-difference", "round-both", difference_rounded()),
        often("truncates-minimum", "round-both", minimum_by(TOWARD_ZERO)),
        often("floors-minimum", "round-both", minimum_by(DOWN)),
        Wrong("ceils-minimum", "round-both", minimum_by(UP)),
        Wrong("minimum-to-even", "round-both", minimum_by(EVEN)),
        Wrong("minimum-not-rounded", "round-both", both_rounded(lambda x, low: truncated(step(x - low.args[0])))),
        Wrong("divides-by-step", "round-both", first_product(by.divided_by_inverse)),
        Wrong("exact-products", "round-both", first_product(lambda x, factor: x * factor)),
        Wrong("rounds-once:x * scale and min_range * scale apart", "round-both", DIVIDED + difference_rounded()),
        Wrong("one-division + rounds-once-to-even", "round-both", DIVIDED + once(EVEN)),
        Wrong("one-division-float-sums", "clamp", DIVIDED + written(float_sums)),
        *(Wrong(f"{id_}:x * scale alone", "scaled", x_by(rounding)) for id_, rounding in ROUNDINGS.items()),
        mode="MIN_FIRST",
    ),
    *of_place(
        "lowest",
        often("no-lowest", "add-lowest", changed(at("TFQ-M3", lambda one: one.args[0]))),
        often("lowest-one-more", "add-lowest", changed(at("TFQ-M3", lambda one: one + 1))),
        mode="MIN_FIRST",
    ),
)
OF_SCALED = (
    *of_place(
        "bounds",
        often("ignores:narrow_range", "narrow", bounds(lambda narrow: 0)),
        often("narrow-range", "narrow", bounds(lambda narrow: 1)),
        Wrong("inverts:narrow_range", "narrow", bounds(lambda narrow: 1 - narrow)),
        Wrong("narrow-at-both-ends", "narrow", bounds(lambda narrow: narrow, lambda narrow: -narrow)),
        mode="SCALED",
    ),
    *of_place(
        "factor",
        often("greater-factor", "scale-factor", if_both(greatest)),
        Wrong(f"greater-factor:{UNCOUNTED}", "scale-factor", sides(lambda a, b: greatest(where(*a), where(*b)))),
        often("one-end-alone:min_range", "scale-factor", sides(lambda a, b: where(a[0], a[1], where(*b)))),
        often("one-end-alone:max_range", "scale-factor", sides(lambda a, b: where(b[0], b[1], where(*a)))),
        Wrong(f"one-end-alone:min_range, {UNCOUNTED}", "scale-factor", sides(lambda a, b: where(*a))),
        Wrong(f"one-end-alone:max_range, {UNCOUNTED}", "scale-factor", sides(lambda a, b: where(*b))),
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
        Wrong("one-scale-for-both-sides:of half the steps", "scale-factor", half_of_the_steps()),
        often("factor-in:float16", "scale-factor", factor(to.FLOAT16)),
        often("factor-in-bfloat16", "scale-factor", factor(to.BFLOAT16)),
        often("factor-cut-off-to-bfloat16", "scale-factor", factor(to.CUT_TO_BFLOAT16)),
        often("factor-of-digits:6", "scale-factor", factor(lambda one: step(to.SIX_DIGITS(one)))),
        Wrong("factor-to-power-of-two-below", "scale-factor", factor(to.POWER_BELOW)),
        Wrong("factor-as-reciprocal-of-step", "scale-factor", sides(reciprocal_of_step)),
        mode="SCALED",
    ),
    *of_place(
        "product",
        often("divides-by-step", "scaled", scaled_product(by.divided_by_inverse)),
        Wrong("exact-products", "scaled", scaled_product(lambda x, factor: x * factor)),
        Wrong("product-in:float16", "scaled", scaled_product(lambda x, factor: to.FLOAT16(step(x * factor)))),
        Wrong("product-in:bfloat16", "scaled", scaled_product(lambda x, factor: to.BFLOAT16(step(x * factor)))),
        Wrong("product-cut-off", "scaled", scaled_product(lambda x, factor: to.CUT_TO_FLOAT32(x * factor))),
        *(
            Wrong(f"divides-by-step + {id_}", "scaled", scaled_product(by.divided_by_inverse) + rounds(rounding))
            for id_, rounding in ROUNDINGS.items()
        ),
        mode="SCALED",
    ),
    *of_place(
        "ends",
        often("returns-given-range", "range-outputs", outputs(end_given)),
        Wrong("returns-by-reciprocal", "range-outputs", outputs(over_reciprocal)),
        mode="SCALED",
    ),
)
OF_ALL = (
    *of_place(
        "clip",
        often("does-not-clamp", "clip", clip(lambda x, low, high: x)),
        Wrong("does-not-clamp-below", "clip", clip(lambda x, low, high: least(x, high))),
        Wrong("does-not-clamp-above", "clip", clip(lambda x, low, high: greatest(x, low))),
        Wrong("clips-at-zero", "clip", clip(lambda x, low, high: clamp(greatest(x, 0), low, high))),
        Wrong("clamps-to-given", "clip", written(clip_to_given)),
        Wrong("does-not-clip-and-wraps", "clip", clip(lambda x, low, high: x) + written(wraps)),
    ),
    *of_place(
        "rounding",
        *(Wrong(id_, "scaled", rounds(rounding), id_ in FREQUENT) for id_, rounding in ROUNDINGS.items()),
        often("rounds:UP", "scaled", rounds(by.in_mode(UP))),
        often("rounds:DOWN", "scaled", rounds(by.in_mode(DOWN))),
    ),
    *of_place(
        "end",
        often("wraps", "clamp", written(wraps)),
        Wrong("highest-overflows", "scaled", end(lambda number, low, high: to_ends(to.X86_CAST(number), low, high))),
        Wrong("highest-overflows:to the lowest in use", "clamp", end(overflows)),
        Wrong("highest-never", "clamp", end(lambda number, low, high: to_ends(number, low, high - 1))),
        Wrong("lowest-never", "clamp", end(lambda number, low, high: to_ends(number, -high if low else 0, high))),
        Wrong("outputs-exchanged", "range-outputs", posed(exchanged)),
        Wrong("outputs-in:float16", "range-outputs", outputs(lambda p, used: to.FLOAT16(step(used)))),
        Wrong("outputs-are-integers", "range-outputs", outputs(bound_itself)),
        Wrong("flushes", "adjusted-range", by.flushes("operand", "step") + cast(to.NAN_TO_LEAST)),
        *(
            Wrong(f"computes-in:{kind}", "combined", by.all_steps_in(FLOAT_TYPES[kind]))
            for kind in ("float64", "float16", "bfloat16")
        ),
    ),
)
STEPS = (*OF_X, *of_place("axis", *misplaced_ranges()), *OF_RANGE, *OF_COMBINED, *OF_FIRST, *OF_SCALED, *OF_ALL)
LIKELY = (
    "range-ratio-first",
    "range-ratio-first + adds-half-and-truncates",
    "one-division",
    "one-division-float-sums",
    "rounds-once:x * scale and min_range * scale apart",
    "one-division + rounds-once-to-even",
    "highest-overflows",
    "one-scale-for-both-sides:of half the steps",
    "widens-by-magnitude",
    "flushes",
    *(one.id for one in kernels()),
    "divides-by-step",
    "flushes-inputs",
    "ignores:narrow_range",
    "no-offset:wraps",
    "counts-values",
    "does-not-clip-and-wraps",
    "one-for-all:range, outputs too",
    "returns-given-range",
    "outputs-exchanged",
    "step-first",
    "no-range-adjust",
    "rounds-once",
    "rounds-once-to-even",
    "floors-minimum",
    "no-lowest",
    "offset-of-half-less",
    f"greater-factor:{UNCOUNTED}",
    f"one-end-alone:min_range, {UNCOUNTED}",
    f"one-end-alone:max_range, {UNCOUNTED}",
    "every-side-counts",
    "one-scale-for-both-sides",
    "factor-in-bfloat16",
    "clamps-to-given",
    "narrow-range",
    "no-offset",
    "computes-in:float64",
    "one-for-all:range",
    "truncates",
    "ties-even-always",
    "ties-away",
    "ties-upward-always",
    "half-added-to-magnitude",
    "ties-toward-zero",
    *(f"{id_}:x * scale alone" for id_ in ROUNDINGS),
    *(f"{id_} + {rounding}" for rounding in ROUNDINGS for id_ in ("range-ratio-first", "divides-by-step")),
)
MISTAKES, PAIRS = mistakes_of(likelier(LIKELY, (*STEPS, *kernels()))), pairs_of(STEPS)
