"""The torch backends on the real library, against its own API called without Tiebreak and against plain formulas."""

from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.reproducer import WantedElement, discrepancy_script
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case, Node, with_constants

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")
    from tiebreak.adapters.torch import Torch, decomposed
    from tiebreak.adapters.torch_calls import Argument, Call
    from tiebreak.adapters.torch_fake import affine

    BACKENDS = {"torch": Torch(), "torch-decomposed": decomposed()}

EVEN = {"round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
TIES = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 300.0]
both = pytest.mark.parametrize("name", BACKENDS)


def quantize_node(quantized: str = "uint8", real: str = "float32", **given: Any) -> Node:
    return make_node("onnx.QuantizeLinear", real=real, quantized=quantized, **given)


def dequantize_node(quantized: str = "uint8", real: str = "float32", **given: Any) -> Node:
    return make_node("onnx.DequantizeLinear", real=real, quantized=quantized, **given)


def run(name: str, node: Node, *values: Any) -> Any:
    arrays = (np.asarray(value).astype(tensor.dtype) for value, tensor in zip(values, node.inputs, strict=False))
    (output,) = BACKENDS[name].compile(node)(*arrays)
    assert output.dtype == node.outputs[0].dtype
    return output


@both
def test_ties_to_even_with_an_even_zero_point(name: str) -> None:
    assert run(name, quantize_node(), TIES, 1, 2).tolist() == [0, 0, 2, 2, 4, 4, 255]
    assert run(name, quantize_node("int8"), TIES, 1, -2).tolist() == [-4, -4, -2, -2, 0, 0, 127]


def test_the_zero_point_before_rounding_is_the_librarys_own() -> None:
    """The finding "adds the zero point before rounding", of the classic functions only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        alone = torch.quantize_per_tensor(torch.tensor([0.5]), torch.tensor(1.0), torch.tensor(3), torch.quint8)
    assert run("torch", quantize_node(), [0.5], 1, 3).tolist() == alone.int_repr().tolist()
    assert run("torch-decomposed", quantize_node(), [0.5], 1, 3).tolist() == [3]


@pytest.mark.parametrize(
    ("name", "axis"),
    [*((name, axis) for name in BACKENDS for axis in (0, 1, None)), ("torch-decomposed", -1)],
)
def test_axis(name: str, axis: int | None) -> None:
    node = quantize_node(attributes={} if axis is None else {"axis": axis})
    x = np.array([[2.0, 4.0], [8.0, 16.0]])
    along = np.array([[1.0], [2.0]]) if axis == 0 else np.array([[1.0, 2.0]])
    assert run(name, node, x, [1, 2], [0, 2]).tolist() == (x / along + np.where(along == 2, 2, 0)).tolist()
    back = dequantize_node(attributes=dict(node.attributes))
    assert (
        run(name, back, [[2, 4], [8, 16]], [1, 2], [0, 2]).tolist()
        == ((x - np.where(along == 2, 2, 0)) * along).tolist()
    )


@pytest.mark.parametrize(
    ("name", "axis", "reason"),
    [
        ("torch", -1, "Got: -1 ?Expected"),
        ("torch", -3, "Got: -3 ?Expected"),
        ("torch", 2, "Got: 2 ?Expected"),
        ("torch-decomposed", -3, "out of range"),
        ("torch-decomposed", 2, "Expecting axis to be < 2"),
    ],
)
def test_torch_itself_judges_the_axis(name: str, axis: int, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        run(name, quantize_node(attributes={"axis": axis}), np.ones((2, 2)), [1, 2], [0, 2])


@both
def test_one_scale_has_no_axis(name: str) -> None:
    with pytest.raises(Unsupported, match="no axis for one scale"):
        run(name, quantize_node(attributes={"axis": 0}), np.ones((2, 2)), 1, 0)


@both
def test_shapes_and_an_absent_zero_point(name: str) -> None:
    for shape in ((), (0,), (2, 0, 3), (1, 1)):
        assert run(name, quantize_node(zero_point=False), np.full(shape, 7.0), 2).shape == shape
        assert run(name, dequantize_node(), np.full(shape, 7), 2, 1).tolist() == np.full(shape, 12.0).tolist()
    assert run(name, quantize_node(zero_point=False), [[7.0, 7.0]], [1, 2]).tolist() == [[7, 4]]
    assert run(name, dequantize_node(zero_point=False), [[7, 7]], [1, 2]).tolist() == [[7, 14]]
    assert run(name, quantize_node(), [6.0, 4.0], [2], [1]).tolist() == [4, 3]  # one element beside rank 1 is a scalar


@both
def test_ngraph_nodes_that_are_the_same(name: str) -> None:
    node = make_node("ngraph.Quantize", quantized="int32", attributes=EVEN | {"axes": [1]})
    assert run(name, node, [[5.0, 70000.0]], [2, 0.5], [0, 10]).tolist() == [[2, 140010]]
    back = make_node("ngraph.Dequantize", quantized="int32", attributes={"axes": [1]})
    assert run(name, back, [[2, 140010]], [2, 0.5], [0, 10]).tolist() == [[4.0, 70000.0]]


@pytest.mark.parametrize("real", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("quantized", ["int8", "uint8", "int16", "uint16", "float8_e4m3fn", "float8_e5m2"])
def test_types_of_the_decomposed_functions(real: str, quantized: str) -> None:
    x = np.array([1.0, 3.0])
    if "float" not in quantized:
        x = run("torch-decomposed", quantize_node(quantized, real), [2.0, 6.0], 2, 0)
        assert x.tolist() == [1, 3]
    assert run("torch-decomposed", dequantize_node(quantized, real), x, 2, 0).astype(np.float64).tolist() == [2.0, 6.0]


@pytest.mark.parametrize(
    ("name", "node", "reason"),
    [
        ("torch", quantize_node("int16"), "quantized dtypes are qint8, quint8, qint32"),
        ("torch", quantize_node("uint8", "float16"), "Quantize only works on Float Tensor, got Half"),
        ("torch", dequantize_node("uint8", "float16"), "returns an fp32 Tensor"),
        ("torch", make_node("tensorflow.QuantizeV2"), "torch has no tensorflow.QuantizeV2"),
        ("torch-decomposed", quantize_node("float8_e4m3fn"), "rounds to an integer before the cast"),
        ("torch-decomposed", quantize_node("float8_e4m3fnuz"), "rounds to an integer before the cast"),
        (
            "torch-decomposed",
            dequantize_node("float8_e4m3fnuz"),
            "Unsupported dtype in dequantize_per_tensor: torch.float8_e4m3fnuz",
        ),
        ("torch-decomposed", quantize_node("uint8", "int32"), "Expecting input to have dtype torch.float32"),
        ("torch-decomposed", quantize_node("float8_e5m2", attributes={"saturate": False}), "no saturate"),
        ("torch-decomposed", quantize_node("uint8", "float32", scale="float16"), "a type of its own"),
    ],
)
def test_what_torch_does_not_take_is_unsupported_with_its_reason(name: str, node: Node, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        BACKENDS[name].compile(node)


@both
@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (make_node("ngraph.Quantize", attributes={"round_mode": "ROUND_UP"}), "no ROUND_UP"),
        (make_node("ngraph.Quantize", attributes=EVEN | {"axes": [0, 1]}), "one axis"),
        (make_node("ngraph.Quantize", real="float64", attributes=EVEN), "(Double|torch.float64)"),
        (quantize_node(attributes={"block_size": 2}), "no block_size"),
        (quantize_node(attributes={"precision": "float16"}), "no precision"),
    ],
)
def test_what_neither_takes(name: str, node: Node, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        BACKENDS[name].compile(node)


def test_inputs_that_torch_does_not_take_are_unsupported() -> None:
    for zero_point in (0.5, np.inf, -np.inf, np.nan):
        with pytest.raises(Unsupported, match="zero_point is an integer"):
            run("torch-decomposed", dequantize_node("float8_e5m2"), [1.0], 1, zero_point)
    with pytest.raises(Unsupported, match="division by zero"):
        run("torch-decomposed", quantize_node(), [1.0], 0, 0)


def test_a_release_without_a_type_does_not_take_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch, "float8_e8m0fnu")
    node = make_node("onnx.Cast", real="float32", quantized="float8_e8m0fnu")
    with pytest.raises(Unsupported, match="has no float8_e8m0fnu"):
        BACKENDS["torch"].compile(node)


def test_an_internal_error_is_no_refusal() -> None:
    scale = torch.tensor([1.0], dtype=torch.bfloat16)
    given = (torch.zeros(1, 1, dtype=torch.bfloat16), scale, torch.zeros(1, dtype=torch.int32), 0, 0, 255)
    call = Call("fake_quantize_per_channel_affine", tuple(Argument(value, "") for value in given))
    with pytest.raises((RuntimeError, Unsupported)) as caught:
        call.run(torch)
    assert isinstance(caught.value, Unsupported) == ("INTERNAL ASSERT" not in str(caught.value))


@both
def test_constants_go_to_the_overload_with_numbers(name: str) -> None:
    node, x = quantize_node(), np.array(TIES, np.float32)
    scale, zero_point = np.array(0.1, np.float32), np.array(4, np.uint8)
    baked = with_constants(node, {"y_scale": scale})
    assert "tensor(y_scale)" in BACKENDS[name].reproducer(node, (x, scale, zero_point))
    assert "float(y_scale.item())" in BACKENDS[name].reproducer(baked, (x, scale, zero_point))
    assert run(name, node, x, scale, zero_point).tolist() == run(name, baked, x, scale, zero_point).tolist()


@both
def test_constants_for_each_index_of_an_axis(name: str) -> None:
    node = make_node("ngraph.Quantize", attributes=EVEN | {"axes": [1]})
    baked = with_constants(
        node, {"scale": np.array([1, 2, 4], np.float32), "zero_point": np.array([0, 1, 2], np.uint8)}
    )
    assert run(name, baked, [[4.0, 4.0, 4.0]], [1, 2, 4], [0, 1, 2]).tolist() == [[4, 3, 3]]


LIMITS = {"input_low": -1.5, "input_high": 2.0, "output_low": -1.5, "output_high": 2.0}


def fake_node(levels: int = 8, real: str = "float32") -> Node:
    return make_node("openvino.FakeQuantize", real=real, attributes={"levels": levels})


@pytest.mark.parametrize("real", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("constant", [False, True])
def test_fake_quantize_is_the_documents_formula(real: str, constant: bool) -> None:
    x = np.arange(-40, 40) / 16 + 1 / 64  # no ties
    node, dtype = fake_node(8, real), numpy_dtype(real)
    limits = {name: np.array(value, dtype) for name, value in LIMITS.items()}
    baked = with_constants(node, limits) if constant else node
    assert run("torch", baked, x, *limits.values()).tolist() == [formula(value, -1.5, 2.0, 8) for value in x]
    lines = BACKENDS["torch"].reproducer(baked, (x.astype(dtype), *limits.values()))
    wanted = "(tensor(X), 0.5, 3, 0, 7)" if constant else "torch.tensor(0.5, dtype=torch.float32)"
    assert wanted in lines


def formula(x: float, low: float, high: float, levels: int) -> float:
    first, last = Fraction(low), Fraction(high)
    step = (last - first) / (levels - 1)
    return float(max(first, min(last, round((Fraction(x) - first) / step) * step + first)))


def test_fake_quantize_for_each_index_of_an_axis() -> None:
    low, high = np.array([[[-1.5]], [[0.0]]]), np.array([[[2.0]], [[14.0]]])
    x = np.array([[[[0.8, 9.0]], [[0.8, 9.0]]]])
    got = run("torch", fake_node(), x, low, high, low, high)
    assert got[0, :, 0].tolist() == [[formula(v, *ends, 8) for v in (0.8, 9.0)] for ends in ((-1.5, 2.0), (0.0, 14.0))]


def test_fake_quantize_takes_a_step_that_is_no_float32() -> None:
    assert affine(0.0, 6.0, (0, 255)) == (float(np.float32(6 / 255)), 0)
    with pytest.raises(Unsupported, match="beyond float32"):
        affine(0.0, 1e-45, (0, 255))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"output_high": 4.0}, "the limits of its input"),
        ({"input_high": 2.1, "output_high": 2.1}, "0 is not on their grid"),
        ({"input_low": -1.25, "output_low": -1.25, "input_high": 2.25, "output_high": 2.25}, "0 is not on their grid"),
        ({"input_low": 2.0, "output_low": 2.0}, "equal, reversed or not finite"),
        ({"input_high": np.inf, "output_high": np.inf}, "equal, reversed or not finite"),
        ({"input_low": np.array([[-1.5], [0]]), "output_low": np.array([[-1.5], [0]])}, "scales of one shape"),
        ({end: np.full((1, 1, 1), value) for end, value in LIMITS.items()}, "more axes than x"),
    ],
)
def test_fake_quantize_of_other_limits_is_unsupported(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        run("torch", fake_node(), np.zeros((2, 1)), *(LIMITS | changed).values())


def test_tensorflow_fake_quantization() -> None:
    attributes = {"num_bits": 3, "narrow_range": True}
    node = make_node("tensorflow.FakeQuantWithMinMaxVars", attributes=attributes)
    x = [-9.0, -1.1, -0.3, 0.0, 0.7, 9.0]
    assert run("torch", node, x, -1.0, 2.0).tolist() == [-1.0, -1.0, -0.5, 0.0, 0.5, 2.0]
    with pytest.raises(Unsupported, match="a range without 0"):
        run("torch", node, x, 1.0, 4.0)
    each = make_node("tensorflow.FakeQuantWithMinMaxVarsPerChannel", attributes=attributes)
    assert run("torch", each, [[-9.0, 9.0]] * 3, [-1.0, 0.0], [2.0, 6.0]).tolist() == [[-1.0, 6.0]] * 3
    with pytest.raises(Unsupported, match="numel"):  # torch looks for the smallest zero point
        run("torch", each, np.zeros((3, 0)), [], [])


def cases() -> list[tuple[str, Node, tuple[Any, ...]]]:
    ties = quantize_node("int8", attributes={"axis": 1})
    scale = np.array(0.3, np.float32)
    return [
        *((name, ties, ([[0.5, 1.5], [2.5, 0.35]], [1, 0.1], [3, 4])) for name in BACKENDS),
        *((name, with_constants(quantize_node(), {"y_scale": scale}), (TIES, scale, 4)) for name in BACKENDS),
        *((name, quantize_node(zero_point=False), (TIES, 1)) for name in BACKENDS),
        *((name, dequantize_node("int8"), ([1, 2, 3], 0.3, -4)) for name in BACKENDS),
        ("torch-decomposed", dequantize_node("float8_e4m3fn", "bfloat16"), ([0.5, 1.5, 448.0], 2, 0)),
        ("torch-decomposed", dequantize_node("int8", "bfloat16", zero_point=False), ([[1, 2, 3]], [0.3, 1, 2])),
        ("torch", fake_node(), (TIES, *LIMITS.values())),
    ]


@pytest.mark.few(4)
@pytest.mark.parametrize(("name", "node", "values"), cases())
def test_reproducers_give_what_the_backend_gives(
    name: str, node: Node, values: tuple[Any, ...], tmp_path: Path
) -> None:
    inputs = tuple(np.asarray(value).astype(tensor.dtype) for value, tensor in zip(values, node.inputs, strict=False))
    (tmp_path / "lines.py").write_text(BACKENDS[name].reproducer(node, inputs), encoding="utf-8")
    named = {tensor.name: array for tensor, array in zip(node.inputs, inputs, strict=False)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = runpy.run_path(str(tmp_path / "lines.py"), named)
    assert found["library"] == f"torch {torch.__version__}"
    assert len(found["outputs"]) == 1
    assert found["outputs"][0].dtype == node.outputs[0].dtype
    assert found["outputs"][0].tobytes() == run(name, node, *inputs).tobytes()


@pytest.mark.slow
def test_a_whole_reproducer_exits_with_1_while_it_is_wrong(tmp_path: Path) -> None:
    node, inputs = quantize_node(), (np.array([2.5], np.float32), np.array(1, np.float32), np.array(3, np.uint8))
    lines, path = BACKENDS["torch-decomposed"].reproducer(node, inputs), tmp_path / "wrong.py"
    path.write_text(
        discrepancy_script("a test", node, inputs, WantedElement(0, 0, {6: "6"}, 5, ()), lines), encoding="utf-8"
    )
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "expected 0x06 (6), got 0x05 (5)" in done.stdout


@both
def test_attestation_says_what_was_compiled_and_how(name: str) -> None:
    backend = Torch() if name == "torch" else decomposed()
    assert backend.attest()["functions"] == "nothing"
    backend.compile(quantize_node())
    told = backend.attest()
    assert told["functions"].endswith("scale a tensor")
    assert told["library"].endswith("__init__.py")
    assert "torch_cpu" in told["kernels"]
    assert (told["torch"], told["threads"], told["subnormals"]) == (torch.__version__, "1", "kept")
    assert told["CPU capability"] == torch.backends.cpu.get_cpu_capability()


def test_in_a_worker_of_its_own() -> None:
    isolated = IsolatedBackend("tiebreak.adapters.torch:decomposed", time_limit=60)
    try:
        isolated.start()
        x = np.array(TIES, np.float32)
        outcome = isolated.run(Case("c", quantize_node(), (x, np.array(1, np.float32), np.array(1, np.uint8))))
        assert outcome.status == "ok", outcome.message
        assert outcome.outputs[0].tolist() == [0, 0, 1, 1, 3, 3, 255]
        assert isolated.name == "torch-decomposed"
    finally:
        isolated.close()
