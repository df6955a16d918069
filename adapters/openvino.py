"""OpenVINO's CPU plugin: ONNX's two linear operators through its front end, FakeQuantize by its own API."""

from __future__ import annotations

from typing import Any

from tiebreak.adapters.openvino_fake_quantize import compile_fake_quantize
from tiebreak.adapters.openvino_linear import compile_linear
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node

PRECISION = "f32"  # the plugin may choose bfloat16 by itself


class OpenVino:
    """`precision` is the inference precision that the plugin is held to; None leaves it as shipped.

    `constant_limits` False makes FakeQuantize's limits inputs of the model, which only the reference kernel takes.
    """

    operators = frozenset({"onnx.QuantizeLinear", "onnx.DequantizeLinear", "openvino.FakeQuantize"})

    def __init__(
        self, name: str = "openvino", *, precision: str | None = PRECISION, constant_limits: bool = True
    ) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import openvino

        self.name, self.library, self.core = name, openvino, openvino.Core()
        self.constant_limits = constant_limits
        self.settings = {"INFERENCE_PRECISION_HINT": precision} if precision else {}
        self.version = str(openvino.__version__)
        self.layers: set[str] = set()
        self.opsets: set[int] = set()

    def compile(self, node: Node) -> Run:
        if node.operator == "openvino.FakeQuantize":
            return compile_fake_quantize(self.library, node, self.compile_model, constant=self.constant_limits)
        self.opsets.add(node.opset)
        return compile_linear(self.library, node, self.compile_for)

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
            compiled = self.core.compile_model(model, "CPU", self.settings)
        except RuntimeError as error:
            raise Unsupported(str(error)) from None
        operations = compiled.get_runtime_model().get_ops()
        self.layers |= {operation.get_rt_info()["layerType"].astype(str) for operation in operations}
        return compiled

    def attest(self) -> dict[str, str]:
        """Library, device, precision and the kinds of layer that the compiled models hold."""
        return {
            "library": str(self.library.__file__),
            "openvino": self.version,
            "device": str(self.core.get_property("CPU", "FULL_DEVICE_NAME")),
            "INFERENCE_PRECISION_HINT": self.settings.get("INFERENCE_PRECISION_HINT", self.precision_as_shipped()),
            "opset": ", ".join(map(str, sorted(self.opsets))) or "none",
            "shapes": "ONNX: static, scale and zero point as inputs; FakeQuantize: static, its limits "
            + ("constants" if self.constant_limits else "inputs"),
            "instruction sets": instruction_sets(),
            "layers that ran": ", ".join(sorted(self.layers)) or "none",
        }

    def precision_as_shipped(self) -> str:
        """What the plugin chooses by itself on this processor."""
        return f"as shipped: {self.core.get_property('CPU', 'INFERENCE_PRECISION_HINT').get_type_name()}"


def as_shipped() -> OpenVino:
    return OpenVino("openvino-as-shipped", precision=None)


def limits_as_inputs() -> OpenVino:
    return OpenVino("openvino-limits-as-inputs", constant_limits=False)
