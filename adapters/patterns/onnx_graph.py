"""A pattern as an ONNX model. Rows are the batch: [rows, 1, 1, width], or a matrix for each row around MatMul."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import ir_version, onnx_type
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, REAL, Operand, Pattern, PatternStep, ScalePair
from tiebreak.golden.problem import Array

OPSET = 21  # the first whose QuantizeLinear has 16-bit types
NAMES = {QUANTIZE: "QuantizeLinear", DEQUANTIZE: "DequantizeLinear"}
SPATIAL = {"MaxPool", "AveragePool", "GlobalAveragePool", "Resize", "Conv"}  # they take images
MATRICES = {"MatMul", "Gemm"}
RANKS = {"images": 4, "MatMul": 3, "Gemm": 2}
ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "MaxPool": {"kernel_shape": [1, 2]},
    "AveragePool": {"kernel_shape": [1, 2]},
    "Concat": {"axis": -1},
    "Softmax": {"axis": -1},
}


def layout_of(pattern: Pattern) -> str:
    """images, MatMul or Gemm. Unsupported if a pattern has more than one of them."""
    found = {step.operation for step in pattern.steps}
    kinds = [*(["images"] if found & SPATIAL else []), *sorted(found & MATRICES)]
    if len(kinds) > 1:
        raise Unsupported(f"{' and '.join(kinds)} take tensors of unlike ranks")
    return kinds[0] if kinds else "images"


def tensor(operand: Operand, array: Array, layout: str) -> Array:
    """The operand's rows, or constant, as the model has it."""
    if operand.constant and operand.columns:
        columns = array[0]
        return np.ascontiguousarray(columns.T[:, None, None, :] if layout == "images" else columns)
    if operand.columns and layout != "MatMul":
        raise Unsupported(
            f"{operand.name}: the second factor of {'Conv' if layout == 'images' else layout} is a constant"
        )
    shape = [len(array), *[1] * (RANKS[layout] - 2), array.shape[1]]
    found = array.reshape(shape)
    return np.ascontiguousarray(found.swapaxes(1, 2) if operand.columns else found)


def tensors(pattern: Pattern, rows: Mapping[str, Array]) -> dict[str, Array]:
    """The operands that `rows` has, as the model has them, by name."""
    layout = layout_of(pattern)
    return {one.name: tensor(one, rows[one.name], layout) for one in pattern.operands if one.name in rows}


def onnx_pattern(pattern: Pattern, pairs: Mapping[str, ScalePair], given: Mapping[str, Array]) -> Any:
    """An onnx.ModelProto with the output `y`; `given` are the operands' tensors, constants among them."""
    from onnx import helper, numpy_helper

    nodes = [make(step, pattern) for step in pattern.steps]
    inputs = [value_info(one.name, one.type, given[one.name].shape) for one in pattern.inputs]
    output = helper.make_tensor_value_info("y", onnx_type(pattern.output), [None] * RANKS[layout_of(pattern)])
    fixed = {one.name: given[one.name] for one in pattern.operands if one.constant}
    fixed |= parameters(pattern, pairs) | limits(pattern.steps)
    initializers = [numpy_helper.from_array(array, name) for name, array in fixed.items()]
    graph = helper.make_graph(nodes, "pattern", inputs, [output], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=ir_version(OPSET))


def value_info(name: str, kind: str, shape: Sequence[int]) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, onnx_type(kind), list(shape))


def make(step: PatternStep, pattern: Pattern) -> Any:
    from onnx import helper

    output = "y" if step.output == pattern.result else step.output
    operator = NAMES.get(step.operation, step.operation)
    attributes = dict(ATTRIBUTES.get(step.operation, {}))
    if step.operation == "Resize":
        attributes = {"mode": step.attributes["mode"]}
    return helper.make_node(operator, [*step.inputs, *further_inputs(step)], [output], **attributes)


def further_inputs(step: PatternStep) -> Iterator[str]:
    """Names of the initializers that follow the operands."""
    if step.pair:
        yield from (f"{step.pair}_scale", f"{step.pair}_zero_point")
    elif step.operation == "Clip":
        yield from (f"{step.output}_min", f"{step.output}_max")
    elif step.operation == "Resize":
        yield from ("", "twice")


def parameters(pattern: Pattern, pairs: Mapping[str, ScalePair]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for name, kind in pattern.pairs.items():
        found[f"{name}_scale"] = np.array(pairs[name].scale, np.float32)
        found[f"{name}_zero_point"] = np.array(pairs[name].zero_point, kind)
    return found


def limits(steps: Sequence[PatternStep]) -> dict[str, Array]:
    """The limits of Clip and the factors of Resize."""
    found: dict[str, Array] = {}
    for step in steps:
        if step.operation == "Clip":
            found |= {f"{step.output}_{end}": np.array(step.attributes[end], np.float32) for end in ("min", "max")}
        if step.operation == "Resize":
            found["twice"] = np.array([1, 1, 1, 2], np.float32)
    return found


def rows_again(output: Array) -> Array:
    """An output as [rows, width]; numbers as their bits."""
    flat = np.ascontiguousarray(output.reshape(len(output), -1))
    return flat.view(np.uint32) if flat.dtype.name == REAL else flat
