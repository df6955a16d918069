"""tract: loads an ONNX model and runs it on the CPU. It takes scale and zero point as constants only."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiebreak.adapters.onnx_loaded import OnnxLoaded, Prepared
from tiebreak.adapters.onnx_models import LINEAR_CLAIMS, MAPS, NBITS_CLAIMS, OF_SUMS, OnnxNode
from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

WITH_PARAMETERS = {*LINEAR_CLAIMS, *OF_SUMS, *NBITS_CLAIMS, *MAPS}
SOURCE = """
import tract

onnx.save(model, "model.onnx")
runnable = tract.onnx().load("model.onnx").into_model().into_runnable()
outputs = tuple(output.to_numpy() for output in runnable.run([{inputs}]))
library = f"tract {{tract.version()}}"
"""


class Tract:
    """Loads models from files, as tract's interface does."""

    def __init__(self) -> None:
        import onnx
        import tract

        self.library, self.save, self.version = tract, onnx.save, str(tract.version())

    def prepare(self, model: Any) -> Prepared:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            self.save(model, path)
            try:
                runnable = self.library.onnx().load(str(path)).into_model().into_runnable()
            except self.library.TractError as refusal:
                raise Unsupported(reason(refusal)) from None

        def run(inputs: Sequence[Array]) -> list[Any]:
            try:
                return [output.to_numpy() for output in runnable.run(list(inputs))]
            except self.library.TractError as refusal:
                raise Unsupported(reason(refusal)) from None

        return run

    def source(self, written: OnnxNode, free: Sequence[str]) -> str:
        return SOURCE.format(inputs=", ".join(free))

    def facts(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "tract": self.version,
            "loaded by": "onnx().load(file).into_model().into_runnable()",
            "instruction sets": instruction_sets(),
        }


def reason(refusal: Exception) -> str:
    """tract's message without its stack."""
    return " ".join(str(refusal).partition("Stack backtrace:")[0].split())


def backend() -> OnnxLoaded:
    return OnnxLoaded("tract", Tract(), in_model=WITH_PARAMETERS, further=NBITS_CLAIMS)
