"""OpenVINO's FakeQuantize: a model of that one operation, built by the library's own API, compiled for the CPU plugin.

The limits are constants, as they are in every model that was quantized: the plugin then computes another way than where
they are inputs, which only its reference kernel takes. So each set of limits is compiled anew. Of a node with constants
of its own those are built in, and the rest are inputs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

MOST_COMPILED = 64  # models kept for each node
TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}

Compile = Callable[[Any], Any]  # a model to a compiled one; Unsupported with the runtime's message


def compile_fake_quantize(library: Any, node: Node, compile_model: Compile, *, constant: bool = True) -> Run:
    """A callable for the node; `constant=False` makes the limits of a node without constants inputs of the model."""
    compiled: OrderedDict[Any, Any] = OrderedDict()

    def run(*inputs: Array) -> tuple[Array, ...]:
        fixed = built_in(node, constant)
        given = zip(node.inputs, inputs, strict=True)
        key = tuple((a.shape, a.tobytes() if tensor.name in fixed else b"") for tensor, a in given)
        if key not in compiled:
            compiled[key] = compile_model(model_of(library, node, inputs, fixed))
            if len(compiled) > MOST_COMPILED:
                compiled.popitem(last=False)
        compiled.move_to_end(key)
        fed = [a for tensor, a in zip(node.inputs, inputs, strict=True) if tensor.name not in fixed]
        return (infer(library, compiled[key], fed),)

    return run


def built_in(node: Node, constant: bool) -> set[str]:
    """The names of the inputs that are constants of the model."""
    return {tensor.name for tensor in node.inputs[1:]} if constant and not node.constants else set(node.constants)


def model_of(library: Any, node: Node, inputs: Sequence[Array], fixed: set[str]) -> Any:
    """The inputs that are not fixed as parameters of static shapes; one FakeQuantize; one result."""
    op, operations = operator_modules()
    parameters, sources = [], []
    for kind, array in zip(node.inputs, inputs, strict=True):
        if kind.name in fixed:
            sources.append(op.Constant(tensor_of(library, array)))
        else:
            sources.append(operations.parameter(list(array.shape), element_type(library, array)))
            parameters.append(sources[-1])
    rule = node.attributes.get("auto_broadcast", "numpy")
    try:
        operation = operations.fake_quantize(*sources, node.attributes["levels"], rule)
        return library.Model([operations.result(operation)], parameters, "fake_quantize")
    except (RuntimeError, TypeError, OverflowError) as error:
        raise Unsupported(str(error)) from None


def operator_modules() -> tuple[Any, Any]:
    """openvino.op and openvino.opset1, which releases before 2025 have in openvino.runtime."""
    try:
        from openvino import op, opset1
    except ImportError:
        older = import_module("openvino.runtime")
        op, opset1 = older.op, older.opset1
    return op, opset1


def element_type(library: Any, array: Array) -> Any:
    return getattr(library.Type, TYPES[array.dtype.name])


def tensor_of(library: Any, array: Array) -> Any:
    """A tensor with the array's bits; the library's own arrays of bfloat16 have another name for it."""
    tensor = library.Tensor(element_type(library, array), list(array.shape))
    own = tensor.data
    own[...] = np.ascontiguousarray(array).view(own.dtype).reshape(own.shape)
    return tensor


def infer(library: Any, compiled: Any, inputs: list[Array]) -> Array:
    request = compiled.create_infer_request()
    try:
        request.infer([tensor_of(library, array) for array in inputs])
    except RuntimeError as error:
        raise Unsupported(str(error)) from None
    tensor = request.get_output_tensor(0)
    name = next(name for name, short in TYPES.items() if tensor.element_type == getattr(library.Type, short))
    data = np.array(tensor.data)
    own: Array = np.ascontiguousarray(data).view(DTYPES[name]).reshape(data.shape)
    return own
