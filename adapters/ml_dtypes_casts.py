"""ml_dtypes: Cast by `array.astype`, for the element types that NumPy lacks; of blocks, see ml_dtypes_blocks.

astype takes no attributes. To a float 8 type it rounds to nearest, ties to even, and does not saturate. To
float8_e8m0fnu it goes to the nearest power of two, halfway up; zero, infinities and what is beyond become NaN. So the
nodes are run that say so: saturate 0, and round_mode nearest. No attribute says how a float becomes an integer, where
astype truncates, or what NaN is in float4_e2m1fn: those nodes are run as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.adapters import ml_dtypes_blocks
from tiebreak.adapters.inexpressible import UNSATURATED, check_cast
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.reproducer import dtype_source
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import ocp_mx_quantize, onnx_cast
from tiebreak.golden.problem import Array


class MlDtypes:
    name = "ml_dtypes"
    version: str = ml_dtypes.__version__
    maps: Mapping[str, str] = {
        onnx_cast.ID: "array.astype: each number rounded to the type, without saturation",
        ocp_mx_quantize.ID: ml_dtypes_blocks.MAPS,
    }

    def compile(self, node: Node) -> Run:
        if node.operator == ocp_mx_quantize.ID:
            return ml_dtypes_blocks.compile_blocks(node)
        if node.operator != onnx_cast.ID:
            raise Unsupported(f"ml_dtypes has no {node.operator}, only {onnx_cast.ID} and {ocp_mx_quantize.ID}")
        check_cast(node, "ml_dtypes", UNSATURATED)
        dtype: np.dtype[Any] = node.outputs[0].dtype

        def run(x: Array) -> tuple[Array, ...]:
            try:
                with np.errstate(all="ignore"):
                    return (x.astype(dtype),)
            except TypeError as refusal:  # there is no cast between some of its types
                raise Unsupported(str(refusal)) from None

        return run

    def reproducer(self, node: Node, inputs: Sequence[Array]) -> str:
        """Python lines that make the same call; see protocol.Backend."""
        if node.operator == ocp_mx_quantize.ID:
            return ml_dtypes_blocks.source(node)
        call = f"{node.inputs[0].name}.astype({dtype_source(node.output_type)})"
        return (
            'import ml_dtypes\n\nlibrary = f"ml_dtypes {ml_dtypes.__version__}"\n'
            f'with np.errstate(all="ignore"):\n    outputs = ({call},)\n'
        )

    def attest(self) -> dict[str, str]:
        return {"library": str(ml_dtypes.__file__), "ml_dtypes": self.version, "numpy": np.__version__}
