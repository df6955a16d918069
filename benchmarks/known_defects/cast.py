"""onnx.Cast from and to types of 8 bits and fewer: one number in another type."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.known_defects import small_floats
from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import RULES, Array, as_type, converted, ends, in_type, wrapped
from benchmarks.known_defects.places import read_as
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node

LARGEST_FOR_INFINITY = 24  # the operator set from which on an infinity saturates in the types with one zero


def cast(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    (x,) = inputs
    out, values = node.outputs[0].dtype, number(x, how)
    if "int" in out.name:
        return (integers(node, x, values, out, how),)
    if out.name.endswith("e8m0fnu"):
        return (powers(node, values, out),)
    return ((converted(values, out) if out.itemsize > 1 else small(node, values, out, how)),)


def number(x: Array, how: How) -> Array:
    """The input as float64."""
    if "int" in x.dtype.name:
        return read_as(x, how, "operand").astype(np.float64)
    return small_floats.read(x, how) if x.dtype.itemsize == 1 else x.astype(np.float64)


def integers(node: Node, x: Array, values: Array, out: np.dtype[Any], how: How) -> Array:
    low, high = ends(out)
    if "int" in x.dtype.name:
        return as_type(wrapped(values, low, high), out)
    whole = np.nan_to_num(rounded(values, RULES[node.modes[0]], in_type("float64"), how), nan=0.0)
    return as_type(np.clip(whole, low, high), out)


def small(node: Node, values: Array, out: np.dtype[Any], how: How) -> Array:
    if out.name.endswith("fnuz") and node.opset < LARGEST_FOR_INFINITY:
        values = np.where(np.isinf(values), np.nan, values)
    if small_floats.is_float4(out):
        values = np.where(np.isnan(values), 6.0, values)  # it has no NaN
    return small_floats.encoded(values, out, node.value("saturate"), how)


def powers(node: Node, values: Array, out: np.dtype[Any]) -> Array:
    """float8_e8m0fnu: the exponent of two plus 127."""
    part, exponent = np.frexp(values)
    more = {"up": part > 0.5, "down": np.zeros(values.shape, bool), "nearest": part >= 0.75}[node.value("round_mode")]
    outside = ~((values >= 2.0**-127) & (values <= 2.0**127))
    end = np.where(values > 1, 254, 0) if node.value("saturate") else np.full(values.shape, 255)
    codes = np.where(outside, end, np.where(np.isfinite(values), exponent + more + 126, 0))
    return np.where(np.isnan(values), 255, codes).astype(np.uint8).view(out)


ARITHMETIC = {"onnx.Cast": cast}
