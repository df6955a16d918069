"""How far an element lies from a decision boundary, of problems that are no plain division of two floats."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pandas as pd
import pytest

from tiebreak.conformance.cases.recipes import made_by
from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.deviating import add_rounded, deviating_elements
from tiebreak.conformance.submissions.rejudging import told_elements
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Quantization
from tiebreak.reports.severity import severity

E8M0 = ml_dtypes.float8_e8m0fnu
X = np.float32([2.5, 2.75, np.nextafter(np.float32(3.5), np.float32(0)), -7.5, 1e6])
FAR = 2.0**20  # of 2.75 from 2.5, in units in the last place of 2.75


def distances(operator: str, *inputs: Any, **node: Any) -> list[float]:
    arrays = tuple(np.asarray(array) for array in inputs)
    chunk = Chunk((Case("c", make_node(operator, **node), arrays),))
    assert not isinstance(chunk.problems[0][0], Quantization)
    places = np.arange(chunk.size)
    found = deviating_elements(chunk, places, chunk.judged_by.exact, 0)
    add_rounded(found, chunk, places)
    return [float(one) for one in found.boundary_ulp]


@pytest.mark.parametrize("scale", [E8M0(2.0), np.int32(2), np.float16(2.0)])
def test_a_scale_of_another_type_has_distances_too(scale: Any) -> None:
    node = {"real": "float32", "scale": scale.dtype.name, "quantized": "int8", "opset": 25}
    found = distances("onnx.QuantizeLinear", 2 * X, scale, np.int8(1), **node)
    if scale.dtype == np.float16:  # units of a division in float16; some are beyond it
        assert found[:2] == [0, 128] and found[3] == 0
    else:
        assert found == [0, FAR, 1, 0, 8]


def test_blocks_and_an_int32_input_have_them() -> None:
    blocks = {"real": "float32", "quantized": "uint8", "attributes": {"block_size": 2, "axis": 0}}
    scales = np.float32([1, 2, 2])
    assert distances("onnx.QuantizeLinear", X[:1].repeat(5), scales, np.zeros(3, np.uint8), **blocks)[:2] == [0, 0]
    whole = {"real": "int32", "scale": "float32", "quantized": "int8"}
    assert distances("onnx.QuantizeLinear", np.int32([5, 6]), np.float32(2), np.int8(0), **whole) == [0, 2.0**21]


def test_the_number_that_is_rounded_counts() -> None:
    """In PyTorch's formula it is a sum with the zero point, in a cast the input itself."""
    found = distances("torch.quantize_per_tensor", X[:4], np.float32(1), np.int8(3), quantized="int8")
    assert found[0] == 0 and found[3] == 0 and found[1] == 2.0**19
    assert distances("onnx.Cast", np.float32([2.0, 2.75]), real="float32", quantized="int4") == [2.0**21, FAR]


def test_a_real_result_has_none() -> None:
    node = {"real": "float32", "quantized": "int8"}
    assert np.isnan(distances("onnx.DequantizeLinear", np.int8([3]), np.float32(2), np.int8(0), **node)).all()
    small = {"real": "float32", "scale": "float8_e8m0fnu", "quantized": "float8_e4m3fn", "opset": 25}
    zero = np.zeros((), ml_dtypes.float8_e4m3fn)
    assert np.isnan(distances("onnx.QuantizeLinear", X, E8M0(1.0), zero, **small)).all()


def test_ties_of_a_power_of_two_scale_are_no_wrong_value() -> None:
    node = {"real": "float32", "scale": "float8_e8m0fnu", "quantized": "int8", "opset": 25}
    found = distances("onnx.QuantizeLinear", np.float32([1.0, 3.0, -5.0]), E8M0(2.0), np.int8(0), **node)
    row = {"types": ["float32, float8_e8m0fnu to int8"], "farthest": 1, "boundary_ulp": max(found)}
    assert severity(row) == "wrong by one at ties"


def test_a_run_of_another_tiebreak_may_not_know_a_distance() -> None:
    rows = pd.DataFrame({"boundary_ulp": [np.nan, 1.0]})
    one: Any = SimpleNamespace(run=SimpleNamespace(discrepancies=rows), info={"made_by": dict(made_by())})
    assert told_elements(one) is rows
    one.info["made_by"]["sources"] = "others"
    assert told_elements(one)["boundary_ulp"].tolist() == [None, 1.0]
