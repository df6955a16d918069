"""TensorFlow's uniform quantized operators through their raw ones, with the node's attributes."""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tensorflow_quantize import as_array
from tiebreak.adapters.tensorflow_raw import RawOperators
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


def compile_uniform_quantize(backend: RawOperators, node: Node) -> Run:
    library = backend.library
    stored, plain = getattr(library, f"q{node.output_type}"), getattr(library, node.output_type)

    def run(x: Array, scales: Array, zero_points: Array) -> tuple[Array, ...]:
        given = {"input": x, "scales": scales, "zero_points": zero_points}
        result = backend.call("UniformQuantize", node.constants, **given, Tout=stored, **node.attributes)
        return (as_array(library.bitcast(result, plain)),)

    return run


def compile_uniform_dequantize(backend: RawOperators, node: Node) -> Run:
    library = backend.library
    stored, real = getattr(library, f"q{node.input_type}"), getattr(library, node.output_type)

    def run(x: Array, scales: Array, zero_points: Array) -> tuple[Array, ...]:
        given = {"input": library.bitcast(x, stored), "scales": scales, "zero_points": zero_points}
        result = backend.call("UniformDequantize", node.constants, **given, Tout=real, **node.attributes)
        return (as_array(result),)

    return run


def compile_uniform_requantize(backend: RawOperators, node: Node) -> Run:
    library = backend.library
    stored, plain = getattr(library, f"q{node.output_type}"), getattr(library, node.output_type)
    source, names = getattr(library, f"q{node.input_type}"), [tensor.name for tensor in node.inputs[1:]]

    def run(x: Array, *parameters: Array) -> tuple[Array, ...]:
        given = {"input": library.bitcast(x, source), **dict(zip(names, parameters, strict=True))}
        result = backend.call("UniformRequantize", node.constants, **given, Tout=stored, **node.attributes)
        return (as_array(library.bitcast(result, plain)),)

    return run


COMPILERS: dict[str, Callable[[RawOperators, Node], Run]] = {
    "tensorflow.UniformQuantize": compile_uniform_quantize,
    "tensorflow.UniformDequantize": compile_uniform_dequantize,
    "tensorflow.UniformRequantize": compile_uniform_requantize,
}
