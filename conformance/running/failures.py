"""A run's crashes, timeouts and errors by kind: those of a backend's operator with the same message, and a witness."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tiebreak.adapters.outcome import GIVEN_UP
from tiebreak.golden.messages import without_numbers
from tiebreak.golden.verdicts import FAILED

MOST_MESSAGES = 50  # of one kind that are told apart
LONGEST_KEY = 200

Row = Mapping[str, Any]
Key = tuple[str, str, str, str]  # backend, operator, verdict, fault


def failure_rows(results: Iterable[Row], versions: Mapping[str, str]) -> list[dict[str, Any]]:
    """One row for each kind of failure of all cases' rows: the most frequent first, what was not run last."""
    groups: dict[Key, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in results:
        if row["verdict"] in FAILED:
            key = str(row["backend"]), str(row["operator"]), str(row["verdict"]), str(row["fault"])
            message = without_numbers(str(row["message"]))[:LONGEST_KEY]
            groups[key][message if message in groups[key] or len(groups[key]) < MOST_MESSAGES else ""].append(row)
    kinds = [(key, rows) for key, messages in groups.items() for rows in messages.values()]
    kinds.sort(key=lambda kind: (was_not_run(kind[1][0]), -len(kind[1])))
    return [failure_row(f"F{n:03d}", key, rows, versions) for n, (key, rows) in enumerate(kinds, start=1)]


def failure_row(name: str, key: Key, rows: list[Row], versions: Mapping[str, str]) -> dict[str, Any]:
    backend, operator, verdict, fault = key
    witness = min(rows, key=lambda row: (int(row["elements"]), str(row["case"])))
    return {
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


def was_not_run(row: Row) -> bool:
    """Whether the case was left out for what others did, so that there is no call to show."""
    return str(row["fault"]) == GIVEN_UP or str(row["message"]).startswith("not run")
