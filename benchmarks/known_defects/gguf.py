"""gguf.Quantize and Dequantize: blocks of 32 numbers with a float16 scale, elements of 8 bits or of 4; and back."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.dequantize import number, times
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, flushed, in_type
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node

Outputs = tuple[Array, ...]
BLOCK = 32
SINGLE = in_type(FLOAT32)
AWAY, UP = RULES["ROUND_NEAREST_TOWARD_INFINITY"], RULES["ROUND_NEAREST_UPWARD"]


def quantize(node: Node, inputs: Outputs, how: How) -> Outputs:
    values, nibbles = np.nan_to_num(inputs[0].astype(np.float64), posinf=0.0, neginf=0.0), node.output_type == "uint4"
    values = flushed(values, FLOAT32) if how.get("flush") == "flush-x" else values
    scales = scales_of(values, nibbles)
    factors = np.where(scales == 0, 0.0, SINGLE(1 / scales))
    products = SINGLE(values * over_blocks(factors, values.shape[-1]))
    found = nibbles_of(products, how) if nibbles else rounded(products, AWAY, SINGLE, how)
    stored = scales.astype(np.float32).astype(np.float16)
    if how.get("flush") == "flush-scale":
        stored = flushed(stored, stored.dtype).astype(np.float16)
    return np.nan_to_num(found, posinf=0, neginf=0).astype(np.int64).astype(node.outputs[0].dtype), stored


def scales_of(values: Array, nibbles: bool) -> Array:
    """The greatest magnitude of each block over 127, or the first number that has it over -8."""
    starts = range(0, values.shape[-1], BLOCK)
    if not starts:
        return np.zeros((*values.shape[:-1], 0))
    blocks = [values[..., start : start + BLOCK] for start in starts]
    first = [np.take_along_axis(b, np.abs(b).argmax(axis=-1, keepdims=True), axis=-1) for b in blocks]
    tops = np.concatenate(first, axis=-1)
    return SINGLE(tops / -8 if nibbles else np.abs(tops) / 127)


def over_blocks(parameters: Array, length: int) -> Array:
    return np.repeat(parameters, BLOCK, axis=-1)[..., :length]


def nibbles_of(products: Array, how: How) -> Array:
    whole = rounded(products, UP, SINGLE, how) + 8 if "round" in how else np.trunc(SINGLE(products + 8.5))
    return np.mod(whole, 16) if how.get("clamp") == "wraps" else np.minimum(whole, 15)


def dequantize(node: Node, inputs: Outputs, how: How) -> Outputs:
    elements, scales = inputs
    factors = scales.astype(np.float64)
    factors = flushed(factors, scales.dtype) if how.get("flush") == "flush-scale" else factors
    whole = number(elements, how) - (8 if node.input_type == "uint4" else 0)
    products = times(whole, over_blocks(factors, elements.shape[-1]), FLOAT32, how.get("product", ""))
    return (products.astype(np.float32),)


ARITHMETIC = {"gguf.Quantize": quantize, "gguf.Dequantize": dequantize}
