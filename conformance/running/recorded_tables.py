"""The tables of a run, made from the columns that backends' records hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.conformance.running.recording import COUNTS, BackendRecords
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

OF_CASE: dict[str, Callable[[Case], str]] = {
    "operator": lambda case: case.node.operator,
    "case": lambda case: case.id,
    "origin": lambda case: case.origin,
    "round_mode": lambda case: case.node.round_mode,
    "input_type": lambda case: case.node.input_type,
    "output_type": lambda case: case.node.output_type,
    "flags": lambda case: " ".join(case.flags),
    "clauses": lambda case: " ".join(case.clauses),
}


class CaseTexts:
    """The text columns of a run's cases, made once for all backends."""

    def __init__(self, done: Sequence[BackendRecords]) -> None:
        import pyarrow as pa

        cases = {case.id: case for records in done for case in records.cases}
        self.numbers = {name: number for number, name in enumerate(cases)}
        self.columns: dict[str, pa.Array] = {
            name: pa.array([of(case) for case in cases.values()], pa.large_string()) for name, of in OF_CASE.items()
        }
        clauses = [first_clause(case.node) for case in cases.values()]
        self.columns["clause"] = pa.array(clauses, pa.large_string())

    def numbers_of(self, records: BackendRecords) -> Array:
        return np.array([self.numbers[case.id] for case in records.cases], np.int64)


def first_clause(node: Node) -> str:
    """The clause of a deviating element until its cause is known: on the rounding mode, or the operator's first."""
    spec = get_operator(node.operator)
    return spec.mode_clause(node.round_mode) or spec.clauses[0].id


def result_table(done: Sequence[BackendRecords], texts: CaseTexts) -> pd.DataFrame:
    """A row for each backend and case."""
    import pyarrow as pa

    parts: dict[str, list[Any]] = {name: [] for name in RESULT_DTYPES}
    for records in done:
        take, size = texts.numbers_of(records), len(records.cases)
        for name in OF_CASE:
            parts[name].append(texts.columns[name].take(pa.array(take)))
        for name, text in (("backend", records.name), ("version", str(records.facts["version"]))):
            parts[name].append(pa.array([text], pa.large_string()).take(pa.array(np.zeros(size, np.int64))))
        parts["verdict"].append(pa.array(records.verdicts, pa.large_string()))
        parts["message"].append(pa.array([one.message for one in records.outcomes], pa.large_string()))
        parts["fault"].append(pa.array([one.fault for one in records.outcomes], pa.large_string()))
        parts["seconds"].append(np.array([one.seconds for one in records.outcomes]))
        parts["elements"].append(np.array(records.elements, np.int64))
        counts = np.concatenate([np.zeros((len(COUNTS), 0), np.int64), *records.counts], axis=1)
        for name, column in zip(COUNTS, counts, strict=True):
            parts[name].append(column)
    return table_of(parts, RESULT_DTYPES)


def discrepancy_table(done: Sequence[BackendRecords], texts: CaseTexts) -> pd.DataFrame:
    """A row for each deviating element, none with a cause."""
    import pyarrow as pa

    parts: dict[str, list[Any]] = {name: [] for name in DISCREPANCY_DTYPES}
    for records in done:
        take = texts.numbers_of(records)
        for found in records.deviating:
            if not len(found):
                continue
            own = pa.array(take[found.case])
            for name in ("operator", "case", "round_mode", "input_type", "output_type", "flags", "clause"):
                parts[name].append(texts.columns[name].take(own))
            for name, text in (("backend", records.name), ("cause", UNEXPLAINED)):
                parts[name].append(pa.array([text], pa.large_string()).take(pa.array(np.zeros(len(found), np.int64))))
            for name, dtype in DISCREPANCY_DTYPES.items():
                if hasattr(found, name) and name != "case":
                    column = getattr(found, name)
                    parts[name].append(pa.array(column, pa.large_string()) if dtype == "string" else column)
    size = sum(len(found) for records in done for found in records.deviating)
    parts["id"] = [pa.array([f"D{number:06d}" for number in range(1, size + 1)], pa.large_string())]
    return table_of(parts, DISCREPANCY_DTYPES)


def table_of(parts: dict[str, list[Any]], dtypes: dict[str, str]) -> pd.DataFrame:
    """The table whose columns are the parts, one after the other: Arrow arrays of text, NumPy arrays of numbers."""
    import pandas as pd
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name, dtype in dtypes.items():
        if dtype == "string":
            columns[name] = text_column(pa.chunked_array(parts[name], pa.large_string()))
        else:
            columns[name] = np.concatenate([np.zeros(0, dtype), *parts[name]])
    return pd.DataFrame(columns)


def as_text_column(texts: Array) -> pd.Series[Any]:
    """Texts (objects) as a column of a table."""
    import pyarrow as pa

    return text_column(pa.chunked_array([pa.array(texts, pa.large_string())]))


def text_column(texts: pa.ChunkedArray) -> pd.Series[Any]:
    import pandas as pd

    dtype: Any = pd.StringDtype()  # the stubs lack the protocol of its extension types
    return pd.Series(dtype.__from_arrow__(texts))
