"""QuantizeV2 as documented: in float32 steps, each of which a wrong one may replace, and in Python's fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from arithmetic_of_tensorflow import LARGEST, F, Facts, info, nearest, single, widen

from wrong_model import Array

Round = Callable[[Array, bool], Array]


def saturate(values: Array, f: Facts) -> Array:
    lowest = f["min"] + (f["narrow_range"] and f["mode"] == "SCALED")
    return np.minimum(np.maximum(np.nan_to_num(values), lowest), f["max"]).astype(f["dtype"])


def offset_of(f: Facts) -> np.float32:
    """What MIN_COMBINED subtracts."""
    return F((f["range"] + 1) / 2 if f["min"] else 0)


def combined_with(count: int, offset: int) -> Callable[..., Array]:
    """`count` more values in range(T), `offset` more subtracted from int8: 0 and 0 are right."""

    def formula(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
        clipped = np.minimum(np.maximum(x, low), high)
        middle = offset_of(f) + F(offset if f["min"] else 0)
        return round_((clipped - low) * F(f["range"] + count) / (high - low) - middle, False)

    return formula


combined = combined_with(0, 0)


def range_scale(low: Array, high: Array, f: Facts) -> Array:
    steps = 1 << f["bits"]
    return np.asarray(F(steps) / ((high - low) * F(steps / (steps - 1))))


def first(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
    """Where range_scale overflows and leads to NaN, the product comes before the division."""
    scale, steps = range_scale(low, high, f), F(1 << f["bits"])
    clipped, width = np.clip(x, low, high), (high - low) * (steps / (steps - F(1)))
    plain = round_(clipped * scale, False) - round_(low * scale, False)
    other = round_(clipped * steps / width, False) - round_(low * steps / width, False)
    return np.where(np.isinf(scale) & np.isnan(plain), other, plain) + f["min"]


def first_by_factor(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
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
    """Where scale_factor overflows, each side's product comes before its division; the lesser result counts."""
    bound, even = (F(f["min"] + f["narrow_range"]), F(f["max"])), f["round_mode"] == "HALF_TO_EVEN"
    below, above = x * bound[0] / low, x * bound[1] / high
    other = round_(np.where(np.abs(below) <= np.abs(above), below, above), even)
    infinite = np.isinf(scale_factor(low, high, f))
    return np.where(infinite, other, scaled_by_factor(x, low, high, f, round_))


def scaled_by_factor(x: Array, low: Array, high: Array, f: Facts, round_: Round) -> Array:
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
