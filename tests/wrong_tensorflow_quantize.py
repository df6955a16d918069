"""Wrong and right backends for tensorflow.QuantizeV2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from arithmetic_of_tensorflow import LARGEST, F, Facts, first_range, flush, from_the_back, nearest, no_narrow
from right_tensorflow_quantize import (
    Round,
    bounds,
    combined,
    combined_with,
    ends_used,
    first,
    first_by_factor,
    offset_of,
    quantizer,
    range_scale,
    saturate,
    scale_factor,
    scaled,
    scaled_by_factor,
    sides,
    whole_numbers,
)

from wrong_model import Array, WrongBackend

QUANTIZE = "tensorflow.QuantizeV2"
INT8 = (("float32", "int8"),)
UINT8 = (("float32", "uint8"),)
BYTES = INT8 + UINT8
SHORTS = (("float32", "int16"), ("float32", "uint16"))
INT32 = (("float32", "int32"),)
ALL = BYTES + SHORTS + INT32

Around = Callable[[Array, Array, Facts], tuple[Array, Array, Array]]  # scale_factor and the range used


def saturate_to_type(values: Array, f: Facts) -> Array:
    """Without a thought to narrow_range, whose lowest int32 is no float32."""
    return saturate(values, {**f, "narrow_range": False})


def zero_for_infinity(values: Array, f: Facts) -> Array:
    """As some conversions of an infinity to an integer give it."""
    return saturate(np.where(np.isfinite(values), values, 0), f)


def wrap(values: Array, f: Facts) -> Array:
    wide = np.clip(np.nan_to_num(values), -(2.0**62), 2.0**62).astype(np.int64)
    return ((wide - f["min"]) % (f["range"] + 1) + f["min"]).astype(f["dtype"])


def add_half(values: Array, even: bool) -> Array:
    single = np.asarray(values, np.float32)
    return nearest(single, True) if even else np.trunc(single + np.copysign(F(0.5), single)).astype(np.float64)


def without_clip(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    return round_((x - low) * F(f["range"]) / (high - low) - offset_of(f), False)


def factored(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    step = F(f["range"]) / (high - low)
    return round_((np.minimum(np.maximum(x, low), high) - low) * step - offset_of(f), False)


def first_unadjusted(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    scale = F(f["range"] + 1) / (high - low)
    return round_(x * scale, False) - round_(low * scale, False) + f["min"]


def first_rounded_once(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    return round_((x - low) * range_scale(low, high, f), False) + f["min"]


def first_floors_minimum(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    scale = range_scale(low, high, f)
    return round_(x * scale, False) - np.floor((low * scale).astype(np.float64)) + f["min"]


def first_without_lowest(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    return first(x, low, high, f, round_) - f["min"]


def first_in_floats(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    scale = range_scale(low, high, f)
    return (round_(x * scale, False).astype(F) - round_(low * scale, False).astype(F) + F(f["min"])).astype(np.float64)


def scaled_around(around: Around) -> dict[str, Any]:
    """SCALED with another factor and range, in all three outputs."""

    def formula(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
        factor, least, most = around(low, high, f)
        return round_(np.minimum(most, np.maximum(least, x)) * factor, f["round_mode"] == "HALF_TO_EVEN")

    def ends(low: Array, high: Array, f: Facts) -> tuple[Array, Array]:
        return around(low, high, f)[1:] if f["mode"] == "SCALED" else (low, high)

    return {"scaled": formula, "ends": ends}


def scaled_from(choose: Callable[[Array, Array], Array]) -> dict[str, Any]:
    """With another choice between the two sides."""

    def around(low: Array, high: Array, f: Facts) -> tuple[Array, Array, Array]:
        factor = choose(*sides(low, high, f))
        return factor, F(f["min"] + f["narrow_range"]) / factor, F(f["max"]) / factor

    return scaled_around(around)


def by_size(low: Array, high: Array, f: Facts) -> tuple[Array, Array, Array]:
    """In doubles; the ends of the range are compared without their signs."""
    least, most = float(f["min"] + f["narrow_range"]), float(f["max"])
    wide = [np.abs(end).astype(np.float64) for end in (low, high)]
    factor = np.minimum(abs(least) / wide[0], most / wide[1])
    return factor, least / factor, most / factor


def scaled_unclipped(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    return round_(x * scale_factor(low, high, f), f["round_mode"] == "HALF_TO_EVEN")


def scaled_by_division(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    least, most = bounds(low, high, f)
    step = F(1) / scale_factor(low, high, f)
    return round_(np.minimum(most, np.maximum(least, x)) / step, f["round_mode"] == "HALF_TO_EVEN")


def narrow_clamp_only(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    return np.maximum(scaled(x, low, high, {**f, "narrow_range": False}, round_), f["min"] + f["narrow_range"])


def x86_cast(values: Array, f: Facts) -> Array:
    """2^31 and more become the lowest value."""
    return saturate(np.where(values > f["max"], f["min"], values), f)


def symmetric_ends(low: Array, high: Array, f: Facts) -> tuple[Array, Array]:
    least, most = ends_used(low, high, f)
    return (-most, most) if f["mode"] == "SCALED" and f["min"] else (least, most)


def relative_least(x: Array, low: Array, high: Array, f: Facts) -> tuple[Array, Array, Array]:
    least = F(f["ensure_minimum_range"]) * np.maximum(F(1), np.maximum(np.abs(low), np.abs(high)))
    return x, low, np.maximum(high, low + least)


def flush_all(x: Array, low: Array, high: Array, f: Facts) -> tuple[Array, Array, Array]:
    return flush(x), flush(low), flush(high)


def q(name: str, flag: str, types: tuple[tuple[str, str], ...], **changes: Any) -> WrongBackend:
    return WrongBackend(f"tensorflow-quantize-{name}", QUANTIZE, quantizer(**changes), flag, types)


WRONG: tuple[WrongBackend, ...] = (
    q("truncates", "Tie", ALL, round_=lambda v, even: np.trunc(np.asarray(v, np.float64))),
    q("floors", "Tie", ALL, round_=lambda v, even: np.floor(np.asarray(v, np.float64))),
    q("always-even", "Tie", BYTES + SHORTS, round_=lambda v, even: nearest(v, True)),
    q("never-even", "Tie", BYTES + SHORTS, round_=lambda v, even: nearest(v, False)),
    q("ties-up", "Tie", INT8, round_=lambda v, even: nearest(v, True) if even else np.floor(np.float64(v) + 0.5)),
    q("adds-half-in-float32", "AddHalf", BYTES + SHORTS, round_=add_half),
    q("counts-values", "RangeEdge", BYTES, min_combined=combined_with(1, 0)),
    q("offset-one-short", "RangeEdge", INT8, min_combined=combined_with(0, -1)),
    q("offset-for-unsigned", "Tie", UINT8, min_combined=lambda *a: combined(*a) - 128),
    q("ratio-first", "Subnormal", BYTES, min_combined=factored),
    q("min-combined-unclipped", "Saturates", BYTES, min_combined=without_clip, store=wrap),
    q("no-range-adjust", "ScaleNotPowerOfTwo", BYTES + SHORTS, min_first=first_unadjusted),
    q("rounds-once", "NearTie", BYTES + SHORTS, min_first=first_rounded_once),
    q("floors-minimum", "NearTie", BYTES, min_first=first_floors_minimum),
    q("forgets-lowest", "Tie", INT8, min_first=first_without_lowest),
    q("min-first-wraps", "Saturates", BYTES + SHORTS, store=wrap),
    q("sums-in-floats", "NearTie", INT32, min_first=first_in_floats),
    q(
        "larger-factor",
        "OneSide",
        INT8,
        **scaled_from(
            lambda low, high: np.where(np.maximum(low, high) == LARGEST, np.minimum(low, high), np.maximum(low, high))
        ),
    ),
    q("max-side-alone", "OneSide", INT8, **scaled_from(lambda low, high: high)),
    q("min-side-alone", "OneSide", INT8, **scaled_from(lambda low, high: low)),
    q("factors-by-size", "ZeroOutside", INT8 + SHORTS[:1] + INT32, **scaled_around(by_size)),
    q("narrow-int32-lowest", "NarrowRange", INT32, store=saturate_to_type),
    q("scaled-unclipped", "Saturates", BYTES + SHORTS, scaled=scaled_unclipped, store=wrap),
    q("divides-by-step", "NearTie", SHORTS, scaled=scaled_by_division),
    q("ignores-narrow", "NarrowRange", INT8, facts=no_narrow),
    q("narrow-clamps-only", "NarrowRange", INT8, scaled=narrow_clamp_only),
    q("first-range-for-all", "PerAxis", ALL, spread=first_range),
    q("axis-from-the-back", "PerAxis", ALL, spread=from_the_back),
    q("returns-given-range", "AdjustedRange", BYTES, ends=lambda low, high, f: (low, high)),
    q("symmetric-outputs", "AdjustedRange", INT8, ends=symmetric_ends),
    q("int32-top-overflows", "RangeEdge", INT32, store=x86_cast),
    q("overflow-becomes-zero", "Overflow", BYTES + SHORTS[1:], store=zero_for_infinity),
    q("small-range-overflows", "Subnormal", INT8 + SHORTS + INT32, min_first=first_by_factor, scaled=scaled_by_factor),
    q("relative-least-range", "EnsuredRange", ALL, before=relative_least),
    q("flushes-subnormals", "Subnormal", BYTES, before=flush_all),
)
RIGHT: tuple[WrongBackend, ...] = (
    WrongBackend("tensorflow-quantize-stepwise", QUANTIZE, quantizer(), "", ALL),
    WrongBackend("tensorflow-quantize-fractions", QUANTIZE, whole_numbers, "", ALL),
)
