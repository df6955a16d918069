"""The reference model of TOSA, from tosa-tools: a graph of one RESCALE, serialized and run in this process.

The model's tensors have no sign; its attributes say whether their bits are read so. Multiplier, shift and zero points
are constants of the graph. An input of 48 bits goes to the model's executable.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tosa_executable import RUN, program, reason, run_program
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import tosa_rescale
from tiebreak.golden.problem import Array

BITS = ("int8", "int16", "int32", "int48")  # element types by NumPy's names, and the model's in capitals
ATTRIBUTES = tuple(attribute.name for attribute in tosa_rescale.OPERATOR.attributes)
GRAPH = """
import tosa_serializer as ts

graph = ts.TosaSerializer()
x = {x}.view("{source}")
graph.addInputTensor(ts.TosaSerializerTensor("input", list(x.shape), ts.DType.{SOURCE}))
constants = [
    graph.addConst(list(array.shape), getattr(ts.DType, kind.upper()), array.view(f"int{{8 * array.itemsize}}")).name
    for array, kind in zip(({constants}), {kinds})
]
output = graph.addOutput(list(x.shape), ts.DType.{TARGET})
attribute = ts.TosaSerializerAttribute()
attribute.RescaleAttribute({scale32}, ts.RoundingMode.{mode}, {per_channel}, {unsigned})
graph.addOperator(ts.Op.RESCALE, ["input", *constants], [output.name], attribute)
"""
RUN_HERE = """
import tosa_reference_model

# The call.
(found,), status = tosa_reference_model.run(bytes(graph.serialize()), [x])
assert status.name in ("TOSA_VALID", "TOSA_UNPREDICTABLE"), status
"""
OUTPUTS = """
outputs = (found.view("{target}"),)
from importlib.metadata import version
library = f"tosa-tools {{version('tosa-tools')}}"
"""


class TosaReferenceModel:
    name = "tosa-reference-model"
    operators = frozenset((tosa_rescale.ID,))
    always_constant = frozenset((tosa_rescale.ID,))
    takes_constants = True

    def __init__(self) -> None:
        import tosa_reference_model
        import tosa_serializer

        self.model, self.serializer, self.version = tosa_reference_model, tosa_serializer, version("tosa-tools")
        numbers = (getattr(tosa_serializer, f"TOSA_VERSION_{part}") for part in ("MAJOR", "MINOR", "PATCH"))
        self.document = "TOSA " + ".".join(map(str, numbers)) + " draft" * bool(tosa_serializer.TOSA_VERSION_DRAFT)
        self.claims = {tosa_rescale.ID: f"{self.document}, by the reference model of tosa-tools {self.version}"}

    def compile(self, node: Node) -> Run:
        refuse(node, self.serializer)

        def run(x: Array, *parameters: Array) -> tuple[Array, ...]:
            graph, output = self.graph(node, x.shape, parameters)
            found = run_program(graph, x, output) if node.input_type == "int48" else self.run(graph, signed(x))
            return (found.view(node.outputs[0].dtype).reshape(x.shape),)

        return run

    def graph(self, node: Node, shape: tuple[int, ...], parameters: Sequence[Array]) -> tuple[bytes, str]:
        """A serialized graph of one RESCALE, and its output's name."""
        library = self.serializer
        graph = library.TosaSerializer()
        graph.addInputTensor(library.TosaSerializerTensor("input", list(shape), self.kind(node.input_type)))
        constants = [
            graph.addConst(list(array.shape), self.kind(tensor.element), signed(array)).name
            for tensor, array in zip(node.inputs[1:], parameters, strict=True)
        ]
        output = graph.addOutput(list(shape), self.kind(node.output_type))
        attribute = library.TosaSerializerAttribute()
        attribute.RescaleAttribute(*attributes(node, library))
        graph.addOperator(library.Op.RESCALE, ["input", *constants], [output.name], attribute)
        return bytes(graph.serialize()), str(output.name)

    def kind(self, name: str) -> Any:
        return getattr(self.serializer.DType, bits_of(name).upper())

    def run(self, graph: bytes, x: Array) -> Array:
        """The output, of an unpredictable graph too. Unsupported, with the model's message, for an error."""
        with tempfile.TemporaryFile() as written, without_debugger():  # without a name, it goes with a killed process
            messages = f"/dev/fd/{written.fileno()}"  # the model opens its file by a name
            try:
                outputs, status = self.model.run(graph, [x], debug_filename=messages)
            except ValueError as refusal:
                raise Unsupported(f"{refusal}: {message(messages)}") from None
            if status not in (self.model.GraphStatus.TOSA_VALID, self.model.GraphStatus.TOSA_UNPREDICTABLE):
                raise Unsupported(f"{status.name}: {message(messages)}")
        return np.asarray(outputs[0])

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that build and run the same graph; see protocol.Backend."""
        refuse(node, self.serializer)
        x, *parameters = node.inputs
        scale32, mode, per_channel, *unsigned = attributes(node, self.serializer)
        source, target = bits_of(node.input_type), bits_of(node.output_type)
        run = RUN.replace("{", "{{").replace("}", "}}") if node.input_type == "int48" else RUN_HERE
        return (GRAPH + run + OUTPUTS).format(
            x=x.name, source=bits_of(x.dtype.name), SOURCE=source.upper(), TARGET=target.upper(),
            target=node.outputs[0].dtype.name,
            constants=", ".join(tensor.name for tensor in parameters),
            kinds=tuple(bits_of(tensor.element) for tensor in parameters),
            scale32=scale32, mode=mode.name, per_channel=per_channel, unsigned=", ".join(map(str, unsigned)),
        )  # fmt: skip

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.model.__file__),
            "tosa-tools": self.version,
            "document": self.document,
            "graph": "one RESCALE of a static shape; its parameters are constants",
            "48 bits": f"by the executable, a process for each call: {program()}",
            "debugger": "none: the model would start one at an error",
            "instruction sets": instruction_sets(),
        }


def message(messages: str) -> str:
    """What the model wrote first about RESCALE, or about anything."""
    return reason(Path(messages).read_text(errors="replace"))


@contextmanager
def without_debugger() -> Iterator[None]:
    """At an error the model starts gdb, which stops the process for seconds; without a PATH it finds none."""
    path = os.environ.get("PATH")
    os.environ["PATH"] = ""
    try:
        yield
    finally:
        if path is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = path


def refuse(node: Node, library: Any) -> None:
    """Raise Unsupported for another operator, and for what RESCALE has no words for."""
    if node.operator != tosa_rescale.ID:
        raise Unsupported(f"the reference model is run for {tosa_rescale.ID}")
    unknown = sorted(set(node.attributes) - set(ATTRIBUTES))
    if unknown:
        raise Unsupported(f"RESCALE has no {', '.join(unknown)}")
    if not hasattr(library.RoundingMode, str(node.value("rounding_mode"))):
        raise Unsupported(f"the serializer has no RoundingMode {node.value('rounding_mode')}")
    for name in (node.input_type, node.output_type):
        if bits_of(name) not in BITS:
            raise Unsupported(f"RESCALE has no {name}")


def attributes(node: Node, library: Any) -> tuple[Any, ...]:
    """The arguments of RescaleAttribute."""
    unsigned = (name.startswith("u") for name in (node.input_type, node.output_type))
    mode = getattr(library.RoundingMode, str(node.value("rounding_mode")))
    return bool(node.value("scale32")), mode, bool(node.value("per_channel")), *unsigned


def bits_of(name: str) -> str:
    """NumPy's name of the signed type of the same bits."""
    return name.removeprefix("u")


def signed(array: Array) -> Array:
    return array.view(bits_of(array.dtype.name))
