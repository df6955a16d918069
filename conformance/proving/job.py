"""Reads a claim of any kind, decides it, and writes the certificate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tiebreak.conformance.proving.claim import Claim, claim_of, sides_of
from tiebreak.conformance.proving.counting_scales import (
    count_scales,
    described_arithmetics,
    domains_of,
    is_arithmetic,
)
from tiebreak.conformance.proving.deciding import MOST, decide
from tiebreak.conformance.proving.findings import PROVED, REFUTED, Decision
from tiebreak.conformance.proving.integers import ends_of, integer_lemma, is_about_integers
from tiebreak.conformance.proving.proof_file import described, write_proof
from tiebreak.conformance.proving.solving_integers import solve_integers
from tiebreak.conformance.theorems.arithmetics import arithmetic_named
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.exit_codes import EXIT_DISCREPANCIES, EXIT_NOTHING_RAN
from tiebreak.golden.patterns.catalogue import CATALOGUE
from tiebreak.golden.patterns.text import expression_of

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ClaimDomain:
    """For which types, scales, zero points and integers a claim is made; `most` results may be tried for it."""

    type: str = "uint8"
    real: str = "float32"
    sign: str = "positive"
    zero_points: str = "all"
    extent: str = "normal"
    ranges: Mapping[str, str] = field(default_factory=dict)
    given: str = ""
    most: int = MOST


def prove_job(
    text: str, domain: ClaimDomain, path: Path | None, progress: Progress, workers: int = 1
) -> dict[str, Any]:
    """The certificate's content; written to `path` if there is one. InvalidInput if the text is no claim."""
    started = time.perf_counter()
    claim, decision = decided(text, domain, progress, workers)
    data = described(claim, decision, time.perf_counter() - started)
    if path is not None:
        write_proof(path, data)
    return data


def decided(text: str, domain: ClaimDomain, progress: Progress, workers: int) -> tuple[dict[str, Any], Decision]:
    """The claim as a certificate has it, and its decision."""
    left, right = sides_of(text)
    if is_arithmetic(left) and is_arithmetic(right):
        refuse_integers(domain, "arithmetics")
        if domain.sign != "positive":
            raise InvalidInput("two arithmetics are compared for positive scales")
        pair = arithmetic_named(left), arithmetic_named(right)
        domains = domains_of(pair, domain.type, domain.real, domain.zero_points, domain.extent)
        claim = described_arithmetics(pair, domain.zero_points, domains[0])
        return claim, count_scales(pair, domain.zero_points, domains, progress, workers)
    written = [expression_of(CATALOGUE.get(side, side)) for side in (left, right)]
    if is_about_integers(*written):
        condition = expression_of(domain.given) if domain.given else None
        lemma = integer_lemma(text, written[0], written[1], domain.ranges, condition)
        ends = {name: list(ends_of(name, words)) for name, words in domain.ranges.items()}
        about = {"kind": "integers", "left": left, "right": right, "ranges": ends, "given": domain.given}
        return about, solve_integers(lemma, left, right)
    refuse_integers(domain, "patterns")
    patterns = claim_of(text, domain.type, domain.real, domain.sign, domain.zero_points, domain.extent)
    return described_patterns(patterns), decide(patterns, domain.most, progress, workers)


def refuse_integers(domain: ClaimDomain, kind: str) -> None:
    if domain.ranges or domain.given:
        raise InvalidInput(f"--let and --given are for claims about integers; this one is about {kind}")


def described_patterns(claim: Claim) -> dict[str, Any]:
    """The claim, for a certificate."""
    return {
        "kind": "patterns",
        "left": claim.left.text,
        "right": claim.right.text,
        "real": claim.real,
        "sign": claim.sign,
        "zero_points": claim.zero_points,
        "extent": claim.extent,
        "pairs": dict(claim.pairs),
        "codes": {one.name: one.type for one in claim.operands() if one.is_code},
    }


def exit_code_of(verdict: str) -> int:
    """0 if it is proved, 1 if there is a counterexample, 4 if nothing was decided."""
    return {PROVED: 0, REFUTED: EXIT_DISCREPANCIES}.get(verdict, EXIT_NOTHING_RAN)
