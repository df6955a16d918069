"""A run's crashes, timeouts and errors, grouped by backend, operator and message, each group with a witness."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

from tiebreak.adapters.outcome import GIVEN_UP
from tiebreak.golden.messages import without_numbers
from tiebreak.golden.verdicts import FAILED
from tiebreak.reports.root_cause import UNWRITTEN
from tiebreak.reports.rows import FailureRow, ResultRow, result_rows

if TYPE_CHECKING:
    import pandas as pd

MOST_MESSAGES = 50  # of one kind that get a group each; further ones share a group
LONGEST_KEY = 200

Key = tuple[str, str, str, str]  # backend, operator, verdict, fault
Cases = Container[tuple[str, str]]  # backend, case


def failures_of(results: pd.DataFrame, versions: Mapping[str, str], unwritten: Cases = ()) -> list[FailureRow]:
    """The `failure_rows` of a run's results."""
    return failure_rows(result_rows(results[results["verdict"].isin(FAILED)]), versions, unwritten)


def failure_rows(results: Iterable[ResultRow], versions: Mapping[str, str], unwritten: Cases = ()) -> list[FailureRow]:
    """One row for each kind of failure: the most frequent first, cases that were not run last.

    The outputs of `unwritten` cases change since they are memory that nobody wrote: a kind of its own.
    """
    groups: dict[Key, dict[str, list[ResultRow]]] = defaultdict(lambda: defaultdict(list))
    for row in results:
        if row["verdict"] in FAILED:
            key = str(row["backend"]), str(row["operator"]), str(row["verdict"]), str(row["fault"])
            is_unwritten = (key[0], str(row["case"])) in unwritten
            message = UNWRITTEN if is_unwritten else without_numbers(str(row["message"]))[:LONGEST_KEY]
            groups[key][message if message in groups[key] or len(groups[key]) < MOST_MESSAGES else ""].append(row)
    kinds = [(key, text, rows) for key, messages in groups.items() for text, rows in messages.items()]
    kinds.sort(key=lambda kind: (was_not_run(kind[2][0]["fault"], kind[2][0]["message"]), -len(kind[2])))
    return [failure_row(f"F{n:03d}", key, rows, versions, text) for n, (key, text, rows) in enumerate(kinds, start=1)]


def failure_row(name: str, key: Key, rows: list[ResultRow], versions: Mapping[str, str], message: str) -> FailureRow:
    """`message` is what the rows have in common."""
    backend, operator, verdict, fault = key
    # The smallest that has elements: an empty tensor is no example of what other tensors show, too.
    witness = min(rows, key=lambda row: (not row["elements"], int(row["elements"]), str(row["case"])))
    found: FailureRow = {
        "id": name,
        "backend": backend,
        "version": versions.get(backend, ""),
        "operator": operator,
        "verdict": verdict,
        "fault": fault,
        "cases": len(rows),
        "message": Counter(str(row["message"]) for row in rows).most_common(1)[0][0],
        "witness": {"case": str(witness["case"]), "message": str(witness["message"])},
    }
    if message == UNWRITTEN:
        found["cause_id"] = UNWRITTEN
    return found


def was_not_run(fault: str, message: str) -> bool:
    """Whether the case was skipped because of earlier cases, so that no call can be reproduced."""
    return fault == GIVEN_UP or message.startswith("not run")
