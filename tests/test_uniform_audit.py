"""Audits of UniformQuantize and uniform_quantize: black boxes, what the tables predict, real libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, case_of_probe
from tiebreak.golden import oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Steps = Callable[[Array, Array, Array], Array]
TENSORFLOW, STABLEHLO = "tensorflow.UniformQuantize", "stablehlo.uniform_quantize"
f32, f64, i64, wide = np.float32, np.float64, np.int64, np.longdouble
NODES = [(TENSORFLOW, "float32", kind) for kind in ("int8", "uint8", "int32")]
NODES += [(STABLEHLO, real, "int8") for real in ("float32", "float16", "bfloat16")]
NODES += [(STABLEHLO, "float32", "int16"), (STABLEHLO, "float32", "int4")]


def box(kind: str, steps: Steps) -> Any:
    """A black box: `steps` make what is clamped. NaN becomes 0."""

    def run(x: Array, scale: Array, zero_point: Array) -> Array:
        of = np.iinfo(kind)
        return np.nan_to_num(np.clip(steps(x, scale, zero_point), of.min, of.max)).astype(kind)

    return run


def written(x: Array, scale: Array, zero_point: Array) -> Array:
    """TensorFlow's text."""
    return np.floor(x * (f32(1) / scale) + f32(0.5)).astype(f64) + f64(zero_point)


def fused(x: Array, scale: Array, zero_point: Array) -> Array:
    """What compilers make of a text that says: a reciprocal, and ties to even."""
    total = (x.astype(wide) * wide(f32(1) / scale) + wide(f32(zero_point))).astype(f32)
    return np.rint(total.astype(f64))


def divided(x: Array, scale: Array, zero_point: Array) -> Array:
    """StableHLO's text."""
    return np.rint((x / scale + x.dtype.type(zero_point)).astype(f64))


def divided_first(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.rint((x / scale).astype(f64)) + f64(zero_point)


def truncated(x: Array, scale: Array, zero_point: Array) -> Array:
    return np.trunc((x / scale + x.dtype.type(zero_point)).astype(f64))


def divided_by_compiler(x: Array, scale: Array, zero_point: Array) -> Array:
    """As IREE 3.13 does it: subnormal numbers are 0, but the scale 2^-127 is a product with 2^127."""
    least = np.finfo(f32).tiny
    inverse = f32(2.0**127) if scale == f32(2.0**-127) else None
    own = np.where(np.abs(x) < least, f32(0), x)
    quotient = own * inverse if inverse is not None else own / (scale if scale >= least else f32(0))
    return np.rint((quotient + f32(zero_point)).astype(f64))


EVEN = "ROUND_NEAREST_TOWARD_EVEN"
FIRST, LAST = {"zero_point": "before-rounding"}, {"zero_point": "after-rounding"}
BOXES = [
    (TENSORFLOW, "float32", "int8", written, {"scaling": "reciprocal", "round_mode": "floor-of-half-more"} | LAST),
    (TENSORFLOW, "float32", "uint8", fused, {"scaling": "fused", "round_mode": EVEN, "nan": "zero"} | FIRST),
    (TENSORFLOW, "float32", "int32", fused, {"scaling": "fused", "round_mode": EVEN} | FIRST),
    (TENSORFLOW, "float32", "uint8", divided_first, {"scaling": "divide", "precision": "float32"} | LAST),
    (STABLEHLO, "float32", "int8", divided, {"scaling": "divide", "round_mode": EVEN, "precision": "float32"} | FIRST),
    (STABLEHLO, "float16", "uint8", divided, {"precision": "float16", "round_mode": EVEN} | FIRST),
    (STABLEHLO, "float32", "int16", divided_first, {"scaling": "divide", "round_mode": EVEN} | LAST),
    (STABLEHLO, "float32", "int8", divided_by_compiler, {"subnormals": "operands-but-factors-flushed"} | FIRST),
    (STABLEHLO, "float32", "int8", truncated, {"round_mode": "ROUND_TOWARD_ZERO"} | FIRST),
]


@pytest.mark.parametrize(("operator", "source", "target", "steps", "wanted"), BOXES)
def test_black_boxes_are_named(operator: str, source: str, target: str, steps: Steps, wanted: dict[str, str]) -> None:
    answer = audited(box(target, steps), audited_node(operator, {}, source, target, 0))
    found = answer.semantics()
    assert found and {name: found[name] for name in wanted} == wanted, answer.closest()


@pytest.mark.few(1)
@pytest.mark.parametrize("operator", [TENSORFLOW, STABLEHLO])
def test_what_no_table_has_is_not_named(operator: str) -> None:
    def afraid_of_five(*inputs: Array) -> Array:
        found = box("int8", divided)(*inputs)
        return np.where(found == 5, 6, found).astype(np.int8)

    answer = audited(afraid_of_five, audited_node(operator, {}, "float32", "int8", 0))
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.parametrize(("operator", "source", "target"), NODES)
def test_what_the_document_says_is_the_oracles(operator: str, source: str, target: str) -> None:
    arithmetic, compared = arithmetic_of(audited_node(operator, {}, source, target, 0)), 0
    arithmetic.assume()
    for number, probe in enumerate(list(arithmetic.first_probes())[::7]):
        (problem,) = problems_of(case_of_probe(arithmetic.node, probe, number))
        wanted, states = oracle.solve(problem, working=True)
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
        known = np.asarray(states) != UNDEFINED
        assert np.array_equal(predicted[known], np.asarray(wanted)[known])
        compared += int(known.sum())
    assert compared > 1000
    assert tuple(arithmetic.documented) in arithmetic.candidates.places


def test_what_has_no_table_is_refused() -> None:
    refused = [
        (TENSORFLOW, {"quantization_min_val": -127}, "float32", "int8", "the whole range of int8, -128 to 127"),
        (TENSORFLOW, {"quantization_axis": 0}, "float32", "int8", "without quantization_axis"),
        (STABLEHLO, {"storage_min": -7}, "float32", "int8", "the whole range of int8"),
        (STABLEHLO, {"quantization_dimension": 0}, "float32", "int8", "without quantization_dimension"),
        (STABLEHLO, {}, "float32", "int32", "float32 lacks the ends of int32"),
        (STABLEHLO, {}, "bfloat16", "int16", "bfloat16 lacks the ends of int16"),
        (STABLEHLO, {}, "int8", "int8", "real operands, not of quantized ones"),
    ]
    for operator, attributes, source, target, words in refused:
        with pytest.raises(InvalidInput, match=words):
            arithmetic_of(audited_node(operator, attributes, source, target, 0))


@pytest.mark.slow
def test_tensorflow_does_what_its_text_says_and_xla_fuses() -> None:
    found = {}
    for backend in ("tensorflow", "tensorflow-xla"):
        run = CliRunner().invoke(main, ["audit", backend, "--operator", TENSORFLOW, "--type", "int8", "--json"])
        data = json.loads(run.stdout)["semantics"]
        found[backend] = data["scaling"], data["zero_point"], data["round_mode"], data["saturation"]
    assert found["tensorflow"] == ("reciprocal", "after-rounding", "floor-of-half-more", "int32")
    assert found["tensorflow-xla"] == ("fused", "before-rounding", EVEN, "saturate")


@pytest.mark.slow
def test_xla_rounds_an_int32_zero_point_before_it_is_fused() -> None:
    """-159574352 * 10 + 2147483646 lies beside 551740128, half way between two float32; 2147483648 gives the half."""
    run = CliRunner().invoke(main, ["audit", "tensorflow-xla", "--operator", TENSORFLOW, "--type", "int32", "--json"])
    data = json.loads(run.stdout)["semantics"]
    assert (data["scaling"], data["zero_point"], data["round_mode"]) == ("fused", "before-rounding", EVEN)
