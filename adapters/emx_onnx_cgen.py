"""emx-onnx-cgen: generates C from an ONNX model and compiles it, through its onnx.backend interface."""

from __future__ import annotations

from importlib.metadata import version

from tiebreak.adapters.onnx_backend import PreparedBy
from tiebreak.adapters.onnx_loaded import OnnxLoaded

NAME, PLACE = "emx-onnx-cgen", "emx_onnx_cgen.onnx_backend"


def backend() -> OnnxLoaded:
    """Needs a C compiler beside the package; without one every model is refused with its message."""
    from emx_onnx_cgen import onnx_backend

    return OnnxLoaded(NAME, PreparedBy(PLACE, onnx_backend, version(NAME)))
