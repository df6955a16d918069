"""The adapters on the real libraries, against what the libraries' own API gives when called without Tiebreak."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tiebreak.adapters.isolation import IsolatedBackend, Outcome
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, with_constants

EVEN = "ROUND_NEAREST_TOWARD_EVEN"
TIES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.4999998]


@pytest.fixture(
    scope="module", params=["numpy-naive", "onnx-reference", "onnxruntime", "tensorflow", "tensorflow-no-onednn"]
)
def backend(request: pytest.FixtureRequest) -> Iterator[IsolatedBackend]:
    isolated = IsolatedBackend(request.param, time_limit=60)
    isolated.start()
    yield isolated
    isolated.close()


@pytest.fixture(scope="module")
def onnxruntime_backend() -> Iterator[IsolatedBackend]:
    isolated = IsolatedBackend("onnxruntime", time_limit=60)
    isolated.start()
    yield isolated
    isolated.close()


def ngraph(mode: str, quantized: str, zero_point: int = 0, real: str = "float32", scale: float = 1.0) -> Case:
    node = make_node("ngraph.Quantize", real=real, quantized=quantized, attributes={"round_mode": mode})
    dtype = numpy_dtype(real)
    return Case("c", node, (np.array(TIES, dtype), np.array(scale, dtype), np.array(zero_point, node.inputs[2].dtype)))


def linear(quantized: str, *, real: str = "float32", axis: int | None = None, x: object = None) -> Case:
    attributes = {} if axis is None else {"axis": axis}
    node = make_node("onnx.QuantizeLinear", real=real, quantized=quantized, attributes=attributes)
    dtype = numpy_dtype(real)
    if axis is None:
        data = np.array(TIES if x is None else x, dtype)
        return Case("c", node, (data, np.array(1, dtype), np.array(2).astype(node.inputs[2].dtype)))
    data = np.array([[1, 1, 1], [3, 3, 3]], dtype)
    return Case("c", node, (data, np.array([1, 2, 4], dtype), np.array([0, 1, 2]).astype(node.inputs[2].dtype)))


@pytest.mark.few(2)
def test_ties_to_even_from_every_library(backend: IsolatedBackend) -> None:
    outcome = backend.run(ngraph(EVEN, "uint8"))
    assert outcome.status == "ok", outcome.message
    assert outcome.outputs[0].tolist() == [0, 0, 0, 0, 2, 2, 3]
    assert outcome.outputs[0].dtype == np.uint8


def test_every_library_attests_its_file_and_version(backend: IsolatedBackend) -> None:
    told = backend.attestation([ngraph(EVEN, "uint8").node.key])
    assert told["library"].endswith("__init__.py")
    assert backend.version in told.values()
    assert told["flushes subnormals in the calling thread"] == "no"


def test_what_a_library_lacks_is_unsupported_with_a_reason(backend: IsolatedBackend) -> None:
    outcome = backend.run(ngraph("ROUND_NEAREST_DOWNWARD", "uint8"))
    assert outcome.status == "unsupported"
    assert "NEAREST_DOWNWARD" in outcome.message


@pytest.mark.parametrize("quantized", ["int4", "uint4", "int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("real", ["float32", "float16"])
def test_onnxruntime_types(onnxruntime_backend: IsolatedBackend, real: str, quantized: str) -> None:
    outcome = onnxruntime_backend.run(linear(quantized, real=real))
    if outcome.status == "unsupported":  # 4 bits, by releases before 1.21
        assert "NOT_IMPLEMENTED" in outcome.message
        return
    assert outcome.outputs[0].dtype == numpy_dtype(quantized)
    got = outcome.outputs[0].astype(int).tolist()
    if real == "float32":
        assert got == [0, 0, 2, 2, 4, 4, 5]
    else:  # 3.4999998 is 3.5 in float16; releases up to 1.20 truncate (onnxruntime#18576)
        assert got in ([0, 0, 2, 2, 4, 4, 6], [0, 1, 2, 2, 3, 4, 5])


def test_onnxruntime_axis_and_provider(onnxruntime_backend: IsolatedBackend) -> None:
    case = linear("uint8", axis=-1)
    outcome = onnxruntime_backend.run(case)
    assert outcome.outputs[0].tolist() == [[1, 1, 2], [3, 3, 3]]
    told = onnxruntime_backend.attestation([case.node.key])
    assert "float32: QuantizeLinear on CPUExecutionProvider" in told["ran"]
    assert told["opset"] == "21"


def test_onnxruntime_says_itself_what_it_cannot_do(onnxruntime_backend: IsolatedBackend) -> None:
    outcome = onnxruntime_backend.run(linear("uint8", real="bfloat16"))
    assert outcome.status == "unsupported"
    assert "NOT_IMPLEMENTED" in outcome.message


def test_openvino_runs_a_compiled_model_of_the_pinned_precision() -> None:
    isolated = IsolatedBackend("openvino", time_limit=60)
    try:
        isolated.start()
        for quantized in ("int8", "uint8"):
            outcome = isolated.run(linear(quantized, x=[1.25, 3.0, 90.75, 1000.0, -7.0]))
            assert outcome.status == "ok", outcome.message
            wanted = {"int8": [3, 5, 93, 127, -5], "uint8": [3, 5, 93, 255, 0]}[quantized]
            assert outcome.outputs[0].tolist() == wanted
            assert outcome.outputs[0].dtype == numpy_dtype(quantized)
        told = isolated.attestation([linear("int8").node.key])
        assert told["INFERENCE_PRECISION_HINT"] == "f32"
        assert "Input" in told["layers of a probe"]
    finally:
        isolated.close()


def test_openvinos_attestation_depends_on_the_compiled_nodes_only() -> None:
    pytest.importorskip("openvino")
    from tiebreak.adapters import openvino

    cases = [linear("int8"), linear("uint8"), fake_quantize()]
    ran, compiled = openvino.OpenVino(), openvino.OpenVino()
    for case in cases:
        ran.compile(case.node)(*case.inputs)
    for case in reversed(cases):
        compiled.compile(case.node)
    assert ran.attest() == compiled.attest()
    assert "Subgraph" in ran.attest()["layers of a probe"]


def fake_quantize() -> Case:
    node = make_node("openvino.FakeQuantize", attributes={"levels": 9})
    return Case("c", node, tuple(np.array(value, np.float32) for value in ([0.5, 99], 0, 8, 0, 8)))


def test_openvino_builds_in_what_the_node_holds() -> None:
    """Of QuantizeLinear what run() gets no longer matters; FakeQuantize's other limits are inputs of the model then."""
    pytest.importorskip("openvino")
    from tiebreak.adapters import openvino

    case = linear("uint8", x=[1.25, 3.0])
    x, scale, zero_point = case.inputs
    held = openvino.OpenVino().compile(with_constants(case.node, {"y_scale": scale, "y_zero_point": zero_point}))
    assert held(x, scale * 2, zero_point)[0].tolist() == [3, 5]
    limits = fake_quantize()
    node = with_constants(limits.node, {"input_low": limits.inputs[1]})
    for backend in (openvino.OpenVino(), openvino.limits_as_inputs()):
        assert backend.compile(node)(*limits.inputs)[0].tolist() == [0, 8]
        fixed = openvino.built_in(node, backend.constant_limits)
        model = openvino.fake_quantize_model(backend.library, node, limits.inputs, fixed)
        assert (fixed, len(model.get_parameters())) == ({"input_low"}, 4)


@pytest.mark.slow
def test_tensorflow_refuses_what_is_not_exactly_the_same() -> None:
    isolated = IsolatedBackend("tensorflow", time_limit=60)
    try:
        isolated.start()
        right = ngraph(EVEN, "int8")
        told = isolated.attestation([right.node.key])
        assert isolated.run(right).status == "ok"
        assert isolated.attestation([right.node.key]) == told, "what ran is no part of it"
        assert told["operators"] == "QuantizeV2"
        for case, reason in (
            (ngraph(EVEN, "int8", zero_point=1), "no zero point"),
            (ngraph(EVEN, "int8", scale=0.1), "powers of two"),
            (ngraph(EVEN, "int8", real="float64"), "takes float32"),
            (ngraph(EVEN, "int32"), "not exactly"),
        ):
            outcome = isolated.run(case)
            assert (outcome.status, reason in outcome.message) == ("unsupported", True), outcome.message
        away = isolated.run(ngraph("ROUND_NEAREST_TOWARD_INFINITY", "int8"))
        assert away.outputs[0].tolist() == [-3, -2, -1, 1, 2, 3, 3]
        assert isolated.attestation([])["TF_ENABLE_ONEDNN_OPTS"] == "as shipped"
    finally:
        isolated.close()


def test_onnx_reference_overflow_is_the_librarys_own() -> None:
    """The finding "casts to int32 before clamping": the same through the library's API alone."""
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    names = (("x", TensorProto.FLOAT), ("s", TensorProto.FLOAT), ("z", TensorProto.UINT8))
    graph = helper.make_graph(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"])],
        "g",
        [helper.make_tensor_value_info(name, kind, None) for name, kind in names],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    feeds = {"x": np.array([3e9], np.float32), "s": np.float32(1), "z": np.uint8(0)}
    with np.errstate(all="ignore"):
        (alone,) = ReferenceEvaluator(model).run(None, {name: np.asarray(value) for name, value in feeds.items()})
    assert through("onnx-reference", linear("uint8", x=[3e9])).outputs[0].tolist() == [int(alone[0])]


def through(name: str, case: Case) -> Outcome:
    isolated = IsolatedBackend(name, time_limit=60)
    try:
        isolated.start()
        return isolated.run(case)
    finally:
        isolated.close()
