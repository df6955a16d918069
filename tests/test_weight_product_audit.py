"""Audits of MatMulNBits: black boxes of one product, what the table predicts, real libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from auditing import audited, infer_each_alone, single_changes
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, case_of_probe, silence_of
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.conformance.semantics.model import Facet, codes, ids_of
from tiebreak.golden import oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import UNDEFINED, array_of
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Box = Callable[[Array, int, int, Any], Array]  # of A, code, zero point and scale
f16, f32, f64, bf16 = np.float16, np.float32, np.float64, ml_dtypes.bfloat16
OPERATOR = "com.microsoft.MatMulNBits"
KINDS = ("float32", "float16", "bfloat16")
NODES: list[tuple[str, dict[str, Any]]] = [
    *((kind, {}) for kind in KINDS),
    ("float16", {"bits": 8, "K": 16}),
    ("bfloat16", {"bits": 8, "K": 40}),
    ("float32", {"bits": 8, "block_size": 32}),
]


def written(a: Array, code: int, point: int, scale: Any) -> Array:
    """In A's type throughout."""
    return a * (a.dtype.type(code - point) * scale)


def in_singles(a: Array, code: int, point: int, scale: Any) -> Array:
    return a.astype(f32) * (f32(code - point) * f32(scale))


def in_doubles(a: Array, code: int, point: int, scale: Any) -> Array:
    return a.astype(f64) * ((code - point) * f64(scale))


def scale_at_last(a: Array, code: int, point: int, scale: Any) -> Array:
    return a * a.dtype.type(code - point) * scale


def number_first(a: Array, code: int, point: int, scale: Any) -> Array:
    return (a * scale) * a.dtype.type(code - point)


def with_bias_of_block(a: Array, code: int, point: int, scale: Any) -> Array:
    kind = a.dtype.type
    return a * (kind(code) * scale - kind(point) * scale)


def rounded_weight(a: Array, code: int, point: int, scale: Any) -> Array:
    """float32 with weights that are kept in float16."""
    return a.astype(f32) * (f32(code - point) * f32(scale)).astype(f16).astype(f32)


def by_integers(a: Array, code: int, point: int, scale: Any) -> Array:
    """accuracy_level 4: A's block in int8, a dot product in int32, both scales' product."""
    own = np.abs(a.astype(f32)) / f32(127)
    whole = np.rint(a.astype(f32) / own).astype(np.int32)
    return (whole * (code - point)).astype(f32) * (own * f32(scale))


def dequantized_integers(a: Array, code: int, point: int, scale: Any) -> Array:
    own = np.abs(a.astype(f32)) / f32(127)
    return (np.rint(a.astype(f32) / own) * own) * (f32(code - point) * f32(scale))


def odd_bits(bits: Array) -> Array:
    return ((bits + 0x8000 * (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(f32)


def cut_bits(bits: Array) -> Array:
    return (bits >> 16 << 16).astype(np.uint32).view(f32)


def narrowed(narrow: Callable[[Array], Array], a: Array, weight: Any) -> Array:
    """Weight and result are made bfloat16 from the bits of a float32."""
    held = narrow(np.asarray(weight, f32).reshape(1).view(np.uint32).astype(np.int64))
    return narrow((a.astype(f32) * held).view(np.uint32).astype(np.int64))


def odd(a: Array, code: int, point: int, scale: Any) -> Array:
    return narrowed(odd_bits, a, f32(code - point) * f32(scale))


def cut(a: Array, code: int, point: int, scale: Any) -> Array:
    return narrowed(cut_bits, a, f32(code - point) * f32(scale))


PLAIN = {"operand": "as-it-is", "position": "as-written", "weight": "kept", "result": "nearest"}
ODD, CUT = "bfloat16-half-for-odd", "bfloat16-cut-off"
BOXES: list[tuple[str, Box, dict[str, str]]] = [
    *((kind, written, PLAIN | {"precision": kind}) for kind in KINDS),
    ("float16", in_singles, PLAIN | {"precision": "float32"}),
    ("float16", in_doubles, PLAIN | {"precision": "exact"}),
    ("bfloat16", in_singles, PLAIN | {"precision": "float32"}),
    ("float32", in_doubles, PLAIN | {"precision": "exact"}),
    *((kind, scale_at_last, PLAIN | {"precision": kind, "position": "scale-last"}) for kind in KINDS),
    *((kind, number_first, PLAIN | {"precision": kind, "position": "number-scaled"}) for kind in KINDS),
    *((kind, with_bias_of_block, PLAIN | {"precision": kind, "position": "distributed"}) for kind in KINDS),
    ("float32", rounded_weight, PLAIN | {"precision": "float32", "weight": "float16"}),
    ("bfloat16", rounded_weight, PLAIN | {"precision": "float32", "weight": "float16"}),
    ("float32", by_integers, PLAIN | {"precision": "float32", "operand": "int8", "position": "scales-first"}),
    ("float16", by_integers, PLAIN | {"precision": "float32", "operand": "int8", "position": "scales-first"}),
    ("float32", dequantized_integers, PLAIN | {"precision": "float32", "operand": "int8"}),
    ("float16", dequantized_integers, PLAIN | {"precision": "float32", "operand": "int8"}),
    ("bfloat16", odd, PLAIN | {"precision": "float32", "weight": ODD, "result": ODD}),
    ("float32", odd, PLAIN | {"precision": "float32", "weight": ODD, "result": ODD}),
    ("bfloat16", cut, PLAIN | {"precision": "float32", "weight": CUT, "result": CUT}),
]


def box(steps: Box) -> Callable[..., Array]:
    def run(a: Array, code: Array, scale: Array, point: Array) -> Array:
        return np.asarray(steps(a, int(code), int(point), scale[()])).astype(a.dtype)

    return run


@pytest.mark.parametrize(("kind", "steps", "wanted"), BOXES)
def test_black_boxes_are_named(kind: str, steps: Box, wanted: dict[str, str]) -> None:
    answer = audited(box(steps), audited_node(OPERATOR, {}, kind, "", 0))
    assert answer.semantics() == wanted, answer.closest()


@pytest.mark.parametrize("kind", KINDS)
def test_what_no_table_has_is_not_named(kind: str) -> None:
    def afraid_of_negatives(*inputs: Array) -> Array:
        found = box(written)(*inputs)
        return np.where(found < -1, np.nextafter(found.astype(f32), f32(9)) * f32(1.01), found).astype(found.dtype)

    answer = audited(afraid_of_negatives, audited_node(OPERATOR, {}, kind, "", 0))
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.parametrize(("kind", "attributes"), NODES)
@pytest.mark.parametrize("working", [True, False])
def test_what_the_document_says_is_the_oracles(kind: str, attributes: dict[str, Any], working: bool) -> None:
    arithmetic, compared = arithmetic_of(audited_node(OPERATOR, attributes, kind, "", 0)), 0
    exact = arithmetic.facets[0].by_id.get("exact", arithmetic.facets[0].by_id["float32"])  # there the same
    wanted_one = arithmetic.documented if working else (exact, *arithmetic.documented[1:])
    for number, probe in enumerate(list(arithmetic.first_probes())[:60:4]):
        (problem,) = problems_of(case_of_probe(arithmetic.node, probe, number))
        wanted, states = oracle.solve(problem, working=working)
        known = np.asarray(states) != UNDEFINED
        stored = np.array([int(one) % (1 << problem.working.bits) for one in wanted], np.uint64)
        (predicted,) = arithmetic.predict(probe, [wanted_one])
        assert np.array_equal(predicted[known], codes(array_of(kind, problem.shape, stored))[known])
        compared += int(known.sum())
    assert compared > 300 and tuple(arithmetic.documented) in arithmetic.candidates.places


@pytest.mark.parametrize(("kind", "attributes"), NODES)
def test_values_have_causes(kind: str, attributes: dict[str, Any]) -> None:
    arithmetic = arithmetic_of(audited_node(OPERATOR, attributes, kind, "", 0))
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        assert plain in facet.values and len(facet.by_id) == len(facet.values)
        assert all(value is plain or sentence_of(key_of(value, plain.id)) for value in facet.values)
        assert all(used(facet, value.id, arithmetic.candidates.all) for value in facet.values)


def used(facet: Facet, value: str, every: Any) -> bool:
    return any(value in ids_of(one) for one in every)


@pytest.mark.parametrize(("kind", "attributes"), NODES)
def test_every_value_of_every_facet_is_inferred(kind: str, attributes: dict[str, Any]) -> None:
    """Each value where nothing else is unlike the document's, and no other one is left."""
    node = audited_node(OPERATOR, attributes, kind, "", 0)
    distinct = dict.fromkeys(single_changes(arithmetic_of(node)))
    assert infer_each_alone(node, distinct) >= 7


def test_steps_in_float32_and_what_follows_are_inferred() -> None:
    """Of 16-bit numbers each combination that rounds in float32 first."""
    node = audited_node(OPERATOR, {}, "bfloat16", "", 0)
    assert infer_each_alone(node, arithmetic_of(node).candidates.all) > 20


@pytest.mark.parametrize(
    ("attributes", "words"), [({"N": 2}, "of one column, with N 1"), ({"bits": 2}, "of weights of 4 and 8 bits")]
)
def test_what_has_no_table_is_refused(attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        arithmetic_of(audited_node(OPERATOR, attributes, "float32", "", 0))


def test_an_answer_says_what_an_accuracy_level_leaves_open() -> None:
    said = {level: silence_of(audited_node(OPERATOR, {"accuracy_level": level}, "", "", 0)) for level in range(5)}
    assert [level for level in said if said[level]] == [2, 3, 4]
    assert "lets A become int8" in said[4]


@pytest.mark.parametrize("attributes", [{"K": 40, "block_size": 16, "bits": 8}, {"K": 40, "bits": 4}, {"bits": 8}])
def test_a_probe_is_a_row_of_one_number(attributes: dict[str, Any]) -> None:
    """The first weight is the probe's, in a call that the operator's own checks take."""
    arithmetic = arithmetic_of(audited_node(OPERATOR, attributes, "float32", "", 0))
    probe = next(arithmetic.first_probes())
    case = case_of_probe(arithmetic.node, probe, 0)
    (problem,) = problems_of(case)
    assert [int(operand[0]) for operand in problem.operands[1:3]] == [int(probe.others[0]), int(probe.others[2])]
    assert problem.shape == (probe.x.size, 1)


def semantics_of_backend(backend: str, *arguments: str) -> dict[str, Any]:
    run = CliRunner().invoke(main, ["audit", backend, "--operator", OPERATOR, *arguments, "--json"])
    found: dict[str, Any] = json.loads(run.stdout)["semantics"]
    return found


@pytest.mark.parametrize("level", [0, 4])
def test_onnxruntime_does_what_is_written_in_float32(level: int) -> None:
    found = semantics_of_backend("onnxruntime", "--attr", f"accuracy_level={level}")
    assert found == PLAIN | {"precision": "float32"}


def test_onnxruntime_multiplies_float16_in_float32() -> None:
    assert semantics_of_backend("onnxruntime", "--input-type", "float16") == PLAIN | {"precision": "float32"}


@pytest.mark.slow
def test_openvino_rounds_weights_in_bfloat16_by_half_a_unit_for_odd_numbers() -> None:
    wanted = PLAIN | {"precision": "float32", "weight": ODD, "result": ODD}
    assert semantics_of_backend("openvino", "--input-type", "bfloat16") == wanted


@pytest.mark.slow
def test_openvino_rounds_weights_to_float16() -> None:
    assert semantics_of_backend("openvino", "--input-type", "float16") == PLAIN | {"precision": "float16"}
