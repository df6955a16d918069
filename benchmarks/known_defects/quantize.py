"""ngraph.Quantize and onnx.QuantizeLinear: round(x / scale) + zero_point, or x / scale as a small float."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.known_defects import small_floats
from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import (
    FLOAT32,
    NAMED,
    RULES,
    Array,
    Step,
    as_type,
    cut_to,
    ends,
    flushed,
    in_type,
    significant,
    to_power_of_two,
    wrapped,
)
from benchmarks.known_defects.places import (
    index_along,
    misplaced,
    onnx_index,
    read_as,
    scale_index,
    zero_point_index,
)
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node


def quantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    x, scale, *rest = inputs
    index = index_for(node, x.shape, scale.shape, how)
    scales = scale.astype(np.float64).reshape(-1)[scale_index(index, how)]
    quotients = quotient(node, x, scales, how)
    out = node.outputs[0].dtype
    if out.name.startswith("float"):
        return (small_floats.encoded(quotients, out, node.value("saturate"), how),)
    zeros = read_as(rest[0], how, "zero").reshape(-1) if rest else np.zeros(scale.size, np.int64)
    zero_points = zeros[zero_point_index(index, how)].astype(np.float64)
    return (integers(quotients, zero_points, out, RULES[node.round_mode], in_type(division_type(node, {})), how),)


def index_for(node: Node, shape: tuple[int, ...], own: tuple[int, ...], how: How) -> Array:
    if node.operator.startswith("onnx."):
        return onnx_index(node, shape, own, how)
    axes = node.attributes.get("axes", ())
    return misplaced(index_along(shape, axes), int(np.prod(own)), how)


def division_type(node: Node, how: How) -> np.dtype[Any]:
    """The type of the division: precision's, else the scale's; float32 where that is no plain float."""
    named = node.attributes.get("precision", "")
    if how.get("divide") == "precision-ignored":
        return NAMED.get(node.input_type, FLOAT32)
    return NAMED.get(named or node.inputs[1].dtype.name, FLOAT32)


def quotient(node: Node, x: Array, scale: Array, how: How) -> Array:
    """x / scale as float64 numbers of the division's type."""
    kind, wide, flush = division_type(node, how), x.astype(np.float64), how.get("flush", "")
    if flush == "flush-x":
        wide = flushed(wide, x.dtype)
    if flush == "flush-scale":
        scale = flushed(scale, node.inputs[1].dtype)
    found = divided(wide, scale, kind, how.get("divide", ""))
    return flushed(found, kind) if flush == "flush-quotient" else found


def divided(x: Array, scale: Array, kind: np.dtype[Any], defect: str) -> Array:
    s = in_type(kind)
    for prefix, narrow in (("divides-in-", lambda f: f(f(x) / f(scale))), ("scale-in-", lambda f: s(s(x) / f(scale))),
                           ("x-in-", lambda f: s(f(x) / s(scale))),
                           ("quotient-to-", lambda f: f(s(s(x) / s(scale))))):  # fmt: skip
        if defect.startswith(prefix):
            return narrow(in_type(defect.removeprefix(prefix)))
    return otherwise_divided(s(x), s(scale), kind, defect)


def otherwise_divided(x: Array, scale: Array, kind: np.dtype[Any], defect: str) -> Array:
    s, f = in_type(kind), in_type(FLOAT32)
    ways = {
        "reciprocal": lambda: s(x * s(1 / scale)),
        "reciprocal-float32": lambda: f(f(x) * f(1 / f(scale))),
        "reciprocal-float64": lambda: x * (1 / scale),
        "reciprocal-truncated": lambda: s(x * cut_to(1 / scale, kind)),
        "reciprocal-12-bits": lambda: s(x * significant(1 / scale, 12)),
        "reciprocal-newton": lambda: s(x * refined(significant(1 / scale, 12), scale, s)),
        "scale-power-of-two": lambda: s(x / to_power_of_two(scale)),
        "scale-8-bits": lambda: s(x / significant(scale, 8)),
        "quotient-cut-off": lambda: cut_to(x / scale, kind),
        "divides-integers": lambda: np.trunc(s(x / scale)),
        "multiplies": lambda: s(x * scale),
    }
    return ways.get(defect, lambda: s(x / scale))()


def refined(estimate: Array, scale: Array, s: Step) -> Array:
    """One step of Newton's iteration for 1 / scale."""
    return s(estimate * s(2 - s(estimate * scale)))


def integers(quotients: Array, zeros: Array, out: np.dtype[Any], rule: str, s: Step, how: How) -> Array:
    defect = how.get("zero", "")
    zeros = {"zp-ignored": 0 * zeros, "zp-negated": -zeros, "zp-twice": 2 * zeros}.get(defect, zeros)
    if defect in ("zp-before-rounding", "zp-before-rounding-wide"):
        total = quotients + zeros
        whole = rounded(s(total) if defect == "zp-before-rounding" else total, rule, s, how)
        return clamped(whole, 0 * zeros, out, how)
    whole = rounded(quotients, rule, s, how)
    if defect in ("zp-in-type", "zp-in-float16"):
        add = s if defect == "zp-in-type" else in_type("float16")
        return clamped(add(whole + zeros), 0 * zeros, out, how)
    return clamped(whole, zeros, out, how)


def clamped(whole: Array, zeros: Array, out: np.dtype[Any], how: How) -> Array:
    """The sum of rounded quotient and zero point in the output's type, or as the defect of this step has it."""
    (low, high), total, defect = ends(out), whole + zeros, how.get("clamp", "")
    if defect in BEFORE_THE_SUM:
        return as_type(np.clip(BEFORE_THE_SUM[defect](whole, zeros, low, high), low, high), out)
    if defect in FOR_OUT_OF_RANGE:
        beyond = (total < low) | (total > high) | np.isnan(total)
        return as_type(np.where(beyond, FOR_OUT_OF_RANGE[defect](total, low, high), np.nan_to_num(total)), out)
    first, last = limits(defect, low, high)
    return as_type(np.clip(np.nan_to_num(total, nan=0.0), first, last), out)


def limits(defect: str, low: int, high: int) -> tuple[int, int]:
    return {
        "clamps-to-signed": (low, high // 2 if low == 0 else high),
        "clamps-narrow": (low + 1, high),
        "clamps-high-early": (low, high - 1),
    }.get(defect, (low, high))


def to_int32(whole: Array) -> Array:
    """What x86's conversion gives: the lowest int32 for all that is beyond int32."""
    return np.where(np.abs(whole) < 2.0**31, whole, -(2.0**31))


def saturated(whole: Array, bits: int) -> Array:
    return np.clip(np.nan_to_num(whole, nan=0.0), -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1)


BEFORE_THE_SUM: dict[str, Callable[..., Array]] = {
    "int32-first": lambda whole, zeros, low, high: to_int32(whole) + zeros,
    "int32-sum-wraps": lambda whole, zeros, low, high: wrapped(saturated(whole, 32) + zeros, -(2**31), 2**31 - 1),
    "int16-first": lambda whole, zeros, low, high: saturated(whole, 16) + zeros,
    "clamps-before-zp": lambda whole, zeros, low, high: wrapped(np.clip(whole, low, high) + zeros, low, high),
    "clamps-before-and-after-zp": lambda whole, zeros, low, high: np.nan_to_num(np.clip(whole, low, high) + zeros),
    "wraps": lambda whole, zeros, low, high: wrapped(whole + zeros, low, high),
}
FOR_OUT_OF_RANGE: dict[str, Callable[..., Any]] = {
    "wraps-above": lambda total, low, high: np.where(total > high, wrapped(total, low, high), low),
    "wraps-below": lambda total, low, high: np.where(total < low, wrapped(total, low, high), high),
    "out-of-range-to-zero": lambda total, low, high: 0 * low,
    "out-of-range-to-lowest": lambda total, low, high: low,
    "clamps-to-8-bits": lambda total, low, high: wrapped(
        np.clip(np.nan_to_num(total), *((0, 255) if low == 0 else (-128, 127))), low, high
    ),
}


ARITHMETIC = {"ngraph.Quantize": quantize, "onnx.QuantizeLinear": quantize}
