"""Claims to prove, and ways to have them decided."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.conformance.proving.claim import claim_of
from tiebreak.conformance.proving.deciding import decide
from tiebreak.conformance.proving.findings import Decision
from tiebreak.conformance.proving.job import ClaimDomain, prove_job
from tiebreak.reports.proofs import facts_of

IDENTITY = "Q(DQ(x, s), s) = x"
RELU = "Q(Relu(x), s) = Q(x, s)"
BF16 = np.dtype(ml_dtypes.bfloat16)


def decided(text: str, **where: str) -> Decision:
    return decide(claim_of(text, **where))


def facts(text: str, **where: Any) -> list[str]:
    """What is said of a claim that is refuted."""
    return facts_of(prove_job(text, ClaimDomain(**where), None, lambda done, of: None))


def integers(text: str, given: str = "", **ranges: str) -> dict[str, Any]:
    pytest.importorskip("bitwuzla")
    return prove_job(text, ClaimDomain(ranges=ranges, given=given), None, lambda done, of: None)


def cli(*words: str) -> Any:
    return CliRunner().invoke(main, ["prove", *words])
