"""How bad a root cause is: judged by the calibrated domain, and only where it has nothing there by what it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.verdicts import DOMAINS

TIES, NEAR, WRONG = "wrong by one at ties", "wrong by one next to a decision boundary", "wrong value"
REAL = "wrong real result"
NEAREST_ULPS = 8
ORDER = (WRONG, REAL, NEAR, TIES)  # the worst first


def leading_domain(row: Mapping[str, Any]) -> str:
    """The first domain in which a root cause has elements; empty if a run does not say."""
    return next((domain for domain in DOMAINS if domain in row.get("domains", {})), "")


def leading_share(row: Mapping[str, Any]) -> float:
    """The share of the judged cases in the leading domain that the cause has, in older runs of the elements."""
    part, whole, _ = leading_counts(row)
    return part / whole if whole else 0.0


def leading_counts(row: Mapping[str, Any]) -> tuple[int, int, str]:
    """How many cases of the leading domain have the cause, how many were judged there, and what is counted.

    Cases, since the number of elements in one is Tiebreak's choice; older runs know the elements alone.
    """
    found = row.get("domains", {}).get(leading_domain(row), {})
    if "judged_cases" in found and "cases" in found:
        return found["cases"], found["judged_cases"], "cases"
    return found.get("elements", 0), found.get("judged", 0), "elements"


def severity(row: Mapping[str, Any]) -> str:
    """One of ORDER, by how far the elements of the leading domain are off, and how far from a decision boundary."""
    found = row.get("domains", {}).get(leading_domain(row), row)
    quantizes = any(one.endswith(tuple(f"int{bits}" for bits in (2, 4, 8, 16, 32))) for one in row["types"])
    if not quantizes:
        return REAL
    furthest = found["boundary_ulp"]
    if found["farthest"] > 1 or furthest is None or furthest > NEAREST_ULPS:
        return WRONG
    return TIES if furthest == 0 else NEAR


def severity_rank(row: Mapping[str, Any]) -> tuple[int, int]:
    """Sorts what is calibrated before the edge and what is pathological last; then the worst first."""
    domain = leading_domain(row)
    return DOMAINS.index(domain) if domain else len(DOMAINS), ORDER.index(severity(row))


def share_text(row: Mapping[str, Any]) -> str:
    """The share of the leading domain in words: "0.3 % of calibrated cases", "edge only, 2 % of cases"."""
    domain = leading_domain(row)
    if not domain:
        return f"{row['elements']:,} elements"
    part, whole, what = leading_counts(row)
    share = percent(part, whole)
    return f"{share} of calibrated {what}" if domain == DOMAINS[0] else f"{domain} only, {share} of {what}"


def percent(part: int, whole: int) -> str:
    """A share in percent. Only exact shares show as 0 % or 100 %; "–" if `whole` is 0."""
    if not whole:
        return "–"
    if part in (0, whole):
        return "0 %" if not part else "100 %"
    value = 100 * part / whole
    return "< 0.01 %" if value < 0.01 else "> 99.99 %" if value > 99.99 else f"{value:.3g} %"
