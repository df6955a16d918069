"""Usual mistakes of QuantizeAndDequantizeV2, V3 and V4, the likelier first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import tensorflow_quantize_and_dequantize_steps as steps
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.tensorflow_quantize_and_dequantize_kernels import (
    KERNELS,
    half_up_in_type,
    integers_of,
    rounded,
    without_subnormals,
)
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, along

# The arithmetic of usual mistakes: arrays of one real type, with the range spread over the input's shape.


@dataclass(frozen=True)
class RoundTrip:
    """The arithmetic of a backend. The default is the document's, in working precision."""

    integers: Callable[[Any], tuple[int, int]] = integers_of
    rounded: Callable[[Array, str], Array] = rounded
    dtype: Any = None
    inverse: bool = False  # multiplies by side / integer instead of dividing
    flush: bool = False  # subnormal results become 0
    clamps_measured: bool = True
    side: str = "smaller"  # or "greater", "largest", LARGEST


def run_round_trip(fake: RoundTrip, node: Node, x: Array, low: Array, high: Array) -> Array:
    kind = np.dtype(fake.dtype or x.dtype)
    x, low, high = (np.asarray(a, kind) for a in (x, low, high))
    lowest, highest = (np.asarray(end, kind) for end in fake.integers(node.attributes))
    factor, inverse, low_end, high_end = scaled(fake, low, high, lowest, highest)
    if fake.clamps_measured or node.attributes.get("range_given", False):
        x = np.minimum(np.maximum(x, low_end), high_end)
    whole = fake.rounded(np.asarray(x * factor, kind), str(node.attributes.get("round_mode", "HALF_TO_EVEN")))
    found = np.asarray(whole * inverse if fake.inverse else whole / factor, kind)
    return without_subnormals(found) if fake.flush else found


def scaled(
    fake: RoundTrip, low: Array, high: Array, lowest: Array, highest: Array
) -> tuple[Array, Array, Array, Array]:
    """scale_factor, its inverse computed from the range, and the updated ends of the range."""
    none = np.asarray(np.inf, low.dtype)
    from_min = np.where(low < 0, lowest / low, none).astype(low.dtype)
    from_max = np.where(high > 0, highest / high, none).astype(low.dtype)
    if fake.side == "largest":  # one size for both sides
        size = np.maximum(np.abs(low), np.abs(high))
        return highest / size, size / highest, -size, size
    if fake.side == "largest, range updated":
        size = np.maximum(np.abs(low), np.abs(high))
        from_low, factor = from_min < from_max, np.asarray(highest / size, low.dtype)
        ends = np.where(from_low, low, lowest / factor), np.where(from_low, highest / factor, high)
        return factor, size / highest, *ends
    by_min = {
        "smaller": from_min < from_max,
        "greater": (from_min > from_max) & (low < 0) & (high > 0),
    }[fake.side]
    factor = np.where(by_min, from_min, from_max).astype(low.dtype)
    inverse = np.where(by_min, low / lowest, high / highest).astype(low.dtype)
    if fake.inverse:
        return factor, inverse, np.where(by_min, low, lowest * inverse), np.where(by_min, highest * inverse, high)
    return factor, inverse, np.where(by_min, low, lowest / factor), np.where(by_min, highest / factor, high)


def spread_range(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The ends of the range, given or measured, as they broadcast to x."""
    axis = node.attributes.get("axis", -1)
    axes = () if axis < 0 else (axis,)
    if not node.attributes.get("range_given", False):
        others = tuple(a for a in range(x.ndim) if a not in axes)
        low, high = (np.asarray(extreme(x, axis=others), x.dtype) for extreme in (np.min, np.max))
    low, high = (along(np.asarray(end), axes, x.shape) for end in (low, high))
    return (low if node.attributes.get("signed_input", True) else np.zeros_like(low)), high


def mistake(fake: RoundTrip) -> Mistake:
    def run(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        if not x.size:
            return (x,)
        with np.errstate(all="ignore"):
            low, high = spread_range(node, x, low, high)
            return (np.broadcast_to(run_round_trip(fake, node, x, low, high), x.shape).astype(node.outputs[0].dtype),)

    return run


def with_attributes(run: Mistake, **changed: Any) -> Mistake:
    def changed_run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        return run(replace(node, attributes={**node.attributes, **changed}), *inputs)

    return changed_run


def one_range(node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
    """The widest range is used for every slice."""
    if low.ndim and low.size:
        low, high = np.asarray(low.min(), low.dtype), np.asarray(high.max(), high.dtype)
    return with_attributes(PLAIN, axis=-1)(node, x, low, high)


def bits_less(attributes: Any) -> tuple[int, int]:
    return integers_of({**attributes, "num_bits": max(attributes.get("num_bits", 8) - 1, 1)})


def symmetric_off_by_one(attributes: Any) -> tuple[int, int]:
    return integers_of({**attributes, "narrow_range": False})


PLAIN = mistake(RoundTrip())
LARGEST = "largest, range updated"
step = ws.entries_of(steps.MISTAKES, steps.PAIRS)


LIKELY: tuple[tuple[Cause, Mistake], ...] = (
    (
        Cause("side-over-integer-measured", "quotient"),
        mistake(RoundTrip(inverse=True, clamps_measured=False, rounded=half_up_in_type)),
    ),
    *KERNELS,
    step("side-over-integer", "quotient"),
    step("one-over-factor", "quotient"),
    step("ties-away", "product"),
    step("ties-upward-always", "half-to-even"),
    step("ties-even-always", "half-up"),
    (Cause("floor-of-half-more:for HALF_UP alone", "half-up", 1), mistake(RoundTrip(rounded=half_up_in_type))),
    step("truncates", "product"),
    step("clamps-before-update", "clamp"),
    (Cause("clamps-given-only", "clamp", 1), mistake(RoundTrip(clamps_measured=False))),
    step("does-not-clamp", "clamp"),
    step("ignores:narrow_range", "narrow"),
    step("narrow-range", "narrow"),
    step("greater-factor", "scale"),
    step("one-end-alone:input_max", "side"),
    step("one-end-alone:input_min", "side"),
    (Cause("one-size-for-both-sides:clamps to both ends", "side", 1), mistake(RoundTrip(side="largest"))),
    step("ignores:signed_input", "signed"),
    step("ignores:num_bits", "signed"),
    step("one-integer-more", "signed"),
    step("measures-although-given", "range-given"),
    step("takes-although-not-given", "measured"),
    step("one-for-all:range", "axis"),
    (Cause("widest-range-for-all", "axis", 1), one_range),
    (Cause("computes-in:float32", "type", 1), mistake(RoundTrip(dtype=np.float32))),
    step("floor-of-half-more", "half-up"),
    step("divides-by-step", "quotient"),
    step("one-over-factor + ties-away", "quotient", "ties-away + one-over-factor"),
    step("does-not-clamp-below", "clamp"),
    step("does-not-clamp-above", "clamp"),
    step("one-size-for-both-sides", "side"),
    (
        Cause("one-size-for-both-sides + ignores:narrow_range", "side", 1),
        mistake(RoundTrip(side=LARGEST, integers=symmetric_off_by_one)),
    ),
    (Cause("one-bit-less", "signed", 1), mistake(RoundTrip(integers=bits_less))),
    (Cause("flushes-outputs", "quotient", 1), mistake(RoundTrip(flush=True))),
    step("one-for-all:first range", "axis"),
    step("ranges-along:the first axis", "axis"),
    (Cause("computes-in:float16", "type", 1), mistake(RoundTrip(dtype=np.float16))),
    (Cause("computes-in:bfloat16", "type", 1), mistake(RoundTrip(dtype=ml_dtypes.bfloat16))),
    (Cause("computes-in:float64", "type", 1), mistake(RoundTrip(dtype=np.float64))),
)
MISTAKES = (*LIKELY, *ws.not_in(LIKELY, steps.MISTAKES))
PAIRS = steps.PAIRS
