"""Usual mistakes of quantization as arithmetic: each predicts all results of a case from its operands.

They only explain deviations; no verdict depends on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.operand_mistakes import (
    BFLOAT16,
    OF_ZERO_POINTS,
)
from tiebreak.conformance.operators.quantize_by_facets import by_facets, by_scaling
from tiebreak.conformance.operators.quantize_prediction import Predict
from tiebreak.conformance.operators.quantize_quotients import GUARDED, QUOTIENTS, Quotient, in_own_type
from tiebreak.conformance.operators.quantize_ranges import (
    all_above_zero,
    half_of_steps,
    of_clipped_range,
    of_range,
    symmetric_range,
)
from tiebreak.conformance.operators.quantize_roundings import (
    ONE_SIGN,
    cut_to_8_fraction_bits,
    halves_first,
    less_than_half_added,
    magic_number,
    magic_number_above_zero,
    magic_number_bits,
    negatives_down,
    sixteenths_first,
    to_nearest,
    to_odd,
)
from tiebreak.conformance.operators.quantize_saturations import (
    OF_FACETS,
    SATURATED,
    negative_quotient_to_zero,
    saturated_first,
    saturated_to_int8,
    saturated_to_int16_and_wraps,
    with_sum,
)
from tiebreak.conformance.operators.quantize_zero_points import (
    of_type,
    read_as_signed,
    read_as_unsigned,
    with_zero_point,
)
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.facet_causes import keys_of_values
from tiebreak.conformance.semantics.places import flush_subnormals, fused_multiply_add
from tiebreak.conformance.semantics.precisions import BFLOAT16 as IN_BFLOAT16
from tiebreak.conformance.semantics.precisions import FLOAT16, FLOAT32, FLOAT64
from tiebreak.conformance.semantics.quantize_facets import BEFORE, WIDER
from tiebreak.conformance.semantics.quantize_saturation import (
    CLAMP_FIRST,
    CLAMP_FIRST_WRAP,
    INT32,
    INT32_WIDER,
    SINGLE,
    SUM_INT32_WRAP,
    SUM_INT64_WRAP,
)
from tiebreak.conformance.semantics.quantize_scaling import FUSED, NARROW, RECIPROCAL
from tiebreak.conformance.semantics.round_modes import AWAY, FLOOR, TRUNCATE
from tiebreak.conformance.semantics.subnormals import ALL, FACTORS, INPUTS, OPERANDS, SCALES
from tiebreak.conformance.semantics.subnormals import QUOTIENTS as FLUSHED_QUOTIENTS
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.problem import Array


def own_quotient(o: QuantizationOperands) -> Array:
    return o.quotient().astype(o.x.dtype)


def subtract_half_ceil(o: QuantizationOperands) -> Array:
    half = o.x.dtype.type(0.5)
    return o.clamp(np.ceil((own_quotient(o) - half).astype(np.float64)) + o.zero_point)


def zero_point_first_at_once(o: QuantizationOperands) -> Array:
    """The zero point is added in the input's type, which may not hold it: the exact sum is rounded."""
    return o.clamp(round_array(in_own_type(o.quotient() + o.zero_point, o.x), o.mode))


def zero_point_first_wide(o: QuantizationOperands) -> Array | None:
    """The zero point is added in a wider type: for small integers it makes no difference which."""
    small = is_narrower(o.x.dtype) and o.highest - o.lowest < 1 << 16
    return by_facets(zero_point=BEFORE, precision=FLOAT64)(o) if small else None


def sum_in(dtype: object) -> Predict:
    def predict(o: QuantizationOperands) -> Array:
        kind = np.dtype(dtype or o.x.dtype)  # type: ignore[call-overload]
        total = round_array(o.quotient(), o.mode).astype(kind) + o.zero_point.astype(kind)
        return o.clamp(total.astype(kind).astype(np.float64))

    return predict


def sum_at_once_in(dtype: object) -> Predict:
    """As sum_in, with a zero point that the type may not hold: the exact sum is rounded."""

    def predict(o: QuantizationOperands) -> Array:
        total = round_array(o.quotient(), o.mode) + o.zero_point
        return o.clamp(total.astype(np.dtype(dtype or o.x.dtype)).astype(np.float64))  # type: ignore[call-overload]

    return predict


def reciprocal_and_zero_point_at_once(o: QuantizationOperands) -> Array:
    """x times the rounded reciprocal plus a zero point that the input's type may not hold: the exact sum is rounded."""
    product = by_scaling(scaling=RECIPROCAL)(o.x, o.scale)
    return o.clamp(round_array(in_own_type(product + o.zero_point, o.x), o.mode))


LESS_THAN_HALF = np.float32(0.4999999)


def fused_and_cut_off(o: QuantizationOperands) -> Array | None:
    """As tinygrad quantizes to uint8: x / scale + 0.4999999 + zero point, made int32, in float32.

    Its compiler multiplies by the rounded reciprocal, adds both numbers at once in a fused step, and lets what int32
    does not hold be its least number, as x86 does.
    """
    if o.x.dtype != np.float32 or o.lowest:
        return None
    total = fused_multiply_add(
        o.x, np.float32(1) / o.scale, o.zero_point.astype(np.float32) + LESS_THAN_HALF, o.x.dtype
    )
    return o.clamp(np.where(np.abs(total) < 2.0**31, np.trunc(total.astype(np.float64)), -(2.0**31)))


def with_own_zero_point(predict: Predict) -> Predict:
    """The zero point is first rounded to the input's type."""
    return lambda o: predict(replace(o, zero_point=in_own_type(o.zero_point, o.x)))


def with_nan_to_highest(predict: Predict, product: Quotient) -> Predict:
    """A product that is NaN, such as 0 * infinity, becomes the highest value, as min(NaN, highest) is on x86."""

    def run(o: QuantizationOperands) -> Array | None:
        found = predict(o)
        return None if found is None else np.where(np.isnan(product(o.x, o.scale)), o.highest, found)

    return run


def of_types(applies: Callable[[np.dtype[Any]], bool], predict: Predict) -> Predict:
    """Only for some types of the input."""
    return lambda o: predict(o) if applies(o.x.dtype) else None


def is_float16(dtype: np.dtype[Any]) -> bool:
    return dtype == np.float16


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    return bool(dtype == BFLOAT16)


def is_no_float64(dtype: np.dtype[Any]) -> bool:
    """Whether the product of two numbers is exact in float64, so that a fused step can be predicted."""
    return dtype != np.float64


def is_narrower(dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize < np.dtype(np.float32).itemsize


def own_reciprocal_of_flushed(o: QuantizationOperands) -> Array:
    """A multiplication that reads subnormal operands as zero, of x and the rounded reciprocal."""
    emin, kind = FLOAT_TYPES[o.x.dtype.name].emin, o.x.dtype
    x, inverse = (flush_subnormals(a.astype(kind), emin) for a in (o.x, kind.type(1) / o.scale))
    return o.finish(np.asarray(x * inverse, np.float64))


def wide_product_of_flushed(o: QuantizationOperands) -> Array:
    """XLA multiplies a bfloat16 so in float32, and rounds the product to the input's type."""
    emin, single = FLOAT_TYPES["float32"].emin, np.dtype(np.float32)
    x, scale = (flush_subnormals(a.astype(single), emin) for a in (o.x, o.scale))
    product = flush_subnormals(x * flush_subnormals(single.type(1) / scale, emin), emin)
    return np.asarray(product.astype(o.x.dtype), np.float64)


def wide_reciprocal_of_flushed(o: QuantizationOperands) -> Array:
    return o.finish(wide_product_of_flushed(o))


def wide_reciprocal_of_flushed_and_own_sum(o: QuantizationOperands) -> Array:
    """The same with the zero point added in the input's type, as JAX's users write it."""
    kind = o.x.dtype
    total = round_array(wide_product_of_flushed(o), o.mode).astype(kind) + o.zero_point.astype(kind)
    return o.clamp(total.astype(np.float64))


def sum_and_clamp_in_own_type(o: QuantizationOperands) -> Array:
    """The highest value, rounded to the input's type, may be too high; the cast to int32 then overflows as on x86."""
    kind = o.x.dtype.type
    total = round_array(o.quotient(), o.mode).astype(kind) + o.zero_point.astype(kind)
    clamped = np.clip(np.nan_to_num(total), kind(o.lowest), kind(o.highest)).astype(np.float64)
    return np.where(clamped > o.highest, o.lowest, o.clamp(clamped))


def result_in_float32(o: QuantizationOperands) -> Array:
    total = round_array(o.quotient(), o.mode) + o.zero_point
    return o.clamp(total.astype(np.float32).astype(np.float64))


def without_zero_point(o: QuantizationOperands) -> Array:
    return o.clamp(round_array(o.quotient(), o.mode))


def subtracted_zero_point(o: QuantizationOperands) -> Array:
    return o.clamp(round_array(o.quotient(), o.mode) - o.zero_point)


def with_flushed_inputs(predict: Predict) -> Predict:
    return lambda o: predict(replace(o, x=flush_subnormals(o.x, FLOAT_TYPES[o.x.dtype.name].emin)))


def multiplied_by_scale(o: QuantizationOperands) -> Array:
    return o.finish(np.asarray(o.x * o.scale, np.float64))


def finished(divide: Quotient) -> Predict:
    return lambda o: o.finish(divide(o.x, o.scale))


def by_multiplier(bits: int) -> Predict:
    """x times a whole multiplier of so many bits, and one shift that rounds ties up."""

    def predict(o: QuantizationOperands) -> Array:
        fraction, exponent = np.frexp(1 / o.scale.astype(np.float64))
        product = o.x.astype(np.float64) * np.rint(fraction * 2.0**bits)
        return o.clamp(np.floor(np.ldexp(product, exponent - bits) + 0.5) + o.zero_point)

    return predict


def by_doubled_multiplier(o: QuantizationOperands) -> Array:
    """A multiplier of 31 bits: the doubled high half of the product, rounded, then a shift that rounds ties away."""
    fraction, exponent = np.frexp(1 / o.scale.astype(np.float64))
    product = o.x.astype(np.float64) * np.rint(fraction * 2.0**31)
    high = np.trunc((product + np.where(product >= 0, 2.0**30, 1 - 2.0**30)) / 2.0**31)
    return o.clamp(round_array(np.ldexp(high, exponent), "ROUND_NEAREST_TOWARD_INFINITY") + o.zero_point)


def zero_point_in_input(o: QuantizationOperands) -> Array:
    """(x + zero point * scale) / scale, each step in the input's type."""
    product = in_own_type(o.zero_point * o.scale.astype(np.float64), o.x)
    total = in_own_type(o.x.astype(np.float64) + product, o.x)
    return o.clamp(round_array(in_own_type(total / o.scale.astype(np.float64), o.x), o.mode))


def affine_in(dtype: object) -> Predict:
    """x / scale + zero point in a type of few bits, then rounded."""

    def predict(o: QuantizationOperands) -> Array:
        kind = np.dtype(dtype)  # type: ignore[call-overload]
        quotient = (o.x.astype(kind) / o.scale.astype(kind)).astype(np.float64)
        total = (quotient + o.zero_point).astype(kind).astype(np.float64)
        return o.clamp(round_array(total, o.mode))

    return predict


def facet_mistake(role: str, id_: str = "", *, ties: str = "", **values: Any) -> tuple[Cause, Predict]:
    """Values of facets that are not the document's, as by_facets takes them; without an `id_` they make the cause's."""
    key = id_ or JOINT.join(keys_of_values(values, of_quantizer=True))
    return Cause(key, role, ties=ties), by_facets(**values)


def of_some_types(applies: Callable[[np.dtype[Any]], bool], mistake: tuple[Cause, Predict]) -> tuple[Cause, Predict]:
    return mistake[0], of_types(applies, mistake[1])


FUSED_FIRST = by_facets(scaling=FUSED, zero_point=BEFORE)
OWN_IN_FLOAT32 = by_facets(scaling=NARROW, precision=FLOAT32)

# Of two that explain equally much the earlier one is named. So each stands before those that it is a special case of.
HYPOTHESES: tuple[tuple[Cause, Predict], ...] = (
    facet_mistake("quotient", subnormals=INPUTS),
    facet_mistake("quotient", subnormals=SCALES),
    facet_mistake("quotient", subnormals=OPERANDS),
    facet_mistake("quotient", subnormals=FACTORS),
    facet_mistake("quotient", subnormals=FLUSHED_QUOTIENTS),
    facet_mistake("quotient", subnormals=ALL),
    facet_mistake("quotient", precision=FLOAT32),
    facet_mistake("quotient", precision=IN_BFLOAT16),
    facet_mistake("quotient", precision=FLOAT16),
    facet_mistake("quotient", "divides-in-float64", precision=FLOAT64),
    facet_mistake("quotient", scaling=RECIPROCAL),
    facet_mistake("quotient", scaling=RECIPROCAL, precision=FLOAT32),
    facet_mistake("quotient", scaling=RECIPROCAL, precision=FLOAT64),
    (Cause("own-reciprocal + flushes-inputs-and-reciprocals", "quotient"), own_reciprocal_of_flushed),
    (
        Cause("reciprocal:float32 + flushes-inputs-and-reciprocals", "quotient"),
        of_types(is_bfloat16, wide_reciprocal_of_flushed),
    ),
    (
        Cause("reciprocal:float32 + flushes-inputs-and-reciprocals + sum-in-own-type", "quotient"),
        of_types(is_bfloat16, wide_reciprocal_of_flushed_and_own_sum),
    ),
    of_some_types(is_float16, facet_mistake("quotient", scaling=NARROW, precision=FLOAT32)),
    (
        Cause("own-reciprocal + in:float32 + nan-to-highest", "quotient"),
        of_types(is_float16, with_nan_to_highest(OWN_IN_FLOAT32, by_scaling(scaling=NARROW, precision=FLOAT32))),
    ),
    *((Cause(key, "quotient"), finished(divide)) for key, divide in QUOTIENTS),
    (Cause("range-formula", "quotient"), of_range(None)),
    (Cause("range-formula:x clipped first", "quotient"), of_clipped_range),
    (Cause("range-formula-in:float32", "quotient"), of_range(np.float32)),
    facet_mistake("round-first", zero_point=BEFORE),
    (Cause("zero-point-first-in-own-type:rounded once", "round-first"), zero_point_first_at_once),
    (Cause("zero-point-first-in-wider-type", "round-first"), zero_point_first_wide),
    facet_mistake("round-first", zero_point=WIDER),
    facet_mistake("round-first", zero_point=BEFORE, precision=FLOAT64),
    *(
        (Cause(f"reciprocal-plus-zero-point-fused{form}", "round-first"), of_types(is_no_float64, predict))
        for form, predict in (
            ("", FUSED_FIRST),
            (":zero point in x's type", with_own_zero_point(FUSED_FIRST)),
            (":NaN to the highest", with_nan_to_highest(FUSED_FIRST, by_scaling(scaling=RECIPROCAL))),
        )
    ),
    (Cause("reciprocal-plus-zero-point-and-less-than-half-fused", "round-first"), fused_and_cut_off),
    (Cause("reciprocal-plus-zero-point:rounded once", "round-first"), reciprocal_and_zero_point_at_once),
    facet_mistake("round-first", "reciprocal-plus-zero-point", scaling=RECIPROCAL, zero_point=BEFORE),
    of_some_types(
        is_narrower,
        facet_mistake(
            "round-first",
            "reciprocal-plus-zero-point + in:float32",
            scaling=RECIPROCAL,
            zero_point=BEFORE,
            precision=FLOAT32,
        ),
    ),
    facet_mistake("mode", ties="ROUND_NEAREST_UPWARD", round_mode=FLOOR),
    facet_mistake("mode", ties="ROUND_NEAREST_TOWARD_INFINITY", round_mode=AWAY),
    (Cause("ceil-of-half-less", "mode", ties="ROUND_NEAREST_DOWNWARD"), subtract_half_ceil),
    (Cause("ties-odd", "mode"), to_nearest(to_odd)),
    (Cause("halves-first", "mode"), to_nearest(halves_first)),
    (Cause("magic-number", "mode"), to_nearest(magic_number)),
    (Cause("magic-number-bits", "mode"), to_nearest(magic_number_bits)),
    (Cause("sixteenths-first", "mode"), to_nearest(sixteenths_first)),
    (Cause("cut-to-fraction-bits:8", "mode"), to_nearest(cut_to_8_fraction_bits)),
    (Cause("magic-number-above-zero", "mode"), to_nearest(magic_number_above_zero)),
    (Cause("negatives-down", "mode"), to_nearest(negatives_down)),
    (Cause("less-than-half-added", "mode"), to_nearest(less_than_half_added)),
    facet_mistake("mode", round_mode=TRUNCATE),
    (Cause("ignores-zero-point", "add"), without_zero_point),
    (Cause("zero-point-as-signed", "add"), with_zero_point(read_as_signed)),
    (Cause("zero-point-as-unsigned", "add"), with_zero_point(read_as_unsigned)),
    (Cause("saturates-to-int16", "range"), saturated_first(16)),
    facet_mistake("add", saturation=CLAMP_FIRST),
    facet_mistake("add", saturation=CLAMP_FIRST_WRAP),
    facet_mistake("range", saturation=INT32),
    facet_mistake("range", saturation=INT32_WIDER),
    facet_mistake("range", "divides-in:float32 + casts-to-int32", saturation=INT32, precision=FLOAT32),
    (Cause("saturates-to-int32", "range"), saturated_first(32)),
    *((Cause(key, "range"), OF_FACETS.get(key) or with_sum(finish)) for key, finish in SATURATED),
    facet_mistake("range", saturation=SUM_INT64_WRAP),
    facet_mistake("range", saturation=SUM_INT32_WRAP),
    (Cause("saturates-to-int16-and-wraps", "range"), saturated_to_int16_and_wraps),
    (Cause("saturates-to-int8", "range"), saturated_to_int8),
    (Cause("negative-quotient-to-zero", "add"), negative_quotient_to_zero),
    *((Cause(key, "add"), with_zero_point(of_type(change))) for key, change in OF_ZERO_POINTS),
    (Cause("zero-point-in-input", "round-first"), zero_point_in_input),
    (Cause("zero-point-first-all-in:float16", "round-first"), affine_in(np.float16)),
    (Cause("zero-point-first-all-in:bfloat16", "round-first"), affine_in(BFLOAT16)),
    (Cause("multiplier-of-bits:31", "quotient"), by_multiplier(31)),
    (Cause("multiplier-of-bits:15", "quotient"), by_multiplier(15)),
    (Cause("multiplier-of-31-bits-doubled", "quotient"), by_doubled_multiplier),
    facet_mistake("add", saturation=SINGLE),
    (Cause("sum-in-own-type", "add"), sum_in(None)),
    (Cause("sum-in-own-type:rounded once", "add"), sum_at_once_in(None)),
    (Cause("sum-in:float16", "add"), sum_in(np.float16)),
    (Cause("sum-in:float16, rounded once", "add"), sum_at_once_in(np.float16)),
    (Cause("sum-and-clamp-in-own-type", "add"), sum_and_clamp_in_own_type),
    (Cause("result-in:float32", "add"), result_in_float32),
    (Cause("subtracts-zero-point", "add"), subtracted_zero_point),
    (Cause("zero-point-twice", "add"), with_zero_point(lambda o: 2 * o.zero_point)),
    (Cause("multiplies-by-scale", "quotient"), multiplied_by_scale),
    # For int8 127/128 of the right factor, and 127.5/128.
    (Cause("symmetric-range", "quotient"), symmetric_range(all_above_zero)),
    (Cause("symmetric-steps", "quotient"), symmetric_range(half_of_steps)),
    (Cause("symmetric-steps + flushes-inputs", "quotient"), with_flushed_inputs(symmetric_range(half_of_steps))),
    *((Cause(key, "mode", of_some_numbers=True), predict) for key, predict in ONE_SIGN),
    *((Cause(key, "quotient"), finished(divide)) for key, divide in GUARDED),
)
