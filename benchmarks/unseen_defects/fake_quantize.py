"""openvino.FakeQuantize as steps, and the defects of it alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.known_defects.numbers import Array, converted, in_type
from benchmarks.unseen_defects import common
from benchmarks.unseen_defects.steps import Context, bf16, defect, estimate, f16, f32, same
from tiebreak.golden.nodes import Node

Four = tuple[Array, Array, Array, Array]


def fake_quantize(node: Node, inputs: tuple[Array, ...], how: dict[str, Any]) -> tuple[Array, ...]:
    c = Context(node=node, how=how, out=node.outputs[0].dtype)
    c.kind, c.s = c.out, in_type(c.out)
    x = c.s(c.do("x", same, inputs[0].astype(np.float64)))
    raw = [limit.astype(np.float64) for limit in inputs[1:]]
    c.s = c.do("type", same, c.s)
    c.n = float(c.s(np.float64(c.do("levels", same, int(node.attributes["levels"])) - 1)))
    limits = c.do("limits", same, tuple(c.do("lay", lay, raw, x.shape)))
    y = c.do("branches", branches, x, limits)
    return (converted(c.do("out", same, y), c.out),)


def lay(c: Context, raw: list[Array], shape: tuple[int, ...]) -> list[Array]:
    return [np.broadcast_to(limit, shape) for limit in raw]


def branches(c: Context, x: Array, limits: Four) -> Array:
    low, high, first, last = limits
    least, most = np.minimum(low, high), np.maximum(low, high)
    return np.where(x <= least, first, np.where(x > most, last, inside(c, x, limits)))


def inside(c: Context, x: Array, limits: Four) -> Array:
    return c.do("kernel", kernel, x, tuple(c.s(limit) for limit in limits))


def kernel(c: Context, x: Array, limits: Four) -> Array:
    low, high, first, last = limits
    level = c.do("round", common.whole, c.do("position", position, c.s(x), low, c.s(high - low)), "even")
    return c.do("back", back, level, first, last, c.s(last - first))


def position(c: Context, x: Array, low: Array, width: Array) -> Array:
    return c.s(c.s(c.s(x - low) / width) * c.n)


def back(c: Context, level: Array, first: Array, last: Array, width: Array) -> Array:
    return c.s(c.s(c.s(level / c.n) * width) + first)


def placing(name: str, sentence: str, way: Any) -> None:
    defect("F", "position", name, sentence)(way)


placing(
    "pos-one-factor", "(x - input_low) * ((levels - 1) / range).", lambda c, x, low, w: c.s(c.s(x - low) * c.s(c.n / w))
)
placing(
    "pos-inverse-step",
    "(x - input_low) times the rounded inverse of the rounded step.",
    lambda c, x, low, w: c.s(c.s(x - low) * c.s(1 / c.s(w / c.n))),
)
placing(
    "pos-step",
    "(x - input_low) / step, the step range / (levels - 1).",
    lambda c, x, low, w: c.s(c.s(x - low) / c.s(w / c.n)),
)
placing(
    "pos-inverse-range",
    "(x - input_low) times the rounded inverse of the range, times levels - 1.",
    lambda c, x, low, w: c.s(c.s(c.s(x - low) * c.s(1 / w)) * c.n),
)
placing(
    "pos-levels-first", "(x - input_low) * (levels - 1) / range.", lambda c, x, low, w: c.s(c.s(c.s(x - low) * c.n) / w)
)
placing(
    "pos-scale-shift",
    "x * scale + shift, shift = -input_low * scale, all rounded.",
    lambda c, x, low, w: c.s(c.s(x * c.s(c.n / w)) - c.s(low * c.s(c.n / w))),
)
placing(
    "pos-scale-shift-fma",
    "fma(x, scale, shift), shift = -input_low * scale rounded.",
    lambda c, x, low, w: c.s(x * c.s(c.n / w) - c.s(low * c.s(c.n / w))),
)
placing(
    "pos-two-quotients",
    "x / step - input_low / step.",
    lambda c, x, low, w: c.s(c.s(x / c.s(w / c.n)) - c.s(low / c.s(w / c.n))),
)
placing(
    "pos-rcp12",
    "(x - input_low) times an estimate of the range's inverse, of 12 bits, times levels - 1.",
    lambda c, x, low, w: c.s(c.s(c.s(x - low) * estimate(w, 12, 0, c.s)) * c.n),
)
placing(
    "pos-f16",
    "The position is computed in float16, by the document's steps.",
    lambda c, x, low, w: f16(f16(f16(f16(x) - f16(low)) / f16(w)) * c.n),
)
placing(
    "pos-bf16",
    "The position is computed in bfloat16, by the document's steps.",
    lambda c, x, low, w: bf16(bf16(bf16(bf16(x) - bf16(low)) / bf16(w)) * c.n),
)
placing(
    "pos-from-high",
    "levels - 1 minus the position counted from input_high.",
    lambda c, x, low, w: c.s(c.n - c.s(c.s(c.s(c.s(low + w) - x) / w) * c.n)),
)
placing("pos-zero-based", "x / range, without input_low.", lambda c, x, low, w: c.s(c.s(x / w) * c.n))
placing(
    "pos-magnitude-low",
    "The magnitude of input_low is added, whatever its sign.",
    lambda c, x, low, w: c.s(c.s(c.s(x + np.abs(low)) / w) * c.n),
)


def returning(name: str, sentence: str, way: Any) -> None:
    defect("F", "back", name, sentence)(way)


returning(
    "back-step",
    "level * step + output_low, the step output range / (levels - 1).",
    lambda c, q, low, high, w: c.s(c.s(q * c.s(w / c.n)) + low),
)
returning("back-step-fma", "fma(level, step, output_low).", lambda c, q, low, high, w: c.s(q * c.s(w / c.n) + low))
returning(
    "back-inverse",
    "level times the rounded inverse of levels - 1, times the output range.",
    lambda c, q, low, high, w: c.s(c.s(c.s(q * c.s(1 / c.n)) * w) + low),
)
returning(
    "back-range-first",
    "level * output range / (levels - 1).",
    lambda c, q, low, high, w: c.s(c.s(c.s(q * w) / c.n) + low),
)
returning(
    "back-lerp",
    "output_low * (1 - f) + output_high * f.",
    lambda c, q, low, high, w: c.s(c.s(c.s(1 - c.s(q / c.n)) * low) + c.s(c.s(q / c.n) * high)),
)
returning(
    "back-fma", "fma(fraction, output range, output_low).", lambda c, q, low, high, w: c.s(c.s(q / c.n) * w + low)
)
returning(
    "back-from-high",
    "output_high minus (levels - 1 - level) steps.",
    lambda c, q, low, high, w: c.s(high - c.s(c.s((c.n - q) / c.n) * w)),
)
returning(
    "back-step-f16",
    "level * step + output_low, the step held in float16.",
    lambda c, q, low, high, w: c.s(c.s(q * f16(w / c.n)) + low),
)
returning(
    "back-step-bf16",
    "level * step + output_low, the step held in bfloat16.",
    lambda c, q, low, high, w: c.s(c.s(q * bf16(w / c.n)) + low),
)
returning(
    "back-two-products",
    "Two products are added: level * step and 1 * output_low of steps: (level + low / step) * step.",
    lambda c, q, low, high, w: c.s(c.s(q + c.s(low / c.s(w / c.n))) * c.s(w / c.n)),
)
returning("back-no-offset", "output_low is not added.", lambda c, q, low, high, w: c.s(c.s(q / c.n) * w))
returning(
    "back-high-offset",
    "output_high is added in place of output_low.",
    lambda c, q, low, high, w: c.s(c.s(c.s(q / c.n) * w) + high),
)
returning(
    "back-mirrored",
    "The levels count from the other end.",
    lambda c, q, low, high, w: c.s(c.s(c.s((c.n - q) / c.n) * w) + low),
)


@defect(
    "F",
    "kernel",
    "as-quantize-dequantize",
    "Scale and a rounded zero point on both sides: (round(x / s) + z, clamped, - z') * s'.",
)
def as_qdq(c: Context, x: Array, limits: Four) -> Array:
    low, high, first, last = limits
    step, step_out = c.s(c.s(high - low) / c.n), c.s(c.s(last - first) / c.n)
    zero, zero_out = np.rint(c.s(-low / step)), np.rint(c.s(-first / step_out))
    code = np.clip(np.rint(c.s(c.s(x) / step)) + zero, 0, c.n)
    return c.s((code - zero_out) * step_out)


def levels(name: str, sentence: str, way: Any) -> None:
    defect("F", "levels", name, sentence)(way)


levels("lv-plus-one", "levels steps, not levels - 1.", lambda c, n: n + 1)
levels("lv-minus-one", "There is one level too few.", lambda c, n: max(n - 1, 2))
levels("lv-256-is-255", "256 levels become 255.", lambda c, n: 255 if n == 256 else n)
levels("lv-at-most-256", "There are 256 levels at most.", lambda c, n: min(n, 256))
levels("lv-at-least-16", "There are 16 levels at least.", lambda c, n: max(n, 16))
levels("lv-even", "An odd number of levels is made even: one more.", lambda c, n: n + n % 2)
levels(
    "lv-power-of-two", "The number of levels is rounded down to a power of two.", lambda c, n: 1 << (n.bit_length() - 1)
)


def limiting(name: str, sentence: str, way: Any) -> None:
    defect("F", "limits", name, sentence)(lambda c, four: way(c, *four))


limiting(
    "lim-both-pairs-swap",
    "Where input_low > input_high both pairs of limits are exchanged.",
    lambda c, a, b, p, q: tuple(np.where(a > b, v, u) for u, v in ((a, b), (b, a), (p, q), (q, p))),
)
limiting(
    "lim-inputs-sorted",
    "The input limits are put in order.",
    lambda c, a, b, p, q: (np.minimum(a, b), np.maximum(a, b), p, q),
)
limiting(
    "lim-outputs-sorted",
    "The output limits are put in order.",
    lambda c, a, b, p, q: (a, b, np.minimum(p, q), np.maximum(p, q)),
)
limiting("lim-outputs-swapped", "output_low and output_high are exchanged.", lambda c, a, b, p, q: (a, b, q, p))
limiting("lim-outputs-are-inputs", "The input limits serve as output limits.", lambda c, a, b, p, q: (a, b, a, b))
limiting("lim-inputs-are-outputs", "The output limits serve as input limits.", lambda c, a, b, p, q: (p, q, p, q))
limiting("lim-symmetric", "input_low is taken as -input_high.", lambda c, a, b, p, q: (-b, b, p, q))
limiting("lim-inputs-bf16", "The input limits are held in bfloat16.", lambda c, a, b, p, q: (bf16(a), bf16(b), p, q))
limiting("lim-outputs-f16", "The output limits are held in float16.", lambda c, a, b, p, q: (a, b, f16(p), f16(q)))
limiting("lim-all-f32", "All limits are held in float32.", lambda c, a, b, p, q: (f32(a), f32(b), f32(p), f32(q)))
limiting(
    "lim-nudged",
    "The input range is moved so that zero is on the grid.",
    lambda c, a, b, p, q: (*nudged(c, a, b), p, q),
)
limiting(
    "lim-include-zero",
    "The input range is extended to zero.",
    lambda c, a, b, p, q: (np.minimum(a, 0), np.maximum(b, 0), p, q),
)


def nudged(c: Context, low: Array, high: Array) -> tuple[Array, Array]:
    step = c.s(c.s(high - low) / c.n)
    moved = c.s(c.s(np.rint(c.s(low / step)) * step) - low)
    moved = np.where(np.isfinite(moved), moved, 0.0)
    return c.s(low + moved), c.s(high + moved)


def spreading(name: str, sentence: str, pick: Any) -> None:
    def way(c: Context, raw: list[Array], shape: tuple[int, ...]) -> list[Array]:
        return [np.broadcast_to(pick(i, limit) if limit.size > 1 else limit, shape) for i, limit in enumerate(raw)]

    defect("F", "lay", name, sentence)(way)


def first_of(limit: Array) -> Array:
    return np.full_like(limit, limit.reshape(-1)[0])


def shifted(limit: Array, by: int) -> Array:
    return np.roll(limit.reshape(-1), by).reshape(limit.shape)


spreading("lay-first", "The first of each limit serves all.", lambda i, v: first_of(v))
spreading(
    "lay-inputs-first",
    "The first of the input limits serves all; output limits are right.",
    lambda i, v: first_of(v) if i < 2 else v,
)
spreading(
    "lay-outputs-first",
    "The first of the output limits serves all; input limits are right.",
    lambda i, v: first_of(v) if i >= 2 else v,
)
spreading("lay-high-first", "The first input_high serves all.", lambda i, v: first_of(v) if i == 1 else v)
spreading("lay-low-first", "The first output_low serves all.", lambda i, v: first_of(v) if i == 2 else v)
spreading("lay-previous", "Each channel takes the previous one's limits.", lambda i, v: shifted(v, 1))
spreading("lay-next", "Each channel takes the next one's limits.", lambda i, v: shifted(v, -1))
spreading(
    "lay-reversed", "Channels take the limits in reverse order.", lambda i, v: v.reshape(-1)[::-1].reshape(v.shape)
)


@defect("F", "branches", "br-computed", "x is clipped and the expression computed everywhere; nothing is copied.")
def br_computed(c: Context, x: Array, limits: Four) -> Array:
    low, high = np.minimum(*limits[:2]), np.maximum(*limits[:2])
    return inside(c, np.minimum(np.maximum(x, low), high), limits)


@defect("F", "branches", "br-high-computed", "Above the input range the expression is computed for the clipped x.")
def br_high_computed(c: Context, x: Array, limits: Four) -> Array:
    low, high = np.minimum(*limits[:2]), np.maximum(*limits[:2])
    return np.where(x <= low, limits[2], inside(c, np.minimum(x, high), limits))


@defect("F", "branches", "br-low-computed", "Below the input range the expression is computed for the clipped x.")
def br_low_computed(c: Context, x: Array, limits: Four) -> Array:
    low, high = np.minimum(*limits[:2]), np.maximum(*limits[:2])
    return np.where(x > high, limits[3], inside(c, np.maximum(x, low), limits))


@defect("F", "branches", "br-none", "Nothing is clipped.")
def br_none(c: Context, x: Array, limits: Four) -> Array:
    return inside(c, x, limits)


@defect("F", "branches", "br-below-not-clipped", "Nothing is clipped below the range.")
def br_below(c: Context, x: Array, limits: Four) -> Array:
    return np.where(x > np.maximum(*limits[:2]), limits[3], inside(c, x, limits))


@defect("F", "branches", "br-swapped", "output_high is given below the range and output_low above.")
def br_swapped(c: Context, x: Array, limits: Four) -> Array:
    low, high, first, last = limits
    least, most = np.minimum(low, high), np.maximum(low, high)
    return np.where(x <= least, last, np.where(x > most, first, inside(c, x, limits)))


@defect("F", "branches", "br-x-passes", "Outside the range x itself is given.")
def br_passes(c: Context, x: Array, limits: Four) -> Array:
    least, most = np.minimum(*limits[:2]), np.maximum(*limits[:2])
    return np.where((x <= least) | (x > most), x, inside(c, x, limits))


@defect("F", "branches", "br-unsorted", "Low and high are compared as given: x <= input_low, else x > input_high.")
def br_unsorted(c: Context, x: Array, limits: Four) -> Array:
    low, high, first, last = limits
    return np.where(x <= low, first, np.where(x > high, last, inside(c, x, limits)))


@defect("F", "branches", "br-half", "At equal limits x gives output_high unless it is less.")
def br_half(c: Context, x: Array, limits: Four) -> Array:
    low, high, _, last = limits
    return np.where((low == high) & (x == low), last, branches(c, x, limits))


for kind_, told in (("float16", "float16"), ("bfloat16", "bfloat16"), ("float32", "float32")):
    defect("F", "type", f"steps-{kind_}", f"Every step is done in {told}.")(lambda c, s, k=kind_: in_type(k))
defect("F", "type", "steps-float64", "Every step is done in float64; the result is rounded once.")(
    lambda c, s: lambda values: np.asarray(values, np.float64)
)

ARITHMETIC = {"openvino.FakeQuantize": fake_quantize}
