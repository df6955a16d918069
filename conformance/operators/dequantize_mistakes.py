"""Usual mistakes of (x - zero_point) * scale, each as arithmetic on operands of the input's shape.

x and the zero point are int64, or float64 numbers read from small floats; the scale has its own type. Products are made
in float64, which holds those of all narrower types, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.compiled_fake_quantize import rounded_if_odd
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.quantize_mistakes import cut_off, to_power_of_two
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Arithmetic = Callable[[Node, Array, Array, Array], Array]
Change = Callable[[Node, Array], Array]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALF = np.dtype(np.float16)


def rounded_to(values: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers rounded once to a type, as float64."""
    wide = values.astype(np.float64)
    if dtype == BFLOAT16:  # ml_dtypes goes through float32: rounded to odd there, a number is not rounded twice
        near = cut_off(wide, np.dtype(np.float32)).astype(np.float32)
        inexact = np.isfinite(wide) & (near.astype(np.float64) != wide)
        wide = (near.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
    return np.asarray(wide.astype(dtype).astype(np.float64))


def same(node: Node, values: Array) -> Array:
    return values


def in_output_type(node: Node, values: Array) -> Array:
    return rounded_to(values, node.outputs[0].dtype)


def rounded_in(dtype: np.dtype[Any]) -> Change:
    return lambda node, values: rounded_to(values, dtype)


def half_for_odd(node: Node, values: Array) -> Array:
    """Brought to bfloat16 from float32 with half a unit added to odd numbers only; other types make no difference."""
    if node.outputs[0].dtype != BFLOAT16:
        raise NotImplementedError
    return rounded_if_odd(values.astype(np.float32)).astype(np.float64)


def operands_half_for_odd(product: Change) -> Arithmetic:
    """Input and zero point are brought to bfloat16 so, and subtracted in float32."""

    def run(node: Node, x: Array, scale: Array, zero: Array) -> Array:
        difference = half_for_odd(node, x) - half_for_odd(node, zero)
        single = difference.astype(np.float32).astype(np.float64)
        return product(node, single * in_output_type(node, scale))

    return run


def limits_of(dtype: np.dtype[Any]) -> Any:
    limits: Callable[[Any], Any] = ml_dtypes.finfo
    return limits(dtype)


def whole_kind(node: Node) -> IntegerType:
    kind = INTEGER_TYPES.get(node.inputs[0].dtype.name)
    if kind is None:
        raise NotImplementedError
    return kind


# The steps: how the operands are read, what becomes of the difference, of the scale and of the product.


def steps(
    x: Change = same,
    zero: Change = same,
    difference: Change = same,
    scale: Change = same,
    product: Change = in_output_type,
) -> Arithmetic:
    """(x - zero_point) * scale with some steps done wrongly; `product` rounds it from float64."""

    def run(node: Node, values: Array, factor: Array, zeros: Array) -> Array:
        own = in_output_type(node, difference(node, x(node, values) - zero(node, zeros)))
        return product(node, own * scale(node, in_output_type(node, factor)))

    return run


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


def small_flushed(node: Node, values: Array) -> Array:
    if node.inputs[0].dtype.name in INTEGER_TYPES:
        raise NotImplementedError
    return without_small(values, float(limits_of(node.inputs[0].dtype).smallest_normal))


def wrapped_to_int16(node: Node, values: Array) -> Array:
    whole_kind(node)
    return np.asarray(np.mod(values + 2**15, 2**16) - 2**15)


def without_small(values: Array, least: float) -> Array:
    return np.where(np.abs(values) < least, 0.0, values)


def with_and_without_sign(change: Change) -> tuple[Change, Change]:
    return with_sign(change), change


def with_sign(change: Change) -> Change:
    """A zero that a change makes keeps the sign."""
    return lambda node, values: np.copysign(change(node, values), values)


def flushed_in_type_of(pick: Callable[[Node], np.dtype[Any]]) -> Change:
    def change(node: Node, values: Array) -> Array:
        kind = FLOAT_TYPES.get(pick(node).name)
        if kind is None:
            raise NotImplementedError
        return without_small(values, float(2.0**kind.emin))

    return change


flushed = flushed_in_type_of(lambda node: node.outputs[0].dtype)
own_flushed = flushed_in_type_of(lambda node: node.inputs[1].dtype)


def output_flushed(node: Node, product: Array) -> Array:
    return flushed(node, in_output_type(node, product))


def multiplied_in(dtype: np.dtype[Any]) -> Arithmetic:
    """Difference and scale are rounded to a type, and so is their product."""
    narrow = rounded_in(dtype)
    return steps(difference=narrow, scale=narrow, product=narrow)


def product_cut_off(node: Node, product: Array) -> Array:
    return cut_off(product, node.outputs[0].dtype)


def product_away(node: Node, product: Array) -> Array:
    """Rounded to nearest; a tie between two values goes away from zero."""
    dtype = node.outputs[0].dtype
    low = cut_off(product, dtype)
    high = np.nextafter(low.astype(dtype), np.copysign(np.inf, product).astype(dtype)).astype(np.float64)
    return np.where(np.abs(product - low) >= np.abs(high - product), high, low)


def overflow_saturated(node: Node, product: Array) -> Array:
    found = in_output_type(node, product)
    return np.where(np.isinf(found), np.copysign(float(limits_of(node.outputs[0].dtype).max), found), found)


def distributed(*, fused: bool) -> Arithmetic:
    """x * scale - zero_point * scale; `fused` rounds the first product and the difference once together."""

    def run(node: Node, x: Array, scale: Array, zero: Array) -> Array:
        factor = in_output_type(node, scale)
        first, second = (in_output_type(node, a) * factor for a in (x, zero))
        first = first if fused else in_output_type(node, first)
        return in_output_type(node, first - in_output_type(node, second))

    return run


def divided_by_reciprocal(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    inverse = in_output_type(node, 1 / in_output_type(node, scale))
    return in_output_type(node, in_output_type(node, x - zero) / inverse)


def without_scale(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return in_output_type(node, x - zero)


def twice(node: Node, zero: Array) -> Array:
    return 2 * zero


def all_operands(change: Change) -> Arithmetic:
    return steps(x=change, zero=change)


# Of two that explain equally much the earlier one is named.
SHARED: tuple[tuple[Cause, Arithmetic], ...] = (
    *((Cause("flushes-scales", "product"), steps(scale=change)) for change in with_and_without_sign(own_flushed)),
    *((Cause("flushes-scales", "product"), steps(scale=change)) for change in with_and_without_sign(flushed)),
    *((Cause("flushes-outputs", "product"), steps(product=change)) for change in with_and_without_sign(output_flushed)),
    (Cause("distributes-scale-fused", "product"), distributed(fused=True)),
    (Cause("divides-by-reciprocal", "product"), divided_by_reciprocal),
    (Cause("overflow-saturates", "product"), steps(product=overflow_saturated)),
    (Cause("cuts-off", "product"), steps(product=product_cut_off)),
    (Cause("ties-away-to-type", "product"), steps(product=product_away)),
    (Cause("half-for-odd-bfloat16", "difference"), operands_half_for_odd(in_output_type)),
    (Cause("half-for-odd-bfloat16 + flushes-outputs", "difference"), operands_half_for_odd(output_flushed)),
    (Cause("x-in:float32", "difference"), steps(x=rounded_in(np.dtype(np.float32)))),
    (Cause("x-in:float16", "difference"), steps(x=rounded_in(HALF))),
    (Cause("x-in:bfloat16", "difference"), steps(x=rounded_in(BFLOAT16))),
    (Cause("difference-in:float16", "difference"), steps(difference=rounded_in(HALF))),
    (Cause("difference-in:bfloat16", "difference"), steps(difference=rounded_in(BFLOAT16))),
    (Cause("difference-in:int16", "difference"), steps(difference=wrapped_to_int16)),
    (Cause("scale-in:float16", "product"), steps(scale=rounded_in(HALF))),
    (Cause("scale-in:bfloat16", "product"), steps(scale=rounded_in(BFLOAT16))),
    (Cause("scale-to-power-of-two", "product"), steps(scale=lambda n, s: to_power_of_two(s))),
    (Cause("product-in:float16", "product"), multiplied_in(HALF)),
    (Cause("product-in:bfloat16", "product"), multiplied_in(BFLOAT16)),
    (Cause("product-in:float32", "product"), multiplied_in(np.dtype(np.float32))),
    (Cause("ignores-scale", "product"), without_scale),
    (Cause("zero-point-as-signed", "difference"), steps(zero=as_signed)),
    (Cause("zero-point-as-unsigned", "difference"), steps(zero=as_unsigned)),
    (Cause("zero-point-twice", "difference"), steps(zero=twice)),
    (Cause("input-as-signed", "difference"), steps(x=as_signed)),
    (Cause("input-as-unsigned", "difference"), steps(x=as_unsigned)),
    (Cause("unsigned-as-signed", "difference"), all_operands(as_signed)),
    (Cause("signed-as-unsigned", "difference"), all_operands(as_unsigned)),
    (Cause("nibbles-swapped", "difference"), steps(x=nibbles_swapped)),
    *((Cause("input-flushed", "difference"), steps(x=change)) for change in with_and_without_sign(small_flushed)),
)


# Two mistakes at once: operands changed before one of SHARED, or a result changed after it.

ZERO_POINTS: tuple[tuple[str, Change], ...] = (
    ("ignores-zero-point", lambda node, zero: 0 * zero),
    ("zero-point-as-signed", as_signed),
    ("zero-point-as-unsigned", as_unsigned),
    ("adds-zero-point", lambda node, zero: -zero),
    ("zero-point-twice", twice),
)
INPUTS: tuple[tuple[str, Change], ...] = (
    ("nibbles-swapped", nibbles_swapped),
    ("input-as-signed", as_signed),
    ("input-as-unsigned", as_unsigned),
)
SECOND = (  # these leave the operands as they are
    *("distributes-scale", "distributes-scale-fused", "divides-by-reciprocal", "overflow-saturates", "cuts-off"),
    *("ties-away-to-type", "flushes-outputs", "product-in:float16", "product-in:bfloat16", "scale-in:float16"),
    *("scale-in:bfloat16", "ignores-scale"),
)
AFTER = ("distributes-scale", "distributes-scale-fused", "divides-by-reciprocal", "product-in:bfloat16")


def of_changed(x: Change, zero: Change, arithmetic: Arithmetic) -> Arithmetic:
    return lambda node, values, scale, zeros: arithmetic(node, x(node, values), scale, zero(node, zeros))


def flushed_after(arithmetic: Arithmetic, change: Change) -> Arithmetic:
    return lambda node, x, scale, zero: change(node, arithmetic(node, x, scale, zero))


def pairs() -> Iterator[tuple[Cause, Arithmetic]]:
    every = ((Cause("distributes-scale", "product"), distributed(fused=False)), *SHARED)
    for second, arithmetic in every:
        if second.id in SECOND:
            for key, change in ZERO_POINTS:
                yield Cause(f"{key}{JOINT}{second.id}", "difference"), of_changed(same, change, arithmetic)
            for key, change in INPUTS:
                yield Cause(f"{key}{JOINT}{second.id}", "difference"), of_changed(change, same, arithmetic)
        if second.id in AFTER:
            for change in with_and_without_sign(flushed):
                yield Cause(f"{second.id}{JOINT}flushes-outputs", "product"), flushed_after(arithmetic, change)


PAIRS = tuple(pairs())
