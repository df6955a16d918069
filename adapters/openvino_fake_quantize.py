"""OpenVINO's FakeQuantize: a model of that one operation, built with the library's own API for the CPU plugin.

The limits are constants, as in real quantized models, so each set of limits is compiled anew. With limits as inputs the
plugin would use its reference kernel, which computes differently. If a node has constants of its own, those are built
in and the rest are inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.adapters.protocol import Run
from tiebreak.adapters.recent import Recent
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

TYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}

Compile = Callable[[Any], Any]  # compiles a model; Unsupported with the runtime's message


def compile_fake_quantize(
    library: Any, node: Node, compile_model: Compile, models: Recent, *, constant: bool = True
) -> Run:
    """A callable for the node. With `constant=False` the limits are model inputs, unless the node has constants."""

    def run(*inputs: Array) -> tuple[Array, ...]:
        fixed = built_in(node, constant)
        given = zip(node.inputs, inputs, strict=True)
        key = node.key, tuple((a.shape, a.tobytes() if tensor.name in fixed else b"") for tensor, a in given)
        model = models.get(key, lambda: compile_model(fake_quantize_model(library, node, inputs, fixed)))
        fed = [a for tensor, a in zip(node.inputs, inputs, strict=True) if tensor.name not in fixed]
        return (infer(library, model, fed),)

    return run


def built_in(node: Node, constant: bool) -> set[str]:
    """The names of the inputs that are constants of the model."""
    return {tensor.name for tensor in node.inputs[1:]} if constant and not node.constants else set(node.constants)


def fake_quantize_model(library: Any, node: Node, inputs: Sequence[Array], fixed: set[str]) -> Any:
    """A model of one FakeQuantize and one result. Inputs that are not fixed are parameters of static shape."""
    op, operations = operator_modules()
    parameters, sources = [], []
    for kind, array in zip(node.inputs, inputs, strict=True):
        if kind.name in fixed:
            sources.append(op.Constant(openvino_tensor(library, array)))
        else:
            sources.append(operations.parameter(list(array.shape), element_type(library, array)))
            parameters.append(sources[-1])
    try:
        operation = operations.fake_quantize(*sources, **node.attributes)
        return library.Model([operations.result(operation)], parameters, "fake_quantize")
    except (RuntimeError, TypeError, OverflowError) as error:
        raise Unsupported(str(error)) from None


def operator_modules() -> tuple[Any, Any]:
    """openvino.op and openvino.opset1; before 2025 they were in openvino.runtime."""
    try:
        from openvino import op, opset1
    except ImportError:
        older = import_module("openvino.runtime")
        op, opset1 = older.op, older.opset1
    return op, opset1


def element_type(library: Any, array: Array) -> Any:
    return getattr(library.Type, TYPES[array.dtype.name])


def openvino_tensor(library: Any, array: Array) -> Any:
    """A tensor with the array's bits. The library's own bfloat16 arrays have another dtype."""
    tensor = library.Tensor(element_type(library, array), list(array.shape))
    own = tensor.data
    own[...] = np.ascontiguousarray(array).view(own.dtype).reshape(own.shape)
    return tensor


def infer(library: Any, compiled: Any, inputs: list[Array]) -> Array:
    request = compiled.create_infer_request()
    try:
        request.infer([openvino_tensor(library, array) for array in inputs])
    except RuntimeError as error:
        raise Unsupported(str(error)) from None
    tensor = request.get_output_tensor(0)
    name = next(name for name, short in TYPES.items() if tensor.element_type == getattr(library.Type, short))
    data = np.array(tensor.data)
    own: Array = np.ascontiguousarray(data).view(DTYPES[name]).reshape(data.shape)
    return own
