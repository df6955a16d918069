"""com.microsoft.MatMulNBits: numbers times dequantized weights of 2, 4 or 8 bits, in blocks."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.dequantize import product
from benchmarks.known_defects.numbers import Array, converted, flushed, in_type
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_matmul_nbits import given

Outputs = tuple[Array, ...]
BYTE = np.dtype(np.uint8)


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
    weights = product(codes, zeros[:, block], factors[:, block], BYTE, a.dtype, how)
    found = in_type(a.dtype)(a.reshape(-1, inner).astype(np.float64) @ weights.T)
    if "bias" in own:
        found = in_type(a.dtype)(found + own["bias"].astype(np.float64))
    return (converted(found, a.dtype).reshape(*a.shape[:-1], len(b)),)


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
