"""The oracle's formulas, one file an operator: functions of decoded operands, in the order of their documents."""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.golden.formulas import (
    dequantize,
    onnx_dequantize_linear,
    onnx_quantize_linear,
    openvino_fake_quantize,
    tensorflow_dequantize,
    tensorflow_fake_quant,
    tensorflow_quantize_and_dequantize,
    tensorflow_quantize_v2,
)
from tiebreak.golden.formulas.steps import Result

# By operator id; an operator's further outputs as "id:output".
FORMULAS: dict[str, Callable[..., Result]] = {
    "ngraph.Dequantize": dequantize.dequantize,
    "onnx.QuantizeLinear": onnx_quantize_linear.quantize_linear,
    "onnx.DequantizeLinear": onnx_dequantize_linear.dequantize_linear,
    "openvino.FakeQuantize": openvino_fake_quantize.fake_quantize,
    "tensorflow.QuantizeV2": tensorflow_quantize_v2.output,
    "tensorflow.QuantizeV2:output_min": tensorflow_quantize_v2.output_min,
    "tensorflow.QuantizeV2:output_max": tensorflow_quantize_v2.output_max,
    "tensorflow.Dequantize": tensorflow_dequantize.dequantize,
    "tensorflow.FakeQuantWithMinMaxVars": tensorflow_fake_quant.fake_quant,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": tensorflow_fake_quant.fake_quant,
    "tensorflow.QuantizeAndDequantizeV4": tensorflow_quantize_and_dequantize.quantize_and_dequantize,
}
