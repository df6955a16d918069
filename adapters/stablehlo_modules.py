"""uniform_quantize and uniform_dequantize in MLIR's dialect of StableHLO: modules of one function, graph.

Scales, zero points and ends of storage are parts of the types, so each module is for certain values of them. Shapes are
static: IREE lowers no other. MLIR's integers have no sign; the quantized type says how their bits are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.iree_rescale import signed
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node, TensorType
from tiebreak.golden.operator_names import short_name
from tiebreak.golden.operators import get_operator, stablehlo_uniform_dequantize, stablehlo_uniform_quantize
from tiebreak.golden.problem import Array

QUANTIZE, DEQUANTIZE = stablehlo_uniform_quantize.ID, stablehlo_uniform_dequantize.ID
OPERATORS = (QUANTIZE, DEQUANTIZE)
DOCUMENT = "the StableHLO specification (docs/spec.md)"
FLOATS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
MODULE = """module {{
  func.func @graph(%operand: {operand}) -> {result} {{
    %found = stablehlo.{name} %operand : ({operand}) -> {result}
    return %found : {result}
  }}
}}
"""


def refuse(node: Node) -> None:
    """Raise Unsupported for attributes that a quantized type lacks."""
    known = {attribute.name for attribute in get_operator(node.operator).attributes}
    if unknown := sorted(set(node.attributes) - known):
        raise Unsupported(f"a quantized type has no {', '.join(unknown)}")


def module_of(node: Node, inputs: Sequence[Array]) -> str:
    """MLIR's text of a module with one function, graph, for inputs of these shapes and these parameters."""
    operand, result = types_of(node, inputs)
    return MODULE.format(name=short_name(node.operator), operand=operand, result=result)


def types_of(node: Node, inputs: Sequence[Array]) -> tuple[str, str]:
    """The types of the operand and of the result."""
    x, scales, points, *own = inputs
    sizes = "".join(f"{size}x" for size in x.shape)
    real = FLOATS[node.inputs[1].dtype.name]
    plain = f"tensor<{sizes}{real}>"
    typed = quantized(node, node.outputs[0].dtype if node.operator == QUANTIZE else x.dtype, real, (scales, points))
    operand, result = (plain, f"tensor<{sizes}{typed}>")[:: 1 if node.operator == QUANTIZE else -1]
    if own:
        operand = f"tensor<{sizes}{quantized(node, x.dtype, real, (own[0], own[1]), 'operand_')}>"
    return operand, result


def quantized(node: Node, storage: Any, real: str, parameters: tuple[Array, Array], prefix: str = "") -> str:
    """A quantized element type; ends are written where the node has them.

    Unsupported unless each scale has its zero point, and there is one pair or an axis of them.
    """
    counts = [array.size for array in parameters]
    kind = INTEGER_TYPES[storage.name]
    written = [str(node.value(f"{prefix}storage_{end}")) for end in ("min", "max")]
    ends = "" if written == ["0", "0"] else f"<{':'.join(written)}>"
    axis = int(node.value(f"{prefix}quantization_dimension"))
    if counts[0] != counts[1] or (axis < 0 and counts[0] != 1):
        raise Unsupported(f"a quantized type has no {counts[0]} scales and {counts[1]} zero points at dimension {axis}")
    pairs = [f"{float(scale):.17e}:{int(point)}" for scale, point in zip(*map(np.ravel, parameters), strict=True)]
    values = f", {pairs[0]}" if axis < 0 else f":{axis}, {{{','.join(pairs)}}}"
    return f"!quant.uniform<{'i' if kind.signed else 'u'}{kind.bits}{ends}:{real}{values}>"


def free_tensors(node: Node) -> list[TensorType]:
    """The operand: all other inputs are parts of types."""
    return [node.inputs[0]]


def free_inputs(node: Node, inputs: Sequence[Array]) -> list[Array]:
    """What the function gets: the operand, integers in NumPy's signed type."""
    x = np.require(inputs[0], requirements="C")
    return [signed(x) if x.dtype.name in INTEGER_TYPES else x]
