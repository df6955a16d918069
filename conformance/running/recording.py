"""Turns outcomes into rows: one for each case, one for each deviating element. Nothing here looks for a cause."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.adapters.answering import message_of
from tiebreak.adapters.outcome import NOT_JUDGED, Outcome
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.judging.exponents import judged_by_exponent
from tiebreak.conformance.judging.judge import Judgement, judge_outputs
from tiebreak.conformance.judging.observations import observations
from tiebreak.conformance.judging.rows import (
    Kind,
    add_boundaries,
    case_columns,
    contradictions,
    deviating_rows,
    grade_counts,
    kind_of_row,
    mode_counts,
)
from tiebreak.conformance.judging.truths import TruthCache, Truths
from tiebreak.golden import oracle
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DEVIATES, UNSPECIFIED
from tiebreak.reports.rows import DiscrepancyRow, ResultRow, judged_row


@dataclass
class BackendRecords:
    """The records of one backend: a row for each case, a row for each deviating element, and outputs by case id.

    `outputs` are codes (int64, flat, output by output). `against_modes`, `observed` and `judged` are counts for causes
    and plots, taken while a case's truths are at hand.
    """

    facts: dict[str, Any]
    results: list[ResultRow] = field(default_factory=list)
    discrepancies: list[DiscrepancyRow] = field(default_factory=list)
    outputs: dict[str, Array] = field(default_factory=dict)
    against_modes: dict[Kind, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    observed: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    judged: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))  # by operator and exponent
    errors: ExplanationErrors = field(default_factory=ExplanationErrors)

    @property
    def name(self) -> str:
        return str(self.facts["name"])


def record(records: BackendRecords, case: Case, outcome: Outcome, cache: TruthCache) -> None:
    """Add one case's rows. A case that can't be judged is recorded as Tiebreak's own error, and the run goes on."""
    row = case_columns(records.facts, case, outcome)
    if outcome.status != "ok":
        records.results.append(judged_row(row, outcome.status))
        return
    try:
        truths = cache.of(case)
        judgement = judge_outputs(outcome.outputs, truths)
        columns = {**grade_counts(judgement), **mode_counts(judgement, truths), "elements": judgement.grades.size}
        wrong = confirmed_rows(records.name, case, truths, judgement)
    except Exception as error:
        message = f"Tiebreak could not judge this: {message_of(error)}"
        records.results.append(judged_row(row, "error", fault=NOT_JUDGED, message=message))
        return
    records.results.append(judged_row(row, judgement.verdict, **columns))
    records.discrepancies += wrong
    records.outputs[case.id] = judgement.values
    for stage, add in (
        ("distances from decision boundaries", lambda: add_boundaries(wrong, truths)),
        ("counts", lambda: count(records, kind_of_row(row), case, truths, judgement)),
    ):
        records.errors.attempt(stage, f"{records.name}, {case.node.operator}", add, None)


def confirmed_rows(backend: str, case: Case, truths: Truths, judgement: Judgement) -> list[DiscrepancyRow]:
    """The rows of the deviating elements, after the oracle has confirmed them."""
    if judgement.verdict != "deviates":
        return []
    confirm(case, truths, judgement)
    return deviating_rows(backend, case, judgement, truths)


def count(records: BackendRecords, kind: Kind, case: Case, truths: Truths, judgement: Judgement) -> None:
    """Update the counts: contradicted modes, judged elements by exponent, observations where the document is silent."""
    records.against_modes[kind].update(contradictions(judgement, truths))
    records.judged[case.node.operator].update(judged_by_exponent(truths, judgement))
    if judgement.count(UNSPECIFIED):
        records.observed.update(observations(case, judgement, truths))


def confirm(case: Case, truths: Truths, judgement: Judgement) -> None:
    """Check the kernel's results of deviating elements with the oracle; MachineryFailed if they disagree.

    Golden vectors need no check: they hold the oracle's results.
    """
    if case.expected is not None:
        return
    truth, mode, start = truths.by_mode[truths.allowed[0]], truths.allowed[0], 0
    for problem in truths.problems:
        size = math.prod(problem.shape)
        at = np.flatnonzero(judgement.grades[start : start + size] == DEVIATES)
        part = problem.some(at)
        for working, codes in ((False, truth.exact), (True, truth.working)):
            if not np.array_equal(oracle.solve(part, working=working, mode=mode)[0], codes[start + at]):
                raise MachineryFailed(f"{case.id}: the kernel and the oracle disagree; one of them is wrong")
        start += size
