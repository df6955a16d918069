"""Wrong and right backends for tensorflow.QuantizeV2."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

QUANTIZE = "tensorflow.QuantizeV2"
F = np.float32
LARGEST = np.finfo(np.float32).max
INT8 = (("float32", "int8"),)
UINT8 = (("float32", "uint8"),)
BYTES = INT8 + UINT8
SHORTS = (("float32", "int16"), ("float32", "uint16"))
INT32 = (("float32", "int32"),)
ALL = BYTES + SHORTS + INT32

Round = Callable[[Array, bool], Array]
Facts = Mapping[str, Any]


def info(node: Any, dtype: Any) -> dict[str, Any]:
    """The attributes with their defaults, and the ends of the quantized type."""
    ends = np.iinfo(dtype)
    defaults = {"mode": "MIN_COMBINED", "round_mode": "HALF_AWAY_FROM_ZERO", "narrow_range": False, "axis": -1}
    facts = defaults | {"ensure_minimum_range": 0.01} | dict(node.attributes)
    count = int(ends.max) - int(ends.min)
    return facts | {"min": int(ends.min), "max": int(ends.max), "range": count, "bits": ends.bits, "dtype": dtype}


def widen(end: Array, x: Array, axis: int) -> Array:
    return end if axis < 0 else end.reshape([-1 if place == axis else 1 for place in range(x.ndim)])


def nearest(values: Array, even: bool) -> Array:
    exact = np.asarray(values, np.float64)
    if even:
        return np.rint(exact)
    whole, part = np.divmod(np.abs(exact), 1.0)
    return np.where(np.isinf(exact), exact, np.copysign(whole + (part >= 0.5), exact))


def saturate(values: Array, f: Facts) -> Array:
    lowest = f["min"] + (f["narrow_range"] and f["mode"] == "SCALED")
    return np.minimum(np.maximum(np.nan_to_num(values), lowest), f["max"]).astype(f["dtype"])


def saturate_to_type(values: Array, f: Facts) -> Array:
    """Without a thought to narrow_range, whose lowest int32 is no float32."""
    return saturate(values, {**f, "narrow_range": False})


def zero_for_infinity(values: Array, f: Facts) -> Array:
    """As some conversions of an infinity to an integer give it."""
    return saturate(np.where(np.isfinite(values), values, 0), f)


def wrap(values: Array, f: Facts) -> Array:
    wide = np.clip(np.nan_to_num(values), -(2.0**62), 2.0**62).astype(np.int64)
    return ((wide - f["min"]) % (f["range"] + 1) + f["min"]).astype(f["dtype"])


def combined(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    clipped = np.minimum(np.maximum(x, low), high)
    offset = F((f["range"] + 1) / 2 if f["min"] else 0)
    return round_((clipped - low) * F(f["range"]) / (high - low) - offset, False)


def range_scale(low: Array, high: Array, f: Facts) -> Array:
    steps = 1 << f["bits"]
    return np.asarray(F(steps) / ((high - low) * F(steps / (steps - 1))))


def first(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    scale = range_scale(low, high, f)
    return round_(np.clip(x, low, high) * scale, False) - round_(low * scale, False) + f["min"]


def sides(low: Array, high: Array, f: Facts) -> tuple[Array, Array]:
    least, most = F(f["min"] + f["narrow_range"]), F(f["max"])
    return np.where(least * low > 0, least / low, LARGEST), np.where(most * high > 0, most / high, LARGEST)


def scale_factor(low: Array, high: Array, f: Facts) -> Array:
    return np.minimum(*sides(low, high, f))


def bounds(low: Array, high: Array, f: Facts) -> tuple[Array, Array]:
    factor = scale_factor(low, high, f)
    return F(f["min"] + f["narrow_range"]) / factor, F(f["max"]) / factor


def scaled(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    least, most = bounds(low, high, f)
    clipped = np.minimum(most, np.maximum(least, x))
    return round_(clipped * scale_factor(low, high, f), f["round_mode"] == "HALF_TO_EVEN")


def ends_used(low: Array, high: Array, f: Facts) -> tuple[Array, Array]:
    return bounds(low, high, f) if f["mode"] == "SCALED" else (low, high)


def quantizer(
    *,
    round_: Round = nearest,
    store: Callable[[Array, Facts], Array] = saturate,
    ends: Callable[[Array, Array, Facts], tuple[Array, Array]] = ends_used,
    spread: Callable[[Array, Array, int], Array] = widen,
    facts: Callable[[dict[str, Any]], dict[str, Any]] = lambda f: f,
    before: Callable[[Array, Array, Array, Facts], tuple[Array, Array, Array]] = lambda x, low, high, f: (x, low, high),
    **modes: Callable[..., Array],
) -> Callable[..., tuple[Array, ...]]:
    formulas = {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled} | {
        k.upper(): v for k, v in modes.items()
    }

    def run(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        f = facts(info(node, node.outputs[0].dtype))
        with np.errstate(all="ignore"):
            used = ends(*before(low, low, high, f)[1:], f)
            ranges = [np.broadcast_to(spread(end, x, f["axis"]), x.shape) for end in (low, high)]
            found = store(formulas[f["mode"]](*before(x, *ranges, f), f, round_), f)
        return np.asarray(found), *(np.asarray(end, np.float32).reshape(low.shape) for end in used)

    return run


def add_half(values: Array, even: bool) -> Array:
    single = np.asarray(values, np.float32)
    return nearest(single, True) if even else np.trunc(single + np.copysign(F(0.5), single)).astype(np.float64)


def without_clip(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    offset = F((f["range"] + 1) / 2 if f["min"] else 0)
    return round_((x - low) * F(f["range"]) / (high - low) - offset, False)


def combined_with(count: int, offset: int) -> Callable[..., Array]:
    """`count` more values in range(T), `offset` more subtracted from int8."""

    def formula(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
        clipped = np.minimum(np.maximum(x, low), high)
        middle = F((f["range"] + 1) / 2 + offset if f["min"] else 0)
        return round_((clipped - low) * F(f["range"] + count) / (high - low) - middle, False)

    return formula


def factored(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    step = F(f["range"]) / (high - low)
    offset = F((f["range"] + 1) / 2 if f["min"] else 0)
    return round_((np.minimum(np.maximum(x, low), high) - low) * step - offset, False)


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


def scaled_from(choose: Callable[[Array, Array], Array]) -> dict[str, Any]:
    """With another choice between the two sides, in all three outputs."""

    def around(low: Array, high: Array, f: Facts) -> tuple[Array, Array, Array]:
        factor = choose(*sides(low, high, f))
        return factor, F(f["min"] + f["narrow_range"]) / factor, F(f["max"]) / factor

    def formula(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
        factor, least, most = around(low, high, f)
        return round_(np.minimum(most, np.maximum(least, x)) * factor, f["round_mode"] == "HALF_TO_EVEN")

    def ends(low: Array, high: Array, f: Facts) -> tuple[Array, Array]:
        return around(low, high, f)[1:] if f["mode"] == "SCALED" else (low, high)

    return {"scaled": formula, "ends": ends}


def by_size(x: Array, low: Array, high: Array, f: Facts) -> tuple[Array, Array, Array]:
    """scale_factor and the range used, in doubles; the ends of the range are compared without their signs."""
    least, most = float(f["min"] + f["narrow_range"]), float(f["max"])
    wide = [np.abs(end).astype(np.float64) for end in (low, high)]
    factor = np.minimum(abs(least) / wide[0], most / wide[1])
    return factor, least / factor, most / factor


def scaled_by_size(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    factor, least, most = by_size(x, low, high, f)
    return round_(np.minimum(most, np.maximum(least, x)) * factor, f["round_mode"] == "HALF_TO_EVEN")


def ends_by_size(low: Array, high: Array, f: Facts) -> tuple[Array, Array]:
    return by_size(low, low, high, f)[1:] if f["mode"] == "SCALED" else (low, high)


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


def first_range(end: Array, x: Array, axis: int) -> Array:
    return end.reshape(-1)[0] if end.size else widen(end, x, axis)


def from_the_back(end: Array, x: Array, axis: int) -> Array:
    other = x.ndim - 1 - axis
    fits = axis >= 0 and x.shape[other] == end.size
    return widen(end, x, other if fits else axis)


def relative_least(x: Array, low: Array, high: Array, f: Facts) -> tuple[Array, Array, Array]:
    least = F(f["ensure_minimum_range"]) * np.maximum(F(1), np.maximum(np.abs(low), np.abs(high)))
    return x, low, np.maximum(high, low + least)


def flush(values: Array) -> Array:
    return np.where(np.abs(values) < np.finfo(F).tiny, np.zeros_like(values), values)


def flush_all(x: Array, low: Array, high: Array, f: Facts) -> tuple[Array, Array, Array]:
    return flush(x), flush(low), flush(high)


# Right ones, by other ways.


def whole_numbers(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """In Python's fractions, element by element; what TensorFlow's document leaves open comes out as zero."""
    f = info(node, node.outputs[0].dtype)
    ranges = [np.broadcast_to(widen(end, x, f["axis"]), x.shape) for end in (low, high)]
    output = np.zeros(x.shape, f["dtype"])
    for i in np.ndindex(*x.shape):
        output[i] = exact_element(float(x[i]), float(ranges[0][i]), float(ranges[1][i]), f)
    ends = [np.zeros(low.shape, F) for _ in range(2)]
    for i in np.ndindex(*low.shape):
        for end, value in zip(ends, exact_ends(float(low[i]), float(high[i]), f), strict=True):
            end[i] = value
    return output, *ends


def exact_factor(low: Fraction, high: Fraction, f: Facts) -> Fraction:
    pairs = ((Fraction(f["min"] + f["narrow_range"]), low), (Fraction(f["max"]), high))
    return min(bound / end if bound * end > 0 else Fraction(float(LARGEST)) for bound, end in pairs)


def exact_ends(low: float, high: float, f: Facts) -> tuple[np.float32, np.float32]:
    if f["mode"] != "SCALED" or not (math.isfinite(low) and math.isfinite(high)):
        return F(low), F(high)
    factor = exact_factor(Fraction(low), Fraction(high), f)
    least, most = (single(Fraction(bound) / factor) for bound in (f["min"] + f["narrow_range"], f["max"]))
    return least, most


def single(value: Fraction) -> np.float32:
    """The nearest float32: through a double rounded to odd."""
    near = float(value)
    if math.isfinite(near) and Fraction(near) != value:
        toward = math.nextafter(near, math.inf if Fraction(near) < value else -math.inf)
        near = max((near, toward), key=lambda v: int(np.float64(v).view(np.uint64)) & 1)
    with np.errstate(over="ignore", under="ignore"):
        return F(near)


def exact_element(x: float, low: float, high: float, f: Facts) -> int:
    if not all(map(math.isfinite, (x, low, high))) or high < low:
        return 0
    value, least, most = map(Fraction, (x, low, high))
    if f["mode"] == "SCALED":
        found = nearest_integer(value * exact_factor(least, most, f), f["round_mode"] == "HALF_TO_EVEN")
        return min(max(found, f["min"] + f["narrow_range"]), f["max"])
    if low == high:
        return 0
    step = f["range"] / (most - least)
    if f["mode"] == "MIN_FIRST":
        found = nearest_integer(value * step, False) - nearest_integer(least * step, False) + f["min"]
    else:
        middle = Fraction(f["range"] + 1, 2) if f["min"] else Fraction(0)
        found = nearest_integer((min(max(value, least), most) - least) * step - middle, False)
    return min(max(found, f["min"]), f["max"])


def nearest_integer(value: Fraction, even: bool) -> int:
    if even:
        return round(value)
    size = math.floor(abs(value) + Fraction(1, 2))
    return size if value > 0 else -size


def no_narrow(f: dict[str, Any]) -> dict[str, Any]:
    return f | {"narrow_range": False}


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
    q("ratio-first", "Reciprocal", BYTES, min_combined=factored),
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
    q("factors-by-size", "ZeroOutside", INT8 + SHORTS[:1] + INT32, scaled=scaled_by_size, ends=ends_by_size),
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
    q("relative-least-range", "EnsuredRange", ALL, before=relative_least),
    q("flushes-subnormals", "Subnormal", BYTES, before=flush_all),
)
RIGHT: tuple[WrongBackend, ...] = (
    WrongBackend("tensorflow-quantize-stepwise", QUANTIZE, quantizer(), "", ALL),
    WrongBackend("tensorflow-quantize-fractions", QUANTIZE, whole_numbers, "", ALL),
)
