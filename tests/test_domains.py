"""The domain of an element and of a case, and what a root cause makes of it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.samples.tensorflow_uniform import ends_of, range_of
from tiebreak.golden.verdicts import DOMAINS
from tiebreak.reports.severity import leading_domain, leading_share, severity, severity_rank, share_text

FLOAT = np.float32


def domains(operator: str, *inputs: Any, **node: Any) -> list[str]:
    case = Case("c", make_node(operator, **node), tuple(np.asarray(array) for array in inputs))
    return [DOMAINS[number] for number in Chunk((case,)).domains]


def quantized(x: float, scale: float, dtype: Any = FLOAT) -> str:
    (found,) = domains("onnx.QuantizeLinear", dtype([x]), dtype(scale), np.uint8(0), real=np.dtype(dtype).name)
    return found


@pytest.mark.parametrize(
    ("x", "scale", "domain"),
    [
        (0.0, 1.0, "calibrated"),
        (65536.0, 1.0, "calibrated"),
        (65537.0, 1.0, "edge"),
        (2.0**-20, 2.0**-20, "calibrated"),
        (0.0, 2.0**-21, "edge"),
        (0.0, 1024.0, "calibrated"),
        (0.0, 1025.0, "edge"),
        (1.0, -1.0, "edge"),
        (1e30, 1.0, "edge"),
        (1e-45, 1.0, "pathological"),
        (1.0, 1e-45, "pathological"),
        (1.0, 0.0, "pathological"),
        (np.inf, 1.0, "pathological"),
        (np.nan, 1.0, "pathological"),
    ],
)
def test_quantized_inputs_and_scales(x: float, scale: float, domain: str) -> None:
    assert quantized(x, scale) == domain


def test_subnormals_are_those_of_the_operands_own_type() -> None:
    assert quantized(2.0**-20, 1.0, np.float16) == "pathological"
    assert quantized(2.0**-20, 1.0) == "calibrated"
    small = np.array([2.0**-9], ml_dtypes.float8_e4m3fn)  # subnormal, in a type that no processor flushes
    found = domains("onnx.DequantizeLinear", small, FLOAT(1), quantized="float8_e4m3fn", zero_point=False)
    assert found == ["calibrated"]


def test_a_dequantized_integer_counts_from_its_zero_point_and_a_subnormal_result_is_pathological() -> None:
    inputs = np.array([60000, 60001, -5537], np.int32), FLOAT(1), np.int32(60000)
    assert domains("onnx.DequantizeLinear", *inputs, quantized="int32") == ["calibrated", "calibrated", "edge"]
    tiny = np.array([1], np.int8), FLOAT(1e-40), np.int8(0)
    assert domains("onnx.DequantizeLinear", *tiny, quantized="int8") == ["pathological"]


@pytest.mark.parametrize("zero_point", [-(2**31), 65537])
def test_a_zero_point_far_from_zero_is_none_that_a_quantizer_chooses(zero_point: int) -> None:
    inputs = np.array([zero_point], np.int32), FLOAT(1), np.int32(zero_point)
    assert domains("onnx.DequantizeLinear", *inputs, quantized="int32") == ["edge"]
    ends = np.array([0], np.int32), FLOAT(1), np.int32(65536)
    assert domains("onnx.DequantizeLinear", *ends, quantized="int32") == ["calibrated"]


def test_a_zero_point_of_a_wide_type_is_one_of_the_integers_that_it_belongs_to() -> None:
    ends = {"quantization_min_val": 0, "quantization_max_val": 255}
    for zero_point, domain in ((255, "calibrated"), (-1, "edge")):
        operands = np.array([1], FLOAT), FLOAT(1), np.int32(zero_point)
        assert domains("tensorflow.UniformQuantize", *operands, quantized="uint8", attributes=ends) == [domain]
    types = {"real": "int32", "quantized": "int8"}
    ranges = range_of(*ends_of("int32"), "input_") | range_of(*ends_of("int8"), "output_")
    for own, other, domain in ((1000, 7, "calibrated"), (7, 1000, "edge")):
        operands = np.array([own], np.int32), FLOAT(1), np.int32(own), FLOAT(1), np.int32(other)
        assert domains("tensorflow.UniformRequantize", *operands, **types, attributes=ranges) == [domain]


def test_a_sum_of_no_products_is_at_the_edge() -> None:
    for size, domain in ((0, "edge"), (1, "calibrated")):
        tensors = np.zeros((1, size), np.uint8), np.zeros((size, 1), np.int8)
        assert domains("onnx.MatMulInteger", *tensors, real="uint8", zero_point=False) == [domain]


def test_a_range_has_a_scale_for_each_pair_of_ends() -> None:
    limits = FLOAT(0), FLOAT(255), FLOAT(0)
    node = {"attributes": {"levels": 256}}
    assert domains("openvino.FakeQuantize", FLOAT([3]), *limits, FLOAT(255), **node) == ["calibrated"]
    assert domains("openvino.FakeQuantize", FLOAT([3]), *limits, FLOAT(1e6), **node) == ["edge"]
    assert domains("openvino.FakeQuantize", FLOAT([3]), *limits, FLOAT(0), **node) == ["pathological"]
    assert domains("tensorflow.FakeQuantWithMinMaxVars", FLOAT([3]), FLOAT(-1), FLOAT(1)) == ["calibrated"]
    found = domains("tensorflow.QuantizeV2", FLOAT([3]), FLOAT(-1e-9), FLOAT(1e-9))
    assert set(found) == {"edge"}


def test_a_case_has_the_worst_domain_of_its_elements() -> None:
    node = make_node("onnx.QuantizeLinear")
    cases = [
        Case(str(k), node, (FLOAT(x), FLOAT(1), np.uint8(0)))
        for k, x in enumerate(([1.0, 2.0], [1.0, 1e30], [1e30, np.nan], []))
    ]
    found = [DOMAINS[number] for number in Chunk(tuple(cases)).case_domains]
    assert found == ["calibrated", "edge", "pathological", "calibrated"]


def share(elements: int, judged: int, farthest: int = 1, boundary: float | None = 0.0) -> dict[str, Any]:
    return {"elements": elements, "judged": judged, "farthest": farthest, "boundary_ulp": boundary}


def test_severity_and_share_come_from_the_calibrated_domain() -> None:
    far = share(50, 100, farthest=200, boundary=None)
    row = {"types": ["float32 to int8"], "elements": 53, "domains": {"calibrated": share(3, 1000), "pathological": far}}
    assert (leading_domain(row), leading_share(row)) == ("calibrated", 0.003)
    assert severity(row) == "wrong by one at ties"
    assert share_text(row) == "0.3 % of calibrated elements", "an older run"
    of_cases = row | {"domains": {"calibrated": share(900, 1000) | {"cases": 1, "judged_cases": 50}}}
    assert (leading_share(of_cases), share_text(of_cases)) == (0.02, "2 % of calibrated cases")
    worst = row | {"domains": {"pathological": far}}
    assert severity(worst) == "wrong value"
    assert share_text(worst) == "pathological only, 50 % of elements"
    assert severity_rank(row) < severity_rank(row | {"domains": {"edge": far}}) < severity_rank(worst)
    assert severity_rank(row | {"domains": {"calibrated": far}}) < severity_rank(row)
