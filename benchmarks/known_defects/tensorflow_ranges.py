"""tensorflow.QuantizeV2 and tensorflow.Dequantize: MIN_COMBINED, MIN_FIRST and SCALED."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.dequantize import number
from benchmarks.known_defects.numbers import (
    FLOAT32,
    RULES,
    Array,
    Step,
    as_type,
    converted,
    cut_to,
    ends,
    flushed,
    in_type,
    to_integers,
    wrapped,
)
from benchmarks.known_defects.places import index_along, misplaced
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node

MAX_FLOAT = float(np.finfo(np.float32).max)


def working(how: How) -> Step:
    """Rounds to float32, or to the type in which a defect computes."""
    return in_type(how.get("type", "in-float32").removeprefix("in-"))


def ranges(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, Array]:
    """min_range and max_range for every element, as float64."""
    x, *given = inputs
    axis = node.value("axis")
    index = index_along(x.shape, () if axis < 0 else (axis,))
    at = misplaced(index, given[0].size, how)
    low, high = (end.astype(np.float64).reshape(-1)[at] for end in given)
    return low, high


def quantize_v2(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    low, high = ranges(node, inputs, how)
    x = inputs[0].astype(np.float64)
    if how.get("flush") == "flush-x":
        x = flushed(x, FLOAT32)
    formula = {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}[node.value("mode")]
    found = formula(node, x, low, high, how)
    if "type" not in how:  # a step that overflowed: the exact result
        exactly = formula(node, x, low, high, {**how, "type": "in-float64"})
        found = np.where(np.isnan(found) & ~np.isnan(x), exactly, found)
    kind = node.outputs[0].dtype
    lowest, highest = integer_ends(node, how)
    if how.get("clip") == "no-clip-wraps":
        return (as_type(wrapped(found, *ends(kind)), kind), *range_outputs(node, inputs, how))
    codes = as_type(np.clip(np.nan_to_num(found, nan=0.0), lowest, highest), kind)
    return (codes, *range_outputs(node, inputs, how))


def integer_ends(node: Node, how: How) -> tuple[int, int]:
    """min_T and max_T."""
    lowest, highest = ends(node.outputs[0].dtype)
    defect, narrow = how.get("bits", ""), bool(node.value("narrow_range"))
    narrow = {"narrow-ignored": False, "narrow-always": True}.get(defect, narrow and node.value("mode") == "SCALED")
    return lowest + narrow, highest


def clipped(x: Array, low: Array, high: Array, how: How) -> Array:
    defect = how.get("clip", "")
    if defect != "no-clip-wraps":
        x = np.maximum(x, low)
    return x if defect == "no-clip-wraps" else np.minimum(x, high)


def combined(node: Node, x: Array, low: Array, high: Array, how: How) -> Array:
    """round((input - min_range) * range(T) / (max_range - min_range) [- (range(T) + 1) / 2])"""
    s, (lowest, highest), scale = working(how), ends(node.outputs[0].dtype), how.get("scale", "")
    steps = highest - lowest + (scale == "steps-one-more")
    offset, width = s(clipped(x, low, high, how) - low), s(high - low)
    ways = {
        "scale-folded": lambda: s(offset * s(steps / width)),
        "scale-inverse": lambda: s(offset / s(width / steps)),
    }
    found = ways.get(scale, lambda: s(s(offset * steps) / width))()
    if node.outputs[0].dtype.name == "int8":
        found = s(found - {"no-int8-offset": 0.0, "int8-offset-half-less": 127.5}.get(how.get("offset", ""), 128.0))
    return rounded(found, RULES[node.round_mode], s, how)


def first(node: Node, x: Array, low: Array, high: Array, how: How) -> Array:
    """round(input * range_scale) - round(min_range * range_scale) + lowest of T"""
    s, (lowest, highest), rule = working(how), ends(node.outputs[0].dtype), RULES[node.round_mode]
    count, offset = float(highest - lowest + 1), how.get("offset", "")
    adjust = 1.0 if how.get("scale") == "no-range-adjust" else s(count / (count - 1))
    factor = s(count / s(s(high - low) * adjust))
    x = clipped(x, low, high, how)
    least = 0 if offset == "lowest-left-out" else lowest
    if offset == "rounds-difference-once":
        return rounded(s(s(x - low) * factor), rule, s, how) + least
    low_rule = "floor" if offset == "minimum-floored" else rule
    return rounded(s(x * factor), rule, s, how) - to_integers(s(low * factor), low_rule) + least


def scaled(node: Node, x: Array, low: Array, high: Array, how: How) -> Array:
    """round(clip(input, min_T / scale_factor, max_T / scale_factor) * scale_factor)"""
    s, (lowest, highest) = working(how), integer_ends(node, how)
    factor = scale_factor(s, low, high, (lowest, highest), how)
    given = how.get("clip") == "clips-to-given"
    least, most = (low, high) if given else (s(s(np.float64(end)) / factor) for end in (lowest, highest))
    kept = clipped(x, least, most, how)
    by_inverse = how.get("scale") == "factor-by-inverse"
    return rounded(s(kept / s(1 / factor) if by_inverse else kept * factor), RULES[node.round_mode], s, how)


def scale_factor(s: Step, low: Array, high: Array, limits: tuple[int, int], how: How) -> Array:
    """The smaller of the two sides' factors; a side whose end has the wrong sign does not count."""
    defect, (lowest, highest) = how.get("scale", ""), limits
    every = defect == "idle-side-counts"
    from_low = np.where((lowest * low > 0) | every, s(s(np.float64(lowest)) / low), MAX_FLOAT)
    from_high = np.where((highest * high > 0) | every, s(s(np.float64(highest)) / high), MAX_FLOAT)
    if defect == "symmetric-range":
        return s(s(np.float64(highest)) / np.maximum(np.abs(low), np.abs(high)))
    if defect == "factor-in-bfloat16":
        return in_type("bfloat16")(np.minimum(from_low, from_high))
    sides = {"high-side-only": from_high, "low-side-only": from_low, "greater-factor": np.maximum(from_low, from_high)}
    return sides.get(defect, np.minimum(from_low, from_high))


def range_outputs(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, Array]:
    """output_min and output_max: the range that was used."""
    low, high = (end.astype(np.float64) for end in inputs[1:])
    if node.value("mode") == "SCALED" and how.get("ends") != "given-range-out":
        s, limits = working(how), integer_ends(node, how)
        factor = scale_factor(s, low, high, limits, how)
        low, high = (s(s(np.float64(end)) / factor) for end in limits)
    if how.get("ends") == "range-out-swapped":
        low, high = high, low
    return converted(low, FLOAT32), converted(high, FLOAT32)


def dequantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    low, high = ranges(node, inputs, how)
    formula = {"MIN_COMBINED": from_combined, "MIN_FIRST": from_first, "SCALED": from_scaled}[node.value("mode")]
    found = formula(number(inputs[0], how), low, high, ends(inputs[0].dtype), node, how)
    out = node.outputs[0].dtype
    if how.get("flush") == "flush-output":
        found = flushed(found, out)
    return (converted(cut_to(found, out) if how.get("product") == "product-cut-off" else found, out),)


def from_combined(x: Array, low: Array, high: Array, limits: tuple[int, int], node: Node, how: How) -> Array:
    """min_range + (input [+ (range(T) + 1) / 2]) * (max_range - min_range) / range(T)"""
    s, scale, back = working(how), how.get("scale", ""), how.get("back", "")
    steps = float(limits[1] - limits[0] + (scale == "steps-one-more"))
    if node.input_type == "int8" and how.get("offset") != "no-int8-offset":
        x = x + (127.5 if how.get("offset") == "int8-offset-half-less" else 128.0)
    width = s(high - low)
    part = s(x * s(width / steps)) if scale == "scale-folded" else s(s(x * width) / steps)
    if back == "back-fused":
        return s(x * s(width / steps) + low)
    return part if how.get("offset") == "minimum-left-out" else s(low + part)


def from_first(x: Array, low: Array, high: Array, limits: tuple[int, int], node: Node, how: How) -> Array:
    """min_range + (input - lowest of T) * range_scale, whose last steps are double."""
    s, offset, (lowest, highest) = working(how), how.get("offset", ""), limits
    count = float(highest - lowest + 1)
    adjust = 1.0 if how.get("scale") == "no-range-adjust" else s(count / (count - 1))
    factor = s(s(s(high - low) * adjust) / count)
    if offset == "rounds-minimum":
        low = to_integers(s(low / factor), "away") * factor
    x = x if offset == "lowest-left-out" else x - lowest
    last = s if how.get("type") else in_type("float64")
    return last(x * factor) if offset == "minimum-left-out" else last(low + last(x * factor))


def from_scaled(x: Array, low: Array, high: Array, limits: tuple[int, int], node: Node, how: How) -> Array:
    """input * max(min_range / min_expected_T, max_range / max_expected_T)"""
    s, scale, (lowest, highest) = working(how), how.get("scale", ""), limits
    narrow = {"narrow-ignored": False, "narrow-always": True}.get(how.get("bits", ""), bool(node.value("narrow_range")))
    from_high = s(high / s(np.float64(highest)))
    from_low = s(low / s(np.float64(lowest + narrow))) if lowest else from_high
    sides = {"high-side-only": from_high, "low-side-only": from_low, "smaller-factor": np.minimum(from_low, from_high)}
    factor = sides.get(scale, np.maximum(from_low, from_high))
    if scale == "factor-in-bfloat16":
        factor = in_type("bfloat16")(factor)
    if scale == "factor-by-inverse":
        return s(s(x) / s(1 / factor))
    return s(s(x) * factor)


ARITHMETIC = {"tensorflow.QuantizeV2": quantize_v2, "tensorflow.Dequantize": dequantize}
