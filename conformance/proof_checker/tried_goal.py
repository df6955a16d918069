"""What a step of a proof says that rests on trying."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tiebreak.conformance.proof_checker.claim_terms import CODES, PatternClaim, type_of
from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened
from tiebreak.conformance.proof_checker.terms import Term, pairs_of


@dataclass(frozen=True)
class TriedGoal:
    """What a step says of two terms with one pair, and the types of operands that the proof introduced."""

    claim: PatternClaim
    left: Term
    right: Term
    exact: tuple[bool, bool]
    fresh: Mapping[str, str]

    @property
    def sides(self) -> tuple[tuple[Term, bool], ...]:
        return (self.left, self.exact[0]), (self.right, self.exact[1])

    @property
    def kind(self) -> str:
        """The element type of the one pair of both sides."""
        pairs = pairs_of(self.left, self.right)
        if len(pairs) != 1 or pairs[0] not in self.claim.pairs:
            raise ProofRefused(f"{shortened(self.left)} = {shortened(self.right)} has not one pair")
        return self.claim.pairs[pairs[0]]

    @property
    def room(self) -> int:
        """How far a code can be from a zero point."""
        return CODES[self.kind][1] - CODES[self.kind][0]

    def is_code(self, term: Term) -> bool:
        return type_of(term, self.claim, self.fresh) in CODES
