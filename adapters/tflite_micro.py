"""TensorFlow Lite Micro: runs models of one QUANTIZE, of integers too, or DEQUANTIZE with its reference kernels.

The models are those that LiteRt gets. Scale, zero point and shape are constants of a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from tiebreak.adapters.litert_model import MAPS as LITERT_MAPS
from tiebreak.adapters.litert_model import (
    OPERATIONS,
    QUANTIZED,
    given,
    model_source,
    operation,
    refuse_node,
    tflite_model,
)
from tiebreak.adapters.litert_requantize import model_shape
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.elements import NUMPY_OWN
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# It has no FAKE_QUANT, and its Python interface takes no type that a Cast is about.
MAPS = {name: same for name, same in LITERT_MAPS.items() if OPERATIONS[name] in QUANTIZED}
SCHEMA = "tflite_micro.tensorflow.lite.micro.python.schema_py_generated"
ARENA = 1 << 16  # bytes beside those of the tensors
SOURCE = """
import base64
from importlib.metadata import version

from tflite_micro.python.tflite_micro import runtime

{model}interpreter = runtime.Interpreter.from_bytes(model, arena_size={arena})
# The call.
interpreter.set_input({x}, 0)
interpreter.invoke()
outputs = (interpreter.get_output(0).reshape({shape}),)
library = f"tflite-micro {{version('tflite-micro')}}"
"""


class TfliteMicro:
    name = "tflite-micro"
    maps = MAPS
    always_constant = frozenset(MAPS)
    takes_constants = True

    def __init__(self) -> None:
        from tflite_micro.python.tflite_micro import runtime

        self.library, self.version = runtime, version("tflite-micro")
        self.interpreters = Recent(8)  # each holds an arena

    def compile(self, node: Node) -> Run:
        refuse(node)

        def run(x: Array, *parameters: Array) -> tuple[Array, ...]:
            model = tflite_model(node, x.shape, parameters, SCHEMA)
            interpreter = self.interpreters.get(model, lambda: self.prepared(model, arena_for(node, x)))
            try:
                interpreter.set_input(x.reshape(model_shape(node, x.shape)), 0)
                interpreter.invoke()
                y: Array = interpreter.get_output(0)
            except (RuntimeError, ValueError) as refusal:
                raise Unsupported(str(refusal)) from None
            if y.dtype != node.outputs[0].dtype:
                raise Unsupported(f"{operation(node)} makes its output {y.dtype.name}, not {node.output_type}")
            return (y.reshape(x.shape),)

        return run

    def prepared(self, model: bytes, arena: int) -> Any:
        """An interpreter. Unsupported with what little the runtime says; its messages go to standard error."""
        try:
            return self.library.Interpreter.from_bytes(model, arena_size=arena)
        except (RuntimeError, ValueError) as refusal:
            raise Unsupported(str(refusal)) from None

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that run the model, embedded as bytes, on the node's first input."""
        refuse(node)
        x, *parameters = inputs
        model = model_source(node, tflite_model(node, x.shape, parameters, SCHEMA), x.shape)
        array = given(node, node.inputs[0].name, x.shape)
        return SOURCE.format(model=model, arena=arena_for(node, x), x=array, shape=x.shape)

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "tflite-micro": self.version,
            "model": "static shape; scale, zero point and axis are constants",
            "kernels": "those of the Python package, built without a target's own",
            "instruction sets": instruction_sets(),
        }


def refuse(node: Node) -> None:
    """Raise Unsupported for a node that is neither operator, or of a type that NumPy lacks."""
    if node.operator not in MAPS:
        raise Unsupported(f"tflite-micro is run for {', '.join(sorted(MAPS))}")
    refuse_node(node)
    for kind in (node.input_type, node.output_type):
        if kind not in NUMPY_OWN:
            raise Unsupported(f"tflite-micro's Python interface takes no {kind}")


def arena_for(node: Node, x: Array) -> int:
    """The bytes of memory that the interpreter may use."""
    return ARENA + 2 * x.size * (x.itemsize + node.outputs[0].dtype.itemsize)
