"""Blocks of Q8_0 and Q4_0 as GGUF stores them: a float16, and then 32 integers.

The 16 bytes of Q4_0 hold the first half of a block in their lower four bits and the second half in the upper four.
`SOURCE` is the same for scripts.
"""

from __future__ import annotations

import numpy as np

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import gguf_dequantize, gguf_quantize
from tiebreak.golden.problem import Array

OPERATORS = frozenset({gguf_quantize.ID, gguf_dequantize.ID})
BLOCK = 32
TYPES = {"int8": "Q8_0", "uint4": "Q4_0"}  # by the type of the elements
NUMBERS = {"Q4_0": 2, "Q8_0": 8}  # that ggml.h gives the types
BYTES = {"Q4_0": 18, "Q8_0": 34}  # of a block


def type_of(node: Node, library: str) -> str:
    """The block type that a node is about. Unsupported for what the libraries have no words for."""
    if node.operator not in OPERATORS:
        raise Unsupported(f"{library} has no {node.operator}, only {' and '.join(sorted(OPERATORS))}")
    if node.attributes:
        raise Unsupported(f"{library} can't be told of {', '.join(sorted(node.attributes))}")
    real, elements = node.input_type, node.output_type
    if is_back(node):
        real, elements = elements, real
    if real != "float32" or elements not in TYPES:
        raise Unsupported(f"{library} has no blocks of {real} to {elements}")
    return TYPES[elements]


def is_back(node: Node) -> bool:
    return node.operator == gguf_dequantize.ID


def parts(held: Array, node: Node, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Elements and scales of the bytes of a tensor's blocks."""
    name = TYPES[node.output_type]
    blocks = np.ascontiguousarray(held).view(np.uint8).reshape(-1, BYTES[name])
    elements = blocks[:, 2:].view(np.int8) if name == "Q8_0" else np.hstack([blocks[:, 2:] & 15, blocks[:, 2:] >> 4])
    scales = np.ascontiguousarray(blocks[:, :2]).view(np.float16)
    return elements.reshape(shape).astype(node.outputs[0].dtype), scales.reshape(*shape[:-1], shape[-1] // BLOCK)


def whole(elements: Array, scales: Array) -> Array:
    """The bytes of a tensor's blocks, one row of bytes for each row of elements. Unsupported for parts of a block."""
    *outer, length = elements.shape
    if length % BLOCK or scales.shape != (*outer, length // BLOCK):
        raise Unsupported(f"blocks hold 32 elements and a scale, not {list(elements.shape)} and {list(scales.shape)}")
    words: Array = np.ascontiguousarray(elements).view(np.uint8).reshape(-1, BLOCK)
    if elements.dtype.name == "uint4":
        words = (words[:, : BLOCK // 2] & 15) | (words[:, BLOCK // 2 :] << 4)
    held = np.hstack([np.ascontiguousarray(scales).reshape(-1, 1).view(np.uint8), words])
    return held.reshape(*outer, length // BLOCK * held.shape[-1])


SOURCE = """
def parts(held, size, shape):
    # a float16 and 32 integers; of 4 bits the first half of a block in the lower bits
    blocks = held.reshape(-1, size)
    whole = blocks[:, 2:].view(np.int8) if size == 34 else np.hstack([blocks[:, 2:] & 15, blocks[:, 2:] >> 4])
    elements = whole.reshape(shape).astype(np.int8 if size == 34 else ml_dtypes.uint4)
    return elements, np.ascontiguousarray(blocks[:, :2]).view(np.float16).reshape(*shape[:-1], shape[-1] // 32)

"""

WHOLE = """
def whole(elements, scales):
    # a float16 and 32 integers; of 4 bits the first half of a block in the lower bits
    words = np.ascontiguousarray(elements).view(np.uint8).reshape(-1, 32)
    if elements.dtype != np.int8:
        words = (words[:, :16] & 15) | (words[:, 16:] << 4)
    held = np.hstack([np.ascontiguousarray(scales).reshape(-1, 1).view(np.uint8), words])
    return held.reshape(*scales.shape[:-1], scales.shape[-1] * held.shape[-1])

"""
