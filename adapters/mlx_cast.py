"""onnx.Cast as MLX's to_fp8 and from_fp8 on the CPU: between float8_e4m3fn and the floats that MLX has on the CPU.

MLX says "fp8 (e4m3)" and documents no rule. The functions take no attributes; to_fp8 saturates, infinities too. So the
nodes are run that say so. MLX holds the type as uint8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import check_cast
from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_cast import ID
from tiebreak.golden.problem import Array, bits_of

MAPS = {ID: "to_fp8 and from_fp8: each number rounded to float8_e4m3fn, which saturates, or read from it"}
FP8 = "float8_e4m3fn"
REALS = ("float32", "float16", "bfloat16")
TO_LINES = """
import mlx.core as mx

given = mx.array({x}.view("uint{bits}")).view(mx.{real}, stream=mx.cpu)
outputs = (np.array(mx.to_fp8(given, stream=mx.cpu)).view(ml_dtypes.float8_e4m3fn),)
library = f"mlx {{mx.__version__}}"
"""
FROM_LINES = """
import mlx.core as mx

# The call.
found = mx.from_fp8(mx.array({x}.view("uint8")), dtype=mx.{real}, stream=mx.cpu)
outputs = (np.array(found.view(mx.uint{bits}, stream=mx.cpu)).view({dtype}),)
library = f"mlx {{mx.__version__}}"
"""


def check(node: Node) -> bool:
    """Whether it is a cast to the type, or one from it; Unsupported for what MLX can't be told."""
    source, target = node.input_type, node.output_type
    if (source == FP8) == (target == FP8) or not {source, target} & set(REALS):
        raise Unsupported(f"MLX has no conversion from {source} to {target}, only between {FP8} and {', '.join(REALS)}")
    check_cast(node, "MLX", {})
    return target == FP8


def compiled(library: Any, node: Node) -> Run:
    to, dtype = check(node), node.outputs[0].dtype

    def run(x: Array) -> tuple[Array, ...]:
        function = to_fp8 if to else from_fp8
        return (np.asarray(function(library, x, dtype)).view(dtype),)

    return run


def to_fp8(library: Any, x: Array, dtype: np.dtype[Any]) -> Array:
    given = library.array(bits_of(x)).view(getattr(library, x.dtype.name), stream=library.cpu)
    return np.asarray(library.to_fp8(given, stream=library.cpu), np.uint8)


def from_fp8(library: Any, x: Array, dtype: np.dtype[Any]) -> Array:
    kind = getattr(library, dtype.name)
    found = library.from_fp8(library.array(bits_of(x)), dtype=kind, stream=library.cpu)
    words = getattr(library, f"uint{8 * dtype.itemsize}")  # NumPy has no bfloat16
    return np.asarray(found.view(words, stream=library.cpu))


def source(node: Node) -> str:
    """Python lines that make the same call; see protocol.Backend."""
    to, name = check(node), node.inputs[0].name
    kind = node.inputs[0].dtype if to else node.outputs[0].dtype
    given = {"x": name, "bits": 8 * kind.itemsize, "real": kind.name}
    plain = f'"{kind.name}"' if kind.name != "bfloat16" else "ml_dtypes.bfloat16"
    return TO_LINES.format(**given) if to else FROM_LINES.format(**given, dtype=plain)
