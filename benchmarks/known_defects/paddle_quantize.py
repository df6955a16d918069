"""paddle.QuantizeLinear: X times the number of steps, over the scale, rounded by round_type and kept as float32."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, in_type
from benchmarks.known_defects.places import index_along, misplaced, scale_index
from benchmarks.known_defects.quantize import divided
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node
from tiebreak.golden.rounding import EVEN

Outputs = tuple[Array, ...]
BY_TYPE = (EVEN, "ROUND_NEAREST_TOWARD_INFINITY")
SINGLE = in_type(FLOAT32)


def quantize(node: Node, inputs: Outputs, how: How) -> Outputs:
    x, scale, _ = inputs
    axis = node.value("quant_axis")
    index = misplaced(index_along(x.shape, () if axis < 0 else (axis,)), scale.size, how)
    scales = scale.astype(np.float64).reshape(-1)[scale_index(index, how)]
    steps = 2.0 ** (node.value("bit_length") - 1) - 1
    quotients = divided(SINGLE(x.astype(np.float64) * steps), scales, FLOAT32, how.get("divide", ""))
    whole = rounded(quotients, RULES[BY_TYPE[node.value("round_type")]], SINGLE, how)
    least = node.value("qmin") + (how.get("clamp") == "clamps-narrow")
    return (np.clip(whole, least, node.value("qmax")).astype(np.float32),)


ARITHMETIC = {"paddle.QuantizeLinear": quantize}
