"""Python source that runs a node in OpenVINO's own API, for standalone scripts; ONNX nodes are built with onnx."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tiebreak.adapters.onnx_models import OnnxNode, onnx_node
from tiebreak.adapters.onnx_source import fed_source, model_source, with_imports
from tiebreak.adapters.openvino_fake_quantize import TYPES, built_in
from tiebreak.adapters.openvino_onnx import BY_BITS, CARRIERS, PACKED, constants_of, model_for, packs
from tiebreak.adapters.packed_bits import BITS, SOURCE
from tiebreak.adapters.reproducer import CALL
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

TENSOR = """

def tensor(array, element_type):
    # with the array's bits, since NumPy lacks some types
    made = openvino.Tensor(element_type, list(array.shape))
    made.data[...] = array.view(made.data.dtype)
    return made

"""
PACKED_TENSOR = """
def packed_tensor(array, element_type, bits):
    made = openvino.Tensor(element_type, list(array.shape))
    made.data[...] = packed(array, bits).reshape(-1)[: made.data.size].view(made.data.dtype).reshape(made.data.shape)
    return made

"""
LIBRARY = 'library = f"openvino {openvino.__version__}"'


def onnx_node_source(node: Node, inputs: Sequence[Array], settings: Mapping[str, str]) -> str:
    """Source that assigns `outputs` and `library` for an ONNX node."""
    written = onnx_node(node)
    small = tuple(PACKED) if packs(written) else ()  # the types that are packed
    fixed = constants_of(node, inputs)
    kinds = {name: kind for name, kind in zip(written.names, written.inputs, strict=True) if name not in fixed}
    packing = SOURCE if {*kinds.values(), written.output} & {*small} else ""
    return script_part(
        model_source(model_for(node, inputs)),
        packing + (PACKED_TENSOR if {*kinds.values()} & {*small} else ""),
        TENSOR if {*kinds.values()} & {*BY_BITS} else "",
        "core = openvino.Core()",
        f'compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {json.dumps(settings)})',
        fed_source("feeds", [(name, feed_value_source(name, kind, small)) for name, kind in kinds.items()]),
        "names = {port.get_any_name() for port in compiled.inputs}  # inputs of which only the type counts are dropped",
        "request = compiled.create_infer_request()",
        CALL,
        "request.infer({name: value for name, value in feeds.items() if name in names})",
        f"outputs = ({', '.join((output_source(written.output, small), *further_sources(written)))},)",
    )


def further_sources(written: OnnxNode) -> list[str]:
    """Expressions of the outputs after the first, whose types NumPy has."""
    return [f"np.array(request.get_output_tensor({place}).data)" for place in range(1, len(written.outputs))]


def output_source(kind: str, small: Sequence[str]) -> str:
    if kind in small:
        tensor = "request.get_output_tensor(0)"
        held = f"np.array({tensor}.data).reshape(-1).view(np.uint8)"
        return f"unpacked({held}, {BITS[kind]}, tuple({tensor}.shape), ml_dtypes.{kind})"
    return f"np.array(request.get_output_tensor(0).data){recast_source(kind)}"


MODULES = """
try:
    from openvino import op, opset1
except ImportError:  # before 2025
    from openvino.runtime import op, opset1
""".strip()


def feed_value_source(name: str, kind: str, small: Sequence[str]) -> str:
    if kind in small:
        return f"packed_tensor({name}, openvino.Type.{PACKED[kind]}, {BITS[kind]})"
    if kind in BY_BITS:
        return f"tensor({name}, openvino.Type.{BY_BITS[kind]})"
    return f"openvino.Tensor({name}.astype(np.{CARRIERS[kind]}))" if kind in CARRIERS else f"openvino.Tensor({name})"


def recast_source(kind: str) -> str:
    """Source that converts an output from its carrier to its own type."""
    return f".view(ml_dtypes.{kind})" if kind in BY_BITS else f".astype(ml_dtypes.{kind})" if kind in CARRIERS else ""


def fake_quantize_source(node: Node, inputs: Sequence[Array], settings: Mapping[str, str], *, constant: bool) -> str:
    """Source that assigns `outputs` and `library` for a FakeQuantize; `constant` as in openvino_fake_quantize."""
    fixed, kind = built_in(node, constant), node.inputs[0].dtype.name
    free = [tensor.name for tensor in node.inputs if tensor.name not in fixed]
    shapes = {tensor.name: list(array.shape) for tensor, array in zip(node.inputs, inputs, strict=True)}
    attributes = "".join(f", {name}={value!r}" for name, value in node.attributes.items())
    return script_part(
        MODULES,
        f"element_type = openvino.Type.{TYPES[kind]}",
        TENSOR,
        *(f"{name}_port = opset1.parameter({shapes[name]}, element_type)" for name in free),
        *(f"{name}_port = op.Constant(tensor({name}, element_type))" for name in shapes if name in fixed),
        f"ports = [{', '.join(f'{name}_port' for name in shapes)}]",
        f"operation = opset1.fake_quantize(*ports{attributes})",
        f"inputs = [{', '.join(f'{name}_port' for name in free)}]",
        'model = openvino.Model([opset1.result(operation)], inputs, "fake_quantize")',
        f'compiled = openvino.Core().compile_model(model, "CPU", {json.dumps(settings)})',
        "request = compiled.create_infer_request()",
        CALL,
        f"request.infer([tensor(array, element_type) for array in ({''.join(f'{name}, ' for name in free)})])",
        f"outputs = (np.array(request.get_output_tensor(0).data){recast_source(kind)},)",
    )


def script_part(*parts: str) -> str:
    return with_imports("\n".join((*(part for part in parts if part), LIBRARY, "")))
