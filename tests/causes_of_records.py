"""The causes of a backend's deviating elements, looked for as a run looks for them."""

from __future__ import annotations

from collections import Counter

from tiebreak.conformance.causes.settling import Refine, settle_causes
from tiebreak.conformance.running.explaining import all_deviating, evidence_of, explained_cases
from tiebreak.conformance.running.recording import BackendRecords


def causes_of_records(records: BackendRecords, refine: Refine = lambda elements, named: named) -> Counter[str]:
    """The texts of the causes, with how many elements each has. What raises on the way is an error."""
    evidence = evidence_of(records, all_deviating(records), explained_cases([records]))
    ids, texts, clauses = settle_causes(evidence, refine=refine, errors=records.errors)
    assert records.errors.rows() == []
    assert len(ids) == len(texts) == len(clauses) == sum(map(len, records.deviating))
    return Counter(texts.tolist())
