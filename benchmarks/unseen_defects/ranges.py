"""tensorflow.QuantizeV2 and Dequantize as steps, and the defects of them alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, as_type, converted, ends, in_type, wrapped
from benchmarks.known_defects.places import index_along
from benchmarks.unseen_defects import common
from benchmarks.unseen_defects.steps import Context, bf16, cut_bits, defect, digits, estimate, f16, f32, same
from tiebreak.golden.nodes import Node

LARGEST = float(np.finfo(np.float32).max)


def ranged(c: Context, x: Array, given: list[Array]) -> tuple[Array, Array]:
    """min_range and max_range for every element."""
    axis = c.node.value("axis")
    c.count = given[0].size
    at = c.do("place", same, index_along(x.shape, () if axis < 0 else (axis,)))
    low, high = (end.astype(np.float64).reshape(-1)[at] for end in given)
    return c.do("range", given_range, low, high)


def given_range(c: Context, low: Array, high: Array) -> tuple[Array, Array]:
    return low, high


def quantize_v2(node: Node, inputs: tuple[Array, ...], how: dict[str, Any]) -> tuple[Array, ...]:
    found = attempt(node, inputs, how, f32)
    if np.isnan(found[0]).any():  # a step overflowed: the exact result
        exact = attempt(node, inputs, how, in_type("float64"))
        again = np.isnan(found[0]) & ~np.isnan(inputs[0].astype(np.float64))
        found = (np.where(again, exact[0], found[0]), *found[1:])
    sums, c, low, high = found
    codes = as_type(c.do("clamp", clamp, sums), c.out)
    return (codes, converted(low, FLOAT32), converted(high, FLOAT32))


def attempt(node: Node, inputs: tuple[Array, ...], how: dict[str, Any], s: Any) -> tuple[Any, ...]:
    """The sums before the clamp, and the range outputs."""
    c = Context(node=node, how=how, out=node.outputs[0].dtype, kind=FLOAT32, s=s, rule=RULES[node.round_mode])
    c.s = c.do("type", same, s)
    c.low, c.high = ends(c.out)
    c.min, c.max = c.do("bits", bits)
    c.steps = float(c.high - c.low)
    x = c.do("x", same, inputs[0].astype(np.float64))
    low, high = ranged(c, x, list(inputs[1:]))
    sums = {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}[node.value("mode")](c, x, low, high)
    return sums, c, *c.do("outs", outs, *c.do("range", given_range, *(end.astype(np.float64) for end in inputs[1:])))


def bits(c: Context) -> tuple[int, int]:
    """min_T and max_T."""
    narrow = bool(c.node.value("narrow_range")) and c.node.value("mode") == "SCALED"
    return c.low + narrow, c.high


def clamp(c: Context, sums: Array) -> Array:
    return np.clip(np.nan_to_num(sums, nan=0.0), c.min, c.max)


def clip(c: Context, x: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(x, low), high)


def rounded(c: Context, values: Array) -> Array:
    return c.do("round", common.whole, values, c.rule)


def combined(c: Context, x: Array, low: Array, high: Array) -> Array:
    kept = c.do("clip", clip, x, low, high)
    found = c.do("fraction", fraction, kept, low, c.s(high - low), high)
    return c.do("offset", offset, found)


def fraction(c: Context, x: Array, low: Array, width: Array, high: Array) -> Array:
    return c.s(c.s(c.s(x - low) * c.steps) / width)


def offset(c: Context, found: Array) -> Array:
    return rounded(c, c.s(found - 128.0) if c.out.name == "int8" else found)


def range_scale(c: Context, width: Array) -> Array:
    count = c.steps + 1
    return c.s(count / c.s(width * c.s(count / (count - 1))))


def first(c: Context, x: Array, low: Array, high: Array) -> Array:
    factor = c.do("range_scale", range_scale, c.s(high - low))
    return c.do("apart", apart, c.do("clip", clip, x, low, high), low, factor) + c.do("lowest", lambda c: c.low)


def apart(c: Context, x: Array, low: Array, factor: Array) -> Array:
    return rounded(c, c.s(x * factor)) - rounded(c, c.s(low * factor))


def scaled(c: Context, x: Array, low: Array, high: Array) -> Array:
    factor = c.do("factor", factor_of, low, high)
    kept = c.do("clip", clip, x, c.s(c.s(c.min) / factor), c.s(c.s(c.max) / factor))
    return rounded(c, c.do("times", times, kept, factor))


def times(c: Context, x: Array, factor: Array) -> Array:
    return c.s(x * factor)


def sides(c: Context, low: Array, high: Array) -> tuple[Array, Array]:
    return (
        np.where(c.min * low > 0, c.s(c.s(c.min) / low), LARGEST),
        np.where(c.max * high > 0, c.s(c.s(c.max) / high), LARGEST),
    )


def factor_of(c: Context, low: Array, high: Array) -> Array:
    return np.minimum(*sides(c, low, high))


def outs(c: Context, low: Array, high: Array) -> tuple[Array, Array]:
    if c.node.value("mode") != "SCALED":
        return low, high
    factor = c.do("factor", factor_of, low, high)
    return c.s(c.s(c.min) / factor), c.s(c.s(c.max) / factor)


def put(step: str, name: str, sentence: str, way: Any, families: str = "R") -> None:
    defect(families, step, name, sentence)(way)


put(
    "fraction",
    "mc-ratio",
    "(x - min_range) times range(T) / width, rounded first.",
    lambda c, x, low, w, high: c.s(c.s(x - low) * c.s(c.steps / w)),
)
put(
    "fraction",
    "mc-divide-first",
    "(x - min_range) / width, then times range(T).",
    lambda c, x, low, w, high: c.s(c.s(c.s(x - low) / w) * c.steps),
)
put(
    "fraction",
    "mc-step",
    "(x - min_range) divided by the step width / range(T).",
    lambda c, x, low, w, high: c.s(c.s(x - low) / c.s(w / c.steps)),
)
put(
    "fraction",
    "mc-inverse-width",
    "(x - min_range) * range(T) times the rounded inverse of the width.",
    lambda c, x, low, w, high: c.s(c.s(c.s(x - low) * c.steps) * c.s(1 / w)),
)
put(
    "fraction",
    "mc-scale-shift",
    "x * ratio - min_range * ratio, all rounded.",
    lambda c, x, low, w, high: c.s(c.s(x * c.s(c.steps / w)) - c.s(low * c.s(c.steps / w))),
)
put(
    "fraction",
    "mc-scale-shift-fma",
    "fma(x, ratio, -min_range * ratio).",
    lambda c, x, low, w, high: c.s(x * c.s(c.steps / w) - c.s(low * c.s(c.steps / w))),
)
put(
    "fraction",
    "mc-256",
    "range(T) is one too great.",
    lambda c, x, low, w, high: c.s(c.s(c.s(x - low) * (c.steps + 1)) / w),
)
put(
    "fraction",
    "mc-254",
    "range(T) is one too small.",
    lambda c, x, low, w, high: c.s(c.s(c.s(x - low) * (c.steps - 1)) / w),
)
put(
    "fraction",
    "mc-ratio-f16",
    "(x - min_range) times range(T) / width, held in float16.",
    lambda c, x, low, w, high: c.s(c.s(x - low) * f16(c.steps / w)),
)
put(
    "fraction",
    "mc-ratio-bf16",
    "(x - min_range) times range(T) / width, held in bfloat16.",
    lambda c, x, low, w, high: c.s(c.s(x - low) * bf16(c.steps / w)),
)
put(
    "fraction",
    "mc-max-not-width",
    "The divisor is max_range, not the width.",
    lambda c, x, low, w, high: c.s(c.s(c.s(x - low) * c.steps) / high),
)
put(
    "fraction",
    "mc-from-max",
    "range(T) minus the distance from max_range.",
    lambda c, x, low, w, high: c.s(c.steps - c.s(c.s(c.s(high - x) * c.steps) / w)),
)
put("fraction", "mc-no-minimum", "min_range is not subtracted.", lambda c, x, low, w, high: c.s(c.s(x * c.steps) / w))

put(
    "offset",
    "off-after-rounding",
    "128 is subtracted after the rounding.",
    lambda c, q: rounded(c, q) - (128 if c.out.name == "int8" else 0),
)
put("offset", "off-missing", "128 is not subtracted.", lambda c, q: rounded(c, q))
put(
    "offset",
    "off-127",
    "127 is subtracted, not 128.",
    lambda c, q: rounded(c, c.s(q - 127.0) if c.out.name == "int8" else q),
)
put(
    "offset",
    "off-127.5",
    "127.5 is subtracted, not 128.",
    lambda c, q: rounded(c, c.s(q - 127.5) if c.out.name == "int8" else q),
)

put("range_scale", "mf-one-step", "range_scale is (2^bits - 1) / width in one division.", lambda c, w: c.s(c.steps / w))
put(
    "range_scale",
    "mf-no-adjust",
    "range_scale is 2^bits / width: range_adjust is left out.",
    lambda c, w: c.s((c.steps + 1) / w),
)
put(
    "range_scale",
    "mf-adjust-first",
    "range_scale is (2^bits / range_adjust) / width.",
    lambda c, w: c.s(c.s((c.steps + 1) / c.s((c.steps + 1) / c.steps)) / w),
)
put("range_scale", "mf-scale-f16", "range_scale is held in float16.", lambda c, w: f16(c.steps / w))
put("range_scale", "mf-scale-bf16", "range_scale is held in bfloat16.", lambda c, w: bf16(c.steps / w))
put(
    "range_scale",
    "mf-scale-text",
    "range_scale is rounded to six significant digits.",
    lambda c, w: digits(c.steps / w, 6),
)

put(
    "apart",
    "mf-rounded-once",
    "(x - min_range) * range_scale is rounded once.",
    lambda c, x, low, k: rounded(c, c.s(c.s(x - low) * k)),
)
put(
    "apart",
    "mf-difference-rounded",
    "The two products are subtracted, then rounded once.",
    lambda c, x, low, k: rounded(c, c.s(c.s(x * k) - c.s(low * k))),
)
put(
    "apart",
    "mf-minimum-cut",
    "The scaled minimum is cut off, not rounded.",
    lambda c, x, low, k: rounded(c, c.s(x * k)) - np.trunc(c.s(low * k)),
)
put(
    "apart",
    "mf-minimum-ceil",
    "The scaled minimum is rounded up.",
    lambda c, x, low, k: rounded(c, c.s(x * k)) - np.ceil(c.s(low * k)),
)
put(
    "apart",
    "mf-minimum-even",
    "The scaled minimum is rounded to even, x as the node says.",
    lambda c, x, low, k: rounded(c, c.s(x * k)) - np.rint(c.s(low * k)),
)
put(
    "apart",
    "mf-minimum-kept",
    "The scaled minimum is not rounded; the difference is cut off.",
    lambda c, x, low, k: np.trunc(c.s(rounded(c, c.s(x * k)) - c.s(low * k))),
)
put(
    "apart",
    "mf-by-inverse",
    "x and min_range are divided by the rounded inverse of range_scale.",
    lambda c, x, low, k: rounded(c, c.s(x / c.s(1 / k))) - rounded(c, c.s(low / c.s(1 / k))),
)
put(
    "apart",
    "mf-products-double",
    "The products are not rounded to float32 before they are rounded to integers.",
    lambda c, x, low, k: rounded(c, x * k) - rounded(c, low * k),
)
put("lowest", "mf-no-lowest", "The lowest value of T is not added.", lambda c: 0)
put("lowest", "mf-lowest-plus-one", "One more than the lowest value of T is added.", lambda c: c.low + 1)

put(
    "factor",
    "sc-low-side",
    "The lower side alone decides, if it counts.",
    lambda c, a, b: np.where(c.min * a > 0, sides(c, a, b)[0], sides(c, a, b)[1]),
)
put(
    "factor",
    "sc-high-side",
    "The upper side alone decides, if it counts.",
    lambda c, a, b: np.where(c.max * b > 0, sides(c, a, b)[1], sides(c, a, b)[0]),
)
put(
    "factor",
    "sc-max",
    "The greater factor is taken.",
    lambda c, a, b: np.where(
        (c.min * a > 0) & (c.max * b > 0), np.maximum(*sides(c, a, b)), np.minimum(*sides(c, a, b))
    ),
)
put(
    "factor",
    "sc-mean",
    "The mean of both sides' factors is taken where both count.",
    lambda c, a, b: np.where(
        (c.min * a > 0) & (c.max * b > 0),
        c.s(c.s(sides(c, a, b)[0] + sides(c, a, b)[1]) / 2),
        np.minimum(*sides(c, a, b)),
    ),
)
put(
    "factor",
    "sc-127-by-magnitude",
    "max_T divided by the greater magnitude of the range's ends.",
    lambda c, a, b: c.s(c.s(c.max) / np.maximum(np.abs(a), np.abs(b))),
)
put(
    "factor",
    "sc-128-by-magnitude",
    "max_T + 1 divided by the greater magnitude of the range's ends.",
    lambda c, a, b: c.s((c.max + 1.0) / np.maximum(np.abs(a), np.abs(b))),
)
put(
    "factor",
    "sc-by-width",
    "max_T - min_T divided by max_range - min_range.",
    lambda c, a, b: c.s(float(c.max - c.min) / c.s(b - a)),
)
put("factor", "sc-f16", "The factor is held in float16.", lambda c, a, b: f16(factor_of(c, a, b)))
put("factor", "sc-cut-bf16", "The factor is cut off to bfloat16.", lambda c, a, b: cut_bits(factor_of(c, a, b), 8))
put(
    "factor",
    "sc-power-of-two",
    "The factor is cut off to a power of two.",
    lambda c, a, b: cut_bits(factor_of(c, a, b), 1),
)
put(
    "factor",
    "sc-inverse-step",
    "The factor is the rounded inverse of the rounded step, range / integer.",
    lambda c, a, b: c.s(
        1 / np.maximum(np.where(c.min * a > 0, c.s(a / c.s(c.min)), 0), np.where(c.max * b > 0, c.s(b / c.s(c.max)), 0))
    ),
)
put(
    "factor",
    "sc-text-6",
    "The factor is rounded to six significant digits.",
    lambda c, a, b: c.s(digits(factor_of(c, a, b), 6)),
)

put(
    "times",
    "sc-divides-step",
    "x is divided by the rounded inverse of the factor.",
    lambda c, x, k: c.s(x / c.s(1 / k)),
)
put(
    "times",
    "sc-product-exact",
    "The product is not rounded to float32 before it is rounded to an integer.",
    lambda c, x, k: x * k,
)
put("times", "sc-product-f16", "The product is rounded to float16.", lambda c, x, k: f16(x * k))
put("times", "sc-product-cut", "The product is cut off to float32.", lambda c, x, k: common.to_cut(x * k, FLOAT32))

put("clip", "clip-none", "The input is not clipped.", lambda c, x, low, high: x)
put("clip", "clip-high-only", "The input is clipped above only.", lambda c, x, low, high: np.minimum(x, high))
put("clip", "clip-low-only", "The input is clipped below only.", lambda c, x, low, high: np.maximum(x, low))
put(
    "clip",
    "clip-at-zero",
    "The input is clipped below at zero.",
    lambda c, x, low, high: clip(c, np.maximum(x, 0), low, high),
)

put("clamp", "qv-wraps", "The integer is not clamped: its low bits are stored.", lambda c, t: wrapped(t, c.low, c.high))
put(
    "clamp",
    "qv-highest-overflows",
    "The highest integer is cast from a float that is one greater, and becomes the lowest.",
    lambda c, t: np.where(f32(clamp(c, t)) > c.high, c.low, clamp(c, t)),
)
put(
    "clamp",
    "qv-high-exclusive",
    "The highest integer is one less than the type's.",
    lambda c, t: np.clip(np.nan_to_num(t), c.min, c.max - 1),
)
put(
    "clamp",
    "qv-symmetric",
    "The lowest integer is the highest's negative, in any mode.",
    lambda c, t: np.clip(np.nan_to_num(t), -c.max if c.low else 0, c.max),
)

put("bits", "nr-ignored", "narrow_range is ignored.", lambda c: (c.low, c.high))
put("bits", "nr-always", "narrow_range is always on.", lambda c: (c.low + 1, c.high))
put(
    "bits",
    "nr-inverted",
    "narrow_range is taken the other way.",
    lambda c: (c.low + (not c.node.value("narrow_range") and c.node.value("mode") == "SCALED"), c.high),
)
put(
    "bits",
    "nr-both-ends",
    "narrow_range takes a value from both ends.",
    lambda c: (bits(c)[0], c.high - (bits(c)[0] - c.low)),
)

put(
    "range",
    "rg-symmetric",
    "The range is widened to be symmetric about zero.",
    lambda c, a, b: (-np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(a), np.abs(b))),
    "RB",
)
put("range", "rg-swapped", "min_range and max_range are exchanged.", lambda c, a, b: (b, a), "B")
put("range", "rg-f16", "The range is held in float16.", lambda c, a, b: (f16(a), f16(b)), "RB")
put("range", "rg-bf16", "The range is held in bfloat16.", lambda c, a, b: (bf16(a), bf16(b)), "RB")
put(
    "range",
    "rg-least-of-magnitude",
    "The range is widened upward to a hundredth of its magnitude, at least 0.01.",
    lambda c, a, b: (a, np.maximum(b, c.s(a + 0.01 * np.maximum(1, np.maximum(np.abs(a), np.abs(b)))))),
    "R",
)
put(
    "range",
    "rg-at-least-1",
    "The range is widened upward to 1 where it is smaller.",
    lambda c, a, b: (a, np.maximum(b, c.s(a + 1.0))),
    "R",
)
put(
    "range",
    "rg-minimum-at-most-zero",
    "A min_range above zero is taken as zero, a max_range below as zero.",
    lambda c, a, b: (np.minimum(a, 0), np.maximum(b, 0)),
    "B",
)

put("outs", "outs-given", "output_min and output_max are the given range.", lambda c, a, b: (a, b))
put("outs", "outs-swapped", "output_min and output_max are exchanged.", lambda c, a, b: outs(c, a, b)[::-1])
put(
    "outs",
    "outs-f16",
    "output_min and output_max are rounded to float16.",
    lambda c, a, b: tuple(f16(v) for v in outs(c, a, b)),
)
put(
    "outs",
    "outs-integers",
    "output_min and output_max are the ends of T.",
    lambda c, a, b: (a * 0 + c.min, b * 0 + c.max),
)
put(
    "outs",
    "outs-by-inverse",
    "The range outputs are the ends of T times the rounded inverse of the factor.",
    lambda c, a, b: by_inverse(c, a, b),
)


def by_inverse(c: Context, low: Array, high: Array) -> tuple[Array, Array]:
    if c.node.value("mode") != "SCALED":
        return low, high
    inverse = c.s(1 / c.do("factor", factor_of, low, high))
    return c.s(c.s(c.min) * inverse), c.s(c.s(c.max) * inverse)


put("type", "all-double", "Every step is done in float64.", lambda c, s: in_type("float64"), "RB")
put("type", "all-f16", "Every step is done in float16.", lambda c, s: f16, "RB")
put("type", "all-bf16", "Every step is done in bfloat16.", lambda c, s: bf16, "RB")


# --- Dequantize


def dequantize(node: Node, inputs: tuple[Array, ...], how: dict[str, Any]) -> tuple[Array, ...]:
    c = Context(node=node, how=how, out=node.outputs[0].dtype, kind=inputs[0].dtype, s=f32)
    c.s = c.do("type", same, f32)
    c.low, c.high = ends(c.kind)
    c.steps = float(c.high - c.low)
    codes = c.do("code", same, inputs[0].astype(np.float64))
    low, high = ranged(c, inputs[0], list(inputs[1:]))
    mode = {"MIN_COMBINED": from_combined, "MIN_FIRST": from_first, "SCALED": from_scaled}[node.value("mode")]
    return (converted(c.do("out", same, mode(c, codes, low, high)), c.out),)


def from_combined(c: Context, x: Array, low: Array, high: Array) -> Array:
    shifted = c.do("offset", code_offset, x)
    return c.do("combine", combine, shifted, low, c.s(high - low), high)


def code_offset(c: Context, x: Array) -> Array:
    return x + 128.0 if c.kind.name == "int8" else x


def combine(c: Context, x: Array, low: Array, width: Array, high: Array) -> Array:
    return c.s(low + c.s(c.s(c.s(x) * width) / c.s(c.steps)))


def from_first(c: Context, x: Array, low: Array, high: Array) -> Array:
    step = c.do("first_step", first_step, c.s(high - low))
    return c.do("add", add, x - c.do("lowest", lambda c: c.low), low, step)


def first_step(c: Context, width: Array) -> Array:
    count = c.steps + 1
    return c.s(c.s(width * c.s(count / c.steps)) / count)


def add(c: Context, x: Array, low: Array, step: Array) -> Array:
    return f32(low + x * step) if "type" not in c.how else c.s(low + c.s(x * step))


def from_scaled(c: Context, x: Array, low: Array, high: Array) -> Array:
    return c.do("times", from_times, x, c.do("factor", from_factor, low, high))


def from_times(c: Context, x: Array, factor: Array) -> Array:
    return c.s(c.s(x) * factor)


def from_sides(c: Context, low: Array, high: Array, narrow: bool | None = None) -> tuple[Array, Array]:
    narrow = bool(c.node.value("narrow_range")) if narrow is None else narrow
    from_high = c.s(high / c.s(np.float64(c.high)))
    return (c.s(low / c.s(np.float64(c.low + narrow))) if c.low else from_high), from_high


def from_factor(c: Context, low: Array, high: Array) -> Array:
    return np.maximum(*from_sides(c, low, high))


def taking(step: str, name: str, sentence: str, way: Any) -> None:
    defect("B", step, name, sentence)(way)


taking(
    "combine",
    "mc-step",
    "min_range + x * step, the step width / range(T).",
    lambda c, x, low, w, high: c.s(low + c.s(c.s(x) * c.s(w / c.steps))),
)
taking(
    "combine",
    "mc-step-fma",
    "fma(x, step, min_range).",
    lambda c, x, low, w, high: c.s(low + c.s(x) * c.s(w / c.steps)),
)
taking(
    "combine",
    "mc-divide-first",
    "min_range + (x / range(T)) * width.",
    lambda c, x, low, w, high: c.s(low + c.s(c.s(x / c.steps) * w)),
)
taking(
    "combine",
    "mc-inverse",
    "min_range + x * width * (1 / range(T)), the inverse rounded.",
    lambda c, x, low, w, high: c.s(low + c.s(c.s(c.s(x) * w) * c.s(1 / c.steps))),
)
taking(
    "combine",
    "mc-lerp",
    "min_range * (1 - t) + max_range * t, t = x / range(T).",
    lambda c, x, low, w, high: c.s(c.s(low * c.s(1 - c.s(x / c.steps))) + c.s(high * c.s(x / c.steps))),
)
taking(
    "combine",
    "mc-from-max",
    "max_range - (range(T) - x) * step.",
    lambda c, x, low, w, high: c.s(high - c.s((c.steps - x) * c.s(w / c.steps))),
)
taking(
    "combine",
    "mc-256",
    "range(T) is one too great.",
    lambda c, x, low, w, high: c.s(low + c.s(c.s(c.s(x) * w) / (c.steps + 1))),
)
taking(
    "combine",
    "mc-step-bf16",
    "min_range + x * step, the step held in bfloat16.",
    lambda c, x, low, w, high: c.s(low + c.s(x * bf16(w / c.steps))),
)
taking(
    "combine",
    "mc-zero-point",
    "(x - z) * step, z = -min_range / step rounded to an integer.",
    lambda c, x, low, w, high: c.s(c.s(x - np.rint(c.s(-low / c.s(w / c.steps)))) * c.s(w / c.steps)),
)
taking("combine", "mc-no-minimum", "min_range is not added.", lambda c, x, low, w, high: c.s(c.s(c.s(x) * w) / c.steps))
taking(
    "combine",
    "mc-sum-cut",
    "The last sum is cut off to float32.",
    lambda c, x, low, w, high: common.to_cut(low + c.s(c.s(c.s(x) * w) / c.steps), FLOAT32),
)
taking("offset", "off-missing", "128 is not added to int8.", lambda c, x: x)
taking("offset", "off-127", "127 is added to int8, not 128.", lambda c, x: x + 127.0 if c.kind.name == "int8" else x)
taking(
    "offset", "off-127.5", "127.5 is added to int8, not 128.", lambda c, x: x + 127.5 if c.kind.name == "int8" else x
)
taking("first_step", "mf-one-step", "The step is width / (2^bits - 1), in one division.", lambda c, w: c.s(w / c.steps))
taking("first_step", "mf-no-adjust", "range_adjust is left out.", lambda c, w: c.s(w / (c.steps + 1)))
taking("first_step", "mf-step-f16", "The step is held in float16.", lambda c, w: f16(first_step(c, w)))
taking("first_step", "mf-step-bf16", "The step is held in bfloat16.", lambda c, w: bf16(first_step(c, w)))
taking("add", "mf-f32", "Product and sum are each rounded to float32.", lambda c, x, low, k: f32(low + f32(f32(x) * k)))
taking(
    "add",
    "mf-nudged-minimum",
    "min_range is moved to a multiple of the step, rounded to even.",
    lambda c, x, low, k: f32(np.rint(f32(low / k)) * k + x * k),
)
taking(
    "add",
    "mf-zero-point-down",
    "min_range is moved down to a multiple of the step.",
    lambda c, x, low, k: f32(np.floor(f32(low / k)) * k + x * k),
)
taking("add", "mf-no-minimum", "min_range is not added.", lambda c, x, low, k: f32(x * k))
taking("lowest", "mf-no-lowest", "The lowest value of T is not subtracted.", lambda c: 0)
taking("factor", "sc-smaller", "The smaller of both sides is taken.", lambda c, a, b: np.minimum(*from_sides(c, a, b)))
taking("factor", "sc-high-side", "max_range's side alone decides.", lambda c, a, b: from_sides(c, a, b)[1])
taking("factor", "sc-low-side", "min_range's side alone decides.", lambda c, a, b: from_sides(c, a, b)[0])
taking(
    "factor",
    "sc-by-width",
    "The width is divided by the number of steps.",
    lambda c, a, b: c.s(c.s(b - a) / (c.steps - bool(c.node.value("narrow_range")))),
)
taking(
    "factor",
    "sc-127-by-magnitude",
    "The greater magnitude of the ends is divided by max_T.",
    lambda c, a, b: c.s(np.maximum(np.abs(a), np.abs(b)) / c.s(c.high)),
)
taking(
    "factor",
    "sc-128-by-magnitude",
    "The greater magnitude of the ends is divided by max_T + 1.",
    lambda c, a, b: c.s(np.maximum(np.abs(a), np.abs(b)) / (c.high + 1.0)),
)
taking("factor", "sc-f16", "The factor is held in float16.", lambda c, a, b: f16(from_factor(c, a, b)))
taking("factor", "sc-cut-bf16", "The factor is cut off to bfloat16.", lambda c, a, b: cut_bits(from_factor(c, a, b), 8))
taking(
    "factor",
    "sc-text-6",
    "The factor is rounded to six significant digits.",
    lambda c, a, b: c.s(digits(from_factor(c, a, b), 6)),
)
taking("factor", "nr-ignored", "narrow_range is ignored.", lambda c, a, b: np.maximum(*from_sides(c, a, b, False)))
taking("factor", "nr-always", "narrow_range is always on.", lambda c, a, b: np.maximum(*from_sides(c, a, b, True)))
taking(
    "times",
    "sc-inverse",
    "x is divided by the rounded inverse of the factor.",
    lambda c, x, k: c.s(c.s(x) / c.s(1 / k)),
)
taking(
    "times", "sc-product-cut", "The product is cut off to float32.", lambda c, x, k: common.to_cut(c.s(x) * k, FLOAT32)
)
taking(
    "times",
    "sc-estimate",
    "x is divided by an estimate of the factor's inverse, of 12 bits.",
    lambda c, x, k: c.s(c.s(x) / estimate(k, 12, 0, c.s)),
)
taking(
    "times", "sc-input-exact", "The integer is not rounded to float32 before the product.", lambda c, x, k: c.s(x * k)
)
taking(
    "code",
    "code-signed",
    "The input's bits are read as signed.",
    lambda c, x: wrapped(x, -((c.high - c.low + 1) // 2), (c.high - c.low) // 2),
)
taking("code", "code-unsigned", "The input's bits are read as unsigned.", lambda c, x: wrapped(x, 0, c.high - c.low))
taking("code", "code-symmetric", "The lowest input is read as the next one.", lambda c, x: np.maximum(x, c.low + 1))
taking("code", "code-sat-16", "The input saturates to int16.", lambda c, x: np.clip(x, -(2**15), 2**15 - 1))
taking("code", "code-through-bf16", "The input goes through bfloat16.", lambda c, x: bf16(x))
taking("code", "code-through-f16", "The input goes through float16.", lambda c, x: f16(x))

ARITHMETIC = {"tensorflow.QuantizeV2": quantize_v2, "tensorflow.Dequantize": dequantize}
