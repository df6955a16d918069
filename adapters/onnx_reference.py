"""ONNX's own reference evaluator, in Python, through its public API."""

from __future__ import annotations

import numpy as np

from tiebreak.adapters.onnx_models import OPSET, quantize_linear_model
from tiebreak.adapters.protocol import Run
from tiebreak.golden.nodes import Array, Node


class OnnxReference:
    """Also takes the ngraph.Quantize nodes that are QuantizeLinear exactly: ties to even, one axis at most."""

    name = "onnx-reference"
    operators = frozenset({"onnx.QuantizeLinear", "ngraph.Quantize"})

    def __init__(self) -> None:
        import onnx
        from onnx.reference import ReferenceEvaluator

        self.evaluator = ReferenceEvaluator
        self.version, self.library = str(onnx.__version__), onnx.__file__

    def compile(self, node: Node) -> Run:
        evaluator = self.evaluator(quantize_linear_model(node, carrier=None))

        def run(*inputs: Array) -> tuple[Array, ...]:
            names = ("x", "scale", "zero_point")[: len(inputs)]
            with np.errstate(all="ignore"):
                (y,) = evaluator.run(["y"], dict(zip(names, inputs, strict=True)))
            return (y,)

        return run

    def attest(self) -> dict[str, str]:
        return {"library": str(self.library), "onnx": self.version, "opset": str(OPSET), "numpy": np.__version__}
