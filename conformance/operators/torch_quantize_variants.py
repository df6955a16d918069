"""What can go wrong with torch.quantize_per_tensor and torch.quantize_per_channel, as changes of their term.

It is round(value / scale + zero_point), between two ends. With a zero point that is a float the quotient is the product
with the rounded inverse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tiebreak.conformance.operators.wrong_ranges import misplaced_ranges
from tiebreak.conformance.operators.wrong_terms import Wrong, mistakes_of, of_inputs, of_place, often, pairs_of
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.by_id import by_id
from tiebreak.conformance.variants.changes import matched, of_operation, operands_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, changed, operation, written
from tiebreak.conformance.variants.places import CHANNEL_NAMES
from tiebreak.golden.arithmetic.term import TOWARD_ZERO, Term, is_finite, is_nan, rounded, step, to_ends, where
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

OfOperands = Callable[[Term, Term, Term], Term]  # of value, scale and zero_point
OfNan = Callable[[NodeCall, Elementwise, Term], Term]


def rounds(change: OfOperands) -> Mutant:
    """Another number is rounded."""
    return written(lambda p: of_operation("round", lambda number: rounded(change(*operands_of(p).values()), EVEN)))


def quotient(change: Callable[[Term, Term], Term]) -> Mutant:
    return rounds(lambda x, scale, zero_point: step(step(change(x, scale)) + step(zero_point)))


def cast_to_int32(one: Term) -> Term | None:
    return to.X86_CAST(one) if one.name == "round" else None


def in_input_units(one: Term) -> Term | None:
    """Only where the zero point is a float is the quotient a product."""
    if one.name != "add" or not matched(one.args[0], "multiply"):
        return None
    (x, inverse), zero_point = matched(one.args[0], "multiply"), one.args[1]
    return step(x - zero_point) * inverse


# NaN, of finite numbers, as 0 times an infinite reciprocal gives it: what else gives it is open.


def with_nan(mutant: Mutant, of_nan: OfNan) -> Mutant:
    (change,) = mutant.changes

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        problem, term = change(call, problem, term)
        return problem, of_nan(call, problem, term)

    return Mutant((apply,))


def shows_nan(call: NodeCall, problem: Elementwise, term: Term) -> bool:
    x, scale, _ = operands_of(problem).values()
    of_numbers = is_nan(term.args[0]) & is_finite(x) & is_finite(scale)
    return bool(call.computed(problem, to_ends(where(of_numbers, 1, 0), 0, 1)).any())


def lowest_word(call: NodeCall, problem: Elementwise, term: Term) -> Term:
    """An x86 processor makes an int32 of it, whose low byte is 0; per tensor 8 bits are clamped, to the highest."""
    kind = problem.result
    assert isinstance(kind, IntegerType)
    if not shows_nan(call, problem, term):
        raise ValueError("there is nothing to mistake")
    of_byte = 0 if "axis" in call.node.attributes else kind.highest
    nan = kind.lowest if kind.bits == 32 else of_byte
    return replace(term, args=(where(is_nan(term.args[0]), nan, term.args[0]),))


def left_open(call: NodeCall, problem: Elementwise, term: Term) -> Term:
    """Nothing is predicted: see lowest_word."""
    if shows_nan(call, problem, term):
        raise ValueError("another mistake says what NaN becomes")
    return term


OWN_RECIPROCAL = quotient(lambda x, scale: x * step(1 / scale))
FUSED = rounds(lambda x, scale, zero: step(x * step(1 / scale) + step(zero)))
AFTER_QUOTIENT = rounds(lambda x, scale, zero: rounded(step(x / scale), EVEN) + zero)
AFTER_PRODUCT = rounds(lambda x, scale, zero: rounded(step(x * step(1 / scale)), EVEN) + zero)
ALL_IN_FLOAT32 = rounds(lambda x, scale, zero: step(rounded(step(x * step(1 / scale)), EVEN) + step(zero)))
STEPS = (
    *of_place(
        "sum",
        Wrong("reciprocal-plus-zero-point-fused + nan-as-processor", "quotient", with_nan(FUSED, lowest_word)),
        often("reciprocal-plus-zero-point-fused", "quotient", with_nan(FUSED, left_open)),
        often("zero-point-after:x * fl(1 / scale)", "zero-point", with_nan(AFTER_PRODUCT, left_open)),
        often("zero-point-after:x * fl(1 / scale), sum in float32", "zero-point", with_nan(ALL_IN_FLOAT32, left_open)),
        Wrong("zero-point-after:x / scale", "zero-point", AFTER_QUOTIENT),
        Wrong("casts-to-int32", "clamp", FUSED + changed(cast_to_int32)),
        Wrong("own-reciprocal + nan-as-processor", "quotient", with_nan(OWN_RECIPROCAL, lowest_word)),
        often("own-reciprocal", "quotient", with_nan(OWN_RECIPROCAL, left_open)),
        Wrong("multiplies-by-scale", "quotient", quotient(lambda x, scale: x * scale)),
        Wrong("divides-in:float16", "quotient", quotient(by.divided_in("float16"))),
        Wrong("divides-in:bfloat16", "quotient", quotient(by.divided_in("bfloat16"))),
    ),
    *of_place(
        "zero point",
        often("ignores-zero-point", "zero-point", operation("add", lambda quotient, zero: quotient)),
        often("subtracts-zero-point", "zero-point", operation("add", lambda quotient, zero: quotient - zero)),
    ),
    *of_place(
        "clamp",
        often("wraps", "clamp", by_id("wraps")),
        Wrong("wraps-above", "clamp", by_id("wraps-above")),
        Wrong("wraps-below", "clamp", by_id("wraps-below")),
        often("narrow-range", "clamp", by_id("narrow-range")),
        Wrong("highest-of-signed", "clamp", by_id("narrower-by-one-bit")),
    ),
    *of_place(
        "rounding",
        Wrong("truncates", "nearest", changed(by.rounding(by.in_mode(TOWARD_ZERO)))),
        Wrong("floor-of-half-more", "nearest", changed(by.rounding(by.floor_of_half_more))),
    ),
    *of_place("x", *of_inputs("value", "quotient")),
)
OF_FLOATS = (
    Wrong("zero-point-in-input-units", "float-zero-point", changed(in_input_units)),
    Wrong("divides-in-own-type", "inverse", by_id("number-as:value * (1 / scale),value / scale")),
    Wrong("low-word-of-int64", "clamp", by_id("number-wraps-in:round(value * (1 / scale)+zero_point),int32")),
    Wrong("rounds-zero-point", "float-zero-point", by_id("number-rounded:zero_point")),
    Wrong("zero-point-rounds:toward zero", "float-zero-point", by_id("number-truncated:zero_point")),
)
MISTAKES, PAIRS = mistakes_of(STEPS), pairs_of(STEPS)
FLOAT_POINT_MISTAKES, CHANNEL_MISTAKES = mistakes_of(OF_FLOATS), mistakes_of([*misplaced_ranges(CHANNEL_NAMES)])
