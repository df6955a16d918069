"""Groups a run's discrepancies by root cause: a backend, an operator and a cause, with the smallest witness."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.golden.operators import get_operator
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.rows import DiscrepancyRow, ResultRow, RootCauseRow

Key = tuple[str, str, str]  # backend, operator, root cause

MOST_TYPES = 8


def root_cause_rows(
    discrepancies: Iterable[DiscrepancyRow],
    results: Iterable[ResultRow],
    versions: Mapping[str, str],
    errors: ExplanationErrors | None = None,
) -> list[RootCauseRow]:
    """One row for each root cause, the most frequent first.

    `results` give the number of elements of each case; `versions` are the backends' versions by name.
    """
    errors = errors or ExplanationErrors()
    groups = errors.attempt("root causes", "", lambda: groups_of(discrepancies), [])
    sizes = {str(row["case"]): int(row["elements"]) for row in results}
    made = []
    for number, (key, rows) in enumerate(groups, start=1):
        make = partial(root_cause_row, f"C{number:03d}", key, rows, sizes, versions)
        made.append(errors.attempt("root causes", " ".join(key), make, None))
    return [row for row in made if row is not None]


def groups_of(discrepancies: Iterable[DiscrepancyRow]) -> list[tuple[Key, list[DiscrepancyRow]]]:
    """The discrepancies of each root cause, the most frequent root cause first."""
    groups: dict[Key, list[DiscrepancyRow]] = defaultdict(list)
    for row in discrepancies:
        groups[str(row["backend"]), str(row["operator"]), root_of(str(row["cause"]))].append(row)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def root_cause_row(
    name: str,
    key: Key,
    rows: Sequence[DiscrepancyRow],
    sizes: Mapping[str, int],
    versions: Mapping[str, str],
) -> RootCauseRow:
    backend, operator, cause = key
    witness = min(rows, key=lambda row: plainness(row, sizes))
    clause = Counter(str(row["clause"]) for row in rows).most_common(1)[0][0]
    types = Counter((str(row["input_type"]), str(row["output_type"])) for row in rows).most_common()
    found: RootCauseRow = {
        "id": name,
        "backend": backend,
        "version": versions.get(backend, ""),
        "operator": operator,
        "cause": cause,
        "clause": clause,
        "elements": len(rows),
        "cases": len({str(row["case"]) for row in rows}),
        "types": [f"{one} to {other}" for (one, other), _ in types[:MOST_TYPES]],
        "farthest": max((abs(int(row["distance"])) for row in rows), default=0),
        "boundary_ulp": farthest_from_boundary(rows),
        "witness": {
            "id": str(witness["id"]),
            "case": str(witness["case"]),
            "elements": sizes.get(str(witness["case"]), 0),
            "operands": json.loads(str(witness["operands"])),
            "expected": decimal_text(witness, witness["expected"]),
            "got": decimal_text(witness, witness["got"]),
        },
    }
    return {**found, "sentence": sentence(found)}


def farthest_from_boundary(rows: Sequence[DiscrepancyRow]) -> float | None:
    """The greatest distance from a decision boundary, in ulp; None if one is unknown or infinite."""
    found = [float(row["boundary_ulp"]) for row in rows]
    return max(found) if all(map(math.isfinite, found)) else None


def plainness(row: DiscrepancyRow, sizes: Mapping[str, int]) -> tuple[int, int, str]:
    """A key to sort by: cases with few elements first, then operands with few characters."""
    text = str(row["operands"])
    digits = sum(len(part[2]) for part in json.loads(text))
    return sizes.get(str(row["case"]), 1 << 30), digits, str(row["id"])


def decimal_text(row: DiscrepancyRow, value: float) -> str:
    whole = str(row["result_type"]).startswith(("int", "uint"))
    return str(int(value)) if whole and value == value else repr(value)


def sentence(row: RootCauseRow) -> str:
    """A root cause in words: what happens, where, and one example."""
    witness = row["witness"]
    operands = ", ".join(f"{name} {value}" for name, _, value in witness["operands"])
    clause = paraphrase_of(row["operator"], row["clause"])
    return (
        f"{row['operator']} on {row['backend']} {row['version']}: {row['cause']} "
        f"({row['elements']:,} elements of {row['cases']:,} cases). {operands} gives {witness['got']}, not "
        f"{witness['expected']}. {row['clause']}: {clause}"
    )


def paraphrase_of(operator: str, clause: str) -> str:
    return next((one.text for one in get_operator(operator).clauses if one.id == clause), "")
