"""Wrong roundings of a dequantizer's product, and what becomes of one beyond the range."""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.operators.dequantize_numbers import Change, in_output_type, limits_of
from tiebreak.conformance.operators.quantize_quotients import cut_off
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


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


PRODUCTS: tuple[tuple[str, Change], ...] = (
    ("overflow-saturates", overflow_saturated),
    ("cuts-off", product_cut_off),
    ("ties-away-to-type", product_away),
    ("product-rounds:UP", product_directed(up=True)),
    ("product-rounds:DOWN", product_directed(up=False)),
    ("overflow-to-nan", overflow_to_nan),
)
