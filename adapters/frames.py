"""Frames: one JSON header line, then the raw little-endian tensors that it announces.

Nothing is pickled or evaluated. The sizes of header and tensors are bounded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.problem import Array

LONGEST_HEADER = 1 << 20
MOST_BYTES = 1 << 31
TYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
)
EXTENSION_TYPES = (
    "bfloat16",
    "int4",
    "uint4",
    "int2",
    "uint2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e3m2fn",
    "float6_e2m3fn",
    "float4_e2m1fn",
)


class BrokenFrame(Exception):  # noqa: N818 - describes the frame
    """The received data is not a frame."""


def encode_frame(header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> bytes:
    """Header line and tensors as bytes. 4-bit types take a byte per element, as in ml_dtypes."""
    described = [{"dtype": name_of(array.dtype), "shape": list(array.shape)} for array in arrays]
    line = json.dumps({**header, "tensors": described}).encode() + b"\n"
    return b"".join([line, *(np.ascontiguousarray(array).tobytes() for array in arrays)])


def decode_frame(
    read_line: Callable[[], bytes], read_bytes: Callable[[int], bytes]
) -> tuple[dict[str, Any], list[Array]]:
    """The next frame. Raises BrokenFrame if it isn't one."""
    try:
        header = json.loads(read_line())
        tensors = header.pop("tensors")
        return header, [decode_tensor(tensor, read_bytes) for tensor in tensors]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BrokenFrame(f"not a frame: {error}") from None


def decode_tensor(tensor: Mapping[str, Any], read_bytes: Callable[[int], bytes]) -> Array:
    dtype, shape = dtype_named(tensor["dtype"]), [int(size) for size in tensor["shape"]]
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize > MOST_BYTES:
        raise ValueError(f"a tensor of shape {shape}")
    # A copy, so that a backend may write into its inputs.
    return np.frombuffer(read_bytes(count * dtype.itemsize), dtype).reshape(shape).copy()


@lru_cache(maxsize=256)
def name_of(dtype: np.dtype[Any]) -> str:
    """The dtype's name, which NumPy makes anew each time."""
    return str(dtype.name)


@lru_cache(maxsize=256)
def dtype_named(name: str) -> np.dtype[Any]:
    """The dtype with this name. ValueError unless frames may hold it: no objects, no strings. MissingType."""
    if name in TYPES:
        return np.dtype(name)
    if name in EXTENSION_TYPES:
        return numpy_dtype(name)
    raise ValueError(f"element type {name!r} is none of {', '.join(TYPES + EXTENSION_TYPES)}")
