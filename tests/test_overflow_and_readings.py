"""Working precision where a step overflows, in every operator, and where a document gives a division no type."""

from __future__ import annotations

import math

import numpy as np
import pytest
from answers_of_onnx_linear import DEQUANTIZE as ONNX_DEQUANTIZE
from answers_of_onnx_linear import F8, same, solve
from answers_of_onnx_linear import QUANTIZE as ONNX_QUANTIZE
from answers_of_tensorflow_ranges import WIDTHLESS, case, outputs, values
from answers_of_tensorflow_ranges import D as DEQUANTIZE
from answers_of_tensorflow_ranges import Q as QUANTIZE
from test_tensorflow_fake import PER_CHANNEL, PER_TENSOR, SCALED, answers, array, posed

from tiebreak.conformance.judging.judge import judge_outputs
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden import oracle
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE
from tiebreak.golden.problems import problems_of
from tiebreak.golden.verdicts import DEVIATES, EXACT, UNSPECIFIED, WORKING


def test_what_every_reading_of_a_division_by_int32_gives_is_required() -> None:
    """Numbers, float32, and integers truncated or floored; -9 / 2 is -4 by two of them, -4.5 and -5 by the others."""
    both = {"real": "int32", "scale": "int32", "opset": 21, "quantized": "int8"}
    x = [6, 5, 7, -6, -9, 256, 257, 258, 400, -(2**31)]
    assert solve(ONNX_QUANTIZE, x, 2, 0, **both) == [3, 2, 4, -3, -4, 127, 127, 127, 127, -128]
    assert solve(ONNX_QUANTIZE, x, 2, 0, **both, working=True) == [3, 2, None, -3, None, 127, 127, 127, 127, -128]
    assert solve(ONNX_QUANTIZE, [-(2**31)], -1, 0, **both, working=True) == [None]  # the quotient is no int32
    assert solve(ONNX_QUANTIZE, [3], 0, 0, **both, working=True) == [None]
    mixed = {"scale": "int32", "quantized": "int8"}
    assert solve(ONNX_QUANTIZE, [2.25, 2.75, 3e9], 1, 0, **mixed, working=True) == [2, None, None]
    in_float32 = [(5 << 23) + 1, 5 << 23]
    assert solve(ONNX_QUANTIZE, in_float32, 1 << 24, 0, **both) == [3, 2]
    assert solve(ONNX_QUANTIZE, in_float32, 1 << 24, 0, **both, working=True) == [None, 2]


def test_what_every_reading_of_a_division_by_a_power_of_two_gives_is_required() -> None:
    node = {"scale": "float8_e8m0fnu", "quantized": "uint8"}
    assert solve(ONNX_QUANTIZE, [5.0, 7.0, 1e9], 2.0, 0, **node, working=True) == [2, 4, 255]
    x, half = [60000.0, 30000.0], {"real": "float16", **node}
    assert solve(ONNX_QUANTIZE, x, 65536.0, 0, **half) == [1, 0]
    assert solve(ONNX_QUANTIZE, x, 65536.0, 0, **half, working=True) == [None, 0]  # infinite in float16
    assert solve(ONNX_QUANTIZE, [3.0], 2.0**-30, 0, **half, working=True) == [None]  # zero in float16
    eight = {"scale": "float8_e8m0fnu", "quantized": F8}
    assert same(
        solve(ONNX_QUANTIZE, [math.nan, -math.inf, 3.0], 2.0, 0.0, **eight, working=True), [math.nan, -448, 1.5]
    )
    whole = {"scale": "int32", "quantized": F8}
    assert solve(ONNX_QUANTIZE, [math.inf, 3.0, 4.0], 2, 0.0, **whole, working=True) == [None, None, 2]


def test_a_wrong_result_where_all_readings_agree_deviates() -> None:
    node = make_node(ONNX_QUANTIZE, real="int32", scale="int32", quantized="uint8", opset=21)
    case = Case("c", node, (np.array([6, 7], np.int32), np.array(2, np.int32), np.array(0, np.uint8)))
    truths = truths_of(case)
    for y, grades in (([3, 4], [EXACT, EXACT]), ([3, 3], [EXACT, UNSPECIFIED]), ([4, 5], [DEVIATES, UNSPECIFIED])):
        assert judge_outputs((np.array(y, np.uint8),), truths).grades.tolist() == grades


def test_onnx_steps_that_overflow_go_on_as_ieee_has_it() -> None:
    """float16: 70000 is infinite, and infinity times 0 is NaN; infinity / infinity is NaN, which float 8 types have."""
    half = {"real": "float16", "quantized": "int32", "scale": "float32", "attributes": {"output_dtype": "float16"}}
    assert solve(ONNX_DEQUANTIZE, [70000, 70000, 3], 0.0, 0, **half) == [0, 0, 0]
    got = solve(ONNX_DEQUANTIZE, [70000, 3], 0.0, 0, **half, working=True)
    assert same(got, [math.nan, 0])
    assert same(solve(ONNX_DEQUANTIZE, [70000, 0], 1e9, 0, **half, working=True), [math.inf, math.nan])
    wide = {"scale": "float32", "attributes": {"precision": "float16"}}
    got = solve(ONNX_QUANTIZE, [1e9, 1.0], 1e9, 0.0, quantized=F8, **wide, working=True)
    assert same(got, [math.nan, 0])
    assert solve(ONNX_QUANTIZE, [1e9, 1.0], 1e9, 0, quantized="int8", **wide, working=True) == [None, 0]


def test_steps_of_quantize_that_overflow_go_on_as_ieee_has_it() -> None:
    """The width is infinite in float32: 0 over it is 0, infinity over it NaN, which is no integer."""
    wide = case(QUANTIZE, ([-3e38, 0.0], -3e38, 3e38), {}, quantized="uint8")
    assert outputs(wide)[0] == [0, 128]
    assert outputs(wide, working=True)[0] == [0, None]
    product = case(
        QUANTIZE, ([-1e38, 0.0], -1e38, 1e38), {}, quantized="int8"
    )  # times 255 is infinite, the width is not
    assert outputs(product)[0] == [-128, -1]  # 127.5 - 128, away from zero
    assert outputs(product, working=True)[0] == [-128, 127]
    (problem, *_) = problems_of(product)
    assert oracle.solve(problem, working=True)[1].tolist() == [IN_RANGE, OUT_OF_RANGE]
    first = case(QUANTIZE, ([-3e38, 0.0, 3e38], -3e38, 3e38), {"mode": "MIN_FIRST"}, quantized="uint8")
    assert outputs(first, working=True)[0] == [0, 0, 0]  # range_scale is 0
    tiny = {"mode": "MIN_FIRST"} | WIDTHLESS
    first = case(QUANTIZE, ([-1e-40, 0.0, 1e-40], -1e-40, 1e-40), tiny, quantized="uint8")
    assert outputs(first)[0] == [0, 128, 255]
    assert outputs(first, working=True)[0] == [
        0,
        None,
        255,
    ]  # range_scale is infinite
    scaled = case(QUANTIZE, ([1e-45, 0.0], -1e-40, 1e-40), {"mode": "SCALED"} | WIDTHLESS, quantized="int8")
    assert outputs(scaled, working=True) == [[0, 0], [0], [0]]  # an infinite factor leaves both sides to count
    one_side = case(QUANTIZE, ([1e-40], 0.0, 1e-40), {"mode": "SCALED"} | WIDTHLESS, quantized="int8")
    assert outputs(one_side, working=True)[0] == [0]  # the largest float is the smaller factor
    back = values(problems_of(case(DEQUANTIZE, ([0, 1, 255], -3e38, 3e38), {}, quantized="uint8"))[0], working=True)
    assert math.isnan(back[0] or 0)
    assert back[1:] == [math.inf, math.inf]


def test_an_integer_where_float32_overflows_deviates_unless_it_is_exact_or_the_nearer_end() -> None:
    """0 in -1e38 … 1e38: exactly -1, and 127 where the product is infinite; nothing else."""
    truths = truths_of(case(QUANTIZE, ([0.0], -1e38, 1e38), {}, quantized="int8"))
    ends = (np.float32(-1e38), np.float32(1e38))
    for value, grade in ((-1, EXACT), (127, WORKING), (-128, DEVIATES), (0, DEVIATES)):
        outs = (np.array([value], np.int8), *(np.asarray(end) for end in ends))
        assert judge_outputs(outs, truths).grades.tolist() == [grade, EXACT, EXACT], value


def test_a_range_wider_than_float32_is_a_number_in_real_numbers_only() -> None:
    """max - min is infinite in float32, min / scale 0, and scale times that NaN; so is what follows."""
    found = dict(answers(posed(PER_TENSOR, ([1.0e37], -2.0e38, 3.0e38), num_bits=4), PER_TENSOR))
    assert {values[0] for form, values in found.items() if form.endswith("False")} == {0.0}
    for form, (value,) in found.items():
        assert form.endswith("False") or (value is not None and np.isnan(value))


@pytest.mark.parametrize("operator", [PER_TENSOR, PER_CHANNEL])
def test_a_finite_result_where_float32_overflows_deviates_unless_it_is_exact(operator: str) -> None:
    limits = (array(end if operator == PER_TENSOR else [end]) for end in (-2.0e38, 3.0e38))
    case = Case("wide", make_node(operator, attributes={"num_bits": 4}), (array([1.0e37]), *limits))
    truths = truths_of(case)
    for value, grade in ((0.0, EXACT), (float("nan"), WORKING), (1.0, DEVIATES), (float("inf"), DEVIATES)):
        assert judge_outputs((array([value]),), truths).grades.tolist() == [grade], value


def test_overflow_of_scale_factor_and_of_products_is_open() -> None:
    """float16, whose largest value is 65504: 127 / 2^-24 is infinite, and so is 2^16."""
    tiny = 2.0**-24
    (exact, working) = (
        values for _, values in answers(posed(SCALED, ([tiny], -1.0, tiny), "float16", range_given=True), SCALED)
    )
    assert (exact, working) == ([0.0], [0.0])  # the finite factor decides: min(128, infinity)
    (exact, working) = (
        values for _, values in answers(posed(SCALED, ([tiny], 0.0, tiny), "float16", range_given=True), SCALED)
    )
    assert (exact, working) == ([tiny], [None])  # infinity / infinity
    wide = {"range_given": True, "num_bits": 17}  # 2^16 is beyond float16
    (exact, working) = (values for _, values in answers(posed(SCALED, ([1.0], -2.0, 2.0), "float16", **wide), SCALED))
    assert (exact, working) == ([1.0], [None])
