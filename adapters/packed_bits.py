"""Tensors of types of 2 and 4 bits as runtimes hold them: several elements in a byte, the first in the lowest bits.

They are held in a byte array of the tensor's own shape, whose first bytes are used. `SOURCE` is the same for scripts.
"""

from __future__ import annotations

import numpy as np

from tiebreak.golden.elements import ELEMENT_TYPES, INTEGER_TYPES, numpy_dtype
from tiebreak.golden.problem import Array

BITS = {name: kind.bits for name, kind in ELEMENT_TYPES.items() if kind.bits in (2, 4)}


def packed(array: Array) -> Array:
    """The bytes, as uint8 in the array's shape; those that are left over are 0."""
    bits, held = BITS[array.dtype.name], np.zeros(array.shape, np.uint8)
    words = np.array(array, order="C").view(np.uint8).reshape(-1) & ((1 << bits) - 1)
    places = np.arange(words.size) * bits
    np.bitwise_or.at(held.reshape(-1), places // 8, words << (places % 8).astype(np.uint8))
    return held


def unpacked(held: Array, name: str, shape: tuple[int, ...]) -> Array:
    """The tensor of this element type and shape that the first bytes hold."""
    bits, size = BITS[name], int(np.prod(shape, dtype=int))
    places = np.arange(size) * bits
    words = (held.reshape(-1)[places // 8] >> (places % 8).astype(np.uint8)) & ((1 << bits) - 1)
    if name not in INTEGER_TYPES:
        return words.view(numpy_dtype(name)).reshape(shape)
    ends = words.astype(np.int8) << (8 - bits) >> (8 - bits) if INTEGER_TYPES[name].lowest < 0 else words
    return ends.astype(numpy_dtype(name)).reshape(shape)


def used(held: Array, name: str) -> Array:
    """The bytes that hold the elements, flat."""
    return held.reshape(-1)[: -(-held.size * BITS[name] // 8)]


SOURCE = """

def packed(array, bits):
    # several elements in a byte, the first in the lowest bits
    words, held = array.view(np.uint8).reshape(-1) & ((1 << bits) - 1), np.zeros(array.shape, np.uint8)
    places = np.arange(words.size) * bits
    np.bitwise_or.at(held.reshape(-1), places // 8, words << (places % 8).astype(np.uint8))
    return held


def unpacked(held, bits, shape, dtype):
    places = np.arange(int(np.prod(shape, dtype=int))) * bits
    words = (held.reshape(-1)[places // 8] >> (places % 8).astype(np.uint8)) & ((1 << bits) - 1)
    if "float" in np.dtype(dtype).name:
        return words.view(dtype).reshape(shape)
    signed = not np.dtype(dtype).name.startswith("u")
    return (words.astype(np.int8) << (8 - bits) >> (8 - bits) if signed else words).astype(dtype).reshape(shape)

"""
