"""Finds the cause of each deviating element: known mistakes first, then the audit's engine, then code paths.

Everything here may fail. The rows exist already, and a step that raises costs only the causes that it would have found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from tiebreak.conformance.audit.recorded_causes import CausesBySemantics
from tiebreak.conformance.causes.explanations import STAGE, Explanation, explanations
from tiebreak.conformance.causes.settling import Element, Evidence, settle_causes
from tiebreak.conformance.judging.judge import judge
from tiebreak.conformance.judging.rows import Kind, kind_of_row
from tiebreak.conformance.judging.truths import TruthCache
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.golden.nodes import Case
from tiebreak.reports.rows import DiscrepancyRow

CaseExplanations = tuple[list[Explanation], Counter[Cause]]


def rows_with_causes(
    records: BackendRecords, cases: Sequence[Case], by_path: Mapping[Element, str], cache: TruthCache
) -> list[DiscrepancyRow]:
    """The backend's discrepancy rows with cause and clause; unchanged where no cause was found."""
    own = {case.id: case for case in cases if case.id in records.outputs}
    engine = CausesBySemantics(own, records.outputs, records.errors, records.name)
    evidence = evidence_of(records, own, cache)
    return settle_causes(evidence, by_path, engine.refine, records.errors)


def evidence_of(records: BackendRecords, cases: Mapping[str, Case], cache: TruthCache) -> Evidence:
    """What known mistakes predict for each deviating element, and how often conforming elements contradict them."""
    candidates: list[Explanation] = []
    against: dict[Kind, Counter[Cause]] = defaultdict(Counter)
    for kind, found, contradicted in explanations_by_case(records, cases, cache):
        candidates += found
        against[kind].update(contradicted)
    return Evidence(
        records.results, records.discrepancies, candidates, against, records.against_modes, about=records.name
    )


def explanations_by_case(
    records: BackendRecords, cases: Mapping[str, Case], cache: TruthCache
) -> Iterator[tuple[Kind, list[Explanation], Counter[Cause]]]:
    """The kind of each deviating case, with an explanation for each of its rows and the contradictions by cause."""
    for case_id, rows in groupby(records.discrepancies, key=case_id_of):
        own = list(rows)
        about = f"{records.name}, {own[0]['operator']}"
        nothing: CaseExplanations = [Explanation()] * len(own), Counter()
        explain = partial(explain_case, records, cases, case_id, cache, about)
        found, contradicted = records.errors.attempt(STAGE, about, explain, nothing)
        if len(found) != len(own):
            found, contradicted = nothing
        yield kind_of_row(own[0]), found, contradicted


def case_id_of(row: Mapping[str, Any]) -> str:
    return str(row["case"])


def explain_case(
    records: BackendRecords, cases: Mapping[str, Case], case_id: str, cache: TruthCache, about: str
) -> CaseExplanations:
    case = cases[case_id]
    truths = cache.of(case)
    judgement = judge(records.outputs[case_id], truths.judged_by, truths)
    return explanations(case, truths, judgement, records.errors, about)
