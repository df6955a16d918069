"""TensorFlow's fake quantization: the raw operators, run eagerly, for nodes of the same name.

Attributes and inputs have TensorFlow's own names. A node that TensorFlow refuses, or has no kernel for, is unsupported
with TensorFlow's message. For a min and a max that are constants, TensorFlow has FakeQuantWithMinMaxArgs.
"""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tensorflow_raw import RawOperators
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

VARS, ARGS = "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxArgs"


def compiler_of(name: str) -> Callable[[RawOperators, Node], Run]:
    """A function that compiles nodes to calls of one raw operator."""

    def compile_node(backend: RawOperators, node: Node) -> Run:
        names = [tensor.name for tensor in node.inputs]

        def run(*inputs: Array) -> tuple[Array, ...]:
            arguments = dict(zip(names, inputs, strict=True)) | dict(node.attributes)
            output: Array = backend.call(name, node.constants, **arguments).numpy()
            return (output,)

        return run

    return compile_node


def compile_vars(backend: RawOperators, node: Node) -> Run:
    """FakeQuantWithMinMaxVars, or FakeQuantWithMinMaxArgs if both ends of the range are constants."""
    if not is_args(node):
        return compiler_of(VARS)(backend, node)
    ends = {name: float(array.item()) for name, array in node.constants.items()}

    def run(inputs: Array, *_: Array) -> tuple[Array, ...]:
        return (backend.call(ARGS, (), inputs=inputs, **ends, **node.attributes).numpy(),)

    return run


def is_args(node: Node) -> bool:
    """Whether a node's whole range is constant."""
    return set(node.constants) == {"min", "max"} and all(array.ndim == 0 for array in node.constants.values())


COMPILERS: dict[str, Callable[[RawOperators, Node], Run]] = {
    "tensorflow.FakeQuantWithMinMaxVars": compile_vars,
    **{
        f"tensorflow.{name}": compiler_of(name)
        for name in ("FakeQuantWithMinMaxVarsPerChannel", *(f"QuantizeAndDequantizeV{n}" for n in (2, 3, 4)))
    },
}
