"""What the engine found for one backend serves another with the same outputs, as far as the same causes are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from causes_of_records import causes_of_records
from test_by_semantics import records_of, three_faults, three_kernels

from tiebreak.conformance.audit import covering, recorded_causes
from tiebreak.conformance.audit.covering import Covers
from tiebreak.conformance.audit.recorded_causes import CausesBySemantics
from tiebreak.conformance.audit.recorded_elements import RecordedCase, RecordedElements, first_output_name, joined
from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.judging.rows import kind_of_node
from tiebreak.conformance.semantics.model import ANYTHING, Unknown
from tiebreak.conformance.semantics.quantize_facets import FACETS
from tiebreak.conformance.semantics.quantize_rules import valid_combinations
from tiebreak.golden.builder import file_name
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS


def causes(
    backend: Callable[[Case, QuantizationOperands], Array], covers: Covers, known: Iterable[str] = ()
) -> Counter[str]:
    """The causes of a backend's records, if some texts of causes are named already."""
    records, cases = records_of(backend)
    engine = CausesBySemantics(cases, records.outputs, covers=covers, known=set(known))
    return causes_of_records(records, engine.refine)


@pytest.mark.slow
def test_equal_outputs_are_searched_once_unless_other_causes_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    search = covering.covering_semantics

    def counted(part: covering.PartToCover, known: set[str], asked: set[str]) -> list[covering.Covered]:
        searched.append(part.place)
        return search(part, known, asked)

    monkeypatch.setattr(covering, "covering_semantics", counted)
    covers = Covers()
    first = causes(three_kernels, covers)
    before = len(searched)
    assert before > 1 and len(first) > 1
    assert causes(three_kernels, covers) == first
    assert len(searched) == before
    not_named = {one for found in covers.kept.values() for _, others, _ in found for one in others}
    causes(three_kernels, covers, not_named)  # all that were in question
    assert len(searched) > before
    before = len(searched)
    assert causes(three_faults, covers) != first
    assert len(searched) > before


@pytest.mark.parametrize(
    ("is_real", "place", "compared"),
    [(True, "per tensor", [7, 8, 9]), (True, "", [7, ANYTHING, 9]), (False, "per tensor", [7, ANYTHING, 9])],
)
def test_what_has_a_cause_is_compared_for_real_results_at_a_place(
    is_real: bool, place: str, compared: list[int]
) -> None:
    elements = SimpleNamespace(deviating=np.array([True, True, False]), outputs=np.array([7, 8, 9]))
    group: Any = SimpleNamespace(is_real=is_real, elements=elements)
    part = covering.PartToCover(group, np.arange(3), np.array([True, False, False]), place)
    assert part.outputs.tolist() == compared


def test_distances_count_facets_that_differ() -> None:
    candidates = valid_combinations(FLOAT_TYPES["float32"], INTEGER_TYPES["int8"])
    own = candidates.all[len(candidates.all) // 2]
    wanted = [sum(a != b for a, b in zip(own, other, strict=True)) for other in candidates.all]
    assert candidates.distances(own).tolist() == wanted
    assert candidates.distances((Unknown("no-such-precision", ""), *own[1:])).min() == 1
    assert candidates.names == tuple(facet.name for facet in FACETS)
    assert all(candidates.places[one] == place for place, one in enumerate(candidates.all))


def test_elements_of_one_arithmetic_that_raise_cost_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    every = indexed_cases(VECTORS / file_name("openvino.FakeQuantize", "float32", "float32"))
    cases = {case.id: case for case in every if case.size}
    outputs = {name: np.zeros(case.size, np.int64) for name, case in cases.items()}
    elements = [(name, first_output_name(case), 0) for name, case in cases.items()]
    kind = kind_of_node(every[0].node)
    engine = CausesBySemantics(cases, outputs)
    whole = engine.by_arithmetic(kind, elements)
    lost = whole[1].cases[0].id
    assert len(whole) > 2 and engine.errors.rows() == []

    def raising(group: Sequence[RecordedCase]) -> RecordedElements:
        if group[0].case.id == lost:
            raise RuntimeError("injected")
        return joined(group)

    monkeypatch.setattr(recorded_causes, "joined", raising)
    left = engine.by_arithmetic(kind, elements)
    assert [one.digest for one in left] == [one.digest for one in whole if one.cases[0].id != lost]
    assert ["injected" in row["error"] for row in engine.errors.rows()] == [True]
