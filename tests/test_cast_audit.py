"""Audits of casts: black boxes whose semantics are known, what the tables predict, and real libraries."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from audited_casts import BASE, KNOWN, afraid_of_five, of_two_minds
from auditing import audited
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.halving import from_ordinals
from tiebreak.conformance.audit.inference import Inference
from tiebreak.conformance.audit.matrix import matrix_data
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, silence_of
from tiebreak.conformance.audit.proof import separate_remaining
from tiebreak.conformance.semantics.authorities_cast import ONNX_FLOAT8
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, Semantics, codes, ids_of
from tiebreak.golden import oracle
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, FloatType
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.onnx_types import E8M0, FLOAT6, FLOAT8
from tiebreak.golden.operators.onnx_cast import SMALL, TYPES
from tiebreak.golden.problem import IN_RANGE, ZERO, Array, array_of
from tiebreak.golden.problems import problems_of
from tiebreak.reports.matrix import matrix_markdown, semantics_names

FLOATS = [name for name in TYPES if isinstance(ELEMENT_TYPES[name], FloatType)]
PAIRS = [(one, two) for one in FLOATS for two in TYPES if one != two and (one in SMALL or two in SMALL)]
UNSATURATED = {"saturate": False}
USUAL: list[tuple[str, str, dict[str, Any]]] = [
    ("float32", "float8_e4m3fn", UNSATURATED),
    ("float16", "float8_e5m2", {}),
    ("float64", "float8_e5m2", UNSATURATED),
    ("bfloat16", "float8_e4m3fnuz", {}),
    ("float32", "float4_e2m1fn", {}),
    ("float32", "int4", {}),
    ("float64", "uint4", {}),
    ("float16", "int2", {}),
    ("float32", "float8_e8m0fnu", {"round_mode": "nearest", **UNSATURATED}),
    ("bfloat16", "float8_e8m0fnu", {}),
    ("float8_e5m2", "int4", {}),
    ("float8_e8m0fnu", "float16", {}),
    ("float8_e5m2fnuz", "float8_e4m3fn", {}),
    ("int32", "float8_e4m3fn", UNSATURATED),
    ("uint32", "float8_e5m2", {}),
    ("int32", "float8_e8m0fnu", {"round_mode": "nearest"}),
]


def node_of(source: str, target: str, **attributes: Any) -> Node:
    return audited_node("onnx.Cast", attributes, source, target, 0)


def attributes_of(target: str) -> list[dict[str, Any]]:
    """The attributes that matter to a type."""
    if target in E8M0:
        return [{"round_mode": mode, "saturate": on} for mode in ("up", "down", "nearest") for on in (True, False)]
    return [{}, UNSATURATED] if target in FLOAT8 else [{}]


def cli(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(main, ["audit", *arguments, "--operator", "onnx.Cast", "--json"])
    assert result.exit_code == 0, result.stderr
    return dict(json.loads(result.stdout))


@pytest.mark.few(10)
@pytest.mark.parametrize("name", KNOWN)
def test_each_black_box_is_named_exactly_and_all_else_refuted(name: str) -> None:
    source, target, box, differs = KNOWN[name]
    answer = audited(box, node_of(source, target))
    found, wanted = answer.semantics(), {**BASE, **differs}
    assert found == {facet: wanted[facet] for facet in found} and set(differs) <= set(found) and len(found) > 6
    left, everything = answer.inference.alive, answer.inference.arithmetic.candidates.all
    assert sorted(map(ids_of, [*left, *answer.inference.refuted])) == sorted(map(ids_of, everything))
    assert len(left) == 1 or any(f"every finite {source}" in sentence for sentence in answer.equal)


@pytest.mark.parametrize("name", ["bit by bit", "through float16", "int4 by ml_dtypes", "field"])
def test_each_witness_refutes_what_it_is_for(name: str) -> None:
    """Asked again, one by one: the box gives `got`, the refuted semantics something else."""
    source, target, box, _ = KNOWN[name]
    answer = audited(box, node_of(source, target))
    arithmetic = answer.inference.arithmetic
    for semantics, witness in list(answer.inference.refuted.items())[::17]:
        assert witness.probe.x.size == 1 and witness.expected != witness.got
        (predicted,) = arithmetic.predict(witness.probe, [semantics])
        with np.errstate(all="ignore"):
            got = codes(box(witness.probe.x))
        assert (int(predicted[0]), int(got[0])) == (witness.expected, witness.got)


@pytest.mark.slow
def test_what_no_combination_describes_is_told_with_the_facet_that_broke() -> None:
    node = node_of("float32", "float8_e4m3fn")
    two = audited(of_two_minds, node).closest()
    assert two is not None and two["facet"] == "round_mode" and two["differs"] > 50
    five = audited(afraid_of_five, node).closest()
    assert five is not None and five["facet"] == "other" and five["semantics"] == BASE
    assert {row["got"] for row in five["examples"]} == {"5.5"}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_the_document_says_is_the_oracles(source: str, target: str) -> None:
    """For every pair of types and all attributes that matter, wherever the document says something."""
    compared = 0
    for attributes in attributes_of(target):
        node = node_of(source, target, **attributes)
        arithmetic = arithmetic_of(node)
        for probe in list(arithmetic.first_probes())[:4]:
            (problem,) = problems_of(Case("", node, (probe.x,)))
            wanted, states = oracle.solve(problem, working=False)
            (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
            said = (np.asarray(states) == IN_RANGE) | (np.asarray(states) == ZERO)
            made = codes_of_result(node, np.asarray(wanted))
            if target in INTEGER_TYPES and target not in SMALL:
                said &= np.mod(probe.x.astype(np.float64), 1) == 0  # the rounding is open
            assert np.array_equal(predicted[said], made[said])
            compared += int(said.sum())
    assert compared > 4


def codes_of_result(node: Node, wanted: Array) -> Array:
    if node.output_type in INTEGER_TYPES:
        return wanted
    return codes(array_of(node.output_type, wanted.shape, wanted.astype(np.uint64)))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_documents_value_is_one_of_each_facet_and_the_others_have_causes(source: str, target: str) -> None:
    for attributes in attributes_of(target):
        arithmetic = arithmetic_of(node_of(source, target, **attributes))
        assert tuple(arithmetic.documented) in arithmetic.candidates.places
        for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
            assert plain in facet.values and len(facet.by_id) == len(facet.values)
            for value in facet.values:
                assert value is plain or sentence_of(key_of(value, plain.id))


def test_values_stay_the_same_however_many_casts_are_looked_at() -> None:
    """They are told apart by identity."""
    first = arithmetic_of(node_of("float32", "float8_e4m3fn"))
    documented, places = tuple(first.documented), first.candidates.places
    for source, target in PAIRS:
        for attributes in attributes_of(target):
            assert arithmetic_of(node_of(source, target, **attributes)).candidates.all
    again = arithmetic_of(node_of("float32", "float8_e4m3fn"))
    assert tuple(again.documented) == documented and documented in places and documented in again.candidates.places


@pytest.mark.few(5)
@pytest.mark.parametrize(("source", "target", "attributes"), USUAL)
def test_stages_never_fall_and_codes_change_only_where_they_rise(
    source: str, target: str, attributes: dict[str, Any]
) -> None:
    """For finite numbers in order: every one of a type of up to 16 bits, the top 16 bits of every other."""
    arithmetic, choose = arithmetic_of(node_of(source, target, **attributes)), random.Random(5)
    x, changes = numbers_in_order(arithmetic), 0
    for one in choose.sample(arithmetic.candidates.all, min(150, len(arithmetic.candidates.all))):
        ((found, stage),) = arithmetic.staged(Probe(x, ()), [one])
        known = found != ANYTHING
        found, stage = found[known], stage[known]
        assert not np.isnan(stage).any()
        if one[0].id == "own-type":  # other readings are of small types, all of whose numbers are compared
            assert (stage[1:] >= stage[:-1]).all(), ids_of(one)
            assert (stage[1:] > stage[:-1])[found[1:] != found[:-1]].all(), ids_of(one)
        changes += np.count_nonzero(found[1:] != found[:-1])
    assert changes > 100


def numbers_in_order(arithmetic: Arithmetic) -> Array:
    source = arithmetic.node.input_type
    if source in FLOAT_TYPES:
        bits = arithmetic.node.real.bits
        steps = np.arange(arithmetic.node.real.infinity_bits >> (bits - 16)) << (bits - 16)
        return from_ordinals(np.unique(np.concatenate([-steps, steps])), arithmetic)
    if ELEMENT_TYPES[source].bits == 32:
        return np.unique(np.concatenate([probe.x for probe in arithmetic.first_probes()]))
    every = array_of(source, (1 << ELEMENT_TYPES[source].bits,), np.arange(1 << ELEMENT_TYPES[source].bits))
    values = every.astype(np.float64)
    order = np.lexsort((~np.signbit(values), values))
    return np.ascontiguousarray(every[order][np.isfinite(values[order])])


@pytest.mark.few(4)
@pytest.mark.parametrize(("source", "target", "attributes"), USUAL)
def test_what_is_left_of_any_semantics_is_itself_and_what_is_shown_to_be_equal(
    source: str, target: str, attributes: dict[str, Any]
) -> None:
    node, choose = node_of(source, target, **attributes), random.Random(7)
    every = arithmetic_of(node).candidates.all
    for truth in choose.sample(every, min(12, len(every))):
        inference = inference_of(node, truth)
        sentences = separate_remaining(inference)
        assert truth in inference.alive
        shown = any(f"every finite {source}" in one for one in sentences)
        assert len(inference.alive) == 1 or shown or predict_nothing_somewhere(node, inference.alive), ids_of(truth)


def predict_nothing_somewhere(node: Node, semantics: Sequence[Semantics]) -> bool:
    """As those do of an integer that becomes infinite on the way, so that nothing is shown there."""
    arithmetic = arithmetic_of(node)
    asked = Probe(np.concatenate([probe.x for probe in arithmetic.first_probes()]), ())
    whole = node.input_type in INTEGER_TYPES
    return whole and any((codes == ANYTHING).any() for codes in arithmetic.predict(asked, semantics))


def inference_of(node: Node, truth: Semantics) -> Inference:
    """An audit of a box that does just what one semantics of the table says."""
    box = arithmetic_of(node)
    probes = list(box.special_probes())
    values = {facet.name: facet.values[0] for facet in box.specials}
    box.learn_specials([(p, box.special_code(values[box.special_of(p)], p)) for p in probes if box.special_of(p)])
    inference = Inference(arithmetic_of(node), lambda probes: [next(iter(box.predict(p, [truth]))) for p in probes])
    inference.run()
    return inference


def test_the_tables_of_float_8_say_nothing_of_integers() -> None:
    assert "not int8" in ONNX_FLOAT8.silence(node_of("int8", "float8_e4m3fn"))
    assert ONNX_FLOAT8.silence(node_of("float32", "float8_e4m3fn")) == ""


@pytest.mark.parametrize("source", ["int32", "uint32", "int16", "int8", "uint8", "int4", "uint4", "int2", "uint2"])
@pytest.mark.parametrize("target", [*FLOAT8, *E8M0, *FLOAT6, "float4_e2m1fn", "float16"])
def test_integers_that_a_type_holds_are_the_oracles(source: str, target: str) -> None:
    if source not in SMALL and target not in SMALL:
        return
    arithmetic = arithmetic_of(node_of(source, target))
    probe = next(arithmetic.first_probes())
    (problem,) = problems_of(Case("", arithmetic.node, (probe.x,)))
    wanted, states = oracle.solve(problem, working=False)
    said = (np.asarray(states) == IN_RANGE) | (np.asarray(states) == ZERO)
    made = codes_of_result(arithmetic.node, np.asarray(wanted))
    (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
    assert said.sum() > 1 and np.array_equal(predicted[said], made[said])


@pytest.mark.parametrize("source", ["int8", "uint8"])
@pytest.mark.parametrize("target", FLOAT8)
def test_no_two_arithmetics_of_an_integer_of_8_bits_coincide(source: str, target: str) -> None:
    arithmetic = arithmetic_of(node_of(source, target))
    (probe,) = arithmetic.first_probes()
    every = arithmetic.candidates.all
    found = {codes.tobytes(): ids_of(one) for one, codes in zip(every, arithmetic.predict(probe, every), strict=True)}
    assert len(found) == len(every) > 5


@pytest.mark.few(6)
@pytest.mark.parametrize("source", ["int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("target", [*FLOAT8, *FLOAT6, "float4_e2m1fn", "float8_e8m0fnu"])
def test_no_arithmetic_of_an_integer_is_lost(source: str, target: str) -> None:
    """One that is left out equals one that is kept, for every integer asked of which it predicts anything."""
    arithmetic = arithmetic_of(node_of(source, target))
    probe = Probe(np.concatenate([probe.x for probe in arithmetic.first_probes()]), ())
    if source.endswith("16"):
        probe = Probe(np.arange(1 << 16, dtype=np.uint16).astype(source), ())
    kept = np.stack(list(arithmetic.predict(probe, arithmetic.candidates.all)))
    everything = set(product(*(facet.values for facet in arithmetic.facets)))
    left_out = sorted(everything - {*arithmetic.candidates.all}, key=ids_of)
    assert left_out and tuple(arithmetic.documented) in arithmetic.candidates.places
    for one, made in zip(left_out, arithmetic.predict(probe, left_out), strict=True):
        assert ((kept == made) | (kept == ANYTHING) | (made == ANYTHING)).all(axis=1).any(), ids_of(one)


@pytest.mark.parametrize("target", [*FLOAT8, *FLOAT6, "float4_e2m1fn"])
def test_arithmetics_of_numbers_without_a_sign_left_out_equal_one_that_is_kept(target: str) -> None:
    arithmetic = arithmetic_of(node_of("uint8", target))
    (probe,) = arithmetic.first_probes()
    every = list(product(*(facet.values for facet in arithmetic.facets)))
    kept = {codes.tobytes() for codes in arithmetic.predict(probe, arithmetic.candidates.all)}
    assert {codes.tobytes() for codes in arithmetic.predict(probe, every)} == kept
    assert len(arithmetic.candidates.all) < len(every)


@pytest.mark.parametrize(
    ("source", "target", "is_silent"),
    [
        ("int8", "float8_e4m3fn", True),
        ("uint4", "float8_e5m2", True),
        ("uint4", "float8_e4m3fn", False),  # it holds 15
        ("int8", "float4_e2m1fn", False),
        ("float32", "float8_e4m3fn", False),
        ("float8_e4m3fn", "int4", False),
    ],
)
def test_an_answer_says_where_the_document_is_silent(source: str, target: str, is_silent: bool) -> None:
    sentence = silence_of(node_of(source, target))
    assert sentence.startswith(f"ONNX does not say how an integer is rounded that {target}" if is_silent else "")
    assert bool(sentence) is is_silent


def test_the_command_shows_that_the_document_is_silent() -> None:
    said = silence_of(node_of("int8", "float8_e4m3fn"))
    chosen = ["ml_dtypes", "--type", "float8_e4m3fn", "--attr", "saturate=0"]
    found = cli(*chosen, "--input-type", "int8")
    assert found["silence"] == said and found["semantics"]["round_mode"] == "ROUND_NEAREST_TOWARD_EVEN"
    shown = CliRunner().invoke(main, ["audit", *chosen, "--input-type", "int8", "--operator", "onnx.Cast"])
    assert said in shown.stdout
    assert not cli(*chosen)["silence"]


def test_a_matrix_calls_nothing_documented_where_the_document_is_silent() -> None:
    data = matrix_data(arithmetic_of(node_of("int8", "float8_e4m3fn")))
    assert data["silence"] == silence_of(node_of("int8", "float8_e4m3fn"))
    assert semantics_names(data)[data["documented"]] == "as of a float" and data["silence"] in matrix_markdown(data)
    held = matrix_data(arithmetic_of(node_of("float8_e4m3fn", "int4")))
    assert not held["silence"] and semantics_names(held)[held["documented"]] == "as documented"


REAL: list[tuple[str, str, str, dict[str, Any], dict[str, str]]] = [
    ("onnxruntime", "float32", "float8_e4m3fn", {}, {"precision": "direct", "saturation": "saturate"}),
    ("onnxruntime", "float64", "float8_e4m3fn", {}, {"precision": "float32", "saturation": "saturate"}),
    ("onnxruntime", "float32", "float8_e4m3fn", {"saturate": 0}, {"saturation": "overflow-after-step"}),
    ("onnxruntime", "float32", "float8_e5m2", {"saturate": 0}, {"saturation": "nan-before-infinity"}),
    (
        "onnxruntime",
        "float32",
        "int4",
        {},
        {"round_mode": "ROUND_NEAREST_TOWARD_INFINITY", "saturation": "wrap", "nan": "zero"},
    ),
    ("onnxruntime", "float64", "int4", {}, {"precision": "direct", "saturation": "int32-then-wrap"}),
    ("onnx-reference", "float32", "int4", {}, {"round_mode": "ROUND_TOWARD_ZERO", "saturation": "wrap"}),
    (
        "onnx-reference",
        "float32",
        "float8_e8m0fnu",
        {},
        {"exponent": "of-field", "negative": "magnitude", "positive_infinity": "nan"},
    ),
    ("openvino", "float32", "float8_e4m3fn", {}, {"precision": "float16", "saturation": "overflow"}),
    ("openvino", "float64", "float8_e4m3fn", {}, {"precision": "float32-then-float16", "saturation": "overflow"}),
    ("openvino", "float32", "int4", {}, {"round_mode": "half-added-to-magnitude", "saturation": "wrap"}),
    (
        "openvino",
        "float32",
        "float8_e8m0fnu",
        {"round_mode": "down"},
        {"round_mode": "nearest-even", "saturation": "saturate", "nan": "nan-or-least"},
    ),
    ("ml_dtypes", "float64", "float8_e5m2", {"saturate": 0}, {"precision": "float32", "saturation": "overflow"}),
    ("ml_dtypes", "float32", "float6_e2m3fn", {}, {"nan": "zero-of-other-sign", "saturation": "saturate"}),
    ("onnx-reference", "float32", "float6_e3m2fn", {}, {"precision": "direct", "saturation": "saturate"}),
    ("ml_dtypes", "float32", "float4_e2m1fn", {}, {"nan": "zero-of-other-sign", "saturation": "saturate"}),
    ("torch", "float32", "float8_e4m3fn", {}, {"precision": "direct", "saturation": "saturate"}),
    (
        "torch",
        "float32",
        "float8_e8m0fnu",
        {"saturate": 0, "round_mode": "nearest"},
        {"exponent": "of-field", "saturation": "nan-of-rounded", "zero": "least", "negative": "magnitude"},
    ),
    ("onnxruntime", "int16", "float8_e4m3fn", {}, {"precision": "direct", "saturation": "saturate"}),
    ("onnxruntime", "uint16", "float8_e4m3fn", {"saturate": 0}, {"saturation": "overflow-after-step"}),
    ("onnxruntime", "int32", "float8_e8m0fnu", {}, {"precision": "float32", "round_mode": "up", "negative": "least"}),
    ("ml_dtypes", "uint32", "float8_e5m2", {"saturate": 0}, {"precision": "direct", "saturation": "overflow"}),
    ("openvino", "uint16", "float8_e5m2", {}, {"precision": "float16", "saturation": "overflow"}),
    ("tensorflow", "float64", "float8_e4m3fn", {"saturate": 0}, {"precision": "direct", "saturation": "overflow"}),
]


@pytest.mark.few(4)
@pytest.mark.parametrize(("backend", "source", "target", "attributes", "wanted"), REAL)
def test_real_libraries_are_named(
    backend: str, source: str, target: str, attributes: dict[str, Any], wanted: dict[str, str]
) -> None:
    pytest.importorskip(backend.replace("-reference", ""))
    said = [part for name, value in attributes.items() for part in ("--attr", f"{name}={value}")]
    found = cli(backend, "--input-type", source, "--type", target, *said)
    assert {name: found["semantics"][name] for name in wanted} == wanted
    assert found["path_dependent"] is None and found["inputs_tried"] > 1000
