"""Answers Tiebreak from a program of its own: `serve(backend)`, for `tiebreak run -b "exec:python3 my_program.py"`.

This file may be copied and used alone, under any name. It needs Python 3.7 or later and NumPy, and ml_dtypes only for
types that NumPy lacks. docs/external-programs.md specifies the frames.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

try:
    from tiebreak.golden.errors import Unsupported  # pyright: ignore[reportAssignmentType] - of another class below
except ImportError:  # this file alone, without Tiebreak

    class Unsupported(Exception):  # type: ignore # noqa: N818 - the name in the backend protocol
        """Raised by a backend's compile() or run() for what it cannot do; its text is shown as the reason."""


PROTOCOL = 1
# fmt: off
PLAIN = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
         "float16", "float32", "float64")
# fmt: on
WIDER = {"int48": "int64"}  # travels as a type of more bits
# Types of fewer than 8 bits travel one element per byte: the byte's type, and the least and greatest value in it.
SMALL = {
    "bool": ("uint8", 0, 1),
    "int2": ("int8", -2, 1),
    "uint2": ("uint8", 0, 3),
    "int4": ("int8", -8, 7),
    "uint4": ("uint8", 0, 15),
    "float6_e3m2fn": ("uint8", 0, 63),  # its bits
    "float6_e2m3fn": ("uint8", 0, 63),
    "float4_e2m1fn": ("uint8", 0, 15),
}


class TensorType(NamedTuple):
    """The name and element type of one input or output; shapes are free."""

    name: str
    dtype: np.dtype[Any]


class Node(NamedTuple):
    """The argument of compile(); see docs/writing-a-backend.md. `constants` is empty: all inputs come at run time."""

    operator: str
    opset: int
    attributes: Mapping[str, Any]
    inputs: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    constants: Mapping[str, Any]


def serve(backend: Any) -> None:
    """Answer the requests on standard input until it ends.

    `backend` is described in docs/writing-a-backend.md: it has name, version and compile(node). operators, claims,
    maps, configuration_of and attest() are optional; attest() is called before the first node. Whatever is printed goes
    to standard error.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    compiled: dict[int, Any] = {}
    for line in iter(requests.readline, b""):
        request = json.loads(line.decode())
        inputs = [read_tensor(requests, tensor) for tensor in request.get("tensors", ())]
        reply, outputs = answer(backend, compiled, request, inputs)
        write_frame(answers, {"id": request["id"], **reply}, outputs)


def answer(
    backend: Any, compiled: dict[int, Any], request: Mapping[str, Any], inputs: Sequence[Any]
) -> tuple[dict[str, Any], list[Any]]:
    """The reply's header and tensors."""
    try:
        if request["request"] == "hello":
            return hello(backend, request["protocol"]), []
        if request["request"] == "compile":
            compiled[request["id"]] = backend.compile(parse_node(request["node"]))
            return {"status": "ok"}, []
        return {"status": "ok"}, output_arrays(compiled[request["node"]](*inputs))
    except Unsupported as reason:
        return {"status": "unsupported", "message": str(reason)}, []
    except BaseException as error:  # a backend's code may raise anything
        return {"status": "error", "message": f"{type(error).__name__}: {error}"}, []


def hello(backend: Any, protocol: int) -> dict[str, Any]:
    if protocol != PROTOCOL:
        raise Unsupported(f"this program speaks protocol {PROTOCOL}, not {protocol}")
    operators = getattr(backend, "operators", None)
    return {
        "status": "ok",
        "name": text_or_null(backend.name),
        "version": text_or_null(backend.version),
        "protocol": PROTOCOL,
        "operators": None if operators is None else sorted(operators),
        "claims": dict(getattr(backend, "claims", {})),
        "maps": dict(getattr(backend, "maps", {})),
        "library": getattr(backend, "configuration_of", ""),
        "attestation": {str(key): str(value) for key, value in dict(getattr(backend, "attest", dict)()).items()},
    }


def text_or_null(value: Any) -> Any:
    """The value if it is text, else None, so that Tiebreak reports it as missing."""
    return value if isinstance(value, str) else None


def parse_node(data: Mapping[str, Any]) -> Node:
    attributes = {name: tuple(v) if isinstance(v, list) else v for name, v in data["attributes"].items()}
    inputs, outputs = (
        tuple(TensorType(tensor["name"], dtype_named(tensor["dtype"])) for tensor in data[side])
        for side in ("inputs", "outputs")
    )
    return Node(data["operator"], data["opset"], attributes, inputs, outputs, {})


def output_arrays(outputs: Any) -> list[Any]:
    """The outputs as arrays. TypeError unless they are a tuple of arrays."""
    if not isinstance(outputs, (tuple, list)) or not all(isinstance(o, (np.ndarray, np.generic)) for o in outputs):
        raise TypeError(f"run() returned {type(outputs).__name__}, not a tuple of numpy arrays")
    return [np.asarray(output) for output in outputs]


def dtype_named(name: str) -> np.dtype[Any]:
    """The dtype with this name. Unsupported if it needs ml_dtypes and that is not installed."""
    if name in PLAIN or name in WIDER:
        return np.dtype(WIDER.get(name, name))
    try:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
    except (ImportError, AttributeError, TypeError):
        raise Unsupported(f"element type {name}: neither NumPy's nor of an ml_dtypes that is installed here") from None


def read_tensor(stream: BinaryIO, tensor: Mapping[str, Any]) -> Any:
    dtype = dtype_named(tensor["dtype"])
    return array_from_words(dtype, tensor["shape"], stream.read(int(np.prod(tensor["shape"])) * dtype.itemsize))


def array_from_words(dtype: np.dtype[Any], shape: Sequence[int], data: bytes | bytearray) -> Any:
    """A new array from raw little-endian words. ValueError for a byte that is no value of a smaller type."""
    words = np.frombuffer(data, f"<u{dtype.itemsize}").astype(f"u{dtype.itemsize}")
    if dtype.name not in SMALL:
        return words.view(dtype).reshape(shape)
    carrier, lowest, highest = SMALL[dtype.name]
    values = words.view(carrier)
    if values.size and not (lowest <= values.min() and values.max() <= highest):
        raise ValueError(f"a byte that is no {dtype.name}, which has {lowest} to {highest}")
    return (values.view(dtype) if dtype.name.startswith("float") else values.astype(dtype)).reshape(shape)


def raw(array: Any) -> bytes:
    """The elements as little-endian words in C order; types of fewer than 8 bits take one byte per element."""
    if array.dtype.name in SMALL and not array.dtype.name.startswith("float"):
        array = array.astype(SMALL[array.dtype.name][0])
    size = array.dtype.itemsize
    return bytes(np.ascontiguousarray(array).view(f"u{size}").astype(f"<u{size}").tobytes())


def tensor_headers(arrays: Sequence[Any]) -> list[dict[str, Any]]:
    """The "tensors" of a header: each array's dtype and shape."""
    return [{"dtype": array.dtype.name, "shape": list(array.shape)} for array in arrays]


def write_frame(stream: BinaryIO, header: Mapping[str, Any], arrays: Sequence[Any]) -> None:
    line = json.dumps({**header, "tensors": tensor_headers(arrays)}) + "\n"
    stream.write(b"".join([line.encode(), *map(raw, arrays)]))
    stream.flush()
