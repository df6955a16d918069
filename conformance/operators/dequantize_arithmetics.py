"""Other ways from a dequantizer's operands to its result: steps in other types, distributed scales, factors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators.dequantize_numbers import (
    HALF,
    Arithmetic,
    Change,
    in_output_type,
    rounded_in,
    rounded_to,
    same,
    whole_kind,
)
from tiebreak.conformance.operators.operand_mistakes import (
    BFLOAT16,
    cut_to_bits,
    to_bits,
)
from tiebreak.conformance.variants.conversions import rounded_if_odd
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


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


def multiplied_in(dtype: np.dtype[Any]) -> Arithmetic:
    """Difference and scale are rounded to a type, and so is their product."""
    narrow = rounded_in(dtype)
    return steps(difference=narrow, scale=narrow, product=narrow)


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


def all_operands(change: Change) -> Arithmetic:
    return steps(x=change, zero=change)


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
