"""OpenVINO's FakeQuantize: a model of that one operation, built by the library's own API, compiled for the CPU plugin.

The limits are constants, as they are in every model that was quantized: the plugin then computes another way than where
they are inputs, which only its reference kernel takes. So each set of limits is compiled anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
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
    """A callable for the node. `constant=False` makes the limits inputs of the model."""
    compiled: OrderedDict[Any, Any] = OrderedDict()

    def run(x: Array, *limits: Array) -> tuple[Array, ...]:
        key = (x.shape, *((p.shape, p.tobytes() if constant else b"") for p in limits))
        if key not in compiled:
            compiled[key] = compile_model(model_of(library, node, x, limits, constant))
            if len(compiled) > MOST_COMPILED:
                compiled.popitem(last=False)
        compiled.move_to_end(key)
        return (infer(library, compiled[key], [x] if constant else [x, *limits]),)

    return run


def model_of(library: Any, node: Node, x: Array, limits: tuple[Array, ...], constant: bool) -> Any:
    """X and, where they are no constants, the limits as parameters of static shapes; one FakeQuantize; one result."""
    operations = library.opset1
    parameters = [parameter(library, x)]
    sources = []
    for limit in limits:
        source = library.op.Constant(tensor_of(library, limit)) if constant else parameter(library, limit)
        sources.append(source)
        parameters += [] if constant else [source]
    rule = node.attributes.get("auto_broadcast", "numpy")
    try:
        operation = operations.fake_quantize(parameters[0], *sources, node.attributes["levels"], rule)
        return library.Model([operations.result(operation)], parameters, "fake_quantize")
    except (RuntimeError, TypeError, OverflowError) as error:
        raise Unsupported(str(error)) from None


def parameter(library: Any, array: Array) -> Any:
    return library.opset1.parameter(list(array.shape), element_type(library, array))


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
