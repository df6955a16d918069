"""Audits of MatMulInteger and ConvInteger: black boxes of one sum, what the table predicts, real libraries."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from auditing import audited, infer_each_alone
from click.testing import CliRunner

from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.cli import main
from tiebreak.conformance.audit.operators import arithmetic_of, audited_node, case_of_probe
from tiebreak.conformance.semantics.byte_products import TERMS
from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.conformance.semantics.facet_causes import key_of
from tiebreak.conformance.semantics.model import ANYTHING
from tiebreak.golden import oracle
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.problems import problems_of

Array = np.ndarray[Any, np.dtype[Any]]
Box = Callable[[int, int, int, int], int]  # of both operands and both zero points
OPERATORS = ("onnx.MatMulInteger", "onnx.ConvInteger")
KINDS = ("uint8", "int8")
SETS = instruction_sets().split()
SATURATING_PAIRS = "avx2" in SETS and not any("vnni" in name for name in SETS)  # vpmaddubsw, as MLAS calls it there
PLAIN = {"reading": "own-types", "zero_point": "both", "sum": "exact"}


def signed(value: int) -> int:
    return value - 256 if value > 127 else value


def clipped(value: int) -> int:
    return min(max(value, -32768), 32767)


def stepwise(a: int, b: int, p: int, q: int) -> int:
    total = 0
    for _ in range(TERMS):
        total = clipped(total + (a - p) * (b - q))
    return total


def in_singles(a: int, b: int, p: int, q: int) -> int:
    total = np.float32(0)
    for _ in range(TERMS):
        total = total + np.float32((a - p) * (b - q))
    return int(total)


def in_lanes(a: int, b: int, p: int, q: int) -> int:
    """Eight sums in float32, added at last."""
    lanes = [np.float32(0)] * 8
    for number in range(TERMS):
        lanes[number % 8] += np.float32((a - p) * (b - q))
    return int(sum(lanes, np.float32(0)))


def in_pairs(a: int, b: int, p: int, q: int) -> int:
    """Of an unsigned and a signed byte; what zero points make of it is exact."""
    pairs = [clipped(a * b + a * b)] * (TERMS // 2)
    return sum(pairs) + clipped(a * b) + TERMS * (p * q - a * q - p * b)


BOXES: list[tuple[Box, dict[str, str]]] = [
    (lambda a, b, p, q: TERMS * (a - p) * (b - q), {}),
    (lambda a, b, p, q: TERMS * (signed(a) - p) * (b - q), {"reading": "first-as-other-sign"}),
    (lambda a, b, p, q: TERMS * (a - p) * (b % 256 - q), {"reading": "second-as-other-sign"}),
    (lambda a, b, p, q: TERMS * (signed(a) - p) * (b % 256 - q), {"reading": "both-as-other-sign"}),
    (lambda a, b, p, q: TERMS * a * (b - q), {"zero_point": "second-alone"}),
    (lambda a, b, p, q: TERMS * (a - p) * b, {"zero_point": "first-alone"}),
    (lambda a, b, p, q: TERMS * a * b, {"zero_point": "none"}),
    (stepwise, {"sum": "16-bits-saturate"}),
    (lambda a, b, p, q: (TERMS * (a - p) * (b - q) + 32768) % 65536 - 32768, {"sum": "16-bits-wrap"}),
    (in_singles, {"sum": "float32"}),
    (in_lanes, {"sum": "float32"}),
    (in_pairs, {"sum": "pairs-in-16-bits"}),
]


def of_signed_second(operator: str) -> Node:
    """A node of a uint8 and an int8."""
    other: dict[str, Any] = {"operands": ("int8",)} if operator == OPERATORS[0] else {"scale": "int8"}
    return make_node(operator, real="uint8", quantized="int32", **other)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(("box", "unlike"), BOXES)
def test_black_boxes_are_named(box: Box, unlike: dict[str, str], operator: str) -> None:
    def run(x: Array, *others: Array) -> Array:
        return np.array([box(a, *map(int, others)) for a in x.tolist()], np.int32)

    answer = audited(run, of_signed_second(operator))
    assert answer.semantics() == PLAIN | unlike, answer.closest()


def test_what_no_table_has_is_not_named() -> None:
    def run(x: Array, *others: Array) -> Array:
        return np.array([(TERMS - 1) * (a - int(others[1])) * (int(others[0]) - int(others[2])) for a in x.tolist()])

    answer = audited(run, of_signed_second(OPERATORS[0]))
    assert answer.semantics() == {} and answer.closest() is not None


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_document_says_is_the_oracles_answer_to_the_call(operator: str, kind: str) -> None:
    arithmetic, compared = arithmetic_of(audited_node(operator, {}, kind, "", 0)), 0
    for number, probe in enumerate(list(arithmetic.first_probes())[::9]):
        case = case_of_probe(arithmetic.node, probe, number)
        (problem,) = problems_of(case)
        assert case.inputs[0].size == TERMS * probe.x.size and problem.operands[0].size == probe.x.size
        (predicted,) = arithmetic.predict(probe, [arithmetic.documented])
        assert predicted.tolist() == list(oracle.solve(problem, working=False)[0])
        compared += predicted.size
    assert compared > 1000


def test_a_sum_whose_rounding_depends_on_the_order_is_not_predicted() -> None:
    """With a read as signed, -128 less 255 is -383, and 258 products of -383 and 255 leave 24 bits."""
    arithmetic = arithmetic_of(of_signed_second(OPERATORS[0]))
    names = [("first-as-other-sign", "both", "float32"), ("first-as-other-sign", "both", "exact")]
    by_ids = {tuple(value.id for value in one): one for one in arithmetic.candidates.all}
    probe = next(probe for probe in arithmetic.first_probes() if [int(o) for o in probe.others] == [127, 255, -128])
    rounded, exact = (codes.tolist() for codes in arithmetic.predict(probe, [by_ids[name] for name in names]))
    assert rounded[128] == ANYTHING and exact[128] == TERMS * -383 * 255
    assert rounded[1] == exact[1] == TERMS * -254 * 255


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_semantics_is_inferred_alone(operator: str) -> None:
    for node in (of_signed_second(operator), audited_node(operator, {}, "uint8", "", 0)):
        assert infer_each_alone(node, arithmetic_of(node).candidates.all) == 56


def test_values_have_causes() -> None:
    arithmetic = arithmetic_of(of_signed_second(OPERATORS[0]))
    for facet, plain in zip(arithmetic.facets, arithmetic.documented, strict=True):
        assert all(value is plain or sentence_of(key_of(value, plain.id)) for value in facet.values)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("backend", ["onnxruntime", "onnx-reference"])
def test_real_libraries_do_what_is_written(backend: str, operator: str) -> None:
    run = CliRunner().invoke(main, ["audit", backend, "--operator", operator, "--json"])
    saturates = SATURATING_PAIRS and (backend, operator) == ("onnxruntime", "onnx.MatMulInteger")
    assert json.loads(run.stdout)["semantics"] == PLAIN | ({"sum": "pairs-in-16-bits"} if saturates else {})
