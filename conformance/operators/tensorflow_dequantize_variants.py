"""What can go wrong with `tensorflow.Dequantize`, as changes of its term, the likelier first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tiebreak.conformance.operators.wrong_ranges import given_range, larger, misplaced_ranges, of_range, wrong_ranges
from tiebreak.conformance.operators.wrong_terms import (
    Wrong,
    likelier,
    mistakes_of,
    of_inputs,
    of_place,
    of_results,
    often,
    pairs_of,
)
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, at, matched
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, changed, posed, written
from tiebreak.conformance.variants.places import PLACES, misplaced
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    Term,
    clamp,
    equal,
    greatest,
    least,
    lifted,
    rounded,
    step,
    where,
    wrapped,
)
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

# The input.


def of_x(change: Callable[[IntegerType, Term], Term]) -> Mutant:
    def found(p: Elementwise) -> Change:
        return by.of_operand("x", lambda x: change(p.constants["T"], x))

    return written(found)


def low_bits(bits: int, signed: bool | None = None) -> Mutant:
    """The input's low bits, as signed or not as the type is unless that is said."""

    def change(kind: IntegerType, x: Term) -> Term:
        is_signed = kind.signed if signed is None else signed
        return wrapped(x, INTEGER_TYPES[f"{'' if is_signed else 'u'}int{min(bits, kind.bits)}"])

    return of_x(change)


def bounds(lowest: Callable[[int], int]) -> Mutant:
    """SCALED's lowest value as so much more than the type's, from 1 for narrow_range or 0."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        own, kind = problem.constants, problem.constants["T"]
        new = kind.lowest + lowest(own["lowest"] - kind.lowest)
        if own["mode"] != "SCALED" or new == own["lowest"]:
            return problem
        return replace(problem, constants={**own, "lowest": new})

    return posed(pose)


# The steps of MIN_COMBINED.


def offset(change: Callable[[Term, Term], Term]) -> Mutant:
    """Changes the sum of int8's input and 128, given both."""
    return changed(at("TFD-C3", lambda one: step(change(*matched(one, "add")))))


def combined(change: Callable[[Term, Term, Term, Term], Term]) -> Mutant:
    """Changes min_range + x * width / steps, given x, the width, the steps and min_range."""

    def found(one: Term) -> Term:
        low, fraction = matched(one, "add")
        product, steps = matched(fraction, "divide")
        x, width = matched(product, "multiply")
        return change(x, width, steps, low)

    return changed(at("TFD-C1", found))


def ratio(change: Callable[[Term, Term], Term]) -> Mutant:
    """The width over the steps is a factor."""
    return combined(lambda x, width, steps, low: step(low + step(x * change(width, steps))))


def in_ratio(conversion: to.Conversion) -> Mutant:
    return ratio(lambda width, steps: conversion(step(width / steps)))


def by_reciprocal(width: Term, steps: Term) -> Term:
    """As compilers rewrite a division by a constant."""
    return step(width * step(1 / steps))


def between(x: Term, width: Term, steps: Term, low: Term) -> Term:
    share = step(x / steps)
    return step(step(low * step(1 - share)) + step(matched(width, "subtract")[0] * share))


def from_max(x: Term, width: Term, steps: Term, low: Term) -> Term:
    return step(matched(width, "subtract")[0] - step(step(steps - x) * step(width / steps)))


def by_zero_point(x: Term, width: Term, steps: Term, low: Term) -> Term:
    factor = step(width / steps)
    return step(step(x - rounded(step(-1 * low / factor), EVEN)) * factor)


def count_plus(number: int) -> Mutant:
    return changed(at("TFD-C2", lambda one: lifted(one.constant + number)))


RATIO_FIRST = ratio(lambda width, steps: step(width / steps))
NO_OFFSET = offset(lambda x, count: x)

# The steps of MIN_FIRST.


def scale(change: Callable[[Term, Term, Term], Term]) -> Mutant:
    """Changes width * adjust / count, given these."""

    def found(one: Term) -> Term:
        adjusted, count = matched(one, "divide")
        width, adjust = matched(adjusted, "multiply")
        return change(width, adjust, count)

    return changed(at("TFD-M1", found))


def one_division(width: Term, adjust: Term, count: Term) -> Term:
    return step(width / step(count.constant - 1))


def in_scale(conversion: to.Conversion) -> Mutant:
    return changed(at("TFD-M1", conversion))


def added(change: Callable[[Term, Term, Term], Term]) -> Mutant:
    """Changes min_range + x * scale, given x (less the lowest value), the scale and min_range."""

    def found(one: Term) -> Term:
        low, product = matched(one, "add")
        x, factor = matched(product, "multiply")
        return change(x, factor, low)

    return changed(at("TFD-M2", found))


def moved(mode: str) -> Mutant:
    """min_range moves to a multiple of the scale, unless the range has no width."""

    def make(p: Elementwise) -> Change:
        low, high = given_range(p)

        def change(one: Term) -> Term | None:
            parts = matched(one, "add")
            if not parts:
                return None
            factor = matched(parts[1], "multiply")[1]
            multiple = step(rounded(step(low / factor), mode) * factor, DOUBLE)
            return step(where(equal(low, high), low, multiple) + parts[1], DOUBLE)

        return at("TFD-M2", change)

    return written(make)


def moved_in_float32(p: Elementwise) -> Change:
    """min_range moves to the nearest multiple of the scale, unless the range has no width."""
    (low, high), lowest = given_range(p), p.constants["T"].lowest

    def change(one: Term) -> Term:
        x, factor = matched(matched(one, "add")[1], "multiply")
        multiple = step(step(rounded(step(low / factor), AWAY)) * factor)
        start = where(equal(low, high), low, multiple)
        return step(step(step(matched(x, "subtract")[0]) * factor) + step(start - step(lowest * factor)))

    return at("TFD-M2", change)


def without_lowest(one: Term) -> Term | None:
    return one.args[0] if one.name == "subtract" else None


UNADJUSTED = scale(lambda width, adjust, count: step(width / count))
MOVED_IN_FLOAT32 = scale(one_division) + written(moved_in_float32)


# The steps of SCALED.


def factor(change: Callable[[Term], Term]) -> Mutant:
    return changed(at("TFD-S1", lambda one: one.args[0] * change(one.args[1])))


def new_factor(make: Callable[[Elementwise, Term, Term], Term]) -> Mutant:
    """Another factor, from the range."""

    def change(p: Elementwise) -> Change:
        found = make(p, *given_range(p))
        return at("TFD-S1", lambda one: one.args[0] * found)

    return written(change)


def sides(change: Callable[[Term, Term], Term]) -> Mutant:
    """Changes a signed type's greater factor, given those of min_range and max_range."""
    return changed(at("TFD-S2", lambda one: change(*one.args)))


def steps_in_use(p: Elementwise) -> int:
    found: int = p.constants["T"].highest - p.constants["lowest"]
    return found


def narrow_for_unsigned(p: Elementwise) -> Change:
    """With narrow_range the lowest value of an unsigned type is 1, so that min_range counts."""
    low, _ = given_range(p)
    return at("TFD-S3", lambda one: greatest(low, one) if p.constants["lowest"] == 1 else None)


def highest_overflows(p: Elementwise) -> Change:
    """What float32 rounds up beyond the type becomes the lowest value."""
    kind = p.constants["T"]
    return at("TFD-S1", lambda one: where(one.args[0] > kind.highest, kind.lowest, one.args[0]) * one.args[1])


def product(change: Callable[[Term, Term], Term]) -> Mutant:
    return changed(at("TFD-S1", lambda one: change(*one.args)))


LAST_AXIS = "ranges-along:the last axis"
FLUSHED = by.flushes("operand", "step", "to-float")
OF_INPUT = (
    *of_place(
        "x",
        *of_inputs("x", "input-type"),
    ),
    *of_place(
        "code",
        often("input-as-unsigned", "input-type", low_bits(64, False)),
        often("unsigned-as-signed", "input-type", low_bits(64, True)),
        often("lowest-input-as-next", "input-type", of_x(lambda kind, x: greatest(x, kind.lowest + 1))),
        often("input-saturates-to:int8", "input-type", of_x(lambda kind, x: clamp(x, -128, 127))),
        often("input-saturates-to:int16", "input-type", of_x(lambda kind, x: clamp(x, -(1 << 15), (1 << 15) - 1))),
        often("input-keeps-low:8 bits", "input-type", low_bits(8)),
        Wrong("input-keeps-low:16 bits", "input-type", low_bits(16)),
    ),
)
OF_RANGE = (
    *of_place(
        "axis",
        *(one for one in misplaced_ranges() if one.id != LAST_AXIS),
        Wrong("wrong-axis", "axis", misplaced({1: PLACES[LAST_AXIS], 2: PLACES[LAST_AXIS]}, only="output")),
    ),
    *of_place(
        "range",
        *wrong_ranges("range-type", "combined"),
        often("range-exchanged", "combined", of_range(lambda low, high: high, lambda low, high: low)),
    ),
)
OF_COMBINED = (
    *of_place(
        "offset",
        often("no-offset", "offset", NO_OFFSET),
        often("offset-of-one-less", "offset", offset(lambda x, count: x + (count.constant - 1))),
        often("offset-of-half-less", "offset", offset(lambda x, count: x + (count.constant - by.HALF))),
        mode="MIN_COMBINED",
    ),
    *of_place(
        "combined",
        often("range-ratio-first", "combined", RATIO_FIRST),
        often("result:fused", "combined", combined(lambda x, width, steps, low: step(x * step(width / steps) + low))),
        often("range-ratio-by-reciprocal", "combined", ratio(by_reciprocal)),
        often(
            "range-ratio-by-reciprocal-fused",
            "combined",
            combined(lambda x, width, steps, low: step(x * by_reciprocal(width, steps) + low)),
        ),
        often("divides-before-width", "combined", combined(lambda x, w, n, low: step(low + step(step(x / n) * w)))),
        often(
            "reciprocal-of-integer-range",
            "combined",
            combined(lambda x, width, steps, low: step(low + step(step(x * width) * step(1 / steps)))),
        ),
        often("result:between the limits", "combined", combined(between)),
        often("counts-from-max", "combined", combined(from_max)),
        often("counts-values", "range-of-T", count_plus(1)),
        Wrong("counts-one-step-less", "range-of-T", count_plus(-1)),
        often("step-in:float16", "combined", in_ratio(to.FLOAT16)),
        often("step-in:bfloat16", "combined", in_ratio(to.BFLOAT16)),
        often("by-integer-zero-point", "combined", combined(by_zero_point)),
        often("no-minimum", "combined", combined(lambda x, width, steps, low: step(step(x * width) / steps))),
        Wrong(
            "cuts-off",
            "combined",
            combined(lambda x, width, steps, low: to.CUT_TO_FLOAT32(low + step(step(x * width) / steps))),
        ),
        Wrong("range-ratio-first + no-offset", "offset", RATIO_FIRST + NO_OFFSET),
        Wrong("range-ratio-first + truncates-to-bfloat16", "output-type", RATIO_FIRST + by.result(to.CUT_TO_BFLOAT16)),
        Wrong("range-ratio-first + flushes", "combined", RATIO_FIRST + FLUSHED),
        mode="MIN_COMBINED",
    ),
)
OF_FIRST = (
    *of_place(
        "scale",
        often("one-division", "range-scale", scale(one_division)),
        often("no-range-adjust", "range-scale", UNADJUSTED),
        often("step-in:float16", "range-scale", in_scale(to.FLOAT16)),
        often("step-in:bfloat16", "range-scale", in_scale(to.BFLOAT16)),
        mode="MIN_FIRST",
    ),
    *of_place(
        "sum",
        often("min-first-in-float32", "double-steps", by.all_numbers_in(FLOAT_TYPES["float32"])),
        often("moves-minimum", "min-first", moved(EVEN)),
        often("moves-minimum-down", "min-first", moved(DOWN)),
        often("no-minimum", "min-first", added(lambda x, factor, low: x * factor)),
        Wrong("moves-minimum:to the nearest multiple in float32", "min-first", MOVED_IN_FLOAT32),
        Wrong("moves-minimum + flushes", "min-first", MOVED_IN_FLOAT32 + FLUSHED),
        Wrong("moves-minimum + no-range-adjust", "min-first", UNADJUSTED + moved(EVEN)),
        mode="MIN_FIRST",
    ),
    *of_place("lowest", often("no-lowest", "min-first", changed(at("TFD-M3", without_lowest))), mode="MIN_FIRST"),
)
OF_SCALED = (
    *of_place(
        "factor",
        often("smaller-factor", "signed-factor", sides(least)),
        often("max-side-alone", "signed-factor", sides(lambda low, high: high)),
        often("one-end-alone:min_range", "signed-factor", sides(lambda low, high: low)),
        often(
            "one-scale-for-both-sides",
            "signed-factor",
            new_factor(lambda p, *ends: step(larger(*ends) / step(p.constants["T"].highest))),
        ),
        often(
            "one-scale-of-half-the-values",
            "signed-factor",
            new_factor(lambda p, *ends: step(larger(*ends) / step(p.constants["T"].highest + 1))),
        ),
        often(
            "width-over-steps",
            "signed-factor",
            new_factor(lambda p, low, high: step(step(high - low) / step(steps_in_use(p)))),
        ),
        often("factor-in:float16", "scaled", factor(to.FLOAT16)),
        often("factor-in-bfloat16", "scaled", factor(to.BFLOAT16)),
        Wrong("factor-cut-off-to-bfloat16", "scaled", factor(to.CUT_TO_BFLOAT16)),
        Wrong("factor-of-digits:6", "scaled", factor(lambda one: step(to.SIX_DIGITS(one)))),
        often("ignores:narrow_range", "narrow", bounds(lambda narrow: 0)),
        often("narrow-range", "narrow", bounds(lambda narrow: 1)),
        Wrong("narrow-for-unsigned + flushes", "unsigned-factor", written(narrow_for_unsigned) + FLUSHED),
        Wrong("narrow-for-unsigned", "unsigned-factor", written(narrow_for_unsigned)),
        mode="SCALED",
    ),
    *of_place(
        "product",
        often("divides-by-step", "scaled", product(by.divided_by_inverse)),
        often("divides-by-estimate-of-bits:12", "scaled", product(lambda x, k: step(x / step(to.ESTIMATE(k))))),
        Wrong("cuts-off", "scaled", product(lambda x, factor: to.CUT_TO_FLOAT32(x * factor))),
        Wrong("multiplies-exact-input", "scaled", product(lambda x, factor: x.args[0] * factor)),
        Wrong("highest-overflows", "scaled", written(highest_overflows)),
        mode="SCALED",
    ),
)
OF_RESULT = of_place(
    "result",
    *of_results("output-type"),
    Wrong("flushes", "scaled", FLUSHED),
    Wrong("flushes-outputs", "scaled", by.result(to.FLUSH)),
    *(
        Wrong(f"computes-in:{kind}{more}", "combined", by.all_steps_in(FLOAT_TYPES[kind], operands=not more))
        for kind in ("float16", "bfloat16", "float32", "float64")
        for more in ("", ", inputs as they are")[: 1 + (kind in ("float16", "bfloat16"))]
    ),
)
STEPS = (*OF_INPUT, *OF_RANGE, *OF_COMBINED, *OF_FIRST, *OF_SCALED, *OF_RESULT)
LIKELY = (
    "range-ratio-first",
    "moves-minimum:to the nearest multiple in float32",
    "min-first-in-float32",
    "highest-overflows",
    "flushes",
    "range-ratio-first + flushes",
    "moves-minimum + flushes",
    "narrow-for-unsigned + flushes",
    "ignores:narrow_range",
    "narrow-for-unsigned",
    "no-offset",
    "counts-values",
    "no-range-adjust",
    "max-side-alone",
    "smaller-factor",
    "one-for-all:range",
    "range-in-bfloat16",
    "truncates-to-bfloat16",
    "result:fused",
    "no-minimum",
    "offset-of-half-less",
    "range-ratio-first + no-offset",
    "no-lowest",
    "moves-minimum",
    "moves-minimum + no-range-adjust",
    "divides-by-step",
    "factor-in-bfloat16",
    "one-end-alone:min_range",
    "narrow-range",
    "unsigned-as-signed",
    "wrong-axis",
    "flushes-outputs",
    "range-ratio-first + truncates-to-bfloat16",
    *(one.id for one in OF_RESULT if one.id.startswith("computes-in:")),
)
MISTAKES, PAIRS = mistakes_of(likelier(LIKELY, STEPS)), pairs_of(STEPS)
