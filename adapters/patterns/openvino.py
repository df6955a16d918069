"""OpenVINO's CPU plugin: as shipped, without its low-precision transformations, and node by node.

The plugin has no switch that leaves a graph alone. So the unfused graph is one model for each node. The plugin's own
graph shows what ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tiebreak.adapters.openvino_low_precision import SWITCH, layers_of
from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED, Opened, RuntimeWay
from tiebreak.adapters.patterns.onnx_graph import onnx_pattern, rows_again, tensors
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns.graph import QUANTIZE, REAL, Operand, Pattern, ScalePair
from tiebreak.golden.problem import Array

FLOAT32 = {"INFERENCE_PRECISION_HINT": "f32"}  # else it may choose bfloat16 by itself
SETTINGS: Mapping[str, Mapping[str, str]] = {
    UNFUSED: FLOAT32,
    SHIPPED: FLOAT32,
    "no low precision": {**FLOAT32, SWITCH: "NO"},
}


class OpenVinoPatterns:
    """Models of the ONNX front end, compiled for the CPU."""

    name = "openvino"
    ways = tuple(
        RuntimeWay(
            name, ", ".join([*(["one model a node"] if name == UNFUSED else []), *(f"{k}={v}" for k, v in one.items())])
        )
        for name, one in SETTINGS.items()
    )

    def __init__(self) -> None:
        import openvino

        self.library, self.core, self.version = openvino, openvino.Core(), str(openvino.__version__)

    def open(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array], way: str) -> Opened:
        if way == UNFUSED:
            return self.node_by_node(pattern, pairs, tensors(pattern, rows))
        compiled = self.compiled(pattern, pairs, tensors(pattern, rows), way)
        graph = tuple(
            f"{layer} {precision}" for layer, precision in layers_of(compiled) if layer not in ("Const", "Output")
        )
        return Opened(graph, lambda given: rows_again(self.answer(compiled, pattern, tensors(pattern, given))))

    def compiled(self, pattern: Pattern, pairs: Mapping[str, ScalePair], given: Mapping[str, Array], way: str) -> Any:
        model = onnx_pattern(pattern, pairs, given)
        try:
            read = self.core.read_model(model.SerializeToString(), b"")
            return self.core.compile_model(read, "CPU", dict(SETTINGS[way]))
        except RuntimeError as error:
            raise Unsupported(str(error)) from None

    def answer(self, compiled: Any, pattern: Pattern, given: Mapping[str, Array]) -> Array:
        request = compiled.create_infer_request()
        try:
            request.infer({one.name: given[one.name] for one in pattern.inputs})
        except RuntimeError as error:
            raise Unsupported(str(error)) from None
        return np.array(request.get_output_tensor(0).data)

    def node_by_node(self, pattern: Pattern, pairs: Mapping[str, ScalePair], fixed: Mapping[str, Array]) -> Opened:
        """Each step as a pattern of its own, compiled when its inputs' shapes are known."""
        kept: dict[str, Any] = {}

        def run(rows: Mapping[str, Array]) -> Array:
            known = {**fixed, **tensors(pattern, rows)}
            for step in pattern.steps:
                single = alone(pattern, step.output)
                key = f"{step.output} {[known[name].shape for name in step.inputs]}"
                if key not in kept:
                    kept[key] = self.compiled(single, pairs, known, UNFUSED)
                known[step.output] = self.answer(kept[key], single, known)
            return rows_again(known[pattern.result])

        return Opened(tuple(step.operation for step in pattern.steps), run)


def alone(pattern: Pattern, output: str) -> Pattern:
    """The pattern of the one step that gives this value."""
    step = next(step for step in pattern.steps if step.output == output)
    known = {operand.name: operand for operand in pattern.operands}
    types = {one.output: pattern.pairs[one.pair] if one.operation == QUANTIZE else REAL for one in pattern.steps}
    operands = tuple(known.get(name) or Operand(name, types[name], 1) for name in dict.fromkeys(step.inputs))
    used = {step.pair: pattern.pairs[step.pair]} if step.pair else {}
    return replace(pattern, operands=operands, steps=(step,), pairs=used, output=types[output])


SCRIPT = """
import openvino

core = openvino.Core()


def run(model, feeds):
    read = core.read_model(model.SerializeToString(), b"")
    compiled = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    request.infer(feeds)
    return np.array(request.get_output_tensor(0).data)


def alone(node, known):
    fixed = {tensor.name: tensor for tensor in constants}
    names = [name for name in dict.fromkeys(node.input) if name and name not in fixed]
    types = {name: helper.np_dtype_to_tensor_dtype(known[name].dtype) for name in names}
    inputs = [helper.make_tensor_value_info(name, types[name], known[name].shape) for name in names]
    real = node.op_type != "QuantizeLinear"
    kind = onnx.TensorProto.FLOAT if real else fixed[node.input[2]].data_type
    results = [helper.make_tensor_value_info(node.output[0], kind, None)]
    used = [fixed[name] for name in dict.fromkeys(node.input) if name in fixed]
    single = helper.make_graph([node], "node", inputs, results, used)
    feeds = {name: known[name] for name in names}
    return run(helper.make_model(single, opset_imports=opsets, ir_version=model.ir_version), feeds)


shipped = run(model, feeds)
known = dict(feeds)
for node in nodes:  # one model a node: nothing can be fused
    known[node.output[0]] = alone(node, known)
unfused = known["y"]
library = f"openvino {openvino.__version__}"
"""
