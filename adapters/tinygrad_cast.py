"""onnx.Cast as tinygrad's `Tensor.cast`.

tinygrad documents that it converts, no rule, and the method takes no attributes but the type. To its types of float 8
it saturates, infinities too. So those nodes are run that say so. It has no integers of fewer than 8 bits. Tensors of
types that NumPy lacks are made and read by `Tensor.bitcast` of integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import check_cast
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.reproducer import dtype_source
from tiebreak.golden.elements import NUMPY_OWN
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_cast import ID
from tiebreak.golden.problem import Array

MAPS = {ID: "Tensor.cast: each number converted to the type; the types of float 8 saturate"}
OWN_NAMES = {  # of types that ONNX and ml_dtypes call otherwise
    "float8_e4m3fn": "fp8e4m3",
    "float8_e4m3fnuz": "fp8e4m3fnuz",
    "float8_e5m2": "fp8e5m2",
    "float8_e5m2fnuz": "fp8e5m2fnuz",
}
TYPES = (
    *OWN_NAMES,
    "bfloat16",
    "float16",
    "float32",
    "float64",
    *(f"{u}int{n}" for n in (8, 16, 32) for u in ("", "u")),
)
LINES = """
import os

os.environ["DEV"] = "CPU"
from tinygrad import Tensor, dtypes

# The call.
found = {given}.cast(dtypes.{to})
outputs = ({taken},)
library = "tinygrad"
"""


def check(node: Node, types: Any) -> None:
    """Unsupported for types that tinygrad has not, and for what the method can't be told."""
    for kind in (node.input_type, node.output_type):
        if kind not in TYPES or not hasattr(types, own_name(kind)):
            raise Unsupported(f"tinygrad makes no tensor of {kind}")
    check_cast(node, "tinygrad", {})


def own_name(kind: str) -> str:
    return OWN_NAMES.get(kind, kind)


def words_of(dtype: np.dtype[Any]) -> str:
    """The integers as which a tensor of the type is made and read; empty for a type of NumPy's own."""
    return "" if dtype.name in NUMPY_OWN else f"uint{8 * dtype.itemsize}"


def cast(library: Any, x: Array, dtype: np.dtype[Any]) -> Array:
    words, back = words_of(x.dtype), words_of(dtype)
    given = library.Tensor(x.view(words)).bitcast(own_type(library, x.dtype.name)) if words else library.Tensor(x)
    found = given.cast(own_type(library, dtype.name))
    return np.asarray(found.bitcast(own_type(library, back)).numpy().view(dtype) if back else found.numpy())


def own_type(library: Any, kind: str) -> Any:
    return getattr(library.dtypes, own_name(kind))


def compiled(library: Any, node: Node) -> Run:
    check(node, library.dtypes)
    dtype: np.dtype[Any] = node.outputs[0].dtype
    return lambda x: (cast(library, np.asarray(x, order="C"), dtype),)


def source(node: Node) -> str:
    """Python lines that make the same call; see protocol.Backend."""
    words, back = (words_of(tensor.dtype) for tensor in (node.inputs[0], node.outputs[0]))
    name, own, to = node.inputs[0].name, own_name(node.input_type), own_name(node.output_type)
    given = f'Tensor({name}.view("{words}")).bitcast(dtypes.{own})' if words else f"Tensor({name})"
    of_type = dtype_source(node.output_type)
    taken = f"found.bitcast(dtypes.{back}).numpy().view({of_type})" if back else "found.numpy()"
    return LINES.format(given=given, to=to, taken=taken)
