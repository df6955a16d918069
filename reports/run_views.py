"""What a run comes to, as DataFrames: folded root causes, contradictions, and shares by backend and operator."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.verdicts import DOMAINS
from tiebreak.reports.findings import issue_of
from tiebreak.reports.first_screen import headline
from tiebreak.reports.folding import FoldedCause, folded_causes
from tiebreak.reports.libraries import library_of
from tiebreak.reports.records import JUDGED, Run, typed_frame
from tiebreak.reports.severity import leading_domain, severity
from tiebreak.reports.story import CONTRADICTIONS, Finding

if TYPE_CHECKING:
    import pandas as pd

TEXT = "string"
CAUSE_DTYPES: dict[str, str] = {
    **dict.fromkeys(("id", "ids", "library", "version", "backends", "operators", "cause_id", "cause", "clause"), TEXT),
    **dict.fromkeys(("document", "severity", "domain"), TEXT),
    "share": "float64",
    **dict.fromkeys(("deviates", "judged", "elements", "cases"), "int64"),
    "types": TEXT,
    "farthest": "int64",
    "boundary_ulp": "float64",
    **dict.fromkeys(("issue", "sentence", "witness_id", "witness_case"), TEXT),
    **dict.fromkeys(("witness_operands", "witness_expected", "witness_got"), TEXT),
}
CONTRADICTION_DTYPES: dict[str, str] = dict.fromkeys(
    ("kind", "ids", "library", "version", "backends", "operators", "what", "how_much", "sentence"), TEXT
)
VIEWS = {"causes": CAUSE_DTYPES, "contradictions": CONTRADICTION_DTYPES}
ALL = "all"
CHOICES = (*DOMAINS, ALL)  # of `matrix`
COUNTS = ("judged", "deviates")


def cause_frame(run: Run) -> pd.DataFrame:
    """A row for each root cause of a library, in the order of the run."""
    return typed_frame([cause_row(run, one) for one in folded_causes(run)], CAUSE_DTYPES)


def cause_row(run: Run, cause: FoldedCause) -> dict[str, Any]:
    row, domain = cause.row, leading_domain(cause.row)
    share = row.get("domains", {}).get(domain, {"elements": 0, "judged": 0})
    limit = row["boundary_ulp"]
    kept = {name: row[name] for name in CAUSE_DTYPES if name in row and name not in ("types", "boundary_ulp")}
    return {
        **kept,
        "ids": ", ".join(cause.ids),
        **asked(run.info, cause.backends, cause.operators),
        "document": cause.document,
        "severity": severity(row),
        "domain": domain,
        "share": share["elements"] / share["judged"] if share["judged"] else math.nan,
        "deviates": share["elements"],
        "judged": share["judged"],
        "types": ", ".join(row["types"]),
        "boundary_ulp": math.nan if limit is None else limit,
        "issue": issue_of(cause),
        **witness_columns(row.get("witness", {})),
    }


def asked(info: Mapping[str, Any], backends: list[str], operators: list[str]) -> dict[str, str]:
    """The columns that say who was asked what."""
    first = next((one for one in info["backends"] if str(one["name"]) == backends[0]), {"name": "", "version": ""})
    library = {"library": library_of(first), "version": str(first["version"])}
    return {**library, "backends": ", ".join(backends), "operators": ", ".join(operators)}


def witness_columns(witness: Mapping[str, Any]) -> dict[str, str]:
    """The witness of a root cause, its operands as JSON; nothing in runs without one."""
    if not witness:
        return {}
    texts = {f"witness_{name}": str(witness[name]) for name in ("id", "case", "expected", "got")}
    return {**texts, "witness_operands": json.dumps(witness["operands"])}


def contradiction_frame(run: Run) -> pd.DataFrame:
    """A row for each way in which a library contradicts itself."""
    found = [(kind, finding) for kind, findings in CONTRADICTIONS.items() for finding in findings(run.info)]
    return typed_frame([contradiction_row(run, kind, finding) for kind, finding in found], CONTRADICTION_DTYPES)


def contradiction_row(run: Run, kind: str, finding: Finding) -> dict[str, Any]:
    return {
        "kind": kind,
        "ids": ", ".join(finding.ids),
        **asked(run.info, list(finding.backends), list(finding.operators)),
        "what": finding.what,
        "how_much": finding.how_much,
        "sentence": headline(run, "itself", finding).text,
    }


def deviating_shares(results: pd.DataFrame, domain: str) -> pd.DataFrame:
    """Backend by operator: the share of the judged elements of a domain that deviate, NaN where none was judged.

    InvalidInput for an unknown domain.
    """
    if domain not in CHOICES:
        raise InvalidInput(f"unknown domain {domain!r:.80}; known: {', '.join(CHOICES)}")
    sums = domain_counts(results, domain).groupby(["backend", "operator"], sort=False, observed=True).sum()
    shares = (sums["deviates"] / sums["judged"]).unstack("operator")
    return shares.reindex(index=list(dict.fromkeys(results["backend"])), columns=sorted(shares.columns)).rename_axis(
        index="backend", columns="operator"
    )


def domain_counts(results: pd.DataFrame, domain: str) -> pd.DataFrame:
    """Each case's backend and operator, and its judged and deviating elements in a domain."""
    keys = results[["backend", "operator"]]
    if domain in DOMAINS[:2]:
        return keys.assign(**{name: results[f"{name}_{domain}"] for name in COUNTS})
    whole = {"judged": results[list(JUDGED)].sum(axis=1), "deviates": results["deviates"]}
    if domain == ALL:
        return keys.assign(**whole)
    known = results["domain"] != ""  # older runs do not say, and what did not run has no elements
    rest = {name: whole[name] - results[f"{name}_calibrated"] - results[f"{name}_edge"] for name in COUNTS}
    return keys.assign(**{name: counts.where(known, 0) for name, counts in rest.items()})
