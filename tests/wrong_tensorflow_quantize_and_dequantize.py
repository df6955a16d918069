"""Wrong and right backends for tensorflow.QuantizeAndDequantizeV2 and V4; the base is arithmetic in double."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from arithmetic_of_tensorflow import narrowed
from wrong_tensorflow_fake import F32, Run, half_up, named, zero_for_nan

from wrong_model import Array

V2, V4 = "tensorflow.QuantizeAndDequantizeV2", "tensorflow.QuantizeAndDequantizeV4"
HALVES = (("float16", "float16"), ("bfloat16", "bfloat16"))
F64 = (("float64", "float64"),)


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
    far = np.asarray(np.inf).astype(r.kind)  # NumPy 1 has no common type of a float16 and a bfloat16
    from_min, from_max = np.where(low < 0, lowest / low, far), np.where(high > 0, highest / high, far)
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
WRONG_BY_TYPES = (
    (TOGETHER, (*F32, *HALVES, *F64)),
    (SINGLE, (*F32, *F64)),
    ((("in float32", scaled(Scaled(kind=np.float32)), "NearTie"),), F64),
)
RIGHT_ONES = (
    ("in fractions", scaled_by_fractions, ""),
    ("in the input's type", own_type(Scaled(rounding=stepwise_rounding)), ""),
    ("zero where scale_factor overflows", zero_for_nan(own_type(Scaled(rounding=stepwise_rounding))), ""),
)
WRONG = tuple(
    wrong
    for version in (V2, V4)
    for entries, types in WRONG_BY_TYPES
    for wrong in named(f"quantize and dequantize {version[-2:]}", version, entries, types)
)
RIGHT = tuple(
    right
    for version in (V2, V4)
    for right in named(f"quantize and dequantize {version[-2:]}", version, RIGHT_ONES, (*F32, *HALVES, *F64))
)
