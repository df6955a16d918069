"""tensorflow.QuantizeAndDequantizeV2, V3 and V4, FakeQuantWithMinMaxVars and FakeQuantWithMinMaxVarsPerChannel."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, Step, converted, flushed, in_type, to_integers
from benchmarks.known_defects.places import index_along, misplaced
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node

Ends = tuple[Array, Array]


def quantize_and_dequantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    """round(clamp(value, input_min, input_max) * scale_factor) / scale_factor"""
    out = node.outputs[0].dtype
    x = inputs[0].astype(np.float64)
    if how.get("flush") == "flush-x":
        x = flushed(x, out)
    s = in_type(how.get("type", "").removeprefix("in-") or out)
    low, high = range_of(node, x, inputs, how)
    bits = int(inputs[3] if len(inputs) > 3 else node.value("num_bits"))
    factor, least, most = scaled(s, low, high, integer_ends(node, bits, how), how)
    kept = clamped(x, least, most, how)
    by_inverse = how.get("scale") == "factor-by-inverse"
    whole = rounded(s(kept / s(1 / factor) if by_inverse else kept * factor), RULES[node.round_mode], s, how)
    found = s(whole * s(1 / factor)) if how.get("back") == "back-reciprocal" else s(whole / factor)
    return (converted(flushed(found, out) if how.get("flush") == "flush-output" else found, out),)


def range_of(node: Node, x: Array, inputs: tuple[Array, ...], how: How) -> Ends:
    """input_min and input_max for every element, given or measured; 0 for input_min if integers are unsigned."""
    axis, defect = node.value("axis"), how.get("range", "")
    axes = () if axis < 0 else (axis,)
    given = [end.astype(np.float64) for end in inputs[1:3]]
    if not node.value("range_given") or defect == "given-range-ignored":
        given = measured(x, axes)
    at = misplaced(index_along(x.shape, axes), given[0].size, how)
    low, high = (end.reshape(-1)[at] for end in given)
    return (low if is_signed(node, how) else np.zeros_like(low)), high


def measured(x: Array, axes: tuple[int, ...]) -> list[Array]:
    others = tuple(axis for axis in range(x.ndim) if axis not in axes)
    if not x.size:
        return [np.zeros([x.shape[axis] for axis in axes])] * 2
    return [np.asarray(extreme(x, axis=others)) for extreme in (np.min, np.max)]


def is_signed(node: Node, how: How) -> bool:
    return bool(node.value("signed_input")) or how.get("bits") == "signed-ignored"


def integer_ends(node: Node, bits: int, how: How) -> tuple[float, float]:
    """The lowest and the highest integer."""
    defect, narrow = how.get("bits", ""), bool(node.value("narrow_range"))
    bits = {"num-bits-8": 8, "num-bits-one-less": max(bits - 1, 1)}.get(defect, min(max(bits, 1), 62))
    if not is_signed(node, how):
        return 0.0, float((1 << bits) - 1 + (defect == "intervals-one-more"))
    narrow = {"narrow-ignored": False, "narrow-always": True}.get(defect, narrow)
    highest = (1 << (bits - 1)) - 1
    return float(-highest - (not narrow)), float(highest + (defect == "intervals-one-more"))


def scaled(s: Step, low: Array, high: Array, limits: tuple[float, float], how: How) -> tuple[Array, Array, Array]:
    """scale_factor and the updated range."""
    lowest, highest = (s(np.float64(end)) for end in limits)
    from_low = np.where(low < 0, s(lowest / low), np.inf)
    from_high = np.where(high > 0, s(highest / high), np.inf)
    by_low = (low < 0) & ((from_low < from_high) | ~(high > 0))
    by_low = chosen_side(by_low, low, high, how)
    factor = np.where(by_low, from_low, from_high)
    if how.get("scale") == "symmetric-range":
        factor = s(highest / np.maximum(np.abs(low), np.abs(high)))
    if how.get("scale") == "factor-in-bfloat16":
        factor = in_type("bfloat16")(factor)
    if how.get("range") == "no-range-update":
        return factor, low, high
    return factor, np.where(by_low, low, s(lowest / factor)), np.where(by_low, s(highest / factor), high)


def chosen_side(by_low: Array, low: Array, high: Array, how: How) -> Array:
    """Whether the lower end decides the factor, after the defects of this step."""
    both, defect = (low < 0) & (high > 0), how.get("scale", "")
    if defect == "greater-factor":
        return np.where(both, ~by_low, by_low)
    if defect == "high-side-only":
        return np.where(both, False, by_low)
    return np.where(both, True, by_low) if defect == "low-side-only" else by_low


def clamped(x: Array, low: Array, high: Array, how: How) -> Array:
    defect = how.get("clip", "")
    if defect not in ("clip-missing", "clip-below-missing"):
        x = np.maximum(x, low)
    return x if defect in ("clip-missing", "clip-above-missing") else np.minimum(x, high)


def fake_quant(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    """(round((clamp(x, min_adj, max_adj) - min_adj) / scale) + round(min / scale)) * scale"""
    s = in_type(how.get("type", "in-float32").removeprefix("in-"))
    (low, high), intervals = limits_of(inputs, how), steps(node, how)
    x = inputs[0].astype(np.float64)
    if how.get("flush") == "flush-x":
        x = flushed(x, FLOAT32)
    width = s(high - low)
    scale = s(width / divisor(node, intervals, how))
    start, least, most = adjusted(s, low, high, scale, intervals, how)
    x = clamped(x, *((low, high) if how.get("clip") == "clips-to-given" else (least, most)), how)
    whole = rounded(quotient(s, x, least, scale, start, s(intervals / width), how), "even", s, how)
    return (converted(taken_back(s, whole, start, scale, least, how), FLOAT32),)


def limits_of(inputs: tuple[Array, ...], how: How) -> Ends:
    """min and max for every element: along the last axis, where there is more than one."""
    shape, given = inputs[0].shape, inputs[1]
    index = index_along(shape, (len(shape) - 1,) if given.ndim else ())
    at = misplaced(index, given.size, how)
    low, high = (end.astype(np.float64).reshape(-1)[at] for end in inputs[1:])
    return (np.minimum(low, 0.0), np.maximum(high, 0.0)) if how.get("nudge") == "nudge-clamped" else (low, high)


def steps(node: Node, how: How) -> float:
    """The number of steps of the quantized range."""
    defect, bits, narrow = how.get("bits", ""), int(node.value("num_bits")), bool(node.value("narrow_range"))
    bits = {"num-bits-8": 8, "num-bits-one-less": max(bits - 1, 2)}.get(defect, bits)
    narrow = {"narrow-ignored": False, "narrow-always": True}.get(defect, narrow)
    return float((1 << bits) - 1 - narrow)


def divisor(node: Node, intervals: float, how: How) -> float:
    defect = how.get("bits", "")
    if defect == "intervals-not-narrowed":
        return float((1 << int(node.value("num_bits"))) - 1)
    return float(1 << int(node.value("num_bits"))) if defect == "intervals-one-more" else intervals


def adjusted(s: Step, low: Array, high: Array, scale: Array, intervals: float, how: How) -> tuple[Array, Array, Array]:
    """min_adj in units of the scale, min_adj and max_adj, in the document's three situations."""
    defect = how.get("nudge", "")
    rule = {"nudge-down": "floor", "nudge-up": "ceil"}.get(defect, "even")
    ratio = s(low / scale)
    start = ratio if defect == "no-nudge" else to_integers(ratio, rule)
    least = low if defect == "no-nudge" else s(scale * start)
    most = high if defect in ("no-nudge", "nudge-max-kept") else s(s(high + least) - low)
    above = (low > 0) & (defect != "positive-range-kept")
    below = (high < 0) & (defect != "negative-range-kept")
    start = np.where(above, 0.0, np.where(below, -intervals, start))
    return (
        start,
        np.where(above, 0.0, np.where(below, s(low - high), least)),
        np.where(above, s(high - low), np.where(below, 0.0, most)),
    )


def quotient(s: Step, x: Array, least: Array, scale: Array, start: Array, factor: Array, how: How) -> Array:
    """(clamped - min_adj) / scale; `factor` is steps / range"""
    ways = {
        "quotient-reciprocal": lambda: s(s(x - least) * s(1 / scale)),
        "quotient-from-range": lambda: s(s(x - least) * factor),
        "quotient-shifted": lambda: s(s(x / scale) - start),
    }
    return ways.get(how.get("quotient", ""), lambda: s(s(x - least) / scale))()


def taken_back(s: Step, whole: Array, start: Array, scale: Array, least: Array, how: How) -> Array:
    """(q + round(min / scale)) * scale"""
    ways = {
        "back-minimum-last": lambda: s(s(whole * scale) + least),
        "back-minimum-fused": lambda: s(whole * scale + least),
        "back-shifted": lambda: s(s(whole * scale) + s(start * scale)),
        "back-offset-ignored": lambda: s(whole * scale),
    }
    return ways.get(how.get("back", ""), lambda: s((whole + start) * scale))()


ARITHMETIC = {
    **{f"tensorflow.QuantizeAndDequantizeV{version}": quantize_and_dequantize for version in (2, 3, 4)},
    "tensorflow.FakeQuantWithMinMaxVars": fake_quant,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": fake_quant,
}
