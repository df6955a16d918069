"""A mistake of a cast: the bits of a float moved into the fields of the other type, as TVM does it.

Each cast goes through float32. To and from a small type it is integer arithmetic on words. The exponent's field gets
the difference of the biases. The significand's is shifted, after a half of what is lost was added to the word. Nothing
looks for subnormals, zero, infinities, NaN or the largest exponent. All types have the usual bias, those with one zero
too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.golden.elements import ELEMENT_TYPES, INTEGER_TYPES, FloatType, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT6, FLOAT8
from tiebreak.golden.problem import Array

BIAS, SIGNIFICAND = 127, 23  # of float32
NATIVE = ("float16", "float32", "float64")  # types that the processor converts to and from float32
TO_WIDE = ("bfloat16", *NATIVE)


def fields(kind: FloatType | IntegerType) -> tuple[int, int, int]:
    """The bits of the exponent and of the significand, and the bias that a type with this exponent usually has."""
    if not isinstance(kind, FloatType) or kind.name in (*FLOAT4, *FLOAT6):
        raise NotImplementedError  # TVM converts none
    significand = kind.precision - 1
    exponent = kind.bits - significand - (kind.name not in E8M0)
    return exponent, significand, (1 << (exponent - 1)) - 1


def to_float32(name: str, x: Array) -> Array:
    """The words of float32."""
    if name in INTEGER_TYPES or name in NATIVE:
        return x.astype(np.float32).view(np.uint32)
    exponent, significand, bias = fields(ELEMENT_TYPES[name])
    word = np.ascontiguousarray(x).view(f"uint{8 * x.itemsize}").astype(np.uint32)
    size = exponent + significand
    moved = (word & ((1 << size) - 1)) << (SIGNIFICAND - significand)
    return np.asarray((moved + np.uint32((BIAS - bias) << SIGNIFICAND)) | (word >> size) << 31)


def from_float32(kind: FloatType | IntegerType, word: Array) -> Array:
    """The words of a small type or bfloat16."""
    exponent, significand, bias = fields(kind)
    lost, size = SIGNIFICAND - significand, exponent + significand
    word = word + ((word >> lost) & 1) + np.uint32((1 << (lost - 1)) - 1)
    if bias == BIAS:
        return word >> lost
    place, less = (word << 1) >> (SIGNIFICAND + 1), BIAS - bias
    found = (word >> lost) & ((1 << significand) - 1) | (place - less) << significand | (word >> 31) << size
    return np.where(place < less, 0, found)


def moved(node: Node, x: Array) -> Array:
    """The output. NotImplementedError for an integer, a float 6 or float4_e2m1fn."""
    kind, dtype = ELEMENT_TYPES[node.output_type], node.outputs[0].dtype
    word = to_float32(node.input_type, x)
    if kind.name in NATIVE:
        return word.view(np.float32).astype(dtype)
    return from_float32(kind, word).astype(f"uint{8 * dtype.itemsize}").view(dtype)


def to_types(*names: str) -> Mistake:
    def run(node: Node, x: Array) -> tuple[Array, ...]:
        if node.output_type not in names:
            raise NotImplementedError
        return (moved(node, x).reshape(x.shape),)

    return run


def mistakes() -> Iterator[tuple[Cause, Mistake]]:
    yield Cause("bits-moved-through-float32", "float8"), to_types(*FLOAT8)
    yield Cause("bits-moved-through-float32:in float8_e8m0fnu", "power"), to_types(*E8M0)
    yield Cause("bits-moved-through-float32:to 16 bits and more", "exact"), to_types(*TO_WIDE)


MOVED_BITS = tuple(mistakes())
