"""What is observed where a document is silent tells a NaN input from a NaN range."""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.observations import operand_names, situation_by_operands, situation_of
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problems import problems_of

ORDINARY = "ordinary operands"


def test_situations_name_the_operands_that_are_nan_or_infinite() -> None:
    node = make_node("tensorflow.QuantizeV2", real="float32", quantized="int8", attributes={"T": "int8", "axis": 0})
    values = ([1, np.nan, np.inf, 3, 0], [0, 0, np.nan, np.nan, -np.inf], [1, 1, 1, np.nan, np.inf])
    case = Case("observed", node, tuple(np.array(row, np.float32) for row in values))
    chunk = Chunk((case,))
    output, output_min, _ = (situation_by_operands(p, operand_names(chunk, p)).tolist() for p in problems_of(case))
    ranges = ["NaN: min_range", "NaN: min_range, max_range", "infinite: min_range, max_range"]
    assert output == [ORDINARY, "NaN: input", *ranges]
    assert output_min == [ORDINARY, ORDINARY, *ranges]


def test_a_range_without_width_and_a_scale_that_rounds_to_0_have_names() -> None:
    """ODQ-U1 and ODQ-U3; NaN goes before, and other ranges stay ordinary."""
    node = make_node("onnx.DynamicQuantizeLinear", real="float32", quantized="uint8")
    wanted = {
        "range of width 0": [0.0, -0.0, 0.0],
        "scale rounds to 0": [0.0, 1e-44, 2e-45],
        "NaN: x, min, max": [np.nan],
        ORDINARY: [0.0, 255e-44, 1.0],
    }
    for name, values in wanted.items():
        case = Case("observed", node, (np.array(values, np.float32),))
        found = [situation_of(Chunk((case,)), problem) for problem in problems_of(case)]
        assert {*found[0]} == {name} and found[1].size == found[2].size == 1
        assert {*found[1], *found[2]} == {name.replace("x, ", "")}
