"""Level brief, the default: few vectors, and yet one for everything that any of them is there to find."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from own_cache import fresh_cache  # noqa: F401 - a fixture

from tiebreak.cli import main
from tiebreak.cli.running import run, selection_of
from tiebreak.conformance.cases.brief import MOST_WHOLE, brief_cases
from tiebreak.conformance.cases.path_probes import all_probes, arrangements
from tiebreak.conformance.cases.plan import LEVELS, Planning, Selection, plan
from tiebreak.conformance.cases.relations import RELATIONS, cases_of_relation
from tiebreak.golden.nodes import Case
from tiebreak.golden.rounding import EVEN

QUANTIZE, NGRAPH = "onnx.QuantizeLinear", "ngraph.Quantize"
BRIEF = Selection(level="brief")


def stored(selection: Selection) -> list[Case]:
    with Planning(selection) as planning:
        return planning.stored


@pytest.fixture(scope="module")
def every() -> list[Case]:
    return stored(Selection(level=""))


@pytest.fixture(scope="module")
def few(every: list[Case]) -> list[Case]:
    return brief_cases(every)


def of_flags(case: Case) -> Iterator[object]:
    yield from ((case.node.input_type, flag) for flag in case.flags)


def of_types(case: Case) -> Iterator[object]:
    if "Tie" in case.flags:
        yield case.node.input_type, case.node.output_type, "Tie"
    yield case.node.input_type, case.node.output_type


def of_clauses(case: Case) -> Iterator[object]:
    yield from ((case.node.input_type, clause) for clause in case.clauses)


def of_attributes(case: Case) -> Iterator[object]:
    node = case.node
    yield from ((node.input_type, name, str(value)) for name, value in node.attributes.items())
    yield node.input_type, node.opset
    yield node.input_type, tuple((tensor.name, tensor.dtype) for tensor in node.inputs)


def of_ties(case: Case) -> Iterator[object]:
    if "Tie" in case.flags:
        yield case.node.input_type, case.node.round_mode


def of_flags_together(case: Case) -> Iterator[object]:
    if case.node.round_mode == EVEN:
        yield case.node.input_type, case.flags


@pytest.mark.parametrize("labels", [of_types, of_flags, of_clauses, of_attributes, of_ties, of_flags_together])
def test_nothing_that_a_vector_stands_for_is_missing(
    labels: Callable[[Case], Iterator[object]], every: list[Case], few: list[Case]
) -> None:
    def found(cases: Sequence[Case]) -> set[object]:
        return {(case.node.operator, label) for case in cases for label in labels(case)}

    assert found(few) == found(every)
    assert len(found(every)) > 50


def test_less_than_a_tenth_is_left_in_the_order_of_all(every: list[Case], few: list[Case]) -> None:
    assert len(every) / 30 < len(few) < len(every) / 10
    ids = {case.id for case in few}
    assert [case.id for case in every if case.id in ids] == [case.id for case in few]


def test_no_vector_is_superfluous_twice_over(few: list[Case]) -> None:
    """Chosen from what is chosen, hardly fewer are left: the choice is not simply the first vectors of each file."""
    assert len(brief_cases(few)) > 0.9 * len(few)


@pytest.mark.parametrize(
    "chosen", [{"output_type": "uint8"}, {"attributes": {"axis": 0}}, {"input_type": "int32"}], ids=str
)
def test_a_narrow_choice_keeps_all_its_vectors(chosen: dict[str, Any]) -> None:
    selection = replace(BRIEF, operators=(QUANTIZE,), **chosen)
    found = stored(selection)
    assert 0 < len(found) <= MOST_WHOLE
    assert [case.id for case in found] == [case.id for case in stored(replace(selection, level=""))]


def test_a_choice_that_is_not_narrow_enough_is_brief_too() -> None:
    selection = replace(BRIEF, operators=(NGRAPH,), input_type="float32")
    assert len(stored(selection)) < len(stored(replace(selection, level=""))) / 4


def test_what_an_operator_keeps_does_not_depend_on_the_others(few: list[Case]) -> None:
    alone = stored(replace(BRIEF, operators=(QUANTIZE,)))
    assert [case.id for case in alone] == [case.id for case in few if case.node.operator == QUANTIZE]


def test_any_vector_can_be_named(every: list[Case], few: list[Case]) -> None:
    left_out = next(case.id for case in every if case.id not in {kept.id for kept in few})
    assert [case.id for case in plan(replace(BRIEF, case_ids=(left_out,)))] == [left_out]


@pytest.mark.usefixtures("own_cache")
def test_the_rest_is_small_and_has_every_kind() -> None:
    selection = replace(BRIEF, operators=(QUANTIZE, NGRAPH))
    with Planning(selection, alone=True) as planning:
        found = Counter(case.id.partition("/")[0] for case in planning.rest())
    assert 0 < found["generated"] <= 2 * LEVELS["brief"]
    every = [relation for relation in RELATIONS if set(relation.operators) <= {QUANTIZE, NGRAPH}]
    assert 0 < found["related"] < sum(len(cases_of_relation(relation.id)) for relation in every) / 4
    probes = [pair for pair in all_probes() if pair[0].id in (QUANTIZE, NGRAPH)]
    brief, quick = (sum(len(list(arrangements(*pair, level))) for pair in probes) for level in ("brief", "quick"))
    assert found["path"] == brief < quick / 2


@pytest.mark.slow
def test_it_is_what_a_run_does_that_names_no_level(tmp_path: Path) -> None:
    words = [
        "run",
        "-b",
        "numpy-naive",
        "--operator",
        "onnx.DequantizeLinear",
        "--type",
        "float16",
        "-o",
        str(tmp_path),
    ]
    CliRunner().invoke(main, words)
    assert json.loads((tmp_path / "run.json").read_text())["level"] == "brief"


@pytest.mark.parametrize(
    ("named", "level"),
    [
        ((), "brief"),
        (("numpy-naive", "onnxruntime@1.20.1"), "brief"),
        (("mine.py:Mine",), "quick"),
        (("numpy-naive", "module:attribute"), "quick"),
        (("exec:./mine",), "quick"),
        (("onnx-backend:mine",), "quick"),
    ],
)
def test_code_that_nobody_has_tested_is_asked_all_vectors(named: tuple[str, ...], level: str) -> None:
    words = [word for name in named for word in ("-b", name)]
    assert selection_of(run.make_context("run", list(words)).params).level == level
    assert selection_of(run.make_context("run", [*words, "--level", "full"]).params).level == "full"
