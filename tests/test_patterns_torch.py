"""Patterns on PyTorch: eager operators of float32, and what torch.ao makes of them with each engine."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = pytest.importorskip("torch")

from pattern_answers import asked

from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED
from tiebreak.adapters.patterns.script import fused_script
from tiebreak.adapters.patterns.torch import TorchPatterns, refusing
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns import stepwise
from tiebreak.golden.patterns.catalogue import CATALOGUE
from tiebreak.golden.patterns.text import pattern_of
from tiebreak.golden.problem import Array

AVERAGE = asked("average-pool", "int8", ("0.1", "0.3"), (1, 3))
WEIGHTS = 'DQ(constant(w), type="int8")'  # the only weights that most engines take
LINEAR = asked(f"Q(MatMul(DQ(x), {WEIGHTS}, k=2))", "uint8", ("0.1", "0.2", "0.3"), (128, 0, 128))


@pytest.fixture(scope="module")
def library() -> TorchPatterns:
    return TorchPatterns()


def test_ways_are_the_engines_of_this_build(library: TorchPatterns) -> None:
    engines = {name for name in torch.backends.quantized.supported_engines if name != "none"}
    assert [way.name for way in library.ways[:2]] == [UNFUSED, SHIPPED]
    assert {way.settings.rpartition(" ")[2] for way in library.ways[1:]} == engines


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("words", CATALOGUE)
def test_unfused_is_each_node_as_written_where_float32_is_exact(library: TorchPatterns, words: str, kind: str) -> None:
    """Layouts, attributes and divisors. Zero points, which are added first, are even, or 0 near ties."""
    is_exact = all(operand.is_quantized for operand in pattern_of(words).operands)
    one = asked(words, kind, zero_points=(4, 0, 8) if is_exact else (0, 0, 0))
    assert np.array_equal(one.answer(library), one.stepwise())


def test_unfused_multiplies_by_the_reciprocal_and_adds_the_zero_point_before_rounding(library: TorchPatterns) -> None:
    """Why it differs from each node as written: by one fused multiply-add of float32."""
    x = stepwise.average({}, stepwise.dequantize(AVERAGE.rows["x"], AVERAGE.pairs["s1"]))
    reciprocal = np.float32(1) / AVERAGE.pairs["s2"].scale
    sums = (x.astype(np.float64) * reciprocal + 3).astype(np.float32)
    found = AVERAGE.answer(library)
    assert np.array_equal(found, np.rint(sums))
    assert (found != AVERAGE.stepwise()).any()


def test_the_quantized_average_is_rounded_before_it_is_rescaled(library: TorchPatterns) -> None:
    shipped, unfused = AVERAGE.answer(library, SHIPPED), AVERAGE.answer(library)
    codes = AVERAGE.rows["x"].astype(np.int64)
    assert np.abs(shipped - unfused).max() == 1
    same_scale = asked("Q(AveragePool(DQ(x, s)), s)", "int8", ("0.1",), (1,)).answer(library, SHIPPED)
    assert np.array_equal(same_scale, np.rint(codes.mean(axis=1, keepdims=True)))


@pytest.mark.parametrize("way", [SHIPPED, "onednn", "fbgemm", "qnnpack"])
def test_products_saturate_in_16_bits_or_not_at_all(library: TorchPatterns, way: str) -> None:
    """On processors without VNNI pairs of products are added up in 16 bits, with saturation."""
    if way not in {one.name for one in library.ways}:
        pytest.skip(f"this build has no engine {way}")
    x, w = LINEAR.rows["x"].astype(np.int64), LINEAR.rows["w"][0].astype(np.int64)
    sums = np.clip(x @ w, -32768, 32767) - 128 * w.sum(axis=0)
    saturated = np.clip(np.rint(sums * (0.1 * 0.2 / 0.3)) + 128, 0, 255)
    found = LINEAR.answer(library, way)
    assert np.abs(saturated - LINEAR.stepwise()).max() == 128
    assert any(np.array_equal(found, right) for right in (saturated, LINEAR.stepwise()))


@pytest.mark.parametrize("words", ["matmul", "conv"])
def test_onednn_reads_unsigned_weights_as_signed_ones(library: TorchPatterns, words: str) -> None:
    """It takes quint8 weights, other engines refuse them, and gives half of the outputs wrong."""
    if "onednn" not in {one.name for one in library.ways}:
        pytest.skip("this build has no engine onednn")
    one = asked(words, "uint8", ("0.0625", "0.25", "0.5"))
    x, signed = one.rows["x"].astype(np.int64), one.rows["w"][0].view(np.int8).astype(np.int64)
    found = one.answer(library, "onednn")
    assert np.array_equal(found, np.clip(np.rint(x @ signed / 32), 0, 255))
    assert np.count_nonzero(found != one.stepwise()) == 32640


@pytest.mark.parametrize(
    ("words", "graph"),
    [
        ("add", ["quantized.add"]),
        ("Q(Relu(Mul(DQ(a), DQ(b))))", ["quantized.mul_relu"]),
        ("sub", ["dequantize", "dequantize", "sub", "quantize_per_tensor"]),
        ("max-pool-one-scale", ["nn.functional.max_pool2d (quantized)"]),
        ("relu", ["relu (quantized)", "dequantize", "quantize_per_tensor"]),
        ("concat", ["quantized.cat"]),
        ("sigmoid", ["quantized.sigmoid"]),
        ("tanh", ["tanh (quantized)", "dequantize", "quantize_per_tensor"]),
        ("matmul-inputs", ["quantized.matmul"]),
        (f"Q(Relu(Conv(DQ(x), {WEIGHTS})))", ["quantized.conv2d_prepack", "quantized.conv2d_relu"]),
        (f"Q(Gemm(DQ(x), {WEIGHTS}))", ["quantized.linear_prepack", "quantized.linear"]),
        ("relu-q", ["relu", "quantize_per_tensor"]),
    ],
)
def test_the_graph_has_what_torch_ao_makes_of_it(library: TorchPatterns, words: str, graph: list[str]) -> None:
    one = asked(words, "uint8", zero_points=(4, 0, 8))
    assert list(one.graph(library, SHIPPED)) == graph
    assert np.abs(one.answer(library, SHIPPED) - one.stepwise()).max() <= 1


def test_the_result_of_tanh_keeps_its_own_scale(library: TorchPatterns) -> None:
    one = asked("tanh", "uint8", ("0.0625", "0.0078125"), (4, 128))
    assert list(one.graph(library, SHIPPED)) == ["tanh (quantized)"]
    assert np.abs(one.answer(library, SHIPPED) - one.stepwise()).max() <= 1


@pytest.mark.parametrize(
    ("words", "kind", "way", "message"),
    [
        ("conv", "uint8", "fbgemm", "expected scalar type QInt8 but found QUInt8"),  # oneDNN takes them for int8
        ("gemm", "int8", SHIPPED, "Expected input data type QUInt8 but got QInt8"),
        ("relu", "int16", UNFUSED, "torch's quantized dtypes are qint8, quint8, qint32, not int16"),
        ("relu-q", "uint16", SHIPPED, "torch's quantized dtypes are qint8, quint8, qint32, not uint16"),
        ("DQ(Q(x, s), t)", "uint8", UNFUSED, "one scale and zero point in torch"),
    ],
)
def test_refusals_keep_their_message(library: TorchPatterns, words: str, kind: str, way: str, message: str) -> None:
    with pytest.raises(Unsupported) as refused:
        asked(words, kind).answer(library, way)
    assert message in str(refused.value)


def test_qnnpack_takes_ratios_of_scales_from_2_to_the_minus_14_to_below_2_to_the_8(library: TorchPatterns) -> None:
    """Its status of what it does not take reaches us as an assertion of torch's; other assertions are faults."""
    for scale in (2.0**-14, 2.0**8 - 2.0**-16):
        assert asked("add", "uint8", (str(scale), "1", "1")).answer(library, "qnnpack").shape == (65536, 1)
    for scale in (2.0**-14 - 2.0**-38, 2.0**8):
        with pytest.raises(Unsupported, match="failed to create QNNPACK Add operator"):
            asked("add", "uint8", (str(scale), "1", "1")).answer(library, "qnnpack")


def test_an_assertion_of_torch_is_a_fault() -> None:
    def fails() -> Array:
        raise RuntimeError("x INTERNAL ASSERT FAILED at y")

    with pytest.raises(RuntimeError, match="INTERNAL ASSERT"):
        refusing(fails)


@pytest.mark.slow
def test_the_script_shows_both_answers(library: TorchPatterns, tmp_path: Path) -> None:
    one = asked("Q(AveragePool(DQ(x)))", "int8", ("0.1", "0.3"), (1, 3))
    row = int(np.argmax(one.answer(library, SHIPPED) != one.answer(library)))
    rows = {"x": one.rows["x"][row : row + 1]}
    path = tmp_path / "script.py"
    path.write_text(fused_script("torch", "two answers", one.pattern, one.pairs, rows, "0"))
    done = subprocess.run([sys.executable, "-P", str(path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    name, shipped, unfused, _ = done.stdout.splitlines()
    assert name.startswith(f"torch {torch.__version__}, engine ")
    assert shipped.partition(":")[2].strip() == str(one.answer(library, SHIPPED)[row].tolist())
    assert unfused.partition(":")[2].strip() == str(one.answer(library)[row].tolist())
