"""onnx.QuantizeLinear and onnx.DequantizeLinear: ONNX's own node tests, both truths against each other, each clause."""

from __future__ import annotations

import math
import warnings
from functools import cache
from io import BytesIO
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tiebreak.adapters import frames
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.conformance.generators import cases
from tiebreak.conformance.suite import SUITES
from tiebreak.conformance.truths import TruthCache
from tiebreak.golden import kernel, oracle
from tiebreak.golden.builder import build_file
from tiebreak.golden.elements import FloatType, decode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case, make_node
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.pose import problems_of
from tiebreak.golden.problem import UNDEFINED, Array, Elementwise, Problem, Quantization, codes_of
from tiebreak.golden.vectorfile import VECTORS

QUANTIZE, DEQUANTIZE = "onnx.QuantizeLinear", "onnx.DequantizeLinear"
F8 = "float8_e4m3fn"


def numbers(problem: Problem, *, working: bool) -> list[Any]:
    """Each result as a number, None where the document says nothing. The kernel must give the same."""
    solved = [truth.solve(problem, working=working) for truth in (oracle, kernel)]
    for mine, other in zip(*solved, strict=True):
        assert np.array_equal(mine, other)
    codes, states = solved[0]
    return [None if s == UNDEFINED else number(problem, int(c)) for c, s in zip(codes, states, strict=True)]


def number(problem: Problem, code: int) -> float:
    kind = problem.result
    return float(decode(code & ((1 << kind.bits) - 1), kind)) if isinstance(kind, FloatType) else code


def solve(operator: str, *inputs: Any, working: bool = False, **node: Any) -> list[Any]:
    """The results of a node for inputs given as lists, converted to the node's types."""
    made = make_node(operator, zero_point=len(inputs) == 3, **node)
    arrays = tuple(np.asarray(v).astype(kind.dtype) for v, kind in zip(inputs, made.inputs, strict=True))
    (problem,) = problems_of(Case("c", made, arrays))
    return numbers(problem, working=working)


def same(got: list[Any], wanted: list[Any]) -> bool:
    return len(got) == len(wanted) and all(
        g == w or (g is not None and w is not None and math.isnan(g) and math.isnan(w))
        for g, w in zip(got, wanted, strict=True)
    )


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


NOT_ALLOWED: tuple[tuple[str, dict[str, Any], str], ...] = (
    (QUANTIZE, {"quantized": "int4", "opset": 19}, "opset 19 has no quantized type int4"),
    (QUANTIZE, {"real": "float16", "opset": 13}, "opset 13 has no real type float16"),
    (QUANTIZE, {"attributes": {"block_size": 2}, "opset": 19}, "no attribute 'block_size'"),
    (QUANTIZE, {"attributes": {"axis": 0}, "opset": 10}, "no attribute 'axis'"),
    (QUANTIZE, {"attributes": {"precision": "float16"}, "opset": 21}, "no attribute 'precision'"),
    (QUANTIZE, {"attributes": {"saturate": 0}, "opset": 13}, "no attribute 'saturate'"),
    (QUANTIZE, {"quantized": "float4_e2m1fn", "opset": 21}, "no quantized type float4_e2m1fn"),
    (QUANTIZE, {"quantized": "uint2", "opset": 24}, "no quantized type uint2"),
    (QUANTIZE, {"scale": "float8_e8m0fnu", "opset": 23}, "no scale of type float8_e8m0fnu"),
    (QUANTIZE, {"real": "float16", "scale": "float32", "opset": 21}, "wants a scale of type float16"),
    (QUANTIZE, {"quantized": "int32"}, "is not one of"),
    (QUANTIZE, {"real": "float64"}, "is not one of"),
    (QUANTIZE, {"opset": 26}, "is not one of 10 to 25"),
    (QUANTIZE, {"quantized": "int8", "zero_point": False}, "can't be left off for int8"),
    (QUANTIZE, {"quantized": "int8", "attributes": {"output_dtype": "uint8"}}, "output_dtype is uint8"),
    (QUANTIZE, {"attributes": {"block_size": -1}}, "not a block size"),
    (QUANTIZE, {"attributes": {"output_dtype": "float32"}}, "is not one of"),
    (DEQUANTIZE, {"real": "float32", "attributes": {"output_dtype": "float16"}}, "the output is float16"),
    (DEQUANTIZE, {"quantized": "int8", "real": "float16", "opset": 13}, "no real type float16"),
    (DEQUANTIZE, {"quantized": "int8", "scale": "float8_e8m0fnu"}, "the output is float8_e8m0fnu"),
    (DEQUANTIZE, {"quantized": "int16", "opset": 19}, "no quantized type int16"),
    (DEQUANTIZE, {"attributes": {"output_dtype": "float32"}, "opset": 21}, "no attribute 'output_dtype'"),
)


@pytest.mark.parametrize(("operator", "node", "reason"), NOT_ALLOWED)
def test_what_a_version_does_not_allow(operator: str, node: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        make_node(operator, **node)


@pytest.mark.parametrize(
    ("shape", "scale", "attributes", "reason"),
    [
        ((2, 3), (2,), {}, "needs \\[\\] or \\[3\\]"),
        ((2, 3), (2, 3), {}, "without block_size"),
        ((2, 3), (2, 1), {"block_size": 2}, "needs \\[2, 2\\]"),
        ((2, 3), (2,), {"axis": 0, "block_size": 2}, "needs \\[1, 3\\]"),
        ((3,), (3,), {}, "axis 1 outside"),
        ((2, 3), (2, 1), {"axis": 2, "block_size": 3}, "axis 2 outside"),
    ],
)
def test_shapes_that_do_not_fit(shape: Any, scale: Any, attributes: dict[str, Any], reason: str) -> None:
    node = make_node(DEQUANTIZE, quantized="int8", attributes=attributes)
    inputs = np.zeros(shape, np.int8), np.ones(scale, np.float32), np.zeros(scale, np.int8)
    with pytest.raises(InvalidInput, match=reason):
        problems_of(Case("c", node, inputs))


def test_first_version_that_has_such_a_node() -> None:
    for node, opset in (
        ({}, 21),
        ({"quantized": F8}, 21),
        ({"scale": "float16"}, 23),
        ({"scale": "float8_e8m0fnu"}, 24),
        ({"quantized": "int2"}, 25),
        ({"real": "int32"}, 23),
    ):
        assert make_node(QUANTIZE, **node).opset == opset, node
    assert make_node(DEQUANTIZE, quantized="float4_e2m1fn").opset == 23


def test_types_go_by_name_or_number() -> None:
    for number_, name in NUMBERS.items():
        if name in OPERATORS[QUANTIZE].quantized_types:
            node = make_node(QUANTIZE, quantized=name, attributes={"output_dtype": number_})
            assert node.attributes["output_dtype"] == name
    from_name = make_node(QUANTIZE, attributes={"precision": "bfloat16"})
    assert make_node(QUANTIZE, attributes={"precision": 16}).key == from_name.key
    with pytest.raises(InvalidInput, match="precision"):
        make_node(QUANTIZE, attributes={"precision": 2})


def test_plain_nodes_pose_a_quantization_in_every_version() -> None:
    x, one, zero = np.ones(2, np.float32), np.float32(1), np.uint8(0)
    inputs = (x, np.asarray(one), np.asarray(zero))
    for opset in OPERATORS[QUANTIZE].opsets:
        (problem,) = problems_of(Case("c", make_node(QUANTIZE, opset=opset), inputs))
        assert isinstance(problem, Quantization)
    (other,) = problems_of(Case("c", make_node(QUANTIZE, attributes={"precision": "float32"}), inputs))
    assert isinstance(other, Elementwise)


def test_plain_vectors_are_built_as_before() -> None:
    path = VECTORS / "onnx.QuantizeLinear-bfloat16-int4.json"
    assert build_file(QUANTIZE, "bfloat16", "int4") == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("operator", [QUANTIZE, DEQUANTIZE])
def test_contested_witnesses(operator: str) -> None:
    """What the truths give is what the judged authority says; other authorities with numbers give others."""
    for contest in OPERATORS[operator].contested:
        both = [solve(operator, *contest.inputs, working=w, **contest.node) for w in (False, True)]
        judged = [answer for answer in contest.answers if answer.judged]
        assert len(judged) == 1, contest.id
        gives = judged[0].gives
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
    truth = TruthCache().of(case).own
    found = {
        cause.text: run(node, *case.inputs)[0] for cause, run in SUITES[QUANTIZE].mistakes if "float16" in cause.text
    }
    assert [float(y[0]) for y in found.values()] == [-320.0]
    assert number(problems_of(case)[0], int(truth.exact[0])) == -352.0


def zero(name: str) -> Array:
    return np.zeros((), getattr(ml_dtypes, name))


# The adapters, on the real libraries.


def test_small_floats_travel_in_frames() -> None:
    for name in ("float8_e4m3fn", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"):
        array = np.arange(6, dtype=np.uint8).reshape(2, 3).view(getattr(ml_dtypes, name))
        stream = BytesIO(frames.encode({"a": 1}, [array]))
        _, (back,) = frames.decode(stream.readline, stream.read)
        assert back.dtype == array.dtype
        assert np.array_equal(back.view(np.uint8), array.view(np.uint8))


def runtime_case(operator: str, *inputs: Any, **node: Any) -> Case:
    made = make_node(operator, zero_point=len(inputs) == 3, **node)
    return Case("c", made, tuple(np.asarray(v).astype(t.dtype) for v, t in zip(inputs, made.inputs, strict=True)))


@pytest.mark.parametrize("name", ["onnxruntime", "onnx-reference", "openvino"])
def test_runtimes_run_what_they_take_and_refuse_the_rest(name: str) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip(name.removesuffix("-reference"))
    x = np.array([[[1.0, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]])
    per_axis = runtime_case(QUANTIZE, x, [1.0, 2], [0, 0], attributes={"axis": 1})
    six = np.arange(6)[None]
    blocks = runtime_case(DEQUANTIZE, six, [[1.0, 2, 4]], [[0, 1, 0]], quantized="int8", attributes={"block_size": 2})
    float8 = runtime_case(QUANTIZE, [1.0, -3, 1000], 2.0, 0.0, quantized="float8_e5m2")
    unknown = runtime_case(QUANTIZE, [1.0], 2.0, 0.0, real="bfloat16", quantized="float8_e5m2fnuz")
    backend = IsolatedBackend(name, time_limit=60)
    try:
        backend.start()
        y = backend.run(per_axis).outputs[0]
        assert y.tolist() == [[[1, 2, 3], [2, 2, 3]], [[7, 8, 9], [5, 6, 6]]]
        assert backend.run(blocks).outputs[0].tolist() == [[0, 1, 2, 4, 16, 20]]
        (small,) = backend.run(float8).outputs
        assert small.dtype.name == "float8_e5m2"
        assert small.astype(float).tolist() == [0.5, -1.5, 512.0]  # 500 is nearer to 512 than to 448
        outcome = backend.run(unknown)
        assert outcome.status == ("ok" if name == "onnx-reference" else "unsupported"), outcome.message
        assert "21" in backend.attestation([per_axis.node.key])["opset"]
    finally:
        backend.close()
