"""A comparison as a line of JSON that somebody else can check, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.conformance.theorems.compare import CountedPart, ScaleComparison
from tiebreak.conformance.theorems.counterexample import Counterexample
from tiebreak.conformance.theorems.scale_domains import ScaleDomain

FIRST_DIGITS = 16  # of each block's digest


def certificate_of(comparison: ScaleComparison) -> dict[str, Any]:
    """Plain data. Of each block's SHA-256 it holds the first 16 digits, and `sha256` over all of them in full."""
    digests = [digest[:FIRST_DIGITS] for digest in comparison.digests]
    parts = {name: row_of_part(getattr(comparison, name)) for name in ("normal", "ends")}
    return asdict(comparison) | parts | {"digests": digests}


def row_of_part(part: CountedPart | None) -> dict[str, Any] | None:
    """Exponents that follow each other are written as the first and the last."""
    if part is None:
        return None
    firsts = [one for one in part.exponents if one - 1 not in part.exponents]
    lasts = [one for one in part.exponents if one + 1 not in part.exponents]
    return asdict(part) | {"exponents": list(zip(firsts, lasts, strict=True))}


def comparison_of(row: Mapping[str, Any]) -> ScaleComparison:
    """The comparison of a certificate, whose digests are cut; TypeError or KeyError if it is none."""
    left, right = (NamedArithmetic(**row[name]) for name in ("left", "right"))
    return ScaleComparison(
        left,
        right,
        ScaleDomain(**row["domain"]),
        normal=part_of_row(row["normal"]),
        ends=part_of_row(row["ends"]),
        counterexample=Counterexample(**row["counterexample"]) if row["counterexample"] else None,
        undefined=row["undefined"],
        digests=tuple(row.get("digests", ())),
        sha256=row["sha256"],
    )


def part_of_row(row: Mapping[str, Any] | None) -> CountedPart | None:
    if row is None:
        return None
    exponents = tuple(one for first, last in row["exponents"] for one in range(first, last + 1))
    return CountedPart(**{**row, "exponents": exponents})
