"""What a generated case of each operator looks like, one file an operator."""

from __future__ import annotations

from tiebreak.conformance.suite import ngraph_quantize, onnx_quantize_linear
from tiebreak.conformance.suite.layout import Layout

LAYOUTS: dict[str, Layout] = {
    "ngraph.Quantize": ngraph_quantize.LAYOUT,
    "onnx.QuantizeLinear": onnx_quantize_linear.LAYOUT,
}
