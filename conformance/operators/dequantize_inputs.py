"""Wrong ways to read a dequantizer's input: bits of another type, numbers flushed, exchanged or cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tiebreak.conformance.operators.dequantize_flushing import small_flushed, with_sign
from tiebreak.conformance.operators.dequantize_numbers import HALF, Change, limits_of, rounded_in, whole_kind
from tiebreak.conformance.operators.operand_mistakes import (
    BFLOAT16,
    wrapped_to,
)
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


def as_unsigned(node: Node, values: Array) -> Array:
    kind = whole_kind(node)
    if not kind.lowest:
        raise NotImplementedError
    return np.asarray(np.mod(values, 1 << kind.bits))


def as_signed(node: Node, values: Array) -> Array:
    kind = whole_kind(node)
    if kind.lowest:
        raise NotImplementedError
    return np.where(values > kind.highest // 2, values - (1 << kind.bits), values)


def nibbles_swapped(node: Node, values: Array) -> Array:
    name = node.inputs[0].dtype.name
    if not name.endswith("int4") and not name.startswith("float4"):
        raise NotImplementedError
    partner = np.minimum(np.arange(values.size) ^ 1, max(values.size - 1, 0))
    return np.asarray(values.reshape(-1)[partner].reshape(values.shape))


def whole(change: Callable[[Array, IntegerType], Array]) -> Change:
    """A change of whole numbers alone."""
    return lambda node, values: change(values, whole_kind(node))


def wider_than(bits: int, change: Callable[[Array, IntegerType], Array]) -> Change:
    def wide(values: Array, kind: IntegerType) -> Array:
        if kind.bits <= bits:
            raise NotImplementedError
        return change(values, kind)

    return whole(wide)


def sign_and_magnitude(values: Array, kind: IntegerType) -> Array:
    wide = values.astype(np.float64)  # which has a negative zero
    return np.where(wide < 0, -(wide - kind.lowest), wide)


def in_pairs(partner: Callable[[Array], Array]) -> Change:
    """Numbers of less than 8 bits, each replaced by another of its pair."""

    def change(node: Node, values: Array) -> Array:
        name = node.inputs[0].dtype.name
        if not name.endswith(("int4", "int2")) and not name.startswith("float4"):
            raise NotImplementedError
        places = np.arange(values.size)
        other = partner(places)
        return np.asarray(values.reshape(-1)[np.where(other < values.size, other, places)].reshape(values.shape))

    return change


def small_float(change: Callable[[Array, np.dtype[Any]], Array], kinds: str = "float") -> Change:
    """A change of small floats alone, which gets their type."""

    def run(node: Node, values: Array) -> Array:
        dtype = node.inputs[0].dtype
        if dtype.name in INTEGER_TYPES or not dtype.name.startswith(kinds):
            raise NotImplementedError
        return change(values, dtype)

    return run


def leading_one(values: Array, dtype: np.dtype[Any]) -> Array:
    normal = float(limits_of(dtype).smallest_normal)
    small = (np.abs(values) < normal) & (values != 0)
    return np.where(small, np.copysign(normal / 2 + np.abs(values) / 2, values), values)


def bits_as_signed(values: Array, dtype: np.dtype[Any]) -> Array:
    bits = limits_of(dtype).bits
    return wrapped_to(values.astype(dtype).view(np.uint8).astype(np.int64), bits, signed=True)


def as_powers_of_two(values: Array, dtype: np.dtype[Any]) -> Array:
    """float4 read as a sign and an exponent of three bits, 0 standing for zero."""
    raw = values.astype(dtype).view(np.uint8).astype(np.int64)
    power = np.where(raw & 7, np.exp2((raw & 7) - 3.0), 0.0)
    return np.where(raw & 8, -power, power)


def infinity_to_largest(values: Array, dtype: np.dtype[Any]) -> Array:
    return np.where(np.isinf(values), np.copysign(float(limits_of(dtype).max), values), values)


def negative_nan_as_number(node: Node, values: Array) -> Array:
    """The NaN of float8_e4m3fn has the bits that would be 480."""
    if node.inputs[0].dtype.name != "float8_e4m3fn":
        raise NotImplementedError
    return np.where(np.isnan(values) & np.signbit(values), -480.0, values)


def largest_to_infinity(node: Node, values: Array) -> Array:
    """A float4_e2m1fn has no infinity; its largest value is read as one."""
    if node.inputs[0].dtype.name != "float4_e2m1fn":
        raise NotImplementedError
    return np.where(np.abs(values) == 6, np.copysign(np.inf, values), values)


INPUTS: tuple[tuple[str, Change], ...] = (
    ("nibbles-swapped", nibbles_swapped),
    ("neighbours-exchanged", in_pairs(lambda places: places ^ 1)),
    ("first-of-pair-twice", in_pairs(lambda places: places // 2 * 2)),
    ("input-as-signed", as_signed),
    ("input-as-unsigned", as_unsigned),
    ("x-in:float32", rounded_in(np.dtype(np.float32))),
    ("x-in:float16", rounded_in(HALF)),
    ("x-in:bfloat16", rounded_in(BFLOAT16)),
    ("input-saturates-to:int16", wider_than(16, lambda values, kind: np.clip(values, -(2**15), 2**15 - 1))),
    ("input-saturates-to:int8", wider_than(8, lambda values, kind: np.clip(values, -128, 127))),
    ("input-cast-to:int16", wider_than(16, lambda values, kind: wrapped_to(values, 16, signed=True))),
    ("input-cast-to:int8", wider_than(8, lambda values, kind: wrapped_to(values, 8, signed=True))),
    ("input-cast-to:uint8", wider_than(8, lambda values, kind: wrapped_to(values, 8, signed=False))),
    ("input-less-half-range", whole(lambda values, kind: values - (1 << (kind.bits - 1)))),
    ("lowest-input-never", whole(lambda values, kind: np.maximum(values, kind.lowest + 1))),
    ("input-as-sign-and-magnitude", whole(sign_and_magnitude)),
    ("input-bytes-exchanged", wider_than(8, lambda values, kind: bytes_exchanged(values, kind))),
    ("input-flushed", with_sign(small_flushed)),
    ("input-without-sign", small_float(lambda values, dtype: np.abs(values))),
    ("input-subnormals-as-normal", small_float(leading_one)),
    ("input-exponent-one-less", small_float(lambda values, dtype: values / 2, "float8")),
    ("input-infinity-to-largest", small_float(infinity_to_largest)),
    ("negative-nan-as-number", negative_nan_as_number),
    ("input-largest-to-infinity", largest_to_infinity),
    ("float-bits-as-signed", small_float(bits_as_signed)),
    ("float4-as-powers-of-two", small_float(as_powers_of_two, "float4")),
)


def bytes_exchanged(values: Array, kind: IntegerType) -> Array:
    if kind.bits != 16:
        raise NotImplementedError
    raw = np.mod(values, 1 << 16)
    return wrapped_to(raw % 256 * 256 + raw // 256, 16, signed=kind.signed)
