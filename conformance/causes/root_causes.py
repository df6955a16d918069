"""Groups a run's discrepancies by root cause: a backend, an operator and a cause, with the smallest witness."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.conformance.causes.cited import theorem_sentences
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.semantics.causes import environment_of, without_environment
from tiebreak.golden.operators import get_operator
from tiebreak.golden.verdicts import DOMAINS, FOREIGN
from tiebreak.reports.records import JUDGED
from tiebreak.reports.root_cause import root_of
from tiebreak.reports.rows import DomainShare, RootCauseRow, decimal_result, right_results, rows_by_key
from tiebreak.reports.severity import leading_share, severity_rank
from tiebreak.reports.text_columns import for_each_text, mapped_text

if TYPE_CHECKING:
    import pandas as pd

Key = tuple[str, str, str]  # backend, operator, root cause
Judged = dict[tuple[str, str], dict[str, tuple[int, int]]]  # elements and cases by backend, operator and domain

MOST_TYPES = 8


def root_cause_rows(
    discrepancies: pd.DataFrame,
    results: pd.DataFrame,
    versions: Mapping[str, str],
    errors: ExplanationErrors | None = None,
) -> list[RootCauseRow]:
    """One row for each root cause, those that matter most first: see `rank`.

    `results` give the number of elements of each case; `versions` are the backends' versions by name.
    """
    errors = errors or ExplanationErrors()
    judged = errors.attempt("root causes", "", lambda: judged_by_domain(results), Judged())
    sizes = {str(case): int(n) for case, n in zip(results["case"], results["elements"], strict=True)}
    groups = errors.attempt("root causes", "", lambda: groups_of(discrepancies, sizes), [])
    made: list[RootCauseRow | None] = []
    for key, rows in groups:
        make = partial(root_cause_row, key, rows, sizes, versions, judged.get(key[:2], {}))
        made.append(errors.attempt("root causes", " ".join(key), make, None))
    found = sorted((row for row in made if row is not None), key=rank)
    return [{**row, "id": f"C{number:03d}"} for number, row in enumerate(found, start=1)]


def groups_of(discrepancies: pd.DataFrame, sizes: Mapping[str, int]) -> list[tuple[Key, pd.DataFrame]]:
    """The discrepancies of each root cause, the plainest first; the most frequent root cause first."""
    columns: dict[str, Any] = {
        "root": mapped_text(discrepancies["cause"], root_of),
        "plain": for_each_text(discrepancies["domain"], lambda domain: [*DOMAINS, ""].index(domain)),
        "size": for_each_text(discrepancies["case"], lambda case: sizes.get(case, 1 << 30)),
        "digits": for_each_text(discrepancies["operands"], digits_of),
    }
    ordered = discrepancies.assign(**columns).sort_values(["plain", "size", "digits", "id"], kind="stable")
    by_cause = ordered.groupby(["backend", "operator", "root"], sort=False, observed=True)
    groups = [((str(backend), str(operator), str(root)), rows) for (backend, operator, root), rows in by_cause]
    return sorted(groups, key=lambda group: (-len(group[1]), group[0]))


def digits_of(operands: str) -> int:
    """The number of characters of the operands' decimals."""
    return sum(len(part[2]) for part in json.loads(operands))


def judged_by_domain(results: pd.DataFrame) -> Judged:
    """(backend, operator) to the number of judged elements of each domain, and of the cases that have such."""
    counts = results[["backend", "operator", "judged_calibrated", "judged_edge"]].copy()
    every = results[list(JUDGED)].sum(axis=1)
    counts["judged_pathological"] = every - counts["judged_calibrated"] - counts["judged_edge"]
    for domain in DOMAINS:
        counts[f"cases_{domain}"] = counts[f"judged_{domain}"] > 0
    sums = rows_by_key(counts.groupby(["backend", "operator"], observed=True).sum())
    return {
        (str(backend), str(operator)): {
            domain: (int(row[f"judged_{domain}"]), int(row[f"cases_{domain}"])) for domain in DOMAINS
        }
        for (backend, operator), row in sums.items()
    }


def domain_shares(rows: pd.DataFrame, judged: Mapping[str, tuple[int, int]]) -> dict[str, DomainShare]:
    """For each domain in which a cause has elements: how many, of how many judged, and how far off they are."""
    found: dict[str, DomainShare] = {}
    shown = rows[["domain", "case", "distance", "boundary_ulp"]]
    for domain in DOMAINS:
        own = shown[shown["domain"] == domain]
        elements, cases = judged.get(domain, (0, 0))
        if len(own):
            found[domain] = {
                "elements": len(own),
                "judged": elements,
                "cases": int(own["case"].nunique()),
                "judged_cases": cases,
                "farthest": int(own["distance"].abs().max()),
                "boundary_ulp": farthest_from_boundary(own),
            }
    return found


def rank(row: RootCauseRow) -> tuple[Any, ...]:
    """Own documents first; then by the calibrated domain, by severity, by the share of its judged cases."""
    share = leading_share(row)
    return row["document"] == FOREIGN, *severity_rank(row), -share, -row["elements"], row["backend"], row["operator"]


def root_cause_row(
    key: Key,
    rows: pd.DataFrame,
    sizes: Mapping[str, int],
    versions: Mapping[str, str],
    judged: Mapping[str, tuple[int, int]],
) -> RootCauseRow:
    backend, operator, cause = key
    ordered = rows.sort_values("id", kind="stable")
    clause = clause_of_plainest(rows, ordered)
    witness: dict[str, Any] = dict(rows[rows["clause"] == clause].iloc[0])  # it shows the clause that is cited
    frequent = Counter(zip(ordered["input_type"], ordered["output_type"], strict=True)).most_common()
    types = list(dict.fromkeys([(witness["input_type"], witness["output_type"]), *(pair for pair, _ in frequent)]))
    found: RootCauseRow = {
        "id": "",
        "backend": backend,
        "version": versions.get(backend, ""),
        "operator": operator,
        "cause_id": str(witness["cause_id"]),
        "cause": cause,
        "arithmetic": without_environment(str(witness["cause_id"])),
        "environment": environment_of(str(witness["cause_id"])),
        "clause": clause,
        "document": str(witness["document"]),
        "domains": domain_shares(ordered, judged),
        "elements": len(rows),
        "cases": int(rows["case"].nunique()),
        "types": [f"{one} to {other}" for one, other in types[:MOST_TYPES]],
        "farthest": int(rows["distance"].abs().max()),
        "boundary_ulp": farthest_from_boundary(rows),
        "witness": {
            "id": str(witness["id"]),
            "case": str(witness["case"]),
            "elements": sizes.get(str(witness["case"]), 0),
            "output": str(witness["output"]),
            "operands": json.loads(str(witness["operands"])),
            "expected": right_results(witness),
            "got": decimal_result(witness, "got"),
        },
    }
    theorems = theorem_sentences(operator, found["cause_id"], types[:MOST_TYPES])
    if theorems:
        found["theorems"] = theorems
    return {**found, "sentence": sentence(found)}


def clause_of_plainest(rows: pd.DataFrame, ordered: pd.DataFrame) -> str:
    """The clause that most elements of the plainest domain break; of equally frequent ones, the first in the run."""
    own = ordered["clause"][ordered["domain"] == rows["domain"].iloc[0]]
    return str(Counter(own.tolist()).most_common(1)[0][0])


def farthest_from_boundary(rows: pd.DataFrame) -> float | None:
    """The greatest distance from a decision boundary, in ulp; None if one is unknown or infinite."""
    found = rows["boundary_ulp"].to_numpy(float)
    return float(found.max()) if np.isfinite(found).all() else None


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
