"""QLinearConv of ONNX's reference: w_scale stands along the first axis of an image with three, if sizes allow it."""

from __future__ import annotations

import numpy as np
from causes_of_records import causes_of

from tiebreak.adapters.onnx_reference import OnnxReference
from tiebreak.conformance.operators.onnx_qlinear_conv_mistakes import MISTAKES
from tiebreak.conformance.semantics.causes import JOINT, sentence_of
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array

NODE = make_node("onnx.QLinearConv", real="uint8", quantized="uint8", zero_point=False)
KEY = f"along-depth:w_scale{JOINT}zero-point-first-in:float64, by one factor"
SCALES = [0.5, 2.0]


def inputs_of(depth: int, scales: list[float], seed: int = 3) -> tuple[Array, ...]:
    """Images of depth x 1 x 1 beside kernels 1 and 3 of one weight; w's zero point is 0, y's is 7."""
    zero, one = np.zeros((), np.uint8), np.array(1, np.float32)
    x = (np.arange(depth) * seed + 4).astype(np.uint8).reshape(1, 1, depth, 1, 1)
    w = np.array([1, 3], np.uint8).reshape(2, 1, 1, 1, 1)
    return x, one, zero, w, np.array(scales, np.float32), np.zeros(2, np.uint8), one, np.array(7, np.uint8)


def reference(node: Node, *inputs: Array) -> tuple[Array, ...]:
    return OnnxReference().compile(node)(*inputs)


def test_an_element_takes_the_scale_of_its_depth() -> None:
    """4 and 7 times 1 or 3: by their channels' scales 2, 3.5 and 24, 42; by the depth's 2, 14 and 6, 42."""
    inputs = inputs_of(2, SCALES)
    (found,) = reference(NODE, *inputs)
    assert found.reshape(2, 2).tolist() == [[9, 21], [13, 49]]
    (given,) = {cause.id: run for cause, run in MISTAKES}["along-depth:w_scale"](NODE, *inputs)
    assert given.tolist() == found.tolist()


def test_it_is_the_cause_and_no_other() -> None:
    scales = (SCALES, [0.3, 1.7], [0.02, 0.9], [1.1, 0.07])
    cases = [Case(str(n), NODE, inputs_of(2, one, n + 3), "typed") for n, one in enumerate(scales)]
    found = set(causes_of(reference, cases))
    assert found and found <= {sentence_of(KEY), sentence_of("along-depth:w_scale")}
