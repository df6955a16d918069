"""Audits of dequantizers: black boxes, what the table predicts, real libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited, infer_each_alone
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, case_of_probe
from tiebreak.conformance.semantics.affine_dequantize import ORDERS, SUBNORMALS
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden import oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Box = Callable[[Array, Array, Array], Array]
ONNX, TENSORFLOW = "onnx.DequantizeLinear", "tensorflow.UniformDequantize"
STABLEHLO, NGRAPH = "stablehlo.uniform_dequantize", "ngraph.Dequantize"
f32, f64, i64, wide = np.float32, np.float64, np.int64, np.longdouble
TINY = f32(2.0**-126)
NODES = [
    *((ONNX, real, kind) for real in ("float32", "float16", "bfloat16") for kind in ("int8", "uint8", "int4")),
    *((TENSORFLOW, "float32", kind) for kind in ("int8", "uint8", "int32")),
    *((STABLEHLO, real, "int8") for real in ("float32", "float16", "bfloat16")),
    *((NGRAPH, "float32", kind) for kind in ("int8", "uint8", "int32")),
    (ONNX, "float32", "int16"),
]


def written(x: Array, scale: Array, zero: Array) -> Array:
    return (x.astype(i64) - zero.astype(i64)).astype(scale.dtype) * scale


def apart(x: Array, scale: Array, zero: Array) -> Array:
    return x.astype(scale.dtype) * scale - zero.astype(scale.dtype) * scale


def fused(x: Array, scale: Array, zero: Array) -> Array:
    """A product of 32 bits and a sum are exact in an extended float, but for what a float32 never sees."""
    bias = zero.astype(f32) * scale
    return (x.astype(wide) * wide(scale) - wide(bias)).astype(f32)


def divided(x: Array, scale: Array, zero: Array) -> Array:
    return (x.astype(i64) - zero.astype(i64)).astype(f32) / (f32(1) / scale)


def in_int32(x: Array, scale: Array, zero: Array) -> Array:
    return (x.astype(np.int32) - zero.astype(np.int32)).astype(f32) * scale


def converted(x: Array, scale: Array, zero: Array) -> Array:
    return (x.astype(f32) - zero.astype(f32)) * scale


def once(x: Array, scale: Array, zero: Array) -> Array:
    return ((x.astype(i64) - zero.astype(i64)).astype(wide) * wide(scale)).astype(f32)


def through_float(x: Array, scale: Array, zero: Array) -> Array:
    """As x86-64 converts: beyond int32 is its lowest."""
    back = x.astype(f32).astype(f64)
    return in_int32(np.where(back > 2147483647, -2147483648, back), scale, zero)


def flushing(run: Box, *, scales: bool = False) -> Box:
    def flushed(values: Array) -> Array:
        return np.where(np.abs(values) < TINY, np.copysign(f32(0), values), values).astype(f32)

    return lambda x, scale, zero: flushed(run(x, flushed(scale) if scales else scale, zero))


BOXES: list[tuple[str, str, Box, tuple[str, str]]] = [
    ("float32", "int8", written, ("difference-first", "kept")),
    ("float16", "uint8", written, ("difference-first", "kept")),
    ("bfloat16", "int8", apart, ("distributed", "kept")),
    ("float32", "int8", apart, ("distributed", "kept")),
    ("float16", "int8", apart, ("distributed", "kept")),
    ("float32", "uint8", fused, ("distributed-fused", "kept")),
    ("float32", "int8", divided, ("reciprocal", "kept")),
    ("float32", "uint8", flushing(written), ("difference-first", "results-flushed")),
    ("float32", "int8", flushing(written, scales=True), ("difference-first", "scales-flushed")),
    ("float32", "int32", in_int32, ("difference-in-int32", "kept")),
    ("float32", "int32", converted, ("converted-first", "kept")),
    ("float32", "int32", once, ("rounded-once", "kept")),
    ("float32", "int32", through_float, ("through-float32", "kept")),
]


@pytest.mark.parametrize(("real", "kind", "run", "wanted"), BOXES)
def test_black_boxes_are_named(real: str, kind: str, run: Box, wanted: tuple[str, str]) -> None:
    operator = NGRAPH if kind == "int32" else ONNX
    answer = audited(run, audited_node(operator, {}, real, kind, 0))
    assert answer.semantics() == dict(zip(("position", "subnormals"), wanted, strict=True)), answer.closest()


def test_what_no_table_has_is_not_named() -> None:
    def afraid_of_five(x: Array, scale: Array, zero: Array) -> Array:
        return np.where(x == 5, f32(0), written(x, scale, zero))

    answer = audited(afraid_of_five, audited_node(ONNX, {}, "float32", "int8", 0))
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.parametrize(("operator", "kind", "count"), [(ONNX, "int8", 12), (NGRAPH, "int32", 24)])
def test_every_combination_is_told_from_all_others(operator: str, kind: str, count: int) -> None:
    node = audited_node(operator, {}, "float32", kind, 0)
    assert infer_each_alone(node, arithmetic_of(node).candidates.all) == count


@pytest.mark.parametrize(("operator", "real", "kind"), NODES)
def test_what_the_document_says_is_the_oracles(operator: str, real: str, kind: str) -> None:
    arithmetic, compared = arithmetic_of(audited_node(operator, {}, real, kind, 0)), 0
    for number, probe in enumerate(list(arithmetic.first_probes())[::5]):
        (problem,) = problems_of(case_of_probe(arithmetic.node, probe, number))
        codes, states = oracle.solve(problem, working=True)
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
        known = (np.asarray(states) != UNDEFINED) & (probe.x.astype(i64) != probe.others[1].astype(i64))
        assert np.array_equal(predicted[known], np.asarray(codes)[known])
        compared += int(known.sum())
    assert compared > 100
    assert arithmetic.documented in arithmetic.candidates.places


def test_every_other_value_has_a_sentence_as_a_cause() -> None:
    keys = [value.cause for value in (*ORDERS, *SUBNORMALS) if value.cause]
    assert len(keys) == len(ORDERS) + len(SUBNORMALS) - 2
    assert len({sentence_of(key) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    ("operator", "attributes", "real", "kind", "words"),
    [
        (ONNX, {}, "float32", "float8_e4m3fn", "integers that become float32, float16, bfloat16"),
        (NGRAPH, {}, "float64", "int8", "integers that become float32, float16, bfloat16"),
        (ONNX, {}, "float16", "int16", "int16 that becomes float32"),
        (ONNX, {"axis": 0}, "float32", "int8", ""),
        (TENSORFLOW, {"quantization_axis": 0}, "float32", "int8", "without an axis"),
        (NGRAPH, {"axes": (0,)}, "float32", "int8", "without an axis"),
    ],
)
def test_what_has_no_table_is_refused(
    operator: str, attributes: dict[str, Any], real: str, kind: str, words: str
) -> None:
    """But for onnx's axis, which says nothing of a scalar scale."""
    if not words:
        assert arithmetic_of(audited_node(operator, attributes, real, kind, 0)).node.operator == operator
        return
    with pytest.raises(InvalidInput, match=words):
        arithmetic_of(audited_node(operator, attributes, real, kind, 0))


LIVE = [
    ("onnxruntime", ONNX, "int8", "difference-first", "kept"),
    ("openvino", ONNX, "uint8", "difference-first", "kept"),
    ("torch", NGRAPH, "int8", "difference-first", "kept"),
    ("tensorflow", TENSORFLOW, "int32", "through-float32", None),  # it refuses subnormal scales
    ("tensorflow-xla", TENSORFLOW, "int32", "difference-in-int32", "scales-flushed"),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("backend", "operator", "kind", "position", "subnormals"), LIVE, ids=[one[0] for one in LIVE])
def test_libraries_are_named(backend: str, operator: str, kind: str, position: str, subnormals: str | None) -> None:
    if backend == "torch":
        pytest.importorskip("torch")
    run = CliRunner().invoke(main, ["audit", backend, "--operator", operator, "--type", kind, "--json"])
    found = json.loads(run.stdout)["semantics"]
    assert (found["position"], found.get("subnormals")) == (position, subnormals)
