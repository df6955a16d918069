"""Audits of casts from integers to integers: the document against the oracle, boxes, documents and libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.audit.authorities import judged_documents
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node
from tiebreak.conformance.semantics.authorities_cast import OF_CAST
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.golden import oracle
from tiebreak.golden.elements import ELEMENT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators.onnx_cast import SMALL, TYPES
from tiebreak.golden.problem import Array, array_of
from tiebreak.golden.problems import problems_of

INTEGERS = [name for name in TYPES if name in INTEGER_TYPES]
PAIRS = [(one, two) for one in INTEGERS for two in INTEGERS if one != two and (one in SMALL or two in SMALL)]
Box = Callable[[Array], Array]


def ends(to: str) -> tuple[int, int, int]:
    kind = INTEGER_TYPES[to]
    return kind.lowest, kind.highest, 1 << kind.bits


def boxed(to: str, numbers: Callable[[Array], Array]) -> Box:
    """A box that computes with int64 and gives integers of a type."""

    def box(x: Array) -> Array:
        found = numbers(x.astype(np.int64))
        return array_of(to, found.shape, found)

    return box


def wrapped(to: str) -> Callable[[Array], Array]:
    low, _, size = ends(to)
    return lambda x: (x - low) % size + low


def saturated(to: str) -> Callable[[Array], Array]:
    low, high, _ = ends(to)
    return lambda x: np.clip(x, low, high)


def zeroed(to: str) -> Callable[[Array], Array]:
    low, high, _ = ends(to)
    return lambda x: np.where((x < low) | (x > high), 0, x)


def divided(to: str) -> Callable[[Array], Array]:
    _, _, size = ends(to)
    return lambda x: saturated(to)(np.fmod(x, size))


def upper(to: str) -> Callable[[Array], Array]:
    return lambda x: wrapped(to)(x >> INTEGER_TYPES[to].bits)


def through_int8(to: str) -> Callable[[Array], Array]:
    return lambda x: wrapped(to)(np.clip(x, -128, 127))


def as_unsigned(bits: int) -> Callable[[Array], Array]:
    return lambda x: x % (1 << bits)


def in_float16(to: str) -> Callable[[Array], Array]:
    return lambda x: wrapped(to)(x.astype(np.float16).astype(np.int64))


BOXES: list[tuple[str, str, Box, dict[str, str]]] = [
    ("int8", "int4", boxed("int4", wrapped("int4")), {"saturation": "wrap", "precision": "direct"}),
    ("uint8", "int2", boxed("int2", wrapped("int2")), {"saturation": "wrap"}),
    ("int8", "int4", boxed("int4", saturated("int4")), {"saturation": "saturate", "reading": "own-type"}),
    ("int32", "uint4", boxed("uint4", saturated("uint4")), {"saturation": "saturate"}),
    ("uint8", "int4", boxed("int4", zeroed("int4")), {"saturation": "zero"}),
    ("int8", "uint2", boxed("uint2", divided("uint2")), {"saturation": "remainder-of-sign"}),
    ("int16", "int4", boxed("int4", upper("int4")), {"saturation": "higher-bits"}),
    ("int16", "uint4", boxed("uint4", through_int8("uint4")), {"saturation": "int8-clamped-then-wrap"}),
    ("int4", "int16", boxed("int16", as_unsigned(4)), {"reading": "other-sign", "saturation": "none"}),
    ("int4", "uint8", boxed("uint8", as_unsigned(4)), {"reading": "other-sign"}),
    ("int16", "int4", boxed("int4", in_float16("int4")), {"precision": "float16", "saturation": "wrap"}),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_documents_combination_is_the_oracles(source: str, target: str) -> None:
    node = audited_node("onnx.Cast", {}, source, target, 0)
    arithmetic = arithmetic_of(node)
    probe = next(arithmetic.first_probes())
    probe = probe.only(np.arange(0, probe.x.size, max(1, probe.x.size // 60)))
    (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
    (problem,) = problems_of(Case("", node, (probe.x,)))
    wanted = oracle.solve(problem, working=False)[0]
    assert predicted.tolist() == [int(code) for code in wanted] and probe.x.size >= 4


@pytest.mark.parametrize(("source", "target", "box", "wanted"), BOXES)
def test_what_becomes_of_the_higher_bits_is_named(source: str, target: str, box: Box, wanted: dict[str, str]) -> None:
    found = audited(box, audited_node("onnx.Cast", {}, source, target, 0)).semantics()
    assert {name: found.get(name) for name in wanted} == wanted, found


def test_a_box_of_no_rule_is_not_named() -> None:
    odd = boxed("int4", lambda x: np.where(x == 77, 0, wrapped("int4")(x)))
    answer = audited(odd, audited_node("onnx.Cast", {}, "int8", "int4", 0))
    assert answer.semantics() == {} and answer.inference.closest()[1] == 1


def test_every_value_has_a_cause_and_its_words() -> None:
    compared = 0
    for source, target in PAIRS:
        arithmetic = arithmetic_of(audited_node("onnx.Cast", {}, source, target, 0))
        assert tuple(arithmetic.documented) in arithmetic.candidates.places and not arithmetic.specials
        for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
            for value in facet.values:
                assert value.sentence and (value is plain or sentence_of(key_of(value, plain.id)))
                compared += 1
    assert compared > 200 and all(isinstance(ELEMENT_TYPES[name].bits, int) for name in INTEGERS)


@pytest.mark.parametrize(
    ("box", "verdict", "facets"), [(BOXES[0][2], "meets", []), (BOXES[2][2], "contradicts", ["saturation"])]
)
def test_the_schema_is_met_or_contradicted(box: Box, verdict: str, facets: list[str]) -> None:
    answer = audited(box, audited_node("onnx.Cast", {}, "int8", "int4", 0))
    rows = {row["id"]: row for row in judged_documents(answer.inference, OF_CAST, by_path=False)}
    own = rows.pop("onnx-integers")
    assert (own["verdict"], own["facets"]) == (verdict, facets)
    assert {row["verdict"] for row in rows.values()} == {"silent"}  # they are about floats


def test_a_library_discards_the_higher_bits() -> None:
    chosen = ["audit", "onnx-reference", "--operator", "onnx.Cast", "--input-type", "int8", "--type", "int4", "--json"]
    result = CliRunner().invoke(main, chosen)
    assert result.exit_code == 0, result.stderr
    data: dict[str, Any] = json.loads(result.stdout)
    assert data["semantics"]["saturation"] == "wrap" and data["specials"] == []
