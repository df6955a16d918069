"""Digests of a run's records, operator by operator: of what was given and found, not of how long it took."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from tiebreak.reports.records import DISCREPANCY_DTYPES, OF_ORDERS, RESULT_DTYPES, Run
from tiebreak.reports.text_columns import with_plain_text

if TYPE_CHECKING:
    import pandas as pd

# The columns that differ when the same run is made again, and one that follows from the outputs; older runs lack it.
LEFT_OFF = ("seconds", "digest")


def record_digests(run: Run) -> dict[str, dict[str, Any]]:
    """By operator: how many rows each verdict has, discrepancies, and the SHA-256 of all of its rows.

    Where no result is of another order the columns that count these are left off, as from runs that had none.
    """
    results, discrepancies = (by_operator(frame) for frame in (run.results, run.discrepancies))
    found = {}
    for name in sorted(results.keys() | discrepancies.keys()):
        rows, elements = results.get(name), discrepancies.get(name)
        digest = hashlib.sha256()
        for frame, columns in ((rows, RESULT_DTYPES), (elements, DISCREPANCY_DTYPES)):
            if frame is not None:
                left_off = (*LEFT_OFF, *(() if rows is None or rows["other_order"].any() else OF_ORDERS))
                digest.update(text_of(frame, [column for column in columns if column not in left_off]).encode())
        verdicts = Counter() if rows is None else Counter(map(str, rows["verdict"]))
        found[name] = {
            "verdicts": dict(sorted(verdicts.items())),
            "discrepancies": 0 if elements is None else len(elements),
            "sha256": digest.hexdigest(),
        }
    return found


def by_operator(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(name): rows for name, rows in frame.groupby("operator", observed=True, sort=True)}


def text_of(frame: pd.DataFrame, columns: list[str]) -> str:
    """The rows as lines of Python's own texts, which are exact: of a real number its shortest."""
    plain = with_plain_text(frame[columns])
    texts = (map(repr, plain[name].tolist()) for name in columns)
    return "\n".join(map("\t".join, zip(*texts, strict=True)))
