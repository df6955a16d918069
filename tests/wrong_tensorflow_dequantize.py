"""Wrong and right backends for tensorflow.Dequantize."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from arithmetic_of_tensorflow import (
    LARGEST,
    F,
    Facts,
    first_range,
    flush,
    from_the_back,
    info,
    nearest,
    no_narrow,
    single,
    widen,
)

from wrong_model import Array, WrongBackend

DEQUANTIZE = "tensorflow.Dequantize"


def dequantized_with(count: int, offset: int) -> Callable[..., Array]:
    """MIN_COMBINED with `count` more values in range(T), `offset` more added to x: 0 and 0 are right."""

    def formula(x: Array, low: Array, high: Array, f: Facts) -> Array:
        return np.asarray(low + (x - f["min"] + offset).astype(F) * (high - low) / F(f["range"] + count))

    return formula


def range_scale(low: Array, high: Array, f: Facts) -> Array:
    steps = 1 << f["bits"]
    return np.asarray((high - low) * F(steps / (steps - 1)) / F(steps))


def dequantized_first(x: Array, low: Array, high: Array, f: Facts) -> Array:
    scale = range_scale(low, high, f).astype(np.float64)
    return np.asarray(low.astype(np.float64) + (x - f["min"]).astype(np.float64) * scale)


def sides(low: Array, high: Array, f: Facts) -> tuple[Array, Array]:
    """The scale above zero and below it, of which unsigned types have none."""
    above = high / F(f["max"])
    return above, low / F(f["min"] + f["narrow_range"]) if f["min"] else above


def dequantized_scaled(x: Array, low: Array, high: Array, f: Facts) -> Array:
    return np.asarray(x.astype(F) * np.maximum(*sides(low, high, f)))


def dequantizer(
    *,
    spread: Callable[[Array, Array, int], Array] = widen,
    facts: Callable[[dict[str, Any]], dict[str, Any]] = lambda f: f,
    before: Callable[[Array], Array] = lambda end: end,
    finish: Callable[[Array], Array] = lambda values: values,
    **modes: Callable[..., Array],
) -> Callable[..., tuple[Array, ...]]:
    """`before` changes the ends of the range, `finish` the float32 result."""
    formulas: dict[str, Callable[..., Array]] = {
        "MIN_COMBINED": dequantized_with(0, 0),
        "MIN_FIRST": dequantized_first,
        "SCALED": dequantized_scaled,
    } | {name.upper(): formula for name, formula in modes.items()}

    def run(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        f = facts(info(node, x.dtype))
        ranges = [np.broadcast_to(before(spread(end, x, f["axis"])), x.shape) for end in (low, high)]
        with np.errstate(all="ignore"):
            values = np.asarray(formulas[f["mode"]](x.astype(np.int64), *ranges, f)).astype(F)
            return (np.asarray(finish(values)).astype(node.outputs[0].dtype).reshape(x.shape),)

    return run


def dequantized_plain(x: Array, low: Array, high: Array, f: Facts) -> Array:
    return np.asarray(low + x.astype(F) * (high - low) / F(f["range"]))


def dequantized_factored(x: Array, low: Array, high: Array, f: Facts) -> Array:
    return np.asarray((x - f["min"]).astype(F) * ((high - low) / F(f["range"])) + low)


def by_reciprocal(x: Array, low: Array, high: Array, f: Facts) -> Array:
    """The range's width times the rounded reciprocal of range(T), and its product with x rounded again."""
    return np.asarray(low + (x - f["min"]).astype(F) * ((high - low) * (F(1) / F(f["range"]))))


def by_reciprocal_fused(x: Array, low: Array, high: Array, f: Facts) -> Array:
    """The same; the product is exact, and its sum with min_range is rounded once."""
    ratio = (high - low) * (F(1) / F(f["range"]))
    places = np.broadcast_arrays((x - f["min"]).astype(F), ratio, low)
    values = (one_sum(*numbers) for numbers in zip(*(place.reshape(-1).tolist() for place in places), strict=True))
    return np.array(list(values), F).reshape(x.shape)


def one_sum(x: float, ratio: float, low: float) -> Any:
    if not all(map(math.isfinite, (x, ratio, low))):
        return F(x * ratio + low)
    total = Fraction(x) * Fraction(ratio) + Fraction(low)
    return single(total) if total else F(x * ratio + low)


def grid_minimum(x: Array, low: Array, high: Array, f: Facts) -> Array:
    scale = (high - low) / F(f["range"])
    return np.asarray((x - f["min"] + nearest(low / scale, False)) * scale.astype(np.float64))


def first_single(x: Array, low: Array, high: Array, f: Facts) -> Array:
    return np.asarray(low + (x - f["min"]).astype(F) * range_scale(low, high, f))


def first_without_adjustment(x: Array, low: Array, high: Array, f: Facts) -> Array:
    return np.asarray(low.astype(np.float64) + (x - f["min"]) * ((high - low) / F(f["range"] + 1)).astype(np.float64))


def scaled_by_smaller(x: Array, low: Array, high: Array, f: Facts) -> Array:
    return np.asarray(x.astype(F) * np.minimum(*sides(low, high, f)))


def scaled_by_size_of_ends(x: Array, low: Array, high: Array, f: Facts) -> Array:
    return np.asarray(x.astype(F) * np.maximum(*np.abs(sides(low, high, f))))


def narrow_counts_for_unsigned(x: Array, low: Array, high: Array, f: Facts) -> Array:
    """Asks whether the lowest value is zero after it has added narrow_range."""
    lowest, above = F(f["min"] + f["narrow_range"]), high / F(f["max"])
    return np.asarray(x.astype(F) * (np.maximum(low / lowest, above) if lowest else above))


def scaled_by_width(x: Array, low: Array, high: Array, f: Facts) -> Array:
    return np.asarray(x.astype(F) * ((high - low) / F(f["range"])))


def overflowing_top(x: Array, low: Array, high: Array, f: Facts) -> Array:
    beyond = x.astype(F).astype(np.float64) > f["max"]
    return dequantized_scaled(np.where(beyond, f["min"], x), low, high, f)


def exact_dequantizer(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """In Python's fractions; float32 nodes only."""
    f = info(node, x.dtype)
    ranges = [np.broadcast_to(widen(end, x, f["axis"]), x.shape) for end in (low, high)]
    found = np.zeros(x.shape, F)
    for i in np.ndindex(*x.shape):
        least, most = (float(end[i]) for end in ranges)
        if math.isfinite(least) and math.isfinite(most):
            found[i] = single(exact_value(int(x[i]), Fraction(least), Fraction(most), f))
    return (found,)


def exact_value(x: int, low: Fraction, high: Fraction, f: Facts) -> Fraction:
    if f["mode"] != "SCALED":
        return low + (x - f["min"]) * (high - low) / f["range"]
    above = high / f["max"]
    return x * (max(above, low / (f["min"] + f["narrow_range"])) if f["min"] else above)


def largest_for_infinity(values: Array) -> Array:
    """What overflows in a step becomes the largest float, NaN zero."""
    return np.nan_to_num(values, nan=0.0, posinf=LARGEST, neginf=-LARGEST)


def cut_bits(values: Array) -> Array:
    return (np.asarray(values, F).view(np.uint32) & np.uint32(0xFFFF0000)).view(F)


def to_bfloat16(end: Array) -> Array:
    return np.asarray(end, F).astype(ml_dtypes.bfloat16).astype(F)


def d(name: str, flag: str, types: tuple[tuple[str, str], ...], **changes: Any) -> WrongBackend:
    return WrongBackend(f"tensorflow-dequantize-{name}", DEQUANTIZE, dequantizer(**changes), flag, types)


FROM_BYTES = (("int8", "float32"), ("uint8", "float32"))
FROM_INT8, FROM_INT32, FROM_UINT16 = FROM_BYTES[:1], (("int32", "float32"),), (("uint16", "float32"),)
FROM_INT16 = (("int16", "float32"),)
FROM_ALL = (*FROM_BYTES, *FROM_INT16, *FROM_UINT16, *FROM_INT32)
TO_BFLOAT16 = (("int8", "bfloat16"), ("uint8", "bfloat16"), ("uint16", "bfloat16"))

WRONG: tuple[WrongBackend, ...] = (
    d("offset-one-short", "RangeEdge", FROM_INT8, min_combined=dequantized_with(0, -1)),
    d("no-offset", "RangeEdge", FROM_INT8, min_combined=dequantized_plain),
    d("counts-values", "RangeEdge", FROM_BYTES, min_combined=dequantized_with(1, 0)),
    d("ratio-first", "ScaleNotPowerOfTwo", FROM_BYTES, min_combined=dequantized_factored),
    d("ratio-by-reciprocal", "ScaleNotPowerOfTwo", FROM_BYTES, min_combined=by_reciprocal),
    d("ratio-by-reciprocal-fused", "ScaleNotPowerOfTwo", FROM_BYTES, min_combined=by_reciprocal_fused),
    d("moves-minimum", "ScaleNotPowerOfTwo", FROM_BYTES, min_first=grid_minimum),
    d("min-first-in-float32", "ScaleNotPowerOfTwo", FROM_BYTES, min_first=first_single),
    d("no-range-adjust", "RangeEdge", FROM_BYTES + FROM_UINT16, min_first=first_without_adjustment),
    d("smaller-factor", "RangeEdge", FROM_INT8, scaled=scaled_by_smaller),
    d("factor-by-size", "ZeroOutside", FROM_INT8 + FROM_INT16, scaled=scaled_by_size_of_ends),
    d("narrow-unsigned-minimum", "NarrowRange", FROM_BYTES[1:] + FROM_UINT16, scaled=narrow_counts_for_unsigned),
    d("factor-of-width", "RangeEdge", FROM_BYTES, scaled=scaled_by_width),
    d("ignores-narrow", "NarrowRange", FROM_INT8, facts=no_narrow),
    d("first-range-for-all", "PerAxis", FROM_BYTES + FROM_UINT16, spread=first_range),
    d("axis-from-the-back", "PerAxis", FROM_BYTES + FROM_UINT16, spread=from_the_back),
    d("int32-top-overflows", "RangeEdge", FROM_INT32, scaled=overflowing_top),
    d("flushes-subnormals", "Subnormal", FROM_BYTES, finish=flush),
    d("overflow-becomes-largest", "Overflow", FROM_BYTES + FROM_UINT16, finish=largest_for_infinity),
    d("cuts-bits", "ScaleNotPowerOfTwo", TO_BFLOAT16, finish=cut_bits),
    d("ranges-in-bfloat16", "ScaleNotPowerOfTwo", TO_BFLOAT16, before=to_bfloat16),
)
RIGHT: tuple[WrongBackend, ...] = (
    WrongBackend("tensorflow-dequantize-stepwise", DEQUANTIZE, dequantizer(), "", FROM_ALL + TO_BFLOAT16),
    WrongBackend("tensorflow-dequantize-fractions", DEQUANTIZE, exact_dequantizer, "", FROM_ALL),
)
