"""The oracle gives what is stored: a step that is changed, left out or put elsewhere shows in a golden vector."""

from __future__ import annotations

import numpy as np
import pytest

from tiebreak.golden.builder import all_files, file_name
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vector_results import oracle_results
from tiebreak.golden.vectorfile import VECTORS

# Quantize is the oracle's other half, and FakeQuantWithMinMaxVars has its per-channel form's formula.
TWINS = {"ngraph.Quantize", "tensorflow.FakeQuantWithMinMaxVars"}
# The files of fewest elements that show every step: of results with few and with many bits.
CHOSEN = (
    ("ngraph.Dequantize", "int32", "float16"),
    ("onnx.DequantizeLinear", "uint4", "float16"),
    ("onnx.QLinearConv", "int8", "uint8"),
    ("onnx.QLinearMatMul", "float32", "uint8"),
    ("onnx.QuantizeLinear", "float16", "int8-further"),
    ("onnx.QuantizeLinear", "float16", "float8_e5m2"),
    ("openvino.FakeQuantize", "float16", "float16"),
    ("tensorflow.Dequantize", "uint16", "float32"),
    ("tensorflow.Dequantize", "int8", "bfloat16"),
    ("tensorflow.FakeQuantWithMinMaxVarsPerChannel", "float32", "float32"),
    ("tensorflow.QuantizeAndDequantizeV4", "float16", "float16"),
    ("tensorflow.QuantizeV2", "float32", "int8"),
    ("tensorflow.QuantizeV2", "float32", "int32"),
)
OTHERS = set(OPERATORS) - TWINS - {operator for operator, *_ in CHOSEN}
FILES = (*CHOSEN, *(next(all_files([operator])) for operator in sorted(OTHERS)))


@pytest.mark.few(3)
@pytest.mark.parametrize(("operator", "first", "second"), FILES)
def test_oracle_gives_what_is_stored_in_working_precision(operator: str, first: str, second: str) -> None:
    """By the first mode allowed. What it leaves open is stored as open; where it is the only one, nothing else is."""
    elements, spec = 0, OPERATORS[operator]
    for case in indexed_cases(VECTORS / file_name(operator, first, second)):
        assert case.expected is not None
        modes, known = case.node.modes or ("",), case.expected.working_state != UNDEFINED
        solved = [oracle_results(spec, problem, modes[:1], working=True) for problem in problems_of(case)]
        is_open = np.concatenate([found.is_open for found in solved])
        assert not is_open[known].any(), case.id
        assert len(modes) > 1 or is_open[~known].all(), case.id
        assert np.array_equal(np.concatenate([found.codes for found in solved])[known], case.expected.working[known])
        elements += int(known.sum())
    assert elements > 300


def test_every_operator_but_a_twin_is_here() -> None:
    assert {operator for operator, *_ in FILES} == set(OPERATORS) - TWINS
