"""Causes of tensorflow.Dequantize in MIN_COMBINED: a width times the rounded reciprocal of range(T), as XLA has it."""

from __future__ import annotations

import pytest
from causes_of_records import causes_of
from wrong_tensorflow_dequantize import DEQUANTIZE, RIGHT, by_reciprocal, by_reciprocal_fused, dequantizer

from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

BOXES = {"range-ratio-by-reciprocal": by_reciprocal, "range-ratio-by-reciprocal-fused": by_reciprocal_fused}


def cases_of(kind: str) -> list[Case]:
    every = indexed_cases(VECTORS / file_name(DEQUANTIZE, kind, "float32"))
    return [case for case in every if case.node.value("mode") == "MIN_COMBINED" and case.size < 2000]


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("key", BOXES)
def test_a_backend_with_the_reciprocal_is_named_so(key: str, kind: str) -> None:
    found = causes_of(dequantizer(min_combined=BOXES[key]), cases_of(kind))
    assert set(found) == {sentence_of(key)} and found.total() > 10


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_a_right_one_has_no_cause(kind: str) -> None:
    assert not causes_of(RIGHT[0].run, cases_of(kind))
