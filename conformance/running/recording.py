"""From outcomes to records: a row for each case, a row for each deviating element. Nothing here looks for a cause."""

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
    case_row,
    contradictions,
    counts,
    discrepancy_rows,
    kind_of,
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
    """What one backend did: a row for each case, a row for each deviating element, and its outputs by case id.

    `against_modes`, `observed` and `judged` are counts for causes and plots, made while a case's truths are at hand.
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
    """Add one case's rows. What can't be judged is an error of ours and says so; it costs this case only."""
    row = case_row(records.facts, case, outcome)
    if outcome.status != "ok":
        records.results.append(judged_row(row, outcome.status))
        return
    try:
        truths = cache.of(case)
        judgement = judge_outputs(outcome.outputs, truths)
        columns = {**counts(judgement), **mode_counts(judgement, truths), "elements": judgement.grades.size}
        wrong = deviating(records.name, case, truths, judgement)
    except Exception as error:
        message = f"Tiebreak could not judge this: {message_of(error)}"
        records.results.append(judged_row(row, "error", fault=NOT_JUDGED, message=message))
        return
    records.results.append(judged_row(row, judgement.verdict, **columns))
    records.discrepancies += wrong
    records.outputs[case.id] = judgement.values
    for stage, add in (
        ("distances from decision boundaries", lambda: add_boundaries(wrong, truths)),
        ("counts", lambda: count(records, kind_of(row), case, truths, judgement)),
    ):
        records.errors.attempt(stage, f"{records.name}, {case.node.operator}", add, None)


def deviating(backend: str, case: Case, truths: Truths, judgement: Judgement) -> list[DiscrepancyRow]:
    """The rows of the elements that deviate, if any, once the oracle has been asked too."""
    if judgement.verdict != "deviates":
        return []
    confirm(case, truths, judgement)
    return discrepancy_rows(backend, case, judgement, truths)


def count(records: BackendRecords, kind: Kind, case: Case, truths: Truths, judgement: Judgement) -> None:
    """Count what causes are weighed with, what the plots show, and what came where the document is silent."""
    records.against_modes[kind].update(contradictions(judgement, truths))
    records.judged[case.node.operator].update(judged_by_exponent(truths, judgement))
    if judgement.count(UNSPECIFIED):
        records.observed.update(observations(case, judgement, truths))


def confirm(case: Case, truths: Truths, judgement: Judgement) -> None:
    """Ask the oracle before an element of a generated or typed case is called a discrepancy.

    Vectors hold the oracle's results already. MachineryFailed if kernel and oracle disagree.
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
