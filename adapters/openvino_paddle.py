"""OpenVINO's CPU plugin through its PaddlePaddle front end: a model file of one quantize_linear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.paddle_program import program
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.paddle_quantize_linear import ID
from tiebreak.golden.problem import Array

SETTINGS = {"INFERENCE_PRECISION_HINT": "f32"}  # else the plugin may choose bfloat16
LINES = """
import io

import openvino

core = openvino.Core()
model = core.read_model(io.BytesIO(bytes.fromhex("{model}")))
compiled = core.compile_model(model, "CPU", {settings})
outputs = (compiled({{"X": X, "Scale": Scale, "ZeroPoint": ZeroPoint}})[0],)
library = f"openvino {{openvino.__version__}}"
"""


class OpenVinoPaddle:
    name = "openvino-paddle"
    configuration_of = "openvino"
    claims: Mapping[str, str] = {ID: "PaddlePaddle's quantize_linear, which OpenVINO's PaddlePaddle front end reads"}

    def __init__(self) -> None:
        import openvino

        self.library, self.core, self.version = openvino, openvino.Core(), str(openvino.__version__)
        self.models = Recent()

    def compile(self, node: Node) -> Run:
        if node.operator != ID:
            raise Unsupported(f"this configuration of OpenVINO runs {ID} alone, not {node.operator}")

        def run(*inputs: Array) -> tuple[Array, ...]:
            shapes = tuple(array.shape for array in inputs)
            compiled = self.models.get((node.key, shapes), lambda: self.compiled(program(node, shapes)))
            given = {tensor.name: array for tensor, array in zip(node.inputs, inputs, strict=True)}
            try:
                return (np.array(compiled(given)[0]),)
            except RuntimeError as refusal:
                raise Unsupported(str(refusal)) from None

        return run

    def compiled(self, model: bytes) -> Any:
        """A compiled model; Unsupported with OpenVINO's own message."""
        try:
            return self.core.compile_model(self.core.read_model(model), "CPU", SETTINGS)
        except RuntimeError as refusal:
            raise Unsupported(str(refusal)) from None

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        model = program(node, [array.shape for array in inputs])
        return LINES.format(model=model.hex(), settings=SETTINGS)

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "openvino": self.version,
            "device": str(self.core.get_property("CPU", "FULL_DEVICE_NAME")),
            **SETTINGS,
            "model": "a ProgramDesc of one quantize_linear with static shapes, scale and zero point as inputs",
            "instruction sets": instruction_sets(),
        }
