"""What can go wrong with `ocp.MXQuantize`, as changes of its terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from tiebreak.conformance.operators.wrong_blocks import (
    ENDS,
    INPUTS,
    QUOTIENT,
    ROUNDINGS,
    TIES,
    WITHOUT_SIGN,
    at_label,
    on_the_grid,
    wrong_elements,
    wrong_maxima,
)
from tiebreak.conformance.operators.wrong_terms import Wrong, as_read, mistakes_of, of_place, of_role, often, pairs_of
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import at, everywhere, of_operation, operands_of, spoken
from tiebreak.conformance.variants.mutant import Mutant, changed, written
from tiebreak.golden.arithmetic.term import (
    DOWN,
    UP,
    Numeric,
    Term,
    bits,
    clamp,
    equal,
    greatest,
    is_negative,
    lifted,
    magnitude,
    or_else,
    power_of_two,
    rounded,
    where,
    wrapped,
)
from tiebreak.golden.elements import INTEGER_TYPES, FloatType
from tiebreak.golden.operators.ocp_mx_quantize import BLOCK, LEAST, MODES, MOST, scale_exponent, upward
from tiebreak.golden.problem import Array, Elementwise
from tiebreak.golden.rounding import EVEN

EXPONENT = "exponent"  # of the scale, limited to E8M0's range
NO_EXPONENT = -500  # below it is that of zero
UINT8 = INTEGER_TYPES["uint8"]


def log_b(values: Array) -> Array:
    """floor(log2), infinite for zero and infinities."""
    ends = np.where(values == 0, -np.inf, np.inf)
    return np.where(np.isfinite(values) & (values != 0), np.frexp(values)[1] - 1.0, ends)


LOG_B, LOG2 = to.Conversion("logb", log_b), to.Conversion("log2", np.log2)
SINGLE_LOG2 = to.Conversion("log2 in float32", lambda values: np.log2(values.astype(np.float32)).astype(np.float64))
ENDLESS = of_operation("exponent", LOG_B)


def in_range(exponent: Numeric) -> Term:
    """Beyond its ends E8M0 saturates, and zero has the least scale."""
    return clamp(or_else(everywhere(lifted(exponent), ENDLESS), lifted(LEAST)), LEAST, MOST).named(EXPONENT)


def number_divided(one: Term) -> Term:
    *_, quotient = one.args
    x, scale = quotient.args
    return (x / power_of_two(in_range(scale.args[0]))).named(QUOTIENT)


def scale_put_out(one: Term) -> Term:
    exponent = one.args[0].args[0]
    return replace(one, args=(in_range(exponent) - LEAST,))


(READ,) = changed(at("OMQ-F2", number_divided), at("OMQ-F3", scale_put_out)).changes

# The scale's exponent


def of_exponent(make: Callable[[Elementwise, Term, Term], Numeric]) -> Mutant:
    """Another exponent, from amax and the right one."""

    def change(p: Elementwise, one: Term) -> Term:
        *_, amax = operands_of(p).values()
        own = one.args[0].args[0]
        return in_range(make(p, amax, own))

    return at_label(EXPONENT, change)


def quotient(p: Elementwise, amax: Term) -> Term:
    return amax / Fraction(p.constants["largest"])


def in_bfloat16(p: Elementwise, amax: Term, own: Term) -> Term:
    """As with rceil, by a quotient that may become zero."""
    return upward(to.BFLOAT16(quotient(p, amax)))


def as_mode(mode: str) -> Mutant:
    def make(p: Elementwise, amax: Term, own: Term) -> Term:
        if p.constants["to"] == "int8":
            return own
        return spoken(scale_exponent(replace(p, constants={**p.constants, "scaling_mode": mode}), amax))

    return of_exponent(make)


def by_logarithm(p: Elementwise, amax: Term, own: Term) -> Term:
    """A logarithm that is rounded to float32 before it is cut off."""

    def below(one: Term) -> Term:
        return rounded(SINGLE_LOG2(one.args[0]), DOWN)

    def above(one: Term) -> Term:
        return rounded(SINGLE_LOG2(one.args[0].args[0]), UP)

    changes = (at("OMQ-F1", below), at("OMQ-F6", below), at("OMQ-F5", above), at("OMQ-C2", above))
    return next((found for found in (everywhere(own, each) for each in changes) if found != own), own)


EXPONENTS: Mapping[str, Mutant] = {
    **{f"scaling-mode:{mode}": as_mode(mode) for mode in MODES},
    "scale-log2-in-float32": of_exponent(by_logarithm),
    "scale-to-nearest-power": of_exponent(lambda p, amax, own: rounded(LOG2(quotient(p, amax)), EVEN)),
    "scale-quotient-in:bfloat16": of_exponent(in_bfloat16),
    "scale-exponent:more": of_exponent(lambda p, amax, own: own + 1),
    "scale-exponent:less": of_exponent(lambda p, amax, own: own - 1),
    "zero-block-scale-one": of_exponent(lambda p, amax, own: where(equal(amax, 0), 0, own)),
}

# The scale's code, the quotient


def wraps(make: Callable[[Elementwise, Term, Term], Term]) -> Mutant:
    """No range ends an exponent, from amax and the right one; that of zero is 0. Its code wraps around."""

    def change(p: Elementwise, one: Term) -> Term:
        *_, amax = operands_of(p).values()
        found = everywhere(make(p, amax, one.args[0].args[0]), ENDLESS)
        found = where(found < NO_EXPONENT, 0, found)
        return found if p.output == "elements" else wrapped(found - LEAST, UINT8) + LEAST

    return at_label(EXPONENT, change)


def without_ends(p: Elementwise, amax: Term, own: Term) -> Term:
    return upward(own.args[0].args[0]) if "OMQ-C2" in own.clauses else own


def least_as(power: int) -> Mutant:
    """The least scale stands for another power in the division."""
    return at_label(EXPONENT, lambda p, one: where(one <= LEAST, power, one), only="elements")


DIVISORS: Mapping[str, Mutant] = {
    "least-scale-divides-as:2^-126": least_as(-126),
    "least-scale-divides-as:1": least_as(0),
}
SCALES: tuple[Wrong, ...] = (
    *of_place(
        "exponent divisor code",
        often("scale-exponent-wraps", "scales", wraps(without_ends)),
        often("scale-exponent-wraps:the quotient in bfloat16", "scales", wraps(in_bfloat16)),
    ),
    *of_place("divisor", *of_role("scales", DIVISORS, often=2)),
    *of_place(
        "code",
        often("least-scale-never", "scales", at_label(EXPONENT, lambda p, e: greatest(e, LEAST + 1), only="scales")),
    ),
)

# The element


def beyond_to(code: Callable[[FloatType], int | None]) -> Mutant:
    """What rounds beyond the largest element has another code with its sign, where a type has that."""

    def change(p: Elementwise, one: Term) -> Term | None:
        kind = p.result
        if one.name != "to-float" or not isinstance(kind, FloatType) or (own := code(kind)) is None:
            return None
        (number,) = one.args
        on_grid = to.Conversion(f"on the grid of {kind.name}", lambda values: on_the_grid(np.rint, values, kind))
        signed = where(is_negative(number), bits(own | 1 << kind.bits - 1), bits(own))
        return where(magnitude(on_grid(number)) > Fraction(p.constants["largest"]), signed, one)

    return written(lambda p: partial(change, p), only=("elements",))


def infinity(kind: FloatType) -> int | None:
    """The type's infinity, or NaN."""
    return kind.infinity_bits if kind.specials == "ieee" else kind.nan_bits


BEYOND: Mapping[str, Mutant] = {
    "beyond-elements:NaN": beyond_to(lambda kind: kind.nan_bits),
    "beyond-elements:infinity": beyond_to(
        lambda kind: kind.infinity_bits if kind.specials == "ieee" else kind.nan_bits
    ),
}
ELEMENTS = wrong_elements("nearest", {**TIES, **ROUNDINGS, **BEYOND, **ENDS, **WITHOUT_SIGN})
EXPONENT_STEPS = of_place("exponent", *of_role("scales", EXPONENTS, often=len(EXPONENTS)))
STEPS = (*ELEMENTS, *SCALES, *EXPONENT_STEPS, *of_role("elements", INPUTS), *wrong_maxima(BLOCK, (1, 4, 8, 16)))
MISTAKES = mistakes_of(as_read(READ, STEPS))
PAIRS = pairs_of(as_read(READ, (*EXPONENT_STEPS, *SCALES, *ELEMENTS)), later_first=True)
