"""onnx.DynamicQuantizeLinear: scale and zero point of the input's own range, then the plain quantization by them."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, flushed, in_type
from benchmarks.known_defects.quantize import divided, integers
from tiebreak.golden.nodes import Node


def dynamic(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    (x,) = inputs
    s, wide, flush = in_type(FLOAT32), x.astype(np.float64), how.get("flush", "")
    values = flushed(wide, x.dtype) if flush == "flush-x" else wide
    low, high = np.asarray(np.min(values, initial=0)), np.asarray(np.max(values, initial=0))
    scale = s(s(high - low) / 255)
    scale = flushed(scale, x.dtype) if flush == "flush-scale" else scale
    point = np.rint(np.clip(np.nan_to_num(-s(low / scale)), 0, 255))
    quotients = divided(values, np.broadcast_to(scale, x.shape), FLOAT32, how.get("divide", ""))
    quotients = flushed(quotients, x.dtype) if flush == "flush-quotient" else quotients
    y = integers(quotients, np.broadcast_to(point, x.shape), node.outputs[0].dtype, RULES[node.modes[0]], s, how)
    return y, scale.astype(np.float32).reshape(()), point.astype(np.uint8).reshape(())


ARITHMETIC = {"onnx.DynamicQuantizeLinear": dynamic}
