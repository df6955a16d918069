"""Wrong and right backends for tensorflow.FakeQuantWithMinMaxVars and its per-channel form.

The base is arithmetic in double, which is exact enough for every result that the documents determine in float32, but
for those that it rounds onto a midpoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from arithmetic_of_tensorflow import narrowed

from wrong_model import Array, WrongBackend

PER_TENSOR = "tensorflow.FakeQuantWithMinMaxVars"
PER_CHANNEL = "tensorflow.FakeQuantWithMinMaxVarsPerChannel"
F32 = (("float32", "float32"),)
Run = Callable[..., tuple[Array, ...]]
Rounding = Callable[[Array], Array]


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


def zero_for_nan(run: Run) -> Run:
    """What steps that overflow lead to is taken for zero."""

    def changed(node: Any, *inputs: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            (found,) = run(node, *inputs)
        return (np.where(np.isnan(found), found.dtype.type(0), found),)

    return changed


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
    ("always narrow", fake(Recipe(lowest=lambda narrow: 1)), "NearTie"),
    ("narrow at the other end as well", fake(Recipe(highest=lambda width: (1 << width) - 2)), "NearTie"),
    ("ignores num_bits", fake(Recipe(highest=lambda width: 255)), "Nudged"),
    ("one step too many in scale", fake(Recipe(scale_steps=lambda lowest, highest: highest - lowest + 1)), "Nudged"),
    ("keeps a positive range where it is", fake(Recipe(keep_positive=True)), "ZeroOutside"),
    ("keeps a negative range where it is", fake(Recipe(keep_negative=True)), "ZeroOutside"),
    ("keeps quantized values in eight bits", fake(Recipe(store=lambda q: q % 256)), "Nudged"),
    ("computes in float16", fake(Recipe(kind=np.float16)), "NearTie"),
    ("rounds results to bfloat16", fake(Recipe(result=lambda v: v.astype(ml_dtypes.bfloat16))), "Nudged"),
    ("result in float32 arithmetic, min rounded away", fake(Recipe(kind=np.float32, round_min=np.floor)), "Nudged"),
)
ADDS_MIN = ("q * scale + min_adj in float32", fake(Recipe(kind=np.float32, adds_min=True)), "PrecisionSensitive")
IN_DOUBLE = ("rounds to double, then to float32", fake(Recipe()), "RoundedTwice")
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


def named(prefix: str, operator: str, entries: Any, types: Any) -> tuple[WrongBackend, ...]:
    return tuple(WrongBackend(f"{prefix}: {name}", operator, run, flag, types) for name, run, flag in entries)


WRONG = (
    *named("fake quant", PER_TENSOR, (*FAKE, *ONE_TENSOR), F32),
    *named("fake quant", PER_TENSOR, [("zero where steps overflow", zero_for_nan(in_steps), "Overflow")], F32),
    *named("fake quant per channel", PER_CHANNEL, (*FAKE[:9:3], *FAKE[9:14], *CHANNELS), F32),
)
# Another order of the document's steps, or wider ones: no deviation.
OTHER_ORDERS = (
    *named("fake quant", PER_TENSOR, (IN_DOUBLE, ADDS_MIN), F32),
    *named("fake quant per channel", PER_CHANNEL, (IN_DOUBLE,), F32),
)
RIGHT = (
    *named("fake quant", PER_TENSOR, [("float32 steps", in_steps, ""), ("upward steps", in_steps_upward, "")], F32),
    *named("fake quant", PER_TENSOR, [("in fractions", by_fractions, "")], F32),
    *named("fake quant", PER_TENSOR, [("with a zero point", by_zero_point, "")], F32),
    *named(
        "fake quant per channel", PER_CHANNEL, [("float32 steps", in_steps, ""), ("fractions", by_fractions, "")], F32
    ),
)
