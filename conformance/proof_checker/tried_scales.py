"""Steps of a proof that rest on trying: which scales they need.

If every number of both sides is proportional to the scale, then twice the scale gives the same codes, as long as no
number leaves the normal range: rounding commutes with powers of two there. One exponent's scales then stand for those
of every exponent for which that holds. The claim's extent "all" needs each scale of the others, "normal" has none of
them. Where a number is not proportional, each scale has to be tried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.proof_checker.blocks import Span, blocks_of, exponents_spans
from tiebreak.conformance.proof_checker.claims import CheckedClaim
from tiebreak.conformance.proof_checker.evaluation import (
    CODES,
    DTYPES,
    FORMATS,
    CheckedPair,
    Lift,
    Values,
    floats_of,
    infinity_of,
    value_of,
)
from tiebreak.conformance.proof_checker.refusal import require
from tiebreak.conformance.proof_checker.terms import Equation, Term

BLOCK = 1 << 16  # scales


class Magnitudes(NamedTuple):
    """For scales of [1, 2): nonzero numbers lie from 2^least to 2^most, and are multiples of 2^grain."""

    least: int
    most: int
    grain: int


@dataclass(frozen=True)
class TriedGoal:
    """An equation with one pair, of type `kind`; `room` is how far a code can be from a zero point.

    `near` says that its float operand is near a decision.
    """

    equation: Equation
    claim: CheckedClaim
    near: bool
    pair: str
    kind: str
    room: int

    def results(self, side: Term, inputs: list[Values], scales: Values, lift: Lift) -> Values:
        """For inputs in the order of the operands. Q stops one step beyond each difference, which is clamped anyway."""
        pairs = {self.pair: CheckedPair(scales, 0, -self.room - 1, self.room + 1)}
        known = dict(zip(self.equation.operands, inputs, strict=True))
        return value_of(side, known, pairs, lift)

    def scales(self, span: Span) -> Values:
        """The scales of a span of magnitudes' bit patterns."""
        sign = 1 << (8 * DTYPES[self.claim.real].itemsize - 1) if self.claim.sign < 0 else 0
        return floats_of(np.arange(*span) | sign, self.claim.real)

    def needed(self) -> tuple[list[Span], list[list[int]]]:
        """Blocks of magnitudes' bit patterns to try, and the exponents that one stands for."""
        real, is_normal = self.claim.real, self.claim.is_normal
        _, emin, emax = FORMATS[real]
        limits = self.standing_exponents()
        low, high = limits or (1, 0)
        require(low <= high or not is_normal, "no scale keeps all numbers in the normal range, or stands for another")
        standing = [min(max(0, low), high)] if low <= high else []
        others = [] if is_normal else [e for e in range(emin - 1, emax + 1) if not low <= e <= high]
        spans = exponents_spans(standing + others, real) if limits else [(1, infinity_of(real))]
        return blocks_of(spans, BLOCK), [[low, high]] if standing else []

    def standing_exponents(self) -> Span | None:
        """The exponents of scales of which one stands for all; None if a number is not proportional to the scale."""
        _, emin, emax = FORMATS[self.claim.real]  # real arithmetic is the same for every scale
        parts = [part for side, is_exact in self.equation.sides if not is_exact for part in side.parts()]
        found = [self.magnitudes(part) for part in parts if part.kind not in CODES]
        known = [one for one in found if one is not None]
        low, high = [emin, *(emin + 1 - one.least for one in known)], [emax, *(emax - one.most for one in known)]
        return (max(low), min(high)) if len(known) == len(found) else None

    def magnitudes(self, term: Term) -> Magnitudes | None:
        """Bounds of a number that is proportional to a scale of [1, 2); None of one that is not."""
        bits, digits = self.room.bit_length(), FORMATS[self.claim.real][0]
        if not term.operation:  # near a decision: from 1/4 to 4 times the greatest
            return Magnitudes(-2, bits + 2, -2 - digits) if self.near else None
        if term.operation == "DQ":
            return Magnitudes(0, bits + 1, 1 - digits)
        some = [one for one in map(self.magnitudes, term.inputs) if one is not None]
        known = ("Relu", "Max", "Add", "Sub", "Mean", "Linear")
        if len(some) < len(term.inputs) or term.operation not in known:
            return None
        least, most, grain = min(i.least for i in some), max(i.most for i in some), min(i.grain for i in some)
        if term.operation in ("Relu", "Max"):
            return Magnitudes(least, most, grain)
        grain -= {"Mean": 1, "Linear": 2}.get(term.operation, 0)
        return Magnitudes(grain, most + 1, grain)  # a difference may be as small as its grain


def goal_of(claim: CheckedClaim, equation: Equation, near: bool) -> TriedGoal:
    require(len(equation.pairs) == 1, f"{equation} has not one pair")
    (pair,) = equation.pairs
    lowest, highest = CODES[claim.kinds[pair]]
    return TriedGoal(equation, claim, near, pair, claim.kinds[pair], highest - lowest)
