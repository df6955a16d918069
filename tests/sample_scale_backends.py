"""Backends for sweeps of every scale: right in one of two ways, wrong in one way each, and misbehaving."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tiebreak import Unsupported

Array = np.ndarray[Any, Any]
Divide = Callable[[Array, Array], Array]
SCALE = 0x3F800123  # the one scale of a sample that is wrong for one only
LINE = np.uint32(0x3F9D89D9).view(np.float32)  # a scale that a sweep tries with every x


class Box:
    """`run` gets x, the scales and the zero points as float32, shaped to broadcast, and returns float numbers."""

    version = "1.0"
    operators = {"onnx.QuantizeLinear"}  # noqa: RUF012 - as in the documents

    def __init__(self, name: str, run: Callable[[Array, Array, Array], Array], *, alone: bool = False) -> None:
        self.name, self.run, self.alone = name, run, alone

    def compile(self, node: Any) -> Any:
        if self.alone and "axis" in node.attributes:
            raise Unsupported("one scale for a tensor")
        dtype = node.outputs[0].dtype
        info = np.iinfo(dtype)

        def run(x: Array, scale: Array, zero_point: Array | None = None) -> tuple[Array, ...]:
            zero_point = np.zeros(scale.shape) if zero_point is None else zero_point
            column = (-1, 1) if scale.ndim else ()
            with np.errstate(all="ignore"):
                found = self.run(x, scale.reshape(column), zero_point.astype(np.float32).reshape(column))
            return (
                np.clip(np.nan_to_num(found, nan=0.0, posinf=1e30, neginf=-1e30), info.min, info.max).astype(dtype),
            )

        return run


def quotient(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.rint(x / scale) + zero_point


def double(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.rint(x.astype(np.float64) / scale) + zero_point


def reciprocal(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.rint(x * (np.float32(1) / scale)) + zero_point


def zero_point_first(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.rint(x / scale + zero_point)


def fused(x: Array, scale: Array, zero_point: Array) -> Array:
    """Rounds x * (1 / scale) + zero_point once."""
    inverse = (np.float32(1) / scale).astype(np.float64)
    return np.rint((x * inverse + zero_point).astype(np.float32))


def away(x: Array, scale: Array, zero_point: Array) -> Array:
    q = x / scale
    return np.copysign(np.floor(np.abs(q) + np.float32(0.5)), q) + zero_point


def truncated(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.trunc(x / scale) + zero_point


def two_more(x: Array, scale: Array, zero_point: Array) -> Array:
    return quotient(x, scale, zero_point) + 2


def one_scale(x: Array, scale: Array, zero_point: Array) -> Array:
    odd = scale.view(np.uint32) == SCALE
    return np.where(odd, away(x, scale, zero_point), quotient(x, scale, zero_point))


def subnormal_scales(x: Array, scale: Array, zero_point: Array) -> Array:
    return quotient(x, np.where(scale < np.float32(2**-126), np.float32(0), scale), zero_point)


def with_epsilon(x: Array, scale: Array, zero_point: Array) -> Array:
    return quotient(x, scale + np.float32(1e-30), zero_point)


def wraps(x: Array, scale: Array, zero_point: Array) -> Array:
    """As a conversion to int32 that gives the least integer for whatever is too large."""
    q = np.rint(x / scale)
    return np.where(np.abs(q) < 2.0**31, q + zero_point, -(2.0**31))


def dips(x: Array, scale: Array, zero_point: Array) -> Array:
    """Right next to each threshold, but with one scale less for a single x between two of them."""
    found = quotient(x, scale, zero_point)
    return np.where((scale == LINE) & (x == np.float32(2.25) * LINE), found - 1, found)


def backwards(x: Array, scale: Array, zero_point: Array) -> Array:
    """One too small for the second input of every step from the 4th on."""
    found = zero_point_first(x, scale, zero_point)
    return np.where((x / scale > 3) & (x.view(np.uint32) % 2 == 1), found - 2, found)


def crash(x: Array, scale: Array, zero_point: Array) -> Array:
    """Ends the process at the highest exponent."""
    if float(scale.max()) >= 2.0**127:
        os.abort()
    return quotient(x, scale, zero_point)


def crash_when_asked_again(x: Array, scale: Array, zero_point: Array) -> Array:
    """Wrong with one scale, and it ends where it is asked for fewer inputs of that scale, which locate a threshold."""
    if x.shape[-1] < 700:
        os.abort()
    return one_scale(x, scale, zero_point)


def wrong_and_crash(x: Array, scale: Array, zero_point: Array) -> Array:
    crash(x, scale, zero_point)
    return reciprocal(x, scale, zero_point)


RIGHT = {"quotient": quotient, "double": double}
WRONG = {
    "reciprocal": reciprocal,
    "zero_point_first": zero_point_first,
    "fused": fused,
    "away": away,
    "truncated": truncated,
    "two_more": two_more,
    "one_scale": one_scale,
    "subnormal_scales": subnormal_scales,
    "with_epsilon": with_epsilon,
}
BACK = {"wraps": wraps, "dips": dips, "backwards": backwards}
for name, run in {
    **RIGHT,
    **WRONG,
    **BACK,
    "crash": crash,
    "wrong_and_crash": wrong_and_crash,
    "again": crash_when_asked_again,
}.items():
    globals()[f"{name}_box"] = Box(name, run)
alone = Box("alone", quotient, alone=True)
alone_reciprocal = Box("alone and reciprocal", reciprocal, alone=True)
