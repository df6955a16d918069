"""What can go wrong with FakeQuantWithMinMaxVars and its per-channel form, as changes of their term, likelier first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators import wrong_ranges as ranges
from tiebreak.conformance.operators import wrong_terms as wrong
from tiebreak.conformance.operators.wrong_terms import Wrong, of_place, often
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import mutant
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, Numbers
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, changed, posed, with_number, with_numbers
from tiebreak.conformance.variants.places import along_if_it_fits
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    UP,
    Term,
    clamp,
    equal,
    greatest,
    is_finite,
    least,
    magnitude,
    rounded,
    step,
    where,
)
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.problem import Elementwise, codes_of
from tiebreak.golden.rounding import EVEN

# Numbers of the term by their formulas, and the result by its clause. FIRST, MIN and MAX are START, LEAST and MOST of a
# range around zero.
X, STEPS, SCALE, LEVEL = "clamped x", "steps", "scale", "level"
ENDS = START, LEAST, MOST = "min_adj / scale", "min_adj", "max_adj"
FIRST, MIN, MAX = "round(low / scale)", "scale * round(low / scale)", "high + scale * round(low / scale) - low"
WIDTH, RATIO, QUOTIENT, RESULT = "high - low", "low / scale", "(clamped x - min_adj) / scale", "F4"
of_clamp, of_scale, of_quotient, of_result = (partial(with_number, name) for name in (X, SCALE, QUOTIENT, RESULT))


def counted(steps: Callable[[int, bool], int]) -> Mutant:
    """Another number of steps, from num_bits and narrow_range."""

    def make(own: Mapping[str, Any]) -> Mapping[str, Any]:
        found = steps(own["highest"].bit_length(), own["lowest"] == 1)
        return own if found == own["intervals"] else {**own, "intervals": found, "divisors": (found,)}

    return mutant.with_constants(make)


def one_reading(call: NodeCall, problem: Elementwise) -> Elementwise:
    """The scale is divided by the number of steps, as kernels have it, whatever narrow_range is."""
    own = problem.constants
    return replace(problem, constants={**own, "divisors": (own["intervals"],)})


def over(count: Callable[[int], int]) -> Mutant:
    """Another divisor of the width, from the highest level."""

    def change(p: Elementwise) -> Change:
        return mutant.numbers_otherwise(lambda n: {SCALE: step(n[WIDTH] / count(p.constants["highest"]))}, p)

    return mutant.written(change)


def in_six_digits(number: Term) -> Term:
    return step(to.SIX_DIGITS(number))


def held_scale(conversion: Callable[[Term], Term]) -> Mutant:
    return of_scale(lambda n: conversion(n[SCALE]))


def nudges(rounding: by.Rounding) -> Mutant:
    return with_number(FIRST, lambda n: rounding(n[RATIO]))


def other_neighbour(ratio: Term) -> Term:
    near = rounded(ratio, EVEN)
    return where(ratio < near, near - 1, where(ratio > near, near + 1, near))


def max_on_grid(n: Numbers) -> Mapping[str, Term]:
    last = rounded(step(n["high"] / n[SCALE]), EVEN)
    return {MAX: step(last * n[SCALE]), FIRST: last - n[STEPS]}


def around_zero(n: Numbers) -> Mapping[str, Term]:
    return {START: n[FIRST], LEAST: n[MIN], MOST: n[MAX]}


def moved_if_around_zero(n: Numbers) -> Mapping[str, Term]:
    apart = (n["low"] > 0) | (n["high"] < 0)
    return {LEAST: where(apart, n["low"], n[MIN]), MOST: where(apart, n["high"], n[MAX])}


def unless_below(number: Term) -> Term:
    above, positive, others = number.args
    return where(above, positive, others.args[2])


def summed(one: Term) -> Term | None:
    """The sum with min_adj / scale rounded, as it must be where that is no whole number."""
    return step(one) if one.name == "add" and one.args[1].label == START else None


def difference(n: Numbers) -> Term:
    return step(n[X] - n[LEAST])


def inverse(n: Numbers) -> Term:
    return step(1 / n[SCALE])


def least_by_inverse(n: Numbers) -> Term:
    return step(n[LEAST] * inverse(n))


def total(n: Numbers) -> Term:
    return step(n[LEVEL] + n[START])


def rounds(rounding: by.Rounding) -> Mutant:
    return with_number(LEVEL, lambda n: rounding(n[QUOTIENT]))


def by_zero_point(n: Numbers) -> Term:
    return clamp(step(rounded(step(n["x"] / n[SCALE]), EVEN) - n[START]), 0, n[STEPS])


def cast_first(n: Numbers) -> Term:
    """Levels beyond 2^63 either way become the lowest."""
    beyond = magnitude(step(n["x"] / n[SCALE])) >= 2**63
    return where(beyond & is_finite(n["x"]), n[LEAST], n[RESULT])


def inputs_too(kind: str) -> Mutant:
    """All numbers in a type, the number of steps and sums of whole numbers, too."""
    numbers = with_numbers(lambda n: {START: step(n[START]), STEPS: step(n[STEPS])})
    return numbers + ROUNDED_SUM + by.all_steps_in(FLOAT_TYPES[kind], operands=True)


# Kernels as a whole, of x, min and max.


def nudged(p: Elementwise, low: Term, high: Term) -> tuple[Term, Term, Term]:
    """The scale, and min and max moved onto its multiples by a zero point, whose ties go away from zero."""
    first, last = p.constants["lowest"], p.constants["highest"]
    scale = step(step(high - low) / (last - first))
    zero_point = clamp(rounded(step(first - step(low / scale)), AWAY), first, last)
    return scale, step((first - zero_point) * scale), step((last - zero_point) * scale)


def tensorflow_kernel(p: Elementwise, x: Term, low: Term, high: Term, *, by_factor: bool) -> Term:
    """`by_factor`: with a product for the quotient, as the per-channel form has it."""
    scale, bottom, top = nudged(p, low, high)
    factor, shifted = step(p.constants["intervals"] / step(high - low)), step(clamp(x, bottom, top) - bottom)
    zero = by.floor_of_half_more(step(-1 * bottom * factor))
    quotient = step(shifted * factor if by_factor else shifted / scale)
    return where(equal(low, 0) & equal(high, 0), 0, by.floor_of_half_more(step(quotient - zero)) * scale)


def lite_kernel(p: Elementwise, x: Term, low: Term, high: Term) -> Term:
    """TensorFlow Lite's, with ties away from zero."""
    scale, bottom, top = nudged(p, low, high)
    level = rounded(step(step(clamp(x, bottom, top) - bottom) * step(1 / scale)), AWAY)
    return step(level * scale) + bottom


def levels_of(p: Elementwise) -> tuple[int, int]:
    return p.constants["lowest"], p.constants["highest"]


def widest(call: NodeCall, problem: Elementwise) -> Elementwise:
    """The least min and the greatest max of all channels."""
    _, low, high = call.inputs
    if low.size < 2:
        return problem
    ends = codes_of(low).reshape(-1)[low.argmin()], codes_of(high).reshape(-1)[high.argmax()]
    x, *own = problem.operands
    return replace(problem, operands=(x, *map(np.full_like, own, ends)))


(READING,) = posed(one_reading).asked
ROUNDED_SUM = changed(summed)
NEVER_NARROW = counted(lambda bits, narrow: (1 << bits) - 1)
ALWAYS_NARROW = counted(lambda bits, narrow: (1 << bits) - 2)
EIGHT_BITS, OVER_ALL = counted(lambda bits, narrow: 255 - narrow), over(lambda highest: highest)
NOT_ON_GRID = with_numbers(lambda n: {START: n[RATIO], LEAST: n["low"], MOST: n["high"]})
ONLY_MOVED = with_numbers(lambda n: {MAX: n["high"], MIN: n["low"], FIRST: n[RATIO]})
DOES_NOT_CLAMP, TO_GIVEN = of_clamp(lambda n: n["x"]), of_clamp(lambda n: clamp(n["x"], n["low"], n["high"]))
RECIPROCAL = of_quotient(lambda n: step(difference(n) * inverse(n)))
STEPS_OVER_RANGE = of_quotient(lambda n: step(difference(n) * step(n[STEPS] / n[WIDTH])))
ADDS_MIN = of_result(lambda n: step(n[LEVEL] * n[SCALE]) + n[LEAST])
SUMS, FACTOR_SUMS = (by.result_of(partial(tensorflow_kernel, by_factor=by_factor)) for by_factor in (False, True))
FLUSHES = by.flushes("operand", "step", "to-float")
SCALES: Mapping[str, Callable[[Term], Term]] = {
    "in:float16": to.FLOAT16,
    "in:bfloat16": to.BFLOAT16,
    "in:TF32": to.TF32,
    "of-digits:6": in_six_digits,
    "cut-off-to-bfloat16": to.CUT_TO_BFLOAT16,
}
ROUNDINGS = {
    "floor-of-half-more": by.floor_of_half_more,
    "truncates": by.in_mode(TOWARD_ZERO),
    "ties-away": by.in_mode(AWAY),
    "rounds-level-up": by.in_mode(UP),
    "ties-toward-zero": by.in_mode("ROUND_NEAREST_TOWARD_ZERO"),
    "adds-half-and-truncates": by.trunc_of_half_more,
}
OF_ROUNDING = of_place(
    "rounding", *(Wrong(id_, "levels", rounds(way), n < 4) for n, (id_, way) in enumerate(ROUNDINGS.items()))
)
HALF_MORE, TRUNCATES = (one.mutant for one in OF_ROUNDING[:2])
MOVED = "not-on-grid:ranges without 0 are moved"
KERNELS = (
    Wrong("kernel-sums", "levels", SUMS),
    Wrong("kernel-factor-sums", "levels", FACTOR_SUMS),
    Wrong("kernel-sums + flushes", "levels", SUMS + FLUSHES),
    Wrong("kernel-factor-sums + flushes", "levels", FACTOR_SUMS + FLUSHES),
    Wrong("reciprocal-of-scale + adds-min:ties away", "dequantize", by.result_of(lite_kernel)),
    Wrong("scale-and-zero-point-in:float32", "levels", ranges.by_parameters(levels_of, to.NAN_TO_LEAST, "float32")),
    Wrong(
        "scale-and-zero-point-in:float64 + casts-to-int64",
        "levels",
        ranges.by_parameters(levels_of, to.X86_CAST_64, "float64"),
    ),
)
WITH_TIES_UPWARD = (
    Wrong("adds-min:ties upward", "dequantize", ADDS_MIN),
    Wrong("reciprocal-of-scale:ties upward", "levels", RECIPROCAL),
    Wrong("floor-of-half-more:ties upward", "levels", HALF_MORE),
    Wrong("truncates:ties upward", "levels", TRUNCATES),
    Wrong("rounds-level-up:ties upward", "levels", rounds(by.in_mode(UP))),
    Wrong("truncates-min:ties upward", "nudge-min", nudges(by.in_mode(TOWARD_ZERO))),
    Wrong("not-on-grid:adds min, ties upward", "nudge-min", ADDS_MIN + NOT_ON_GRID),
    Wrong("clamps-to-given:ties upward", "clamp", TO_GIVEN),
    Wrong("does-not-clamp:ties upward", "clamp", DOES_NOT_CLAMP),
    Wrong("casts-to-int64", "clamp", of_result(cast_first)),
    Wrong("range-stays", "positive-range", ADDS_MIN + with_numbers(moved_if_around_zero)),
    Wrong("ignores:narrow_range, ties upward", "narrow", NEVER_NARROW),
    Wrong("narrow-range:ties upward", "narrow", ALWAYS_NARROW),
    Wrong("narrow-scale-of-all:ties upward", "scale", OVER_ALL),
    Wrong("levels-as-steps:ties upward", "scale", counted(lambda bits, narrow: (1 << bits) - narrow)),
    Wrong("ignores:num_bits, ties upward", "num-bits", EIGHT_BITS),
    Wrong("computes-in:float16, ties upward", "type", inputs_too("float16")),
)
TIES_UPWARD = tuple(replace(one, mutant=one.mutant + by.TIES_UPWARD) for one in WITH_TIES_UPWARD)
OF_X = of_place("x", *wrong.of_inputs("x", "clamp"))
OF_RESULT = of_place("out", *wrong.of_results("dequantize"))
OF_RANGE = of_place(
    "range",
    often("range-in-bfloat16", "scale", ranges.converted_range(to.BFLOAT16)),
    Wrong("range-in:float16", "scale", ranges.converted_range(to.FLOAT16)),
    often("range-extended-to-zero", "positive-range", ranges.with_zero()),
    Wrong("range-made-symmetric", "scale", ranges.of_range(lambda a, b: -1 * ranges.larger(a, b), ranges.larger)),
    Wrong("max-is-greater-magnitude", "scale", ranges.of_range(lambda low, high: low, ranges.larger)),
)
OF_STEPS = of_place(
    "steps",
    often("ignores:narrow_range", "narrow", NEVER_NARROW),
    often("narrow-range", "narrow", ALWAYS_NARROW),
    Wrong("inverts:narrow_range", "narrow", counted(lambda bits, narrow: (1 << bits) - 1 - (not narrow))),
    often("ignores:num_bits", "num-bits", EIGHT_BITS),
    often("at-most:8 bits", "num-bits", counted(lambda bits, narrow: (1 << min(bits, 8)) - 1 - narrow)),
    Wrong("one-bit-less", "num-bits", counted(lambda bits, narrow: max((1 << (bits - 1)) - 1 - narrow, 1))),
    Wrong("one-bit-more", "num-bits", counted(lambda bits, narrow: (2 << bits) - 1 - narrow)),
)
OF_SCALE = of_place(
    "scale",
    often("narrow-scale-of-all", "scale", OVER_ALL),
    often("levels-as-steps", "scale", of_scale(lambda n: step(n[WIDTH] / (n[STEPS] + 1)))),
    Wrong("levels-as-steps:whatever narrow_range says", "scale", over(lambda highest: highest + 1)),
    *(Wrong(f"scale-{id_}", "scale", held_scale(way), n < 2) for n, (id_, way) in enumerate(SCALES.items())),
    Wrong("scale-to-power-of-two", "scale", of_scale(lambda n: to.POWER_ABOVE(n[WIDTH] / n[STEPS]))),
    Wrong("range-over-steps-by-reciprocal", "scale", of_scale(lambda n: step(n[WIDTH] * step(1 / n[STEPS])))),
    Wrong("reciprocal-of-steps-over-range", "scale", of_scale(lambda n: step(1 / step(n[STEPS] / n[WIDTH])))),
)
OF_GRID = of_place(
    "grid",
    Wrong(MOVED, "nudge-min", ONLY_MOVED + ROUNDED_SUM),
    often("floors-min", "nudge-min", nudges(by.in_mode(DOWN))),
    often("ceils-min", "nudge-min", nudges(by.in_mode(UP))),
    Wrong("max-stays", "nudge-min", with_number(MAX, lambda n: n["high"])),
    Wrong("positive-range-stays", "positive-range", with_numbers(lambda n: {end: n[end].args[2] for end in ENDS})),
    Wrong(
        "negative-range-stays", "positive-range", with_numbers(lambda n: {end: unless_below(n[end]) for end in ENDS})
    ),
    Wrong("not-on-grid:sum rounded once", "nudge-min", NOT_ON_GRID),
    Wrong(f"{MOVED}, sum rounded once", "nudge-min", ONLY_MOVED),
    Wrong("truncates-min", "nudge-min", nudges(by.in_mode(TOWARD_ZERO))),
    Wrong("adds-half-to-min-and-truncates", "nudge-min", nudges(by.trunc_of_half_more)),
    Wrong("min-off-by-one:up", "nudge-min", with_number(FIRST, lambda n: n[FIRST] + 1)),
    Wrong("min-off-by-one:down", "nudge-min", with_number(FIRST, lambda n: n[FIRST] - 1)),
    Wrong("min-to-other-neighbour", "nudge-min", nudges(other_neighbour)),
    often("not-on-grid", "nudge-min", mutant.at_once(NOT_ON_GRID, ROUNDED_SUM)),
    Wrong("max-onto-grid", "nudge-min", with_numbers(max_on_grid)),
    Wrong("max-from-steps", "nudge-min", with_number(MAX, lambda n: step(step(n[STEPS] + n[FIRST]) * n[SCALE]))),
    Wrong("range-moved-as-any", "positive-range", with_numbers(around_zero)),
)
OF_CLAMP = of_place(
    "clamp",
    Wrong("clamps-to-given", "clamp", TO_GIVEN),
    often("does-not-clamp", "clamp", DOES_NOT_CLAMP),
    Wrong("does-not-clamp-above", "clamp", of_clamp(lambda n: greatest(n["x"], n[LEAST]))),
    Wrong("does-not-clamp-below", "clamp", of_clamp(lambda n: least(n["x"], n[MOST]))),
)
OF_QUOTIENT = of_place(
    "quotient",
    often("reciprocal-of-scale", "levels", RECIPROCAL),
    often("steps-over-range", "levels", STEPS_OVER_RANGE),
    often("divides-apart", "levels", of_quotient(lambda n: step(step(n[X] / n[SCALE]) - n[START]))),
    Wrong("divides-both", "levels", of_quotient(lambda n: step(step(n[X] / n[SCALE]) - step(n[LEAST] / n[SCALE])))),
    Wrong("multiplies-both", "levels", of_quotient(lambda n: step(step(n[X] * inverse(n)) - least_by_inverse(n)))),
    Wrong("multiplies-both-fused", "levels", of_quotient(lambda n: step(n[X] * inverse(n) - least_by_inverse(n)))),
    Wrong("divides-by-range", "levels", of_quotient(lambda n: step(step(difference(n) / n[WIDTH]) * n[STEPS]))),
    Wrong("reciprocal-of-bits:12", "levels", of_quotient(lambda n: step(difference(n) * step(to.ESTIMATE(n[SCALE]))))),
    Wrong("quotient-in:float16", "levels", of_quotient(lambda n: to.FLOAT16(n[QUOTIENT]))),
    Wrong("quotient-in:bfloat16", "levels", of_quotient(lambda n: to.BFLOAT16(n[QUOTIENT]))),
)
OF_DEQUANTIZE = of_place(
    "dequantize",
    often("adds-min", "dequantize", ADDS_MIN),
    often("adds-min-fused", "dequantize", of_result(lambda n: n[LEVEL] * n[SCALE] + n[LEAST])),
    often("multiplies-apart", "dequantize", of_result(lambda n: step(n[LEVEL] * n[SCALE]) + step(n[START] * n[SCALE]))),
    often("divides-by-reciprocal", "dequantize", of_result(lambda n: total(n) / inverse(n))),
    often("step-in:float16", "dequantize", of_result(lambda n: total(n) * to.FLOAT16(n[SCALE]))),
    often("step-in:bfloat16", "dequantize", of_result(lambda n: total(n) * to.BFLOAT16(n[SCALE]))),
    Wrong("no-minimum", "dequantize", of_result(lambda n: n[LEVEL] * n[SCALE])),
    Wrong("cuts-off", "dequantize", of_result(lambda n: to.CUT_TO_FLOAT32(total(n) * n[SCALE]))),
)
WHOLE = of_place(
    "clamp quotient rounding dequantize",
    often("quantize-and-dequantize", "levels", with_number(LEVEL, by_zero_point)),
)
OF_TYPE = (
    Wrong("computes-in:float64", "type", by.all_steps_in(FLOAT_TYPES["float64"])),
    *(Wrong(f"computes-in:{kind}, inputs too", "type", inputs_too(kind)) for kind in ("bfloat16", "float16")),
    *(Wrong(f"computes-in:{kind}", "type", by.all_steps_in(FLOAT_TYPES[kind])) for kind in ("float16", "bfloat16")),
)
JOINED = (
    Wrong("floor-of-half-more + steps-over-range", "levels", HALF_MORE + STEPS_OVER_RANGE),
    Wrong("truncates + adds-min", "levels", ADDS_MIN + TRUNCATES),
    Wrong(f"{MOVED} + ignores:narrow_range", "nudge-min", mutant.at_once(NEVER_NARROW, ONLY_MOVED, ROUNDED_SUM)),
    Wrong(f"{MOVED}, sum rounded once + ignores:narrow_range", "nudge-min", mutant.at_once(NEVER_NARROW, ONLY_MOVED)),
)
BEFORE = (*OF_X, *OF_RANGE, *OF_STEPS, *OF_SCALE, *OF_GRID)
ONE_STEP = (*BEFORE, *OF_CLAMP, *OF_QUOTIENT, *OF_ROUNDING, *OF_DEQUANTIZE, *WHOLE, *OF_RESULT)  # as they are computed
LIKELY = (*KERNELS, *TIES_UPWARD, *OF_ROUNDING, *OF_QUOTIENT, *OF_DEQUANTIZE, *OF_GRID, *OF_CLAMP)
CHANNELS = of_place("channel", *ranges.misplaced_ranges(role="range", output="outputs"))
FIRST_FOR_ALL = next(one.mutant for one in CHANNELS if one.id == "one-for-all:range")
OF_CHANNELS = (
    *CHANNELS,
    Wrong("one-for-all:range, ties upward", "range", FIRST_FOR_ALL + by.TIES_UPWARD),
    Wrong("widest-range-for-all", "range", posed(widest) + by.TIES_UPWARD),
    *(
        Wrong(id_, "range", ranges.taken_from(along_if_it_fits(axis), "outputs") + by.TIES_UPWARD)
        for axis, id_ in enumerate(("ranges-along:the first axis, ties upward", "ranges-along:axis 1"))
    ),
    Wrong("floor-of-half-more + one-for-all:range", "range", HALF_MORE + FIRST_FOR_ALL),
)
MISTAKES = wrong.mistakes_of(wrong.as_read(READING, (*LIKELY, *OF_STEPS, *OF_SCALE, *OF_TYPE, *JOINED, *ONE_STEP)))
PAIRS = wrong.pairs_of(wrong.as_read(READING, ONE_STEP), later_first=True)
MISTAKES_OF_CHANNELS = (*MISTAKES, *wrong.mistakes_of(wrong.as_read(READING, OF_CHANNELS)))
PAIRS_OF_CHANNELS = wrong.pairs_of(wrong.as_read(READING, (*CHANNELS, *ONE_STEP)), later_first=True)
