"""com.microsoft.MatMulNBits: numbers times dequantized weights of 2, 4 or 8 bits, in blocks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.dequantize import product
from benchmarks.known_defects.numbers import FLOAT32, NAMED, Array, converted, flushed, in_type
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_matmul_nbits import given

Outputs = tuple[Array, ...]
BYTE = np.dtype(np.uint8)
SINGLE = in_type(FLOAT32)


def multiply(node: Node, inputs: Outputs, how: How) -> Outputs:
    """A times the transposed weights, each element rounded once more; so is its sum with a bias."""
    own = given(node, inputs)
    a, b, scales = own["A"], own["B"], own["scales"]
    bits, size, inner = (int(node.value(name)) for name in ("bits", "block_size", "K"))
    block = np.arange(inner) // size
    block = 0 * block if how.get("place") == "first-parameter" else block
    codes = numbers(b.reshape(len(b), -1), bits, inner, how.get("operand") == "nibbles-swapped")
    zeros = zero_points(own.get("zero_points"), scales.shape, bits)
    zeros = 0 * zeros if how.get("zero") == "zp-ignored" else zeros
    factors = flushed(scales.astype(np.float64), scales.dtype) if how.get("flush") else scales.astype(np.float64)
    if how.get("product") == "half-for-odd":
        return (halves_for_odd(own, codes - zeros[:, block], factors[:, block]).reshape(*a.shape[:-1], len(b)),)
    weights = product(codes, zeros[:, block], factors[:, block], BYTE, a.dtype, how)
    found = in_type(a.dtype)(a.reshape(-1, inner).astype(np.float64) @ weights.T)
    if "bias" in own:
        found = in_type(a.dtype)(found + own["bias"].astype(np.float64))
    return (converted(found, a.dtype).reshape(*a.shape[:-1], len(b)),)


def halves_for_odd(own: Mapping[str, Array], steps: Array, factors: Array) -> Array:
    """In float32 but for conversions to bfloat16. With a bias and one block the factor of a column comes last."""
    a, last = own["A"].reshape(-1, steps.shape[1]).astype(np.float64), "bias" in own and own["scales"].shape[1] == 1
    weights = SINGLE(steps) if last else odd_to_bfloat16(SINGLE(SINGLE(steps) * factors)).astype(np.float64)
    found = SINGLE(a @ weights.T)
    found = SINGLE(found * factors[:, 0]) if last else found
    return odd_to_bfloat16(SINGLE(found + own["bias"].astype(np.float64)) if "bias" in own else found)


def odd_to_bfloat16(values: Array) -> Array:
    bits = np.asarray(values, np.float32).view(np.uint32)
    high = (bits + (bits >> 16 & 1) * np.uint32(1 << 15)) >> 16
    return np.where(np.isnan(values), np.uint32(0x7FC0), high).astype(np.uint16).view(NAMED["bfloat16"])


def numbers(rows: Array, bits: int, count: int, swapped: bool = False) -> Array:
    """The first numbers of each row of bytes as float64, the lowest bits first, or last."""
    shifts = list(range(0, 8, bits))
    each = [rows >> shift & ((1 << bits) - 1) for shift in (shifts[::-1] if swapped else shifts)]
    return np.stack(each, axis=-1).reshape(len(rows), -1)[:, :count].astype(np.float64)


def zero_points(points: Array | None, shape: tuple[int, ...], bits: int) -> Array:
    if points is None:
        return np.full(shape, float(1 << (bits - 1)))
    return numbers(points, bits, shape[1]) if points.dtype == BYTE else points.astype(np.float64)


ARITHMETIC = {"com.microsoft.MatMulNBits": multiply}
