"""TensorFlow's fake quantization: the raw operators, run eagerly, for nodes of the same name.

Attributes and inputs have TensorFlow's own names. What it refuses, or has no kernel for, is unsupported with its own
message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tiebreak.adapters.protocol import Run
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

if TYPE_CHECKING:
    from tiebreak.adapters.tensorflow import TensorFlow


def compiled(name: str) -> Callable[[TensorFlow, Node], Run]:
    """A compiler of nodes into calls of one raw operator."""

    def compile_node(backend: TensorFlow, node: Node) -> Run:
        names = [tensor.name for tensor in node.inputs]

        def run(*inputs: Array) -> tuple[Array, ...]:
            arguments = dict(zip(names, inputs, strict=True)) | dict(node.attributes)
            output: Array = backend.call(name, **arguments).numpy()
            return (output,)

        return run

    return compile_node


COMPILERS: dict[str, Callable[[TensorFlow, Node], Run]] = {
    f"tensorflow.{name}": compiled(name)
    for name in ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel", "QuantizeAndDequantizeV4")
}
