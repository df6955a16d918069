"""What a generated case of each operator looks like, one file an operator."""

from __future__ import annotations

from tiebreak.conformance.suite import ngraph_dequantize, ngraph_quantize, onnx_quantize_linear
from tiebreak.conformance.suite.layout import Layout, Suite

LAYOUTS: dict[str, Layout] = {
    "ngraph.Quantize": ngraph_quantize.LAYOUT,
    "onnx.QuantizeLinear": onnx_quantize_linear.LAYOUT,
}
SUITES: dict[str, Suite] = {
    "ngraph.Dequantize": ngraph_dequantize.SUITE,
}
