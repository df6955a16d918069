"""tensorflow.QuantizeAndDequantizeV4 and the FakeQuantWithMinMaxVars as steps, and the defects of them alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, converted, in_type, to_integers
from benchmarks.known_defects.places import index_along
from benchmarks.unseen_defects import common
from benchmarks.unseen_defects.steps import Context, bf16, cut_bits, defect, digits, estimate, f16, f32, same
from tiebreak.golden.nodes import Node

Pair = tuple[Array, Array]


def quantize_and_dequantize(node: Node, inputs: tuple[Array, ...], how: dict[str, Any]) -> tuple[Array, ...]:
    out = node.outputs[0].dtype
    c = Context(node=node, how=how, out=out, kind=out, s=in_type(out), rule=RULES[node.round_mode])
    x = c.s(c.do("x", same, inputs[0].astype(np.float64)))
    c.s = c.do("type", same, c.s)
    axis = node.value("axis")
    axes = () if axis < 0 else (axis,)
    given = c.do("range", range_of, x, [end.astype(np.float64) for end in inputs[1:]], axes)
    c.count = given[0].size
    at = c.do("place", same, index_along(x.shape, axes))
    low, high = (np.asarray(end).reshape(-1)[at] for end in given)
    signed, lowest, highest = c.do("bits", bits, bool(node.value("signed_input")), int(node.value("num_bits")),
                                   bool(node.value("narrow_range")))  # fmt: skip
    if not signed:
        low = np.zeros_like(low)
    factor, by_low = c.do("factor", factor_of, low, high, *(c.s(np.float64(end)) for end in (lowest, highest)))
    least = np.where(by_low, low, c.s(c.s(np.float64(lowest)) / factor))
    most = np.where(by_low, c.s(c.s(np.float64(highest)) / factor), high)
    kept = c.do("clip", clip, x, least, most, low, high)
    whole = c.do("round", common.whole, c.do("times", times, kept, factor), c.rule)
    y = c.do("back", back, whole, factor, np.where(by_low, c.s(low / lowest) if lowest else low, c.s(high / highest)))
    return (converted(c.do("out", same, y), c.out),)


def range_of(c: Context, x: Array, given: list[Array], axes: tuple[int, ...]) -> list[Array]:
    return given if c.node.value("range_given") else measured(x, axes)


def measured(x: Array, axes: tuple[int, ...]) -> list[Array]:
    others = tuple(axis for axis in range(x.ndim) if axis not in axes)
    if not x.size:
        return [np.zeros([x.shape[axis] for axis in axes])] * 2
    return [np.asarray(extreme(x, axis=others)) for extreme in (np.min, np.max)]


def bits(c: Context, signed: bool, count: int, narrow: bool) -> tuple[bool, float, float]:
    if not signed:
        return False, 0.0, float((1 << count) - 1)
    highest = (1 << (count - 1)) - 1
    return True, float(-highest - (not narrow)), float(highest)


def two_sides(c: Context, low: Array, high: Array, lowest: Array, highest: Array) -> tuple[Array, Array, Array]:
    from_low = np.where(low < 0, c.s(lowest / low), np.inf)
    from_high = np.where(high > 0, c.s(highest / high), np.inf)
    return from_low, from_high, (low < 0) & ((from_low < from_high) | ~(high > 0))


def factor_of(c: Context, low: Array, high: Array, lowest: Array, highest: Array) -> Pair:
    from_low, from_high, by_low = two_sides(c, low, high, lowest, highest)
    return np.where(by_low, from_low, from_high), by_low


def times(c: Context, x: Array, factor: Array) -> Array:
    return c.s(x * factor)


def clip(c: Context, x: Array, least: Array, most: Array, low: Array, high: Array) -> Array:
    return np.minimum(np.maximum(x, least), most)


def back(c: Context, whole: Array, factor: Array, step: Array) -> Array:
    return c.s(whole / factor)


def at_v4(step: str, name: str, sentence: str, way: Any) -> None:
    defect("A", step, name, sentence)(way)


def changed_factor(change: Any) -> Any:
    def way(c: Context, low: Array, high: Array, lowest: Array, highest: Array) -> Pair:
        factor, by_low = factor_of(c, low, high, lowest, highest)
        return change(c, factor), by_low

    return way


def chosen_side(choose: Any) -> Any:
    def way(c: Context, low: Array, high: Array, lowest: Array, highest: Array) -> Pair:
        from_low, from_high, by_low = two_sides(c, low, high, lowest, highest)
        by_low = np.where((low < 0) & (high > 0), choose(by_low), by_low)
        return np.where(by_low, from_low, from_high), by_low

    return way


at_v4(
    "back",
    "bk-inverse",
    "The integer is multiplied by the rounded inverse of the factor.",
    lambda c, q, k, step: c.s(q * c.s(1 / k)),
)
at_v4(
    "back",
    "bk-step",
    "The integer is multiplied by the rounded quotient of the deciding end and its integer.",
    lambda c, q, k, step: c.s(q * step),
)
at_v4(
    "back",
    "bk-estimate",
    "The integer is multiplied by an estimate of the factor's inverse, of 12 bits.",
    lambda c, q, k, step: c.s(q * estimate(k, 12, 0, c.s)),
)
at_v4(
    "back",
    "bk-step-f16",
    "The integer is multiplied by the factor's inverse, held in float16.",
    lambda c, q, k, step: c.s(q * f16(1 / k)),
)
at_v4(
    "back",
    "bk-step-bf16",
    "The integer is multiplied by the factor's inverse, held in bfloat16.",
    lambda c, q, k, step: c.s(q * bf16(1 / k)),
)
at_v4("back", "bk-cut", "The last quotient is cut off to the type.", lambda c, q, k, step: common.to_cut(q / k, c.out))
at_v4(
    "back",
    "bk-up",
    "The last quotient is rounded upward: the rounding mode was left so.",
    lambda c, q, k, step: common.to_up(q / k, c.out),
)
at_v4(
    "back",
    "bk-text",
    "The integer is multiplied by the factor's inverse, of six significant digits.",
    lambda c, q, k, step: c.s(q * c.s(digits(1 / k, 6))),
)
at_v4("back", "bk-missing", "The integer is not scaled back.", lambda c, q, k, step: q)
at_v4(
    "times",
    "tm-divides",
    "The value is divided by the rounded inverse of the factor.",
    lambda c, x, k: c.s(x / c.s(1 / k)),
)
at_v4("times", "tm-exact", "The product is not rounded before it is rounded to an integer.", lambda c, x, k: x * k)
at_v4("times", "tm-f16", "The product is rounded to float16.", lambda c, x, k: f16(x * k))
at_v4("times", "tm-bf16", "The product is rounded to bfloat16.", lambda c, x, k: bf16(x * k))
at_v4("factor", "fc-f16", "The factor is held in float16.", changed_factor(lambda c, k: f16(k)))
at_v4("factor", "fc-cut-bf16", "The factor is cut off to bfloat16.", changed_factor(lambda c, k: cut_bits(k, 8)))
at_v4(
    "factor", "fc-power-of-two", "The factor is cut off to a power of two.", changed_factor(lambda c, k: cut_bits(k, 1))
)
at_v4(
    "factor",
    "fc-text",
    "The factor is rounded to six significant digits.",
    changed_factor(lambda c, k: c.s(digits(k, 6))),
)
at_v4("factor", "fc-greater", "The greater of both sides' factors is taken.", chosen_side(lambda by_low: ~by_low))
at_v4(
    "factor", "fc-high", "Where both sides count, input_max alone decides.", chosen_side(lambda by_low: False & by_low)
)
at_v4("factor", "fc-low", "Where both sides count, input_min alone decides.", chosen_side(lambda by_low: True | by_low))
at_v4(
    "factor",
    "fc-magnitude",
    "The highest integer divided by the greater magnitude of the ends.",
    lambda c, a, b, p, q: (c.s(q / np.maximum(np.abs(a), np.abs(b))), np.abs(a) > np.abs(b)),
)
at_v4(
    "factor",
    "fc-width",
    "The number of steps divided by input_max - input_min.",
    lambda c, a, b, p, q: (c.s(c.s(q - p) / c.s(b - a)), two_sides(c, a, b, p, q)[2]),
)
at_v4("clip", "cl-none", "Values are not clamped.", lambda c, x, least, most, low, high: x)
at_v4(
    "clip", "cl-high-only", "Values are clamped above only.", lambda c, x, least, most, low, high: np.minimum(x, most)
)
at_v4(
    "clip",
    "cl-given",
    "Values are clamped to the range before it was updated.",
    lambda c, x, least, most, low, high: np.minimum(np.maximum(x, low), high),
)
at_v4(
    "clip",
    "cl-symmetric",
    "Values are clamped to plus and minus the upper end.",
    lambda c, x, least, most, low, high: np.minimum(np.maximum(x, -most), most),
)
at_v4("range", "rg-always-measured", "The range is always measured.", lambda c, x, given, axes: measured(x, axes))
at_v4(
    "range",
    "rg-always-given",
    "The given range is always used.",
    lambda c, x, given, axes: given if given[0].size == measured(x, axes)[0].size else measured(x, axes),
)
at_v4(
    "range",
    "rg-one-for-all",
    "One range is measured for all slices.",
    lambda c, x, given, axes: (
        given
        if c.node.value("range_given")
        else [0 * one + end for one, end in zip(measured(x, axes), measured(x, ()), strict=True)]
    ),
)
at_v4(
    "range",
    "rg-tail-not-measured",
    "The elements after the last whole vector of 8 are left out of the measured range.",
    lambda c, x, given, axes: (
        given if c.node.value("range_given") or axes or x.size < 9 else measured(x.reshape(-1)[: x.size // 8 * 8], ())
    ),
)
at_v4(
    "range",
    "rg-last-not-measured",
    "The last element is left out of the measured range.",
    lambda c, x, given, axes: (
        given if c.node.value("range_given") or axes or x.size < 2 else measured(x.reshape(-1)[:-1], ())
    ),
)
at_v4(
    "range",
    "rg-measures-magnitude",
    "The measured range is plus and minus the greatest magnitude.",
    lambda c, x, given, axes: (
        given
        if c.node.value("range_given")
        else [-np.max(np.abs(measured(x, axes)), axis=0), np.max(np.abs(measured(x, axes)), axis=0)]
    ),
)
at_v4(
    "range",
    "rg-f16",
    "The range is held in float16.",
    lambda c, x, given, axes: [f16(end) for end in range_of(c, x, given, axes)],
)
at_v4(
    "range",
    "rg-bf16",
    "The range is held in bfloat16.",
    lambda c, x, given, axes: [bf16(end) for end in range_of(c, x, given, axes)],
)
at_v4("bits", "bt-narrow-ignored", "narrow_range is ignored.", lambda c, s, n, narrow: bits(c, s, n, False))
at_v4("bits", "bt-narrow-always", "narrow_range is always on.", lambda c, s, n, narrow: bits(c, s, n, True))
at_v4(
    "bits",
    "bt-narrow-inverted",
    "narrow_range is taken the other way.",
    lambda c, s, n, narrow: bits(c, s, n, not narrow),
)
at_v4("bits", "bt-always-signed", "The integers are always signed.", lambda c, s, n, narrow: bits(c, True, n, narrow))
at_v4(
    "bits", "bt-always-unsigned", "The integers are always unsigned.", lambda c, s, n, narrow: bits(c, False, n, narrow)
)
at_v4("bits", "bt-8", "num_bits is always 8.", lambda c, s, n, narrow: bits(c, s, 8, narrow))
at_v4("bits", "bt-at-most-8", "num_bits is 8 at most.", lambda c, s, n, narrow: bits(c, s, min(n, 8), narrow))
at_v4("bits", "bt-one-more", "There is one bit too many.", lambda c, s, n, narrow: bits(c, s, n + 1, narrow))
at_v4(
    "bits",
    "bt-sign-bit-lost",
    "Unsigned integers have one bit too few.",
    lambda c, s, n, narrow: bits(c, s, n if s else max(n - 1, 1), narrow),
)
at_v4(
    "bits",
    "bt-highest-power",
    "The highest integer is a power of two: one too great.",
    lambda c, s, n, narrow: (*bits(c, s, n, narrow)[:2], bits(c, s, n, narrow)[2] + 1),
)


# --- FakeQuantWithMinMaxVars and …PerChannel


def fake_quant(node: Node, inputs: tuple[Array, ...], how: dict[str, Any]) -> tuple[Array, ...]:
    c = Context(node=node, how=how, out=FLOAT32, kind=FLOAT32, s=f32)
    x = c.do("x", same, inputs[0].astype(np.float64))
    c.s = c.do("type", same, c.s)
    c.count = inputs[1].size
    at = c.do("place", same, index_along(x.shape, (x.ndim - 1,) if inputs[1].ndim else ()))
    low_at, high_at = at if isinstance(at, tuple) else (at, at)
    low = inputs[1].astype(np.float64).reshape(-1)[low_at]
    high = inputs[2].astype(np.float64).reshape(-1)[high_at]
    low, high = c.do("range", lambda c, a, b: (a, b), low, high)
    c.n = float(c.do("bits", fake_bits, int(node.value("num_bits")), bool(node.value("narrow_range"))))
    scale = c.do("scale", fake_scale, c.s(high - low))
    start, least, most = c.do("nudge", nudge, low, high, scale)
    y = c.do("kernel", fake_kernel, x, low, high, scale, start, least, most)
    return (converted(c.do("out", same, y), FLOAT32),)


def fake_bits(c: Context, count: int, narrow: bool) -> int:
    return (1 << count) - 1 - narrow


def fake_scale(c: Context, width: Array) -> Array:
    return c.s(width / c.n)


def nudge(c: Context, low: Array, high: Array, scale: Array) -> tuple[Array, Array, Array]:
    start = c.do("to_grid", lambda c, ratio: np.rint(ratio), c.s(low / scale))
    least = c.s(scale * start)
    return situations(c, low, high, start, least, c.s(c.s(high + least) - low))


def situations(
    c: Context, low: Array, high: Array, start: Array, least: Array, most: Array
) -> tuple[Array, Array, Array]:
    above, below = low > 0, high < 0
    return (
        np.where(above, 0.0, np.where(below, -c.n, start)),
        np.where(above, 0.0, np.where(below, c.s(low - high), least)),
        np.where(above, c.s(high - low), np.where(below, 0.0, most)),
    )


def fake_kernel(
    c: Context, x: Array, low: Array, high: Array, scale: Array, start: Array, least: Array, most: Array
) -> Array:
    kept = c.do("clip", lambda c, v, a, b, *_: np.minimum(np.maximum(v, a), b), x, least, most, low, high)
    whole = c.do(
        "round", common.whole, c.do("quotient", fake_quotient, kept, least, scale, c.s(high - low), start), "even"
    )
    return c.do("back", fake_back, whole, start, scale, least)


def fake_quotient(c: Context, x: Array, least: Array, scale: Array, width: Array, start: Array) -> Array:
    return c.s(c.s(x - least) / scale)


def fake_back(c: Context, whole: Array, start: Array, scale: Array, least: Array) -> Array:
    return c.s((whole + start) * scale)


def at_vars(step: str, name: str, sentence: str, way: Any) -> None:
    defect("M", step, name, sentence)(way)


at_vars(
    "quotient",
    "qt-inverse",
    "(x - min_adj) times the rounded inverse of the scale.",
    lambda c, x, a, k, w, z: c.s(c.s(x - a) * c.s(1 / k)),
)
at_vars(
    "quotient",
    "qt-steps-over-width",
    "(x - min_adj) times steps / (max - min), rounded.",
    lambda c, x, a, k, w, z: c.s(c.s(x - a) * c.s(c.n / w)),
)
at_vars(
    "quotient",
    "qt-rcp12",
    "(x - min_adj) times an estimate of the scale's inverse, of 12 bits.",
    lambda c, x, a, k, w, z: c.s(c.s(x - a) * estimate(k, 12, 0, c.s)),
)
at_vars(
    "quotient",
    "qt-two-quotients",
    "x / scale - min_adj / scale, each rounded.",
    lambda c, x, a, k, w, z: c.s(c.s(x / k) - c.s(a / k)),
)
at_vars(
    "quotient",
    "qt-plus-zero-point",
    "x / scale plus the zero point, min_adj not subtracted.",
    lambda c, x, a, k, w, z: c.s(c.s(x / k) - z),
)
at_vars(
    "quotient",
    "qt-fma",
    "fma(x, inverse, -min_adj * inverse).",
    lambda c, x, a, k, w, z: c.s(x * c.s(1 / k) - c.s(a * c.s(1 / k))),
)
at_vars("quotient", "qt-f16", "The quotient is rounded to float16.", lambda c, x, a, k, w, z: f16(c.s(c.s(x - a) / k)))
at_vars(
    "quotient",
    "qt-divide-width-first",
    "(x - min_adj) / (max - min) * steps.",
    lambda c, x, a, k, w, z: c.s(c.s(c.s(x - a) / w) * c.n),
)
at_vars("back", "bk-plus-minimum", "integer * scale + min_adj.", lambda c, q, z, k, a: c.s(c.s(q * k) + a))
at_vars("back", "bk-plus-minimum-fma", "fma(integer, scale, min_adj).", lambda c, q, z, k, a: c.s(q * k + a))
at_vars(
    "back",
    "bk-apart",
    "integer * scale + zero point * scale, each rounded.",
    lambda c, q, z, k, a: c.s(c.s(q * k) + c.s(z * k)),
)
at_vars(
    "back",
    "bk-inverse",
    "The integer is divided by the rounded inverse of the scale.",
    lambda c, q, z, k, a: c.s((q + z) / c.s(1 / k)),
)
at_vars(
    "back", "bk-scale-f16", "The integer times the scale, held in float16.", lambda c, q, z, k, a: c.s((q + z) * f16(k))
)
at_vars(
    "back",
    "bk-scale-bf16",
    "The integer times the scale, held in bfloat16.",
    lambda c, q, z, k, a: c.s((q + z) * bf16(k)),
)
at_vars("back", "bk-no-offset", "The offset is not added on the way back.", lambda c, q, z, k, a: c.s(q * k))
at_vars(
    "back",
    "bk-cut",
    "The last product is cut off to float32.",
    lambda c, q, z, k, a: common.to_cut((q + z) * k, FLOAT32),
)
at_vars("scale", "sl-256", "The scale is the width divided by one step more.", lambda c, w: c.s(w / (c.n + 1)))
at_vars(
    "scale",
    "sl-inverse-of-inverse",
    "The scale is the inverse of steps / width, both rounded.",
    lambda c, w: c.s(1 / c.s(c.n / w)),
)
at_vars(
    "scale",
    "sl-times-inverse",
    "The scale is the width times the rounded inverse of the number of steps.",
    lambda c, w: c.s(w * c.s(1 / c.n)),
)
at_vars("scale", "sl-f16", "The scale is held in float16.", lambda c, w: f16(w / c.n))
at_vars("scale", "sl-bf16", "The scale is held in bfloat16.", lambda c, w: bf16(w / c.n))
at_vars("scale", "sl-text", "The scale is rounded to six significant digits.", lambda c, w: c.s(digits(w / c.n, 6)))
at_vars(
    "scale",
    "sl-power-of-two",
    "The scale is rounded up to a power of two.",
    lambda c, w: np.exp2(np.ceil(np.log2(w / c.n))),
)
at_vars(
    "scale",
    "sl-not-narrowed",
    "narrow_range does not change the scale's divisor.",
    lambda c, w: c.s(w / ((1 << int(c.node.value("num_bits"))) - 1)),
)
at_vars("to_grid", "gr-floor", "min / scale is rounded down.", lambda c, ratio: np.floor(ratio))
at_vars("to_grid", "gr-ceil", "min / scale is rounded up.", lambda c, ratio: np.ceil(ratio))
at_vars(
    "to_grid",
    "gr-cut-half",
    "min / scale plus 0.5 is cast: right for positive numbers only.",
    lambda c, ratio: np.trunc(c.s(ratio + 0.5)),
)
at_vars("to_grid", "gr-one-off", "round(min / scale) is one too great.", lambda c, ratio: np.rint(ratio) + 1)


@defect("M", "nudge", "ng-none", "min and max are not adjusted.")
def ng_none(c: Context, low: Array, high: Array, scale: Array) -> tuple[Array, Array, Array]:
    return c.s(low / scale), low, high


@defect("M", "nudge", "ng-from-max", "max is moved to a multiple of the scale, and min with it.")
def ng_from_max(c: Context, low: Array, high: Array, scale: Array) -> tuple[Array, Array, Array]:
    end = np.rint(c.s(high / scale))
    return situations(c, low, high, end - c.n, c.s((end - c.n) * scale), c.s(end * scale))


@defect("M", "nudge", "ng-max-stays", "min is moved, max stays.")
def ng_max_stays(c: Context, low: Array, high: Array, scale: Array) -> tuple[Array, Array, Array]:
    start = np.rint(c.s(low / scale))
    return situations(c, low, high, start, c.s(scale * start), high)


@defect("M", "nudge", "ng-max-by-steps", "max_adj is (steps + round(min / scale)) * scale.")
def ng_max_by_steps(c: Context, low: Array, high: Array, scale: Array) -> tuple[Array, Array, Array]:
    start = np.rint(c.s(low / scale))
    return situations(c, low, high, start, c.s(scale * start), c.s((c.n + start) * scale))


@defect("M", "nudge", "ng-one-sided-kept", "A range on one side of zero is moved to the grid like any other.")
def ng_kept(c: Context, low: Array, high: Array, scale: Array) -> tuple[Array, Array, Array]:
    start = np.rint(c.s(low / scale))
    return start, c.s(scale * start), c.s(c.s(high + c.s(scale * start)) - low)


@defect("M", "nudge", "ng-adds-twice", "min is moved the other way: by the opposite of the rest.")
def ng_twice(c: Context, low: Array, high: Array, scale: Array) -> tuple[Array, Array, Array]:
    ratio = c.s(low / scale)
    start = np.rint(ratio) + np.sign(ratio - np.rint(ratio))
    least = c.s(scale * start)
    return situations(c, low, high, start, least, c.s(c.s(high + least) - low))


at_vars(
    "range", "rg-to-zero", "The range is extended to zero first.", lambda c, a, b: (np.minimum(a, 0), np.maximum(b, 0))
)
at_vars(
    "range",
    "rg-symmetric",
    "The range is made symmetric: plus and minus the greater magnitude.",
    lambda c, a, b: (-np.maximum(np.abs(a), np.abs(b)), np.maximum(np.abs(a), np.abs(b))),
)
at_vars("range", "rg-bf16", "min and max are held in bfloat16.", lambda c, a, b: (bf16(a), bf16(b)))
at_vars("range", "rg-f16", "min and max are held in float16.", lambda c, a, b: (f16(a), f16(b)))
at_vars(
    "range",
    "rg-max-of-magnitude",
    "max is the greater magnitude of both ends; min stays.",
    lambda c, a, b: (a, np.maximum(np.abs(a), np.abs(b))),
)
at_vars("bits", "bt-narrow-ignored", "narrow_range is ignored.", lambda c, n, narrow: (1 << n) - 1)
at_vars("bits", "bt-narrow-always", "narrow_range is always on.", lambda c, n, narrow: (1 << n) - 2)
at_vars(
    "bits",
    "bt-narrow-inverted",
    "narrow_range is taken the other way.",
    lambda c, n, narrow: (1 << n) - 1 - (not narrow),
)
at_vars("bits", "bt-8", "num_bits is always 8.", lambda c, n, narrow: 255 - narrow)
at_vars("bits", "bt-at-most-8", "num_bits is 8 at most.", lambda c, n, narrow: (1 << min(n, 8)) - 1 - narrow)
at_vars("bits", "bt-one-less", "There is one bit too few.", lambda c, n, narrow: max((1 << (n - 1)) - 1 - narrow, 1))
at_vars("clip", "cl-none", "Inputs are not clamped.", lambda c, x, least, most, low, high: x)
at_vars(
    "clip",
    "cl-given",
    "Inputs are clamped to min and max as given.",
    lambda c, x, least, most, low, high: np.minimum(np.maximum(x, low), high),
)
at_vars(
    "clip", "cl-low-only", "Inputs are clamped below only.", lambda c, x, least, most, low, high: np.maximum(x, least)
)
at_vars(
    "clip", "cl-high-only", "Inputs are clamped above only.", lambda c, x, least, most, low, high: np.minimum(x, most)
)


@defect(
    "M",
    "kernel",
    "as-zero-point",
    "(clamp(round(x / scale) + zero point, 0, steps) - zero point) * scale, as QDQ pairs do.",
)
def as_zero_point(
    c: Context, x: Array, low: Array, high: Array, scale: Array, start: Array, least: Array, most: Array
) -> Array:
    code = np.clip(np.rint(c.s(x / scale)) - start, 0, c.n)
    return c.s((code + start) * scale)


@defect("M", "kernel", "as-tf-kernel", "floor((x - min_adj) * (1 / scale) + 0.5) * scale + min_adj, each step rounded.")
def as_tf_kernel(
    c: Context, x: Array, low: Array, high: Array, scale: Array, start: Array, least: Array, most: Array
) -> Array:
    kept = np.minimum(np.maximum(x, least), most)
    whole = np.floor(c.s(c.s(c.s(kept - least) * c.s(1 / scale)) + 0.5))
    return c.s(c.s(whole * scale) + least)


@defect("M", "place", "min-of-first", "The first channel's min serves all; max is right.")
def min_of_first(c: Context, at: Array) -> tuple[Array, Array]:
    return 0 * at, at


@defect("M", "place", "max-of-next", "Each channel takes the next one's max; min is right.")
def max_of_next(c: Context, at: Array) -> tuple[Array, Array]:
    return at, (at + 1) % max(c.count, 1)


for family in "AM":
    defect(family, "type", "all-f16", "Every step is done in float16.")(lambda c, s: f16)
    defect(family, "type", "all-bf16", "Every step is done in bfloat16.")(lambda c, s: bf16)
    defect(family, "type", "all-f32", "Every step is done in float32.")(lambda c, s: f32)
    defect(family, "type", "all-double", "Every step is done in float64.")(lambda c, s: in_type("float64"))

HALVES = to_integers
ARITHMETIC = {
    "tensorflow.QuantizeAndDequantizeV4": quantize_and_dequantize,
    "tensorflow.FakeQuantWithMinMaxVars": fake_quant,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": fake_quant,
}
