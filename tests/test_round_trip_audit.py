"""Audits of QuantizeAndDequantizeV2, V3 and V4: black boxes, what the table predicts, real libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited, infer_each_alone, single_changes
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.conformance.semantics.model import codes
from tiebreak.golden import oracle
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import UNDEFINED, array_of
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Box = Callable[..., Array]
V2, V3, V4 = (f"tensorflow.QuantizeAndDequantizeV{version}" for version in "234")
HALF_UP, UNSIGNED, NARROW = {"round_mode": "HALF_UP"}, {"signed_input": False}, {"narrow_range": True}
NODES: list[tuple[str, str, dict[str, Any]]] = [
    (V4, "float32", {}),
    (V4, "float16", HALF_UP),
    (V4, "bfloat16", UNSIGNED),
    (V4, "float64", NARROW | {"num_bits": 6}),
    (V2, "float32", HALF_UP | UNSIGNED),
    (V3, "float32", {}),
]


def sides(low: Array, high: Array) -> tuple[Array, Array]:
    """The side that has the smaller factor, and its integer."""
    lower = low < 0 and (high <= 0 or low.dtype.type(-128) / low < high.dtype.type(127) / high)
    return (low, low.dtype.type(-128)) if lower else (high, high.dtype.type(127))


def written(x: Array, low: Array, high: Array, *more: Array) -> Array:
    """The document, of 8 bits."""
    side, integer = sides(low, high)
    factor = integer / side
    ends = (low, x.dtype.type(127) / factor) if integer < 0 else (x.dtype.type(-128) / factor, high)
    return np.rint(np.clip(x, *ends) * factor) / factor


def by_step(x: Array, low: Array, high: Array) -> Array:
    """As TensorFlow's kernel: the way back is a product with the side over its integer."""
    side, integer = sides(low, high)
    factor, step = integer / side, side / integer
    ends = (low, x.dtype.type(127) * step) if integer < 0 else (x.dtype.type(-128) * step, high)
    return np.rint(np.clip(x, *ends) * factor) * step


def by_half_up(x: Array, low: Array, high: Array) -> Array:
    side, integer = sides(low, high)
    factor, step = integer / side, side / integer
    ends = (low, x.dtype.type(127) * step) if integer < 0 else (x.dtype.type(-128) * step, high)
    return np.floor(np.clip(x, *ends) * factor + x.dtype.type(0.5)) * step


def by_fused_half(x: Array, low: Array, high: Array) -> Array:
    side, integer = sides(low, high)
    factor, step = integer / side, side / integer
    total = (x.astype(np.longdouble) * np.longdouble(factor) + np.longdouble(0.5)).astype(x.dtype)
    return np.clip(np.floor(total), -128, 127).astype(x.dtype) * step


def by_greatest(x: Array, low: Array, high: Array) -> Array:
    """A symmetric quantizer: one step for the greatest magnitude, the rounded number clamped."""
    step = np.maximum(np.abs(low), np.abs(high)) / x.dtype.type(127)
    return np.clip(np.rint(x / step), -128, 127).astype(x.dtype) * step


def symmetric(x: Array, low: Array, high: Array) -> Array:
    """Integers from -127 to 127, where the document has -128."""
    factor = x.dtype.type(127) / np.maximum(np.abs(low), np.abs(high))
    end = x.dtype.type(127) / factor
    return np.rint(np.clip(x, -end, end) * factor) / factor


def unclamped(x: Array, low: Array, high: Array) -> Array:
    side, integer = sides(low, high)
    return np.trunc(x * (integer / side)) / (integer / side)


def in_doubles(x: Array, low: Array, high: Array) -> Array:
    return written(x.astype(np.float64), low.astype(np.float64), high.astype(np.float64)).astype(x.dtype)


EVEN, ZERO = "ROUND_NEAREST_TOWARD_EVEN", "ROUND_TOWARD_ZERO"
BOXES: list[tuple[str, str, dict[str, Any], Box, dict[str, str]]] = [
    (V4, "float32", {}, written, {"back": "over-factor", "forth": "times-factor", "round_mode": EVEN}),
    (V3, "float32", {}, written, {"back": "over-factor", "forth": "times-factor", "clamp": "updated"}),
    (V2, "float32", {}, by_step, {"back": "times-step", "round_mode": EVEN, "precision": "float32"}),
    (V4, "float16", {}, by_step, {"back": "times-step", "round_mode": EVEN, "precision": "float16"}),
    (V4, "float32", HALF_UP, by_half_up, {"back": "times-step", "round_mode": "floor-of-half-more"}),
    (V4, "float32", HALF_UP, by_fused_half, {"forth": "times-factor-fused", "back": "times-step"}),
    (V4, "float32", {}, by_greatest, {"side": "one-size", "forth": "over-step", "back": "times-step"}),
    (V4, "float32", {}, symmetric, {"lowest": "other-way", "side": "smaller-factor"}),
    (V4, "float32", {}, unclamped, {"clamp": "none", "round_mode": ZERO}),
    (V4, "float32", {}, in_doubles, {"precision": "float64", "round_mode": EVEN}),
]


@pytest.mark.parametrize(("operator", "real", "attributes", "run", "wanted"), BOXES)
def test_black_boxes_are_named(
    operator: str, real: str, attributes: dict[str, Any], run: Box, wanted: dict[str, str]
) -> None:
    answer = audited(lambda *inputs: run(*inputs[:3]), audited_node(operator, attributes, real, "", 0))
    found = answer.semantics()
    assert found and {name: found[name] for name in wanted} == wanted, answer.closest()


def test_what_no_table_has_is_not_named() -> None:
    def afraid_of_zero(*inputs: Array) -> Array:
        found = written(*inputs)
        return np.where(found == 0, inputs[1], found).astype(np.float32)

    answer = audited(afraid_of_zero, audited_node(V4, {}, "float32", "", 0))
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


@pytest.mark.parametrize(("operator", "real", "attributes"), NODES)
@pytest.mark.parametrize("working", [True, False])
def test_what_the_document_says_is_the_oracles(
    operator: str, real: str, attributes: dict[str, Any], working: bool
) -> None:
    arithmetic, compared = arithmetic_of(audited_node(operator, attributes, real, "", 0)), 0
    exact = (arithmetic.facets[0].by_id["exact"], *arithmetic.documented[1:])
    for number, probe in enumerate(list(arithmetic.first_probes())[::5]):
        (problem,) = problems_of(probe.case(arithmetic.node, number))
        wanted, states = oracle.solve(problem, working=working)
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented if working else exact])
        known = np.asarray(states) != UNDEFINED
        stored = np.array([int(one) % (1 << problem.working.bits) for one in wanted], np.uint64)
        expected = codes(array_of(real, problem.shape, stored))
        assert np.array_equal(predicted[known], expected[known])
        compared += int(known.sum())
    assert compared > 1000 and tuple(arithmetic.documented) in arithmetic.candidates.places


@pytest.mark.parametrize(("operator", "real", "attributes"), NODES)
def test_values_have_causes(operator: str, real: str, attributes: dict[str, Any]) -> None:
    arithmetic = arithmetic_of(audited_node(operator, attributes, real, "", 0))
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        assert plain in facet.values and len(facet.by_id) == len(facet.values)
        assert all(value is plain or sentence_of(key_of(value, plain.id)) for value in facet.values)


@pytest.mark.few(1)
@pytest.mark.parametrize("attributes", [{}, HALF_UP, UNSIGNED | HALF_UP, NARROW])
def test_every_value_of_every_facet_is_inferred(attributes: dict[str, Any]) -> None:
    """Each value where nothing else is unlike the document's, and no other one is left."""
    node = audited_node(V4, attributes, "float32", "", 0)
    assert infer_each_alone(node, single_changes(arithmetic_of(node))) >= 18


def test_what_has_no_table_is_refused() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"range_given": False}, "with range_given"),
        ({"axis": 0}, "without axis"),
        ({"num_bits": 1}, "of 2 to 16 bits"),
    ]
    for attributes, words in refused:
        with pytest.raises(InvalidInput, match=words):
            arithmetic_of(audited_node(V4, attributes, "float32", "", 0))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("backend", "way", "mode"),
    [
        ("tensorflow", "times-factor", "floor-of-half-more"),
        ("tensorflow-xla", "times-factor-fused", "ROUND_NEAREST_UPWARD"),
    ],
)
def test_tensorflow_multiplies_by_the_side_over_its_integer(backend: str, way: str, mode: str) -> None:
    arguments = ["audit", backend, "--operator", V4, "--attr", "round_mode=HALF_UP", "--json"]
    found = json.loads(CliRunner().invoke(main, arguments).stdout)["semantics"]
    assert (found["forth"], found["back"], found["clamp"]) == (way, "times-step", "updated")
    assert (found["round_mode"], found["subnormals"]) == (mode, "steps-flushed")
