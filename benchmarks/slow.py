"""A right backend that takes its time: a quarter of a second of the processor for 2^20 elements, 40 ms at least."""

from __future__ import annotations

import time
from typing import Any

from tiebreak.adapters.numpy_naive import NumpyNaive
from tiebreak.adapters.protocol import Run
from tiebreak.golden.nodes import Node

LEAST, EACH = 40e-3, 250e-9  # seconds


class Slow(NumpyNaive):
    name = "slow"

    def compile(self, node: Node) -> Run:
        quick = super().compile(node)

        def run(*inputs: Any) -> tuple[Any, ...]:
            end = time.thread_time() + max(LEAST, EACH * inputs[0].size)
            outputs = quick(*inputs)
            while time.thread_time() < end:
                pass
            return outputs

        return run
