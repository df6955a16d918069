"""The tables of a run, made from the columns that backends' records hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.conformance.judging.deviating import DeviatingElements
from tiebreak.conformance.running.recording import COUNTS, BackendRecords
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DOMAINS, OWN, UNEXPLAINED
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES
from tiebreak.reports.text_columns import column_of, numbered, of_codes, of_numbers, text_column

if TYPE_CHECKING:
    import pandas as pd

PIECE = 1 << 16  # ids
OF_CASE: dict[str, Callable[[Case], str]] = {
    "operator": lambda case: case.node.operator,
    "case": lambda case: case.id,
    "origin": lambda case: case.origin,
    "round_mode": lambda case: case.node.round_mode,
    "input_type": lambda case: case.node.input_type,
    "output_type": lambda case: case.node.output_type,
    "flags": lambda case: " ".join(case.flags),
    "clauses": lambda case: " ".join(case.clauses),
    "clause": lambda case: first_clause(case.node),
}


class CaseTexts:
    """The text columns of a run's cases, made once for all backends: numbers of distinct texts, and these texts."""

    def __init__(self, done: Sequence[BackendRecords]) -> None:
        cases = {case.id: case for records in done for case in records.cases}
        self.numbers = {name: number for number, name in enumerate(cases)}
        self.columns = {name: numbered([of(case) for case in cases.values()]) for name, of in OF_CASE.items()}

    def numbers_of(self, records: BackendRecords) -> Array:
        return np.array([self.numbers[case.id] for case in records.cases], np.int64)

    def column(self, name: str, cases: Sequence[Array]) -> pd.Series[Any]:
        """The column for rows about these cases, given by their numbers."""
        codes, distinct = self.columns[name]
        return of_codes(codes[joined(cases, "int64")], distinct)


def first_clause(node: Node) -> str:
    """The clause of a deviating element until its cause is known: on the rounding mode, or the operator's first."""
    spec = get_operator(node.operator)
    own = spec.roles.get(spec.role_in(node, "mode"), "") or spec.mode_clause(node.round_mode)
    return own or spec.clauses[0].id


def result_table(done: Sequence[BackendRecords], texts: CaseTexts) -> pd.DataFrame:
    """A row for each backend and case."""
    cases = [texts.numbers_of(records) for records in done]
    columns: dict[str, Any] = {name: texts.column(name, cases) for name in RESULT_DTYPES if name in OF_CASE}
    sizes = [len(records.cases) for records in done]
    columns["backend"] = repeated([records.name for records in done], sizes)
    columns["version"] = repeated([str(records.facts["version"]) for records in done], sizes)
    columns["document"] = column_of([document for records in done for document in records.documents])
    domains = np.concatenate([np.empty(0, np.uint8), *(chunk for records in done for chunk in records.domains)])
    columns["domain"] = of_numbers(domains, (*DOMAINS, ""))
    columns["verdict"] = column_of([verdict for records in done for verdict in records.verdicts])
    outcomes = [outcome for records in done for outcome in records.outcomes]
    columns["message"] = column_of([outcome.message for outcome in outcomes])
    columns["fault"] = column_of([outcome.fault for outcome in outcomes])
    columns["seconds"] = np.array([outcome.seconds for outcome in outcomes], np.float64)
    columns["digest"] = joined([chunk for records in done for chunk in records.digests], np.uint64)
    columns["elements"] = np.array([size for records in done for size in records.elements], np.int64)
    counts = [chunk for records in done for chunk in records.counts]
    columns |= {name: joined([chunk[row] for chunk in counts], "int64") for row, name in enumerate(COUNTS)}
    return table_of(columns, RESULT_DTYPES)


def discrepancy_table(done: Sequence[BackendRecords], texts: CaseTexts) -> pd.DataFrame:
    """A row for each deviating element, none with a cause."""
    sizes = [sum(map(len, records.deviating)) for records in done]
    cases = [
        take[found.case]
        for take, records in zip(map(texts.numbers_of, done), done, strict=True)
        for found in records.deviating
    ]
    columns: dict[str, Any] = {name: texts.column(name, cases) for name in DISCREPANCY_DTYPES if name in OF_CASE}
    columns["id"] = discrepancy_ids(sum(sizes))
    columns["backend"] = repeated([records.name for records in done], sizes)
    columns["cause"] = columns["cause_id"] = repeated([UNEXPLAINED], [sum(sizes)])
    found = [one for records in done for one in records.deviating]
    documents = [document_of_chunk(records, one) for records in done for one in records.deviating]
    columns["document"] = repeated(documents, [len(one) for one in found])
    columns["domain"] = of_numbers(joined([one.domain for one in found], np.uint8), DOMAINS)
    for name, dtype in DISCREPANCY_DTYPES.items():
        if name not in columns:
            values = [getattr(one, name) for one in found]
            columns[name] = column_of(joined(values, object)) if dtype == "string" else joined(values, dtype)
    return table_of(columns, DISCREPANCY_DTYPES)


def document_of_chunk(records: BackendRecords, found: DeviatingElements) -> str:
    """Whose document judges the elements of one chunk, which are all of one operator."""
    return records.document_of(records.cases[int(found.case[0])].node.operator) if len(found) else OWN


def joined(parts: Sequence[Array], dtype: Any) -> Array:
    return np.concatenate([np.zeros(0, dtype), *parts])


def repeated(texts: Sequence[str], sizes: Sequence[int]) -> pd.Series[Any]:
    """Each text so many times, one after the other."""
    codes, distinct = numbered(texts)
    return of_codes(np.repeat(codes, sizes), distinct)


def discrepancy_ids(size: int) -> pd.Series[Any]:
    """D000001, D000002, …; made piece by piece, since Python's texts take five times as much."""
    import pyarrow as pa

    pieces = [range(first, min(first + PIECE, size + 1)) for first in range(1, size + 1, PIECE)]
    ids = [pa.array([f"D{number:06d}" for number in piece], pa.large_string()) for piece in pieces]
    return text_column(pa.chunked_array(ids, pa.large_string()))


def table_of(columns: Mapping[str, Any], dtypes: Mapping[str, str]) -> pd.DataFrame:
    """The columns in the order of the dtypes, each as it is: a copy would need all numbers twice."""
    import pandas as pd

    return pd.DataFrame({name: columns[name] for name in dtypes}, copy=False)
