"""Truths by rounding mode are made when they are asked for: a search for causes asks many cases for few modes."""

from __future__ import annotations

import pytest

from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.truths import Truth, truths_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.rounding import ROUND_MODES
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

EVERY = indexed_cases(VECTORS / file_name("ngraph.Quantize", "float32", "int8"))
CASES = tuple(case for case in EVERY if case.node.round_mode == "ROUND_DOWN")[:40]


def test_a_judgement_makes_the_truths_of_the_modes_that_its_cases_allow() -> None:
    chunk = Chunk(CASES)
    assert chunk.judged_by.exact.size == chunk.size
    assert set(chunk.by_mode.made) == {"ROUND_DOWN"}


def test_all_modes_are_there_for_whoever_asks() -> None:
    truths = Chunk(CASES).truths_of(3)
    alone = truths_of(CASES[3], list(ROUND_MODES))
    assert set(truths.by_mode) == set(ROUND_MODES) == set(truths.compared)
    for mode, truth in truths.by_mode.items():
        assert isinstance(truth, Truth)
        assert truth.exact.tolist() == alone.by_mode[mode].exact.tolist()
    with pytest.raises(KeyError, match="ROUND_SIDEWAYS"):
        truths.by_mode["ROUND_SIDEWAYS"]
