"""The steps of round(x / scale) + zero_point, as the values of an audit's facets say them; only those that there are.

Where a facet's value has a rule in conformance/semantics, the steps follow that rule.
"""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.emulators.rounding_steps import rounded, rounded_exactly
from tiebreak.conformance.emulators.saturation_steps import TypeEnds, saturated
from tiebreak.conformance.emulators.special_steps import special_code
from tiebreak.conformance.emulators.steps import (
    NAMES,
    Computed,
    cast,
    constant,
    double,
    flushed,
    fused,
    given,
    named,
    number_of,
    step,
    where,
)
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.quantize_facets import Combination, least_normal
from tiebreak.conformance.semantics.quantize_probes import zero_points_of
from tiebreak.conformance.semantics.special_ends import SPECIALS, ZERO, SpecialEnd


def quantize_steps(arithmetic: QuantizeArithmetic, semantics: Semantics) -> Computed:
    """The code, as a float64 in the range of the output's type; NaN and infinities as the audit saw them."""
    kinds = (tensor.element for tensor in arithmetic.node.inputs)
    return code_of(arithmetic, semantics, *(given(name, kind) for name, kind in zip(NAMES, kinds, strict=True)))


def code_of(
    arithmetic: QuantizeArithmetic, semantics: Semantics, x: Computed, scale: Computed, whole_zero: Computed
) -> Computed:
    """The same of these operands."""
    c, ends = Combination._make(semantics), TypeEnds(arithmetic.quantized)
    zero_point = named("z", double(whole_zero))
    emin = least_normal(c.precision, arithmetic.node.inputs[0].dtype)
    used_x = named("flushed_x", flushed(x, emin)) if c.subnormals.of_x else x
    used_scale = scale_of(c, scale, emin)
    if c.precision.is_exact:
        added = zero_point if c.zero_point.first else None
        q = named("q", double(used_x) / double(used_scale))
        whole = rounded_exactly(double(used_x), double(used_scale), q, added, c.round_mode)
    else:
        argument = argument_of_round(c, used_x, used_scale, zero_point, ends)
        q = named("q", argument)
        whole = rounded(q, c.round_mode)
    if c.scaling.of_range:
        left: Computed | None = ends.lowest
    else:
        left = None if c.zero_point.first else zero_point
    code = saturated(c.saturation, named("whole", whole), left, ends)
    return with_specials(arithmetic, c, code, q, x, zero_point, ends)


def scale_of(c: Combination, scale: Computed, emin: int) -> Computed:
    """The scale, flushed if it counts as 0: see subnormals.with_factors."""
    if not c.subnormals.of_scale:
        return scale
    used = named("flushed_scale", flushed(scale, emin))
    if c.subnormals.keeps_factors:
        is_factor = step("equal", step("abs", double(scale)), constant(2.0 ** (emin - 1)))
        used = where(is_factor, scale, used)
    return used


def argument_of_round(c: Combination, x: Computed, scale: Computed, zero_point: Computed, ends: TypeEnds) -> Computed:
    """What is rounded, in the working precision, or in float64 if the zero point is added there."""
    kind = c.precision.type.name
    if c.scaling.of_range:
        return steps_of_range(c, x, scale, zero_point, ends)
    if c.scaling.fused:
        reciprocal = named("reciprocal", constant(1, kind) / cast(kind, scale))
        return named("q", fused(cast(kind, x), reciprocal, number_of(zero_point, kind), kind), "rounded once")
    quotient = quotient_of(c, x, scale, kind)
    if c.subnormals.of_quotient:
        quotient = named("quotient", flushed(quotient, c.precision.type.emin))
    if c.zero_point.wider:
        return double(quotient) + zero_point
    return quotient + number_of(zero_point, kind) if c.zero_point.first else quotient


def quotient_of(c: Combination, x: Computed, scale: Computed, kind: str) -> Computed:
    if c.scaling.id == "divide":
        return cast(kind, x) / cast(kind, scale)
    narrow = x.type if c.scaling.id == "narrow-reciprocal" else kind
    reciprocal = named("reciprocal", constant(1, narrow) / cast(narrow, scale))
    return cast(kind, x) * cast(kind, reciprocal)


def steps_of_range(c: Combination, x: Computed, scale: Computed, zero_point: Computed, ends: TypeEnds) -> Computed:
    """How many steps x is above what the type's lowest value stands for, as a FakeQuantize counts them."""
    kind = c.precision.type.name
    x, scale = named("working_x", cast(kind, x)), named("working_scale", cast(kind, scale))
    low = named("low", scale * number_of(ends.lowest - zero_point, kind))
    high = named("high", scale * number_of(ends.highest - zero_point, kind))
    steps = constant(float(np.asarray(ends.size - 1).astype(c.precision.dtype)), kind, "STEPS")
    width = high - low
    if c.scaling.id == "range":
        inside = (x - low) / width * steps
    else:
        factor = named("factor", steps / width)
        shift = step("negative", low) * factor
        inside = fused(x, factor, shift, kind) if c.scaling.fused else x * factor + shift
    below, above = x <= step("minimum", low, high), x > step("maximum", low, high)
    return where(below, constant(0, kind), where(above, steps, named("inside", inside)))


def with_specials(
    arithmetic: QuantizeArithmetic,
    c: Combination,
    code: Computed,
    q: Computed,
    x: Computed,
    zero_point: Computed,
    ends: TypeEnds,
) -> Computed:
    """The code, but what NaN and infinities gave where the quotient is none; as arithmetic.with_specials."""
    seen = {name: next(iter(arithmetic.seen.get(name, ())), None) for name in SPECIALS}
    nan = named("of_nan", special_code(seen["nan"] or ZERO, zero_point, ends))
    code = where(step("is_nan", q), nan, named("code", code))
    for name, sign in (("positive_infinity", np.inf), ("negative_infinity", -np.inf)):
        end = seen[name]
        if end is None or comes_by_itself(arithmetic, c, end, sign):
            continue
        infinite = step("equal", q, constant(sign, q.type))
        if arithmetic.as_infinite is False:
            infinite = infinite & ~step("is_finite", double(x))
        given_code = named(f"of_{name}", special_code(end, zero_point, ends))
        code = where(infinite, given_code, named(f"without_{name}", code))
    return named("y", code)


def comes_by_itself(arithmetic: QuantizeArithmetic, c: Combination, end: SpecialEnd, sign: float) -> bool:
    """Whether the steps for numbers give the code anyway."""
    quantized = arithmetic.quantized
    for zero_point in zero_points_of(quantized):
        added = quantized.lowest if c.scaling.of_range else 0 if c.zero_point.first else zero_point
        codes, _ = c.saturation.finish(quantized, np.array([sign]), np.array([added]))
        if int(codes[0]) != end.code(quantized.lowest, quantized.highest, zero_point):
            return False
    return True
