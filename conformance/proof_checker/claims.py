"""A claim about patterns, and one step of its proof: equal terms for every code, scale and zero point of a domain."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.conformance.proof_checker.evaluation import CODES, REALS
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form, shortened
from tiebreak.conformance.proof_checker.terms import Term, TermReader, pairs_of

DRAWN = 2  # blocks of a step that are tried again at least
FORM = {
    "left": str,
    "right": str,
    "real": REALS,
    "sign": {"positive", "negative"},
    "extent": {"normal", "all"},
    "zero_points": str,
    "pairs": {str: set(CODES)},
    "codes": {str: set(CODES)},
}


@dataclass(frozen=True)
class CheckedClaim:
    """`goals` are pairs of terms; `exact` says of each side whether its arithmetic is real.

    `proved` are the zero points for which the steps are said to prove it, by element type.
    """

    data: Mapping[str, Any]
    goals: tuple[tuple[Term, Term], ...]
    exact: tuple[bool, bool]
    proved: Mapping[str, Sequence[int]]

    @property
    def real(self) -> str:
        return str(self.data["real"])

    @property
    def is_normal(self) -> bool:
        return bool(self.data["extent"] == "normal")

    @property
    def sign(self) -> int:
        return -1 if self.data["sign"] == "negative" else 1

    def zero_points(self, kind: str) -> Sequence[int]:
        return chosen_zero_points(self.data["zero_points"], kind)


def claim_in(data: Mapping[str, Any]) -> CheckedClaim:
    """The claim of a certificate. ProofRefused if it is none."""
    claim = data["claim"]
    check_form(claim, FORM, "the claim")
    reader = TermReader(claim["real"], claim["pairs"], claim["codes"])
    (lefts, left_exact), (rights, right_exact) = (reader.read(claim[name]) for name in ("left", "right"))
    if [one.kind for one in lefts] != [one.kind for one in rights]:
        raise ProofRefused("the sides have different numbers of values a row, or element types")
    every = {kind: chosen_zero_points(claim["zero_points"], kind) for kind in claim["pairs"].values()}
    holds = spanned(data["holds"])
    if data["verdict"] == "PROVED":
        if data["differs"] or holds != (list(*every.values()) if len(claim["pairs"]) == 1 else []):
            raise ProofRefused("the lists of zero points are not those of a claim that is proved")
        proved = every
    else:
        proved = dict.fromkeys(every, holds)
    return CheckedClaim(claim, tuple(zip(lefts, rights, strict=True)), (left_exact, right_exact), proved)


def spanned(spans: Sequence[Sequence[int]]) -> list[int]:
    """The zero points of spans. ProofRefused unless they ascend, and have 16 bits."""
    ends = [end for first, last in spans for end in (first, last + 1)]
    if ends != sorted(ends) or not all(-(1 << 15) <= end <= 1 << 16 for end in ends):
        raise ProofRefused("the lists of zero points are no ascending spans of 16 bits")
    return [zero for first, last in spans for zero in range(first, last + 1)]


def chosen_zero_points(words: str, kind: str) -> Sequence[int]:
    """The zero points of an element type for which a claim is made."""
    lowest, highest = CODES[kind]
    every = range(lowest, highest + 1)
    named = {
        "all": every,
        "lowest": every[:1],
        "highest": every[-1:],
        "even": every[lowest % 2 :: 2],
        "odd": every[1 - lowest % 2 :: 2],
    }
    if words in named:
        return named[words]
    texts = words.split(",")
    if not all(len(one) < 8 and one.strip().removeprefix("-").isdecimal() for one in texts):
        raise ProofRefused(f"{shortened(words)} are no zero points of {kind}")
    numbers = sorted({int(one) for one in texts})
    if not all(one in every for one in numbers):
        raise ProofRefused(f"{shortened(words)} are no zero points of {kind}")
    return numbers


@dataclass(frozen=True)
class ProofStep:
    """left = right, by a rule, from earlier steps; a claim of its own about any codes and floats."""

    rule: str
    left: Term
    right: Term
    exact: tuple[bool, bool]
    premises: tuple[int, ...]
    data: Mapping[str, Any]

    def says(self, left: Term, right: Term, exact: tuple[bool, bool]) -> bool:
        return (self.left, self.right, self.exact) == (left, right, exact)

    @property
    def sides(self) -> tuple[tuple[Term, bool], ...]:
        return (self.left, self.exact[0]), (self.right, self.exact[1])

    @property
    def pair(self) -> str:
        """The one pair of both sides."""
        pairs = pairs_of(self.left, self.right)
        if len(pairs) != 1:
            raise ProofRefused(f"{shortened(self.left)} = {shortened(self.right)} has not one pair")
        return pairs[0]


@dataclass
class BlockDraw:
    """Which blocks of a step are tried again: as many as time allows, in an order of chance, or all."""

    seconds: float
    is_whole: bool
    chance: random.Random

    def drawn(self, count: int) -> Iterator[int]:
        end = time.monotonic() + self.seconds
        for done, number in enumerate(self.chance.sample(range(count), count)):
            if not self.is_whole and done >= DRAWN and time.monotonic() >= end:
                return
            yield number
