"""Audits of integers times a ratio of scales: black boxes, what the tables predict, real libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited, infer_each_alone, single_changes
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, case_of_probe, silence_of
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.golden import oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Steps = Callable[[Array, int, Any, Any, Any], Array]
f32, f64, i64 = np.float32, np.float64, np.int64
MUL, MATMUL, CONV = "com.microsoft.QLinearMul", "onnx.QLinearMatMul", "onnx.QLinearConv"
GEMM = "com.microsoft.QGemm"
UNIFORM = "tensorflow.UniformRequantize"
NODES = [
    (MUL, "float32", "uint8"),
    (MUL, "float32", "int8"),
    (MATMUL, "float32", "int8"),
    (MATMUL, "float32", "uint8"),
    (CONV, "uint8", "int8"),
    (CONV, "int8", "uint8"),
    (UNIFORM, "int8", "int8"),
    (GEMM, "int8", "uint8"),
]


def box(
    kind: str,
    steps: Steps,
    *,
    first: bool,
    ends: Callable[[Array, Any], Array],
    whole: Any = np.rint,
    before_point: Callable[[Array], Array] = np.asarray,
) -> Any:
    """A black box: `steps` make a quotient of the first differences, the second one and the scales."""

    def run(*inputs: Array) -> Array:
        a, a_scale, a_point, b, b_scale, b_point, y_scale, y_point, *_ = inputs
        differences, second = a.astype(i64) - a_point.astype(i64), int(b) - int(b_point)
        quotient = steps(differences, second, a_scale, b_scale, y_scale)
        point = y_point.astype(i64)
        found = whole(quotient + quotient.dtype.type(point)) if first else before_point(whole(quotient)) + point
        return ends(found.astype(i64), np.iinfo(kind)).astype(kind)

    return run


def clamp(values: Array, ends: Any) -> Array:
    return np.clip(values, ends.min, ends.max)


def wrap(values: Array, ends: Any) -> Array:
    return (values - ends.min) % 256 + ends.min


def cast(values: Array, ends: Any) -> Array:
    """Through int32, as x86 converts: its lowest value stands for what it can't hold."""
    return clamp(in_int32(values), ends)


def cast_and_wrap(values: Array, ends: Any) -> Array:
    return wrap(in_int32(values), ends)


def in_int32(values: Array) -> Array:
    return np.where((values < -(2**31)) | (values >= 2**31), -(2**31), values)


def written(d: Array, second: int, a: Any, b: Any, y: Any) -> Array:
    return (d * second).astype(f32) * (a * b) / y


def multiplied(d: Array, second: int, a: Any, b: Any, y: Any) -> Array:
    return (d * second).astype(f32) * (a * b / y)


def widened(d: Array, second: int, a: Any, b: Any, y: Any) -> Array:
    return (d * second).astype(f64) * f64(a * b / y)


def numbers(d: Array, second: int, a: Any, b: Any, y: Any) -> Array:
    return (d.astype(f32) * a) * (f32(second) * b) / y


def by_inverse(d: Array, second: int, a: Any, b: Any, y: Any) -> Array:
    return (d.astype(f32) * a) * (f32(second) * b) * (f32(1) / y)


def in_doubles(d: Array, second: int, a: Any, b: Any, y: Any) -> Array:
    return (d * second).astype(f64) * (f64(a) * f64(b)) / f64(y)


def away(values: Array) -> Array:
    return np.sign(values) * np.floor(np.abs(values) + 0.5)


BOXES = [
    (MATMUL, "float32", "int8", box("int8", written, first=False, ends=clamp), {"position": "as-written"}),
    (MATMUL, "float32", "uint8", box("uint8", multiplied, first=False, ends=clamp), {"position": "multiplier"}),
    (MATMUL, "float32", "int8", box("int8", widened, first=True, ends=clamp),
     {"position": "multiplier-widened", "zero_point": "before-rounding"}),
    (CONV, "uint8", "uint8", box("uint8", numbers, first=False, ends=clamp), {"position": "dequantized"}),
    (CONV, "int8", "int8", box("int8", multiplied, first=False, ends=wrap),
     {"position": "multiplier", "saturation": "wrap"}),
    (MUL, "float32", "uint8", box("uint8", multiplied, first=True, ends=clamp),
     {"position": "multiplier", "zero_point": "before-rounding"}),
    (MUL, "float32", "uint8", box("uint8", by_inverse, first=True, ends=wrap, whole=np.trunc),
     {"position": "dequantized-reciprocal", "round_mode": "ROUND_TOWARD_ZERO", "saturation": "wrap"}),
    (MUL, "float32", "int8", box("int8", in_doubles, first=False, ends=clamp, whole=away),
     {"position": "exact", "round_mode": "ROUND_NEAREST_TOWARD_INFINITY"}),
    (MUL, "float32", "uint8", box("uint8", multiplied, first=True, ends=cast),
     {"position": "multiplier", "saturation": "int32"}),
    (MATMUL, "float32", "int8", box("int8", written, first=False, ends=clamp, before_point=in_int32),
     {"position": "as-written", "saturation": "int32-then-wider-sum"}),
    (MATMUL, "float32", "uint8", box("uint8", multiplied, first=False, ends=clamp, before_point=in_int32),
     {"position": "multiplier", "saturation": "int32-then-wider-sum"}),
    (MUL, "float32", "uint8", box("uint8", in_doubles, first=True, ends=cast_and_wrap, whole=np.trunc),
     {"round_mode": "ROUND_TOWARD_ZERO", "zero_point": "before-rounding", "saturation": "int32-then-wrap"}),
    (MATMUL, "float32", "uint8", box("uint8", widened, first=True, ends=cast_and_wrap),
     {"position": "multiplier-widened", "saturation": "int32-then-wrap"}),
]  # fmt: skip


@pytest.mark.parametrize(("operator", "source", "target", "run", "wanted"), BOXES)
def test_black_boxes_are_named(operator: str, source: str, target: str, run: Any, wanted: dict[str, str]) -> None:
    answer = audited(run, audited_node(operator, {}, source, target, 0))
    found = answer.semantics()
    assert found and {name: found[name] for name in wanted} == wanted, answer.closest()


@pytest.mark.slow
def test_what_no_table_has_is_not_named() -> None:
    right = box("int8", written, first=False, ends=clamp)

    def afraid_of_five(*inputs: Array) -> Array:
        found = right(*inputs)
        return np.where(found == 5, 6, found).astype(np.int8)

    answer = audited(afraid_of_five, audited_node(MATMUL, {}, "float32", "int8", 0))
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.parametrize(("operator", "source", "target"), NODES)
def test_what_the_document_says_is_the_oracles(operator: str, source: str, target: str) -> None:
    arithmetic, compared = arithmetic_of(audited_node(operator, {}, source, target, 0)), 0
    for number, probe in enumerate(list(arithmetic.first_probes())[::9]):
        (problem, *_) = problems_of(case_of_probe(arithmetic.node, probe, number))
        wanted, _ = oracle.solve(problem, working=True)
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
        assert np.array_equal(predicted, np.asarray(wanted).reshape(-1))
        compared += predicted.size
    assert compared > 1000


@pytest.mark.parametrize(("operator", "source", "target"), NODES)
def test_values_have_causes_and_the_document_has_one_of_each(operator: str, source: str, target: str) -> None:
    arithmetic = arithmetic_of(audited_node(operator, {}, source, target, 0))
    assert tuple(arithmetic.documented) in arithmetic.candidates.places
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        assert plain in facet.values and len(facet.by_id) == len(facet.values)
        assert all(value is plain or sentence_of(key_of(value, plain.id)) for value in facet.values)


@pytest.mark.few(1)
@pytest.mark.parametrize(("operator", "source", "target"), [NODES[0], NODES[2], NODES[6]])
def test_every_value_of_every_facet_is_inferred(operator: str, source: str, target: str) -> None:
    """Each value where nothing else is unlike the document's, and no other one is left."""
    node = audited_node(operator, {}, source, target, 0)
    assert infer_each_alone(node, single_changes(arithmetic_of(node))) >= 18


def test_onnxs_reference_multiplies_in_float64_by_a_float32() -> None:
    """Its NumPy makes float64 of int32 and float32, and adds the zero point before it rounds."""
    run = CliRunner().invoke(main, ["audit", "onnx-reference", "--operator", MATMUL, "--json"])
    found = json.loads(run.stdout)["semantics"]
    assert (found["position"], found["zero_point"]) == ("multiplier-widened", "before-rounding")
    assert (found["round_mode"], found["saturation"]) == ("ROUND_NEAREST_TOWARD_EVEN", "saturate")


def test_openvino_takes_the_product_as_a_part_of_the_outputs_range() -> None:
    run = CliRunner().invoke(main, ["audit", "openvino", "--operator", CONV, "--json"])
    assert json.loads(run.stdout)["semantics"]["position"] == "dequantized-range"


def test_openvino_cuts_off_and_wraps_a_product_of_tensors() -> None:
    run = CliRunner().invoke(main, ["audit", "openvino", "--operator", MUL, "--json"])
    found = json.loads(run.stdout)["semantics"]
    assert (found["round_mode"], found["saturation"]) == ("ROUND_TOWARD_ZERO", "wrap")


def merging(x: Array, scale: Array, own: Array, other: Array, last: Array) -> Array:
    """As XLA compiles it: one number for both zero points, made in float64, then float32. Here nothing is fused."""
    ratio = f64(scale) / f64(other)
    zero = f32(f64(last) - f64(own) * ratio)
    total = (x.astype(f64) * f64(f32(ratio)) + f64(zero)).astype(f32)  # the product is exact in float64, the sum nearly
    return clamp(np.rint(total), np.iinfo(np.int8)).astype(np.int8)


def test_merged_zero_points_are_named() -> None:
    found = audited(merging, audited_node(UNIFORM, {}, "int8", "int8", 0)).semantics()
    assert found and found["position"] == "merged-zero-points"


@pytest.mark.parametrize("attributes", [{"alpha": 0.5}, {"transA": True}, {"transB": True}])
def test_a_gemm_with_more_than_products_has_no_table(attributes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="with alpha 1 and without transA and transB"):
        arithmetic_of(audited_node(GEMM, attributes, "int8", "int8", 0))


def test_a_gemm_with_real_results_has_no_table() -> None:
    with pytest.raises(InvalidInput, match="of integer outputs, not of float32"):
        arithmetic_of(audited_node(GEMM, {}, "int8", "float32", 0))


def test_a_narrow_range_has_no_table() -> None:
    with pytest.raises(InvalidInput, match="the whole range of int8, -128 to 127"):
        arithmetic_of(audited_node(UNIFORM, {"output_quantization_min_val": -127}, "int8", "int8", 0))


@pytest.mark.slow
def test_tensorflow_multiplies_by_31_bits_and_xla_merges_zero_points() -> None:
    positions = {}
    for backend in ("tensorflow", "tensorflow-xla"):
        run = CliRunner().invoke(main, ["audit", backend, "--operator", UNIFORM, "--json"])
        found = json.loads(run.stdout)["semantics"]
        positions[backend] = found["factor"], found["position"], found["round_mode"]
    assert positions["tensorflow"] == ("31-bits", "once", "ROUND_NEAREST_UPWARD")
    assert positions["tensorflow-xla"] == ("real", "merged-zero-points", "ROUND_NEAREST_TOWARD_EVEN")


def test_an_answer_says_where_the_document_is_silent() -> None:
    assert all("how a tie is" in silence_of(audited_node(operator, {}, "", "", 0)) for operator in (MUL, UNIFORM))
    assert not silence_of(audited_node(MATMUL, {}, "", "", 0))


@pytest.mark.parametrize("words", [["--type", "int8"], ["--input-type", "int8"]])
def test_a_product_of_one_named_type_is_of_that_type(words: list[str]) -> None:
    """ONNX Runtime has no kernel for uint8 to int8, which --type int8 alone used to ask for."""
    done = CliRunner().invoke(main, ["audit", "onnxruntime", "--operator", MATMUL, *words, "--json"])
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["input_type"], found["output_type"]) == ("int8", "int8")
