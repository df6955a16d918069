"""PaddlePaddle's quantize_linear on the CPU, as a layer and as an operator of a program.

`paddle` calls the layer LinearQuanter of paddle.nn.quant.format in eager mode. It sets qmin and qmax from bit_length
and has no round_type. `paddle-program` appends the operator to a paddle.static.Program, as that layer does in static
mode; there it can be told every attribute. `paddle` casts, too: see paddle_cast.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tiebreak.adapters import paddle_cast
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.paddle_quantize_linear import ID
from tiebreak.golden.problem import Array

OF_LAYER = ("quant_axis", "bit_length", "qmin", "qmax")
PROGRAMS = 64  # that are kept, one for each choice of shapes
LAYER_LINES = """
import paddle
from paddle.nn.quant.format import LinearQuanter

paddle.set_device("cpu")
quanter = LinearQuanter(Scale, zero_point=ZeroPoint, {arguments})
outputs = (quanter(paddle.to_tensor(X)).numpy(),)
library = f"paddle {{paddle.__version__}}"
"""
PROGRAM_LINES = """
import paddle

paddle.enable_static()
given = {{"X": X, "Scale": Scale, "ZeroPoint": ZeroPoint}}
with paddle.pir_utils.OldIrGuard():
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        inputs = {{name: [paddle.static.data(name, array.shape, "float32")] for name, array in given.items()}}
        block = program.global_block()
        y = block.create_var(name="Y", dtype="float32", shape=X.shape)
        block.append_op(type="quantize_linear", inputs=inputs, outputs={{"Y": [y]}}, attrs={attributes})
    outputs = tuple(paddle.static.Executor(paddle.CPUPlace()).run(program, feed=given, fetch_list=[y]))
library = f"paddle {{paddle.__version__}}"
"""


class Paddle:
    """`program`: as an operator of a program instead of a layer."""

    operators = frozenset({ID})

    def __init__(self, *, program: bool = False) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it misses ccache, which only extensions need
            import paddle
            from paddle.nn.quant.format import LinearQuanter

        paddle.set_device("cpu")
        self.library, self.layer, self.program = paddle, LinearQuanter, program
        self.name, self.version = "paddle-program" if program else "paddle", str(paddle.__version__)
        self.configuration_of = "paddle"
        self.claims: Mapping[str, str] = {ID: f"PaddlePaddle {self.version}, OpProto of quantize_linear"}
        self.maps: Mapping[str, str] = {} if program else paddle_cast.MAPS

    def compile(self, node: Node) -> Run:
        if node.operator in self.maps:
            return paddle_cast.compiled(self.library, node)
        if node.operator != ID:
            raise Unsupported(f"{self.name} has no {node.operator}, only {', '.join((ID, *self.maps))}")
        return self.of_program(node) if self.program else self.of_layer(node)

    def of_layer(self, node: Node) -> Run:
        arguments = layer_arguments(node)

        def run(x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
            def call() -> Array:
                quanter = self.layer(scale, zero_point=zero_point, **arguments)
                return np.asarray(quanter(self.library.to_tensor(x)).numpy())

            return (answered(call),)

        return run

    def of_program(self, node: Node) -> Run:
        programs = Recent(PROGRAMS)

        def run(*inputs: Array) -> tuple[Array, ...]:
            shapes = tuple(array.shape for array in inputs)

            def call() -> Array:
                with self.static_mode():
                    made, y, executor = programs.get(shapes, lambda: self.made(node, shapes))
                    feed = {tensor.name: array for tensor, array in zip(node.inputs, inputs, strict=True)}
                    return np.asarray(executor.run(made, feed=feed, fetch_list=[y])[0])

            return (answered(call),)

        return run

    def made(self, node: Node, shapes: Sequence[tuple[int, ...]]) -> tuple[Any, Any, Any]:
        """A program of the one operator, its result, and what executes it."""
        static = self.library.static
        program = static.Program()
        with static.program_guard(program):
            named = zip(node.inputs, shapes, strict=True)
            inputs = {one.name: [static.data(one.name, shape, one.dtype.name)] for one, shape in named}
            block = program.global_block()
            y = block.create_var(name="Y", dtype=node.output_type, shape=shapes[0])
            block.append_op(type="quantize_linear", inputs=inputs, outputs={"Y": [y]}, attrs=dict(node.attributes))
        return program, y, static.Executor(self.library.CPUPlace())

    @contextmanager
    def static_mode(self) -> Iterator[None]:
        """Programs of operators, which the intermediate representation that is PaddlePaddle's default has not."""
        self.library.enable_static()
        try:
            with self.library.pir_utils.OldIrGuard():
                yield
        finally:
            self.library.disable_static()

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        if node.operator in self.maps:
            return paddle_cast.source(node)
        if self.program:
            return PROGRAM_LINES.format(attributes=dict(node.attributes))
        said = ", ".join(f"{name}={value}" for name, value in layer_arguments(node).items())
        return LAYER_LINES.format(arguments=said)

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "paddle": self.version,
            "commit": str(self.library.version.commit),
            "device": str(self.library.get_device()),
            "kernel": "quantize_linear of a program" if self.program else "LinearQuanter in eager mode",
            "instruction sets": instruction_sets(),
        }


def layer_arguments(node: Node) -> dict[str, int]:
    """The arguments of LinearQuanter, whose own default of quant_axis is -1; Unsupported for what it can't be told."""
    if unknown := set(node.attributes) - set(OF_LAYER):
        raise Unsupported(f"LinearQuanter has no {', '.join(sorted(unknown))}")
    half = 1 << (node.value("bit_length") - 1)
    if (node.value("qmin"), node.value("qmax")) != (-half, half - 1):
        raise Unsupported(
            f"LinearQuanter sets qmin to {-half} and qmax to {half - 1} by bit_length, and takes no other"
        )
    given = {"bit_length": node.attributes["bit_length"]} if "bit_length" in node.attributes else {}
    return {"quant_axis": node.value("quant_axis"), **given}


def answered(call: Callable[[], Array]) -> Array:
    """What a call gives; Unsupported with PaddlePaddle's own words if it refuses."""
    try:
        return call()
    except (ValueError, RuntimeError, IndexError, TypeError) as refusal:
        raise Unsupported(own_words(str(refusal))) from None


def own_words(message: str) -> str:
    """The line that says why: the stack of the operator and of the kernel is around it."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return next((line for line in lines if "Error: " in line or line.startswith("(")), lines[-1] if lines else "")


def in_a_program() -> Paddle:
    return Paddle(program=True)
