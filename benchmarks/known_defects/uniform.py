"""The uniform operators of TensorFlow and StableHLO: quantize, dequantize, and from one scale to another."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.dequantize import number, product, zero_points
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, in_type
from benchmarks.known_defects.places import index_along, misplaced, scale_index, zero_point_index
from benchmarks.known_defects.quantize import integers
from benchmarks.known_defects.requantize import points
from benchmarks.known_defects.requantize import product as scaled
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.rounding import EVEN

SINGLE, DOUBLE = in_type(FLOAT32), in_type(np.dtype(np.float64))
FAR = 2.0**62  # beyond every storage type


def indices(node: Node, shape: tuple[int, ...], count: int, how: How, attribute: str = "quantization_axis") -> Array:
    axis = node.value(attribute)
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


def dequantize(
    node: Node, inputs: tuple[Array, ...], how: How, attribute: str = "quantization_axis"
) -> tuple[Array, ...]:
    x, scales, points = inputs
    index, out = indices(node, x.shape, scales.size, how, attribute), node.outputs[0].dtype
    scale = scales.astype(np.float64).reshape(-1)[scale_index(index, how)]
    zeros = zero_points([points], scales.size, how)[zero_point_index(index, how)]
    return (product(number(x, how), zeros, scale, x.dtype, out, how).astype(out),)


def requantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    x, s_in, z_in, s_out, z_out = inputs
    scale, z_in = spread(node, x, (s_in, z_in), how, "input_quantization_axis")
    other, z_out = spread(node, x, (s_out, z_out), how, "output_quantization_axis")
    first, last = points(z_in, z_out, how)
    divisor = np.where(other == 0, 1, other)
    whole = scaled("nearest", x.astype(np.float64) - first, scale, divisor, how.get("multiply", ""))
    least, greatest = (int(node.value(f"output_quantization_{end}_val")) for end in ("min", "max"))
    found = integers(whole, last, node.outputs[0].dtype, RULES[EVEN], SINGLE, how)
    return (np.clip(found.astype(np.int64), least, greatest).astype(node.outputs[0].dtype),)


def spread(node: Node, x: Array, own: tuple[Array, Array], how: How, attribute: str) -> tuple[Array, Array]:
    """The scale, 1 where it is no number, and the zero point of each element on one side."""
    index = indices(node, x.shape, own[0].size, how, attribute)
    scale = own[0].astype(np.float64).reshape(-1)[scale_index(index, how)]
    zero = own[1].reshape(-1)[zero_point_index(index, how)].astype(np.float64)
    return np.where(np.isfinite(scale), scale, 1), zero


def stablehlo_quantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    """The zero point is added before rounding, unless the defect of that step is that it is not."""
    x, scales, zeros, *own = inputs
    scale, zero = spread(node, x, (scales, zeros), how, "quantization_dimension")
    number = x.astype(np.float64)
    if own:
        own_scale, own_zero = spread(node, x, (own[0], own[1]), how, "operand_quantization_dimension")
        number = np.where(how.get("operands") == "input-zp-ignored", number, number - own_zero) * own_scale
    total = np.clip(number.astype(np.longdouble) / scale + zero, -FAR, FAR)
    kind = INTEGER_TYPES[node.output_type]
    ends = [int(node.value(f"storage_{end}")) for end in ("min", "max")]
    low, high = ends if ends != [0, 0] else (kind.lowest, kind.highest)
    whole = integers(total, 0 * zero, np.dtype(np.int64), RULES[EVEN], DOUBLE, how)
    return (np.clip(whole.astype(np.int64), low, high).astype(node.outputs[0].dtype),)


def stablehlo_dequantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    return dequantize(node, inputs, how, "quantization_dimension")


ARITHMETIC = {
    "stablehlo.uniform_quantize": stablehlo_quantize,
    "stablehlo.uniform_dequantize": stablehlo_dequantize,
    "tensorflow.UniformQuantize": quantize,
    "tensorflow.UniformDequantize": dequantize,
    "tensorflow.UniformRequantize": requantize,
}
