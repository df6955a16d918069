"""ONNX's own reference evaluator, in Python, through its public API."""

from __future__ import annotations

import numpy as np

from tiebreak.adapters.onnx_models import NAMES, OPERATORS, check_inputs, linear_model, linear_node
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


class OnnxReference:
    """Also takes the nGraph nodes that are QuantizeLinear or DequantizeLinear exactly: see onnx_models.axis_of."""

    name = "onnx-reference"
    operators = OPERATORS

    def __init__(self) -> None:
        import onnx
        from onnx.reference import ReferenceEvaluator

        self.evaluator = ReferenceEvaluator
        self.version, self.library = str(onnx.__version__), onnx.__file__
        self.opsets: set[int] = set()

    def compile(self, node: Node) -> Run:
        linear = linear_node(node)
        self.opsets.add(linear.opset)
        try:
            evaluator = self.evaluator(linear_model(linear))
        except RuntimeError as refusal:  # it has no implementation for the operator set
            raise Unsupported(str(refusal)) from None

        def run(*inputs: Array) -> tuple[Array, ...]:
            check_inputs(node, inputs)
            try:
                with np.errstate(all="ignore"):
                    (y,) = evaluator.run(["y"], dict(zip(NAMES, inputs, strict=False)))
            except ValueError as refusal:  # its own words for what it does not take
                raise Unsupported(str(refusal)) from None
            return (np.asarray(y),)

        return run

    def attest(self) -> dict[str, str]:
        opsets = ", ".join(map(str, sorted(self.opsets)))
        return {"library": str(self.library), "onnx": self.version, "opset": opsets, "numpy": np.__version__}
