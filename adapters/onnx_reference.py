"""ONNX's reference evaluator, written in Python, through its public API."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiebreak.adapters.onnx_models import (
    CLAIMS,
    MAPS,
    OnnxNode,
    as_old_as,
    check_inputs,
    onnx_model,
    onnx_node,
    onnx_type,
)
from tiebreak.adapters.onnx_source import fed_source, model_source, names_source, with_imports
from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import numpy_dtype
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
        written = self.written(node)
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

    def written(self, node: Node) -> OnnxNode:
        """The node at its own operator set, or at the latest earlier one that the release has. Unsupported if none."""
        from onnx.defs import onnx_opset_version

        known = onnx_opset_version()
        for written in as_old_as(onnx_node(node)):
            if written.opset <= known:
                check_arrays(written, self.version)
                return written
        raise Unsupported(f"onnx {self.version} has no operator set after {known}")

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call onnx's own API; see protocol.Backend."""
        written = self.written(node)
        return with_imports(
            f"{model_source(onnx_model(written))}\n"
            f"{fed_source('feeds', [(name, name) for name in written.names])}\n"
            f"outputs = tuple(map(np.asarray, ReferenceEvaluator(model).run({names_source(written)}, feeds)))\n"
            'library = f"onnx {onnx.__version__}"\n'
        )

    def attest(self) -> dict[str, str]:
        opsets = ", ".join(map(str, sorted(self.opsets)))
        return {"library": str(self.library), "onnx": self.version, "opset": opsets, "numpy": np.__version__}


def check_arrays(written: OnnxNode, release: str) -> None:
    """Raise Unsupported for a type of which this release of onnx has no arrays, or only such as hold another type."""
    from onnx import helper

    for name in (*written.inputs, written.output):
        try:
            known = helper.tensor_dtype_to_np_dtype(onnx_type(name))
        except KeyError:
            known = None
        if known != numpy_dtype(name):
            raise Unsupported(f"onnx {release} has no arrays of {name}")
