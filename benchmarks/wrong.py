"""A backend that is wrong at ties, to have discrepancies to report."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.protocol import Run
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node


class TiesUpward:
    name = "ties-upward"
    version = "1"
    operators = frozenset({"onnx.QuantizeLinear"})

    def compile(self, node: Node) -> Run:
        if node.outputs[0].dtype not in (np.int8, np.uint8) or set(node.attributes) - {"axis"}:
            raise Unsupported("8 bits only")
        ends = np.iinfo(node.outputs[0].dtype)

        def run(x: Any, scale: Any, zero_point: Any = 0) -> tuple[Any, ...]:
            if np.ndim(scale):
                raise Unsupported("one scale only")
            with np.errstate(all="ignore"):
                q = np.floor(np.asarray(x / scale, np.float64) + 0.5) + zero_point
                return (np.clip(np.nan_to_num(q), ends.min, ends.max).astype(node.outputs[0].dtype),)

        return run
