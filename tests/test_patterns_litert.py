"""Patterns on LiteRT: the float graph, the converter's integer graph, and what the interpreter says that it runs."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

from ai_edge_litert import interpreter
from pattern_answers import asked

from tiebreak.adapters.patterns.litert import LiteRtPatterns
from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED
from tiebreak.adapters.patterns.script import fused_script
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns import stepwise
from tiebreak.golden.patterns.catalogue import CATALOGUE

INTEGER = "integer kernels"
BLOCK = 8  # elements that QUANTIZE takes at a time
NINE = np.full((BLOCK + 1, 1), 2.5, np.float32)
AVERAGE = asked("average-pool", "int8", ("0.1", "0.3"), (0, 3))


@pytest.fixture(scope="module")
def litert() -> LiteRtPatterns:
    return LiteRtPatterns()


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("words", CATALOGUE)
def test_unfused_is_each_node_as_written_where_float32_is_exact(litert: LiteRtPatterns, words: str, kind: str) -> None:
    """Layouts, attributes and divisors. Ties are rounded in another way after the last block of QUANTIZE."""
    one = asked(words, kind, zero_points=(5, 0, 9))
    assert litert.ways[0].name == UNFUSED and litert.ways[1].name == SHIPPED
    found, right = one.answer(litert).ravel(), one.stepwise().ravel()
    blocks = len(found) // BLOCK * BLOCK
    assert blocks > 0 and np.array_equal(found[:blocks], right[:blocks])


def test_quantize_rounds_ties_away_from_zero_after_its_last_block(litert: LiteRtPatterns) -> None:
    """The same number gives another code as the last of nine than before."""
    one = asked("relu-q", "int8", ("1",))
    output = litert.open(one.pattern, one.pairs, {"x": NINE}, UNFUSED).run({"x": NINE})
    assert output.ravel().tolist() == [2] * BLOCK + [3]


def test_unfused_multiplies_by_the_reciprocal_of_the_scale(litert: LiteRtPatterns) -> None:
    """Why it differs from each node as written. The reference kernel divides, and rounds ties away from zero."""
    x = stepwise.average({}, stepwise.dequantize(AVERAGE.rows["x"], AVERAGE.pairs["s1"]))
    scale = AVERAGE.pairs["s2"].scale
    quotient = (x / scale).astype(np.float64)
    away = np.copysign(np.floor(np.abs(quotient) + 0.5), quotient)
    found, reference = AVERAGE.answer(litert), AVERAGE.answer(litert, "reference kernels")
    assert np.array_equal(found, np.rint(x * (np.float32(1) / scale)) + 3)
    assert np.array_equal(reference, away + 3)
    assert (found != AVERAGE.stepwise()).any() and (reference != AVERAGE.stepwise()).any()


def test_dequantize_subtracts_after_it_multiplies(litert: LiteRtPatterns) -> None:
    """Why DEQUANTIZE differs from a node as written; XNNPACK subtracts the zero point first."""
    one = asked("DQ(Q(x, s), s)", "uint8", ("0.07",), (128,))
    scale, zero_point = one.pairs["s"].scale, np.float32(128)
    codes = np.rint(one.rows["x"] * (np.float32(1) / scale)) + zero_point
    q = np.clip(codes, np.float32(0), np.float32(255))
    assert np.array_equal(one.answer(litert).view(np.float32), q * scale + -zero_point * scale)
    assert np.array_equal(one.answer(litert, SHIPPED).view(np.float32), (q - zero_point) * scale)
    assert (one.answer(litert) != one.answer(litert, SHIPPED)).any()


def test_the_delegate_changes_results(litert: LiteRtPatterns) -> None:
    one = asked("average-pool", "uint8", ("0.0235", "0.0471"), (255, 255))
    shipped, unfused = one.answer(litert, SHIPPED), one.answer(litert)
    assert 0 < np.count_nonzero(shipped != unfused) < 100
    assert np.array_equal(shipped, one.stepwise())


def test_integer_kernels_change_results_by_one(litert: LiteRtPatterns) -> None:
    one = asked("mul", "int8", ("0.1", "0.2", "0.3"))
    distance = np.abs(one.answer(litert, INTEGER) - one.answer(litert))
    assert distance.max() == 1


@pytest.mark.parametrize(
    ("words", "operators"),
    [
        ("relu", "RELU"),
        ("clip", "RELU6"),
        ("add", "ADD"),
        ("max-pool", "MAX_POOL_2D > QUANTIZE"),
        ("max-pool-one-scale", "MAX_POOL_2D"),
        ("global-average-pool", "MEAN"),
        ('Q(Resize(DQ(x), mode="linear"))', "QUANTIZE > RESIZE_BILINEAR"),
        ("sigmoid", "LOGISTIC > QUANTIZE"),
        ("matmul", "FULLY_CONNECTED"),
        ("conv-relu", "CONV_2D"),
        ("requantize", "QUANTIZE"),
        ("Q(Clip(DQ(x), -1, 3))", "MINIMUM > QUANTIZE > MAXIMUM"),
    ],
)
def test_the_integer_graph_has_the_operator_on_quantized_tensors(
    litert: LiteRtPatterns, words: str, operators: str
) -> None:
    one = asked(words, "int8")
    graph = one.graph(litert, INTEGER)
    assert graph == tuple(f"{name} int8" for name in operators.split(" > "))
    assert np.abs(one.answer(litert, INTEGER) - one.stepwise()).max() <= len(graph)  # one for each rounding


def test_the_graph_says_what_the_delegate_replaced(litert: LiteRtPatterns) -> None:
    one = asked("resize-nearest", "uint8")
    assert one.graph(litert) == ("DEQUANTIZE float32", "RESIZE_NEAREST_NEIGHBOR float32", "QUANTIZE uint8")
    assert one.graph(litert, SHIPPED) == (
        "DELEGATE (DEQUANTIZE)",
        "RESIZE_NEAREST_NEIGHBOR float32",
        "DELEGATE (QUANTIZE)",
    )
    assert asked("add", "int8").graph(litert, SHIPPED) == ("DELEGATE (DEQUANTIZE, DEQUANTIZE, ADD, QUANTIZE)",)


def test_int16_has_a_bias_of_64_bits(litert: LiteRtPatterns) -> None:
    """With one of 32 bits the kernel reads beyond it."""
    one = asked('Q(Conv(DQ(x), DQ(constant(w), type="int8")))', "int16", ("0.0002", "0.3", "0.0005"))
    assert np.abs(one.answer(litert, INTEGER) - one.stepwise()).max() == 1


@pytest.mark.parametrize(
    ("words", "kind", "zero_points", "way", "message"),
    [
        ("relu", "int16", (1, 0), UNFUSED, "input->params.zero_point != 0 (1 != 0)"),
        ("relu", "uint16", (0, 0), UNFUSED, "DEQUANTIZE) failed to prepare"),
        ("concat", "int8", (0, 0, 0), INTEGER, "t->params.scale != output->params.scale"),
        ("concat", "int16", (0, 0, 0), INTEGER, "op quantization parameters violate the same scale constraint"),
        ("conv", "int8", (0, 1, 0), INTEGER, "affine_quantization->zero_point->data[i] != 0 (1 != 0)"),
        ("conv", "int16", (0, 0, 0), INTEGER, "LiteRT quantizes 16x8"),
        ("relu-q", "int8", (0,), INTEGER, "no operator of this pattern lies alone between"),
        ("DQ(Q(x, s), t)", "int8", (0, 0), UNFUSED, "one scale and zero point in LiteRT"),
        ("Q(MaxPool(Softmax(DQ(x))))", "int8", (0, 0), UNFUSED, "tensors of unlike ranks"),
        ("Q(Conv(DQ(x), DQ(w)))", "int8", (0, 0, 0), UNFUSED, "the filter of CONV_2D is a constant"),
    ],
)
def test_refusals_keep_their_message(
    litert: LiteRtPatterns, words: str, kind: str, zero_points: tuple[int, ...], way: str, message: str
) -> None:
    with pytest.raises(Unsupported) as refused:
        asked(words, kind, zero_points=zero_points).answer(litert, way)
    assert message in str(refused.value)


def test_the_script_shows_both_answers(litert: LiteRtPatterns, tmp_path: Path) -> None:
    one = asked("average-pool", "uint8", ("0.0235", "0.0471"), (255, 255))
    first = int(np.argmax(one.answer(litert, SHIPPED) != one.answer(litert))) // BLOCK * BLOCK
    rows = {"x": one.rows["x"][first : first + BLOCK]}
    path = tmp_path / "script.py"
    path.write_text(fused_script("litert", "two answers", one.pattern, one.pairs, rows, "0"))
    done = subprocess.run([sys.executable, "-P", str(path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    library, shipped, unfused, _ = done.stdout.splitlines()
    assert library.startswith("ai-edge-litert ")
    assert shipped.partition(":")[2].strip() == str(one.answer(litert, SHIPPED)[first : first + BLOCK].ravel().tolist())
    assert unfused.partition(":")[2].strip() == str(one.answer(litert)[first : first + BLOCK].ravel().tolist())


def converted(tf: Any, function: Callable[[Any], Any], limits: tuple[float, float]) -> list[str]:
    """The operators that TensorFlow's converter makes of a function between two FakeQuants."""

    def fake(x: Any, low: float, high: float) -> Any:
        return tf.quantization.fake_quant_with_min_max_args(x, min=low, max=high)

    def model(x: Any) -> Any:
        return fake(function(fake(x, -4.0, 4.1)), *limits)

    traced = tf.function(model, input_signature=[tf.TensorSpec([1, 1, 2, 1])], autograph=False)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([traced.get_concrete_function()])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # FakeQuants stand for statistics
        model_content = converter.convert()
    made = interpreter.Interpreter(model_content=model_content, experimental_op_resolver_type=resolver)
    return [f"{op['op_name']} {np.dtype(op['result_types'][0]).name}" for op in made._get_ops_details()]


@pytest.mark.slow
def test_the_integer_graph_is_what_the_converter_makes(litert: LiteRtPatterns) -> None:
    tf = pytest.importorskip("tensorflow")
    functions: dict[str, Callable[[Any], Any]] = {
        "relu": tf.nn.relu,
        "clip": tf.nn.relu6,
        "Q(Clip(DQ(x), -1, 3))": lambda x: tf.clip_by_value(x, -1.0, 3.0),
        "max-pool": lambda x: tf.nn.max_pool2d(x, (1, 2), (1, 1), "VALID"),
        "average-pool": lambda x: tf.nn.avg_pool2d(x, (1, 2), (1, 1), "VALID"),
        "global-average-pool": lambda x: tf.reduce_mean(x, [1, 2], keepdims=True),
        "sigmoid": tf.sigmoid,
        "tanh": tf.tanh,
        "Q(Mul(DQ(x, s), DQ(x, s)))": lambda x: x * x,
        "Q(Relu(Mul(DQ(x, s), DQ(x, s))))": lambda x: tf.nn.relu(x * x),
        'Q(Resize(DQ(x), mode="linear"))': lambda x: tf.compat.v1.image.resize_bilinear(
            x, (1, 4), half_pixel_centers=True
        ),
    }
    for words, function in functions.items():
        assert list(asked(words, "int8").graph(litert, INTEGER)) == converted(tf, function, (-1.0, 5.0)), words
