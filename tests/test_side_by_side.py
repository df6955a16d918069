"""Which backends deviate where others are right: statuses of every backend for each deviating element."""

from __future__ import annotations

import numpy as np
import pytest
from test_html_report import FACTS, SAMPLES

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.backends import run_cases
from tiebreak.reports.records import Run, as_run
from tiebreak.reports.side_by_side import DEVIATES, EXACT, FAILS, UNSUPPORTED, SideBySide, side_by_side

NAMES = ("sound", "wrong", "raises", "absent")


@pytest.fixture(scope="module")
def run() -> Run:
    cases = plan(Selection(operators=("onnx.QuantizeLinear",), input_type="float32", level="quick"))[::3]
    names = ["sound", "wrong", "raises"]
    return as_run(run_cases([f"{SAMPLES}:{name}" for name in names], cases, time_limit=30, facts=dict(FACTS)))


@pytest.fixture(scope="module")
def found(run: Run) -> SideBySide:
    return side_by_side(run, NAMES)


@pytest.mark.slow
def test_each_discrepancy_has_the_status_of_every_backend(run: Run, found: SideBySide) -> None:
    rows = found.status[found.element]
    own = run.discrepancies["backend"].map({name: at for at, name in enumerate(NAMES)}).to_numpy(int)
    assert (rows[np.arange(len(rows)), own] == DEVIATES).all()
    assert set(rows[:, 0].tolist()) == {EXACT}, "a division in float32 that rounds once is exact or as written"
    assert set(rows[:, 2].tolist()) <= {FAILS, UNSUPPORTED}
    assert set(rows[:, 3].tolist()) == {ord("-")}, "it was not asked"


def test_patterns_count_every_element(run: Run, found: SideBySide) -> None:
    everything = np.arange(len(run.discrepancies))
    patterns = found.patterns(everything, most=99)
    assert sum(count for _, count in patterns) == len(everything)
    assert all(pattern[1] == "d" for pattern, _ in patterns)
    assert found.patterns(everything, most=1) == patterns[:1]


def test_answers_are_those_of_the_records(run: Run, found: SideBySide) -> None:
    for place in (0, len(run.discrepancies) - 1):
        row = run.discrepancies.iloc[place]
        answers = dict(found.answers(place))
        assert answers[str(int(row["got"]))] == [1]
        assert 0 in answers["e"]


def test_a_run_without_discrepancies_has_no_elements(run: Run) -> None:
    none = side_by_side(Run(run.info, run.results, run.discrepancies.head(0)), NAMES)
    assert none.status.shape == (0, len(NAMES))
