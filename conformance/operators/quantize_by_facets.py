"""Mistakes of a quantizer that are values of facets which its document does not have: the audit's arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.semantics.precisions import OF_TYPE, Precision
from tiebreak.conformance.semantics.quantize_facets import AFTER, Order, UpToRounding
from tiebreak.conformance.semantics.quantize_saturation import SATURATE, Saturation
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE, Scaling, Unscaled
from tiebreak.conformance.semantics.round_modes import MODES, RoundMode
from tiebreak.conformance.semantics.subnormals import KEPT, Subnormals
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.problem import Array

FAR = 2**62


def by_facets(
    *,
    precision: Precision | None = None,
    scaling: Scaling = DIVIDE,
    subnormals: Subnormals = KEPT,
    zero_point: Order = AFTER,
    round_mode: RoundMode | None = None,
    saturation: Saturation = SATURATE,
) -> Callable[[QuantizationOperands], Array]:
    """The codes (int64) of a quantizer with these values; without a precision it is the input's type.

    Where operands have another mistake in place of the quotient or the clamp, it takes the place of the document's.
    """

    def predict(o: QuantizationOperands) -> Array:
        working, quantized = precision or OF_TYPE[o.x.dtype.name], integer_type(o.lowest, o.highest)
        divides = quotient_of(o, zero_point) if o.divide and scaling is DIVIDE and precision is None else scaling
        facets = UpToRounding(working, divides, subnormals, zero_point)
        added, left = facets.before_and_after(o.zero_point, quantized)
        argument = facets.argument(o.x, o.scale, added, quantized)
        whole = (round_mode or MODES[o.mode]).round(argument, working)
        if saturation.clamps_first:  # what is no number becomes 0 there
            whole = o.clamp(whole).astype(np.float64) if o.saturate else np.where(np.isnan(whole), 0.0, whole)
        if o.saturate and not saturation.wraps:
            return o.clamp(saturation.sums(quantized, whole, held(left)))
        return saturation.finish(quantized, whole, held(left))[0]

    return predict


def held(zero_point: Array) -> Array:
    """As int64; one that overflowed in a small type stays far beyond every range."""
    return zero_point if zero_point.dtype == np.int64 else np.clip(zero_point, -FAR, FAR).astype(np.int64)


def quotient_of(o: QuantizationOperands, order: Order) -> Scaling:
    """A mistake in place of the division. Its quotient is rounded to the working precision only if it is added to."""

    def argument(unscaled: Unscaled) -> Array:
        quotient = o.quotient()
        return unscaled.plus_added(unscaled.step(quotient)) if order.first else quotient

    return Scaling("other", "another quotient", argument)


def by_scaling(
    *, precision: Precision | None = None, scaling: Scaling = DIVIDE, subnormals: Subnormals = KEPT
) -> Callable[[Array, Array], Array]:
    """A quotient (float64) of x and scale with these values, as quantize_pairs.py has it beside another mistake."""

    def divide(x: Array, scale: Array) -> Array:
        facets = UpToRounding(precision or OF_TYPE[x.dtype.name], scaling, subnormals, AFTER)
        return facets.argument(x, scale, np.zeros((), np.int64), integer_type(0, 1))

    return divide


def saturated_as(saturation: Saturation) -> Callable[[QuantizationOperands, Array], Array]:
    """What becomes of a sum (float64) that is made already, as quantize_pairs.py has it beside another mistake."""

    def finish(o: QuantizationOperands, total: Array) -> Array:
        whole = np.ascontiguousarray(total, np.float64)
        return saturation.finish(integer_type(o.lowest, o.highest), whole, np.zeros((), np.int64))[0]

    return finish


@lru_cache(maxsize=64)
def integer_type(lowest: int, highest: int) -> IntegerType:
    """The type with these ends."""
    return IntegerType(f"from {lowest} to {highest}", (highest - lowest).bit_length(), lowest < 0)
