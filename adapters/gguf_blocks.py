"""Blocks of Q8_0 and Q4_0 as GGUF stores them: a float16, and then 32 integers.

The 16 bytes of Q4_0 hold the first half of a block in their lower four bits and the second half in the upper four.
`SOURCE` is the same for scripts.
"""

from __future__ import annotations

import numpy as np

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import gguf_quantize
from tiebreak.golden.problem import Array

BLOCK = 32
TYPES = {"int8": "Q8_0", "uint4": "Q4_0"}  # by the type of the elements
NUMBERS = {"Q4_0": 2, "Q8_0": 8}  # that ggml.h gives the types
BYTES = {"Q4_0": 18, "Q8_0": 34}  # of a block


def type_of(node: Node, library: str) -> str:
    """The block type that a node is about. Unsupported for what the libraries have no words for."""
    if node.operator != gguf_quantize.ID:
        raise Unsupported(f"{library} has no {node.operator}, only {gguf_quantize.ID}")
    if node.attributes:
        raise Unsupported(f"{library} can't be told of {', '.join(sorted(node.attributes))}")
    if node.input_type != "float32" or node.output_type not in TYPES:
        raise Unsupported(f"{library} has no blocks of {node.input_type} to {node.output_type}")
    return TYPES[node.output_type]


def parts(held: Array, node: Node, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Elements and scales of the bytes of a tensor's blocks."""
    name = TYPES[node.output_type]
    blocks = np.ascontiguousarray(held).view(np.uint8).reshape(-1, BYTES[name])
    elements = blocks[:, 2:].view(np.int8) if name == "Q8_0" else np.hstack([blocks[:, 2:] & 15, blocks[:, 2:] >> 4])
    scales = np.ascontiguousarray(blocks[:, :2]).view(np.float16)
    return elements.reshape(shape).astype(node.outputs[0].dtype), scales.reshape(*shape[:-1], shape[-1] // BLOCK)


SOURCE = """
def parts(held, size, shape):
    # a float16 and 32 integers; of 4 bits the first half of a block in the lower bits
    blocks = held.reshape(-1, size)
    whole = blocks[:, 2:].view(np.int8) if size == 34 else np.hstack([blocks[:, 2:] & 15, blocks[:, 2:] >> 4])
    elements = whole.reshape(shape).astype(np.int8 if size == 34 else ml_dtypes.uint4)
    return elements, np.ascontiguousarray(blocks[:, :2]).view(np.float16).reshape(*shape[:-1], shape[-1] // 32)

"""
