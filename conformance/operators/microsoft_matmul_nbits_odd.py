"""MatMulNBits in float32 whose weights and results become bfloat16 by half a unit for odd numbers alone.

OpenVINO's plugin for processors without bfloat16 does so: see rounded_if_odd. With a bias and one block the scales are
those of columns, and multiply the product. What is left out is open there: numbers that overflow or become zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.variants.conversions import rounded_if_odd
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_matmul_nbits import bias_of, weights_of
from tiebreak.golden.problem import Array

LEAST = 2.0**-126  # of normal float32, and of bfloat16


@dataclass(frozen=True)
class HalfForOdd:
    """`flushes`: whether subnormal scales are zero, with their signs."""

    flushes: bool = False

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        a, kind, bias = inputs[0], inputs[0].dtype, bias_of(node, inputs)
        if kind.name != "bfloat16":
            raise ValueError("there is nothing to mistake")
        weights = weights_of(node, inputs)
        at = weights.block_of(np.arange(weights.codes.shape[1]))
        parts = (weights.codes, weights.points[:, at], weights.scales[:, at])
        code, point, scale = (part.astype(kind).astype(np.float32) for part in parts)
        with np.errstate(all="ignore"):
            scale = np.where(np.abs(scale) < LEAST, np.copysign(np.float32(0), scale), scale) if self.flushes else scale
            one_block = bias is not None and weights.scales.shape[1] == 1
            total = by_columns(a, code - point, scale) if one_block else by_weights(a, (code - point) * scale)
            found = rounded_if_odd(total if bias is None else total + bias.astype(np.float32))
        return (found.astype(kind).reshape(*a.shape[:-1], len(weights.codes)),)


def by_columns(a: Array, difference: Array, scale: Array) -> Array:
    return np.asarray(product(a, difference) * scale[:, 0])


def by_weights(a: Array, weights: Array) -> Array:
    if not np.isfinite(weights).all():
        raise ValueError("weights that overflow")
    return product(a, rounded_if_odd(weights))


def product(a: Array, weights: Array) -> Array:
    """Each sum rounded once to float32. Only sums in which the order of steps shows nothing are judged."""
    exact = a.reshape(-1, a.shape[-1]).astype(np.float64) @ weights.astype(np.float64).T
    total = exact.astype(np.float32)
    if ((total == 0) & (exact != 0)).any():
        raise ValueError("a sum that becomes zero")
    return np.asarray(total)
