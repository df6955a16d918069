"""What the engine found for one backend serves another with the same outputs, as far as the same causes are named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from causes_of_records import causes_of_records
from test_by_semantics import odd_tail, three_faults

from test_wrong_backends import vectors
from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.audit import covering
from tiebreak.conformance.audit.covering import Covers
from tiebreak.conformance.audit.recorded_causes import CausesBySemantics
from tiebreak.conformance.causes.settling import Refine
from tiebreak.conformance.judging.operands import QuantizationOperands, operands_along
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.conformance.semantics.quantize_facets import FACETS
from tiebreak.conformance.semantics.quantize_rules import valid_combinations
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import quantization_of


def engine_of(
    backend: Callable[[Case, QuantizationOperands], Array], covers: Covers
) -> tuple[BackendRecords, CausesBySemantics]:
    records = BackendRecords({"name": "it", "version": "1", "spec": "it", "operators": ["ngraph.Quantize"]})
    cases = {}
    for case, _, _ in vectors("ngraph.Quantize", "float32", "int8"):
        if case.node.round_mode == "ROUND_NEAREST_TOWARD_EVEN":
            problem = quantization_of(case)
            with np.errstate(all="ignore"):
                values = backend(case, operands_along(case, problem, problem.axes)).reshape(case.inputs[0].shape)
            record(records, case, Outcome("ok", (values.astype(np.int8),)))
            cases[case.id] = case
    return records, CausesBySemantics(cases, records.outputs, covers=covers)


def test_equal_outputs_are_searched_once_unless_other_causes_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    search = covering.covering_semantics

    def counted(part: covering.PartToCover, known: set[str], asked: set[str]) -> list[covering.Covered]:
        searched.append(part.suffix)
        return search(part, known, asked)

    monkeypatch.setattr(covering, "covering_semantics", counted)
    covers = Covers()
    first = causes_of_records(*with_refine(*engine_of(odd_tail, covers)))
    before = len(searched)
    assert before > 1 and len(first) > 1
    assert causes_of_records(*with_refine(*engine_of(odd_tail, covers))) == first
    assert len(searched) == before
    records, engine = engine_of(odd_tail, covers)
    engine.known.add("clamps before the zero point is added")  # was in question, and was not named
    causes_of_records(*with_refine(records, engine))
    assert len(searched) > before
    before = len(searched)
    assert causes_of_records(*with_refine(*engine_of(three_faults, covers))) != first
    assert len(searched) > before


def with_refine(records: BackendRecords, engine: CausesBySemantics) -> tuple[BackendRecords, Refine]:
    return records, engine.refine


def test_distances_count_facets_that_differ() -> None:
    candidates = valid_combinations(FLOAT_TYPES["float32"], INTEGER_TYPES["int8"])
    own = candidates.all[len(candidates.all) // 2]
    wanted = [sum(a != b for a, b in zip(own, other, strict=True)) for other in candidates.all]
    assert candidates.distances(own).tolist() == wanted
    assert candidates.distances(("no such precision", *own[1:])).min() == 1
    assert candidates.names == tuple(facet.name for facet in FACETS)
    assert all(candidates.places[one] == place for place, one in enumerate(candidates.all))
