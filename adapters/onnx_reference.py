"""ONNX's reference evaluator, written in Python, through its public API."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiebreak.adapters.onnx_models import CLAIMS, MAPS, check_inputs, onnx_model, onnx_node
from tiebreak.adapters.onnx_source import fed_source, model_source, names_source, with_imports
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


class OnnxReference:
    """Also takes nGraph nodes that equal QuantizeLinear or DequantizeLinear: see onnx_models.ngraph_axis."""

    name = "onnx-reference"
    claims, maps = CLAIMS, MAPS

    def __init__(self) -> None:
        import onnx
        from onnx.reference import ReferenceEvaluator

        self.evaluator = ReferenceEvaluator
        self.version, self.library = str(onnx.__version__), onnx.__file__
        self.opsets: set[int] = set()

    def compile(self, node: Node) -> Run:
        written = onnx_node(node)
        try:
            evaluator = self.evaluator(onnx_model(written))
        except RuntimeError as refusal:  # no implementation for this operator set
            raise Unsupported(str(refusal)) from None
        self.opsets.add(written.opset)

        def run(*inputs: Array) -> tuple[Array, ...]:
            check_inputs(node, inputs)
            try:
                with np.errstate(all="ignore"):
                    outputs = evaluator.run(written.outputs, dict(zip(written.names, inputs, strict=False)))
            except ValueError as refusal:  # what the evaluator does not take, in its own words
                raise Unsupported(str(refusal)) from None
            except TypeError as refusal:
                if not isinstance(refusal.__cause__, TypeError):
                    raise
                raise Unsupported(str(refusal.__cause__)) from None  # NumPy's words: it has no such cast
            return tuple(np.asarray(output) for output in outputs)

        return run

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call onnx's own API; see protocol.Backend."""
        written = onnx_node(node)
        return with_imports(
            f"{model_source(onnx_model(written))}\n"
            f"{fed_source('feeds', [(name, name) for name in written.names])}\n"
            f"outputs = tuple(map(np.asarray, ReferenceEvaluator(model).run({names_source(written)}, feeds)))\n"
            'library = f"onnx {onnx.__version__}"\n'
        )

    def attest(self) -> dict[str, str]:
        opsets = ", ".join(map(str, sorted(self.opsets)))
        return {"library": str(self.library), "onnx": self.version, "opset": opsets, "numpy": np.__version__}
