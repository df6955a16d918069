"""torch.quantize_per_tensor, quantize_per_channel, and the fake quantizers: there, and for the latter back again."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, in_type
from benchmarks.known_defects.places import index_along, misplaced, scale_index, zero_point_index
from benchmarks.known_defects.qlinear_pairs import point_first
from benchmarks.known_defects.quantize import divided
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node
from tiebreak.golden.rounding import EVEN

Outputs = tuple[Array, ...]
SINGLE = in_type(FLOAT32)


def quantize(node: Node, inputs: Outputs, how: How) -> Outputs:
    scales, zeros = parameters(node, inputs, how)
    right = "reciprocal" if inputs[2].dtype.kind == "f" else ""
    quotients = divided(inputs[0].astype(np.float64), scales, FLOAT32, how.get("divide", right))
    return (point_first(node, quotients, zeros, SINGLE, how),)


def fake_quantize(node: Node, inputs: Outputs, how: How) -> Outputs:
    scales, zeros = parameters(node, inputs, how)
    zeros = 0 * zeros if how.get("zero") == "zp-ignored" else zeros
    quotients = divided(inputs[0].astype(np.float64), scales, FLOAT32, how.get("divide", ""))
    least, greatest = (node.value(f"quant_{end}") for end in ("min", "max"))
    least += how.get("clamp") == "clamps-narrow"
    levels = np.clip(rounded(quotients, RULES[EVEN], SINGLE, how) + zeros, least, greatest)
    products = (levels - zeros).astype(np.longdouble) * scales.astype(np.longdouble)  # of up to 55 bits
    return (products.astype(np.float32),)


def parameters(node: Node, inputs: Outputs, how: How) -> tuple[Array, Array]:
    """Scale and zero point of each element, as float64."""
    x, scale, point = inputs
    axes = (node.attributes["axis"] % x.ndim,) if "axis" in node.attributes else ()
    index = misplaced(index_along(x.shape, axes), scale.size, how)
    scales, points = (array.astype(np.float64).reshape(-1) for array in (scale, point))
    return scales[scale_index(index, how)], points[zero_point_index(index, how)]


ARITHMETIC = {
    "torch.quantize_per_tensor": quantize,
    "torch.quantize_per_channel": quantize,
    "torch.fake_quantize_per_tensor_affine": fake_quantize,
    "torch.fake_quantize_per_channel_affine": fake_quantize,
}
