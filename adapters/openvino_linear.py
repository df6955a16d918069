"""OpenVINO's QuantizeLinear and DequantizeLinear: ONNX models of static shape through its ONNX front end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters.onnx_models import linear_model, linear_node
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# Types of 2 and 4 bits enter and leave through Cast nodes, those of BY_BITS as bits with OpenVINO's name of the type.
CARRIERS = {"int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8"}
BY_BITS = {"bfloat16": "bf16", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "float8_e8m0fnu": "f8e8m0"}


def compile_linear(library: Any, node: Node, compile_for: Callable[[bytes], Any], models: Recent) -> Run:
    """A run that compiles a model for each set of shapes: static shapes are what the plugin does best."""
    linear = linear_node(node)

    def run(*inputs: Array) -> tuple[Array, ...]:
        shapes = tuple(array.shape for array in inputs)
        model = models.get((node.key, shapes), lambda: compile_for(model_for(node, inputs).SerializeToString()))
        # The front end drops inputs of which only the type matters.
        used = {port.get_any_name() for port in model.inputs}
        feeds = {
            name: carried_tensor(library, a) for name, a in zip(linear.names, inputs, strict=False) if name in used
        }
        request = model.create_infer_request()
        try:
            request.infer(feeds)
        except RuntimeError as error:
            raise Unsupported(str(error)) from None
        return (output_array(request.get_output_tensor(0), linear.output),)

    return run


def model_for(node: Node, inputs: Sequence[Array]) -> Any:
    """An onnx.ModelProto with the inputs' shapes and the node's constants as initializers."""
    return linear_model(linear_node(node), CARRIERS, [array.shape for array in inputs], node.constants)


def carried_tensor(library: Any, array: Array) -> Any:
    """A tensor of the array's values. Types that NumPy lacks use their carrier or their bits."""
    name = array.dtype.name
    if name in CARRIERS:
        return library.Tensor(np.asarray(array.astype(CARRIERS[name]), order="C"))
    if name not in BY_BITS:
        known = ("float32", "float16", "int8", "uint8", "int16", "uint16", "int32")
        if name not in known:
            raise Unsupported(f"OpenVINO's Python API makes no tensor of {name}")
        return library.Tensor(np.asarray(array, order="C"))
    made = library.Tensor(getattr(library.Type, BY_BITS[name]), list(array.shape))
    words = np.asarray(array, order="C").view(f"uint{8 * array.dtype.itemsize}")
    made.data[...] = words.view(made.data.dtype)
    return made


def output_array(output: Any, name: str) -> Array:
    """A copy of an output tensor; for a type that NumPy lacks, from its bits."""
    found, dtype = np.array(output.data), numpy_dtype(name)
    return found.view(dtype) if name in BY_BITS and found.dtype != dtype else found.astype(dtype, copy=False)
