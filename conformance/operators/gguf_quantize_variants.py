"""What can go wrong with `gguf.Quantize`, as changes of its terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tiebreak.conformance.operators.wrong_blocks import (
    AMAX_IN,
    INPUTS,
    PLUS,
    at_label,
    first_greatest,
    measured,
    plus_zero,
    wrong_measures,
)
from tiebreak.conformance.operators.wrong_terms import Wrong, as_read, mistakes_of, of_place, of_role, often, pairs_of
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, everywhere, matched, operands_of
from tiebreak.conformance.variants.mutant import Mutant, with_constants, written
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    Numeric,
    Term,
    clamp,
    equal,
    held,
    least,
    lifted,
    magnitude,
    step,
    steps_of,
    to_integer,
    where,
    whole,
    wrapped,
)
from tiebreak.golden.elements import FLOAT_TYPES, IntegerType
from tiebreak.golden.operators.gguf_quantize import BLOCK
from tiebreak.golden.problem import Array, Elementwise
from tiebreak.golden.rounding import EVEN

SCALE, FACTOR, PRODUCT, ELEMENT = "d", "1 / d", "product", "element"
FLOAT16, LEAST_NORMAL, MOST = FLOAT_TYPES["float16"], 2.0**-14, 65504


# A backend's reading: NaN and infinities become the lowest integer, as x86's vectors have it; 4 bits wrap around.

CAST = to.Conversion("no number to -128", lambda values: np.where(np.isfinite(values), values, -128.0))


def named(p: Elementwise) -> Change:
    def change(one: Term) -> Term | None:
        if one.name in ("step", "held") and {"GGQ-F1", "GGQ-F2"} & {*one.args[0].clauses}:
            return step(one.args[0]).named(SCALE)
        if "GGQ-F4" in one.clauses:
            return one.named(FACTOR)
        if one.name == "step" and matched(one, "multiply"):
            return one.named(PRODUCT)
        if one.name not in ("whole", "to-ends"):
            return None
        assert isinstance(p.result, IntegerType)
        (own,) = one.args
        if one.name == "whole":
            return to_integer(CAST(own.named(ELEMENT)), p.result)
        return whole(wrapped(least(own, p.result.highest).named(ELEMENT), p.result))

    return change


(READ,) = written(named).changes


def is_nibble(p: Elementwise) -> bool:
    return p.result.bits == 4


# The scale


def of_scale(make: Callable[[Term, int], Numeric]) -> Mutant:
    """From the number of greatest magnitude and the divisor."""

    def change(p: Elementwise, one: Term) -> Term:
        *_, top = operands_of(p).values()
        return step(make(top, p.constants["divisor"])).named(SCALE)

    return at_label(SCALE, change)


def times_reciprocal(top: Term, divisor: int) -> Term:
    return magnitude(top) * step(lifted(1) / divisor) if divisor > 0 else top / divisor


def divided_by(byte: int, nibble: int) -> Mutant:
    return with_constants(lambda own: {**own, "divisor": byte if own["divisor"] > 0 else nibble})


def put_out(conversion: Callable[[Term], Term]) -> Mutant:
    return at_label(SCALE, lambda p, one: conversion(one), only="scales")


def flushed(values: Array) -> Array:
    return plus_zero(to.below_to_zero(LEAST_NORMAL, to.in_float16(values)))


CUT_OFF = to.Conversion("cut to float16", lambda values: to.cut_off(values, np.float16).astype(np.float64))
SCALES: tuple[Wrong, ...] = (
    *of_place("scale", often("step-without-sign", "scale-4", of_scale(lambda top, own: magnitude(top) / abs(own)))),
    *of_place("divisor", often("step-divisor:128, of Q4_0 by -7", "scale-8", divided_by(128, -7))),
    Wrong("step-times-reciprocal", "scale-8", of_scale(times_reciprocal)),
    Wrong("scale-rounded:toward zero", "scale-nearest", put_out(CUT_OFF)),
    Wrong("subnormal-scales-flushed", "scale-nearest", put_out(to.Conversion("flushed float16 of it", flushed))),
    Wrong("beyond-scales:65504", "scale-nearest", put_out(lambda d: clamp(d, -MOST, MOST))),
    Wrong("scale-in:bfloat16", "scale-nearest", put_out(to.BFLOAT16)),
)

# The product


def or_zero(scale: Term, number: Term) -> Term:
    return where(equal(scale, 0), 0, step(number))


def over_top(p: Elementwise, one: Term) -> Term:
    """127 / amax, as ggml's vectorized quantize_row_q8_0 has it."""
    *_, top = operands_of(p).values()
    divisor = p.constants["divisor"]
    return or_zero(top, divisor / (magnitude(top) if divisor > 0 else top))


def of_stored(p: Elementwise, one: Term) -> Term:
    return everywhere(one, lambda part: held(part, FLOAT16) if part.label == SCALE else None)


def quotient(p: Elementwise, one: Term) -> Term:
    x, factor = matched(one, "multiply")
    scale = factor.args[0].args[0]
    return or_zero(scale, x / scale).named(PRODUCT)


PRODUCTS: tuple[Wrong, ...] = (
    *of_place(
        "factor",
        often("factor-over-amax", "elements", at_label(FACTOR, over_top)),
        often("reciprocal-of-stored-scale", "put-out", at_label(FACTOR, of_stored)),
    ),
    *of_place("product", often("divides-by-scale", "elements", at_label(PRODUCT, quotient))),
)

# The element


def of_element(make: Callable[[Term], Term]) -> Mutant:
    """A whole number, from the product."""

    def change(p: Elementwise, one: Term) -> Term:
        found = make(product_in(one))
        return (least(step(found + 8), 15) if is_nibble(p) else found).named(ELEMENT)

    return at_label(ELEMENT, change)


def product_in(one: Term) -> Term:
    return next(part for part in steps_of(one) if part.label == PRODUCT)


def rounds(mode: str) -> Mutant:
    return of_element(by.in_mode(mode))


WRAPS = at_label(ELEMENT, lambda p, one: one.args[0] if is_nibble(p) else None)
ELEMENTS: tuple[Wrong, ...] = of_place(
    "element",
    often("element-ties:to even", "nearest", rounds(EVEN)),
    often("element-ties:away from zero", "cut-off", rounds(AWAY)),
    often("element-ties:toward zero", "nearest", rounds("ROUND_NEAREST_TOWARD_ZERO")),
    often("elements-cut-off", "nearest", rounds(TOWARD_ZERO)),
    often("elements-rounded:down", "nearest", rounds(DOWN)),
    Wrong("floor-of-half-more", "nearest", of_element(by.floor_of_half_more)),
    Wrong("beyond-elements:0", "saturate", WRAPS),
)
PARTS = {"the first 16": slice(16), "the last 16": slice(16, None)}
MEASURED: Mapping[str, Mutant] = {**wrong_measures(BLOCK, PARTS, first_greatest), **AMAX_IN}
STEPS = (
    *(*ELEMENTS, *PRODUCTS, *SCALES),
    *of_role("elements", {id_: mutant for id_, mutant in INPUTS.items() if PLUS not in id_}),
    Wrong("last-of-equals", "first", measured(lambda blocks: first_greatest(blocks[..., ::-1]), BLOCK)),
    *of_role("block", MEASURED),
)
MISTAKES = mistakes_of(as_read(READ, STEPS))
PAIRS = pairs_of(as_read(READ, (*PRODUCTS, *SCALES, *ELEMENTS)), later_first=True)
