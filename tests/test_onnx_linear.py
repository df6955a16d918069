"""onnx.QuantizeLinear and onnx.DequantizeLinear: ONNX's own node tests, each clause, both truths against each other."""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from answers_of_onnx_linear import DEQUANTIZE, F8, QUANTIZE, number, numbers, same, solve
from hypothesis import HealthCheck, given, settings

from tiebreak.conformance.cases.generators import cases
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.operators import TESTED
from tiebreak.golden import kernel, oracle
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.builder import build_file, file_name
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import Array, codes_of
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

# ONNX's own node tests, as the installed package generates them.


def node_tests() -> list[Any]:
    pytest.importorskip("onnx")
    return [test for test in collected() if test.model.graph.node[0].op_type in ("QuantizeLinear", "DequantizeLinear")]


@cache
def collected() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Importing a module makes its tests, once; collecting those of one operator makes no others.
        from onnx.backend.test.case.node import collect_testcases, dequantizelinear, quantizelinear  # noqa: F401

        return list(collect_testcases("QuantizeLinear"))


def array_of(value: Any) -> Array:
    from onnx import TensorProto, numpy_helper

    return np.asarray(numpy_helper.to_array(value) if isinstance(value, TensorProto) else value)


def case_of(test: Any) -> tuple[Case, Array]:
    """Our case of a one-node model with its data, and the output that the test expects."""
    from onnx import helper

    (node,) = test.model.graph.node
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    ((given_inputs, given_outputs),) = test.data_sets
    inputs, expected = tuple(map(array_of, given_inputs)), array_of(given_outputs[0])
    forward = node.op_type == "QuantizeLinear"
    wide, narrow = (inputs[0], expected) if forward else (expected, inputs[0])
    types = {"real": wide.dtype.name, "quantized": narrow.dtype.name, "scale": inputs[1].dtype.name}
    opset = max(v for v in OPERATORS[QUANTIZE].opsets if v <= test.model.opset_import[0].version)
    made = make_node(f"onnx.{node.op_type}", **types, attributes=attributes, zero_point=len(inputs) == 3, opset=opset)
    return Case(test.name, made, inputs), expected


def test_every_node_test_of_onnx_is_reproduced() -> None:
    seen, elements = set(), 0
    for test in node_tests():
        case, expected = case_of(test)
        (problem,) = problems_of(case)
        wanted = codes_of(expected).reshape(-1).astype(np.int64)
        results = [numbers(problem, working=working) for working in (False, True)]
        assert problem.shape == expected.shape, test.name
        for exact, working, code in zip(*results, wanted.tolist(), strict=True):
            value = number(problem, code)
            assert exact is None or value in (exact, working), (test.name, value, exact, working)
            elements += exact is not None
        seen.add(test.name)
    assert len(seen) >= 27
    assert elements > 200


# Literal data of public unit tests.


def test_values_of_public_tests() -> None:
    """ONNX's basic, per-axis and float 8 cases; ONNX Runtime's float16 case of its pull request 32452."""
    assert solve(QUANTIZE, [0.0, 2, 3, 1000, -254, -1000], 2.0, 128) == [128, 129, 130, 255, 1, 0]
    assert solve(DEQUANTIZE, [0, 3, 128, 255], 2.0, 128) == [-256, -250, 0, 254]
    assert solve(QUANTIZE, [0.0, 1, 2, 100000, 200], 2.0, 0.0, quantized=F8) == [0, 0.5, 1, 448, 96]
    assert solve(QUANTIZE, [0.0, 1, 2, 100000, 200], 2.0, 0.0, quantized="float8_e5m2") == [0, 0.5, 1, 49152, 96]
    x = [0.050018310546875, -0.050018310546875]
    assert solve(QUANTIZE, x, 0.0999755859375, 0, real="float16", quantized="int8", working=True) == [1, -1]
    fours = [[0.0, 2.5, 4.8, 8.6], [-30, -20, 6, 9], [-0.0, -2.5, -4.8, -8.6]]
    wanted = [0, 1, 2, 4, -6, -6, 2, 3, 0, -0.5, -1, -2]
    got = solve(QUANTIZE, fours, [2.0, 3, 4], [0.0] * 3, quantized="float4_e2m1fn", attributes={"axis": 0})
    assert got == wanted


# Each clause by hand.


def test_rounding_before_the_zero_point_and_saturation() -> None:
    assert solve(QUANTIZE, [2.5, 3.5, 300, -2], 1.0, 1, attributes={"output_dtype": "uint8"}) == [3, 5, 255, 0]
    assert solve(QUANTIZE, [-5.0, -1.5, 0.5, 5], 1.0, 0, quantized="int2") == [-2, -2, 0, 1]
    assert solve(QUANTIZE, [-5.0, 1.5, 2.5, 5], 1.0, 0, quantized="uint2") == [0, 2, 2, 3]


def test_blocks_and_an_uneven_last_one() -> None:
    x = [[1.0, 2, 3, 4, 5]]
    got = solve(QUANTIZE, x, [[1.0, 2, 10]], [[0, 0, 1]], attributes={"block_size": 2})
    assert got == [1, 2, 2, 2, 1]  # 1.5 and 0.5 to even, and 1 added to the last
    y = solve(DEQUANTIZE, [[1, 2, 3, 4, 5]], [[1.0, 2, 10]], [[0, 1, 1]], attributes={"block_size": 2})
    assert y == [1, 2, 4, 6, 40]
    down = solve(QUANTIZE, [[4.0], [4], [4]], [[1.0], [2]], [[0], [0]], attributes={"axis": -2, "block_size": 2})
    assert down == [4, 4, 2]


def test_division_in_the_type_of_the_scale_or_the_one_named() -> None:
    """1.501 and 1: 1.5 in bfloat16, a tie; in float32 and in truth more than that."""
    plain = {"real": "float32", "quantized": "int8"}
    assert solve(QUANTIZE, [2.501], 1.0, 0, **plain, working=True) == [3]
    named = plain | {"attributes": {"precision": "bfloat16"}}
    assert solve(QUANTIZE, [2.501], 1.0, 0, **named, working=True) == [2]
    assert solve(QUANTIZE, [2.501], 1.0, 0, **named) == [3]
    assert solve(QUANTIZE, [2.501], 1.0, 0, **plain, scale="bfloat16", working=True) == [2]


def test_a_power_of_two_of_eight_bits_as_scale() -> None:
    quarter = np.float32(0.25)
    node = {"scale": "float8_e8m0fnu", "attributes": {"precision": "float32"}}
    assert solve(QUANTIZE, [1.0, 0.375], quarter, 0, **node) == [4, 2]
    back = {"scale": "float8_e8m0fnu", "quantized": "int8", "attributes": {"output_dtype": "float32"}}
    assert solve(DEQUANTIZE, [3, -5], quarter, 0, **back) == [0.75, -1.25]


def test_float_8_tables_of_cast() -> None:
    inf, nan = math.inf, math.nan
    x = [464.0, 465.0, inf, -inf, nan, 1e9]
    free = {"attributes": {"saturate": 0}}
    assert same(solve(QUANTIZE, x, 1.0, 0.0, quantized=F8), [448, 448, 448, -448, nan, 448])
    assert same(solve(QUANTIZE, x, 1.0, 0.0, quantized=F8, **free), [448, nan, nan, nan, nan, nan])
    x = [61439.0, 61440.0, inf, -inf, nan]
    assert same(solve(QUANTIZE, x, 1.0, 0.0, quantized="float8_e5m2", **free), [57344, inf, inf, -inf, nan])
    assert same(solve(QUANTIZE, [247.0, 248], 1.0, 0.0, quantized="float8_e4m3fnuz", **free), [240, nan])
    assert solve(QUANTIZE, [-1e-9], 1.0, 0.0, quantized="float8_e4m3fnuz") == [0]
    assert solve(QUANTIZE, [7.0, -100, 0.25, 0.75, 5], 1.0, 0.0, quantized="float4_e2m1fn") == [6, -6, 0, 1, 4]


@pytest.mark.parametrize("kind", ["float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_an_infinity_in_a_type_with_one_zero_by_operator_set(kind: str) -> None:
    """Cast's table up to set 23 says NaN with saturate; from 24 on it says the largest value."""
    largest, nan = {"float8_e4m3fnuz": 240.0, "float8_e5m2fnuz": 57344.0}[kind], math.nan
    for working in (False, True):
        older, later = (
            solve(QUANTIZE, [math.inf, -math.inf, 1e6], 1.0, 0.0, quantized=kind, opset=opset, working=working)
            for opset in (19, 24)
        )
        assert same(older, [nan, nan, largest]) and later == [largest, -largest, largest]


def test_what_the_documents_leave_open() -> None:
    nan = math.nan
    assert solve(QUANTIZE, [nan, math.inf, 1.0], 1.0, 0, attributes={"output_dtype": "uint8"}) == [None, None, 1]
    assert solve(QUANTIZE, [1.0], 1.0, 1.0, quantized=F8) == [None]
    assert solve(QUANTIZE, [nan], 1.0, 0.0, quantized="float4_e2m1fn") == [None]
    assert solve(DEQUANTIZE, [5, 2], 2.0, 3, quantized="int32") == [None, None]
    assert solve(DEQUANTIZE, [5, 2], 2.0, 0, quantized="int32") == [10, 4]
    assert solve(DEQUANTIZE, [5], nan, 0, quantized="int8") == [None]


def test_dequantize_of_small_floats() -> None:
    inf, nan = math.inf, math.nan
    e5m2 = {"quantized": "float8_e5m2"}
    assert same(solve(DEQUANTIZE, [nan, inf, -inf, 3.0], -2.0, 0.0, **e5m2), [nan, -inf, inf, -6])
    assert solve(DEQUANTIZE, [inf], 0.0, 0.0, **e5m2) == [None]
    assert solve(DEQUANTIZE, [2.0], 3.0, 1.0, quantized=F8) == [3]  # the formula remains the same


def test_precision_of_the_product_is_the_output_type() -> None:
    node = {"real": "float16", "quantized": "int8", "scale": "float32", "attributes": {"output_dtype": "float16"}}
    scale = 1 + 2.0**-11 + 2.0**-14
    assert solve(DEQUANTIZE, [100], scale, 0, **node) == [100.0625]
    assert solve(DEQUANTIZE, [100], scale, 0, **node, working=True) == [100.125]


def test_zero_point_of_one_element_beside_a_scalar() -> None:
    assert solve(QUANTIZE, [1.0], 1.0, [3]) == [4]
    assert solve(DEQUANTIZE, [5], 1.0, [3]) == [2]
    with pytest.raises(InvalidInput, match="zero point of shape"):
        solve(DEQUANTIZE, [[5, 6]], [1.0, 1.0], [3], quantized="int8")


def test_plain_vectors_are_built_as_before() -> None:
    path = VECTORS / "onnx.QuantizeLinear-bfloat16-int4.json"
    assert build_file(QUANTIZE, "bfloat16", "int4") == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("operator", [QUANTIZE, DEQUANTIZE])
def test_contested_witnesses(operator: str) -> None:
    """What the truths give is what the judged authority says; other authorities with numbers give others."""
    for contest in OPERATORS[operator].contested:
        judged = [answer for answer in contest.answers if answer.judged]
        assert len(judged) == 1, contest.id
        gives = judged[0].gives
        if gives == "an error":
            with pytest.raises(InvalidInput):
                solve(operator, *contest.inputs, **contest.node)
            continue
        both = [solve(operator, *contest.inputs, working=w, **contest.node) for w in (False, True)]
        if gives == "unspecified":
            assert both == [[None] * len(both[0])] * 2, contest.id
            continue
        assert any(same(got, list(gives)) for got in both), contest.id
        others = [answer.gives for answer in contest.answers if not answer.judged]
        assert all(not same(list(gives), list(other)) for other in others), contest.id


@pytest.mark.parametrize("operator", [QUANTIZE, DEQUANTIZE])
def test_oracle_and_kernel_agree_on_generated_cases(operator: str) -> None:
    compared = 0

    @settings(max_examples=120, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(cases(operator=operator))
    def check(case: Case) -> None:
        nonlocal compared
        for problem in problems_of(case):
            for working in (False, True):
                for mode in (None, "ROUND_UP", "ROUND_NEAREST_TOWARD_ZERO") if case.node.modes else (None,):
                    mine, other = (t.solve(problem, working=working, mode=mode) for t in (oracle, kernel))
                    assert np.array_equal(mine[0], other[0]), case.node.key
                    assert np.array_equal(mine[1], other[1]), case.node.key
                    compared += mine[0].size

    check()
    assert compared > 100


def test_the_usual_mistakes_are_mistakes() -> None:
    """Quotients rounded to float16 before float 8, as OpenVINO does; a product rounded twice."""
    node = make_node(QUANTIZE, quantized=F8)
    case = Case("c", node, (np.array([-336.00003], np.float32), np.asarray(np.float32(1)), zero(F8)))
    truth = truths_of(case).judged_by
    mistakes = TESTED[QUANTIZE].mistakes or ()
    found = {cause.text: run(node, *case.inputs)[0] for cause, run in mistakes if cause.id == "through-float16"}
    assert [float(y[0]) for y in found.values()] == [-320.0]
    assert number(problems_of(case)[0], int(truth.exact[0])) == -352.0


def zero(name: str) -> Array:
    return np.zeros((), getattr(ml_dtypes, name))


@pytest.mark.parametrize("quantized", ["int8", "uint8", "int16", "uint16", "int4", "uint4"])
def test_without_a_zero_point_floor_of_a_half_more_is_told_from_every_tie_rule(quantized: str) -> None:
    """0.5 added in float32 makes 1 of 0.49999997, which no rounding to nearest does."""
    named = f"{QUANTIZE}/float32/{quantized}-further/output-dtype-no-zp-beside"
    (case,) = (
        one
        for one in indexed_cases(VECTORS / file_name(QUANTIZE, "float32", f"{quantized}-further"))
        if one.id == named
    )
    x, scale = case.inputs
    added = np.floor(x / scale + np.float32(0.5))
    assert not any((added == round_array((x / scale).astype(np.float64), mode)).all() for mode in ROUND_MODES)
