"""Wrong and right backends for TensorFlow's fake quantization.

The base is arithmetic in double, which is exact enough for every result that the documents determine in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from wrong_model import Array, WrongBackend

PER_TENSOR = "tensorflow.FakeQuantWithMinMaxVars"
PER_CHANNEL = "tensorflow.FakeQuantWithMinMaxVarsPerChannel"
SCALED = "tensorflow.QuantizeAndDequantizeV4"
F32 = (("float32", "float32"),)
HALVES = (("float16", "float16"), ("bfloat16", "bfloat16"))
F64 = (("float64", "float64"),)
Run = Callable[..., tuple[Array, ...]]
Rounding = Callable[[Array], Array]


# FakeQuantWithMinMaxVars and its per-channel form: ranges broadcast on the last axis as they are.


@dataclass(frozen=True)
class Recipe:
    """A right one; every field is there to be replaced by one defect."""

    lowest: Callable[[bool], int] = lambda narrow: int(narrow)
    highest: Callable[[int], int] = lambda width: (1 << width) - 1
    scale_steps: Callable[[int, int], int] = lambda lowest, highest: highest - lowest
    round_min: Rounding = np.rint
    round_value: Rounding = np.rint
    keep_positive: bool = False
    keep_negative: bool = False
    nudge: bool = True
    adds_min: bool = False  # on the way back: needed where min_adj is no multiple of scale
    clamp: str = "adjusted"
    store: Rounding = lambda q: q
    result: Rounding = lambda values: values
    kind: Any = np.float64


def fake(recipe: Recipe) -> Run:
    def run(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            given = (a.astype(recipe.kind) for a in (x, low, high))
            found = recipe.result(follow(recipe, node.attributes, *given))
            return (np.asarray(found).astype(np.float32).reshape(x.shape),)

    return run


def follow(r: Recipe, attributes: Any, x: Array, low: Array, high: Array) -> Array:
    lowest = r.lowest(attributes.get("narrow_range", False))
    highest = r.highest(attributes.get("num_bits", 8))
    scale = (high - low) / r.kind(r.scale_steps(lowest, highest))
    least = scale * r.round_min(low / scale) if r.nudge else low
    greatest = high + (least - low)
    if not r.keep_positive:
        least, greatest = np.where(low > 0, 0, least), np.where(low > 0, high - low, greatest)
    if not r.keep_negative:
        least, greatest = np.where(high < 0, low - high, least), np.where(high < 0, 0, greatest)
    ends = {"adjusted": (least, greatest), "given": (low, high), "low": (least, np.inf), "min-max": (least, high)}
    bottom, top = ends.get(r.clamp, (-np.inf, np.inf))
    q = r.store(r.round_value((np.minimum(np.maximum(x, bottom), top) - least) / scale) + lowest)
    if r.adds_min or r.keep_positive or r.keep_negative or not r.nudge:
        return np.asarray((q - lowest) * scale + least)
    steps = r.kind(r.scale_steps(lowest, highest))
    first = np.where(low > 0, r.kind(0), np.where(high < 0, -steps, r.round_min(low / scale)))
    return np.asarray((q - lowest + first) * scale)


def in_steps(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Working precision as documented: float32 after every step."""
    return (np.asarray(follow(Recipe(kind=np.float32), node.attributes, x, low, high), np.float32).reshape(x.shape),)


def in_steps_upward(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    upward = Recipe(kind=np.float32, round_value=half_up, round_min=half_up)
    return (np.asarray(follow(upward, node.attributes, x, low, high), np.float32).reshape(x.shape),)


def half_up(q: Array) -> Array:
    return np.asarray(np.floor(q.astype(np.float64) + 0.5), q.dtype)


def by_fractions(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """One element after the other in rational numbers, as a table of grid points."""
    found = np.full(x.shape, np.nan, np.float32)
    lows, highs = np.broadcast_to(low, x.shape), np.broadcast_to(high, x.shape)
    steps = (1 << node.attributes.get("num_bits", 8)) - 1 - node.attributes.get("narrow_range", False)
    for i in np.ndindex(*x.shape):
        if np.isfinite([x[i], lows[i], highs[i]]).all() and lows[i] < highs[i]:
            value, first, last = (Fraction(float(a[i])) for a in (x, lows, highs))
            found[i] = narrowed(nearest_point(value, first, last, steps), np.float32)
    return (found,)


def nearest_point(x: Fraction, low: Fraction, high: Fraction, steps: int) -> Fraction:
    step = (high - low) / steps
    first = 0 if low > 0 else -steps if high < 0 else math.floor(low / step + Fraction(1, 2))
    return min(max(math.floor(x / step - first + Fraction(1, 2)), 0), steps) * step + first * step


def narrowed(value: Fraction, kind: Any) -> float:
    """Rounded once: a double made odd where it is inexact, then the type's own conversion."""
    wide = float(value)
    error = value - Fraction(wide)
    if kind is np.float64 or not error:
        return wide
    if (error > 0) != (wide > 0):
        wide = math.nextafter(wide, 0.0)
    mantissa, _ = math.frexp(wide)
    return wide if int(math.ldexp(mantissa, 53)) % 2 else math.nextafter(wide, math.copysign(math.inf, wide))


def by_zero_point(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """(q - zero point) * scale with scale in float32; q is found as documented."""
    lowest, highest = int(node.attributes.get("narrow_range", False)), (1 << node.attributes.get("num_bits", 8)) - 1
    one = np.float32
    with np.errstate(all="ignore"):
        scale = (high - low) / one(highest - lowest)
        offset = half_up(low / scale)
        zero = lowest - np.select([low > 0, high < 0], [one(0), one(lowest - highest)], offset).astype(one)
        bottom = np.select([low > 0, high < 0], [one(0), low - high], offset * scale).astype(one)
        top = np.select([low > 0, high < 0], [high - low, one(0)], high + bottom - low).astype(one)
        q = half_up((np.clip(x, bottom, top) - bottom) / scale) + one(lowest)
        return (np.asarray((q - zero) * scale, np.float32).reshape(x.shape),)


def flushing(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    tiny = np.float32(2.0**-126)
    parts = (np.where(np.abs(a) < tiny, np.float32(0), a).astype(np.float32) for a in (x, low, high))
    (found,) = fake(Recipe())(node, *parts)
    return (np.where(np.abs(found) < tiny, np.float32(0), found),)


def tail_truncates(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Vectors of eight round, what is left over truncates."""
    (right,), (wrong,) = fake(Recipe())(node, x, low, high), fake(Recipe(round_value=np.floor))(node, x, low, high)
    body = np.arange(x.size) < x.size - x.size % 8
    return (np.where(body.reshape(x.shape), right, wrong),)


def with_ranges(change: Callable[[Array, Array], tuple[Array, Array]]) -> Run:
    """The right recipe with other ranges; of the shape (d,) or one that broadcasts."""
    right = fake(Recipe())

    def run(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        return right(node, x, *change(low, high)) if x.size else (x.copy(),)

    return run


def along_axis(axis: int) -> Run:
    """Ranges laid along another axis where its size is the last one's."""
    right = fake(Recipe())

    def run(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        if x.ndim <= axis + 1 or x.shape[axis] != x.shape[-1]:
            return right(node, x, low, high)
        shape = [-1 if a == axis else 1 for a in range(x.ndim)]
        return right(node, x, low.reshape(shape), high.reshape(shape))

    return run


FAKE: tuple[tuple[str, Run, str], ...] = (
    ("truncates the quantized value", fake(Recipe(round_value=np.floor)), "NearTie"),
    ("rounds the quantized value up", fake(Recipe(round_value=np.ceil)), "NearTie"),
    ("leaves min and max off the grid", fake(Recipe(nudge=False)), "Nudged"),
    ("moves min down to the grid", fake(Recipe(round_min=np.floor)), "Nudged"),
    ("moves min toward zero to the grid", fake(Recipe(round_min=np.trunc)), "Nudged"),
    ("clamps to min and max as given", fake(Recipe(clamp="given")), "ZeroOutside"),
    ("clamps to the adjusted min and the given max", fake(Recipe(clamp="min-max")), "ZeroOutside"),
    ("does not clamp", fake(Recipe(clamp="never")), "NearTie"),
    ("clamps only from below", fake(Recipe(clamp="low")), "ZeroOutside"),
    ("ignores narrow_range", fake(Recipe(lowest=lambda narrow: 0)), "NarrowRange"),
    ("always narrow", fake(Recipe(lowest=lambda narrow: 1)), "NearTie"),
    (
        "2^num_bits - 1 steps in scale with narrow_range too",
        fake(Recipe(scale_steps=lambda lowest, highest: highest)),
        "NarrowRange",
    ),
    ("narrow at the other end as well", fake(Recipe(highest=lambda width: (1 << width) - 2)), "NearTie"),
    ("ignores num_bits", fake(Recipe(highest=lambda width: 255)), "Nudged"),
    ("one step too many in scale", fake(Recipe(scale_steps=lambda lowest, highest: highest - lowest + 1)), "Nudged"),
    ("keeps a positive range where it is", fake(Recipe(keep_positive=True)), "ZeroOutside"),
    ("keeps a negative range where it is", fake(Recipe(keep_negative=True)), "ZeroOutside"),
    ("keeps quantized values in eight bits", fake(Recipe(store=lambda q: q % 256)), "Nudged"),
    ("computes in float16", fake(Recipe(kind=np.float16)), "NearTie"),
    ("rounds results to bfloat16", fake(Recipe(result=lambda v: v.astype(ml_dtypes.bfloat16))), "Nudged"),
    ("q * scale + min_adj in float32", fake(Recipe(kind=np.float32, adds_min=True)), "PrecisionSensitive"),
    ("result in float32 arithmetic, min rounded away", fake(Recipe(kind=np.float32, round_min=np.floor)), "Nudged"),
)
ONE_TENSOR: tuple[tuple[str, Run, str], ...] = (
    ("flushes subnormals", flushing, "Subnormal"),
    ("truncates in the tail", tail_truncates, "Lane"),
)
CHANNELS: tuple[tuple[str, Run, str], ...] = (
    ("the first channel's range for all", with_ranges(lambda a, b: (a[:1], b[:1])), "PerAxis"),
    ("the last channel's range for all", with_ranges(lambda a, b: (a[-1:], b[-1:])), "PerAxis"),
    ("the widest range for all", with_ranges(lambda a, b: (np.nanmin(a)[None], np.nanmax(b)[None])), "PerAxis"),
    ("ranges one channel off", with_ranges(lambda a, b: (np.roll(a, 1), np.roll(b, 1))), "PerAxis"),
    ("ranges in reverse order", with_ranges(lambda a, b: (a[::-1], b[::-1])), "PerAxis"),
    ("one min for all", with_ranges(lambda a, b: (a[:1], b)), "PerAxis"),
    ("ranges along the first axis", along_axis(0), "PerAxis"),
    ("ranges along axis 1", along_axis(1), "PerAxis"),
)


# QuantizeAndDequantizeV4.


@dataclass(frozen=True)
class Scaled:
    """A right one in double (or `kind`); every field is there to be replaced by one defect."""

    rounding: Callable[[Array, str], Array] = lambda q, mode: half_up(q) if mode == "HALF_UP" else np.rint(q)
    limits: Callable[[int, bool, bool], tuple[int, int]] = lambda width, signed, narrow: integers(width, signed, narrow)
    decides: str = "both"  # or "min", "max", "absolute"
    clamps: Callable[[bool, bool], bool] = lambda given, signed: True
    bounds: str = "updated"  # or "given"
    measures: Callable[[bool], bool] = lambda given: not given
    reduced: Callable[[Array, Any, tuple[int, ...]], Array] = lambda x, extreme, others: extreme(x, axis=others)
    axis: Callable[[int, int], int] = lambda axis, rank: axis
    signed: Callable[[bool], bool] = lambda signed: signed
    back: str = "divide"  # or "inverse", "range"
    unsigned_minimum: Callable[[Array], Array] = np.zeros_like
    kind: Any = np.float64


def integers(width: int, signed: bool, narrow: bool) -> tuple[int, int]:
    highest = (1 << (width - signed)) - 1
    return (-highest - (not narrow) if signed else 0), highest


def scaled(r: Scaled) -> Run:
    def run(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        if not x.size:
            return (x.copy(),)
        a = node.attributes
        axis = r.axis(a.get("axis", -1), x.ndim)
        others = tuple(other for other in range(x.ndim) if other != axis)
        with np.errstate(all="ignore"):
            if r.measures(a.get("range_given", False)) or low.size not in (1, x.shape[axis] if axis >= 0 else 1):
                low, high = (np.asarray(r.reduced(x, extreme, others)) for extreme in (np.min, np.max))
            shape = [size if other == axis else 1 for other, size in enumerate(x.shape)]
            ends = ((end if end.size == 1 else end.reshape(shape)) for end in (low, high))
            spread = (np.broadcast_to(end.reshape(()) if end.size == 1 else end, x.shape) for end in ends)
            found = carry_out(r, a, x.astype(r.kind), *(end.astype(r.kind) for end in spread))
            return (np.asarray(found).astype(x.dtype).reshape(x.shape),)

    return run


def carry_out(r: Scaled, a: Any, x: Array, low: Array, high: Array) -> Array:
    signed, given = r.signed(a.get("signed_input", True)), a.get("range_given", False)
    ends = r.limits(a.get("num_bits", 8), signed, a.get("narrow_range", False))
    lowest, highest = (np.asarray(end).astype(r.kind) for end in ends)
    low = low if signed else r.unsigned_minimum(low)
    if r.decides == "absolute":
        high = np.maximum(np.abs(low), np.abs(high))
        low = -high
    from_min, from_max = np.where(low < 0, lowest / low, np.inf), np.where(high > 0, highest / high, np.inf)
    if r.decides == "size":  # as many integers as each side's size asks for, whatever its sign
        from_min, from_max = np.abs(lowest / low), np.abs(highest / high)
    by_min = {"min": low < 0, "max": ~(high > 0)}.get(r.decides, from_min < from_max)
    factor = np.where(by_min, from_min, from_max).astype(r.kind)
    if r.clamps(given, signed):
        given_bounds = r.bounds == "given"
        bottom = low if given_bounds or not signed else np.where(by_min, low, lowest / factor)
        top = high if given_bounds else np.where(by_min, highest / factor, high)
        x = np.minimum(np.maximum(x, bottom), top)
    q = r.rounding(x * factor, a.get("round_mode", "HALF_TO_EVEN")).astype(r.kind)
    if r.back == "range":
        return np.asarray(q * np.where(by_min, low / lowest, high / highest).astype(r.kind))
    return np.asarray(q / factor if r.back == "divide" else q * (np.ones_like(factor) / factor))


def own_type(r: Scaled) -> Run:
    """The recipe in the input's own type, every step rounded."""

    def run(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        return scaled(Scaled(**{**r.__dict__, "kind": x.dtype.type}))(node, x, low, high)

    return run


def stepwise_rounding(q: Array, mode: str) -> Array:
    wide = q.astype(np.float64)
    whole = np.floor(wide)
    rest = wide - whole
    up = rest >= 0.5 if mode == "HALF_UP" else (rest > 0.5) | ((rest == 0.5) & (whole % 2 == 1))
    return np.asarray(whole + up, q.dtype)


def scaled_by_fractions(node: Any, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    a = node.attributes
    axis, given = a.get("axis", -1), a.get("range_given", False)
    lowest, highest = integers(a.get("num_bits", 8), a.get("signed_input", True), a.get("narrow_range", False))
    found = np.full(x.shape, np.nan, x.dtype)
    wide = x.astype(np.float64)
    for i in np.ndindex(*x.shape):
        slice_ = wide if axis < 0 else np.take(wide, i[axis], axis)
        j = () if axis < 0 else (i[axis],)
        ends = (float(low[j]), float(high[j])) if given else (float(slice_.min()), float(slice_.max()))
        if all(math.isfinite(v) for v in (float(wide[i]), *ends)):
            first, last = map(Fraction, ends)
            value = one_by_one(Fraction(float(wide[i])), first, last, lowest, highest, a)
            found[i] = np.nan if value is None else narrowed(value, x.dtype.type)
    return (found,)


def one_by_one(x: Fraction, low: Fraction, high: Fraction, lowest: int, highest: int, a: Any) -> Fraction | None:
    candidates = [Fraction(lowest) / low] if low < 0 and lowest else []
    candidates += [Fraction(highest) / high] if high > 0 else []
    if low > high or not candidates or not min(candidates):
        return None
    q = min(max(x * min(candidates), Fraction(lowest)), Fraction(highest))
    k = math.floor(q + Fraction(1, 2)) if a.get("round_mode") == "HALF_UP" else round(q)
    return k / min(candidates)


TOGETHER: tuple[tuple[str, Run, str], ...] = (
    ("ties to even always", scaled(Scaled(rounding=lambda q, mode: np.rint(q))), "Tie"),
    ("ties upward always", scaled(Scaled(rounding=lambda q, mode: half_up(q))), "Tie"),
    (
        "ties away from zero",
        scaled(Scaled(rounding=lambda q, mode: np.copysign(np.floor(np.abs(q) + 0.5), q))),
        "Tie",
    ),
    ("truncates", scaled(Scaled(rounding=lambda q, mode: np.trunc(q))), "NearTie"),
    ("rounds down", scaled(Scaled(rounding=lambda q, mode: np.floor(q))), "Tie"),
    ("ignores narrow_range", scaled(Scaled(limits=lambda w, s, n: integers(w, s, False))), "NarrowRange"),
    ("always narrow", scaled(Scaled(limits=lambda w, s, n: integers(w, s, True))), "OneSide"),
    (
        "narrow unsigned range",
        scaled(Scaled(limits=lambda w, s, n: (0, (1 << w) - 1 - n) if not s else integers(w, s, n))),
        "NarrowRange",
    ),
    ("input_max alone decides", scaled(Scaled(decides="max")), "OneSide"),
    ("input_min alone decides", scaled(Scaled(decides="min")), "ScaleNotPowerOfTwo"),
    ("one size on both sides of 0", scaled(Scaled(decides="absolute")), "OneSide"),
    ("factors by each side's size", scaled(Scaled(decides="size")), "ZeroOutside"),
    (
        "keeps a positive unsigned input_min",
        scaled(Scaled(unsigned_minimum=lambda low: np.maximum(low, 0))),
        "ZeroOutside",
    ),
    ("clamps to the range as given", scaled(Scaled(bounds="given")), "OneSide"),
    ("never clamps", scaled(Scaled(clamps=lambda given, signed: False)), "NearTie"),
    ("does not clamp to a measured range", scaled(Scaled(clamps=lambda given, signed: given)), "Measured"),
    ("always signed", scaled(Scaled(signed=lambda signed: True)), "NearTie"),
    ("always unsigned", scaled(Scaled(signed=lambda signed: False)), "OneSide"),
    ("eight bits always", scaled(Scaled(limits=lambda w, s, n: integers(8, s, n))), "Tie"),
    ("takes the range inputs though it is to be measured", scaled(Scaled(measures=lambda given: False)), "Measured"),
    ("measures though the range is given", scaled(Scaled(measures=lambda given: True)), "OneSide"),
    ("measures over the whole tensor", scaled(Scaled(reduced=lambda x, extreme, others: extreme(x))), "PerAxis"),
    ("always the last axis", scaled(Scaled(axis=lambda axis, rank: rank - 1 if axis >= 0 else axis)), "PerAxis"),
)
SINGLE: tuple[tuple[str, Run, str], ...] = (
    ("multiplies by the range's side over the integer", own_type(Scaled(back="range")), "ScaleNotPowerOfTwo"),
    ("multiplies by the rounded inverse", own_type(Scaled(back="inverse")), "ScaleNotPowerOfTwo"),
)


def named(prefix: str, operator: str, entries: Any, types: Any) -> tuple[WrongBackend, ...]:
    return tuple(WrongBackend(f"{prefix}: {name}", operator, run, flag, types) for name, run, flag in entries)


WRONG = (
    *named("fake quant", PER_TENSOR, (*FAKE, *ONE_TENSOR), F32),
    *named("fake quant per channel", PER_CHANNEL, (*FAKE[:9:3], *FAKE[9:14], *CHANNELS), F32),
    *named("quantize and dequantize", SCALED, TOGETHER, (*F32, *HALVES, *F64)),
    *named("quantize and dequantize", SCALED, SINGLE, (*F32, *F64)),
    *named("quantize and dequantize", SCALED, [("in float32", scaled(Scaled(kind=np.float32)), "NearTie")], F64),
)
RIGHT = (
    *named("fake quant", PER_TENSOR, [("in double", fake(Recipe()), "")], F32),
    *named("fake quant", PER_TENSOR, [("float32 steps", in_steps, ""), ("upward steps", in_steps_upward, "")], F32),
    *named("fake quant", PER_TENSOR, [("in fractions", by_fractions, "")], F32),
    *named("fake quant", PER_TENSOR, [("with a zero point", by_zero_point, "")], F32),
    *named(
        "fake quant per channel", PER_CHANNEL, [("float32 steps", in_steps, ""), ("fractions", by_fractions, "")], F32
    ),
    *named("quantize and dequantize", SCALED, [("in fractions", scaled_by_fractions, "")], (*F32, *HALVES, *F64)),
    *named(
        "quantize and dequantize",
        SCALED,
        [("in the input's type", own_type(Scaled(rounding=stepwise_rounding)), "")],
        (*F32, *HALVES, *F64),
    ),
)
