"""The operators, one file each. A new one is a new file here, named in `OPERATORS`."""

from __future__ import annotations

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators import (
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
from tiebreak.golden.operators.model import Operator

OPERATORS: dict[str, Operator] = {
    module.OPERATOR.id: module.OPERATOR
    for module in (
        ngraph_quantize,
        ngraph_dequantize,
        onnx_quantize_linear,
        onnx_dequantize_linear,
        openvino_fake_quantize,
        tensorflow_quantize_v2,
        tensorflow_dequantize,
        tensorflow_fake_quant,
        tensorflow_fake_quant_per_channel,
        tensorflow_quantize_and_dequantize,
    )
}


def get_operator(name: str) -> Operator:
    """The operator with this id; InvalidInput lists the known ones."""
    if name not in OPERATORS:
        raise InvalidInput(f"unknown operator {name!r}; known: {', '.join(OPERATORS)}")
    return OPERATORS[name]
