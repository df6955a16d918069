"""onnx.Cast as PaddlePaddle's `Tensor.cast`, in eager mode.

PaddlePaddle documents that it converts, no rule, and the method takes no attributes but the type. To both of its types
of float 8 it saturates, infinities too. So those nodes are run that say so. It has no integers of fewer than 8 bits.
Tensors of types that NumPy lacks are made and read as views of integers, as are those of bfloat16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.inexpressible import check_cast
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.reproducer import dtype_source
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_cast import ID
from tiebreak.golden.problem import Array

MAPS = {ID: "Tensor.cast: each number converted to the type; both types of float 8 saturate"}
IN_VIEWS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}  # as integers of these types
TYPES = (*IN_VIEWS, "float16", "float32", "float64", "int8", "uint8", "int16", "int32")
LINES = """
import paddle

paddle.set_device("cpu")
# The call.
found = {given}.cast("{to}")
outputs = ({taken},)
library = f"paddle {{paddle.__version__}}"
"""


def check(node: Node) -> None:
    """Unsupported for types that PaddlePaddle has not, and for what the method can't be told."""
    for kind in (node.input_type, node.output_type):
        if kind not in TYPES:
            raise Unsupported(f"PaddlePaddle makes no tensor of {kind}")
    check_cast(node, "PaddlePaddle", {})


def cast(library: Any, x: Array, dtype: np.dtype[Any]) -> Array:
    view, back = IN_VIEWS.get(x.dtype.name), IN_VIEWS.get(dtype.name)
    given = library.to_tensor(x.view(view)).view(x.dtype.name) if view else library.to_tensor(x)
    found = given.cast(dtype.name)
    return np.asarray(found.view(back).numpy().view(dtype) if back else found.numpy())


def compiled(library: Any, node: Node) -> Run:
    check(node)
    dtype: np.dtype[Any] = node.outputs[0].dtype
    return lambda x: (cast(library, np.asarray(x, order="C"), dtype),)


def source(node: Node) -> str:
    """Python lines that make the same call; see protocol.Backend."""
    check(node)
    view, back = IN_VIEWS.get(node.input_type), IN_VIEWS.get(node.output_type)
    name, to = node.inputs[0].name, node.output_type
    given = (
        f'paddle.to_tensor({name}.view("{view}")).view("{node.input_type}")' if view else f"paddle.to_tensor({name})"
    )
    taken = f'found.view("{back}").numpy().view({dtype_source(to)})' if back else "found.numpy()"
    return LINES.format(given=given, to=to, taken=taken)
