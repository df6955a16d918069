"""The steps of DynamicQuantizeLinear: of each output by its own table, whose formulas are traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.conformance.emulators.quantize_steps import code_of
from tiebreak.conformance.emulators.rounding_steps import rounded
from tiebreak.conformance.emulators.special_steps import first_seen
from tiebreak.conformance.emulators.steps import (
    NAMES,
    SINGLE,
    Computed,
    constant,
    given,
    named,
    step,
    where,
    with_names,
)
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.dynamic_result import ResultOfRange, ScalingOfRange
from tiebreak.conformance.semantics.dynamic_scale import OF_ZEROS, ScaleArithmetic, ScaleCombination
from tiebreak.conformance.semantics.dynamic_zero_point import PointArithmetic, PointCombination
from tiebreak.conformance.semantics.model import Semantics

ENDS = ("one_end", "other_end")
RANGE = ("low", "high", "y_scale")
OPERANDS = (*NAMES, "width")
FAR = 2.0**52  # beyond it every float64 is whole


def scale_steps(arithmetic: ScaleArithmetic, semantics: Semantics) -> Computed:
    """y_scale, a float32, of the least and the greatest number in any order; of two zeros what the audit saw."""
    one, other = (Traced(given(name, SINGLE)) for name in ENDS)
    low, high = np.minimum(one, other), np.maximum(one, other)  # type: ignore[call-overload]
    found: Any = arithmetic.scale(low, high, ScaleCombination._make(semantics))
    scale = found.of
    if of_zeros := first_seen(arithmetic.seen).get(OF_ZEROS.name):
        value = float(np.array([of_zeros.code]).astype(np.uint32).view(np.float32)[0])
        zeros = step("equal", low.of, constant(0, SINGLE)) & step("equal", high.of, constant(0, SINGLE))
        scale = where(zeros, constant(value, SINGLE), named("scale", scale))
    return with_names(named("found", scale))


def point_steps(arithmetic: PointArithmetic, semantics: Semantics) -> Computed:
    """y_zero_point, as a float64, of x's least and greatest number and its scale."""
    one = PointCombination._make(semantics)
    zero = one.precision.dtype.type(0)
    low, high, scale = (Traced(given(name, SINGLE)).astype(one.precision.dtype) for name in RANGE)
    quotient: Any = one.source.of(np.minimum(low, zero), np.maximum(high, zero), scale)  # type: ignore[call-overload]
    whole = step("clamp", rounded(named("q", quotient.of), one.round_mode), constant(-FAR), constant(FAR))
    ended: Any = one.saturation.of(Traced(named("whole", whole)))
    return with_names(named("found", ended.of))


def result_steps(arithmetic: ResultOfRange, semantics: Semantics) -> Computed:
    """y, as a float64, of x, y_scale, y_zero_point and the range's width, 0 included."""
    at_settings = arithmetic.inner
    kinds = [tensor.element for tensor in at_settings.node.inputs]
    x, scale, zero_point, width = (given(name, kind) for name, kind in zip(OPERANDS, kinds, strict=True))
    way = semantics[arithmetic.place]
    if isinstance(way, ScalingOfRange):
        quotient: Any = way.of(Traced(x), Traced(width))  # type: ignore[arg-type]
        x, scale = named("steps", quotient.of), constant(1, SINGLE)
    whole = at_settings.whole(arithmetic.divided(semantics))
    return with_names(code_of(at_settings.inner, whole, x, scale, zero_point))  # type: ignore[arg-type]
