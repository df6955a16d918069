"""Groups a run's discrepancies by root cause: a backend, an operator and a cause, with the smallest witness."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.golden.operators import get_operator
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.rows import RootCauseRow
from tiebreak.reports.text_columns import for_each_text, mapped_text

if TYPE_CHECKING:
    import pandas as pd

Key = tuple[str, str, str]  # backend, operator, root cause

MOST_TYPES = 8


def root_cause_rows(
    discrepancies: pd.DataFrame,
    results: pd.DataFrame,
    versions: Mapping[str, str],
    errors: ExplanationErrors | None = None,
) -> list[RootCauseRow]:
    """One row for each root cause, the most frequent first.

    `results` give the number of elements of each case; `versions` are the backends' versions by name.
    """
    errors = errors or ExplanationErrors()
    sizes = {str(case): int(n) for case, n in zip(results["case"], results["elements"], strict=True)}
    groups = errors.attempt("root causes", "", lambda: groups_of(discrepancies, sizes), [])
    made = []
    for number, (key, rows) in enumerate(groups, start=1):
        make = partial(root_cause_row, f"C{number:03d}", key, rows, sizes, versions)
        made.append(errors.attempt("root causes", " ".join(key), make, None))
    return [row for row in made if row is not None]


def groups_of(discrepancies: pd.DataFrame, sizes: Mapping[str, int]) -> list[tuple[Key, pd.DataFrame]]:
    """The discrepancies of each root cause, the plainest first; the most frequent root cause first."""
    columns: dict[str, Any] = {
        "root": mapped_text(discrepancies["cause"], root_of),
        "size": for_each_text(discrepancies["case"], lambda case: sizes.get(case, 1 << 30)),
        "digits": for_each_text(discrepancies["operands"], digits_of),
    }
    ordered = discrepancies.assign(**columns).sort_values(["size", "digits", "id"], kind="stable")
    by_cause = ordered.groupby(["backend", "operator", "root"], sort=False, observed=True)
    groups = [((str(backend), str(operator), str(root)), rows) for (backend, operator, root), rows in by_cause]
    return sorted(groups, key=lambda group: (-len(group[1]), group[0]))


def digits_of(operands: str) -> int:
    """The number of characters of the operands' decimals."""
    return sum(len(part[2]) for part in json.loads(operands))


def root_cause_row(
    name: str,
    key: Key,
    rows: pd.DataFrame,
    sizes: Mapping[str, int],
    versions: Mapping[str, str],
) -> RootCauseRow:
    backend, operator, cause = key
    witness = rows.iloc[0]
    ordered = rows.sort_values("id", kind="stable")  # between equally frequent ones, the first in the run
    clause = Counter(ordered["clause"].tolist()).most_common(1)[0][0]
    types = Counter(zip(ordered["input_type"], ordered["output_type"], strict=True)).most_common()
    found: RootCauseRow = {
        "id": name,
        "backend": backend,
        "version": versions.get(backend, ""),
        "operator": operator,
        "cause": cause,
        "clause": clause,
        "elements": len(rows),
        "cases": int(rows["case"].nunique()),
        "types": [f"{one} to {other}" for (one, other), _ in types[:MOST_TYPES]],
        "farthest": int(rows["distance"].abs().max()),
        "boundary_ulp": farthest_from_boundary(rows),
        "witness": {
            "id": str(witness["id"]),
            "case": str(witness["case"]),
            "elements": sizes.get(str(witness["case"]), 0),
            "operands": json.loads(str(witness["operands"])),
            "expected": decimal_text(str(witness["result_type"]), float(witness["expected"])),
            "got": decimal_text(str(witness["result_type"]), float(witness["got"])),
        },
    }
    return {**found, "sentence": sentence(found)}


def farthest_from_boundary(rows: pd.DataFrame) -> float | None:
    """The greatest distance from a decision boundary, in ulp; None if one is unknown or infinite."""
    found = rows["boundary_ulp"].to_numpy(float)
    return float(found.max()) if np.isfinite(found).all() else None


def decimal_text(result_type: str, value: float) -> str:
    whole = result_type.startswith(("int", "uint"))
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
