"""Usual mistakes of (x - zero_point) * scale, each as arithmetic on operands of the input's shape.

x and the zero point are int64, or float64 numbers read from small floats; the scale has its own type. Products are made
in float64, which holds those of all narrower types, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.compiled_fake_quantize import rounded_if_odd
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.operand_mistakes import (
    BFLOAT16,
    LEAST,
    OF_SCALES,
    OF_ZERO_POINTS,
    OfScale,
    OfZeroPoint,
    cut_to_bits,
    to_bits,
    to_digits,
    wrapped_to,
)
from tiebreak.conformance.operators.quantize_quotients import cut_off, to_power_of_two
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Arithmetic = Callable[[Node, Array, Array, Array], Array]
Change = Callable[[Node, Array], Array]
HALF = np.dtype(np.float16)
OF_OPERATORS = ("ignores-zero-point", "adds-zero-point")  # singles that the operators have of their own
SAME_AS_INPUT = "zero-point-more-half-range"  # gives what input-less-half-range gives
AFTER = ("distributes-scale", "distributes-scale-fused", "divides-by-reciprocal", "product-in:bfloat16")


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


def result_half_for_odd(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    """All operands become float32, whatever the scale's type, and so does each result; only the last is brought so."""
    difference = x.astype(np.float32) - zero.astype(np.float32)
    return half_for_odd(node, difference * scale.astype(np.float32))


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


def flushing_outputs(change: Change) -> tuple[tuple[str, Change], ...]:
    """A zero that stands for a subnormal output has its sign, or none."""
    return ("flushes-outputs", with_sign(change)), ("flushes-outputs:to positive zero", change)


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


def divided_by_scale(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return in_output_type(node, in_output_type(node, x - zero) / in_output_type(node, scale))


def without_scale(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return in_output_type(node, x - zero)


def twice(node: Node, zero: Array) -> Array:
    return 2 * zero


def all_operands(change: Change) -> Arithmetic:
    return steps(x=change, zero=change)


# More of the input.


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


# More of the zero point and the scale.


def of_zero_point(change: OfZeroPoint) -> Change:
    def run(node: Node, zeros: Array) -> Array:
        kind = whole_kind(node)
        found = change(zeros, kind.lowest, kind.highest)
        if found is None:
            raise NotImplementedError
        return found

    return run


def of_scale(change: OfScale) -> Change:
    return lambda node, scale: in_output_type(node, change(in_output_type(node, scale)))


ZERO_POINTS: tuple[tuple[str, Change], ...] = (
    ("ignores-zero-point", lambda node, zero: 0 * zero),
    ("zero-point-as-signed", as_signed),
    ("zero-point-as-unsigned", as_unsigned),
    ("adds-zero-point", lambda node, zero: -zero),
    ("zero-point-twice", twice),
    *((key, of_zero_point(change)) for key, change in OF_ZERO_POINTS if key != SAME_AS_INPUT),
)
SCALES: tuple[tuple[str, Change], ...] = (
    ("scale-in:float16", rounded_in(HALF)),
    ("scale-in:bfloat16", rounded_in(BFLOAT16)),
    ("scale-to-power-of-two", lambda node, scale: to_power_of_two(scale)),
    *((key, of_scale(change)) for key, change in OF_SCALES),
    ("scale-in:float32", rounded_in(np.dtype(np.float32))),
)


# More of the difference.


def difference_in_signed(values: Array, kind: IntegerType) -> Array:
    if not kind.lowest:
        return wrapped_to(values, kind.bits, signed=True)
    raise NotImplementedError


DIFFERENCES: tuple[tuple[str, Change], ...] = (
    ("difference-in:float16", rounded_in(HALF)),
    ("difference-in:bfloat16", rounded_in(BFLOAT16)),
    ("difference-in:int16", wrapped_to_int16),
    ("difference-saturates-to:int16", whole(lambda values, kind: np.clip(values, -(2**15), 2**15 - 1))),
    ("difference-wraps-as-signed", whole(difference_in_signed)),
    ("difference-reversed", lambda node, values: -values),
    ("difference-not-below-zero", whole(lambda values, kind: np.maximum(values, 0))),
)
WRAPPED: tuple[tuple[str, Change], ...] = (  # singles of these are the operators' own
    ("difference-wraps", whole(lambda values, kind: wrapped_to(values, kind.bits, signed=kind.signed))),
    ("difference-saturates", whole(lambda values, kind: np.clip(values, kind.lowest, kind.highest))),
)


# More of the product, and of the arithmetic as a whole.


def product_directed(*, up: bool) -> Change:
    """The product rounded in one direction, as where a rounding mode was left so."""

    def change(node: Node, product: Array) -> Array:
        dtype, near = node.outputs[0].dtype, in_output_type(node, product)
        wrong = near < product if up else near > product
        end = dtype.type(np.inf if up else -np.inf)
        return np.where(wrong, np.nextafter(near.astype(dtype), end), near.astype(dtype)).astype(np.float64)

    return change


def overflow_to_nan(node: Node, product: Array) -> Array:
    found = in_output_type(node, product)
    return np.where(np.isinf(found) & np.isfinite(product), np.nan, found)


def by_factor(multiply: Callable[[Node, Array, Array], Array]) -> Arithmetic:
    """The difference and the scale, both in the output's type, multiplied in another way."""

    def run(node: Node, x: Array, scale: Array, zero: Array) -> Array:
        return multiply(node, in_output_type(node, x - zero), in_output_type(node, scale))

    return run


def factors_of_bits(bits: int, node: Node, difference: Array, scale: Array) -> Array:
    return in_output_type(node, to_bits(difference, bits) * to_bits(scale, bits))


def scale_in_two_parts(node: Node, difference: Array, scale: Array) -> Array:
    upper = cut_to_bits(scale, 12)
    parts = (in_output_type(node, difference * part) for part in (upper, scale - upper))
    return in_output_type(node, next(parts) + next(parts))


def scale_twice(node: Node, difference: Array, scale: Array) -> Array:
    return in_output_type(node, in_output_type(node, difference * scale) * scale)


def by_estimate(node: Node, difference: Array, scale: Array) -> Array:
    return in_output_type(node, difference / to_bits(1 / scale, 12))


def distributed_in(dtype: np.dtype[Any]) -> Arithmetic:
    """x * scale - zero_point * scale, every step in a type of few bits."""

    def run(node: Node, x: Array, scale: Array, zero: Array) -> Array:
        first, second = (rounded_to(rounded_to(a, dtype) * rounded_to(scale, dtype), dtype) for a in (x, zero))
        return rounded_to(first - second, dtype)

    return run


def bias_in(dtype: np.dtype[Any]) -> Arithmetic:
    """x * scale plus a bias of a type of few bits."""

    def run(node: Node, x: Array, scale: Array, zero: Array) -> Array:
        factor = in_output_type(node, scale)
        return in_output_type(
            node, in_output_type(node, in_output_type(node, x) * factor) - rounded_to(zero * factor, dtype)
        )

    return run


def from_table_of_sums(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    """The values of all integers from the lowest on, each the one before plus the scale."""
    kind, dtype = whole_kind(node), node.outputs[0].dtype
    if kind.bits > 8:
        raise NotImplementedError
    factor = in_output_type(node, scale).reshape(-1)
    both, places = np.unique(np.stack([np.float64(zero).reshape(-1), factor]), axis=1, return_inverse=True)
    table = np.repeat(both[1][:, None].astype(dtype), 1 << kind.bits, axis=1)
    table[:, 0] = in_output_type(node, (kind.lowest - both[0]) * both[1])
    sums = np.add.accumulate(table, axis=1).astype(np.float64)
    return np.asarray(sums[places.reshape(-1), (x - kind.lowest).reshape(-1)].reshape(x.shape))


def zero_point_after(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    product = in_output_type(node, in_output_type(node, x) * in_output_type(node, scale))
    return in_output_type(node, product - zero)


PRODUCTS: tuple[tuple[str, Change], ...] = (
    ("overflow-saturates", overflow_saturated),
    ("cuts-off", product_cut_off),
    ("ties-away-to-type", product_away),
    ("product-rounds:UP", product_directed(up=True)),
    ("product-rounds:DOWN", product_directed(up=False)),
    ("overflow-to-nan", overflow_to_nan),
)
KERNELS: tuple[tuple[str, Arithmetic], ...] = (
    ("distributes-scale-fused", distributed(fused=True)),
    ("divides-by-reciprocal", divided_by_reciprocal),
    ("product-in:float16", multiplied_in(HALF)),
    ("product-in:bfloat16", multiplied_in(BFLOAT16)),
    ("product-in:float32", multiplied_in(np.dtype(np.float32))),
    ("ignores-scale", without_scale),
    ("factors-of-bits:11", by_factor(partial(factors_of_bits, 11))),
    ("scale-in-two-parts", by_factor(scale_in_two_parts)),
    ("scale-twice", by_factor(scale_twice)),
    ("divides-by-reciprocal-of-bits:12", by_factor(by_estimate)),
    ("distributes-scale-in:float16", distributed_in(HALF)),
    ("distributes-scale-in:bfloat16", distributed_in(BFLOAT16)),
    ("bias-in:float16", bias_in(HALF)),
    ("table-of-sums", from_table_of_sums),
    ("zero-point-after-scale", zero_point_after),
)
RESULTS: tuple[tuple[str, Change], ...] = (
    ("result-in:float16", rounded_in(HALF)),
    ("result-in:bfloat16", rounded_in(BFLOAT16)),
    ("truncates-to-bfloat16", lambda node, y: cut_to_bits(y, 8)),
    ("result-of-bits:11", lambda node, y: to_bits(y, 11)),
    ("result-of-digits:6", lambda node, y: to_digits(y, 6)),
    ("negative-to-zero", lambda node, y: np.where(y < 0, 0.0, y)),
    ("tiny-to-zero", lambda node, y: np.where(np.abs(y) < LEAST, 0.0, y)),
    ("result-saturates-in:float16", lambda node, y: rounded_to(np.clip(y, -65504, 65504), HALF)),
)


def after(arithmetic: Arithmetic, change: Change) -> Arithmetic:
    return lambda node, x, scale, zero: in_output_type(node, change(node, arithmetic(node, x, scale, zero)))


RIGHT = steps()
# Of two that explain equally much the earlier one is named.
SHARED: tuple[tuple[Cause, Arithmetic], ...] = (
    (Cause("flushes-scales", "product"), steps(scale=with_sign(own_flushed))),
    (Cause("flushes-scales:in the output's type", "product"), steps(scale=with_sign(flushed))),
    *((Cause(key, "product"), steps(product=change)) for key, change in flushing_outputs(output_flushed)),
    *((Cause(key, "product"), arithmetic) for key, arithmetic in KERNELS[:2]),
    *((Cause(key, "product"), steps(product=change)) for key, change in PRODUCTS),
    (Cause("result-half-for-odd-bfloat16", "product"), result_half_for_odd),
    (Cause("half-for-odd-bfloat16", "difference"), operands_half_for_odd(in_output_type)),
    (Cause("half-for-odd-bfloat16 + flushes-outputs", "difference"), operands_half_for_odd(output_flushed)),
    *((Cause(key, "difference"), steps(difference=change)) for key, change in DIFFERENCES),
    *((Cause(key, "product"), steps(scale=change)) for key, change in SCALES),
    *((Cause(key, "product"), arithmetic) for key, arithmetic in KERNELS[2:]),
    *((Cause(key, "difference"), steps(zero=change)) for key, change in ZERO_POINTS if key not in OF_OPERATORS),
    *((Cause(key, "difference"), steps(x=change)) for key, change in INPUTS),
    (Cause("input-flushed:to positive zero", "difference"), steps(x=small_flushed)),
    (Cause("unsigned-as-signed", "difference"), all_operands(as_signed)),
    (Cause("signed-as-unsigned", "difference"), all_operands(as_unsigned)),
    *((Cause(key, "product"), after(RIGHT, change)) for key, change in RESULTS),
)


# Two mistakes at once: of an operand, of the arithmetic, or of the result, but not two of one step.


def of_changed(arithmetic: Arithmetic, x: Change = same, zero: Change = same, scale: Change = same) -> Arithmetic:
    return lambda node, values, factor, zeros: arithmetic(node, x(node, values), scale(node, factor), zero(node, zeros))


def flushed_after(arithmetic: Arithmetic, change: Change) -> Arithmetic:
    return lambda node, x, scale, zero: change(node, arithmetic(node, x, scale, zero))


def arithmetics() -> Iterator[tuple[str, Arithmetic]]:
    yield "distributes-scale", distributed(fused=False)
    yield from KERNELS
    for key, change in PRODUCTS:
        yield key, steps(product=change)
    for key, change in flushing_outputs(output_flushed):
        yield key, steps(product=change)
    for key, change in (*WRAPPED, *DIFFERENCES):
        yield key, steps(difference=change)


def pairs() -> Iterator[tuple[Cause, Arithmetic]]:
    changes = [(key, {"zero": change}) for key, change in ZERO_POINTS]
    changes += [(key, {"x": change}) for key, change in INPUTS]
    changes += [(key, {"scale": change}) for key, change in SCALES]
    for second, arithmetic in arithmetics():
        for key, change in changes:
            yield Cause(f"{key}{JOINT}{second}", "difference"), of_changed(arithmetic, **change)
        for key, last in RESULTS:
            yield Cause(f"{second}{JOINT}{key}", "product"), after(arithmetic, last)
        if second in AFTER:
            for key, last in flushing_outputs(flushed):
                yield Cause(f"{second}{JOINT}{key}", "product"), flushed_after(arithmetic, last)
    for number, (key, change) in enumerate(changes):
        for other, second_change in changes[number + 1 :]:
            if not change.keys() & second_change.keys():
                yield Cause(f"{key}{JOINT}{other}", "difference"), of_changed(RIGHT, **change, **second_change)
        for result, last in RESULTS:
            yield Cause(f"{key}{JOINT}{result}", "difference"), after(of_changed(RIGHT, **change), last)
    for key, difference in (*WRAPPED, *DIFFERENCES):
        for other, last in PRODUCTS:
            yield Cause(f"{key}{JOINT}{other}", "difference"), steps(difference=difference, product=last)


PAIRS = tuple(pairs())
# With parameters from wrong places.
MISPLACED_PAIRS: tuple[tuple[str, Arithmetic], ...] = (
    *((key, steps(zero=change)) for key, change in ZERO_POINTS),
    *arithmetics(),
)
