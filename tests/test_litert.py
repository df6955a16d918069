"""LiteRT through its adapter: the models that it writes, what the runtime makes of them, and what it says of itself."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

from tiebreak.adapters.litert import LiteRt, without_xnnpack
from tiebreak.adapters.litert_model import tflite_model
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node, with_constants
from tiebreak.golden.problem import Array

EVEN = {"round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
TIES = np.array([-1.5, -0.5, 0.5, 1.5, 2.5], np.float32)
FAKE = "tensorflow.FakeQuantWithMinMaxVars"


@pytest.fixture(scope="module")
def shipped() -> LiteRt:
    return LiteRt()


@pytest.fixture(scope="module")
def plain() -> LiteRt:
    return without_xnnpack()


def quantize(quantized: str = "int8", *, real: str = "float32", **attributes: Any) -> Node:
    return make_node("onnx.QuantizeLinear", real=real, quantized=quantized, attributes=attributes)


def dequantize(quantized: str = "int8", *, real: str = "float32", **attributes: Any) -> Node:
    return make_node("onnx.DequantizeLinear", real=real, quantized=quantized, attributes=attributes)


def parameters(node: Node, scale: object, zero_point: object) -> tuple[Array, Array]:
    return np.array(scale).astype(node.inputs[1].dtype), np.array(zero_point).astype(node.inputs[2].dtype)


def output(backend: LiteRt, node: Node, x: Array, scale: object, zero_point: object) -> Array:
    (array,) = backend.compile(node)(x, *parameters(node, scale, zero_point))
    assert array.dtype == node.outputs[0].dtype
    return array


def test_the_model_has_the_parameters_and_the_axis_in_its_tensors_quantization() -> None:
    from ai_edge_litert import schema_py_generated as schema

    node = quantize("uint8", axis=1)
    content = tflite_model(node, (2, 3, 4), parameters(node, [0.5, 1, 2], [0, 200, 255]))
    assert content[4:8] == b"TFL3"
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content))
    x, y = model.subgraphs[0].tensors
    assert (x.type, y.type) == (schema.TensorType.FLOAT32, schema.TensorType.UINT8)
    assert (x.shape.tolist(), y.shape.tolist()) == ([2, 3, 4], [2, 3, 4])
    assert x.quantization is None
    assert y.quantization.scale.tolist() == [0.5, 1, 2]
    assert y.quantization.zeroPoint.tolist() == [0, 200, 255]
    assert y.quantization.quantizedDimension == 1
    assert model.operatorCodes[0].builtinCode == schema.BuiltinOperator.QUANTIZE


def test_xnnpack_takes_ties_to_even_and_the_built_in_kernel_away_from_zero(shipped: LiteRt, plain: LiteRt) -> None:
    assert output(shipped, quantize(), TIES, 1, 3).tolist() == [1, 3, 3, 5, 5]
    assert output(plain, quantize(), TIES, 1, 3).tolist() == [1, 2, 4, 5, 6]


def test_ngraph_nodes_and_left_off_zero_points_run_too(shipped: LiteRt) -> None:
    node = make_node("ngraph.Quantize", real="float32", quantized="uint8", attributes={**EVEN, "axes": [1]})
    x = np.array([[2.5, 5], [-1, 600]], np.float32)
    assert output(shipped, node, x, [1, 2], [1, 0]).tolist() in ([[3, 2], [0, 255]], [[4, 3], [0, 255]])
    node = make_node("onnx.QuantizeLinear", real="float32", zero_point=False)
    assert shipped.compile(node)(TIES, np.array(1, np.float32))[0].tolist() == [0, 0, 0, 2, 2]


def test_each_shape_and_each_scale_has_a_model_of_its_own(shipped: LiteRt) -> None:
    run = shipped.compile(dequantize())
    for shape in ((), (3,), (0,), (2, 0, 3), (1, 2, 1, 2, 1, 2, 1, 2)):
        for scale in (0.5, 2.0):
            x = np.full(shape, 7, np.int8)
            (y,) = run(x, np.array(scale, np.float32), np.array(-1, np.int8))
            assert y.shape == shape
            assert y.dtype.name == "float32"
            assert np.all(y == 8 * scale)


@pytest.mark.parametrize("axis", [-1, -3, 2])
def test_the_runtime_itself_judges_the_axis(shipped: LiteRt, axis: int) -> None:
    with pytest.raises(Unsupported, match=rf"quantized_dimension must be in range \[0, 2\). Was {axis}"):
        output(shipped, dequantize(axis=axis), np.ones((2, 2), np.int8), [1, 2], [0, 0])


@pytest.mark.parametrize(
    ("shape", "scale", "zero_point", "axis", "reason"),
    [
        ((2, 3), (1,), (1,), 0, "not for an axis of size 2"),
        ((2, 3), (1,), (), 0, "one zero point in none"),
        ((2, 2), (2, 2), (2, 2), 0, "lists of scales"),
    ],
)
def test_shapes_that_its_lists_lose_are_unsupported(
    shipped: LiteRt, shape: tuple[int, ...], scale: tuple[int, ...], zero_point: tuple[int, ...], axis: int, reason: str
) -> None:
    with pytest.raises(Unsupported, match=reason):
        output(shipped, dequantize(axis=axis), np.ones(shape, np.int8), np.ones(scale), np.ones(zero_point))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_axis_is_counted_from_the_front(plain: LiteRt, axis: int) -> None:
    x = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    scale = np.array([0.5, 1, 3, 0.25][: x.shape[axis]], np.float32)
    zero_point = np.arange(len(scale))
    shape = [-1 if place == axis else 1 for place in range(3)]
    wanted = (x - zero_point.reshape(shape)) * scale.reshape(shape)
    assert np.array_equal(output(plain, dequantize(axis=axis), x, scale, zero_point), wanted)


@pytest.mark.parametrize("quantized", ["int4", "uint4"])
def test_types_of_four_bits_enter_and_leave(shipped: LiteRt, quantized: str) -> None:
    x = np.array([-100, 1, 2, 100, 3], np.float32)
    y = output(shipped, quantize(quantized), x, 1, 1)
    assert y.astype(int).tolist() == [{"int4": -8, "uint4": 0}[quantized], 2, 3, {"int4": 7, "uint4": 15}[quantized], 4]
    assert output(shipped, dequantize(quantized), y, 2, 1)[1:3].tolist() == [2, 4]


def test_float16_is_for_the_delegate_alone(shipped: LiteRt, plain: LiteRt) -> None:
    assert output(shipped, quantize(real="float16"), TIES.astype(np.float16), 1, 0).tolist() == [-2, 0, 0, 2, 2]
    with pytest.raises(Unsupported, match="failed to prepare"):
        plain.compile(quantize(real="float16"))
    with pytest.raises(Unsupported, match="output float32, not float16"):
        plain.compile(dequantize(real="float16"))


def test_fake_quant_has_its_limits_as_options(shipped: LiteRt) -> None:
    run = shipped.compile(make_node(FAKE, attributes={"num_bits": 4}))
    limits = np.array(-1.5, np.float32), np.array(6, np.float32)
    (y,) = run(np.array([-9, 0.6, 1, 9], np.float32), *limits)
    assert y.tolist() == [-1.5, 0.5, 1, 6]


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (make_node("ngraph.Quantize", attributes={"round_mode": "ROUND_UP"}), "no ROUND_UP"),
        (make_node("ngraph.Quantize", attributes={**EVEN, "axes": [0, 1]}), "one axis at most"),
        (make_node("ngraph.Dequantize", real="float64"), "doesn't hold every float64"),
        (quantize(block_size=2), "no block_size"),
        (quantize(real="int32"), "it rescales"),
        (quantize("float8_e4m3fnuz"), "schema has no float8_e4m3fnuz"),
        (quantize("uint16"), "failed to prepare"),
        (dequantize("int32"), "failed to prepare"),
        (dequantize("int2"), "Cannot set tensor"),
        (make_node(FAKE, attributes={"narrow_range": True}), "narrow_range FakeQuant is not currently supported"),
        (make_node("tensorflow.FakeQuantWithMinMaxVarsPerChannel"), "LiteRT has no tensorflow"),
        (with_constants(quantize(), {"x": TIES}), "of a constant x"),
    ],
)
def test_what_it_cannot_do_is_refused_with_the_reason(shipped: LiteRt, node: Node, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        shipped.compile(node)


def test_a_refusal_while_running_says_the_same_each_time(plain: LiteRt) -> None:
    node, messages = quantize("int4"), set()
    for _ in range(3):
        with pytest.raises(Unsupported, match="FLOAT32 with Output type INT4") as refused:
            output(plain, node, np.ones((2, 2), np.float32), [1, 2], [0, 0])
        messages.add(str(refused.value))
    assert len(messages) == 1


def test_xnnpack_refuses_a_scale_of_nan_in_its_own_words(shipped: LiteRt, plain: LiteRt) -> None:
    x = np.ones(2, np.int8)
    with pytest.raises(Unsupported, match="unsupported scale value"):
        output(shipped, dequantize(), x, np.nan, 0)
    assert np.isnan(output(plain, dequantize(), x, np.nan, 0)).all()


def test_parameters_that_are_constants_of_the_node_give_the_same(shipped: LiteRt) -> None:
    scale, zero_point = parameters(quantize(), 0.3, 5)
    node = with_constants(quantize(), {"y_scale": scale, "y_zero_point": zero_point})
    assert np.array_equal(output(shipped, node, TIES, scale, zero_point), output(shipped, quantize(), TIES, 0.3, 5))


def test_the_record_says_what_the_delegate_ran_before_anything_was_run() -> None:
    backend, other = LiteRt(), without_xnnpack()
    for each in (backend, other):
        run = each.compile(quantize())
        told = each.attest()
        run(TIES, *parameters(quantize(), 1, 0))
        assert each.attest() == told
    told, without = backend.attest(), other.attest()
    assert told["default delegate"] == "TfLiteXNNPackDelegate"
    assert told["probes run by the delegate"] == "QUANTIZE: float32 to int8"
    assert told["probes run by built-in kernels"] == "QUANTIZE per axis: float32 to int8"
    assert (without["default delegate"], without["probes run by the delegate"]) == ("none", "nothing")
    assert told["library"].endswith("__init__.py")
    assert told["ai-edge-litert"] == backend.version


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["shipped", "plain"])
@pytest.mark.parametrize("node", [quantize(), dequantize("uint4"), quantize("int4"), make_node(FAKE)])
def test_the_reproducer_gives_what_the_backend_gave(name: str, node: Node, request: pytest.FixtureRequest) -> None:
    backend = request.getfixturevalue(name)
    values = ([0.5, 2.5, 3], 1, 2) if node.operator != FAKE else ([0.5, 2.5, 3], 0, 6)
    inputs = tuple(np.array(v).astype(t.dtype) for v, t in zip(values, node.inputs, strict=True))
    bound = [
        f"{t.name} = np.array({v}).astype({typed(t.dtype.name)})" for v, t in zip(values, node.inputs, strict=True)
    ]
    lines = ["import numpy as np", "import ml_dtypes", *bound, backend.reproducer(node, inputs)]
    lines.append("print(outputs[0].dtype.name, outputs[0].astype(float).tolist(), library)")
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    (y,) = backend.compile(node)(*inputs)
    wanted = f"{y.dtype.name} {y.astype(float).tolist()} ai-edge-litert {backend.version}"
    assert done.stdout.startswith(wanted)
    assert backend.resolver in done.stdout


def typed(name: str) -> str:
    return f"ml_dtypes.{name}" if hasattr(ml_dtypes, name) else f"np.{numpy_dtype(name).name}"


@pytest.mark.parametrize(
    "node",
    [
        make_node("onnx.DequantizeLinear", quantized="int8", opset=10),
        make_node("onnx.DequantizeLinear", quantized="int8", attributes={"axis": -1}),
        make_node("ngraph.Dequantize", quantized="int8", attributes={"axes": [3]}),
    ],
)
def test_the_probes_have_an_axis_whatever_the_nodes_own(node: Node) -> None:
    backend = without_xnnpack()
    backend.compile(node)
    told = backend.attest()["probes run by built-in kernels"]
    assert told == "DEQUANTIZE: int8 to float32; DEQUANTIZE per axis: int8 to float32"
