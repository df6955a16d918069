"""OpenVINO as an execution provider of ONNX Runtime, from the package onnxruntime-openvino.

What the provider does not take is refused: nothing falls back to ONNX Runtime's own kernels. It takes no model without
ranks, so each shape has its own model. Tensors of 4 bits enter and leave packed. MatMulNBits has constant weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiebreak.adapters.onnx_loaded import OnnxLoaded, Prepared
from tiebreak.adapters.onnx_models import NBITS_CLAIMS, OnnxNode
from tiebreak.adapters.onnxruntime import facts
from tiebreak.adapters.onnxruntime_session import Sessions, Settings
from tiebreak.adapters.onnxruntime_source import run_source, session_source
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.problem import Array

PROVIDER = "OpenVINOExecutionProvider"
SETTINGS = Settings(entries={"session.disable_cpu_ep_fallback": "1"}, provider=PROVIDER, options={"device_type": "CPU"})


class ThroughOpenVino:
    """ModuleNotFoundError where another package's onnxruntime is installed."""

    def __init__(self) -> None:
        import onnx  # noqa: F401 - fail now, not at the first node
        import onnxruntime

        if PROVIDER not in onnxruntime.get_available_providers():
            raise ModuleNotFoundError(f"the onnxruntime that is installed has no {PROVIDER}")
        onnxruntime.set_default_logger_severity(4)
        self.version, self.sessions = str(onnxruntime.__version__), Sessions(onnxruntime, SETTINGS)

    def prepare(self, model: Any) -> Prepared:
        session, result = self.sessions.open(model), model.graph.output[0].type.tensor_type
        names = [value.name for value in model.graph.input]
        shape = tuple(size.dim_value for size in result.shape.dim)

        outputs = [value.name for value in model.graph.output]

        def run(inputs: Sequence[Array]) -> Sequence[Array]:
            feeds = dict(zip(names, inputs, strict=True))
            if len(outputs) > 1:
                return self.sessions.answers(session, feeds, outputs)
            return [self.sessions.answer(session, feeds, NUMBERS[result.elem_type], shape, packs=True)]

        return run

    def source(self, written: OnnxNode, free: Sequence[str]) -> str:
        fed = [(name, kind) for name, kind in zip(written.names, written.inputs, strict=True) if name in free]
        run = run_source(fed, written, packs=True)
        library = 'library = f"onnxruntime-openvino {onnxruntime.__version__}"'
        return f"{session_source(SETTINGS)}\n{run}\n{library}\n"

    def facts(self) -> dict[str, str]:
        return facts(self.sessions, set()) | {"provider": f"{PROVIDER} on CPU, without fallback"}


def backend() -> OnnxLoaded:
    return OnnxLoaded("onnxruntime-openvino", ThroughOpenVino(), in_model=NBITS_CLAIMS, further=NBITS_CLAIMS)
