"""onnx.Cast as `jax.lax.convert_element_type`, which `array.astype` calls.

JAX documents it as similar to a C++ static_cast, and it takes no attributes. To a float 8 type it rounds to nearest,
ties to even, and does not saturate; to float8_e8m0fnu it goes to the nearest power of two. So the nodes are run that
say so: saturate 0, and round_mode nearest. No attribute says how a float becomes an integer, where it truncates.
"""

from __future__ import annotations

from typing import Any

from tiebreak.adapters.inexpressible import UNSATURATED, check_cast
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.reproducer import dtype_source
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import onnx_cast

MAPS = {onnx_cast.ID: "lax.convert_element_type: each number rounded to the type, without saturation"}
WIDE = "float64"


def check(node: Node) -> None:
    """Raise Unsupported for attributes that the function has no words for, and for float64."""
    check_cast(node, "JAX", UNSATURATED)
    if WIDE in (node.input_type, node.output_type):
        raise Unsupported("JAX makes float32 of float64 unless jax_enable_x64 is set; it is shipped without")


def formula(library: Any, node: Node) -> Run:
    dtype = node.outputs[0].dtype
    return lambda x: library.lax.convert_element_type(x, dtype)


def formula_source(node: Node) -> str:
    return f"jax.lax.convert_element_type({node.inputs[0].name}, {dtype_source(node.output_type)})"
