"""The causes of a backend's deviating elements, looked for as a run looks for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.causes.settling import Refine, settle_causes
from tiebreak.conformance.running.explaining import all_deviating, evidence_of, explained_cases
from tiebreak.conformance.running.recording import BackendRecords, record
from tiebreak.golden.nodes import Case


def causes_of_records(records: BackendRecords, refine: Refine = lambda elements, named: named) -> Counter[str]:
    """The texts of the causes, with how many elements each has. What raises on the way is an error."""
    evidence = evidence_of(records, all_deviating(records), explained_cases([records]))
    ids, texts, clauses = settle_causes(evidence, refine=refine, errors=records.errors)
    assert records.errors.rows() == []
    assert len(ids) == len(texts) == len(clauses) == sum(map(len, records.deviating))
    return Counter(texts.tolist())


def causes_of(run: Callable[..., Any], cases: Iterable[Case]) -> Counter[str]:
    """The causes given to a backend that runs some cases, with how many elements each has."""
    records = BackendRecords({"name": "it", "version": "1", "spec": "it"})
    for case in cases:
        with np.errstate(all="ignore"):
            record(records, case, Outcome("ok", run(case.node, *case.inputs)))
    return causes_of_records(records)
