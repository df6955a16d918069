"""openvino.FakeQuantize: limits copied outside the input range, the document's expression inside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import NAMED, Array, Step, converted, flushed, in_type
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node


class Limits(NamedTuple):
    input_low: Array
    input_high: Array
    output_low: Array
    output_high: Array


def fake_quantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    out = node.outputs[0].dtype
    x = inputs[0].astype(np.float64)
    if how.get("flush") == "flush-x":
        x = flushed(x, out)
    limits = changed(Limits(*(laid(limit, x.shape, i, how) for i, limit in enumerate(inputs[1:]))), how)
    found = with_ends(node, x, limits, how)
    if how.get("flush") == "flush-output":
        found = flushed(found, out)
    return (converted(found, out),)


def laid(limit: Array, shape: tuple[int, ...], number: int, how: How) -> Array:
    """A limit broadcast to X's shape."""
    defect, wide = how.get("place", ""), limit.astype(np.float64)
    if limit.size and (defect == "first-parameter" or (defect == "first-output-limits" and number >= 2)):
        return np.broadcast_to(wide.reshape(-1)[0], shape)
    if limit.size and defect == "flat-modulo":
        return wide.reshape(-1)[np.arange(int(np.prod(shape))) % limit.size].reshape(shape)
    return np.broadcast_to(wide, shape)


def changed(limits: Limits, how: How) -> Limits:
    """The limits after the defects that concern them alone."""
    low, high, output_low, output_high = limits
    if how.get("ends") == "reversed-sorted":
        low, high = np.minimum(low, high), np.maximum(low, high)
    defect, f = how.get("outputs", ""), in_type("bfloat16")
    if defect == "outputs-sorted":
        output_low, output_high = np.minimum(output_low, output_high), np.maximum(output_low, output_high)
    elif defect == "outputs-are-inputs":
        output_low, output_high = low, high
    elif defect == "outputs-in-bfloat16":
        output_low, output_high = f(output_low), f(output_high)
    return Limits(low, high, output_low, output_high)


def with_ends(node: Node, x: Array, limits: Limits, how: How) -> Array:
    """The three branches, or as the defect of this step has them."""
    least, most = np.minimum(*limits[:2]), np.maximum(*limits[:2])
    below, above = x <= least, x > most
    defect, low, high = how.get("ends", ""), limits.output_low, limits.output_high
    if defect == "ends-computed":
        return inside(node, np.minimum(np.maximum(x, least), most), limits, how)
    if defect == "ends-swapped":
        low, high = high, low
    below = {"ends-less": x < least, "ends-missing": np.zeros(x.shape, bool)}.get(defect, below)
    if defect == "equal-limits-up":
        below = np.where(least == most, x < least, below)
    above = {"ends-greater-or-equal": x >= most, "equal-limits-up": (x > most) | ((least == most) & ~below)}.get(
        defect, above
    )
    if defect in ("ends-missing", "ends-missing-above"):
        above = np.zeros(x.shape, bool)
    return np.where(below, low, np.where(above, high, inside(node, x, limits, how)))


def inside(node: Node, x: Array, limits: Limits, how: How) -> Array:
    """The document's expression, each step rounded to the type."""
    kind = how.get("type", "").removeprefix("in-") or node.outputs[0].dtype
    s = in_type(kind)
    n = s(np.float64(levels_of(node, how) - 1))
    steps = rounded(position(s, n, s(x), limits, how), "even", s, how)
    return back(s, n, steps, s(limits.output_low), s(limits.output_high), how)


def levels_of(node: Node, how: How) -> int:
    levels = int(node.attributes["levels"])
    return {
        "levels-one-more": levels + 1,
        "levels-one-less": max(levels - 1, 2),
        "levels-256": 256,
        "levels-power-of-two": 1 << (levels - 1).bit_length(),
    }.get(how.get("levels", ""), levels)


def position(s: Step, n: Array, x: Array, limits: Limits, how: How) -> Array:
    """(x - input_low) / (input_high - input_low) * (levels - 1)"""
    low, width = s(limits.input_low), s(s(limits.input_high) - s(limits.input_low))
    if how.get("flush") == "flush-range":
        width = flushed(width, NAMED["float32"])
    factor = s(n / width)
    ways = {
        "position-folded": lambda: s(s(x - low) * factor),
        "position-shifted": lambda: s(s(x * factor) - s(low * factor)),
        "position-shifted-fused": lambda: s(x * factor - s(low * factor)),
        "position-by-step": lambda: s(s(x - low) / s(width / n)),
        "position-reciprocal": lambda: s(s(s(x - low) * s(1 / width)) * n),
        "position-multiplied-first": lambda: s(s(s(x - low) * n) / width),
        "offset-ignored": lambda: s(s(x / width) * n),
    }
    return ways.get(how.get("position", ""), lambda: s(s(s(x - low) / width) * n))()


def back(s: Step, n: Array, steps: Array, low: Array, high: Array, how: How) -> Array:
    """steps / (levels - 1) * (output_high - output_low) + output_low"""
    width = s(high - low)
    ways = {
        "back-folded": lambda: s(s(steps * s(width / n)) + low),
        "back-folded-fused": lambda: s(steps * s(width / n) + low),
        "back-reciprocal": lambda: s(s(s(steps * s(1 / n)) * width) + low),
        "back-multiplied-first": lambda: s(s(s(steps * width) / n) + low),
        "back-fused": lambda: s(s(steps / n) * width + low),
        "back-between": lambda: s(s(s(1 - s(steps / n)) * low) + s(s(steps / n) * high)),
        "back-offset-ignored": lambda: s(s(steps / n) * width),
    }
    return ways.get(how.get("back", ""), lambda: s(s(s(steps / n) * width) + low))()


ARITHMETIC = {"openvino.FakeQuantize": fake_quantize}
