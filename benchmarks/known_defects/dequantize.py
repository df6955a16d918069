"""ngraph.Dequantize and onnx.DequantizeLinear: (x - zero_point) * scale."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from benchmarks.known_defects import small_floats
from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import (
    Array,
    converted,
    cut_to,
    ends,
    flushed,
    in_type,
    ties_away_to,
    to_power_of_two,
    wrapped,
)
from benchmarks.known_defects.places import read_as, scale_index, zero_point_index
from benchmarks.known_defects.quantize import index_for
from tiebreak.golden.nodes import Node


def dequantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    x, scale, *rest = inputs
    index, out = index_for(node, x.shape, scale.shape, how), node.outputs[0].dtype
    scales = scale.astype(np.float64).reshape(-1)[scale_index(index, how)]
    if how.get("flush") == "flush-scale":
        scales = flushed(scales, scale.dtype)
    zeros = zero_points(rest, scale.size, how)[zero_point_index(index, how)]
    found = product(number(x, how), zeros, in_type(out)(scales), x.dtype, out, how)
    if how.get("flush") == "flush-output":
        found = flushed(found, out)
    return (converted(found, out),)


def zero_points(rest: list[Array], count: int, how: How) -> Array:
    """The zero points as float64, flat; zeros where the input is left off."""
    if not rest:
        return np.zeros(count)
    if rest[0].dtype.name.startswith("float"):
        return rest[0].astype(np.float64).reshape(-1)
    found = read_as(rest[0], how, "zero").reshape(-1).astype(np.float64)
    return {"zp-ignored": 0 * found, "zp-negated": -found, "zp-twice": 2 * found}.get(how.get("zero", ""), found)


def number(x: Array, how: How) -> Array:
    """The input as float64."""
    defect = how.get("operand", "")
    if defect == "nibbles-swapped":
        flat = x.reshape(-1)
        partner = np.minimum(np.arange(flat.size) ^ 1, max(flat.size - 1, 0))
        x = flat[partner].reshape(x.shape)
    if x.dtype.name.startswith("float"):
        return small_floats.read(x, how)
    found = read_as(x, how, "operand").astype(np.float64)
    return in_type(defect.removeprefix("x-through-"))(found) if defect.startswith("x-through-") else found


def difference(x: Array, zeros: Array, kind: np.dtype[Any], out: np.dtype[Any], how: How) -> Array:
    """x - zero_point, rounded to the output's type."""
    defect, found = how.get("difference", ""), x - zeros
    if defect in ("difference-in-float16", "difference-in-bfloat16"):
        found = in_type(defect.removeprefix("difference-in-"))(found)
    elif defect == "difference-in-int16":
        found = wrapped(found, -(1 << 15), (1 << 15) - 1)
    elif defect == "difference-wraps":
        found = wrapped(found, *ends(kind))
    elif defect == "difference-saturates":
        found = np.clip(found, *ends(kind))
    return in_type(out)(found)


def product(x: Array, zeros: Array, scale: Array, kind: np.dtype[Any], out: np.dtype[Any], how: How) -> Array:
    s, defect = in_type(out), how.get("product", "")
    if defect == "distributes":
        return s(s(s(x) * scale) - s(s(zeros) * scale))
    if defect == "distributes-fused":
        return s(s(x) * scale - s(s(zeros) * scale))
    return times(difference(x, zeros, kind, out, how), scale, out, defect)


def times(found: Array, scale: Array, out: np.dtype[Any], defect: str) -> Array:
    s = in_type(out)
    for prefix, narrow in (("product-in-", lambda f: f(f(found) * f(scale))),
                           ("multiplier-in-", lambda f: s(found * f(scale)))):  # fmt: skip
        if defect.startswith(prefix):
            return narrow(in_type(defect.removeprefix(prefix)))
    ways = {
        "product-cut-off": lambda: cut_to(found * scale, out),
        "product-ties-away": lambda: ties_away_to(found * scale, out),
        "divides-by-inverse": lambda: s(found / s(1 / scale)),
        "overflow-saturates": lambda: saturated(found * scale, out),
        "multiplier-power-of-two": lambda: s(found * to_power_of_two(scale)),
        "multiplier-ignored": lambda: found,
        "divides-by-scale": lambda: s(found / scale),
    }
    return ways.get(defect, lambda: s(found * scale))()


def saturated(values: Array, out: np.dtype[Any]) -> Array:
    highest = float(ml_dtypes.finfo(out).max)
    found = in_type(out)(values)
    return np.where(np.isinf(found), np.copysign(highest, found), found)


ARITHMETIC = {"ngraph.Dequantize": dequantize, "onnx.DequantizeLinear": dequantize}
