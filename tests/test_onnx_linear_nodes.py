"""Which nodes onnx.QuantizeLinear and onnx.DequantizeLinear have in which version, and the libraries that run them."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from answers_of_onnx_linear import DEQUANTIZE, F8, QUANTIZE, case

from tiebreak.adapters import frames
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.onnx_models import as_old_as, oldest_file, onnx_model, onnx_node
from tiebreak.adapters.registry import load_backend
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators import onnx_rank_one_contested as rank_one
from tiebreak.golden.operators.model import Answer, Contest
from tiebreak.golden.operators.onnx_linear import NUMBERS
from tiebreak.golden.problem import Elementwise, Quantization
from tiebreak.golden.problems import problems_of

NOT_ALLOWED: tuple[tuple[str, dict[str, Any], str], ...] = (
    (QUANTIZE, {"quantized": "int4", "opset": 19}, "opset 19 has no quantized type int4"),
    (QUANTIZE, {"real": "float16", "opset": 13}, "opset 13 has no real type float16"),
    (QUANTIZE, {"attributes": {"block_size": 2}, "opset": 19}, "no attribute 'block_size'"),
    (QUANTIZE, {"attributes": {"axis": 0}, "opset": 10}, "no attribute 'axis'"),
    (QUANTIZE, {"attributes": {"precision": "float16"}, "opset": 21}, "no attribute 'precision'"),
    (QUANTIZE, {"attributes": {"saturate": 0}, "opset": 13}, "no attribute 'saturate'"),
    (QUANTIZE, {"quantized": "float4_e2m1fn", "opset": 21}, "no quantized type float4_e2m1fn"),
    (QUANTIZE, {"quantized": "uint2", "opset": 24}, "no quantized type uint2"),
    (QUANTIZE, {"quantized": "float6_e2m3fn", "opset": 27}, "opset 25 has no quantized type float6_e2m3fn"),
    (QUANTIZE, {"scale": "float8_e8m0fnu", "opset": 23}, "no scale of type float8_e8m0fnu"),
    (QUANTIZE, {"real": "float16", "scale": "float32", "opset": 21}, "wants a scale of type float16"),
    (QUANTIZE, {"quantized": "int32"}, "is not one of"),
    (QUANTIZE, {"real": "float64"}, "is not one of"),
    (QUANTIZE, {"opset": 29}, "is not one of 10 to 28"),
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
        ((3,), (3,), {}, "axis is 1, but"),
        ((2, 3), (2, 1), {"axis": 2, "block_size": 3}, "axis is 2, but"),
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


# The adapters, on the real libraries.


def test_small_floats_travel_in_frames() -> None:
    for name in ("float8_e4m3fn", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"):
        array = np.arange(6, dtype=np.uint8).reshape(2, 3).view(getattr(ml_dtypes, name))
        stream = BytesIO(frames.encode_frame({"a": 1}, [array]))
        _, (back,) = frames.decode_frame(stream.readline, stream.read)
        assert back.dtype == array.dtype
        assert np.array_equal(back.view(np.uint8), array.view(np.uint8))


@pytest.mark.parametrize("name", ["onnxruntime", "onnx-reference", "openvino"])
def test_runtimes_run_what_they_take_and_refuse_the_rest(name: str) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip(name.removesuffix("-reference"))
    x = np.array([[[1.0, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]])
    per_axis = case(QUANTIZE, x, [1.0, 2], [0, 0], attributes={"axis": 1})
    six = np.arange(6)[None]
    blocks = case(DEQUANTIZE, six, [[1.0, 2, 4]], [[0, 1, 0]], quantized="int8", attributes={"block_size": 2})
    float8 = case(QUANTIZE, [1.0, -3, 1000], 2.0, 0.0, quantized="float8_e5m2")
    unknown = case(QUANTIZE, [1.0], 2.0, 0.0, real="bfloat16", quantized="float8_e5m2fnuz")
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


def told_of(contest: Contest, library: str) -> Answer:
    """What the contested page says that a library does."""
    return next(answer for answer in contest.answers if library in answer.authority)


def answered(backend: Any, contested: Case) -> tuple[float, ...] | str:
    try:
        (y,) = backend.compile(contested.node)(*contested.inputs)
    except Exception:  # each library has its own
        return "an error"
    return tuple(y.astype(float).reshape(-1).tolist())


@pytest.mark.parametrize("told", [rank_one.QUANTIZE, rank_one.DEQUANTIZE], ids=[QUANTIZE, DEQUANTIZE])
def test_the_libraries_do_at_rank_1_what_the_contested_page_says(told: rank_one.Told) -> None:
    """Also of cases that no run has, since Tiebreak takes them for errors."""
    for module, authority in (("onnx", "reference"), ("onnxruntime", "ONNX Runtime 1"), ("openvino", "OpenVINO")):
        pytest.importorskip(module)
        backend = load_backend(module if module != "onnx" else "onnx-reference")
        for contest in rank_one.rank_one(told):
            witness = case(QUANTIZE if told.quantizes else DEQUANTIZE, *contest.inputs, **contest.node)
            assert answered(backend, witness) == told_of(contest, authority).gives, (module, contest.id)


def test_the_full_check_of_onnx_takes_an_axis_beyond_the_rank() -> None:
    onnx = pytest.importorskip("onnx")
    for told, operator in ((rank_one.QUANTIZE, QUANTIZE), (rank_one.DEQUANTIZE, DEQUANTIZE)):
        (contest,) = (c for c in rank_one.rank_one(told) if c.id.endswith("rank-1-default-axis"))
        node = onnx_node(make_node(operator, **contest.node))
        onnx.checker.check_model(onnx_model(node, shapes=[(3,), (3,), (3,)]), full_check=True)


def test_a_node_of_another_domain_is_in_the_oldest_file_that_has_its_types() -> None:
    for name, node in (("QLinearAdd", {}), ("QLinearMul", {"quantized": "uint8"}), ("QGemm", {})):
        model = onnx_model(onnx_node(make_node(f"com.microsoft.{name}", **node)))
        versions = {one.domain: one.version for one in model.opset_import}
        assert (versions[""], model.ir_version) == (13, 7), "onnxruntime 1.17.0 reads none above 9"
    assert oldest_file(("uint8", "int4")) == 21 and oldest_file(("bfloat16", "float8_e5m2")) == 19


def test_a_node_of_another_domain_says_every_attribute() -> None:
    said = {"MatMulNBits": {"K": 32, "N": 2, "block_size": 32}, "QGemm": {"transB": True}}
    for name, given in said.items():
        (proto,) = onnx_model(onnx_node(make_node(f"com.microsoft.{name}", attributes=given))).graph.node
        found = {one.name: one.f if one.type == one.FLOAT else one.i for one in proto.attribute}
        usual = {"bits": 4, "accuracy_level": 0} if name == "MatMulNBits" else {"alpha": 1.0, "transA": 0}
        assert found == usual | given, "onnxruntime 1.17.0 requires bits, which is 4 by default now"


def test_a_node_is_not_written_for_an_operator_set_in_which_an_infinity_means_another_number() -> None:
    def written_for(kind: str, opset: int) -> list[int]:
        node = make_node(QUANTIZE, real="float32", quantized=kind, opset=opset)
        return [written.opset for written in as_old_as(onnx_node(node))]

    assert written_for("float8_e4m3fnuz", 25) == [25, 24], "with one zero: NaN before, the largest value from 24 on"
    assert written_for("float8_e4m3fnuz", 23) == [23, 21, 19]
    assert written_for("float8_e4m3fn", 25) == [25, 24, 23, 21, 19]
