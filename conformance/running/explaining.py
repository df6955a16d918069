"""From a backend's records to the cause of each deviating element: known mistakes, then the audit's engine, then paths.

Everything here may fail: the rows are there before it begins, and what raises costs the names that it was to find.
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
from tiebreak.conformance.judging.rows import Kind, kind_of
from tiebreak.conformance.judging.truths import TruthCache
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.golden.nodes import Case
from tiebreak.reports.rows import DiscrepancyRow

Explained = tuple[list[Explanation], Counter[Cause]]


def named_rows(
    records: BackendRecords, cases: Sequence[Case], by_path: Mapping[Element, str], cache: TruthCache
) -> list[DiscrepancyRow]:
    """The backend's discrepancy rows with cause and clause; as they are where nothing could be found."""
    own = {case.id: case for case in cases if case.id in records.outputs}
    engine = CausesBySemantics(own, records.outputs, records.errors, records.name)
    evidence = evidence_of(records, own, cache)
    return settle_causes(evidence, by_path, engine.refine, records.errors)


def evidence_of(records: BackendRecords, cases: Mapping[str, Case], cache: TruthCache) -> Evidence:
    """What known mistakes predict of each deviating element, and what speaks against each of them."""
    candidates: list[Explanation] = []
    against: dict[Kind, Counter[Cause]] = defaultdict(Counter)
    for kind, found, contradicted in each_case(records, cases, cache):
        candidates += found
        against[kind].update(contradicted)
    return Evidence(
        records.results, records.discrepancies, candidates, against, records.against_modes, about=records.name
    )


def each_case(
    records: BackendRecords, cases: Mapping[str, Case], cache: TruthCache
) -> Iterator[tuple[Kind, list[Explanation], Counter[Cause]]]:
    """The explanations of each case that deviates, in the rows' order: one for each of its rows."""
    for case_id, rows in groupby(records.discrepancies, key=case_of):
        own = list(rows)
        about = f"{records.name}, {own[0]['operator']}"
        nothing: Explained = [Explanation()] * len(own), Counter()
        explain = partial(explained_case, records, cases, case_id, cache, about)
        found, contradicted = records.errors.attempt(STAGE, about, explain, nothing)
        if len(found) != len(own):
            found, contradicted = nothing
        yield kind_of(own[0]), found, contradicted


def case_of(row: Mapping[str, Any]) -> str:
    return str(row["case"])


def explained_case(
    records: BackendRecords, cases: Mapping[str, Case], case_id: str, cache: TruthCache, about: str
) -> Explained:
    case = cases[case_id]
    truths = cache.of(case)
    judgement = judge(records.outputs[case_id], truths.own, truths)
    return explanations(case, truths, judgement, records.errors, about)
