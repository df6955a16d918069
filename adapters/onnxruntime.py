"""ONNX Runtime: QuantizeLinear through a real InferenceSession on the CPU execution provider."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import OPSET, onnx_type, quantize_linear_model
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import MachineryFailed, Unsupported
from tiebreak.golden.nodes import Array, Node

PROVIDER = "CPUExecutionProvider"


class OnnxRuntime:
    """Also takes the ngraph.Quantize nodes that are QuantizeLinear exactly: ties to even, one axis at most."""

    name = "onnxruntime"
    operators = frozenset({"onnx.QuantizeLinear", "ngraph.Quantize"})

    def __init__(self) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import onnxruntime

        self.library = onnxruntime
        self.version = str(onnxruntime.__version__)
        self.kernels: dict[str, str] = {}
        onnxruntime.set_default_logger_severity(4)

    def compile(self, node: Node) -> Run:
        quantized = node.outputs[0].dtype
        carrier = {"int4": "int8", "uint4": "uint8"}.get(quantized.name)
        model = quantize_linear_model(node, carrier=carrier).SerializeToString()
        session = self.session(model)
        used: list[str] = session.get_providers()
        if used[0] != PROVIDER:
            raise MachineryFailed(f"the session fell back to {used}")

        def run(*inputs: Array) -> tuple[Array, ...]:
            x, scale, *rest = inputs
            feeds = {"x": self.value(x), "scale": self.value(scale)}
            if rest:
                feeds["zero_point"] = self.value(rest[0].astype(carrier) if carrier else rest[0])
            (y,) = session.run_with_ort_values(["y"], feeds)
            return (y.numpy().astype(quantized, copy=False),)

        self.kernels[node.inputs[0].dtype.name] = ""
        return run

    def session(self, model: bytes, profile: str | None = None) -> Any:
        """A session as shipped but for one thread; Unsupported with the runtime's own message."""
        options = self.library.SessionOptions()
        options.intra_op_num_threads = 1
        if profile:
            options.enable_profiling, options.profile_file_prefix = True, profile
        errors = self.library.capi.onnxruntime_pybind11_state
        try:
            return self.library.InferenceSession(model, options, providers=[PROVIDER])
        except (errors.NotImplemented, errors.InvalidGraph) as error:
            raise Unsupported(str(error)) from None

    def value(self, array: Array) -> Any:
        """An OrtValue; bfloat16 goes in as its bits with its type."""
        if array.dtype.name == "bfloat16":
            make = self.library.OrtValue.ortvalue_from_numpy_with_onnx_type
            return make(array.view(np.uint16), onnx_type("bfloat16"))
        return self.library.OrtValue.ortvalue_from_numpy(np.asarray(array, order="C"))

    def attest(self) -> dict[str, str]:
        """Library, opset, instruction sets, and the kernels and provider that a profile of a probe shows at work."""
        return {
            "library": self.library.__file__,
            "onnxruntime": self.version,
            "build": self.library.get_build_info() if hasattr(self.library, "get_build_info") else "unknown",
            "opset": str(OPSET),
            "graph optimisation": "as shipped (all)",
            "threads": "1",
            "instruction sets": instruction_sets(),
            "ran": "; ".join(f"{real}: {self.profiled(real)}" for real in sorted(self.kernels)),
        }

    def profiled(self, real: str) -> str:
        """`operator on provider` for each node that a one-element run executed."""
        from tiebreak.golden.elements import numpy_dtype
        from tiebreak.golden.nodes import make_node

        node = make_node("onnx.QuantizeLinear", real=real, quantized="uint8")
        with tempfile.TemporaryDirectory() as folder:
            session = self.session(quantize_linear_model(node, carrier=None).SerializeToString(), f"{folder}/p")
            one = np.ones((), numpy_dtype(real))
            feeds = {"x": self.value(np.ones(3, one.dtype)), "scale": self.value(one)}
            session.run_with_ort_values(["y"], feeds | {"zero_point": self.value(np.zeros((), np.uint8))})
            events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
        ran = [event["args"] for event in events if event.get("cat") == "Node" and "provider" in event.get("args", {})]
        return ", ".join(dict.fromkeys(f"{args['op_name']} on {args['provider']}" for args in ran))
