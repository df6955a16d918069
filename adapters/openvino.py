"""OpenVINO's CPU plugin: the ONNX operators through its ONNX front end, FakeQuantize through its own API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tiebreak.adapters.onnx_models import CLAIMS, CONVOLUTION_CLAIMS, NBITS_CLAIMS, PAIR_CLAIMS, PROBED_SHAPES
from tiebreak.adapters.openvino_fake_quantize import built_in, compile_fake_quantize, fake_quantize_model
from tiebreak.adapters.openvino_onnx import compile_onnx, model_for
from tiebreak.adapters.openvino_source import fake_quantize_source, onnx_node_source
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import REDUCED

OF_ONNX = {**CLAIMS, **PAIR_CLAIMS, **NBITS_CLAIMS}  # by its ONNX front end
PRECISION = "f32"  # else the plugin may choose bfloat16


class OpenVino:
    """`precision` is the inference precision that the plugin must use; None leaves the default.

    `constant_limits` False makes FakeQuantize's limits inputs of the model if the node has no constants of its own;
    only the plugin's reference kernel takes them as inputs.
    """

    claims: ClassVar = {**OF_ONNX, "openvino.FakeQuantize": "OpenVINO operation FakeQuantize-1"}
    configuration_of = "openvino"
    takes_constants = True  # as an ONNX initializer or a Constant

    def __init__(
        self, name: str = "openvino", *, precision: str | None = PRECISION, constant_limits: bool = True
    ) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import openvino

        self.name, self.library, self.core = name, openvino, openvino.Core()
        self.constant_limits = constant_limits
        self.always_constant = frozenset({*NBITS_CLAIMS, *(["openvino.FakeQuantize"] if constant_limits else [])})
        self.settings = {"INFERENCE_PRECISION_HINT": precision} if precision else {}
        self.version = str(openvino.__version__)
        self.compiled: dict[str, Node] = {}  # by operator and types: a node to probe
        self.opsets: set[int] = set()
        self.models = Recent()

    def compile(self, node: Node) -> Run:
        if node.operator == "openvino.FakeQuantize":
            run = compile_fake_quantize(
                self.library, node, self.compile_model, self.models, constant=self.constant_limits
            )
        else:
            self.opsets.add(node.opset)
            run = compile_onnx(self.library, node, self.compile_for, self.models)
        label = f"{node.operator.partition('.')[2]} {node.input_type} {node.output_type}"
        if not node.attributes.get("block_size"):
            self.compiled[label] = min(
                self.compiled.get(label, node), node, key=lambda n: n.key
            )  # independent of the order of nodes
        return run

    def compile_for(self, model: bytes) -> Any:
        """A compiled ONNX model; Unsupported with the runtime's own message."""
        try:
            read = self.core.read_model(model)
        except RuntimeError as error:
            raise Unsupported(str(error)) from None
        return self.compile_model(read)

    def compile_model(self, model: Any) -> Any:
        """A compiled model; Unsupported with the runtime's own message."""
        try:
            return self.core.compile_model(model, "CPU", self.settings)
        except RuntimeError as error:
            raise Unsupported(str(error)) from None

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call OpenVINO's own API; see protocol.Backend."""
        if node.operator == "openvino.FakeQuantize":
            return fake_quantize_source(node, inputs, self.settings, constant=self.constant_limits)
        return onnx_node_source(node, inputs, self.settings)

    def attest(self) -> dict[str, str]:
        """Library, device, precision, and the layer types of compiled probes."""
        layers = set().union(*(self.layers_of(node) for node in self.compiled.values()))
        return {
            "library": str(self.library.__file__),
            "openvino": self.version,
            "device": str(self.core.get_property("CPU", "FULL_DEVICE_NAME")),
            "INFERENCE_PRECISION_HINT": self.settings.get("INFERENCE_PRECISION_HINT", self.precision_as_shipped()),
            "opset": ", ".join(map(str, sorted(self.opsets))) or "none",
            "shapes": "ONNX: static, scale and zero point as inputs, of MatMulNBits constants; "
            + "FakeQuantize: static, its limits "
            + ("constants" if self.constant_limits else "inputs")
            + "; a node's own constants built in",
            "instruction sets": instruction_sets(),
            "layers of a probe": ", ".join(sorted(layers)) or "none",
            **self.reduced_by_default(),
        }

    def reduced_by_default(self) -> dict[str, str]:
        """What OpenVINO's page of the CPU plugin says: it computes in bf16 or f16 where the processor has them."""
        chosen = self.precision_as_shipped()
        is_reduced = not self.settings and not chosen.endswith(PRECISION)
        return {REDUCED: f"{chosen}; OpenVINO, CPU Device, Floating-Point Data Types Specifics"} if is_reduced else {}

    def layers_of(self, node: Node) -> set[str]:
        """The layer types that the node compiles to, for three elements or pixels and scalar parameters."""
        convolves = node.operator in CONVOLUTION_CLAIMS
        probe = replace(node, baked=(), attributes={} if convolves else node.attributes)
        shapes = PROBED_SHAPES if convolves else {node.inputs[0].name: (3,)}
        inputs = [np.ones(shapes.get(kind.name, ())).astype(kind.dtype) for kind in node.inputs]
        try:
            if node.operator == "openvino.FakeQuantize":
                fixed = built_in(probe, self.constant_limits)
                compiled = self.compile_model(fake_quantize_model(self.library, probe, inputs, fixed))
            else:
                compiled = self.compile_for(model_for(probe, inputs).SerializeToString())
        except Unsupported:
            return set()
        operations = compiled.get_runtime_model().get_ops()
        return {str(operation.get_rt_info()["layerType"].astype(str)) for operation in operations}

    def precision_as_shipped(self) -> str:
        """The precision that the plugin chooses by default on this processor."""
        return f"as shipped: {self.core.get_property('CPU', 'INFERENCE_PRECISION_HINT').get_type_name()}"


def as_shipped() -> OpenVino:
    return OpenVino("openvino-as-shipped", precision=None)


def limits_as_inputs() -> OpenVino:
    return OpenVino("openvino-limits-as-inputs", constant_limits=False)
