"""Audits of tensorflow.Dequantize: black boxes, what the tables predict, TensorFlow itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited, infer_each_alone
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, case_of_probe, silence_of
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.model import Probe, codes, ids_of
from tiebreak.golden import oracle
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tensorflow_ranges import QUANTIZED_TYPES, RANGE_MODES
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Box = Callable[[Array, Array, Array], Array]
ID = "tensorflow.Dequantize"
COMBINED, FIRST, SCALED = RANGE_MODES
f32, f64, wide = np.float32, np.float64, np.longdouble
TINY = f32(2.0**-126)
COUNTS = {  # of combinations, each of which an audit tells from all others
    (COMBINED, "uint8"): 53,
    (COMBINED, "int8"): 143,
    (COMBINED, "int32"): 92,
    (FIRST, "uint8"): 84,
    (FIRST, "int16"): 209,
    (FIRST, "int32"): 62,
    (SCALED, "uint8"): 23,
    (SCALED, "int8"): 59,
    (SCALED, "int32"): 64,
}


def node_of(mode: str, kind: str, *, narrow: bool = False) -> Node:
    return audited_node(ID, {"mode": mode, "narrow_range": narrow}, "", kind, 0)


def tidy(values: Array) -> Array:
    return np.where(np.abs(values) < TINY, f32(0), values).astype(f32)


# As libraries write it, line after line


def of_xla(x: Array, low: Array, high: Array) -> Array:
    """The division by a constant became a product, which is fused with the sum."""
    low, high = tidy(low), tidy(high)
    ratio = tidy(tidy(high - low) * f32(1 / 255))
    return tidy((x.astype(wide) * wide(ratio) + wide(low)).astype(f32))


def of_eigen(x: Array, low: Array, high: Array) -> Array:
    return (x.astype(f32) + f32(128)) * ((high - low) / f32(255)) + low


def lerp(x: Array, low: Array, high: Array) -> Array:
    share = x.astype(f32) / f32(255)
    return low * (f32(1) - share) + high * share


def half_less(x: Array, low: Array, high: Array) -> Array:
    return (x.astype(f32) + f32(127.5)) * (high - low) / f32(255) + low


def onto_grid(x: Array, low: Array, high: Array) -> Array:
    """min_range moves to the nearest multiple of the scale, all in float32, as in TensorFlow."""
    scale = f32(f64(high - low) / 255)
    whole = np.copysign(np.floor(np.abs(f64(low / scale)) + 0.5), low).astype(f32)
    return x.astype(f32) * scale + (whole * scale - f32(-128) * scale)


def first_in_float32(x: Array, low: Array, high: Array) -> Array:
    scale = (high - low) * f32(256 / 255) / f32(256)
    return low + x.astype(f32) * scale


def first_without_adjust(x: Array, low: Array, high: Array) -> Array:
    scale = (high - low) / f32(65536)
    return (f64(low) + (x.astype(f64) + 32768) * f64(scale)).astype(f32)


def scaled_smaller(x: Array, low: Array, high: Array) -> Array:
    return x.astype(f32) * np.minimum(low / f32(-128), high / f32(127))


def scaled_over(x: Array, low: Array, high: Array) -> Array:
    return x.astype(f32) / (f32(1) / (high / f32(255)))


def scaled_top_lost(x: Array, low: Array, high: Array) -> Array:
    real = x.astype(f32)
    real = np.where(real > f32(2147483520), f32(-2147483648), real)
    return real * np.maximum(low / f32(-2147483648), high / f32(2147483647))


BOXES: list[tuple[str, str, Box, dict[str, str]]] = [
    (COMBINED, "uint8", of_xla, {"position": "reciprocal-ratio-fused", "subnormals": "flushed"}),
    (COMBINED, "int8", of_eigen, {"position": "ratio-first"}),
    (COMBINED, "uint8", lerp, {"position": "between-ends"}),
    (COMBINED, "int8", half_less, {"offset": "half-less"}),
    (
        FIRST,
        "int8",
        onto_grid,
        {"precision": "float32", "scaling": "one-division", "minimum": "nearest-away", "position": "distributed"},
    ),
    (FIRST, "uint8", first_in_float32, {"precision": "float32"}),
    (FIRST, "int16", first_without_adjust, {"scaling": "without-adjust"}),
    (SCALED, "int8", scaled_smaller, {"scaling": "smaller"}),
    (SCALED, "uint8", scaled_over, {"position": "over-inverse"}),
    (SCALED, "int32", scaled_top_lost, {"position": "highest-overflows"}),
]


@pytest.mark.parametrize(("mode", "kind", "run", "unlike"), BOXES, ids=[one[2].__name__ for one in BOXES])
def test_black_boxes_are_named(mode: str, kind: str, run: Box, unlike: dict[str, str]) -> None:
    node = node_of(mode, kind)
    arithmetic = arithmetic_of(node)
    plain = dict(zip([facet.name for facet in arithmetic.facets], ids_of(arithmetic.documented), strict=True))
    answer = audited(run, node)
    assert answer.semantics() == plain | unlike, answer.closest()


@pytest.mark.parametrize("mode", RANGE_MODES)
def test_what_no_table_has_is_not_named(mode: str) -> None:
    node = node_of(mode, "uint8")
    arithmetic = arithmetic_of(node)

    def afraid_of_five(x: Array, low: Array, high: Array) -> Array:
        (right,) = arithmetic.predict(probe_of(x, low, high), [arithmetic.documented])
        return np.where(x == 5, f32(123), right.astype(np.uint32).view(np.float32))

    answer = audited(afraid_of_five, node)
    closest = answer.closest()
    assert answer.semantics() == {} and closest is not None and closest["differs"] > 5


def probe_of(x: Array, low: Array, high: Array) -> Any:
    return Probe(x, (low, high))


@pytest.mark.few(1)
@pytest.mark.parametrize(("mode", "kind"), COUNTS)
def test_every_combination_is_told_from_all_others(mode: str, kind: str) -> None:
    node = node_of(mode, kind, narrow=(mode, kind) == (SCALED, "uint8"))
    assert infer_each_alone(node, arithmetic_of(node).candidates.all) == COUNTS[mode, kind]


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("kind", QUANTIZED_TYPES)
@pytest.mark.parametrize("mode", RANGE_MODES)
def test_what_the_document_says_is_the_oracles(mode: str, kind: str, narrow: bool) -> None:
    arithmetic, compared = arithmetic_of(node_of(mode, kind, narrow=narrow)), 0
    for number, probe in enumerate(list(arithmetic.first_probes())[::3]):
        (problem,) = problems_of(case_of_probe(arithmetic.node, probe, number))
        found, states = oracle.solve(problem, working=True)
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
        known = (np.asarray(states) != UNDEFINED) & (predicted != 0)
        assert np.array_equal(predicted[known], np.asarray(found)[known])
        compared += int(known.sum())
    open_offset = mode == COMBINED and INTEGER_TYPES[kind].signed and kind != "int8"
    assert compared == 0 if open_offset else compared > 1000
    assert arithmetic.documented in arithmetic.candidates.places
    assert bool(silence_of(arithmetic.node)) is open_offset


@pytest.mark.parametrize("mode", RANGE_MODES)
def test_a_value_with_a_mistakes_cause_gives_what_the_mistake_gives(mode: str) -> None:
    mistakes = {cause.id: run for cause, run in TESTED[ID].mistakes or ()}
    arithmetic, compared = arithmetic_of(node_of(mode, "int8")), 0
    probes = list(arithmetic.first_probes())[:20]
    for place, facet in enumerate(arithmetic.facets):
        for value in facet.values:
            if value.cause not in mistakes or value.cause.startswith("flushes"):
                continue
            one = (*arithmetic.documented[:place], value, *arithmetic.documented[place + 1 :])
            if one not in arithmetic.candidates.places:
                continue
            for probe in probes:
                with np.errstate(all="ignore"):
                    (found,) = mistakes[value.cause](arithmetic.node, probe.x, *probe.others)
                (predicted,) = arithmetic.predict(probe, [one])
                assert np.array_equal(codes(found), predicted), value.id
            compared += 1
    assert compared >= {COMBINED: 14, FIRST: 7, SCALED: 7}[mode]


@pytest.mark.parametrize("kind", ["int8", "int32", "uint8"])
@pytest.mark.parametrize("mode", RANGE_MODES)
def test_every_other_value_has_a_sentence_as_a_cause(mode: str, kind: str) -> None:
    arithmetic = arithmetic_of(node_of(mode, kind, narrow=True))
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        others = [value for value in facet.values if value is not plain]
        assert plain in facet.values
        assert len({sentence_of(value.cause) for value in others}) == len(others)


@pytest.mark.parametrize(
    ("attributes", "real", "words"),
    [({"dtype": "bfloat16"}, "bfloat16", "of a float32 result, not of bfloat16"), ({"axis": 0}, "float32", "an axis")],
)
def test_what_has_no_table_is_refused(attributes: dict[str, Any], real: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        arithmetic_of(audited_node(ID, attributes, real, "uint8", 0))


FLUSHED = {"subnormals": "flushed"}
LIVE: list[tuple[str, str, str, dict[str, str]]] = [
    ("tensorflow", COMBINED, "int8", {"position": "ratio-first", **FLUSHED}),
    ("tensorflow-xla", COMBINED, "uint8", {"position": "reciprocal-ratio-fused", **FLUSHED}),
    ("tensorflow", FIRST, "int16", {"minimum": "nearest-away", "position": "distributed", "precision": "float32"}),
    ("tensorflow-no-onednn", SCALED, "int32", {"scaling": "larger", "position": "highest-overflows", **FLUSHED}),
    ("tensorflow", SCALED, "uint8", {"scaling": "max", "position": "times", **FLUSHED}),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("backend", "mode", "kind", "wanted"), LIVE)
def test_tensorflow_is_named(backend: str, mode: str, kind: str, wanted: dict[str, str]) -> None:
    run = CliRunner().invoke(
        main, ["audit", backend, "--operator", ID, "--type", kind, "--attr", f"mode={mode}", "--json"]
    )
    assert json.loads(run.stdout)["semantics"].items() >= wanted.items()
