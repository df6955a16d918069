"""ONNX Runtime's quantization tool: quantize_nparray, which makes the integers that it stores in a model.

The function takes one scale; the tool calls it for each slice of an axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import check_operator_set, check_output_type, check_zero_point_type
from tiebreak.adapters.onnx_models import OnnxNode, check_inputs, onnx_node, onnx_type
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

SAME = "quantize_nparray: clip(round(arr / scale) + zero_point), ties to even"
# What it raises for arguments that it refuses.
REFUSALS = (AssertionError, NotImplementedError, ValueError, RuntimeError)
SOURCE = """
import onnx
import onnxruntime
from onnxruntime.quantization.quant_utils import quantize_nparray

outputs = (np.asarray(quantize_nparray(onnx.TensorProto.{kind}, {arguments})),)
library = f"onnxruntime {{onnxruntime.__version__}}"
"""


class OnnxRuntimeTool:
    name = "onnxruntime-tool"
    configuration_of = "onnxruntime"
    maps = dict.fromkeys(("onnx.QuantizeLinear", "ngraph.Quantize"), SAME)

    def __init__(self) -> None:
        import onnx
        import onnxruntime
        from onnxruntime.quantization.quant_utils import quantize_nparray

        self.version, self.library = str(onnxruntime.__version__), quantize_nparray.__code__.co_filename
        self.quantize, self.kinds = quantize_nparray, onnx.TensorProto.DataType  # types and their numbers
        self.types: set[str] = set()

    def compile(self, node: Node) -> Run:
        linear = checked(node)
        kind = onnx_type(linear.output, "quantize_nparray")

        def run(x: Array, scale: Array, *zero_point: Array) -> tuple[Array, ...]:
            check_inputs(node, (x, scale, *zero_point))
            for name, array in zip(linear.names[1:], (scale, *zero_point), strict=True):
                if array.shape != ():
                    raise Unsupported(f"quantize_nparray takes one {name}, not the shape {list(array.shape)}")
            try:
                with np.errstate(all="ignore"):
                    found = np.asarray(self.quantize(kind, x, scale, *(zero_point or (0,))))
            except REFUSALS as refusal:
                raise Unsupported(str(refusal)) from None
            if found.dtype != node.outputs[0].dtype:
                raise Unsupported(f"quantize_nparray gives {found.dtype.name} for {linear.output}")
            self.types.add(linear.output)
            return (found,)

        return run

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that call the tool's function; see protocol.Backend."""
        linear = checked(node)
        arguments = [*linear.names, *([] if len(linear.names) > 2 else ["0"])]
        kind = self.kinds.Name(onnx_type(linear.output, "quantize_nparray"))
        return SOURCE.format(kind=kind, arguments=", ".join(arguments))

    def attest(self) -> dict[str, str]:
        said: dict[str, Any] = {"library": self.library, "onnxruntime": self.version, "numpy": np.__version__}
        return said | {"ran": f"quantize_nparray for {', '.join(sorted(self.types)) or 'nothing'}"}


def checked(node: Node) -> OnnxNode:
    """The node as an ONNX node. Unsupported for what the function has no word for."""
    if node.operator not in OnnxRuntimeTool.maps:
        raise Unsupported(f"the tool has no {node.operator}")
    linear = onnx_node(node)
    check_operator_set(node, "quantize_nparray")
    check_zero_point_type(node, "quantize_nparray")
    check_output_type(node, "quantize_nparray")
    if unknown := set(linear.attributes) - {"output_dtype"}:
        raise Unsupported(f"quantize_nparray has no {', '.join(sorted(unknown))}")
    return linear
