"""Audits of RESCALE and Requantize: black boxes whose semantics are known, what the tables predict, real libraries."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from audited_scalings import OUTSIDE, REQUANTIZATIONS, RESCALES
from auditing import audited, inference_of, single_changes
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.halving import from_ordinals
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, silence_of
from tiebreak.conformance.audit.proof import separate_remaining
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, ids_of
from tiebreak.conformance.semantics.model import codes as codes_of_output
from tiebreak.golden import oracle
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import UNDEFINED, Array
from tiebreak.golden.problems import problems_of

RESCALE, REQUANTIZE = "tosa.RESCALE", "tflite.Requantize"
BOXES = [(RESCALE, *one) for one in RESCALES] + [(REQUANTIZE, *one) for one in REQUANTIZATIONS]
DOUBLE, NARROW = {"rounding_mode": "DOUBLE_ROUND"}, {"scale32": False}
NODES: list[tuple[str, str, str, dict[str, Any]]] = [
    (RESCALE, "int8", "int8", {}),
    (RESCALE, "uint8", "int8", DOUBLE),
    (RESCALE, "int8", "uint16", {}),
    (RESCALE, "int16", "int16", NARROW),
    (RESCALE, "int32", "int8", DOUBLE),
    (RESCALE, "int32", "int32", {}),
    (RESCALE, "int32", "int16", NARROW),
    (REQUANTIZE, "int8", "int8", {}),
    (REQUANTIZE, "uint8", "int8", {"rounding": "single"}),
    (REQUANTIZE, "int16", "int16", {"rounding": "double"}),
    (REQUANTIZE, "int32", "int8", {"rounding": "double"}),
    (REQUANTIZE, "int16", "int32", {"rounding": "single"}),
]


def node_of(operator: str, source: str, target: str, attributes: dict[str, Any]) -> Node:
    return audited_node(operator, attributes, source, target, 0)


def cli(backend: str, *arguments: str) -> dict[str, Any]:
    run = CliRunner().invoke(main, ["audit", backend, *arguments, "--json"])
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.few(6)
@pytest.mark.parametrize(("operator", "source", "target", "attributes", "box", "wanted"), BOXES)
def test_black_boxes_are_named(
    operator: str, source: str, target: str, attributes: dict[str, Any], box: Any, wanted: dict[str, str]
) -> None:
    answer = audited(partial(box, target), node_of(operator, source, target, attributes))
    found = answer.semantics()
    for name, value in wanted.items():
        assert found and value in ([found[name]] if isinstance(found[name], str) else found[name]), answer.closest()
    told = sum(found[name] == value for name, value in wanted.items())
    assert told >= len(wanted) - 1, found


@pytest.mark.parametrize("box", OUTSIDE)
def test_what_no_table_has_is_not_named(box: Any) -> None:
    answer = audited(partial(box, "int8"), node_of(RESCALE, "int8", "int8", {}))
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.parametrize(("operator", "source", "target", "attributes"), NODES)
def test_what_the_document_says_is_the_oracles(
    operator: str, source: str, target: str, attributes: dict[str, Any]
) -> None:
    arithmetic, compared = arithmetic_of(node_of(operator, source, target, attributes)), 0
    for probe in list(arithmetic.first_probes())[::5]:
        (problem,) = problems_of(Case("", arithmetic.node, (probe.x, *probe.others)))
        wanted, states = oracle.solve(problem, working=False)
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
        said = (predicted != ANYTHING) & (np.asarray(states) != UNDEFINED)
        assert np.array_equal(predicted[said], np.asarray(wanted)[said])
        compared += int(said.sum())
    assert compared > 1000


@pytest.mark.parametrize(("operator", "source", "target", "attributes"), NODES)
def test_values_have_causes_and_the_document_has_one_of_each(
    operator: str, source: str, target: str, attributes: dict[str, Any]
) -> None:
    arithmetic = arithmetic_of(node_of(operator, source, target, attributes))
    assert tuple(arithmetic.documented) in arithmetic.candidates.places
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        assert plain in facet.values and len(facet.by_id) == len(facet.values)
        assert all(value is plain or sentence_of(key_of(value, plain.id)) for value in facet.values)


@pytest.mark.few(1)
@pytest.mark.parametrize(("operator", "source", "target", "attributes"), [NODES[n] for n in (0, 2, 5, 9)])
def test_every_value_of_every_facet_is_inferred(
    operator: str, source: str, target: str, attributes: dict[str, Any]
) -> None:
    """Each value where nothing else is unlike the document's; what is left besides was shown to be the same."""
    node = node_of(operator, source, target, attributes)
    for truth in single_changes(arithmetic_of(node)):
        inference = inference_of(node, truth)
        sentences = separate_remaining(inference)
        assert truth in inference.alive
        assert len(inference.alive) == 1 or any(f"every finite {source}" in one for one in sentences), ids_of(truth)


@pytest.mark.parametrize(("operator", "source", "target", "attributes"), NODES)
def test_stages_never_fall_and_codes_change_only_where_they_rise(
    operator: str, source: str, target: str, attributes: dict[str, Any]
) -> None:
    arithmetic, changes = arithmetic_of(node_of(operator, source, target, attributes)), 0
    every = [one for one in arithmetic.candidates.all if one[0].id in ("own-types", "zero-point-as-other-sign")]
    for probe in list(arithmetic.first_probes())[::9]:
        ordered = Probe(numbers_in_order(arithmetic), probe.others)
        for codes, stage in arithmetic.staged(ordered, every[:: max(1, len(every) // 40)]):
            assert (stage[1:] >= stage[:-1]).all()
            assert (stage[1:] > stage[:-1])[codes[1:] != codes[:-1]].all()
            changes += int(np.count_nonzero(codes[1:] != codes[:-1]))
    assert changes > 100


def numbers_in_order(arithmetic: Arithmetic) -> Array:
    kind = ELEMENT_TYPES[arithmetic.node.input_type]
    step = 1 << max(kind.bits - 12, 0)
    return from_ordinals(np.arange(-(1 << (kind.bits - 1)) if kind.signed else 0, kind.highest, step), arithmetic)  # type: ignore[union-attr]


@pytest.mark.parametrize(("source", "target", "attributes", "box", "expected"), RESCALES[:6])
def test_boxes_with_channels_are_named_as_those_with_one_factor(
    source: str, target: str, attributes: dict[str, Any], box: Any, expected: Any
) -> None:
    """Neighbours have different multipliers and shifts: the box is asked for each alone."""

    def by_channel(x: Array, multiplier: Array, shift: Array, *points: Array) -> Array:
        every = zip(*(np.broadcast_to(one, x.shape) for one in (x, multiplier, shift)), strict=True)
        return np.concatenate([box(target, *(np.array([one]) for one in own), *points) for own in every])

    node = node_of(RESCALE, source, target, {**attributes, "per_channel": True})
    (probe, *_) = arithmetic_of(node).first_probes()
    assert np.unique(probe.others[0]).size > 1 and probe.others[0].shape == probe.x.shape
    found = by_probes(node, by_channel)
    for name, value in expected.items():
        assert value == found[name] or value in found[name], found


def by_probes(node: Node, box: Any) -> dict[str, list[str]]:
    """The values left after the first probes, of each facet; few elements, for the boxes go one by one."""
    arithmetic = arithmetic_of(node)
    alive = list(arithmetic.candidates.all)
    for probe in arithmetic.first_probes():
        few = probe.only(np.arange(0, probe.x.size, 3))
        answer = codes_of_output(box(few.x, *few.others))
        told = zip(alive, arithmetic.predict(few, alive), strict=True)
        alive = [one for one, found in told if ((found == answer) | (found == ANYTHING)).all()]
    return {facet.name: list({one[place].id for one in alive}) for place, facet in enumerate(arithmetic.facets)}


def test_a_box_that_takes_one_channels_factor_for_all_is_not_named() -> None:
    node = node_of(RESCALE, "int8", "int8", {"per_channel": True})
    box = RESCALES[0][3]
    found = by_probes(node, lambda x, multiplier, shift, *points: box("int8", x, multiplier[:1], shift[:1], *points))
    assert not any(found.values())


def test_an_answer_says_where_the_document_is_silent() -> None:
    assert "within a bound" in silence_of(node_of(RESCALE, "int8", "int8", {"rounding_mode": "INEXACT_ROUND"}))
    assert "tie rule" in silence_of(node_of(REQUANTIZE, "int8", "int8", {}))
    assert not silence_of(node_of(RESCALE, "int8", "int8", {}))
    assert not silence_of(node_of(REQUANTIZE, "int8", "int8", {"rounding": "double"}))
