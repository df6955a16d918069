"""What can go wrong with torch.fake_quantize_per_tensor_affine and …_per_channel_affine, as changes of their term.

It is (clamp(round(value / scale) + zero_point, quant_min, quant_max) - zero_point) * scale, which has one operation of
each name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tiebreak.conformance.operators.wrong_ranges import misplaced_ranges
from tiebreak.conformance.operators.wrong_terms import (
    Wrong,
    mistakes_of,
    of_inputs,
    of_place,
    of_results,
    often,
    pairs_of,
)
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.by_id import by_id
from tiebreak.conformance.variants.changes import matched
from tiebreak.conformance.variants.mutant import Mutant, changed, operation
from tiebreak.conformance.variants.places import CHANNEL_NAMES
from tiebreak.golden.arithmetic.term import AWAY, TOWARD_ZERO, Term, clamp, greatest, least, rounded, step
from tiebreak.golden.rounding import EVEN


def quotient(change: Callable[[Term, Term], Term]) -> Mutant:
    return operation("divide", change) + NAN_TO_MIN


def zero_point_first(whole: Term, zero_point: Term) -> Term:
    return rounded(step(whole.args[0] + step(zero_point)), EVEN)


def float_first(one: Term) -> Term | None:
    """Only where the zero point is a float is the sum a step."""
    return zero_point_first(*matched(one, "add")) if one.name == "step" and matched(one, "add") else None


def cast(conversion: to.Conversion) -> Mutant:
    return operation("add", lambda whole, zero_point: conversion(whole) + zero_point)


# As torch's kernels make quant_min of NaN: of 0 times an infinite reciprocal, or from another channel's scale.
NAN_TO_MIN = operation("clamp", lambda level, low, high: clamp(to.NAN_TO_LEAST(level), low, high))
OWN_RECIPROCAL = quotient(lambda x, scale: x * step(1 / scale))
FLOAT_FIRST, INT64 = changed(float_first), cast(to.X86_CAST_64)
SUM_IN_FLOAT32 = operation("add", lambda whole, zero_point: step(whole + step(zero_point)))
LEVEL_IN_FLOAT32 = operation("subtract", lambda level, zero_point: step(level - zero_point))
DIFFERENCE_IN_FLOAT32 = operation("subtract", lambda level, zero_point: step(step(level) - step(zero_point)))
OVER_RECIPROCAL = operation("multiply", lambda difference, scale: step(difference) / step(1 / scale))
ALL_IN_FLOAT32 = OWN_RECIPROCAL + SUM_IN_FLOAT32 + LEVEL_IN_FLOAT32
STEPS = (
    *of_place(
        "quotient",
        often("own-reciprocal", "quotient", OWN_RECIPROCAL),
        Wrong("multiplies-by-scale", "quotient", quotient(lambda x, scale: x * scale)),
        Wrong("divides-in:float16", "quotient", quotient(by.divided_in("float16"))),
        Wrong("divides-in:bfloat16", "quotient", quotient(by.divided_in("bfloat16"))),
        # torch's own arithmetic: integers are cast, floats are added first.
        Wrong("own-reciprocal + casts-to-int64", "quotient", OWN_RECIPROCAL + INT64),
        Wrong("own-reciprocal + zero-point-first:where it is a float", "add", OWN_RECIPROCAL + FLOAT_FIRST),
        Wrong("own-reciprocal + sum-in:float32 + level-in:float32", "add", ALL_IN_FLOAT32),
    ),
    *of_place(
        "level",
        often("zero-point-first", "add", operation("add", zero_point_first)),
        often("zero-point-first:where it is a float", "add", FLOAT_FIRST),
        often("sum-in:float32", "add", SUM_IN_FLOAT32),
        Wrong("ignores-zero-point", "add", operation("add", lambda whole, zero_point: whole)),
        often("casts-to-int64", "clamp", INT64),
        often("casts-to-int32", "clamp", cast(to.X86_CAST)),
        often("ties-away", "nearest", changed(by.rounding(by.in_mode(AWAY)))),
        Wrong("floor-of-half-more", "nearest", changed(by.rounding(by.floor_of_half_more))),
        Wrong("truncates", "nearest", changed(by.rounding(by.in_mode(TOWARD_ZERO)))),
    ),
    *of_place(
        "clamp",
        often("does-not-clamp", "clamp", operation("clamp", lambda level, low, high: level)),
        Wrong("does-not-clamp-below", "clamp", operation("clamp", lambda level, low, high: least(level, high))),
        Wrong("does-not-clamp-above", "clamp", operation("clamp", lambda level, low, high: greatest(level, low))),
        often("narrow-range", "clamp", operation("clamp", lambda level, low, high: clamp(level, low + 1, high))),
    ),
    *of_place(
        "difference",
        Wrong("zero-point-stays", "subtract", operation("subtract", lambda level, zero_point: level)),
        Wrong("zero-point-cast-to:int32", "add", by_id("number-truncated:zero_point")),
        Wrong("rounds-zero-point", "add", by_id("number-rounded:zero_point")),
        often("difference-in:float32", "subtract", DIFFERENCE_IN_FLOAT32),
    ),
    *of_place(
        "product",
        often("level-in:float32", "product", LEVEL_IN_FLOAT32),
        Wrong("divides-by-reciprocal", "product", OVER_RECIPROCAL),
    ),
    *of_place("x", *of_inputs("value", "quotient")),
    *of_place("result", *of_results("product")),
)
MISTAKES, PAIRS = mistakes_of(STEPS), pairs_of(STEPS)
CHANNEL_MISTAKES = mistakes_of(
    [replace(one, mutant=one.mutant + NAN_TO_MIN) for one in misplaced_ranges(CHANNEL_NAMES)]
)
