"""The steps of blocks that share a power of two: their scale, and elements given it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast as typed

import numpy as np

from tiebreak.conformance.emulators.cast_steps import cast_steps
from tiebreak.conformance.emulators.quantize_steps import code_of
from tiebreak.conformance.emulators.special_steps import first_seen
from tiebreak.conformance.emulators.steps import (
    SINGLE,
    Computed,
    cast,
    constant,
    double,
    given,
    modulus,
    named,
    step,
    where,
    with_names,
)
from tiebreak.conformance.semantics.block_element_specials import SpecialElements
from tiebreak.conformance.semantics.block_quantize import UNIT
from tiebreak.conformance.semantics.block_scale import AskedRule, BlockScale, ElementRange
from tiebreak.conformance.semantics.block_specials import BELOW_LEAST, BIAS, NAN, OF_ZEROS, TOP
from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.golden.errors import Unsupported

ZERO, ONE = constant(0), constant(1)


def exponent(value: Computed) -> Computed:
    return step("exponent", step("power_of_two", value))


def significand(value: Computed) -> Computed:
    """From 1 on, below 2."""
    return value / step("power_of_two", value)


def one_if(condition: Computed) -> Computed:
    return where(condition, ONE, ZERO)


def upward(value: Computed) -> Computed:
    return exponent(value) + one_if(significand(value) > ONE)


def from_significand(amax: Computed, kind: ElementRange, least: float) -> Computed:
    """One more from this significand on."""
    return exponent(amax) + one_if(significand(amax) >= constant(least)) - constant(kind.emax)


def rceil(amax: Computed, kind: ElementRange) -> Computed:
    return upward(named("ratio", double(cast(SINGLE, amax) / constant(kind.largest, SINGLE))))


def nearest_logarithm(amax: Computed, kind: ElementRange) -> Computed:
    square = significand(amax) * significand(amax)
    return exponent(amax) + one_if(square >= constant(2)) - constant(kind.emax)


RULES: Mapping[str, Callable[[Computed, ElementRange], Computed]] = {  # as block_scale's rules of these names
    "floor": lambda amax, kind: exponent(amax) - constant(kind.emax),
    "ceil": lambda amax, kind: upward(amax) - constant(kind.emax),
    "even": lambda amax, kind: from_significand(amax, kind, 2 - 2.0**-kind.precision),
    "rceil": rceil,
    "nearest": lambda amax, kind: from_significand(amax, kind, 1.5),
    "nearest-logarithm": nearest_logarithm,
    "floor-of-ratio": lambda amax, kind: exponent(named("ratio", amax / constant(kind.largest))),
}


def block_scale_steps(arithmetic: BlockScale, semantics: Semantics) -> Computed:
    """The scale, a power of two, as a float64. Raises Unsupported for a logarithm in float32."""
    rule = typed(AskedRule, semantics[0]).id
    if rule not in RULES:
        raise Unsupported("a logarithm in float32, which languages round differently")
    amax = named("magnitude", double(given("amax", arithmetic.node.input_type)))
    code = named("code", RULES[rule](amax, arithmetic.kind) + constant(BIAS))
    seen = first_seen(arithmetic.seen)
    if below := seen.get(BELOW_LEAST.name):
        wraps = below.id == "wraps"
        code = where(code < ZERO, modulus(code, 256.0) if wraps else constant(below.code(0)), code)
    if zeros := seen.get(OF_ZEROS.name):
        code = where(step("equal", amax, ZERO), constant(zeros.code(0)), named("code_of_number", code))
    code = named("found", code)
    power = step("two_to", step("clamp", code, ZERO, constant(TOP)) - constant(BIAS))
    return with_names(named("scale", where(code >= constant(NAN), constant(np.nan), power)))


def element_steps(arithmetic: SpecialElements, semantics: Semantics) -> Computed:
    """An element, as a float64, of x over its block's scale."""
    whole, inner = arithmetic.whole(semantics), arithmetic.inner
    if isinstance(inner, CastArithmetic):
        return with_names(cast_steps(inner, whole))
    assert isinstance(inner, QuantizeArithmetic)
    x = given("x", inner.node.input_type)
    return with_names(code_of(inner, whole, x, constant(UNIT, SINGLE), constant(0)))
