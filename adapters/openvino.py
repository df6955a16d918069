"""OpenVINO: QuantizeLinear through its ONNX front end, as a model compiled for the CPU plugin."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import OPSET, quantize_linear_model
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Array, Node

PRECISION = "f32"  # the plugin may choose bfloat16 by itself


class OpenVino:
    name = "openvino"
    operators = frozenset({"onnx.QuantizeLinear"})

    def __init__(self) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import openvino

        self.library, self.core = openvino, openvino.Core()
        self.version = str(openvino.__version__)
        self.layers: set[str] = set()

    def compile(self, node: Node) -> Run:
        quantized = node.outputs[0].dtype
        carrier = {"int4": "int8", "uint4": "uint8"}.get(quantized.name)
        compiled: dict[tuple[int, ...], Any] = {}  # by the inputs' ranks, which the CPU plugin wants to know

        def run(*inputs: Array) -> tuple[Array, ...]:
            ranks = tuple(array.ndim for array in inputs)
            if ranks not in compiled:
                model = quantize_linear_model(node, carrier=carrier, ranks=ranks).SerializeToString()
                compiled[ranks] = self.compile_for(model)
            feeds = [
                self.tensor(array.astype(carrier) if carrier and i == 2 else array) for i, array in enumerate(inputs)
            ]
            (y,) = compiled[ranks](feeds).values()
            return (np.array(y).astype(quantized, copy=False),)

        return run

    def compile_for(self, model: bytes) -> Any:
        """A compiled model; Unsupported with the runtime's own message."""
        try:
            settings = {"INFERENCE_PRECISION_HINT": PRECISION}
            compiled = self.core.compile_model(self.core.read_model(model), "CPU", settings)
        except RuntimeError as error:
            raise Unsupported(str(error)) from None
        operations = compiled.get_runtime_model().get_ops()
        self.layers |= {operation.get_rt_info()["layerType"].astype(str) for operation in operations}
        return compiled

    def tensor(self, array: Array) -> Any:
        """A tensor on the array's own memory; bfloat16 goes in as its bits with its type."""
        if array.dtype.name != "bfloat16":
            return self.library.Tensor(array)
        bits = np.ascontiguousarray(array).view(np.uint16)
        tensor = self.library.Tensor(self.library.Type.bf16, list(array.shape))
        tensor.data[...] = bits.view(tensor.data.dtype) if bits.ndim else bits.reshape(()).view(tensor.data.dtype)
        return tensor

    def attest(self) -> dict[str, str]:
        """Library, device, precision and the kinds of layer that the compiled models hold."""
        return {
            "library": str(self.library.__file__),
            "openvino": self.version,
            "device": str(self.core.get_property("CPU", "FULL_DEVICE_NAME")),
            "INFERENCE_PRECISION_HINT": PRECISION,
            "opset": str(OPSET),
            "shapes": "dynamic, of known rank",
            "instruction sets": instruction_sets(),
            "layers that ran": ", ".join(sorted(self.layers)) or "none",
        }
