"""TensorFlow's fake quantization: the raw operators, run eagerly, for nodes of the same name.

Attributes and inputs have TensorFlow's own names. A node that TensorFlow refuses, or has no kernel for, is unsupported
with TensorFlow's message.
"""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tensorflow_raw import RawOperators
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


def compiler_of(name: str) -> Callable[[RawOperators, Node], Run]:
    """A function that compiles nodes to calls of one raw operator."""

    def compile_node(backend: RawOperators, node: Node) -> Run:
        names = [tensor.name for tensor in node.inputs]

        def run(*inputs: Array) -> tuple[Array, ...]:
            arguments = dict(zip(names, inputs, strict=True)) | dict(node.attributes)
            output: Array = backend.call(name, **arguments).numpy()
            return (output,)

        return run

    return compile_node


COMPILERS: dict[str, Callable[[RawOperators, Node], Run]] = {
    f"tensorflow.{name}": compiler_of(name)
    for name in ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "QuantizeAndDequantizeV4")
}
