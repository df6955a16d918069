"""Usual mistakes of FakeQuantWithMinMaxVars and its per-channel form, as small NumPy backends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
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
            factor = (greatest - least) / (high - low)
            zero_point = np.clip(away(least - low / scale), least, greatest)
            bottom, top = kept((least - zero_point) * scale), kept((greatest - zero_point) * scale)
            zero = np.floor(-bottom * factor + Float(0.5))
            shifted = kept(np.maximum(np.minimum(x, top), bottom) - bottom)
            q = shifted * factor if inverse else shifted / scale
            result = kept(np.floor(q - zero + Float(0.5)) * scale)
            return (np.asarray(np.where((low == 0) & (high == 0), Float(0), result), Float),)

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
)
