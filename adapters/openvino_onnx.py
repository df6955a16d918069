"""OpenVINO's ONNX operators: models of static shape through its ONNX front end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import CAST, NBITS_CLAIMS, OnnxNode, onnx_model, onnx_node
from tiebreak.adapters.packed_bits import packed, unpacked, used
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Types of 2 and 4 bits enter and leave through Cast nodes, but those of a Cast PACKED; those of BY_BITS as bits. Both
# have OpenVINO's name of the type.
CARRIERS = {"int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8"}
BY_BITS = {"bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "float8_e8m0fnu": "f8e8m0"}

PACKED = {"int4": "i4", "uint4": "u4", "int2": "i2", "uint2": "u2", "float4_e2m1fn": "f4e2m1"}
WHOLE = ("float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32")  # NumPy's own


def compile_onnx(library: Any, node: Node, compile_for: Callable[[bytes], Any], models: Recent) -> Run:
    """A run that compiles a model for each set of shapes: static shapes are what the plugin does best."""
    written = onnx_node(node)

    def run(*inputs: Array) -> tuple[Array, ...]:
        shapes = tuple(array.shape for array in inputs)
        known = [array.tobytes() for array in constants_of(node, inputs).values()]
        model = models.get((node.key, shapes, *known), lambda: compile_for(model_for(node, inputs).SerializeToString()))
        # The front end drops inputs of which only the type matters.
        taken = {port.get_any_name() for port in model.inputs}
        given = {name: a for name, a in zip(written.names, inputs, strict=False) if name in taken}
        feeds = {name: carried_tensor(library, array, packs=packs(written)) for name, array in given.items()}
        request = model.create_infer_request()
        try:
            request.infer(feeds)
        except RuntimeError as error:
            raise Unsupported(str(error)) from None
        first = output_array(request.get_output_tensor(0), written.output, packs=packs(written))
        further = enumerate(written.further, start=1)
        return first, *(output_array(request.get_output_tensor(n), kind, packs=False) for n, (_, kind) in further)

    return run


def model_for(node: Node, inputs: Sequence[Array]) -> Any:
    """An onnx.ModelProto with the inputs' shapes, and with constants as initializers."""
    written = onnx_node(node)
    carriers = {} if packs(written) else CARRIERS
    return onnx_model(written, carriers, [array.shape for array in inputs], constants_of(node, inputs))


def constants_of(node: Node, inputs: Sequence[Array]) -> Mapping[str, Array]:
    """The inputs that are initializers: the node's constants; of MatMulNBits all but A, taken in no other way."""
    if node.operator not in NBITS_CLAIMS:
        return node.constants
    return {tensor.name: array for tensor, array in zip(node.inputs[1:], inputs[1:], strict=False)}


def packs(written: OnnxNode) -> bool:
    """Whether tensors of 2 and 4 bits are the model's own: Cast nodes beside a Cast would be of the tested kind."""
    return written.operator == CAST


def carried_tensor(library: Any, array: Array, *, packs: bool) -> Any:
    """A tensor of the array's values. Types that NumPy lacks are packed or use their carrier or their bits."""
    name = array.dtype.name
    if packs and name in PACKED:
        return filled_tensor(library, array, PACKED[name], used(packed(array), name))
    if name in CARRIERS:
        return library.Tensor(np.asarray(array.astype(CARRIERS[name]), order="C"))
    if name in WHOLE:
        return library.Tensor(np.asarray(array, order="C"))
    if name not in BY_BITS:
        raise Unsupported(f"OpenVINO's Python API makes no tensor of {name}")
    words = np.asarray(array, order="C").view(f"uint{8 * array.dtype.itemsize}")
    return filled_tensor(library, array, BY_BITS[name], words)


def filled_tensor(library: Any, array: Array, kind: str, words: Array) -> Any:
    """A tensor of OpenVINO's type and the array's shape, with these words."""
    if not hasattr(library.Type, kind):
        raise Unsupported(f"openvino {library.__version__} has no type {kind}")
    made = library.Tensor(getattr(library.Type, kind), list(array.shape))
    made.data[...] = words.view(made.data.dtype).reshape(made.data.shape)
    return made


def output_array(output: Any, name: str, *, packs: bool) -> Array:
    """A copy of an output tensor; for a type that NumPy lacks, from its bits."""
    found, dtype = np.array(output.data), numpy_dtype(name)
    if packs and name in PACKED:
        return unpacked(found.reshape(-1).view(np.uint8), name, tuple(output.shape))
    return found.view(dtype) if name in BY_BITS and found.dtype != dtype else found.astype(dtype, copy=False)
