"""Objects of LiteRT's schema, and the bytes of a model of one operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array

VERSION = 1  # of the operator; the runtime has one kernel for all versions


def one_operator(
    schema: Any, name: str, tensors: Sequence[Any], operator: Any, constants: Sequence[Array] = ()
) -> bytes:
    """The bytes of a model whose first tensor is its input and whose second its output; others are `constants`."""
    import flatbuffers

    number = getattr(schema.BuiltinOperator, name)  # fits the byte of the older field too
    code = schema_object(schema.OperatorCodeT, builtinCode=number, deprecatedBuiltinCode=number, version=VERSION)
    buffers = [schema.BufferT(), *(schema_object(schema.BufferT, data=bytes_of(array)) for array in constants)]
    for place, constant in enumerate(tensors[2:], 1):
        constant.buffer = place
    operator.inputs, operator.outputs = [0, *range(2, len(tensors))], [1]
    graph = schema_object(schema.SubGraphT, tensors=list(tensors), inputs=[0], outputs=[1], operators=[operator])
    model = schema_object(schema.ModelT, version=3, operatorCodes=[code], subgraphs=[graph], buffers=buffers)
    builder = flatbuffers.Builder(512)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def bytes_of(array: Array) -> Array:
    return np.frombuffer(array.tobytes(), np.uint8)


def schema_tensor(schema: Any, element_type: str, shape: Sequence[int], quantization: Any) -> Any:
    number = getattr(schema.TensorType, element_type.upper(), None)
    if number is None:
        raise Unsupported(f"LiteRT's schema has no {element_type}")
    return schema_object(schema.TensorT, shape=list(shape), type=number, hasRank=True, quantization=quantization)


def schema_object(kind: Any, **fields: Any) -> Any:
    """A schema object with these fields. Older releases take no fields in the constructor."""
    new = kind()
    for name, value in fields.items():
        setattr(new, name, value)
    return new
