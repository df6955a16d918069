"""Emulators of fake quantizers, ranges and requantizers give what their tables predict, and what libraries gave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from auditing import single_changes
from click.testing import CliRunner
from emulated import check_as_predicted, emulated, predicted, probes_of

from tiebreak.adapters.registry import load_backend
from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.emulators import running
from tiebreak.conformance.emulators.job import DEFAULTS, FILES
from tiebreak.conformance.emulators.steps import SINGLE, Computed, given, step
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.operators.openvino_fake_quantize_facets import FakeQuantizeArithmetic
from tiebreak.conformance.operators.tensorflow_quantize_v2_facets import QuantizeV2Arithmetic
from tiebreak.conformance.semantics.model import Arithmetic, Semantics
from tiebreak.conformance.semantics.scaled_products import EXACTLY
from tiebreak.golden.errors import Unsupported

TARGETS = ("numpy", "c", "torch", "onnx")
NODES: dict[str, tuple[str, dict[str, Any], tuple[str, str]]] = {
    "FakeQuantize": ("openvino.FakeQuantize", {}, ("", "")),
    "FakeQuantize, float16": ("openvino.FakeQuantize", {}, ("float16", "")),
    "FakeQuantize, bfloat16": ("openvino.FakeQuantize", {"levels": 16}, ("bfloat16", "")),
    "fake_quantize": ("torch.fake_quantize_per_tensor_affine", {}, ("", "")),
    "fake_quantize, int4": ("torch.fake_quantize_per_channel_affine", {"quant_min": -8, "quant_max": 7}, ("", "")),
    "paddle": ("paddle.QuantizeLinear", {}, ("", "")),
    "round trip": ("tensorflow.QuantizeAndDequantizeV2", {}, ("", "")),
    "round trip, bfloat16": ("tensorflow.QuantizeAndDequantizeV4", {"narrow_range": True}, ("bfloat16", "")),
    "round trip, float64": ("tensorflow.QuantizeAndDequantizeV3", {"signed_input": False}, ("float64", "")),
    "QuantizeV2": ("tensorflow.QuantizeV2", {}, ("", "")),
    "QuantizeV2, MIN_FIRST": ("tensorflow.QuantizeV2", {"mode": "MIN_FIRST"}, ("float32", "qint8")),
    "QuantizeV2, SCALED": ("tensorflow.QuantizeV2", {"mode": "SCALED", "narrow_range": True}, ("float32", "int8")),
    "Dequantize": ("tensorflow.Dequantize", {}, ("int8", "float32")),
    "Dequantize, MIN_FIRST": ("tensorflow.Dequantize", {"mode": "MIN_FIRST"}, ("int16", "float32")),
    "Dequantize, SCALED": ("tensorflow.Dequantize", {"mode": "SCALED"}, ("int32", "float32")),
    "RESCALE": ("tosa.RESCALE", {}, ("", "")),
    "RESCALE, int32": ("tosa.RESCALE", {"rounding_mode": "DOUBLE_ROUND"}, ("int32", "int8")),
    "RESCALE, scale16": ("tosa.RESCALE", {"scale32": False}, ("int16", "uint8")),
    "Requantize": ("tflite.Requantize", {}, ("uint8", "int8")),
    "Requantize, int32": ("tflite.Requantize", {"rounding": "double"}, ("int32", "int16")),
    "UniformRequantize": ("tensorflow.UniformRequantize", {}, ("", "")),
    "QLinearMul": ("com.microsoft.QLinearMul", {}, ("", "")),
    "QLinearAdd": ("com.microsoft.QLinearAdd", {}, ("", "int8")),
    "QLinearMatMul": ("onnx.QLinearMatMul", {}, ("", "int8")),
    "QLinearConv": ("onnx.QLinearConv", {}, ("", "")),
    "QGemm": ("com.microsoft.QGemm", {}, ("", "")),
    "MatMulNBits": ("com.microsoft.MatMulNBits", {}, ("", "")),
    "MatMulNBits, float16": ("com.microsoft.MatMulNBits", {"bits": 8}, ("float16", "")),
    "MatMulNBits, bfloat16": ("com.microsoft.MatMulNBits", {}, ("bfloat16", "")),
}
REFUSED = (
    "steps that no type rounds",
    "PyTorch rounds a float64 to float32 before it rounds it to float16",
    "runtimes of ONNX round a float64 to float32 before they round it to float16",
    "ONNX has no operator for a fused multiply-add, or for a sum that is rounded once",
)


def table_of(name: str) -> Arithmetic:
    operator, attributes, (first, last) = NODES[name]
    return arithmetic_of(audited_node(operator, attributes, first, last.removeprefix("q"), 0))


def draw_specials(arithmetic: Arithmetic, random: np.random.Generator) -> None:
    """Any values of the special facets; what large numbers give is known then."""
    if isinstance(arithmetic, FakeQuantizeArithmetic | QuantizeV2Arithmetic):
        facets = arithmetic.specials
        arithmetic.seen = {one.name: [one.values[random.integers(len(one.values))]] for one in facets}  # type: ignore[misc]


def learn_large(arithmetic: Arithmetic, semantics: Semantics) -> None:
    """The codes that a semantics predicts of the largest finite numbers."""
    if isinstance(arithmetic, FakeQuantizeArithmetic | QuantizeV2Arithmetic):
        seen = arithmetic.seen
        finite = [probe for probe in arithmetic.special_probes() if not arithmetic.special_of(probe)]
        arithmetic.learn_specials([(probe, int(predicted(arithmetic, probe, semantics)[0])) for probe in finite])
        arithmetic.seen = seen


def files_as_predicted(name: str, target: str, semantics: list[Semantics]) -> int:
    """Compare files with the table's predictions; how many there were."""
    if target in ("torch", "onnx"):
        pytest.importorskip(target)
    arithmetic, random, held, refused = table_of(name), np.random.default_rng(7), 0, list[str]()
    probes = probes_of(arithmetic.node)
    for one in semantics:
        draw_specials(arithmetic, random)
        learn_large(arithmetic, one)
        try:
            assert check_as_predicted(arithmetic, one, target, probes) > 3000
            held += 1
        except Unsupported as refusal:
            refused.append(str(refusal))
    assert set(refused) <= set(REFUSED)
    return held


def is_exact(one: Semantics) -> bool:
    return any(value.id == "exact" for value in one)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", NODES)
def test_every_value_of_a_facet_in_numpy(name: str) -> None:
    changes = [one for one in dict.fromkeys(single_changes(table_of(name))) if not is_exact(one)]
    assert files_as_predicted(name, "numpy", changes) == len(changes) > 5


@pytest.mark.few(3, of="target")
@pytest.mark.parametrize("name", NODES)
@pytest.mark.parametrize("target", TARGETS)
def test_combinations_of_facets(name: str, target: str) -> None:
    every = [one for one in table_of(name).candidates.all if not is_exact(one)]
    drawn = [every[place] for place in np.random.default_rng(len(name)).permutation(len(every))[:12]]
    held = files_as_predicted(name, target, drawn)
    assert held == len(drawn) if target in ("numpy", "c") else held > 0


def cli(backend: str, *said: str) -> Any:
    return CliRunner().invoke(main, ["audit", backend, *said])


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("backend", "operator"),
    [
        ("torch", "torch.fake_quantize_per_tensor_affine"),
        ("torch", "torch.fake_quantize_per_channel_affine"),
        ("tensorflow", "tensorflow.QuantizeV2"),
        ("tensorflow", "tensorflow.Dequantize"),
        ("tensorflow", "tensorflow.QuantizeAndDequantizeV3"),
        ("openvino", "openvino.FakeQuantize --attr levels=2"),
        ("tensorflow", "tensorflow.UniformRequantize"),
        ("litert", "tflite.Requantize"),
        ("onnxruntime", "com.microsoft.QLinearMul"),
        ("onnxruntime", "onnx.QLinearConv"),
        ("onnxruntime", "onnx.QLinearMatMul"),
        ("onnxruntime", "com.microsoft.MatMulNBits"),
    ],
)
def test_a_library_and_its_emulator(backend: str, operator: str, target: str, tmp_path: Path) -> None:
    pytest.importorskip({"litert": "ai_edge_litert"}.get(backend, backend))
    path = tmp_path / "emulator"
    result = cli(backend, "--operator", *operator.split(), "--emulator", target, "-o", str(path))
    assert result.exit_code == 0 and "an emulator, which gives what the backend gave" in result.output, result.output
    one_product = operator.startswith(("onnx.QLinear", "com.microsoft.MatMul"))
    assert (b"it says nothing of a sum of several" in path.read_bytes()) == one_product


def test_the_class_gives_every_output_and_refuses_what_was_not_audited(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    path = tmp_path / "v2.py"
    assert (
        cli("tensorflow", "--operator", "tensorflow.QuantizeV2", "--emulator", "numpy", "-o", str(path)).exit_code == 0
    )
    assert "# the audit asked for no output_min: Emulator gives min_range" in path.read_text().splitlines()
    run = load_backend(f"{path}:Emulator").compile(audited_node("tensorflow.QuantizeV2", {}, "", "", 0))
    one = np.float32(1)
    y, low, high = run(np.array([0.5, 2], np.float32), np.asarray(0, np.float32), np.asarray(one))
    assert (y.tolist(), float(low), float(high)) == ([128, 255], 0.0, 1.0)


def test_the_class_takes_one_product_out_of_packed_weights(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    path, operator = tmp_path / "weights.py", "com.microsoft.MatMulNBits"
    assert cli("onnxruntime", "--operator", operator, "--emulator", "numpy", "-o", str(path)).exit_code == 0
    assert "a * ((code" in path.read_text() and "tiebreak audit THIS_FILE" in path.read_text()
    again = cli(f"{path}:Emulator", "--operator", operator)
    assert again.exit_code == 0 and "position: as-written" in again.output, again.output
    run = load_backend(f"{path}:Emulator").compile(audited_node(operator, {}, "", "", 0))
    packed = np.full((1, 1, 8), 0x2D, np.uint8), np.full((1, 1), 0.5, np.float32), np.full((1, 1), 0xA3, np.uint8)
    a = np.array([[1.5] + [0] * 15, [-2] + [0] * 15], np.float32)
    assert run(a, *packed)[0].tolist() == [[1.5 * 5], [-2 * 5]]  # (13 - 3) * 0.5
    with pytest.raises(Unsupported, match="made for one product"):
        run(a + 1, *packed)


def test_an_input_that_is_held_is_refused_otherwise(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    path, operator = tmp_path / "v3.py", "tensorflow.QuantizeAndDequantizeV3"
    assert cli("tensorflow", "--operator", operator, "--emulator", "numpy", "-o", str(path)).exit_code == 0
    run = load_backend(f"{path}:Emulator").compile(audited_node(operator, {}, "", "", 0))
    x, ends = np.array([0.3], np.float32), [np.asarray(end, np.float32) for end in (-1, 1)]
    assert (
        run(x, *ends, np.asarray(8, np.int32))[0].tolist() == running.loaded(path, "fake_quantize")(x, *ends).tolist()
    )
    with pytest.raises(Unsupported, match="made for num_bits 8"):
        run(x, *ends, np.asarray(4, np.int32))


def nearly_ties(count: int) -> list[tuple[int, int, int, int, int, int]]:
    """Bytes, and significands of three scales, whose quotient is next to a half: nearer than float64 tells.

    d1 * d2 * a * b is c + m * 2^40 with a small c, for an odd b and c / b mod 2^40 that is a product of the others.
    """
    random, found = np.random.default_rng(11), list[tuple[int, int, int, int, int, int]]()
    while len(found) < count:
        b, c = int(random.integers(1 << 23, 1 << 24)) | 1, int(random.integers(-500, 500)) | 1
        rest = c * pow(b, -1, 1 << 40) % (1 << 40)
        for first in range(255, 128, -1):
            second = next((one for one in range(255, 128, -1) if rest % (first * one) == 0), 0)
            a = rest // (first * second) if second else 0
            if 1 << 23 <= a < 1 << 24:
                found.append((first, second, a, b, (rest * b - c) >> 40, c))
                break
    return found


@pytest.mark.parametrize("target", ["numpy", "c"])
def test_a_quotient_next_to_a_tie_is_rounded_as_the_real_one(target: str, tmp_path: Path) -> None:
    arithmetic = arithmetic_of(audited_node("com.microsoft.QLinearMul", {}, "", "", 0))
    names = dict(zip(arithmetic.candidates.names, arithmetic.documented, strict=True))
    exact = tuple((names | {"position": EXACTLY}).values())
    one = emulated(arithmetic, exact)
    path = tmp_path / DEFAULTS[target].name
    path.write_text(str(FILES[target](one, [])), encoding="utf-8")
    first, second, a, b, m, c = (np.array(column) for column in zip(*nearly_ties(40), strict=True))
    scales = [(column * 2.0**power).astype(np.float32) for column, power in ((a, -40), (b, 0), (2 * m, 0))]
    for held, column in ((scales[0] * 2.0**40, a), (scales[1], b), (scales[2], 2 * m)):
        assert np.array_equal(held, column)
    zero = np.zeros(first.shape, np.uint8)
    operands = (first.astype(np.uint8), scales[0], zero, second.astype(np.uint8), scales[1], zero, scales[2], zero)
    assert running.RUNS[target](path, one)(*operands).tolist() == (c > 0).astype(int).tolist()
    assert len(set((c > 0).tolist())) == 2


@pytest.mark.parametrize(("operator", "many"), [("com.microsoft.QLinearMul", True), ("com.microsoft.QGemm", False)])
def test_a_second_operand_has_many_elements_where_an_operator_takes_each(operator: str, many: bool) -> None:
    """A product of matrices is no sum of several: an audit asks for one product."""
    arithmetic = arithmetic_of(audited_node(operator, {}, "", "", 0))
    text = str(FILES["numpy"](emulated(arithmetic, arithmetic.documented), []))
    assert ("or b.size != 1" in text) != many and "a_scale.size != 1" in text
    assert ("if (bias != 0).any():" in text) != many
    assert text.splitlines()[-1] == "        return run" and "are one number, or one for each a." in text


def test_a_traced_number_has_no_value_and_keeps_its_type() -> None:
    x = Traced(given("x", SINGLE))
    with pytest.raises(TypeError, match="no value to decide by"):
        bool(x > 0)
    with pytest.raises(TypeError, match="float32 beside float64"):
        np.add(x, Traced(given("y", "float64")))
    with pytest.raises(TypeError):
        np.sqrt(x)
    found: Computed = np.where(x < 1, np.float32(2) - x, 3).of  # type: ignore[call-overload]
    assert (found.op, found.type, found.operands[1].op, found.operands[2].value) == ("where", SINGLE, "subtract", 3.0)
    assert step("add", found, found).type == SINGLE
