"""Usual mistakes of `onnx.ConvInteger` as small NumPy backends."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.onnx_convolution_steps import STEPS, SumSteps
from tiebreak.conformance.operators.wrong_steps import pairs_of_steps, single_steps
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_conv_integer import POINTS
from tiebreak.golden.problem import Array
from tiebreak.golden.products import points_of_both


def pipeline(**steps: Any) -> Mistake:
    """A backend with these steps; the right ones otherwise."""
    own = SumSteps(**steps)

    def run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        points = points_of_both(node, inputs, POINTS)
        sums, windows, _ = own.sums(node, inputs[0], inputs[1], *points)
        return (sums.astype(np.int32).reshape(windows.shape),)

    return run


MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, STEPS)
