"""Audits of PaddlePaddle's quantize_linear: black boxes, what the table predicts, and OpenVINO's front end."""

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
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
PADDLE = "paddle.QuantizeLinear"
FOUR_BITS = {"bit_length": 4, "qmin": -8, "qmax": 7}
f32, f64 = np.float32, np.float64


def box(quotient: Callable[[Array, Array, Any], Array], whole: Any, low: int, high: int, steps: int = 127) -> Any:
    def run(x: Array, scale: Array, point: Array) -> Array:
        return np.clip(whole(quotient(x, scale, f32(steps))), low, high).astype(f32)

    return run


def written(x: Array, scale: Array, steps: Any) -> Array:
    return x * steps / scale


def by_inverse(x: Array, scale: Array, steps: Any) -> Array:
    """As PaddlePaddle's kernel has it."""
    return steps * (f32(1) / scale) * x


def of_openvino(x: Array, scale: Array, steps: Any) -> Array:
    return x * (f32(1) / (scale * (f32(1) / steps)))


def in_doubles(x: Array, scale: Array, steps: Any) -> Array:
    return x.astype(f64) * f64(steps) / f64(scale)


def away(quotient: Array) -> Array:
    return np.copysign(np.floor(np.abs(quotient.astype(f64)) + 0.5), quotient)


def half_more(quotient: Array) -> Array:
    return np.trunc(quotient + np.copysign(f32(0.5), quotient))


AWAY = "ROUND_NEAREST_TOWARD_INFINITY"
BOXES = [
    ({}, box(written, np.rint, -128, 127), ("as-written", "ROUND_NEAREST_TOWARD_EVEN", "saturate")),
    ({}, box(by_inverse, np.rint, -128, 127), ("range-times-inverse", "ROUND_NEAREST_TOWARD_EVEN", "saturate")),
    ({"round_type": 1}, box(by_inverse, away, -127, 127), ("range-times-inverse", AWAY, "narrow-range")),
    ({}, box(of_openvino, half_more, -128, 127), ("step-by-reciprocals", "half-added-to-magnitude", "saturate")),
    (FOUR_BITS, box(written, np.trunc, -8, 7, 7), ("as-written", "ROUND_TOWARD_ZERO", "saturate")),
    ({}, lambda x, scale, point: away(in_doubles(x, scale, 127)).astype(f32), ("float64", AWAY, "not-clipped")),
]


@pytest.mark.parametrize(("attributes", "run", "wanted"), BOXES)
def test_black_boxes_are_named(attributes: dict[str, int], run: Any, wanted: tuple[str, ...]) -> None:
    answer = audited(run, audited_node(PADDLE, attributes, "", "", 0))
    found = tuple(answer.semantics().values())
    assert len(found) == len(wanted), answer.closest()
    assert all(one == own or own in one for one, own in zip(found, wanted, strict=True)), found


def test_what_no_table_has_is_not_named() -> None:
    right = box(written, np.rint, -128, 127)

    def afraid_of_five(x: Array, scale: Array, point: Array) -> Array:
        found = right(x, scale, point)
        return np.where(found == 5, f32(6), found)

    answer = audited(afraid_of_five, audited_node(PADDLE, {}, "", "", 0))
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.parametrize("attributes", [{}, {"round_type": 1}, FOUR_BITS])
def test_what_the_document_says_is_the_oracles(attributes: dict[str, int]) -> None:
    arithmetic, compared = arithmetic_of(audited_node(PADDLE, attributes, "", "", 0)), 0
    for number, probe in enumerate(list(arithmetic.first_probes())[::5]):
        (problem,) = problems_of(case_of_probe(arithmetic.node, probe, number))
        wanted, states = oracle.solve(problem, working=True)
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
        said = np.asarray(states) != UNDEFINED
        assert np.array_equal(predicted[said], np.asarray(wanted)[said])
        compared += int(said.sum())
    assert compared > 1000


def test_values_have_causes_and_every_one_is_inferred() -> None:
    node = audited_node(PADDLE, {}, "", "", 0)
    arithmetic = arithmetic_of(node)
    assert tuple(arithmetic.documented) in arithmetic.candidates.places
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        assert plain in facet.values
        assert all(value is plain or sentence_of(key_of(value, plain.id)) for value in facet.values)
    assert infer_each_alone(node, single_changes(arithmetic)) >= 20


def test_openvinos_front_end_takes_two_reciprocals() -> None:
    run = CliRunner().invoke(main, ["audit", "openvino-paddle", "--operator", PADDLE, "--json"])
    found = json.loads(run.stdout)["semantics"]
    assert (found["position"], found["saturation"]) == ("step-by-reciprocals", "saturate")


def test_what_has_no_table_is_refused() -> None:
    for attributes, words in (
        ({"quant_axis": 0}, "one scale, with quant_axis -1"),
        ({"qmax": 100}, "qmin and qmax that follow from bit_length"),
        ({"bit_length": 1, "qmin": -1, "qmax": 0}, "qmin and qmax that follow from bit_length"),
    ):
        with pytest.raises(InvalidInput, match=words):
            arithmetic_of(audited_node(PADDLE, attributes, "", "", 0))


def test_an_answer_says_where_the_document_is_silent() -> None:
    assert "qmin and qmax" in silence_of(audited_node(PADDLE, {}, "", "", 0))
