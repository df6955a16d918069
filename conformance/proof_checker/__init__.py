"""Checks certificates of `tiebreak prove`, with no code of the prover or of the rest of tiebreak."""

from tiebreak.conformance.proof_checker.checking import check
from tiebreak.conformance.proof_checker.refusal import ProofRefused

__all__ = ["ProofRefused", "check"]
