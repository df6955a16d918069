"""What a generated case of each operator looks like, one file an operator."""

from __future__ import annotations

from tiebreak.conformance.operators import (
    ngraph_dequantize,
    ngraph_quantize,
    onnx_dequantize_linear,
    onnx_quantize_linear,
    openvino_fake_quantize,
    tensorflow_dequantize,
    tensorflow_fake_quant,
    tensorflow_fake_quant_per_channel,
    tensorflow_quantize_and_dequantize,
    tensorflow_quantize_v2,
)
from tiebreak.conformance.operators.model import Layout, Suite

LAYOUTS: dict[str, Layout] = {
    "ngraph.Quantize": ngraph_quantize.LAYOUT,
    "onnx.QuantizeLinear": onnx_quantize_linear.LAYOUT,
}
SUITES: dict[str, Suite] = {
    "ngraph.Dequantize": ngraph_dequantize.SUITE,
    "onnx.QuantizeLinear": onnx_quantize_linear.SUITE,
    "onnx.DequantizeLinear": onnx_dequantize_linear.SUITE,
    "openvino.FakeQuantize": openvino_fake_quantize.SUITE,
    "tensorflow.FakeQuantWithMinMaxVars": tensorflow_fake_quant.SUITE,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": tensorflow_fake_quant_per_channel.SUITE,
    "tensorflow.QuantizeAndDequantizeV4": tensorflow_quantize_and_dequantize.SUITE,
    "tensorflow.QuantizeV2": tensorflow_quantize_v2.SUITE,
    "tensorflow.Dequantize": tensorflow_dequantize.SUITE,
}
