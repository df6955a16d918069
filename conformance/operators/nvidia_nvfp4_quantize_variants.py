"""What can go wrong with `nvidia.NVFP4Quantize`, as changes of its terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from tiebreak.conformance.operators.wrong_blocks import (
    AMAX,
    ENDS,
    INPUTS,
    QUOTIENT,
    ROUNDINGS,
    TIES,
    WITHOUT_SIGN,
    at_label,
    converted,
    wrong_elements,
    wrong_maxima,
)
from tiebreak.conformance.operators.wrong_terms import Wrong, as_read, mistakes_of, of_place, of_role, often, pairs_of
from tiebreak.conformance.semantics.type_grids import on_grid
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import Change, operands_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, at_once, posed, written
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.arithmetic.term import AWAY, Numeric, Term, lifted, or_else, step, steps_of
from tiebreak.golden.elements import SMALL_FLOAT_TYPES, FloatType
from tiebreak.golden.operators.nvidia_nvfp4_quantize import BLOCK, GLOBAL, SCALE_TYPE, SIX, WHOLE
from tiebreak.golden.problem import Array, Elementwise

PRODUCT, SCALE, UNROUNDED = "product", "scale", "scale before rounding"
E4M3, MOST, LEAST_NORMAL = SMALL_FLOAT_TYPES[SCALE_TYPE], 448.0, 2.0**-6
VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
SIXTH = step(Fraction(1, 6))


# A backend's reading: NaN, which is 0 * (1 / 0), becomes the largest element, as PTX has it.


def named(p: Elementwise) -> Change:
    def change(one: Term) -> Term | None:
        if one.name == "held":
            number, *ends = one.args[0].args
            return replace(one, args=(replace(one.args[0], args=(number.named(UNROUNDED), *ends)),)).named(SCALE)
        if one.name != "to-float":
            return None
        (number,) = one.args
        if p.output == "scales":
            return replace(one, args=(number.named(UNROUNDED),))
        return replace(one, args=(or_else(number.named(PRODUCT), lifted(SIX)).named(QUOTIENT),))

    return change


(READ,) = written(named).changes

# The tensor's factor, the scale before it is rounded, and the scaled input

Factor = Callable[[Term], Term]  # s_enc or s_dec, from global_amax
Make = Callable[[Term, Term], Numeric]  # from a number and s_enc


def encoding(whole: Term) -> Term:
    return step(WHOLE / whole)


def decoding(whole: Term) -> Term:
    """As torchao has it: s_dec first."""
    return step(whole / WHOLE)


def with_factor(label: str, make: Callable[[Elementwise, Term, Term], Numeric], factor: Factor | None = None) -> Mutant:
    """Another number, from the one with this name and the tensor's factor; a given one needs a global_amax."""

    def change(p: Elementwise, one: Term) -> Term | None:
        if GLOBAL not in p.named:
            return None if factor else step(make(p, one, lifted(1))).named(label)
        *_, whole = operands_of(p).values()
        return step(make(p, one, (factor or encoding)(whole))).named(label)

    return at_label(label, change)


def of_unrounded(make: Make, factor: Factor | None = None) -> Mutant:
    """From amax and the factor."""
    return with_factor(UNROUNDED, lambda p, one, own: make(amax_of(p), own), factor)


def of_product(make: Callable[[Term, Term, Term], Numeric], factor: Factor | None = None) -> Mutant:
    """From x, the scale and the factor."""
    return with_factor(PRODUCT, lambda p, one, own: make(operands_of(p)["x"], scale_in(one), own), factor)


def amax_of(p: Elementwise) -> Term:
    return list(operands_of(p).values())[p.named.index(AMAX)]


def scale_in(product: Term) -> Term:
    return next(one for one in steps_of(product) if one.label == SCALE)


def in_x_type(p: Elementwise, quotient: Term) -> Term:
    kind = p.kinds[0]
    assert isinstance(kind, FloatType)
    return step(step(quotient), kind)


def without_whole(call: NodeCall, problem: Elementwise) -> Elementwise:
    if GLOBAL not in problem.named:
        return problem
    return replace(problem, operands=problem.operands[:-1], kinds=problem.kinds[:-1], named=problem.named[:-1])


def over_scale(x: Term, scale: Term, encode: Term) -> Term:
    return x * step(encode / scale)


DIVIDES = at_once(
    of_unrounded(lambda amax, decode: step(amax / SIX) / decode, decoding),
    of_product(lambda x, scale, decode: over_scale(x, scale, step(1 / decode)), decoding),
)
FIRST = at_once(
    of_unrounded(lambda amax, encode: step(amax * encode) / SIX, encoding),
    of_product(lambda x, scale, encode: step(x * encode) * step(1 / scale), encoding),
)
IN_X_TYPE = at_once(
    with_factor(UNROUNDED, lambda p, one, encode: in_x_type(p, amax_of(p) / SIX) * encode),
    with_factor(PRODUCT, lambda p, one, encode: in_x_type(p, operands_of(p)["x"] / scale_in(one)) * encode),
)
UNROUNDED_DIVIDES = at_label(SCALE, lambda p, one: step(one.args[0].args[0]).named(SCALE), only="elements")
LEVELS: tuple[Wrong, ...] = (
    *of_place(
        "level",
        often("global-amax-ignored", "global", posed(without_whole)),
        often("global-scale-without-six", "global", converted(lambda whole: 6 * whole, GLOBAL)),
    ),
    *of_place("level unrounded product", often("global-scale-divides", "global", DIVIDES)),
    *of_place("unrounded product", often("global-scale-first", "global", FIRST)),
    *of_place(
        "unrounded",
        often("scale-factor-with-sixth", "global", of_unrounded(lambda amax, encode: amax * step(encode * SIXTH))),
        often("amax-times-sixth", "scales", of_unrounded(lambda amax, encode: step(amax * SIXTH) * encode)),
    ),
)
BY_DIVISION = of_product(lambda x, scale, encode: x / step(scale * step(1 / encode)))
SCALED: tuple[Wrong, ...] = (
    *of_place("product", often("divides-by-scale", "elements", BY_DIVISION)),
    *of_place("unrounded product", often("divides-in-x-type", "elements", IN_X_TYPE)),
    *of_place("product", often("global-scale-over-scale", "global-elements", of_product(over_scale))),
    *of_place("divisor", often("divides-by-unrounded-scale", "elements", UNROUNDED_DIVIDES)),
)

# The scale


def of_scale(name: str, change: to.Change) -> Mutant:
    """Another scale, from the number that is rounded to one."""
    conversion = to.Conversion(name, change)

    def make(p: Elementwise) -> Change:
        def found(one: Term) -> Term | None:
            if p.output == "scales":
                return conversion(one) if one.label == UNROUNDED else None
            return conversion(one.args[0].args[0]).named(SCALE) if one.name == "held" else None

        return found

    return written(make)


def to_e4m3(quotient: Array, whole: to.Change = np.rint) -> Array:
    return np.minimum(on_grid(quotient, E4M3, whole), MOST)


def flushed_scales(quotient: Array) -> Array:
    return to.below_to_zero(LEAST_NORMAL, to_e4m3(quotient))


def beyond_is_nan(quotient: Array) -> Array:
    found = on_grid(quotient, E4M3)
    return np.where(found > MOST, np.nan, found)


SCALE_CHANGES: Mapping[str, tuple[str, to.Change]] = {  # and their roles
    "scale-at-least:2^-6": ("put-out", lambda quotient: np.maximum(to_e4m3(quotient), 2.0**-6)),
    "scale-at-least:2^-9": ("put-out", lambda quotient: np.maximum(to_e4m3(quotient), 2.0**-9)),
    "scale-rounded:up": ("scale-nearest", lambda quotient: to_e4m3(quotient, np.ceil)),
    "scale-rounded:down": ("scale-nearest", lambda quotient: to_e4m3(quotient, np.floor)),
    "scale-ties:away from zero": ("scale-nearest", partial(to_e4m3, whole=partial(round_array, mode=AWAY))),
    "scale-ties:toward zero": (
        "scale-nearest",
        partial(to_e4m3, whole=partial(round_array, mode="ROUND_NEAREST_TOWARD_ZERO")),
    ),
    "scale-to-power-of-two-above": ("scale-nearest", lambda quotient: to_e4m3(to.to_power_of_two_above(quotient))),
    "subnormal-scales-flushed": ("put-out", flushed_scales),
    "beyond-scales:NaN": ("saturate-scale", beyond_is_nan),
    "zero-block-scale-one": ("put-out", lambda quotient: np.where(quotient == 0, 1.0, to_e4m3(quotient))),
}
SCALES = of_place("scale", *(often(id_, role, of_scale(id_, each)) for id_, (role, each) in SCALE_CHANGES.items()))
# torchao does both: where one alone explains a case, the other contradicts it elsewhere
AS_TORCHAO = Wrong("global-scale-divides:no scale below 2^-6", "global", DIVIDES + SCALES[0].mutant)

# The element


def by_distance(values: Array) -> Array:
    """The nearest of all 16 values by differences in float32, the first of those that are equally far."""
    every = np.concatenate([VALUES, -VALUES])
    return np.asarray(every[np.abs(values.astype(np.float32)[..., None] - every).argmin(axis=-1)])


BY_DISTANCE = at_label(
    PRODUCT, lambda p, one: to.Conversion("the nearest of all 16", by_distance)(one), only="elements"
)
ELEMENTS = (
    *wrong_elements("nearest", {**TIES, "element-by-distance": BY_DISTANCE, **ROUNDINGS}),
    *wrong_elements("saturate", ENDS),
    *wrong_elements("nearest", WITHOUT_SIGN),
)
STEPS = (
    *ELEMENTS,
    *SCALES,
    AS_TORCHAO,
    *LEVELS,
    *SCALED,
    *of_role("elements", INPUTS),
    *wrong_maxima(BLOCK, (1, 4, 8)),
)
MISTAKES = mistakes_of(as_read(READ, STEPS))
PAIRS = pairs_of(as_read(READ, (*SCALES, *LEVELS, *SCALED, *ELEMENTS)), later_first=True)
