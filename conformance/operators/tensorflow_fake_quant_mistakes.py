"""Usual mistakes of FakeQuantWithMinMaxVars and its per-channel form, as small NumPy backends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.scale_and_zero_point import by_scale_and_zero_point
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Arrays are float32 and of the input's shape.
Float = np.float32


@dataclass(frozen=True)
class FakeQuant:
    """The arithmetic of a backend. The default is the document's, in working precision, with ties upward."""

    divisor: Callable[[Node], int] = lambda node: highest_of(node) - lowest_of(node)
    nudge: Callable[[Array], Array] = lambda ratio: half_up(ratio)
    quantize: Callable[[Array], Array] = lambda q: half_up(q)
    dtype: Any = np.float32
    shifted: bool = True  # a range without 0 is moved to 0
    adjusted: bool = True  # min and max are moved onto the grid
    clamp_to_given: bool = False
    reciprocal: bool = False
    adds_min: bool = False  # dequantizes by q * scale + min_adj, as a backend must if min_adj is no multiple of scale
    saturates: bool = True


def lowest_of(node: Node) -> int:
    return int(node.attributes.get("narrow_range", False))


def highest_of(node: Node) -> int:
    return (1 << int(node.attributes.get("num_bits", 8))) - 1


def half_up(q: Array) -> Array:
    return np.asarray(np.floor(q.astype(np.float64) + 0.5), q.dtype)


def half_up_in_type(q: Array) -> Array:
    return np.asarray(np.floor(q + q.dtype.type(0.5)))


def away(q: Array) -> Array:
    return np.asarray(np.copysign(np.floor(np.abs(q.astype(np.float64)) + 0.5), q), q.dtype)


def run_fake_quant(fake: FakeQuant, node: Node, x: Array, low: Array, high: Array) -> Array:
    kind = fake.dtype
    x, low, high = (np.asarray(a, kind) for a in (x, low, high))
    scale = np.asarray((high - low) / kind(fake.divisor(node)), kind)
    first = np.where(low > 0, 0, np.where(high < 0, -fake.divisor(node), fake.nudge(np.asarray(low / scale))))
    least, greatest = adjusted_ends(fake, low, high, scale)
    clamped = np.clip(x, low, high) if fake.clamp_to_given else np.clip(x, least, greatest) if fake.saturates else x
    shifted = np.asarray(clamped - least, kind)
    q = np.asarray(shifted * (kind(1) / scale) if fake.reciprocal else shifted / scale, kind)
    steps = fake.quantize(q)
    if fake.adds_min:
        return np.asarray(np.asarray(steps * scale, kind) + least)
    return np.asarray(np.asarray(steps + first, kind) * scale)


def adjusted_ends(fake: FakeQuant, low: Array, high: Array, scale: Array) -> tuple[Array, Array]:
    zero = np.zeros_like(low)
    if not fake.adjusted:
        return low, high
    least = np.asarray(scale * fake.nudge(np.asarray(low / scale)))
    greatest = np.asarray((high + least) - low)
    if not fake.shifted:
        return np.where((low > 0) | (high < 0), low, least), np.where((low > 0) | (high < 0), high, greatest)
    least = np.where(low > 0, zero, np.where(high < 0, low - high, least))
    return least, np.where(low > 0, high - low, np.where(high < 0, zero, greatest))


def mistake(fake: FakeQuant) -> Mistake:
    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (np.asarray(run_fake_quant(fake, node, x, low, high), Float),)

    return run


def flush_keeping_sign(values: Array) -> Array:
    return np.where(np.abs(values) < Float(2.0**-126), np.copysign(Float(0), values), values)


def tensorflow_kernel(*, inverse: bool, flush: bool = False) -> Mistake:
    """The arithmetic of TensorFlow's CPU kernel in float32: a nudged zero point, floor(q + 0.5), (q - zero) * scale.

    `inverse`: quotients are products with n / (max - min), as in the per-channel kernel.
    """

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            kept = flush_keeping_sign if flush else np.asarray
            x, low, high = kept(x), kept(low), kept(high)
            least, greatest = Float(lowest_of(node)), Float(highest_of(node))
            scale = kept((high - low) / (greatest - least))
            factor = kept((greatest - least) / (high - low))
            zero_point = np.clip(away(least - low / scale), least, greatest)
            bottom, top = kept((least - zero_point) * scale), kept((greatest - zero_point) * scale)
            zero = np.floor(-bottom * factor + Float(0.5))
            shifted = kept(np.maximum(np.minimum(x, top), bottom) - bottom)
            q = shifted * factor if inverse else shifted / scale
            result = kept(np.floor(q - zero + Float(0.5)) * scale)
            return (np.asarray(np.where((low == 0) & (high == 0), Float(0), result), Float),)

    return run


def lite_kernel(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """The arithmetic of TensorFlow Lite's kernel in float32: round((x - low) * (1 / scale)) * scale + low, low nudged.

    Ties go away from zero, also those of the zero point.
    """
    with np.errstate(all="ignore"):
        least, greatest = Float(lowest_of(node)), Float(highest_of(node))
        scale = (high - low) / (greatest - least)
        zero_point = np.clip(away(least - low / scale), least, greatest)
        bottom, top = (least - zero_point) * scale, (greatest - zero_point) * scale
        steps = away((np.minimum(np.maximum(x, bottom), top) - bottom) * (Float(1) / scale))
        return (np.asarray(steps * scale + bottom, Float),)


def by_parameters(**how: Any) -> Mistake:
    """A scale and an integer zero point."""

    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        low, high = (np.broadcast_to(limit, x.shape) for limit in (low, high))
        with np.errstate(all="ignore"):
            return (by_scale_and_zero_point(x, low, high, (lowest_of(node), highest_of(node)), **how),)

    return run


def cast_first(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """Casts levels to int64 before clamping: those beyond 2^63 either way become the lowest. The rest is right."""
    with np.errstate(all="ignore"):
        (right,) = mistake(PLAIN)(node, x, low, high)
        scale = np.asarray((high - low) / Float(PLAIN.divisor(node)), Float)
        least, _ = adjusted_ends(PLAIN, low, high, scale)
        beyond = np.abs(x / scale) >= Float(2.0**63)
        return (np.asarray(np.where(beyond & np.isfinite(x), least, right), Float),)


def with_attributes(run: Mistake, **changed: Any) -> Mistake:
    def changed_run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        return run(replace(node, attributes={**node.attributes, **changed}), *inputs)

    return changed_run


@dataclass(frozen=True)
class Grid:
    """The document's arithmetic, each step rounded to one type. A field says what is wrong."""

    quotient: str = ""
    result: str = ""
    steps: Callable[[Node], int] = lambda node: highest_of(node) - lowest_of(node)
    divisor: Callable[[Node], int] | None = None
    rounded: Callable[[Array], Array] = np.rint
    nudge: Callable[[Array], Array] = np.rint
    keeps: str = ""  # "maximum", "positive", "negative"; "none": includes 0 instead of moving there
    clamps: str = ""
    dtype: Any = np.float32

    def __call__(self, node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (np.asarray(self.run(node, x, low, high).astype(Float)),)

    def run(self, node: Node, x: Array, low: Array, high: Array) -> Array:
        x, low, high = (np.asarray(a).astype(self.dtype) for a in (x, low, high))
        if self.keeps == "none":
            zero = np.zeros_like(low)
            low, high = np.minimum(low, zero), np.maximum(high, zero)
        intervals = self.whole(self.steps(node))
        scale = (high - low) / (self.whole(self.divisor(node)) if self.divisor else intervals)
        start, least, most = self.adjusted(low, high, scale, intervals)
        bottom, top = (low, high) if self.clamps == "given" else (least, most)
        kept = x if self.clamps == "never" else np.minimum(np.maximum(x, bottom), top)
        level = self.rounded(QUOTIENTS[self.quotient](kept, least, scale, start, intervals / (high - low)))
        return RESULTS[self.result](level, start, scale, least)

    def whole(self, count: int) -> Any:
        return np.asarray(float(count)).astype(self.dtype)[()]

    def adjusted(self, low: Array, high: Array, scale: Array, intervals: Any) -> tuple[Array, Array, Array]:
        """min_adj in units of the scale, min_adj and max_adj."""
        start = self.nudge(low / scale)
        least = low if self.nudge is unchanged else scale * start
        most = high if self.keeps == "maximum" or self.nudge is unchanged else (high + least) - low
        above, below = (low > 0) & (self.keeps != "positive"), (high < 0) & (self.keeps != "negative")
        zero = np.zeros_like(low)
        return (
            np.where(above, zero, np.where(below, -intervals, start)),
            np.where(above, zero, np.where(below, low - high, least)),
            np.where(above, high - low, np.where(below, zero, most)),
        )


def unchanged(ratio: Array) -> Array:
    return ratio


def fused(a: Array, b: Array, c: Array) -> Array:
    return np.asarray((a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype))


def exact_sum(level: Array, start: Array, scale: Array) -> Array:
    """(q + min / scale) * scale, rounded once."""
    wide = (level.astype(np.float64) + start.astype(np.float64)) * scale.astype(np.float64)
    return np.asarray(wide.astype(level.dtype))


QUOTIENTS: dict[str, Callable[[Array, Array, Array, Array, Array], Array]] = {
    "": lambda x, least, scale, start, factor: (x - least) / scale,
    "reciprocal": lambda x, least, scale, start, factor: (x - least) * (scale.dtype.type(1) / scale),
    "range": lambda x, least, scale, start, factor: (x - least) * factor,
    "shifted": lambda x, least, scale, start, factor: x / scale - start,
}
RESULTS: dict[str, Callable[[Array, Array, Array, Array], Array]] = {
    "": lambda level, start, scale, least: (level + start) * scale,
    "exact sum": lambda level, start, scale, least: exact_sum(level, start, scale),
    "minimum last": lambda level, start, scale, least: level * scale + least,
    "fused": lambda level, start, scale, least: fused(level, scale, least),
    "shifted": lambda level, start, scale, least: level * scale + start * scale,
}


def narrowed(node: Node) -> int:
    return highest_of(node) - 1


def eight_bits(node: Node) -> int:
    return 255 - lowest_of(node)


ALL_STEPS: dict[str, tuple[str, Grid]] = {
    "floor-of-half-more": ("tie", Grid(rounded=half_up_in_type)),
    "truncates": ("levels", Grid(rounded=np.trunc)),
    "ties-away": ("tie", Grid(rounded=away)),
    "reciprocal-of-scale": ("order", Grid("reciprocal")),
    "steps-over-range": ("order", Grid("range")),
    "divides-apart": ("order", Grid("shifted")),
    "adds-min": ("dequantize", Grid(result="minimum last")),
    "adds-min-fused": ("dequantize", Grid(result="fused")),
    "multiplies-apart": ("dequantize", Grid(result="shifted")),
    "not-on-grid": ("nudge-min", Grid(nudge=unchanged)),
    "floors-min": ("nudge-min", Grid(nudge=np.floor)),
    "ceils-min": ("nudge-min", Grid(nudge=np.ceil)),
    "max-stays": ("nudge-min", Grid(keeps="maximum")),
    "positive-range-stays": ("positive-range", Grid(keeps="positive")),
    "negative-range-stays": ("positive-range", Grid(keeps="negative")),
    "range-extended-to-zero": ("positive-range", Grid(keeps="none")),
    "clamps-to-given": ("clamp", Grid(clamps="given")),
    "does-not-clamp": ("clamp", Grid(clamps="never")),
    "narrow-range": ("narrow", Grid(steps=narrowed)),
    "ignores:narrow_range": ("narrow", Grid(steps=highest_of)),
    "ignores:num_bits": ("num-bits", Grid(steps=eight_bits)),
    "narrow-scale-of-all": ("narrow-scale", Grid(divisor=highest_of)),
    "levels-as-steps": ("scale", Grid(divisor=lambda node: highest_of(node) + 1)),
    "computes-in:float64": ("type", Grid(dtype=np.float64)),
    "computes-in:bfloat16": ("type", Grid(dtype=ml_dtypes.bfloat16)),
    "computes-in:float16": ("type", Grid(dtype=np.float16)),
    "floor-of-half-more + steps-over-range": ("tie", Grid("range", rounded=half_up_in_type)),
    "not-on-grid + ignores:narrow_range": ("nudge-min", Grid(steps=highest_of, nudge=unchanged)),
    "truncates + adds-min": ("levels", Grid(result="minimum last", rounded=np.trunc)),
}


PLAIN = FakeQuant()
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    (
        Cause("kernel-sums", "order"),
        tensorflow_kernel(inverse=False),
    ),
    (
        Cause("kernel-factor-sums", "order", 1),
        tensorflow_kernel(inverse=True),
    ),
    (
        Cause("kernel-sums + flushes", "overflow", 2),
        tensorflow_kernel(inverse=False, flush=True),
    ),
    (
        Cause("kernel-factor-sums + flushes", "overflow", 3),
        tensorflow_kernel(inverse=True, flush=True),
    ),
    (Cause("reciprocal-of-scale + adds-min", "dequantize", 4), lite_kernel),
    (Cause("scale-and-zero-point-in:float32", "order", 4), by_parameters()),
    (
        Cause("scale-and-zero-point-in:float64 + casts-to-int64", "order", 4),
        by_parameters(product=np.float64, casts=True),
    ),
    (Cause("adds-min", "dequantize", 4), mistake(FakeQuant(adds_min=True))),
    (Cause("reciprocal-of-scale", "order", 4), mistake(FakeQuant(reciprocal=True))),
    (Cause("floor-of-half-more", "tie", 4), mistake(FakeQuant(quantize=half_up_in_type))),
    (Cause("truncates", "levels", 4), mistake(FakeQuant(quantize=np.trunc))),
    (Cause("rounds-level-up", "levels", 4), mistake(FakeQuant(quantize=np.ceil))),
    (Cause("truncates-min", "nudge-min", 4), mistake(FakeQuant(nudge=np.trunc))),
    (
        Cause("not-on-grid", "nudge-min", 4),
        mistake(FakeQuant(adjusted=False, adds_min=True)),
    ),
    (Cause("clamps-to-given", "clamp", 4), mistake(FakeQuant(clamp_to_given=True))),
    (Cause("does-not-clamp", "clamp", 4), mistake(FakeQuant(saturates=False))),
    (Cause("casts-to-int64", "clamp", 4), cast_first),
    (
        Cause("range-stays", "positive-range", 4),
        mistake(FakeQuant(shifted=False, adds_min=True)),
    ),
    (Cause("ignores:narrow_range", "narrow", 4), with_attributes(mistake(PLAIN), narrow_range=False)),
    (Cause("narrow-range", "narrow", 4), with_attributes(mistake(PLAIN), narrow_range=True)),
    (
        Cause("narrow-scale-of-all", "narrow-scale", 4),
        mistake(FakeQuant(divisor=highest_of)),
    ),
    (
        Cause("levels-as-steps", "scale", 4),
        mistake(FakeQuant(divisor=lambda node: highest_of(node) - lowest_of(node) + 1)),
    ),
    (Cause("ignores:num_bits", "num-bits", 4), with_attributes(mistake(PLAIN), num_bits=8)),
    (Cause("computes-in:float16", "type", 4), mistake(FakeQuant(dtype=np.float16))),
    *((Cause(name, role, 4), grid) for name, (role, grid) in ALL_STEPS.items()),
    (Cause("not-on-grid", "nudge-min", 4), Grid(nudge=unchanged, result="exact sum")),
    (
        Cause("not-on-grid + ignores:narrow_range", "nudge-min", 4),
        Grid(nudge=unchanged, result="exact sum", steps=highest_of),
    ),
)
