"""What can go wrong with `stablehlo.uniform_quantize`, as changes of its term.

An element is x, or what a quantized operand stands for, over scale, plus zero_point, clamped, rounded and put out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tiebreak.conformance.operators import wrong_integer_terms as integers
from tiebreak.conformance.operators.tensorflow_uniform import PLACES
from tiebreak.conformance.operators.wrong_terms import Wrong, as_read, mistakes_of, of_place, often, pairs_of
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, following, matched, operands_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, at_once, changed, operation, written
from tiebreak.conformance.variants.places import Place, misplaced
from tiebreak.golden.arithmetic.term import (
    DOWN,
    TOWARD_ZERO,
    UP,
    Term,
    clamp,
    is_negative,
    rounded,
    step,
    to_integer,
    where,
    wrapped,
)
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.problem import Elementwise, array_of
from tiebreak.golden.rounding import EVEN

LANES = 4  # of a vector of 128 bits
PARAMETERS = ((1, 2), (3, 4))  # the inputs that are a scale and a zero point


# The result


def one_result(p: Elementwise) -> Change:
    """The reading: the sum is rounded, clamped as floats have the ends, and put out; what the type lacks is an end."""

    def change(one: Term) -> Term | None:
        if one.name != "where":
            return None
        shown, *_ = one.args[1].args[0].args
        summed, *ends = shown.args[0].args
        return to_integer(clamp(rounded(summed, p.mode), *ends), kind_of(p))

    return change


(READING,) = written(one_result).changes


def kind_of(p: Elementwise) -> IntegerType:
    assert isinstance(p.result, IntegerType)
    return p.result


def put_out(make: Callable[[Term, IntegerType], Term]) -> Mutant:
    """The clamped number becomes the output in another way."""

    def change(p: Elementwise) -> Change:
        kind = kind_of(p)
        return lambda one: to_integer(make(one.args[0], kind), kind) if one.name == "to-ends" else None

    return written(change)


def clamped(make: Callable[[Term, Elementwise], Term]) -> Mutant:
    """The rounded sum is clamped in another way."""

    def change(p: Elementwise) -> Change:
        return lambda one: following(one, make(one.args[0], p)) if one.name == "clamp" else None

    return written(change)


def in_signed_type(number: Term, kind: IntegerType) -> Term:
    """An unsigned type is converted to as a signed one of its bits, which saturates."""
    if kind.signed:
        raise NotImplementedError
    return wrapped(clamp(number, -(kind.highest + 1) // 2, kind.highest // 2), kind)


def half_toward_zero(number: Term) -> Term:
    below, above = rounded(step(number + by.HALF), DOWN), rounded(step(number - by.HALF), UP)
    return where(is_negative(number), below, above)


# The operand, the quotient and the sum


def of_float(conversion: Callable[[Term], Term]) -> Mutant:
    """An operand that is no quantized one is converted."""

    def change(p: Elementwise) -> Change:
        is_float = isinstance(p.kinds[0], FloatType)
        return by.of_operand("x", conversion) if is_float else lambda one: None

    return written(change)


def difference(kind: IntegerType | None = None) -> Mutant:
    """The operand less its zero point wraps in a type, or in the operand's."""
    return integers.differences(lambda number, own: wrapped(number, kind or own))


def of_scale(conversion: Callable[[Term], Term]) -> Mutant:
    return by.operands(conversion, "scale")


def flushed(*names: str) -> Mutant:
    """Subnormal operands are 0."""

    def change(p: Elementwise) -> Change:
        own = operands_of(p)
        chosen = [own[name] for name in names or own if name in own]
        flush = to.flushed_in(p.working)
        return lambda one: flush(one) if one in chosen and isinstance(p.kinds[one.constant[0]], FloatType) else None

    return written(change)


def but_factors(call: NodeCall, problem: Elementwise, term: Term) -> Output:
    """A subnormal scale that all elements share is divided by where its reciprocal is exact; others are 0."""
    codes = problem.operands[1]
    least = 2.0 ** (problem.working.emin - 1)
    if codes.size and (codes == codes[0]).all():
        scale = array_of(problem.working.name, codes.shape, codes).astype(np.float64)
        if abs(scale[0]) == least:
            return problem, term
    (flush,) = flushed("scale").changes
    return flush(call, problem, term)


def in_wider(one: Term) -> Term | None:
    """Neither the quotient, nor the zero point, nor their sum is rounded to the expressed type."""
    quotient, summed = (matched(one, name) if one.name == "step" else () for name in ("divide", "add"))
    if quotient:
        return quotient[0] / quotient[1]
    return summed[0] + summed[1].args[0] if summed else None


def zero_point_last(one: Term) -> Term | None:
    if one.name != "round":
        return None
    quotient, zero_point = one.args[0].args[0].args
    return rounded(quotient, one.constant) + zero_point.args[0]


def by_ratio(*, fused: bool) -> Mutant:
    """One factor and one sum in float32, computed beforehand from both types."""

    def change(p: Elementwise) -> Change:
        if len(p.kinds) < 5:
            raise NotImplementedError
        x, scale, zero_point, own_scale, own_point = operands_of(p).values()
        ratio = step(own_scale / scale)
        shift = step(step(zero_point) - step(step(own_point) * ratio))
        product = step(x) * ratio if fused else step(step(x) * ratio)
        found = clamp(rounded(step(product + shift), EVEN), p.constants["least"], p.constants["greatest"])
        return lambda one: to_integer(found, kind_of(p)) if one.name == "to-ends" else None

    return written(change)


# Subnormal scales that count as 0, and a quotient that is NaN


def with_flushed_scales(call: NodeCall, problem: Elementwise, term: Term) -> Output:
    """The reading of a backend that gets 0 for subnormal floats; it needs a subnormal scale."""
    scales = (array.astype(np.float64) for array in call.inputs[1::2])
    if not any(((one != 0) & (np.abs(one) < 2.0**problem.working.emin)).any() for one in scales):
        raise ValueError("there is nothing to mistake")
    (flush,) = flushed().changes
    return flush(call, *READING(call, problem, term))


def saturated_to_signed(number: Term, kind: IntegerType) -> Term:
    half = (kind.highest - kind.lowest + 1) // 2
    return wrapped(clamp(to.X86_CAST(number), -half, half - 1), kind)


def low_bits(number: Term, kind: IntegerType) -> Term:
    return wrapped(to.X86_CAST(number), kind)


def in_vectors(number: Term, kind: IntegerType) -> Term:
    """In whole vectors; behind them the low bits of an int32."""
    return where(to.in_whole_vectors(LANES, number), saturated_to_signed(number, kind), low_bits(number, kind))


WRAPPED_CAST = put_out(low_bits)
AS_SIGNED = integers.read_as(True, "x")
UNCLAMPED = clamped(lambda number, p: number)
STEPS = (
    Wrong("flushes-inputs", "quotient", flushed("x")),
    Wrong("flushes-inputs-and-scales", "quotient", flushed("x") + flushed("scale")),
    Wrong("flushes-inputs-and-scales-but-factors", "quotient", at_once(flushed("x"), Mutant((but_factors,)))),
    often("zero-point-last", "zero-point", changed(zero_point_last)),
    *of_place(
        "out",
        often("highest-of-signed", "range", put_out(in_signed_type)),
        often("casts-to-int32-and-wraps", "range", WRAPPED_CAST),
    ),
    *of_place(
        "divide",
        often("reciprocal-of-scale", "quotient", operation("divide", lambda x, scale: x * step(1 / scale))),
        Wrong("divides-exactly", "quotient", changed(in_wider)),
        Wrong("multiplies-by-scale", "quotient", operation("divide", lambda x, scale: x * scale)),
    ),
    *of_place(
        "whole",
        often("sum-rounded:half away from zero", "round", changed(by.rounding(by.trunc_of_signed_half_more))),
        often("sum-rounded:half up", "round", changed(by.rounding(by.floor_of_half_more))),
        Wrong("sum-rounded:half toward zero", "round", changed(by.rounding(half_toward_zero))),
        often("sum-rounded:toward zero", "round", changed(by.rounding(by.in_mode(TOWARD_ZERO)))),
        Wrong("sum-rounded:down", "round", changed(by.rounding(by.in_mode(DOWN)))),
        Wrong("sum-rounded:up", "round", changed(by.rounding(by.in_mode(UP)))),
    ),
    *of_place(
        "zero",
        often("ignores-zero-point", "zero-point", integers.taken_as(0, "zero_point")),
        often("subtracts-zero-point", "zero-point", integers.negated("zero_point")),
    ),
    *of_place("out clamp", often("wraps", "range", UNCLAMPED + put_out(wrapped))),
    Wrong("ignores:storage_min and storage_max", "narrow", UNCLAMPED),
    Wrong(
        "narrow-range",
        "narrow",
        clamped(lambda number, p: clamp(number, p.constants["least"] + 1, p.constants["greatest"])),
    ),
    Wrong("x-in:bfloat16", "quotient", of_float(to.BFLOAT16)),
    Wrong("x-in:float16", "quotient", of_float(to.FLOAT16)),
    Wrong("scale-in:bfloat16", "quotient", of_scale(to.BFLOAT16)),
    Wrong("scale-in:float16", "quotient", of_scale(to.FLOAT16)),
    Wrong("scale-to-power-of-two-below", "quotient", of_scale(to.POWER_BELOW)),
    often("input-as-signed", "operand", AS_SIGNED),
    *of_place(
        "difference",
        often("difference-wraps-in:int32", "operand", difference(integers.WORD)),
        Wrong("difference-wraps", "operand", difference()),
    ),
)
RATIOS = (
    Wrong("ratio-and-shift-in-float32", "operand", by_ratio(fused=False)),
    Wrong("ratio-and-shift-in-float32:fused", "operand", by_ratio(fused=True)),
)
READ_AS_SIGNED = tuple(
    replace(one, id=f"input-as-signed{JOINT}{one.id}", mutant=one.mutant + AS_SIGNED) for one in RATIOS
)
FLUSHED = f"flushes-scales{JOINT}"
IN_VECTORS = "in whole vectors of 4, and of which the low bits are taken behind them"
OF_FLUSHED = (
    Wrong(f"{FLUSHED}saturates-int32-to-signed:{IN_VECTORS}", "range", put_out(in_vectors)),
    Wrong(f"{FLUSHED}saturates-int32-to-signed", "range", put_out(saturated_to_signed)),
    Wrong(f"{FLUSHED}casts-to-int32-and-wraps", "range", WRAPPED_CAST),
    Wrong(f"{FLUSHED}ratio-and-shift-in-float32:fused", "operand", by_ratio(fused=True) + WRAPPED_CAST),
)


def of_places() -> Iterator[Wrong]:
    for id_, scale, zero_point in PLACES:
        places: dict[int, Place] = {}
        for pair in PARAMETERS:
            places |= dict(zip(pair, (scale, zero_point), strict=True))
        yield Wrong(id_, "projection", misplaced(places, only="result"))


READ = as_read(READING, STEPS)
MISTAKES = (
    *mistakes_of([*of_places(), *as_read(READING, (*RATIOS, *READ_AS_SIGNED)), *READ]),
    *mistakes_of(as_read(with_flushed_scales, OF_FLUSHED)),
)
PAIRS = pairs_of(READ)
