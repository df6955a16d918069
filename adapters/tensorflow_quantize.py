"""TensorFlow's QuantizeV2 and Dequantize through their raw operators, with the node's attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tensorflow_raw import RawOperators
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


def compile_quantize_v2(backend: RawOperators, node: Node) -> Run:
    library, attributes = backend.library, dict(node.attributes)
    plain = getattr(library, attributes["T"])
    attributes["T"] = getattr(library, f"q{attributes['T']}")

    def run(x: Array, min_range: Array, max_range: Array) -> tuple[Array, ...]:
        ranges = {"min_range": min_range, "max_range": max_range}
        result = backend.call("QuantizeV2", node.constants, input=x, **ranges, **attributes)
        return library.bitcast(result.output, plain).numpy(), *map(as_array, (result.output_min, result.output_max))

    return run


def compile_dequantize(backend: RawOperators, node: Node) -> Run:
    library, attributes = backend.library, dict(node.attributes)
    if named := named_dtype(node):
        attributes["dtype"] = getattr(library, named)
    stored = getattr(library, f"q{node.input_type}")

    def run(x: Array, min_range: Array, max_range: Array) -> tuple[Array, ...]:
        quantized = library.bitcast(x, stored)
        ranges = {"min_range": min_range, "max_range": max_range}
        result = backend.call("Dequantize", node.constants, input=quantized, **ranges, **attributes)
        return (as_array(result),)

    return run


def named_dtype(node: Node) -> str:
    """Dequantize's dtype; empty if the node leaves it to the default, which TensorFlow has too."""
    own = "" if node.output_type == node.value("dtype") else node.output_type
    return str(node.attributes.get("dtype", own))


def as_array(tensor: Any) -> Array:
    return np.asarray(tensor.numpy())


COMPILERS: dict[str, Callable[[RawOperators, Node], Run]] = {
    "tensorflow.QuantizeV2": compile_quantize_v2,
    "tensorflow.Dequantize": compile_dequantize,
}
