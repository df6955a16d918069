"""The `clip(rint(x / s) + z)` and `(x - z) * s` that people write by hand, in NumPy: the peer to beat."""

from __future__ import annotations

import numpy as np

from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

PLAIN = {"int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32"} | {
    "float16",
    "bfloat16",
    "float32",
    "float64",
}
ROUND = {
    "ROUND_NEAREST_TOWARD_EVEN": np.rint,
    "ROUND_TOWARD_ZERO": np.trunc,
    "ROUND_UP": np.ceil,
    "ROUND_DOWN": np.floor,
}


class NumpyNaive:
    name = "numpy-naive"
    version = np.__version__
    operators = frozenset({"ngraph.Quantize", "ngraph.Dequantize", "onnx.QuantizeLinear", "onnx.DequantizeLinear"})

    def compile(self, node: Node) -> Run:
        plain = all(tensor.dtype.name in PLAIN for tensor in (*node.inputs, *node.outputs))
        if not plain or set(node.attributes) - {"axis", "axes", "round_mode", "type"}:
            raise Unsupported("people write this for plain integers and floats, one scale or one for each axis")
        return dequantize(node) if "Dequantize" in node.operator else quantize(node)

    def attest(self) -> dict[str, str]:
        return {"library": np.__file__, "numpy": self.version}


def quantize(node: Node) -> Run:
    if node.round_mode not in ROUND:
        raise Unsupported(f"NumPy has no function for {node.round_mode}")
    round_, kind, dtype = ROUND[node.round_mode], INTEGER_TYPES[node.output_type], node.outputs[0].dtype

    def run(x: Array, scale: Array, zero_point: Array | None = None) -> tuple[Array, ...]:
        s = aligned(scale, node, x)
        z = 0 if zero_point is None else aligned(zero_point, node, x)
        with np.errstate(all="ignore"):
            return (np.clip(round_(x / s) + z, kind.lowest, kind.highest).astype(dtype),)

    return run


def dequantize(node: Node) -> Run:
    dtype = node.outputs[0].dtype

    def run(x: Array, scale: Array, zero_point: Array | None = None) -> tuple[Array, ...]:
        z = 0 if zero_point is None else aligned(zero_point.astype(np.int64), node, x)
        with np.errstate(all="ignore"):
            return (np.asarray((x.astype(np.int64) - z).astype(dtype) * aligned(scale, node, x)).astype(dtype),)

    return run


def aligned(parameter: Array, node: Node, x: Array) -> Array:
    """A parameter reshaped to broadcast against x; 4-bit integers widened, since NumPy can't add them."""
    parameter = parameter.astype(np.int8) if parameter.dtype.name in ("int4", "uint4") else parameter
    if parameter.ndim == 0:
        return parameter
    if "axes" not in node.attributes and parameter.ndim != 1:
        raise Unsupported("one scale or one for each index of an axis")
    axes = node.attributes["axes"] if "axes" in node.attributes else (node.attributes.get("axis", 1) % x.ndim,)
    kept = [size if axis in axes else 1 for axis, size in enumerate(x.shape)]
    if parameter.shape != tuple(size for axis, size in enumerate(x.shape) if axis in axes):
        raise Unsupported(f"a parameter of shape {list(parameter.shape)} for an input of shape {list(x.shape)}")
    return parameter.reshape(kept)
