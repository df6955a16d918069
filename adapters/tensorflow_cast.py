"""onnx.Cast as `tf.cast`, by its raw operator.

TensorFlow documents no rule, and the operator has no such attributes. To a float 8 type it does not saturate, so the
nodes with saturate 0 are run. What it has no type for, or no kernel, is unsupported with TensorFlow's message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tiebreak.adapters.inexpressible import UNSATURATED, check_cast
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tensorflow_raw import RawOperators
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import onnx_cast
from tiebreak.golden.problem import Array


def compile_cast(backend: RawOperators, node: Node) -> Run:
    _, target = (type_of(backend.library, kind) for kind in (node.input_type, node.output_type))
    check_cast(node, "TensorFlow", UNSATURATED)

    def run(x: Array) -> tuple[Array, ...]:
        return (backend.call("Cast", (), x=x, DstT=target).numpy(),)

    return run


def type_of(library: Any, name: str) -> Any:
    """TensorFlow's type of this name. Unsupported with its own message if there is none."""
    try:
        return library.as_dtype(name)
    except TypeError as refusal:
        raise Unsupported(str(refusal)) from None


COMPILERS: dict[str, Callable[[RawOperators, Node], Run]] = {onnx_cast.ID: compile_cast}
MAPS = {onnx_cast.ID: "tf.cast: each number rounded to the type, without saturation"}
