"""The operators, one file each. A new one is a new file here, named in `OPERATORS`."""

from __future__ import annotations

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators import ngraph_dequantize, ngraph_quantize, onnx_quantize_linear
from tiebreak.golden.operators.model import Operator

OPERATORS: dict[str, Operator] = {
    module.OPERATOR.id: module.OPERATOR
    for module in (
        ngraph_quantize,
        ngraph_dequantize,
        onnx_quantize_linear,
    )
}


def get_operator(name: str) -> Operator:
    """The operator with this id; InvalidInput lists the known ones."""
    if name not in OPERATORS:
        raise InvalidInput(f"unknown operator {name!r}; known: {', '.join(OPERATORS)}")
    return OPERATORS[name]
