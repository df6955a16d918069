"""One quantize problem as bits and integers: what the oracle and the kernel each solve in their own way.

`values` are int64; `state` says for each element what the formula gives:
IN_RANGE, OUT_OF_RANGE (finite or overflowed; `values` then holds the nearer end of the range) or UNDEFINED (a NaN or
infinity among the operands, or a zero scale; `values` then holds 0).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Array, Case
from tiebreak.golden.operators import get_operator

IN_RANGE, OUT_OF_RANGE, UNDEFINED = 0, 1, 2


@dataclass(frozen=True)
class Quantization:
    """`x` and `scale` hold bit patterns, `zero_point` int64; scale[j] belongs to x projected onto `axes`."""

    real: FloatType
    quantized: IntegerType
    mode: str
    axes: tuple[int, ...]
    x: Array
    scale: Array
    zero_point: Array


def quantization_of(case: Case) -> Quantization:
    """The problem that a case poses. Raises InvalidInput if types or shapes are not what the operator wants."""
    node, inputs = case.node, case.inputs
    spec = get_operator(node.operator)
    if len(inputs) != len(node.inputs):
        raise InvalidInput(f"{spec.id}: {len(inputs)} inputs given, the node has {len(node.inputs)}")
    for wanted, array in zip(node.inputs, inputs, strict=True):
        if array.dtype != wanted.dtype:
            raise InvalidInput(f"{spec.id}: {wanted.name} is {array.dtype.name}, the node says {wanted.dtype.name}")
    x, scale = inputs[0], inputs[1]
    axes = spec.scale_axes(node.attributes, x.shape, scale.shape)
    zero_point = inputs[2].astype(np.int64) if len(inputs) == 3 else np.zeros(scale.shape, np.int64)
    if zero_point.shape != scale.shape:
        name = node.inputs[2].name
        raise InvalidInput(f"{spec.id}: {name} has shape {list(zero_point.shape)}, scale {list(scale.shape)}")
    return Quantization(node.real, node.quantized, node.round_mode, axes, bits_of(x), bits_of(scale), zero_point)


def bits_of(array: Array) -> Array:
    """The bit patterns of a floating-point array as unsigned integers of the same width and shape."""
    return np.ascontiguousarray(array).view(f"uint{8 * array.dtype.itemsize}").reshape(array.shape)
