"""A backend that returns at once, to see what passing cases to it and back costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.adapters.protocol import Run
from tiebreak.golden.nodes import Node


class AtOnce:
    name = "at-once"
    version = "1"
    operators = frozenset({"ngraph.Quantize"})

    def compile(self, node: Node) -> Run:
        dtype = node.outputs[0].dtype

        def run(x: Any, *others: Any) -> tuple[Any, ...]:
            return (np.zeros(x.shape, dtype),)

        return run
