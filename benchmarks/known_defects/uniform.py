"""tensorflow.UniformQuantize and UniformDequantize: x * (1 / scale), a half more and its floor; and the way back."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.dequantize import number, product, zero_points
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, in_type
from benchmarks.known_defects.places import index_along, misplaced, scale_index, zero_point_index
from benchmarks.known_defects.quantize import integers
from tiebreak.golden.nodes import Node

SINGLE = in_type(FLOAT32)


def indices(node: Node, shape: tuple[int, ...], count: int, how: How) -> Array:
    axis = node.value("quantization_axis")
    return misplaced(index_along(shape, () if axis < 0 else (axis,)), count, how)


def quantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    x, scales, points = inputs
    index = indices(node, x.shape, scales.size, how)
    scale = scales.astype(np.float64).reshape(-1)[scale_index(index, how)]
    zeros = points.reshape(-1)[zero_point_index(index, how)].astype(np.float64)
    found = SINGLE(x.astype(np.float64) * SINGLE(1 / scale))
    if not how.get("round") and how.get("zero", "") not in ("zp-before-rounding", "zp-before-rounding-wide"):
        found = np.floor(SINGLE(found + 0.5))
    least, greatest = (int(node.value(f"quantization_{end}_val")) for end in ("min", "max"))
    whole = integers(found, zeros, node.outputs[0].dtype, RULES[node.modes[0]], SINGLE, how)
    return (np.clip(whole.astype(np.int64), least, greatest).astype(node.outputs[0].dtype),)


def dequantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    x, scales, points = inputs
    index, out = indices(node, x.shape, scales.size, how), node.outputs[0].dtype
    scale = scales.astype(np.float64).reshape(-1)[scale_index(index, how)]
    zeros = zero_points([points], scales.size, how)[zero_point_index(index, how)]
    return (product(number(x, how), zeros, scale, x.dtype, out, how).astype(out),)


ARITHMETIC = {"tensorflow.UniformQuantize": quantize, "tensorflow.UniformDequantize": dequantize}
